#include "runtime/cpu/shared_object.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stax/base/error.h>

#include "base/sealed_file.h"
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

}  // namespace

std::shared_ptr<Module> load_shared_object(const ModuleImage& image) {
  if (!cpu_supports(image.isa))
    throw DeviceError(fmt::format("kernels of {} were built for {}, which this CPU does not have (it has {})",
                                  image.name, image.isa, host_target().isa));
  const base::SealedFile file(image.bytes, "stax_kernels");
  void* handle = dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* reason = dlerror();
    throw DeviceError(fmt::format("cannot load the kernels of {}: {}", image.name, reason ? reason : "unknown reason"));
  }
  return std::make_shared<SharedObject>(image.name, handle);
}

}  // namespace stax::runtime
