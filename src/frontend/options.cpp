#include <stax/frontend/options.h>

#include "base/env.h"

namespace stax {

namespace {

// A field that is at its default takes the value of its variable.
template <class T, class Read>
void take(T& field, const T& standard, const Read& read) {
  if (field != standard) return;
  if (auto v = read()) field = static_cast<T>(*v);
}

auto flag(const char* name) {
  return [=] { return base::env_flag(name); };
}
auto integer(const char* name) {
  return [=] { return base::env_integer(name); };
}

}  // namespace

CompileOptions with_environment(CompileOptions o) {
  (void)base::check_environment();
  const CompileOptions d;
  static const std::vector<std::pair<const char*, Dynamic>> kDynamic{
      {"no", Dynamic::no}, {"yes", Dynamic::yes}, {"automatic", Dynamic::automatic}};
  if (o.dynamic == d.dynamic)
    if (const auto text = base::env_choice("STAX_DYNAMIC"))
      for (const auto& [spelling, value] : kDynamic)
        if (*text == spelling) o.dynamic = value;
  if (o.mode == d.mode)
    if (const auto text = base::env_choice("STAX_MODE"))
      o.mode = *text == "max_autotune"      ? Mode::max_autotune
               : *text == "reduce_overhead" ? Mode::reduce_overhead
                                            : Mode::balanced;
  if (o.numerics == d.numerics)
    if (const auto text = base::env_choice("STAX_NUMERICS"))
      o.numerics = *text == "strict" ? Numerics::strict : Numerics::fused;
  take(o.fullgraph, d.fullgraph, flag("STAX_FULLGRAPH"));
  take(o.strict_native, d.strict_native, flag("STAX_STRICT_NATIVE"));
  take(o.checks, d.checks, flag("STAX_CHECKS"));
  take(o.max_artifacts, d.max_artifacts, integer("STAX_MAX_ARTIFACTS"));
  take(o.max_compiles, d.max_compiles, integer("STAX_MAX_COMPILES"));
  take(o.compile_budget, d.compile_budget, integer("STAX_COMPILE_BUDGET"));
  return o;
}

}  // namespace stax
