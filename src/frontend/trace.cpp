#include "frontend/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "frontend/copy_fits.h"
#include "symbolic/analysis.h"

namespace stax::frontend {

using graph::Attributes;
using graph::Value;
using symbolic::Expr;

namespace {

thread_local std::vector<Trace*> running;
std::atomic<std::uint64_t> next_id{1};
constexpr std::int64_t kLargestSize = (std::int64_t{1} << 48) - 1;

}  // namespace

Trace::Trace(bool fullgraph, std::string name)
    : graph_(std::make_shared<graph::Graph>()), id_(next_id++), fullgraph_(fullgraph) {
  graph_->name = std::move(name);
}

Trace::Scope::Scope(Trace& t) { running.push_back(&t); }
Trace::Scope::~Scope() { running.pop_back(); }
Trace* Trace::current() { return running.empty() ? nullptr : running.back(); }

Trace& Trace::expect(std::uint64_t id, const char* what, const SourceLoc& where) {
  Trace* t = current();
  if (!t || t->id() != id)
    throw UserError(fmt::format("a {} of a traced function is used outside its trace", what), where,
                    "Return it from the function instead of storing it");
  return *t;
}

Expr Trace::expr_of(const Dim& d, const SourceLoc& where) {
  if (!d.is_symbolic()) return graph_->context().constant(d.number());
  expect(d.trace(), "size", where);
  return Expr(d.node());
}

Dim Trace::dim_of(Expr e) const {
  if (auto c = e.constant()) return Dim(*c);
  return Dim(e.node(), id_);
}

namespace {

// Strides as expressions over the sizes where the memory is laid out as runs: the smallest stride first, each next one
// may be the size times the stride of one before. Others become symbols (dynamic) or stay numbers.
std::vector<Expr> stride_expressions(symbolic::ShapeEnv& env, const Array& a, const std::vector<Expr>& sizes,
                                     bool dynamic, const std::string& name, const SourceLoc& where) {
  symbolic::Context& context = env.context();
  const std::size_t rank = sizes.size();
  std::vector<Expr> strides(rank);
  if (!dynamic) {
    for (std::size_t i = 0; i < rank; ++i) strides[i] = context.constant(a.strides()[i]);
    return strides;
  }
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::reverse(order.begin(), order.end());  // of equal strides, the last axis first
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return a.strides()[x] < a.strides()[y]; });
  std::vector<std::size_t> known;
  for (std::size_t i : order) {
    const std::int64_t v = a.strides()[i];
    if (a.sizes()[i] <= 1 || v == 0 || v == 1 || v == -1) {
      // An axis of size 1 or 0 does not move: its row-major stride would do as well; keep the number out of the
      // artifact.
      strides[i] = a.sizes()[i] <= 1 ? context.constant(1) : context.constant(v);
    } else {
      for (std::size_t k : known)
        if (v == a.sizes()[k] * a.strides()[k] && a.strides()[k] > 0) strides[i] = sizes[k] * strides[k];
      if (!strides[i])
        strides[i] =
            env.new_symbol(v, v > 0 ? symbolic::Range{1, kLargestSize} : symbolic::Range{-kLargestSize, kLargestSize},
                           fmt::format("{}.stride({})", name, i), where);
    }
    if (a.sizes()[i] > 1) known.push_back(i);
  }
  return strides;
}

}  // namespace

Tensor Trace::add_input(const InputSpec& spec, const Array& sample, const SourceLoc& where) {
  graph::TensorType t{sample.dtype(), sample.device(), {}, {}, false};
  bool dynamic = false;
  for (int d = 0; d < sample.rank(); ++d) {
    const std::int64_t size = sample.size(d);
    const bool symbol = static_cast<std::size_t>(d) < spec.dynamic.size() && spec.dynamic[static_cast<std::size_t>(d)];
    dynamic |= symbol;
    if (!symbol || size < 2) {
      t.sizes.push_back(env().context().constant(size));
      continue;
    }
    auto [it, fresh] = by_hint_.try_emplace(size);
    if (fresh) it->second = env().new_symbol(size, {2, kLargestSize}, fmt::format("{}.size({})", spec.name, d), where);
    t.sizes.push_back(it->second);
  }
  t.strides = stride_expressions(env(), sample, t.sizes, dynamic, spec.name, where);
  const int input = static_cast<int>(graph_->inputs.size());
  const Value v = graph_->add_input(spec.name, std::move(t), where);
  auto cell = std::make_shared<Cell>(Cell{v, 0, input});
  cells_.resize(static_cast<std::size_t>(input) + 1);
  cells_.back() = cell;
  auto impl = std::make_shared<TensorImpl>();
  impl->trace = id_, impl->cell = std::move(cell), impl->value = v;
  return Tensor(std::move(impl));
}

