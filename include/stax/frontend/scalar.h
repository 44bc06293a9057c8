// Numbers that a compiled function takes as inputs.
#pragma once
#include <stax/frontend/dim.h>

#include <memory>
#include <type_traits>

namespace stax {

// A number: boolean, integer or floating, or a Dim used as one. As an argument or field of a compiled function it is an
// input of the kernels, not a constant in them; comparing it while tracing records a guard on the comparison's outcome.
// Does not raise a tensor's dtype within its category.
class Scalar {
 public:
  enum class Kind : std::uint8_t { boolean, integer, floating, dim, traced };

  Scalar() = default;
  template <class T>
  requires std::is_arithmetic_v<T> Scalar(T v) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_same_v<T, bool>)
      kind_ = Kind::boolean, integer_ = v;
    else if constexpr (std::is_integral_v<T>)
      kind_ = Kind::integer, integer_ = static_cast<std::int64_t>(v);
    else
      kind_ = Kind::floating, floating_ = static_cast<double>(v);
  }
  Scalar(const Dim& d) : kind_(Kind::dim), dim_(d) {}  // NOLINT(google-explicit-constructor)

  Kind kind() const { return kind_; }
  bool is_floating() const;
  // The number. Of a traced scalar: its value in this trace, recorded as a guard.
  double to_double(std::source_location where = std::source_location::current()) const;
  std::int64_t to_int(std::source_location where = std::source_location::current()) const;

  // For the rooms of Stax.
  std::int64_t integer() const { return integer_; }
  double floating() const { return floating_; }
  const Dim& dim() const { return dim_; }
  // A traced scalar: position among the scalar inputs of the running trace; the fields above hold its value.
  static Scalar traced(const Scalar& value, int input, std::uint64_t trace);
  Kind value_kind() const { return value_kind_; }
  int input() const { return input_; }
  std::uint64_t trace() const { return trace_; }

 private:
  Kind kind_ = Kind::integer, value_kind_ = Kind::integer;
  std::int64_t integer_ = 0;
  double floating_ = 0;
  Dim dim_;
  int input_ = -1;
  std::uint64_t trace_ = 0;
};

// Numbers and Scalars on either side.
class ScalarComparand {
 public:
  ScalarComparand(const Scalar& s, std::source_location where = std::source_location::current())
      : scalar(s), where(where) {}  // NOLINT
  template <class T>
  requires std::is_arithmetic_v<T> ScalarComparand(T v, std::source_location where = std::source_location::current())
      : scalar(v), where(where) {}  // NOLINT
  Scalar scalar;
  std::source_location where;
};
namespace frontend {
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };
bool compare(const Scalar& a, Comparison c, const Scalar& b, std::source_location where);
}  // namespace frontend

// Only for Scalar itself: sizes have comparisons of their own.
#define STAX_SCALAR_COMPARISON(symbol, name)                                    \
  template <class S>                                                            \
  requires std::is_same_v<S, Scalar>                                            \
  bool operator symbol(const S& a, ScalarComparand b) {                         \
    return frontend::compare(a, frontend::Comparison::name, b.scalar, b.where); \
  }
STAX_SCALAR_COMPARISON(==, eq)
STAX_SCALAR_COMPARISON(!=, ne)
STAX_SCALAR_COMPARISON(<, lt)
STAX_SCALAR_COMPARISON(<=, le)
STAX_SCALAR_COMPARISON(>, gt)
STAX_SCALAR_COMPARISON(>=, ge)
#undef STAX_SCALAR_COMPARISON

}  // namespace stax
