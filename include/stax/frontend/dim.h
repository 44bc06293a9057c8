// Sizes: numbers, or while tracing symbolic expressions.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace stax {

namespace symbolic {
struct Node;
}

// A size. Outside a trace, or for a static axis, it is a number; while tracing with dynamic sizes it is an expression.
// Arithmetic keeps expressions; a comparison gives a bool and records a guard at the caller's line. A symbolic Dim that
// is used after its trace has ended throws UserError.
class Dim {
 public:
  Dim(int value = 0) : value_(value) {}                                   // NOLINT(google-explicit-constructor)
  Dim(long value) : value_(value) {}                                      // NOLINT(google-explicit-constructor)
  Dim(long long value) : value_(value) {}                                 // NOLINT(google-explicit-constructor)
  Dim(unsigned value) : value_(value) {}                                  // NOLINT(google-explicit-constructor)
  Dim(unsigned long value) : value_(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Dim(const symbolic::Node* node, std::uint64_t trace) : node_(node), trace_(trace) {}

  bool is_symbolic() const { return node_ != nullptr; }
  // The number. Of a symbolic size: its value in this trace, recorded as a guard.
  std::int64_t value(std::source_location where = std::source_location::current()) const;

  // For the rooms of Stax.
  const symbolic::Node* node() const { return node_; }
  std::uint64_t trace() const { return trace_; }
  std::int64_t number() const { return value_; }

 private:
  std::int64_t value_ = 0;
  const symbolic::Node* node_ = nullptr;
  std::uint64_t trace_ = 0;
};

// An operand of an operator on sizes; knows the caller's line.
class DimOperand {
 public:
  DimOperand(const Dim& d, std::source_location where = std::source_location::current())
      : dim(d), where(where) {}  // NOLINT
  template <class T>
  requires std::is_integral_v<T> DimOperand(T v, std::source_location where = std::source_location::current())
      : dim(v), where(where) {}  // NOLINT
  Dim dim;
  std::source_location where;
};

Dim operator+(DimOperand a, DimOperand b);
Dim operator-(DimOperand a, DimOperand b);
Dim operator*(DimOperand a, DimOperand b);
// Rounded to minus infinity; the remainder has the divisor's sign. Division by zero throws UserError.
Dim operator/(DimOperand a, DimOperand b);
Dim operator%(DimOperand a, DimOperand b);
Dim operator-(DimOperand a);
Dim min(DimOperand a, DimOperand b);
Dim max(DimOperand a, DimOperand b);
bool operator==(DimOperand a, DimOperand b);
bool operator!=(DimOperand a, DimOperand b);
bool operator<(DimOperand a, DimOperand b);
bool operator<=(DimOperand a, DimOperand b);
bool operator>(DimOperand a, DimOperand b);
bool operator>=(DimOperand a, DimOperand b);
std::string to_string(const Dim& d);

// The sizes of a tensor.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  explicit Shape(std::span<const std::int64_t> sizes) : dims_(sizes.begin(), sizes.end()) {}

  std::size_t size() const { return dims_.size(); }
  int rank() const { return static_cast<int>(dims_.size()); }
  const Dim& operator[](std::size_t i) const { return dims_[i]; }
  Dim& operator[](std::size_t i) { return dims_[i]; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  void push_back(const Dim& d) { dims_.push_back(d); }
  const std::vector<Dim>& dims() const { return dims_; }

 private:
  std::vector<Dim> dims_;
};
// Compares sizes; symbolic ones record guards.
bool operator==(const Shape& a, const Shape& b);
bool operator!=(const Shape& a, const Shape& b);
std::string to_string(const Shape& s);  // "[64, 128]"

// One axis or several, negative from the end. Default constructed: all of them.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{axis}, given_(true) {}                                   // NOLINT
  Axes(std::initializer_list<std::int64_t> axes) : axes_(axes), given_(true) {}   // NOLINT
  Axes(std::vector<std::int64_t> axes) : axes_(std::move(axes)), given_(true) {}  // NOLINT
  bool given() const { return given_; }
  const std::vector<std::int64_t>& list() const { return axes_; }

 private:
  std::vector<std::int64_t> axes_;
  bool given_ = false;
};

}  // namespace stax
