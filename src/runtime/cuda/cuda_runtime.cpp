#include "runtime/cuda/cuda_runtime.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <array>

#include "base/env.h"
#include "runtime/cuda/can_matmul.h"

namespace stax::runtime {

class CudaRuntime::Segments final : public SegmentSource {
 public:
  explicit Segments(const CudaContext& context) : context_(context) {}
  void* get(std::size_t bytes) override {
    context_.make_current();
    cu::Address address = 0;
    const cu::Result r = context_.driver().memory_allocate(&address, bytes);
    if (r == cu::kOutOfMemory) return nullptr;
    context_.check(r, "getting memory");
    return reinterpret_cast<void*>(address);
  }
  void put(void* data) noexcept override {
    try {
      context_.make_current();
    } catch (const Error&) {
      return;
    }
    context_.driver().stream_synchronize(context_.stream());
    context_.driver().memory_free(reinterpret_cast<cu::Address>(data));
  }
  Memory memory() override {
    Memory m;
    context_.make_current();
    context_.check(context_.driver().memory_info(&m.free, &m.total), "free memory");
    return m;
  }
  void fill(void* data, std::size_t bytes, int byte) override {
    context_.make_current();
    context_.check(context_.driver().fill_bytes(reinterpret_cast<cu::Address>(data), static_cast<unsigned char>(byte),
                                                bytes, context_.stream()),
                   "filling new memory");
  }

 private:
  const CudaContext& context_;
};

CudaRuntime::CudaRuntime(const CudaDriver& driver, int index, CudaMatmul::Library library, std::size_t memory_limit)
    : context_(driver, index),
      segments_(std::make_unique<Segments>(context_)),
      allocator_(*segments_, context_.name(), memory_limit),
      staging_(context_),
      slots_(context_),
      copies_(context_),
      matmul_(context_, allocator_, copies_, library) {}

CudaRuntime::~CudaRuntime() {
  try {
    context_.wait(context_.stream());
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): what is left is given back all the same
  }
}

std::shared_ptr<Module> CudaRuntime::load_module(const ModuleImage& image) {
  if (image.isa != isa())
    throw DeviceError(
        fmt::format("kernels of {} were built for {}, {} takes {}", image.name, image.isa, context_.name(), isa()));
  return load_cuda_module(context_, image);
}

base::Decision CudaRuntime::can_matmul(const MatmulKind& kind) const { return cuda_can_matmul(kind); }

void CudaRuntime::copy(const CopyArgs& args, Stream stream) {
  if (args.from_dtype != args.to_dtype)
    throw InternalError(
        fmt::format("a copy from {} to {} on {}", to_text(args.from_dtype), to_text(args.to_dtype), context_.name()));
  copies_.run(args.to, args.to_strides, args.from, args.from_strides, args.sizes, byte_size(args.to_dtype),
              context_.handle_of(stream));
}

void CudaRuntime::upload(void* to, const void* from, std::size_t bytes, Stream stream) {
  context_.refuse_in_capture("host memory cannot be copied to the device");
  staging_.upload(to, from, bytes, context_.handle_of(stream));
}

void CudaRuntime::download(void* to, const void* from, std::size_t bytes, Stream stream) {
  context_.refuse_in_capture("values cannot be read");
  if (bytes == 0) return synchronize(stream);
  staging_.download(to, from, bytes, context_.handle_of(stream));
  slots_.raise_reported();
}

void CudaRuntime::synchronize(Stream stream) {
  context_.refuse_in_capture("the host cannot wait");
  slots_.wait_and_raise(context_.handle_of(stream));
}

std::unique_ptr<CudaGraph> CudaRuntime::capture(const std::function<void()>& work) {
  context_.refuse_in_capture("another capture cannot begin");
  context_.make_current();
  context_.check(context_.driver().stream_begin_capture(context_.stream(), cu::kCaptureThreadLocal),
                 "beginning a capture");
  const std::uint32_t pool = allocator_.begin_pool();
  context_.set_capturing(true);
  cu::GraphHandle graph = nullptr;
  auto end = [&] {
    context_.set_capturing(false);
    allocator_.end_pool();
    return context_.driver().stream_end_capture(context_.stream(), &graph);
  };
  try {
    work();
  } catch (...) {
    (void)end();
    if (graph) context_.driver().graph_destroy(graph);
    allocator_.free_pool(pool);
    throw;
  }
  if (const cu::Result r = end(); r != cu::kSuccess) {
    allocator_.free_pool(pool);
    context_.fail(r, "ending a capture");
  }
  return std::make_unique<CudaGraph>(context_, allocator_, pool, graph);
}

namespace {

constexpr int kMostDevices = 16;  // as many as storage.cpp has places for

struct Place {
  std::mutex mutex;
  std::atomic<CudaRuntime*> runtime{nullptr};
};
std::array<Place, kMostDevices>& places() {
  static auto* all = new std::array<Place, kMostDevices>;
  return *all;
}

// Starts the device at its first tensor.
class LazyCudaAllocator final : public Allocator {
 public:
  explicit LazyCudaAllocator(int index) : index_(index) {}
  void* allocate(std::size_t bytes) override { return cuda_runtime(index_).allocator().allocate(bytes); }
  void release(void* data, std::size_t bytes) noexcept override {
    if (CudaRuntime* r = places()[static_cast<std::size_t>(index_)].runtime.load()) r->allocator().release(data, bytes);
  }

 private:
  int index_;
};

const bool installed = [] {
  for (int i = 0; i < kMostDevices; ++i) set_allocator({DeviceKind::cuda, i}, *new LazyCudaAllocator(i));
  return true;
}();

}  // namespace

CudaRuntime& cuda_runtime(int index) {
  const CudaDriver& driver = cuda_driver();
  if (index < 0 || index >= kMostDevices)
    throw DeviceError(
        fmt::format("there is no device cuda:{}: Stax uses the devices 0 to {}", index, kMostDevices - 1));
  Place& place = places()[static_cast<std::size_t>(index)];
  if (CudaRuntime* r = place.runtime.load(std::memory_order_acquire)) return *r;
  const std::lock_guard lock(place.mutex);
  if (CudaRuntime* r = place.runtime.load()) return *r;
  const auto mib = static_cast<std::size_t>(base::env_integer("STAX_CUDA_MEMORY_LIMIT").value_or(0));
  // Never destroyed: tensors may outlive every static object.
  auto* made = new CudaRuntime(driver, index, &cublas_lt, mib << 20);
  place.runtime.store(made, std::memory_order_release);
  return *made;
}

}  // namespace stax::runtime