Scalar Trace::add_scalar(const std::string& name, const Scalar& given) {
  const Scalar value = given.kind() == Scalar::Kind::dim ? Scalar(given.dim().value(std::source_location{})) : given;
  graph::TensorType t{};
  t.scalar = true;
  t.dtype = value.kind() == Scalar::Kind::floating  ? Dtype::f64
            : value.kind() == Scalar::Kind::boolean ? Dtype::boolean
                                                    : Dtype::i64;
  const Value v = graph_->add_input(name, t);
  cells_.resize(graph_->inputs.size());
  scalar_values_.push_back(v);
  return Scalar::traced(value, static_cast<int>(scalar_values_.size()) - 1, id_);
}

bool Trace::compare_scalar(const Scalar& s, plan::Guard::Comparison c, const Scalar& with, const SourceLoc& where) {
  using C = plan::Guard::Comparison;
  const bool floating = s.value_kind() == Scalar::Kind::floating;
  const bool other_floating = with.kind() == Scalar::Kind::floating || with.value_kind() == Scalar::Kind::floating;
  auto compare = [c](auto a, auto b) {
    switch (c) {
      case C::eq:
        return a == b;
      case C::ne:
        return a != b;
      case C::lt:
        return a < b;
      case C::le:
        return a <= b;
      case C::gt:
        return a > b;
      case C::ge:
        return a >= b;
    }
    __builtin_unreachable();
  };
  const double b = other_floating ? with.floating() : static_cast<double>(with.integer());
  const bool holds = floating || other_floating ? compare(floating ? s.floating() : static_cast<double>(s.integer()), b)
                                                : compare(s.integer(), with.integer());
  C recorded = c;
  if (!holds) {
    // The opposite. A NaN makes every ordered comparison false: such a call has a guard that no number meets, and is
    // traced again.
    static constexpr C kOpposite[] = {C::ne, C::eq, C::ge, C::gt, C::le, C::lt};
    recorded = kOpposite[static_cast<int>(c)];
  }
  const std::uint64_t bits =
      floating ? std::bit_cast<std::uint64_t>(b)
               : static_cast<std::uint64_t>(other_floating ? static_cast<std::int64_t>(b) : with.integer());
  scalar_guards_.push_back(plan::Guard::scalar(s.input(), recorded, bits, "the function compares this number", where));
  return holds;
}

Tensor Trace::wrap(Value v) {
  auto impl = std::make_shared<TensorImpl>();
  impl->trace = id_, impl->cell = std::make_shared<Cell>(Cell{v, 0, -1}), impl->value = v;
  return Tensor(std::move(impl));
}

TensorImpl& Trace::traced(const Tensor& t, const SourceLoc& where) {
  if (!t.defined()) throw UserError("an undefined tensor is used", where);
  TensorImpl& impl = *t.impl();
  if (impl.trace == id_) return impl;
  if (impl.trace != 0) expect(impl.trace, "tensor", where);
  auto it = stand_ins_.find(&impl);
  if (it == stand_ins_.end()) {
    // Captured by the function: an input, held by identity.
    Tensor stand_in = add_input({fmt::format("captured{}", captured_.size()), {}}, impl.array, where);
    captured_.push_back(t);
    it = stand_ins_.emplace(&impl, std::move(stand_in)).first;
  }
  return *it->second.impl();
}

Value Trace::replay(Value base, const std::vector<ViewStep>& chain, Expr& offset) {
  Value v = base;
  for (const ViewStep& step : chain) {
    v = graph_->add(*step.op, {v}, step.attributes, step.where);
    offset = offset + v.node->view_offset;
  }
  return v;
}

Value Trace::current_value(TensorImpl& t, const SourceLoc&) {
  if (t.version != t.cell->version) {
    Expr offset = graph_->context().constant(0);
    t.value = replay(t.cell->value, t.chain, offset);
    t.version = t.cell->version;
  }
  return t.value;
}

Value Trace::value_of(const Tensor& t, const SourceLoc& where) { return current_value(traced(t, where), where); }

Value Trace::value_of(const Scalar& s, const SourceLoc& where) {
  switch (s.kind()) {
    case Scalar::Kind::boolean:
      return graph_->literal(s.integer() != 0);
    case Scalar::Kind::integer:
      return graph_->literal(s.integer());
    case Scalar::Kind::floating:
      return graph_->literal(s.floating());
    case Scalar::Kind::dim:
      return graph_->size_value(expr_of(s.dim(), where));
    case Scalar::Kind::traced:
      expect(s.trace(), "number", where);
      return scalar_values_.at(static_cast<std::size_t>(s.input()));
  }
  __builtin_unreachable();
}

