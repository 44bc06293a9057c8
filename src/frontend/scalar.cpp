#include <stax/frontend/scalar.h>

#include "frontend/trace.h"

namespace stax {

using frontend::Trace;
using Comparison = plan::Guard::Comparison;

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

namespace {
bool compare(const Scalar& a, const ScalarComparand& b, Comparison c) {
  if (a.kind() == Scalar::Kind::traced) {
    Scalar with = b.scalar;
    if (with.kind() == Scalar::Kind::traced || with.kind() == Scalar::Kind::dim)
      with = with.is_floating() ? Scalar(with.to_double(b.where)) : Scalar(with.to_int(b.where));
    return Trace::expect(a.trace(), "number", b.where).compare_scalar(a, c, with, b.where);
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
  if (a.is_floating() || b.scalar.is_floating()) return holds(a.to_double(b.where), b.scalar.to_double(b.where));
  return holds(a.to_int(b.where), b.scalar.to_int(b.where));
}
}  // namespace

bool operator==(const Scalar& a, ScalarComparand b) { return compare(a, b, Comparison::eq); }
bool operator!=(const Scalar& a, ScalarComparand b) { return compare(a, b, Comparison::ne); }
bool operator<(const Scalar& a, ScalarComparand b) { return compare(a, b, Comparison::lt); }
bool operator<=(const Scalar& a, ScalarComparand b) { return compare(a, b, Comparison::le); }
bool operator>(const Scalar& a, ScalarComparand b) { return compare(a, b, Comparison::gt); }
bool operator>=(const Scalar& a, ScalarComparand b) { return compare(a, b, Comparison::ge); }

}  // namespace stax
