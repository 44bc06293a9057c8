// What a device does: allocate, load a module, launch, copy, call its library. One implementation a device kind.
#pragma once
#include <stax/tensor/array.h>

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/decision.h"
#include "runtime/matmul.h"
#include "runtime/module.h"

namespace stax::runtime {

// Order of work on a device; null: the runtime's own stream, on which all work of a device runs unless another is
// named. The CPU and the null device run at once.
struct Stream {
  void* handle = nullptr;
};

struct LaunchArgs {
  void* function = nullptr;  // of Module::function
  std::span<void* const> buffers;
  std::span<const std::int64_t> ints;
  std::span<const std::uint64_t> scalars;  // raw bits
  std::int64_t grid[3] = {1, 1, 1};        // programs; the CPU ignores it
  ErrorWord* error = nullptr;              // in memory that the device can write
};

// What a machine has, for schedules and messages.
struct DeviceProperties {
  std::string name;  // "NVIDIA H200"
  int multiprocessors = 1;
  int capability = 0;  // 90: 9.0; the CPU has none
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes = 0;  // that a program may ask for
  std::int64_t memory_bytes = 0;
};

// A place where kernels report while the host goes on. Whoever synchronises, or calls the same plan again, finds the
// report and raises it once.
class ErrorSlot {
 public:
  virtual ~ErrorSlot() = default;
  virtual ErrorWord* word() = 0;         // as LaunchArgs takes it
  virtual void raise_if_reported() = 0;  // throws what `raise` throws, and clears the report
};
using RaiseError = std::function<void(const ErrorWord&)>;

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
  // What `matmul` can fuse into the product, and whether it has the dtype at all.
  virtual base::Decision can_matmul(const MatmulKind& kind) const = 0;
  virtual void copy(const CopyArgs& args, Stream stream = {}) = 0;
  // Bytes from and to host memory. `upload` may return before the copy is done, but `from` may change at once;
  // `download` returns when `to` is filled, and raises what kernels reported.
  virtual void upload(void* to, const void* from, std::size_t bytes, Stream stream = {}) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes, Stream stream = {}) = 0;
  // Waits for the work so far and raises what kernels reported.
  virtual void synchronize(Stream stream = {}) = 0;
  virtual DeviceProperties properties() const = 0;
  // Null on a device whose launches have ended when `launch` returns: any host word will do. `raise` must throw.
  virtual std::shared_ptr<ErrorSlot> error_slot(RaiseError raise) = 0;
};

// The process's runtime of a device. DeviceError when the device does not exist.
DeviceRuntime& runtime_for(Device device);

}  // namespace stax::runtime
