// Chooses how kernels run on a target. Hints of sizes steer the choices; every schedule is right for every size.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "loop/schedule.h"
#include "loop/triton_schedule.h"

namespace stax::schedule {

struct CpuTarget {
  int vector_bytes = 64;
  int threads = 1;
  std::int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, llc_bytes = 32 << 20;
};

loop::CpuSchedule schedule_cpu(const loop::Kernel& k, const loop::Program& p, const CpuTarget& target);

struct GpuTarget {
  int multiprocessors = 132;
  std::int64_t l2_bytes = std::int64_t{50} << 20;
  // Inputs whose addresses are multiples of 16 bytes, and sizes whose hints are multiples of 16, are promised to stay
  // so: the launch must check it.
  bool promise_inputs = true, promise_sizes = true;
  bool promise_bounds = true;  // and that rows of several phases stay as short as at the hints (with promise_sizes)
};

loop::TritonSchedule schedule_triton(const loop::Kernel& k, const loop::Program& p, const GpuTarget& target = {});

// What sizes would have to be for more 16-byte accesses than the schedule has: in each list, one of them.
std::vector<std::vector<loop::SizePromise>> further_promises(const loop::Kernel& k, const loop::Program& p,
                                                             const loop::TritonSchedule& s);

using Target = std::variant<CpuTarget, GpuTarget>;
using KernelSchedule = std::variant<loop::CpuSchedule, loop::TritonSchedule>;

inline bool is_gpu(const Target& target) { return std::holds_alternative<GpuTarget>(target); }
KernelSchedule schedule_kernel(const loop::Kernel& k, const loop::Program& p, const Target& target);
std::string to_text(const KernelSchedule& s, const loop::Kernel& k, const loop::Program& p);

}  // namespace stax::schedule
