#include "compile/session.h"

#include <unistd.h>

#include <map>
#include <mutex>

#include "build/cpp_compiler.h"
#include "cache/store.h"
#include "runtime/cpu/isa.h"
#include "runtime/cpu/threads.h"

namespace stax::compiler {

struct Session::Impl {
  std::string cache_dir;
  std::once_flag once;
  std::unique_ptr<build::CppCompiler> compiler;
  std::unique_ptr<cache::Store> disk;
  std::unique_ptr<build::KernelStore> kernels;
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
  std::call_once(impl_->once, [this] {
    impl_->compiler = std::make_unique<build::CppCompiler>();
    impl_->disk = std::make_unique<cache::Store>(
        impl_->cache_dir.empty() ? cache::default_directory() : std::filesystem::path(impl_->cache_dir),
        cache::default_limit_bytes());
    impl_->kernels = std::make_unique<build::KernelStore>(*impl_->compiler, impl_->disk.get());
  });
  return *impl_->kernels;
}

namespace {
std::int64_t cache_size(int name, std::int64_t otherwise) {
  const long v = sysconf(name);
  return v > 0 ? v : otherwise;
}
}  // namespace

schedule::CpuTarget Session::cpu_target() const {
  schedule::CpuTarget t;
  t.vector_bytes = runtime::host_target().vector_bytes;
  t.threads = runtime::num_threads();
  t.l1_bytes = cache_size(_SC_LEVEL1_DCACHE_SIZE, t.l1_bytes);
  t.l2_bytes = cache_size(_SC_LEVEL2_CACHE_SIZE, t.l2_bytes);
  t.llc_bytes = cache_size(_SC_LEVEL3_CACHE_SIZE, t.llc_bytes);
  return t;
}

}  // namespace stax::compiler
