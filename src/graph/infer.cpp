#include <fmt/format.h>

#include <algorithm>

#include "graph/op_def.h"

namespace stax::graph {

const Attribute& InferContext::attribute(std::string_view name) const {
  static const Attribute kNone{};
  auto it = attributes_.find(name);
  if (it != attributes_.end()) return it->second;
  const Param* p = op_.find_param(name);
  STAX_CHECK(p != nullptr, fmt::format("{} has no parameter {}", op_.name, name));
  if (!p->default_value) error(fmt::format("the attribute '{}' is missing", name));
  return p->default_value ? *p->default_value : kNone;
}

void InferContext::error(std::string what, std::string remedy) const {
  throw UserError(op_.name + ": " + what, where_, std::move(remedy));
}

namespace {
template <class T>
const T& get_as(const InferContext& c, std::string_view name, const Attribute& a, const char* kind) {
  if (const T* v = std::get_if<T>(&a)) return *v;
  c.error(fmt::format("the attribute '{}' must be {}", name, kind));
}
}  // namespace

bool InferContext::boolean(std::string_view name) const {
  return get_as<bool>(*this, name, attribute(name), "true or false");
}
std::int64_t InferContext::integer(std::string_view name) const {
  const Attribute& a = attribute(name);
  if (const Expr* e = std::get_if<Expr>(&a))
    return env_.specialize(*e, fmt::format("{}: {} is used as a number", op_.name, name), where_);
  return get_as<std::int64_t>(*this, name, a, "an integer");
}
double InferContext::floating(std::string_view name) const {
  const Attribute& a = attribute(name);
  if (const auto* i = std::get_if<std::int64_t>(&a)) return static_cast<double>(*i);
  return get_as<double>(*this, name, a, "a number");
}
std::string InferContext::string(std::string_view name) const {
  return get_as<std::string>(*this, name, attribute(name), "a string");
}
Dtype InferContext::dtype(std::string_view name) const {
  return get_as<Dtype>(*this, name, attribute(name), "a dtype");
}
std::optional<Dtype> InferContext::optional_dtype(std::string_view name) const {
  if (none(name)) return std::nullopt;
  return dtype(name);
}
bool InferContext::none(std::string_view name) const { return std::holds_alternative<std::monostate>(attribute(name)); }

Expr InferContext::dim(std::string_view name) const {
  const Attribute& a = attribute(name);
  if (const auto* i = std::get_if<std::int64_t>(&a)) return context().constant(*i);
  return get_as<Expr>(*this, name, a, "a size");
}
std::optional<Expr> InferContext::optional_dim(std::string_view name) const {
  if (none(name)) return std::nullopt;
  return dim(name);
}
std::vector<Expr> InferContext::dims(std::string_view name) const {
  const Attribute& a = attribute(name);
  if (const auto* e = std::get_if<std::vector<Expr>>(&a)) return *e;
  std::vector<Expr> result;
  for (std::int64_t v : get_as<std::vector<std::int64_t>>(*this, name, a, "a list of sizes"))
    result.push_back(context().constant(v));
  return result;
}

int InferContext::checked_axis(std::int64_t axis, int rank) const {
  const int limit = std::max(rank, 1);  // a rank-0 tensor takes axis 0 and -1
  if (axis < -limit || axis >= limit)
    error(fmt::format("axis {} is out of range for rank {}", axis, rank),
          fmt::format("Use an axis in [{}, {})", -limit, limit));
  return static_cast<int>(axis < 0 ? axis + limit : axis);
}

int InferContext::axis(std::string_view name, int rank) const { return checked_axis(integer(name), rank); }

std::vector<int> InferContext::axes(std::string_view name, int rank) const {
  const Attribute& a = attribute(name);
  std::vector<int> result;
  if (const auto* one = std::get_if<std::int64_t>(&a)) {
    result.push_back(checked_axis(*one, rank));
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a)) {
    for (std::int64_t v : *list) result.push_back(checked_axis(v, rank));
  } else if (!std::holds_alternative<std::monostate>(a)) {
    error(fmt::format("the attribute '{}' must be an axis or a list of axes", name));
  }
  std::sort(result.begin(), result.end());
  if (auto twice = std::adjacent_find(result.begin(), result.end()); twice != result.end())
    error(fmt::format("axis {} is given twice", *twice), "Name every axis once");
  if (result.empty())
    for (int i = 0; i < rank; ++i) result.push_back(i);
  if (rank == 0) result.clear();
  return result;
}

