#include "codegen/triton/job.h"

namespace stax::codegen {

build::TritonJob job_of(const TritonKernelText& kernel) {
  build::TritonJob job;
  job.name = kernel.function;
  job.function = kernel.function;
  job.text = kernel.text;
  for (const TritonParameter& p : kernel.parameters) job.parameters.push_back({p.name, p.type, p.multiple_of});
  job.constants = kernel.constants;
  job.warps = kernel.warps;
  job.stages = 1;  // loops without a dot are not worth pipelining
  return job;
}

}  // namespace stax::codegen
