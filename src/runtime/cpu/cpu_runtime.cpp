#include "runtime/cpu/cpu_runtime.h"

#include <cstring>

#include "runtime/cpu/caching_allocator.h"
#include "runtime/cpu/copy.h"
#include "runtime/cpu/isa.h"
#include "runtime/cpu/matmul.h"
#include "runtime/cpu/shared_object.h"
#include "runtime/cpu/threads.h"

namespace stax::runtime {

namespace {

class CpuRuntime final : public DeviceRuntime {
 public:
  Device device() const override { return {}; }
  Allocator& allocator() override { return CachingAllocator::cpu(); }
  bool executes() const override { return true; }
  std::string isa() const override { return host_target().isa; }
  std::shared_ptr<Module> load_module(const ModuleImage& image) override { return load_shared_object(image); }
  void launch(const LaunchArgs& args, Stream) override {
    reinterpret_cast<CpuKernel>(args.function)(args.buffers.data(), args.ints.data(), args.scalars.data(),
                                               num_threads(), args.error);
  }
  void matmul(const MatmulArgs& args, Stream) override { cpu_matmul(args); }
  base::Decision can_matmul(const MatmulKind&) const override { return base::Decision::yes(); }
  void copy(const CopyArgs& args, Stream) override { cpu_copy(args); }
  void upload(void* to, const void* from, std::size_t bytes, Stream) override {
    if (bytes) std::memcpy(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes, Stream) override {
    if (bytes) std::memcpy(to, from, bytes);
  }
  void synchronize(Stream) override {}
  DeviceProperties properties() const override { return {.name = host_target().isa, .multiprocessors = num_threads()}; }
  std::shared_ptr<ErrorSlot> error_slot(RaiseError) override { return nullptr; }
};

}  // namespace

DeviceRuntime& cpu_runtime() {
  static CpuRuntime runtime;
  return runtime;
}

}  // namespace stax::runtime
