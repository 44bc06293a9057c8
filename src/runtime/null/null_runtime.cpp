#include "runtime/null/null_runtime.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <atomic>

#include "runtime/cuda/can_matmul.h"

namespace stax::runtime {

namespace {

struct Counters {
  std::atomic<std::uint64_t> modules{0}, launches{0}, matmuls{0}, copies{0}, allocations{0}, bytes{0};
};
Counters& counters() {
  static Counters c;
  return c;
}

// Gives the null address for every size; storages of the device have bytes but no memory.
class NullAllocator final : public Allocator {
 public:
  void* allocate(std::size_t bytes) override {
    counters().allocations.fetch_add(1, std::memory_order_relaxed);
    counters().bytes.fetch_add(bytes, std::memory_order_relaxed);
    return nullptr;
  }
  void release(void*, std::size_t) noexcept override {}
};

// Every name has an entry point, which nobody calls.
class NullModule final : public Module {
 public:
  explicit NullModule(std::string name) : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  void* function(std::string_view) const override { return const_cast<NullModule*>(this); }

 private:
  std::string name_;
};

class NullErrorSlot final : public ErrorSlot {
 public:
  ErrorWord* word() override { return &word_; }
  void raise_if_reported() override {}

 private:
  ErrorWord word_;
};

class NullRuntime final : public DeviceRuntime {
 public:
  Device device() const override { return {DeviceKind::null_gpu, 0}; }
  Allocator& allocator() override {
    static NullAllocator allocator;
    return allocator;
  }
  bool executes() const override { return false; }
  std::string isa() const override { return "sm_90"; }
  std::shared_ptr<Module> load_module(const ModuleImage& image) override {
    if (image.isa != isa())
      throw DeviceError(
          fmt::format("kernels of {} were built for {}, the null device takes {}", image.name, image.isa, isa()));
    counters().modules.fetch_add(1, std::memory_order_relaxed);
    return std::make_shared<NullModule>(image.name);
  }
  void launch(const LaunchArgs& args, Stream) override {
    STAX_CHECK(args.function, "launch without a function");
    counters().launches.fetch_add(1, std::memory_order_relaxed);
  }
  void matmul(const MatmulArgs&, Stream) override { counters().matmuls.fetch_add(1, std::memory_order_relaxed); }
  base::Decision can_matmul(const MatmulKind& kind) const override { return cuda_can_matmul(kind); }
  void upload(void*, const void*, std::size_t, Stream) override {}
  void download(void*, const void*, std::size_t, Stream) override {
    throw DeviceError("the null device holds no values: nothing can be read from it");
  }
  DeviceProperties properties() const override {
    return {.name = "null",
            .multiprocessors = 132,
            .capability = 90,
            .l2_bytes = std::int64_t{50} << 20,
            .shared_bytes = 227 << 10,
            .memory_bytes = std::int64_t{139} << 30};
  }
  std::shared_ptr<ErrorSlot> error_slot(RaiseError) override { return std::make_shared<NullErrorSlot>(); }
  void copy(const CopyArgs&, Stream) override { counters().copies.fetch_add(1, std::memory_order_relaxed); }
  void synchronize(Stream) override {}
};

const bool installed = [] {
  set_allocator({DeviceKind::null_gpu, 0}, null_runtime().allocator());
  return true;
}();

}  // namespace

DeviceRuntime& null_runtime() {
  static NullRuntime runtime;
  return runtime;
}

NullCounts null_counts() {
  const Counters& c = counters();
  return {c.modules, c.launches, c.matmuls, c.copies, c.allocations, c.bytes};
}

}  // namespace stax::runtime
