// The tensor that users hold, and what can be done with it.
#pragma once
#include <stax/base/error.h>
#include <stax/frontend/dim.h>
#include <stax/frontend/indexing.h>
#include <stax/frontend/scalar.h>
#include <stax/tensor/array.h>

#include <memory>
#include <string>
#include <vector>

namespace stax {

namespace frontend {
struct TensorImpl;
}

inline constexpr Device cpu{DeviceKind::cpu, 0};
constexpr Device cuda(int index = 0) { return {DeviceKind::cuda, index}; }

// A handle: copies see the same tensor, and writes through one are seen through all. Undefined when default
// constructed. While a function is being traced its tensors have types but no values: reading a value (`item`,
// `to_vector`, `data_ptr`) is a UserError under `fullgraph`, else the function runs operator by operator.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Array array);
  explicit Tensor(std::shared_ptr<frontend::TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  Dtype dtype() const;
  Device device() const;
  int rank() const;
  Shape shape() const;
  // Size of an axis, negative from the end. UserError when out of range.
  Dim size(int axis, std::source_location where = std::source_location::current()) const;
  Dim stride(int axis, std::source_location where = std::source_location::current()) const;
  Dim numel() const;

  // Values, from whichever device (DeviceError on null). `item` takes a tensor of one element; `to_vector` gives
  // row-major order. T's dtype must be the tensor's (to_vector<double> of f32 and the like: cast first).
  template <class T>
  T item(std::source_location where = std::source_location::current()) const;
  template <class T>
  std::vector<T> to_vector(std::source_location where = std::source_location::current()) const;
  // Address in the memory of the tensor's device, where queued work may still be writing (synchronize).
  const void* data_ptr(std::source_location where = std::source_location::current()) const;
  // Memory for writing: nothing derived from the contents is kept from then on.
  void* mutable_data_ptr(std::source_location where = std::source_location::current());
  // Promises that the contents will not change although the memory was handed out.
  Tensor& declare_constant();

  Tensor to(Dtype dtype, std::source_location where = std::source_location::current()) const;
  // The tensor itself when it is there, else a copy in memory of its own. While a function is traced: as for `item`.
  Tensor to(Device device, std::source_location where = std::source_location::current()) const;
  Tensor index(std::initializer_list<Index> items, std::source_location where = std::source_location::current()) const;

  // In-place writes. `copy_` broadcasts and converts the source; the target must not overlap itself. They return the
  // tensor itself.
  Tensor& fill_(const Scalar& value, std::source_location where = std::source_location::current());
  Tensor& copy_(const Tensor& source, std::source_location where = std::source_location::current());

#include <stax/frontend/tensor_methods.inc>

  // For the rooms of Stax.
  const std::shared_ptr<frontend::TensorImpl>& impl() const { return impl_; }
  Array array(std::source_location where = std::source_location::current()) const;  // the concrete tensor

 private:
  std::shared_ptr<frontend::TensorImpl> impl_;
};

// "f32[2, 2] [[1, 2], [3, 4]]"; the values of at most 64 elements.
std::string to_string(const Tensor& t);

// Operands that know the caller's line. `TensorOperand` takes tensors, `ScalarOperand` numbers, `Operand` either.
class TensorOperand {
 public:
  TensorOperand(const Tensor& t, std::source_location where = std::source_location::current())
      : tensor(t), where(where) {}  // NOLINT
  const Tensor& tensor;
  std::source_location where;
};
class ScalarOperand {
 public:
  ScalarOperand(const Scalar& s) : scalar(s) {}  // NOLINT(google-explicit-constructor)
  ScalarOperand(const Dim& d) : scalar(d) {}     // NOLINT(google-explicit-constructor)
  template <class T>
  requires std::is_arithmetic_v<T> ScalarOperand(T v) : scalar(v) {}  // NOLINT(google-explicit-constructor)
  Scalar scalar;
};
class Operand {
 public:
  Operand() = default;
  Operand(NoneType) {}                                      // NOLINT(google-explicit-constructor)
  Operand(const Tensor& t) : tensor(t), is_tensor(true) {}  // NOLINT(google-explicit-constructor)
  Operand(const Scalar& s) : scalar(s), given(true) {}      // NOLINT(google-explicit-constructor)
  Operand(const Dim& d) : scalar(d), given(true) {}         // NOLINT(google-explicit-constructor)
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T v) : scalar(v), given(true) {}  // NOLINT(google-explicit-constructor)
  Tensor tensor;
  Scalar scalar;
  bool is_tensor = false, given = false;
};

#define STAX_BINARY_OPERATOR(symbol)                               \
  Tensor operator symbol(TensorOperand a, TensorOperand b);        \
  Tensor operator symbol(TensorOperand a, const ScalarOperand& b); \
  Tensor operator symbol(const ScalarOperand& a, TensorOperand b);
STAX_BINARY_OPERATOR(+)
STAX_BINARY_OPERATOR(-)
STAX_BINARY_OPERATOR(*)
STAX_BINARY_OPERATOR(/)
STAX_BINARY_OPERATOR(<)
STAX_BINARY_OPERATOR(<=)
STAX_BINARY_OPERATOR(>)
STAX_BINARY_OPERATOR(>=)
STAX_BINARY_OPERATOR(==)
STAX_BINARY_OPERATOR(!=)
#undef STAX_BINARY_OPERATOR
Tensor operator-(TensorOperand a);

}  // namespace stax
