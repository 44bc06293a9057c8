#include <fmt/format.h>
#include <stax/frontend/tensor.h>

#include <cstring>

#include "frontend/copy_fits.h"
#include "frontend/dispatch.h"
#include "frontend/placed.h"
#include "frontend/trace.h"
#include "runtime/device_runtime.h"
#include "runtime/transfer.h"

namespace stax {

using frontend::apply_one;
using frontend::attribute;
using frontend::Trace;

Tensor::Tensor(Array array) : impl_(std::make_shared<frontend::TensorImpl>()) { impl_->array = std::move(array); }

namespace {

void check_defined(const Tensor& t, const SourceLoc& where = {}) {
  if (!t.defined()) throw UserError("an undefined tensor is used", where);
}

bool is_traced(const Tensor& t) { return t.impl()->trace != 0; }

graph::TensorType traced_type(const Tensor& t, const SourceLoc& where = {}) {
  return Trace::expect(t.impl()->trace, "tensor", where).value_of(t, where).type();
}

// Inside a trace no tensor has values that may steer the function.
void check_readable(const Tensor& t, const char* what, const SourceLoc& where) {
  check_defined(t, where);
  if (Trace* trace = Trace::current()) {
    const std::string problem = fmt::format("{}: the value of a tensor is read while the function is traced", what);
    if (trace->fullgraph())
      throw UserError(problem, where, "Use where(condition, a, b) instead of a branch on data, or leave out fullgraph");
    throw frontend::GraphBreak{problem, where};
  }
  if (is_traced(t)) Trace::expect(t.impl()->trace, "tensor", where);
}

int checked_axis(const char* what, int axis, int rank, const SourceLoc& where) {
  if (axis < -rank || axis >= rank)
    throw UserError(fmt::format("{}: axis {} is out of range for rank {}", what, axis, rank), where,
                    rank ? fmt::format("Use an axis in [{}, {})", -rank, rank) : "A rank-0 tensor has no axes");
  return axis < 0 ? axis + rank : axis;
}

}  // namespace

Dtype Tensor::dtype() const {
  check_defined(*this);
  return is_traced(*this) ? traced_type(*this).dtype : impl_->array.dtype();
}
Device Tensor::device() const {
  check_defined(*this);
  return is_traced(*this) ? traced_type(*this).device : impl_->array.device();
}
int Tensor::rank() const {
  check_defined(*this);
  return is_traced(*this) ? traced_type(*this).rank() : impl_->array.rank();
}

Dim Tensor::size(int axis, std::source_location where) const {
  check_defined(*this, where);
  const auto i = static_cast<std::size_t>(checked_axis("size", axis, rank(), where));
  if (!is_traced(*this)) return Dim(impl_->array.sizes()[i]);
  return Trace::expect(impl_->trace, "tensor", where).dim_of(traced_type(*this, where).sizes[i]);
}

Dim Tensor::stride(int axis, std::source_location where) const {
  check_defined(*this, where);
  const auto i = static_cast<std::size_t>(checked_axis("stride", axis, rank(), where));
  if (!is_traced(*this)) return Dim(impl_->array.strides()[i]);
  return Trace::expect(impl_->trace, "tensor", where).dim_of(traced_type(*this, where).strides[i]);
}

Shape Tensor::shape() const {
  check_defined(*this);
  if (!is_traced(*this))
    return Shape(std::span<const std::int64_t>(impl_->array.sizes().data(), impl_->array.sizes().size()));
  Trace& t = Trace::expect(impl_->trace, "tensor", {});
  Shape s;
  for (symbolic::Expr e : traced_type(*this).sizes) s.push_back(t.dim_of(e));
  return s;
}

Dim Tensor::numel() const {
  Dim n = 1;
  for (const Dim& d : shape()) n = n * d;
  return n;
}

Array Tensor::array(std::source_location where) const {
  check_readable(*this, "array", where);
  return impl_->array;
}

template <class T>
T Tensor::item(std::source_location where) const {
  check_readable(*this, "item", where);
  if (impl_->array.numel() != 1)
    throw UserError(fmt::format("item: the tensor has {} elements, not 1", impl_->array.numel()), where,
                    "Use to_vector, or index the element");
  const std::vector<T> v = to_vector<T>(where);
  return v[0];
}

template <class T>
std::vector<T> Tensor::to_vector(std::source_location where) const {
  check_readable(*this, "to_vector", where);
  constexpr Dtype wanted = dtype_of<T>();
  if (impl_->array.dtype() != wanted)
    throw UserError(
        fmt::format("to_vector: the tensor is {}, not {}", to_string(impl_->array.dtype()), to_string(wanted)), where,
        fmt::format("Cast first: .to(stax::{})", to_string(wanted)));
  const Array whole = contiguous_copy(runtime::on_host(impl_->array));
  std::vector<T> values(static_cast<std::size_t>(whole.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = whole.data_as<T>()[i];
  return values;
}

#define X(name, type, bytes, kind)                              \
  template type Tensor::item<type>(std::source_location) const; \
  template std::vector<type> Tensor::to_vector<type>(std::source_location) const;
STAX_DTYPES(X)
#undef X

const void* Tensor::data_ptr(std::source_location where) const {
  check_readable(*this, "data_ptr", where);
  return impl_->array.data();
}

void* Tensor::mutable_data_ptr(std::source_location where) {
  check_readable(*this, "mutable_data_ptr", where);
  if (impl_->array.storage()->read_only())
    throw UserError("mutable_data_ptr: the tensor lies in read-only memory (a mapped file)", where,
                    "Write to a clone()");
  impl_->array.storage()->escape();
  impl_->array.storage()->bump_version();
  return impl_->array.data();
}

Tensor& Tensor::declare_constant() {
  array().storage()->declare_constant();
  return *this;
}

Tensor Tensor::to(Dtype dtype, std::source_location where) const {
  return apply_one("cast", {*this}, {{"dtype", dtype}}, where);
}

Tensor Tensor::to(Device target, std::source_location where) const {
  check_defined(*this, where);
  if (target == device()) return *this;
  if (Trace* trace = Trace::current()) {
    const std::string problem = fmt::format("to: a tensor is copied from {} to {} while the function is traced",
                                            to_string(device()), to_string(target));
    if (trace->fullgraph())
      throw UserError(problem, where, "Copy it before the call and pass the copy, or leave out fullgraph");
    throw frontend::GraphBreak{problem, where};
  }
  return frontend::placed("to", where, [&] { return Tensor(runtime::moved_to(array(where), target)); });
}

Tensor Tensor::index(std::initializer_list<Index> items, std::source_location where) const {
  check_defined(*this, where);
  int consumed = 0, ellipses = 0;
  for (const Index& i : items) {
    consumed += std::holds_alternative<Slice>(i.item) || std::holds_alternative<Dim>(i.item);
    ellipses += std::holds_alternative<EllipsisType>(i.item);
  }
  if (ellipses > 1) throw UserError("index: more than one Ellipsis", where);
  if (consumed > rank())
    throw UserError(fmt::format("index: {} indices for a tensor of rank {}", consumed, rank()), where);
  const int whole = rank() - consumed;
  Tensor t = *this;
  std::int64_t axis = 0;
  for (const Index& i : items) {
    if (std::holds_alternative<EllipsisType>(i.item)) {
      axis += whole;
    } else if (std::holds_alternative<NoneType>(i.item)) {
      t = apply_one("unsqueeze", {t}, {{"axis", axis++}}, where);
    } else if (const auto* d = std::get_if<Dim>(&i.item)) {
      t = apply_one("select", {t}, {{"axis", axis}, {"index", attribute(*d, where)}}, where);
    } else {
      const Slice& s = std::get<Slice>(i.item);
      if (s.start.dim() || s.stop.dim() || s.step != 1)
        t = apply_one("slice", {t},
                      {{"axis", axis},
                       {"start", attribute(s.start.dim(), where)},
                       {"stop", attribute(s.stop.dim(), where)},
                       {"step", s.step}},
                      where);
      ++axis;
    }
  }
  return t;
}

namespace {

void check_writable(const Array& a, const char* what, const SourceLoc& where) {
  if (a.storage()->read_only())
    throw UserError(fmt::format("{}: the tensor lies in read-only memory (a mapped file)", what), where,
                    "Write to a clone()");
  for (int d = 0; d < a.rank(); ++d)
    if (a.strides()[static_cast<std::size_t>(d)] == 0 && a.size(d) > 1)
      throw UserError(fmt::format("{}: the target of a write repeats elements (stride 0)", what), where,
                      "Write to a clone()");
}

}  // namespace

Tensor& Tensor::fill_(const Scalar& value, std::source_location where) {
  check_defined(*this, where);
  if (Trace* t = Trace::current()) {
    t->write(*this, value, where);
    return *this;
  }
  const Array& target = impl_->array;
  check_writable(target, "fill_", where);
  const Array one = runtime::moved_to(cast_copy(frontend::scalar_array(value, where), target.dtype()), target.device());
  runtime::copy_on_device(graph::broadcast_to(one, std::span(target.sizes().data(), target.sizes().size())), target);
  target.storage()->bump_version();
  return *this;
}

Tensor& Tensor::copy_(const Tensor& source, std::source_location where) {
  check_defined(*this, where);
  check_defined(source, where);
  if (Trace* t = Trace::current()) {
    t->write(*this, source, where);
    return *this;
  }
  check_writable(impl_->array, "copy_", where);
  const Array& target = impl_->array;
  if (source.device() != target.device())
    throw UserError(fmt::format("copy_: the source is on {}, the target on {}", to_string(source.device()),
                                to_string(target.device())),
                    where, "Move it with .to(device)");
  using Sizes = std::vector<std::int64_t>;
  const Dims from = source.array(where).sizes();
  frontend::check_copy_fits(
      Sizes(from.begin(), from.end()), Sizes(target.sizes().begin(), target.sizes().end()),
      [](std::int64_t s, std::int64_t t) { return s == t || s == 1; },
      [](const Sizes& s) { return to_string(std::span(s.data(), s.size())); },
      [](std::int64_t s) { return std::to_string(s); }, where);
  const Tensor spread = apply_one(
      "expand", {source}, {{"sizes", std::vector<std::int64_t>(target.sizes().begin(), target.sizes().end())}}, where);
  // Source and target may share memory: everything is read before anything is written.
  const bool shared = spread.impl_->array.storage() == target.storage();
  if (target.device() == Device{}) {
    copy_elements(shared ? contiguous_copy(spread.impl_->array) : spread.impl_->array, target);
  } else {
    Tensor values = spread.to(target.dtype(), where);
    if (values.array(where).storage() == target.storage()) values = apply_one("clone", {values}, {}, where);
    runtime::copy_on_device(values.array(where), target);
  }
  target.storage()->bump_version();
  return *this;
}

std::string to_string(const Tensor& t) {
  check_defined(t);
  const std::string head = fmt::format("{}{}", to_text(t.dtype()), to_string(t.shape()));
  if (is_traced(t)) return head + " (being traced)";
  constexpr std::int64_t kShown = 64;
  if (t.array().numel() > kShown) return head + fmt::format(" ({} elements)", t.array().numel());
  if (!runtime::runtime_for(t.device()).executes()) return head + " (on null: no values)";
  const Array a = runtime::on_host(t.array());
  std::string text;
  const auto rank = static_cast<std::size_t>(a.rank());
  for_each_index(std::span(a.sizes().data(), rank), [&](std::span<const std::int64_t> index) {
    std::size_t open = 0, close = 0;  // brackets before and after the element
    while (open < rank && index[rank - 1 - open] == 0) ++open;
    while (close < rank && index[rank - 1 - close] == a.sizes()[rank - 1 - close] - 1) ++close;
    if (!text.empty()) text += ", ";
    text += std::string(open, '[');
    if (a.dtype() == f64)
      text += fmt::format("{}", read_f64(a, index));
    else if (is_floating(a.dtype()))
      text += fmt::format("{}", static_cast<float>(read_f64(a, index)));
    else if (a.dtype() == boolean)
      text += read_i64(a, index) ? "true" : "false";
    else
      text += fmt::format("{}", read_i64(a, index));
    text += std::string(close, ']');
  });
  return head + " " + (text.empty() ? "[]" : text);
}

}  // namespace stax
