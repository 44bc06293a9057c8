#include "runtime/cuda/graph.h"

namespace stax::runtime {

CudaGraph::CudaGraph(const CudaContext& context, DeviceAllocator& allocator, std::uint32_t pool, cu::GraphHandle graph)
    : context_(context), allocator_(allocator), pool_(pool), graph_(graph) {
  const cu::Result r = context.driver().graph_instantiate(&exec_, graph, 0);
  if (r != cu::kSuccess) {
    context.driver().graph_destroy(graph);
    allocator.free_pool(pool);
    context.fail(r, "making a graph of the captured work");
  }
}

CudaGraph::~CudaGraph() {
  try {
    context_.make_current();
    context_.driver().stream_synchronize(context_.stream());
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the handles are given back all the same
  }
  context_.driver().graph_exec_destroy(exec_);
  context_.driver().graph_destroy(graph_);
  allocator_.free_pool(pool_);
}

void CudaGraph::replay() {
  context_.make_current();
  context_.check(context_.driver().graph_launch(exec_, context_.stream()), "replaying a graph");
}

}  // namespace stax::runtime