std::vector<Expr> InferContext::broadcast(std::span<const std::vector<Expr>> shapes) const {
  std::size_t rank = 0;
  for (const auto& s : shapes) rank = std::max(rank, s.size());
  std::vector<Expr> result(rank, context().constant(1));
  for (std::size_t d = 0; d < rank; ++d) {  // from the last axis
    Expr& size = result[rank - 1 - d];
    for (const auto& s : shapes) {
      if (d >= s.size()) continue;
      const Expr other = s[s.size() - 1 - d];
      if (other == size || other.is_constant(1)) continue;
      if (size.is_constant(1)) {
        // A symbolic size may itself be 1 only if its range allows it: then it is decided.
        size = other;
      } else if (!decide(eq(size, other), "sizes of the operands agree")) {
        if (decide(eq(other, 1), "a size of 1 broadcasts")) continue;
        if (decide(eq(size, 1), "a size of 1 broadcasts")) {
          size = other;
          continue;
        }
        std::string all;
        for (const auto& t : shapes) all += (all.empty() ? "" : " and ") + shape_text(t);
        error(fmt::format("shapes {} do not broadcast: {} against {} at axis -{}", all, size_text(size),
                          size_text(other), d + 1),
              "Sizes must be equal, or one of them 1");
      } else if (other.constant()) {
        size = other;
      }
    }
  }
  return result;
}

std::vector<Expr> InferContext::broadcast_operands() const {
  std::vector<std::vector<Expr>> shapes;
  for (const Value& v : operands_)
    if (v && !v.type().scalar) shapes.push_back(v.type().sizes);
  return broadcast(shapes);
}

Dtype InferContext::promoted() const {
  std::vector<PromotionOperand> list;
  for (const Value& v : operands_)
    if (v) list.push_back({v.type().dtype, v.type().scalar, v.type().rank() == 0});
  return promote_all(list);
}

Device InferContext::device() const {
  std::optional<Device> found;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!operands_[i] || operands_[i].type().scalar) continue;
    const Device d = operands_[i].type().device;
    if (found && *found != d)
      error(fmt::format("argument {} is on {}, the others are on {}", i, stax::to_string(d), stax::to_string(*found)),
            "Move it with .to(device)");
    found = d;
  }
  return found.value_or(Device{});
}

std::vector<Expr> row_major_strides(symbolic::Context& context, const std::vector<Expr>& sizes) {
  std::vector<Expr> strides(sizes.size());
  Expr step = context.constant(1);
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    if (!sizes[i].is_constant(0)) step = step * sizes[i];
  }
  return strides;
}
std::vector<Expr> InferContext::row_major(const std::vector<Expr>& sizes) const {
  return row_major_strides(context(), sizes);
}

namespace {

// Axes from innermost to outermost when the strides are provably those of a dense tensor in that order (size-1 axes,
// which may have any stride, come last); empty otherwise.
std::vector<std::size_t> dense_order(const symbolic::ShapeEnv& env, const TensorType& t) {
  std::vector<std::size_t> order, ones, left;
  for (std::size_t i = t.sizes.size(); i-- > 0;) (t.sizes[i].is_constant(1) ? ones : left).push_back(i);
  Expr step = env.context().constant(1);
  while (!left.empty()) {
    auto next = std::find_if(left.begin(), left.end(), [&](std::size_t i) {
      return t.strides[i] == step || env.is_always(eq(t.strides[i], step));
    });
    if (next == left.end()) return {};
    order.push_back(*next);
    step = step * t.sizes[*next];
    left.erase(next);
  }
  order.insert(order.end(), ones.begin(), ones.end());
  return order;
}

}  // namespace

// The layout rule of pointwise results: the axis order of the first operand that has the result's sizes and is dense;
// row-major otherwise.
std::vector<Expr> InferContext::pointwise_strides(const std::vector<Expr>& sizes) const {
  const std::vector<Expr> plain = row_major(sizes);
  for (const Value& v : operands_) {
    if (!v || v.type().scalar || v.type().sizes != sizes) continue;
    if (v.type().strides == plain) return plain;
    const std::vector<std::size_t> order = dense_order(env_, v.type());
    if (order.size() != sizes.size()) continue;
    std::vector<Expr> strides(sizes.size());
    Expr step = context().constant(1);
    for (std::size_t i : order) {
      strides[i] = step;
      step = step * sizes[i];
    }
    return strides;
  }
  return plain;
}

TensorType InferContext::pointwise_type(Dtype dtype) const {
  std::vector<Expr> sizes = broadcast_operands();
  std::vector<Expr> strides = pointwise_strides(sizes);
  return TensorType{dtype, device(), std::move(sizes), std::move(strides), false};
}

TensorType InferContext::contiguous_type(Dtype dtype, std::vector<Expr> sizes) const {
  std::vector<Expr> strides = row_major(sizes);
  return TensorType{dtype, device(), std::move(sizes), std::move(strides), false};
}

std::string size_text(Expr size) {
  std::string text = symbolic::to_string(size);
  if (!size.constant())
    if (auto hint = symbolic::hint_of(size)) text += fmt::format(" (={})", *hint);
  return text;
}

std::string shape_text(const std::vector<Expr>& sizes) {
  std::string text;
  for (Expr e : sizes) text += (text.empty() ? "" : ", ") + size_text(e);
  return "[" + text + "]";
}

}  // namespace stax::graph
