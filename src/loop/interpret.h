// Parts of the reference interpreter.
#pragma once
#include <unordered_map>

#include "loop/text.h"

namespace stax::loop {

// A buffer at run time. Flat addresses run from lo to hi (inclusive; empty when hi < lo) relative to `base`.
struct Memory {
  char* base = nullptr;  // of element 0
  Dtype dtype = Dtype::f32;
  std::int64_t lo = 0, hi = -1;
};

struct RunState {
  const Program& program;
  const Bindings& bindings;
  std::unordered_map<Expr, std::int64_t> sizes;
  std::vector<Memory> memory;  // by BufferId

  std::int64_t value_of(Expr e) const;  // over the sizes
};

void run_kernel(const RunState& state, const Kernel& kernel);
void run_call(const RunState& state, const LibraryCall& call);

// Where an operator stands in the user's source, and its name; for errors.
struct OriginText {
  std::string op;
  SourceLoc where;
};
OriginText origin_of(const Program& p, int origin, const std::string& otherwise);

}  // namespace stax::loop
