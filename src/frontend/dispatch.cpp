#include "frontend/dispatch.h"

#include <fmt/format.h>

#include "frontend/trace.h"
#include "ops/ops.h"

namespace stax::frontend {

namespace {
Operand normalised(const Operand& o) {
  Operand result = o;
  if (o.is_tensor && !o.tensor.defined()) result.is_tensor = false, result.given = false;
  return result;
}
}  // namespace

std::vector<Tensor> apply(std::string_view name, std::vector<Operand> operands, graph::Attributes attributes,
                          const SourceLoc& where) {
  ops::register_all();
  const graph::OpDef& op = graph::op(name);
  for (Operand& o : operands) o = normalised(o);
  std::size_t required = 0;
  for (const graph::Param& p : op.params)
    if ((p.kind == graph::ParamKind::tensor || p.kind == graph::ParamKind::operand) && !p.default_value) ++required;
  for (std::size_t i = 0; i < std::min(required, operands.size()); ++i)
    if (!operands[i].is_tensor && !operands[i].given)
      throw UserError(fmt::format("{}: argument {} ('{}') is an undefined tensor", name, i, op.params[i].name), where);
  Trace* trace = Trace::current();
  if (!trace) return run_eager(op, operands, attributes, where);
  std::vector<graph::Value> values;
  for (const Operand& o : operands)
    values.push_back(o.is_tensor ? trace->value_of(o.tensor, where)
                     : o.given   ? trace->value_of(o.scalar, where)
                                 : graph::Value{});
  const Tensor* first = !operands.empty() && operands[0].is_tensor ? &operands[0].tensor : nullptr;
  return trace->apply(op, std::move(values), std::move(attributes), first, where);
}

graph::Attribute attribute(const Dim& d, const SourceLoc& where) {
  if (!d.is_symbolic()) return d.number();
  return Trace::expect(d.trace(), "size", where).expr_of(d, where);
}
graph::Attribute attribute(const std::optional<Dim>& d, const SourceLoc& where) {
  return d ? attribute(*d, where) : graph::Attribute{};
}
graph::Attribute attribute(const Shape& s, const SourceLoc& where) {
  bool symbolic = false;
  for (const Dim& d : s) symbolic |= d.is_symbolic();
  if (!symbolic) {
    std::vector<std::int64_t> numbers;
    for (const Dim& d : s) numbers.push_back(d.number());
    return numbers;
  }
  std::vector<symbolic::Expr> exprs;
  for (const Dim& d : s) {
    Trace& trace = Trace::current() ? *Trace::current() : Trace::expect(d.trace(), "size", where);
    exprs.push_back(trace.expr_of(d, where));
  }
  return exprs;
}
graph::Attribute attribute(const Axes& a, const SourceLoc&) {
  return a.given() ? graph::Attribute(a.list()) : graph::Attribute{};
}
graph::Attribute attribute(const std::optional<Dtype>& t, const SourceLoc&) {
  return t ? graph::Attribute(*t) : graph::Attribute{};
}

Array scalar_array(const Scalar& s, const SourceLoc& where) {
  if (s.kind() == Scalar::Kind::dim && s.dim().is_symbolic()) (void)Trace::expect(s.dim().trace(), "size", where);
  const bool floating = s.is_floating(), boolean = s.kind() == Scalar::Kind::boolean;
  Array a = Array::empty({}, floating ? Dtype::f64 : boolean ? Dtype::boolean : Dtype::i64);
  if (floating)
    *a.data_as<double>() = s.to_double();
  else if (boolean)
    *a.data_as<bool>() = s.integer() != 0;
  else
    *a.data_as<std::int64_t>() = s.to_int();
  return a;
}

}  // namespace stax::frontend
