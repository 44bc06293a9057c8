// Tensors made from nothing, from memory and from files.
#pragma once
#include <stax/frontend/tensor.h>
#include <stax/tensor/dlpack.h>

#include <map>
#include <span>

namespace stax {

// Where creation functions put their result: set here, else STAX_DEVICE, else the CPU.
Device default_device();
void set_default_device(Device device);
// Waits until the device has done all work queued so far, and raises what its kernels have reported (an index out of
// range). Reading values does the same. The CPU and the null device have nothing to wait for.
void synchronize(Device device = default_device());

using Where = std::source_location;
Tensor full(const Shape& shape, const Scalar& value, Dtype dtype, Where where = Where::current());
// The dtype of the value: f32, i64 or boolean.
Tensor full(const Shape& shape, const Scalar& value, Where where = Where::current());
Tensor zeros(const Shape& shape, Dtype dtype = f32, Where where = Where::current());
Tensor ones(const Shape& shape, Dtype dtype = f32, Where where = Where::current());
// start, start + step, … before end.
Tensor arange(const Dim& end, Dtype dtype = i64, Where where = Where::current());
Tensor arange(const Dim& start, const Dim& end, std::int64_t step = 1, Dtype dtype = i64,
              Where where = Where::current());
// Standard normal, uniform in [0, 1): pure functions of the seed and the element.
Tensor randn(const Shape& shape, const Scalar& seed, Dtype dtype = f32, Where where = Where::current());
Tensor rand(const Shape& shape, const Scalar& seed, Dtype dtype = f32, Where where = Where::current());
// `count` numbers from start to end, both included, evenly apart.
Tensor linspace(double start, double end, const Dim& count, Dtype dtype = f32, Where where = Where::current());
// Ones on the diagonal.
Tensor eye(const Dim& rows, const Dim& columns, Dtype dtype = f32, Where where = Where::current());
Tensor eye(const Dim& size, Dtype dtype = f32, Where where = Where::current());
// Whole numbers in [low, high), at most 2^24 different ones: a pure function of the seed and the element.
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, const Scalar& seed, Dtype dtype = i64,
               Where where = Where::current());

// DLPack both ways, without a copy (stax/tensor/dlpack.h). Handing out a tensor of a GPU waits for its values.
DLManagedTensor* to_dlpack(const Tensor& t, Where where = Where::current());
Tensor tensor_from_dlpack(DLManagedTensor* managed, Where where = Where::current());

namespace frontend {
Tensor from_memory(const void* data, std::size_t count, Dtype dtype, const Shape& shape, Where where);
}
// Copies of memory; the element count must be the shape's.
template <class T>
Tensor from_span(std::span<const T> values, const Shape& shape, Where where = Where::current()) {
  return frontend::from_memory(values.data(), values.size(), dtype_of<T>(), shape, where);
}
template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape, Where where = Where::current()) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<std::uint8_t> bytes(values.begin(), values.end());
    return frontend::from_memory(bytes.data(), bytes.size(), boolean, shape, where);
  } else {
    return frontend::from_memory(values.data(), values.size(), dtype_of<T>(), shape, where);
  }
}
template <class T>
Tensor tensor(std::initializer_list<T> values, Where where = Where::current()) {
  return frontend::from_memory(values.begin(), values.size(), dtype_of<T>(), Shape{Dim(values.size())}, where);
}
// The memory itself, row-major, of the CPU whatever the default device; it must outlive the tensor. Its contents may
// change at any time.
Tensor from_blob(void* data, const Shape& shape, Dtype dtype);

// On the default device. UserError with the path and the caller's line for a missing, truncated or lying file.
Tensor load_npy(const std::string& path, Where where = Where::current());
void save_npy(const std::string& path, const Tensor& t, Where where = Where::current());
std::map<std::string, Tensor> load_safetensors(const std::string& path, Where where = Where::current());

}  // namespace stax
