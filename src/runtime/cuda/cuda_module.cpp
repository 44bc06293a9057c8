#include "runtime/cuda/cuda_module.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <deque>
#include <mutex>
#include <unordered_set>

namespace stax::runtime {

namespace {

// Names of kernels are kept for messages about work that outlives its module.
const char* kept_name(std::string name) {
  static std::mutex mutex;
  static auto* names = new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return names->insert(std::move(name)).first->c_str();
}

constexpr std::int64_t kSharedWithoutAsking = 48 * 1024;

class CudaModule final : public Module {
 public:
  CudaModule(const CudaContext& context, const ModuleImage& image) : context_(context), name_(image.name) {
    context.make_current();
    context.refuse_in_capture("kernels cannot be loaded");
    const cu::Result loaded = context.driver().module_load(&handle_, image.bytes.data());
    if (loaded != cu::kSuccess) context.fail(loaded, fmt::format("the kernels of {} cannot be loaded", image.name));
    try {
      for (const EntryPoint& e : image.entries) add(e);
    } catch (...) {
      context.driver().module_unload(handle_);
      throw;
    }
  }
  // Kernels of the module may still be queued.
  ~CudaModule() override {
    if (context_.capturing()) return;  // the graph may call it
    try {
      context_.make_current();
    } catch (const Error&) {
      return;
    }
    context_.driver().stream_synchronize(context_.stream());
    context_.driver().module_unload(handle_);
  }
  const std::string& name() const override { return name_; }
  void* function(std::string_view symbol) const override {
    for (const auto& [own, f] : functions_)
      if (own == symbol) return const_cast<CudaFunction*>(&f);
    throw InternalError(fmt::format("module {} has no function {}", name_, symbol));
  }

 private:
  void add(const EntryPoint& e) {
    const CudaDriver& driver = context_.driver();
    CudaFunction f;
    f.name = kept_name(fmt::format("{} of {}", e.symbol, name_));
    context_.check(driver.module_function(&f.handle, handle_, e.symbol.c_str()), fmt::format("kernel {}", f.name));
    auto attribute = [&](int which) {
      int value = 0;
      context_.check(driver.function_attribute(&value, which, f.handle), fmt::format("kernel {}", f.name));
      return std::int64_t{value};
    };
    const std::int64_t shared = e.shared_bytes + attribute(cu::kFunctionSharedBytes);
    const std::int64_t most_shared = context_.properties().shared_bytes;
    if (shared > most_shared)
      throw DeviceError(fmt::format("kernel {} needs {} bytes of shared memory a program; {} ({}) has {}", f.name,
                                    shared, context_.name(), context_.properties().name, most_shared));
    const std::int64_t most_threads =
        std::min<std::int64_t>(context_.max_threads(), attribute(cu::kFunctionMaxThreads));
    if (e.threads < 1 || e.threads > most_threads)
      throw DeviceError(fmt::format("kernel {} needs {} threads a program; with its registers {} can run 1 to {}",
                                    f.name, e.threads, context_.name(), most_threads));
    if (shared > kSharedWithoutAsking)
      context_.check(
          driver.function_set_attribute(f.handle, cu::kFunctionMaxDynamicShared, static_cast<int>(e.shared_bytes)),
          fmt::format("{} bytes of shared memory for kernel {}", e.shared_bytes, f.name));
    f.threads = static_cast<unsigned>(e.threads);
    f.shared_bytes = static_cast<unsigned>(e.shared_bytes);
    f.reports = e.reports;
    functions_.emplace_back(e.symbol, f);
  }

  const CudaContext& context_;
  std::string name_;
  cu::ModuleHandle handle_ = nullptr;
  std::deque<std::pair<std::string, CudaFunction>> functions_;  // stable addresses
};

}  // namespace

std::shared_ptr<Module> load_cuda_module(const CudaContext& context, const ModuleImage& image) {
  return std::make_shared<CudaModule>(context, image);
}

}  // namespace stax::runtime