std::vector<Tensor> Trace::apply(const graph::OpDef& op, std::vector<Value> operands, Attributes attributes,
                                 const Tensor* view_of, const SourceLoc& where) {
  const std::vector<Value> results = graph_->add_all(op, operands, std::move(attributes), where);
  std::vector<Tensor> tensors;
  for (const Value& v : results) {
    // An operator may give its operand back (contiguous of a contiguous tensor): the same memory.
    if (view_of && v == operands[0]) {
      tensors.push_back(traced(*view_of, where).trace == id_ && view_of->impl()->trace == id_
                            ? *view_of
                            : stand_ins_.at(view_of->impl().get()));
      continue;
    }
    Tensor t = wrap(v);
    if (view_of && v.node->op->is_view() && v.node->operands[0] == operands[0]) {
      const TensorImpl& base = traced(*view_of, where);
      t.impl()->cell = base.cell;
      t.impl()->version = base.cell->version;
      t.impl()->chain = base.chain;
      t.impl()->chain.push_back({v.node->op, v.node->attributes, where});
    }
    tensors.push_back(std::move(t));
  }
  return tensors;
}

namespace {
void check_no_repeats(const graph::TensorType& t, const char* what, const SourceLoc& where) {
  for (std::size_t i = 0; i < t.strides.size(); ++i)
    if (t.strides[i].is_constant(0) && !t.sizes[i].is_constant(1))
      throw UserError(fmt::format("{}: the target of a write repeats elements (stride 0)", what), where,
                      "Write to a clone()");
}
}  // namespace

void Trace::store(TensorImpl& target, Value source, const char* what, const SourceLoc& where) {
  Cell& cell = *target.cell;
  if (target.chain.empty()) {
    check_no_repeats(cell.value.type(), what, where);
    cell.value = source;
  } else {
    const Value base = graph_->add("contiguous", {cell.value}, {}, where);
    Expr offset = graph_->context().constant(0);
    const Value region = replay(base, target.chain, offset);
    check_no_repeats(region.type(), what, where);
    cell.value =
        graph_->add("strided_write", {base, source}, {{"strides", region.type().strides}, {"offset", offset}}, where);
  }
  ++cell.version;
}

void Trace::write(const Tensor& target, const Tensor& source, const SourceLoc& where) {
  TensorImpl& t = traced(target, where);
  const graph::TensorType type = current_value(t, where).type();
  Value v = value_of(source, where);
  check_copy_fits(
      v.type().sizes, type.sizes,
      [&](Expr from, Expr to) {
        return from == to || from.is_constant(1) ||
               env().decide(eq(from, to), "copy_: the sizes of source and target agree", where) ||
               env().decide(eq(from, 1), "copy_: a size of 1 is repeated", where);
      },
      graph::shape_text, graph::size_text, where);
  v = graph_->add("cast", {v}, {{"dtype", type.dtype}}, where);
  v = graph_->add("expand", {v}, {{"sizes", type.sizes}}, where);
  store(t, graph_->add("clone", {v}, {}, where), "copy_", where);
}

void Trace::write(const Tensor& target, const Scalar& value, const SourceLoc& where) {
  TensorImpl& t = traced(target, where);
  const graph::TensorType type = current_value(t, where).type();
  store(t,
        graph_->add("full", {value_of(value, where)},
                    {{"sizes", type.sizes}, {"dtype", type.dtype}, {"device", to_string(type.device)}}, where),
        "fill_", where);
}

// The tensor as a view of the input that its memory is, when that was written; null for others. Where the chain was
// possible for the new value but is not for the input's own strides (a reshape), the result is a tensor of its own.
Value Trace::view_of_written_input(const TensorImpl& t) {
  if (t.cell->input < 0 || t.cell->version == 0) return {};
  try {
    Expr offset = graph_->context().constant(0);
    return replay(graph_->inputs[static_cast<std::size_t>(t.cell->input)], t.chain, offset);
  } catch (const UserError&) {
    return {};
  }
}

void Trace::finish(const std::vector<Tensor>& results) {
  for (const Tensor& t : results) {
    if (!t.defined()) throw UserError("the traced function returns an undefined tensor");
    TensorImpl& impl = traced(t, {});
    const Value memory = view_of_written_input(impl);
    graph_->outputs.push_back(memory ? memory : current_value(impl, {}));
    graph_->output_inputs.push_back(memory ? impl.cell->input : -1);
  }
  for (const std::shared_ptr<Cell>& cell : cells_)
    if (cell && cell->version > 0) graph_->mutations.push_back({cell->input, cell->value});
}

}  // namespace stax::frontend
