#include <stax/frontend/scalar.h>

#include "frontend/trace.h"

namespace stax {

using frontend::Trace;
using Comparison = plan::Guard::Comparison;
static_assert(static_cast<int>(Comparison::ge) == static_cast<int>(frontend::Comparison::ge));

Scalar Scalar::traced(const Scalar& value, int input, std::uint64_t trace) {
  Scalar s = value;
  s.value_kind_ = value.kind_;
  s.kind_ = Kind::traced, s.input_ = input, s.trace_ = trace;
  return s;
}

bool Scalar::is_floating() const { return (kind_ == Kind::traced ? value_kind_ : kind_) == Kind::floating; }

double Scalar::to_double(std::source_location where) const {
  if (kind_ == Kind::dim) return static_cast<double>(dim_.value(where));
  if (kind_ == Kind::traced)
    Trace::expect(trace_, "number", where)
        .compare_scalar(*this, Comparison::eq, value_kind_ == Kind::floating ? Scalar(floating_) : Scalar(integer_),
                        where);
  return is_floating() ? floating_ : static_cast<double>(integer_);
}

std::int64_t Scalar::to_int(std::source_location where) const {
  if (kind_ == Kind::dim) return dim_.value(where);
  if (kind_ == Kind::traced) return static_cast<std::int64_t>(to_double(where));
  return is_floating() ? static_cast<std::int64_t>(floating_) : integer_;
}

bool frontend::compare(const Scalar& a, Comparison c, const Scalar& b, std::source_location where) {
  if (a.kind() == Scalar::Kind::traced) {
    Scalar with = b;
    if (with.kind() == Scalar::Kind::traced || with.kind() == Scalar::Kind::dim)
      with = with.is_floating() ? Scalar(with.to_double(where)) : Scalar(with.to_int(where));
    return Trace::expect(a.trace(), "number", where)
        .compare_scalar(a, static_cast<plan::Guard::Comparison>(c), with, where);
  }
  auto holds = [c](auto x, auto y) {
    switch (c) {
      case Comparison::eq:
        return x == y;
      case Comparison::ne:
        return x != y;
      case Comparison::lt:
        return x < y;
      case Comparison::le:
        return x <= y;
      case Comparison::gt:
        return x > y;
      case Comparison::ge:
        return x >= y;
    }
    __builtin_unreachable();
  };
  if (a.is_floating() || b.is_floating()) return holds(a.to_double(where), b.to_double(where));
  return holds(a.to_int(where), b.to_int(where));
}

}  // namespace stax
