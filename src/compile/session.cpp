#include "compile/session.h"

#include <map>
#include <mutex>
#include <set>

#include "base/log.h"
#include "build/cpp_compiler.h"
#include "cache/store.h"
#include "runtime/cpu/cache_sizes.h"
#include "runtime/cpu/isa.h"
#include "runtime/cpu/threads.h"
#include "runtime/device_runtime.h"

namespace stax::compiler {

struct Session::Impl {
  std::string cache_dir;
  std::mutex mutex;
  std::set<std::string> warned;
  std::once_flag disk_once, cpu_once, gpu_once;
  std::unique_ptr<cache::Store> disk;
  std::unique_ptr<build::CppCompiler> compiler;
  std::unique_ptr<build::KernelStore> kernels;
  std::unique_ptr<build::TritonCompiler> triton;
  std::unique_ptr<build::GpuKernelStore> gpu_kernels;

  cache::Store* store() {
    std::call_once(disk_once, [this] {
      disk = std::make_unique<cache::Store>(
          cache_dir.empty() ? cache::default_directory() : std::filesystem::path(cache_dir),
          cache::default_limit_bytes());
    });
    return disk.get();
  }
};

Session::Session(const std::string& cache_dir) : impl_(std::make_unique<Impl>()) { impl_->cache_dir = cache_dir; }
Session::~Session() = default;

Session& Session::of(const std::string& cache_dir) {
  static std::mutex mutex;
  static auto* sessions = new std::map<std::string, std::unique_ptr<Session>>;  // outlives every static that compiles
  std::lock_guard lock(mutex);
  auto& slot = (*sessions)[cache_dir];
  if (!slot) slot.reset(new Session(cache_dir));
  return *slot;
}

build::KernelStore& Session::kernels() {
  std::call_once(impl_->cpu_once, [this] {
    impl_->compiler = std::make_unique<build::CppCompiler>();
    impl_->kernels = std::make_unique<build::KernelStore>(*impl_->compiler, impl_->store());
  });
  return *impl_->kernels;
}

build::GpuKernelStore& Session::gpu_kernels() {
  std::call_once(impl_->gpu_once, [this] {
    impl_->triton = std::make_unique<build::TritonCompiler>(build::TritonOptions{}, impl_->store());
    impl_->gpu_kernels = std::make_unique<build::GpuKernelStore>(*impl_->triton);
  });
  return *impl_->gpu_kernels;
}

bool Session::knows(const base::Digest& content) { return impl_->store()->get(content).has_value(); }

void Session::remember(const base::Digest& content) {
  const cache::Blob blob{"compiled", "1"};
  impl_->store()->put(content, std::span(&blob, 1));
}

void Session::warn_once(const std::string& text) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->warned.insert(text).second) return;
  }
  base::log(base::LogLevel::warn, text);
}

schedule::CpuTarget Session::cpu_target() const {
  schedule::CpuTarget t;
  t.vector_bytes = runtime::host_target().vector_bytes;
  t.threads = runtime::num_threads();
  const runtime::CacheSizes sizes = runtime::cache_sizes();
  if (sizes.l1 > 0) t.l1_bytes = sizes.l1;
  if (sizes.l2 > 0) t.l2_bytes = sizes.l2;
  if (sizes.last > 0) t.llc_bytes = sizes.last;
  return t;
}

schedule::Target Session::target(Device device) const {
  if (device.kind == DeviceKind::cpu) return cpu_target();
  const runtime::DeviceProperties properties = runtime::runtime_for(device).properties();
  return schedule::GpuTarget{.multiprocessors = properties.multiprocessors, .l2_bytes = properties.l2_bytes};
}

}  // namespace stax::compiler
