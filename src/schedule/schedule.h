// Chooses how kernels run on a target. Hints of sizes steer the choices; every schedule is right for every size.
#pragma once
#include "loop/schedule.h"

namespace stax::schedule {

struct CpuTarget {
  int vector_bytes = 64;
  int threads = 1;
  std::int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, llc_bytes = 32 << 20;
};

loop::CpuSchedule schedule_cpu(const loop::Kernel& k, const loop::Program& p, const CpuTarget& target);

}  // namespace stax::schedule
