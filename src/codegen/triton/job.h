// A printed kernel as a job of the compile workers.
#pragma once
#include "build/triton_worker.h"
#include "codegen/triton/emit.h"

namespace stax::codegen {

build::TritonJob job_of(const TritonKernelText& kernel);

}  // namespace stax::codegen
