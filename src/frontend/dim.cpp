#include <fmt/format.h>
#include <stax/frontend/dim.h>

#include "frontend/trace.h"

namespace stax {

using frontend::Trace;
using symbolic::Expr;

namespace {

bool symbolic_pair(const DimOperand& a, const DimOperand& b) { return a.dim.is_symbolic() || b.dim.is_symbolic(); }

Trace& trace_of(const DimOperand& a, const DimOperand& b) {
  return Trace::expect(a.dim.is_symbolic() ? a.dim.trace() : b.dim.trace(), "size", a.where);
}

template <class Numbers, class Exprs>
Dim combine(const DimOperand& a, const DimOperand& b, Numbers numbers, Exprs exprs) {
  if (!symbolic_pair(a, b)) return Dim(numbers(a.dim.number(), b.dim.number()));
  Trace& t = trace_of(a, b);
  return t.dim_of(t.env().simplify(exprs(t.expr_of(a.dim, a.where), t.expr_of(b.dim, b.where))));
}

template <class Numbers, class Exprs>
bool compare(const DimOperand& a, const DimOperand& b, const char* symbol, Numbers numbers, Exprs exprs) {
  if (!symbolic_pair(a, b)) return numbers(a.dim.number(), b.dim.number());
  Trace& t = trace_of(a, b);
  return t.env().decide(exprs(t.expr_of(a.dim, a.where), t.expr_of(b.dim, b.where)),
                        fmt::format("the function compares {} {} {}", to_string(a.dim), symbol, to_string(b.dim)),
                        a.where);
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

void check_divisor(const DimOperand& a, const DimOperand& b) {
  if (!b.dim.is_symbolic() && b.dim.number() == 0)
    throw UserError(fmt::format("size {} is divided by 0", to_string(a.dim)), a.where);
}

}  // namespace

std::int64_t Dim::value(std::source_location where) const {
  if (!node_) return value_;
  Trace& t = Trace::expect(trace_, "size", where);
  return t.env().specialize(t.expr_of(*this, where), "the size is used as a number", where);
}

Dim operator+(DimOperand a, DimOperand b) {
  return combine(a, b, std::plus<>(), [](Expr x, Expr y) { return x + y; });
}
Dim operator-(DimOperand a, DimOperand b) {
  return combine(a, b, std::minus<>(), [](Expr x, Expr y) { return x - y; });
}
Dim operator*(DimOperand a, DimOperand b) {
  return combine(a, b, std::multiplies<>(), [](Expr x, Expr y) { return x * y; });
}
Dim operator/(DimOperand a, DimOperand b) {
  check_divisor(a, b);
  return combine(a, b, floor_quotient, [](Expr x, Expr y) { return floordiv(x, y); });
}
Dim operator%(DimOperand a, DimOperand b) {
  check_divisor(a, b);
  return combine(
      a, b, [](std::int64_t x, std::int64_t y) { return x - y * floor_quotient(x, y); },
      [](Expr x, Expr y) { return floormod(x, y); });
}
Dim operator-(DimOperand a) { return DimOperand(Dim(0), a.where) - a; }
Dim min(DimOperand a, DimOperand b) {
  return combine(
      a, b, [](std::int64_t x, std::int64_t y) { return std::min(x, y); },
      [](Expr x, Expr y) { return symbolic::min(x, y); });
}
Dim max(DimOperand a, DimOperand b) {
  return combine(
      a, b, [](std::int64_t x, std::int64_t y) { return std::max(x, y); },
      [](Expr x, Expr y) { return symbolic::max(x, y); });
}
bool operator==(DimOperand a, DimOperand b) {
  return compare(a, b, "==", std::equal_to<>(), [](Expr x, Expr y) { return eq(x, y); });
}
bool operator!=(DimOperand a, DimOperand b) { return !(a == b); }
bool operator<(DimOperand a, DimOperand b) {
  return compare(a, b, "<", std::less<>(), [](Expr x, Expr y) { return lt(x, y); });
}
bool operator<=(DimOperand a, DimOperand b) {
  return compare(a, b, "<=", std::less_equal<>(), [](Expr x, Expr y) { return le(x, y); });
}
bool operator>(DimOperand a, DimOperand b) {
  return compare(a, b, ">", std::greater<>(), [](Expr x, Expr y) { return gt(x, y); });
}
bool operator>=(DimOperand a, DimOperand b) {
  return compare(a, b, ">=", std::greater_equal<>(), [](Expr x, Expr y) { return ge(x, y); });
}

std::string to_string(const Dim& d) {
  return d.is_symbolic() ? symbolic::to_string(Expr(d.node())) : std::to_string(d.number());
}

bool operator==(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i])) return false;
  return true;
}
bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }
std::string to_string(const Shape& s) {
  std::string text;
  for (const Dim& d : s) text += (text.empty() ? "" : ", ") + to_string(d);
  return "[" + text + "]";
}

}  // namespace stax
