// The user's place in errors of what runs without a trace.
#pragma once
#include <stax/base/error.h>

#include <string>
#include <string_view>

namespace stax::frontend {

// Runs f. A lack of memory in it says `what` ran, and where.
template <class F>
auto placed(std::string_view what, const SourceLoc& where, F&& f) {
  try {
    return f();
  } catch (const OutOfMemory& e) {
    const std::string problem = e.where().known() ? e.problem() : e.problem() + " (in " + std::string(what) + ")";
    throw OutOfMemory(problem, e.holders(), e.remedy(), e.bytes(), where);
  }
}

// Also for errors that name the first line that used the same compiled operator.
template <class F>
auto placed_operator(std::string_view op, const SourceLoc& where, F&& f) {
  try {
    return placed(op, where, f);
  } catch (const UserError& e) {
    if (!e.where().known() || e.where() == where) throw;
    throw UserError(e.problem(), where, e.remedy());
  }
}

}  // namespace stax::frontend
