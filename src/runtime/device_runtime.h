// What a device does: allocate, load a module, launch, copy, call its library. One implementation a device kind.
#pragma once
#include <stax/tensor/array.h>

#include <memory>
#include <span>

#include "runtime/matmul.h"
#include "runtime/module.h"

namespace stax::runtime {

// Order of work on a device. The CPU and the null device have the default stream only, and run at once.
struct Stream {
  void* handle = nullptr;
};

struct LaunchArgs {
  void* function = nullptr;  // of Module::function
  std::span<void* const> buffers;
  std::span<const std::int64_t> ints;
  std::span<const std::uint64_t> scalars;  // raw bits
  std::int64_t grid[3] = {1, 1, 1};        // programs; the CPU ignores it
  ErrorWord* error = nullptr;
};

// Elementwise copy with conversion; strides in elements.
struct CopyArgs {
  const void* from = nullptr;
  void* to = nullptr;
  Dtype from_dtype = Dtype::f32, to_dtype = Dtype::f32;
  std::span<const std::int64_t> sizes, from_strides, to_strides;
};

// Thread-safe.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  virtual Device device() const = 0;
  virtual Allocator& allocator() = 0;
  // False when nothing is ever executed (null): results are undefined and data() is null.
  virtual bool executes() const = 0;
  // Name of the instruction set that kernels are built for: "avx512", "sm_90".
  virtual std::string isa() const = 0;
  // DeviceError when the machine lacks the image's instruction set or the image cannot be loaded.
  virtual std::shared_ptr<Module> load_module(const ModuleImage& image) = 0;
  virtual void launch(const LaunchArgs& args, Stream stream = {}) = 0;
  virtual void matmul(const MatmulArgs& args, Stream stream = {}) = 0;
  virtual void copy(const CopyArgs& args, Stream stream = {}) = 0;
  virtual void synchronize(Stream stream = {}) = 0;
};

// The process's runtime of a device. DeviceError when the device does not exist.
DeviceRuntime& runtime_for(Device device);

}  // namespace stax::runtime
