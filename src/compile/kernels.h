// The kernels of a fused program: scheduled, printed for the target, built.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "codegen/triton/emit.h"
#include "compile/session.h"
#include "loop/transform.h"
#include "schedule/schedule.h"

namespace stax::compiler {

struct ScheduledKernel {
  loop::Canonical canonical;
  schedule::KernelSchedule schedule;  // of the canonical kernel
  std::string symbol, source;
  int code = -1;                                            // position among the distinct sources
  std::shared_ptr<const codegen::TritonKernelText> triton;  // GPU; shared by kernels of equal code
  // GPU: what calls would have to be for more 16-byte accesses, in canonical names; see further_promises.
  std::vector<std::vector<loop::SizePromise>> wished_sizes;
  std::vector<int> wished_inputs;       // inputs whose addresses would have to be multiples of 16
  std::vector<loop::Origin> operators;  // by value, the user's operator (unnamed: none); of the first of equal code
};

// What the launches of a program may count on.
struct Promises {
  bool allowed = true;         // false: kernels serve every address and size
  bool bounds = true;          // of rows, with `allowed`
  std::vector<int> unaligned;  // tensor inputs that lie at no multiple of 16 bytes in the call at hand
};

// One entry per kernel item, in order; kernels that are the same up to names share `code`. `schedules`, when given, has
// one entry a kernel, in the names of the program; else they are chosen.
std::vector<ScheduledKernel> emit_kernels(const loop::Program& p, const schedule::Target& target,
                                          const std::vector<schedule::KernelSchedule>* schedules = nullptr,
                                          const Promises& promises = {});
// The schedule in the names of the program, as its text has it.
schedule::KernelSchedule program_schedule(const ScheduledKernel& k);
// In the order of `code`.
struct BuiltKernels {
  std::vector<std::shared_ptr<runtime::Module>> modules;
  std::vector<build::KernelResources> resources;  // of kernels of a GPU
};
BuiltKernels build_kernels(const std::vector<ScheduledKernel>& kernels, Session& session, Device device = {},
                           build::KernelStoreStats* stats = nullptr);

}  // namespace stax::compiler
