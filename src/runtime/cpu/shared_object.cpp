#include "runtime/cpu/shared_object.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stax/base/error.h>

#include <atomic>

#include "base/file.h"
#include "base/spawn.h"
#include "runtime/cpu/isa.h"

namespace stax::runtime {

namespace {

class SharedObject final : public Module {
 public:
  SharedObject(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  ~SharedObject() override { dlclose(handle_); }
  const std::string& name() const override { return name_; }
  void* function(std::string_view symbol) const override {
    void* f = dlsym(handle_, std::string(symbol).c_str());
    STAX_CHECK(f, fmt::format("module {} has no function {}", name_, symbol));
    return f;
  }

 private:
  std::string name_;
  void* handle_;
};

// The loader knows an object by the path that it was opened with, and descriptor numbers come back; so each path is
// spelled in its own way, the bits of a counter as "./" and ".//".
std::string unique_path(int fd) {
  static std::atomic<std::uint64_t> counter{0};
  std::string path = "/proc/self/fd/";
  for (std::uint64_t n = counter.fetch_add(1) + 2; n > 1; n >>= 1) path += (n & 1) ? ".//" : "./";
  return path + std::to_string(fd);
}

}  // namespace

std::shared_ptr<Module> load_shared_object(const ModuleImage& image) {
  if (!cpu_supports(image.isa))
    throw DeviceError(fmt::format("kernels of {} were built for {}, which this CPU does not have (it has {})",
                                  image.name, image.isa, host_target().isa));
  const base::Fd file = base::memory_file("stax_kernels");
  base::write_all(file.get(), image.bytes, image.name);
  void* handle = dlopen(unique_path(file.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* reason = dlerror();
    throw DeviceError(fmt::format("cannot load the kernels of {}: {}", image.name, reason ? reason : "unknown reason"));
  }
  return std::make_shared<SharedObject>(image.name, handle);
}

}  // namespace stax::runtime
