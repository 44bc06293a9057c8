// Work that was recorded once and is queued again as a whole.
#pragma once
#include "runtime/cuda/context.h"
#include "runtime/cuda/device_allocator.h"

namespace stax::runtime {

// Every replay reads and writes the addresses of the capture: what was returned then is overwritten, and the tensors,
// modules and error slots that it used must still exist. Memory that the captured work allocated is nobody else's while
// the graph lives.
class CudaGraph {
 public:
  CudaGraph(const CudaContext& context, DeviceAllocator& allocator, std::uint32_t pool, cu::GraphHandle graph);
  ~CudaGraph();
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void replay();

 private:
  const CudaContext& context_;
  DeviceAllocator& allocator_;
  std::uint32_t pool_;
  cu::GraphHandle graph_;
  cu::GraphExec exec_ = nullptr;
};

}  // namespace stax::runtime
