#include "program_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stax::fusion::test {

using loop::Buffer;
using loop::BufferKind;
using loop::KernelBuilder;

ProgramMaker::ProgramMaker(bool dynamic) : dynamic_(dynamic) {
  program_.name = "test";
  program_.context = std::make_shared<symbolic::Context>();
}

Expr ProgramMaker::size(std::int64_t n) {
  if (!dynamic_) return number(n);
  symbolic::SymbolInfo info;
  info.range = {1, std::int64_t{1} << 40};
  info.hint = n;
  const Expr s = program_.context->symbol(fmt::format("s{}", program_.sizes.size()), info);
  program_.sizes.push_back(s);
  size_values_.push_back(n);
  return s;
}

View ProgramMaker::input(std::vector<Expr> sizes, Dtype dtype) {
  std::vector<Expr> strides(sizes.size());
  Expr stride = number(1);
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride = stride * sizes[d];
  }
  return input_strided(std::move(sizes), std::move(strides), dtype);
}

View ProgramMaker::input_strided(std::vector<Expr> sizes, std::vector<Expr> strides, Dtype dtype) {
  const auto id = static_cast<int>(program_.buffers.size());
  program_.buffers.push_back(
      Buffer{fmt::format("b{}", id), dtype, sizes, strides, BufferKind::input, inputs_++, false});
  return {id, std::move(sizes), std::move(strides), number(0)};
}

View ProgramMaker::result(std::vector<Expr> sizes, Dtype dtype) {
  const View v = input(std::move(sizes), dtype);
  Buffer& b = program_.buffers.back();
  b.kind = BufferKind::temporary;
  b.input = -1;
  --inputs_;
  return v;
}

Expr ProgramMaker::address(const View& x, std::span<const Expr> index) {
  Expr a = x.offset;
  const std::size_t skip = index.size() - x.sizes.size();
  for (std::size_t d = 0; d < x.sizes.size(); ++d)
    if (!x.sizes[d].is_constant(1)) a = a + index[d + skip] * x.strides[d];
  return a;
}

int ProgramMaker::origin(std::string_view op) {
  program_.origins.push_back({std::string(op), {}});
  return static_cast<int>(program_.origins.size()) - 1;
}

std::vector<Expr> ProgramMaker::broadcast(const View& x, const View& y) const {
  const auto rank = std::max(x.sizes.size(), y.sizes.size());
  std::vector<Expr> sizes(rank, program_.context->constant(1));
  for (const View* v : {&x, &y})
    for (std::size_t d = 0; d < v->sizes.size(); ++d)
      if (Expr& s = sizes[d + rank - v->sizes.size()]; s.is_constant(1)) s = v->sizes[d];
  return sizes;
}

View ProgramMaker::pointwise(std::string_view op, std::vector<Expr> sizes, Dtype dtype,
                             const std::function<ValueId(KernelBuilder&, std::span<const Expr>)>& body) {
  const View out = result(sizes, dtype);
  KernelBuilder k(program_, fmt::format("poi_{}", op));
  k.set_origin(origin(op));
  const std::vector<Expr> index = k.outer(sizes);
  k.phase();
  const ValueId v = body(k, index);
  k.store(out.buffer, address(out, index), v);
  program_.items.emplace_back(k.finish());
  return out;
}

View ProgramMaker::unary(ScalarOp op, const View& x) {
  return pointwise(loop::info_of(op).name, x.sizes, dtype(x), [&](KernelBuilder& k, std::span<const Expr> i) {
    return k.unary(op, k.load(x.buffer, address(x, i)));
  });
}

View ProgramMaker::binary(ScalarOp op, const View& x, const View& y) {
  const bool compares = loop::info_of(op).result == loop::ResultRule::boolean;
  return pointwise(loop::info_of(op).name, broadcast(x, y), compares ? Dtype::boolean : dtype(x),
                   [&](KernelBuilder& k, std::span<const Expr> i) {
                     const ValueId a = k.load(x.buffer, address(x, i)), b = k.load(y.buffer, address(y, i));
                     return k.binary(op, a, b);
                   });
}

View ProgramMaker::add_number(const View& x, double c) {
  return pointwise("add", x.sizes, dtype(x), [&](KernelBuilder& k, std::span<const Expr> i) {
    return k.binary(ScalarOp::add, k.load(x.buffer, address(x, i)), k.constant(c, compute_dtype(dtype(x))));
  });
}

View ProgramMaker::copy(const View& x) {
  return pointwise("contiguous", x.sizes, dtype(x),
                   [&](KernelBuilder& k, std::span<const Expr> i) { return k.load(x.buffer, address(x, i)); });
}

View ProgramMaker::cast(const View& x, Dtype to) {
  return pointwise("cast", x.sizes, to, [&](KernelBuilder& k, std::span<const Expr> i) {
    return k.cast(k.load(x.buffer, address(x, i)), to);
  });
}

View ProgramMaker::select(const View& c, const View& x, const View& y) {
  return pointwise("where", broadcast(c, x), dtype(x), [&](KernelBuilder& k, std::span<const Expr> i) {
    return k.select(k.load(c.buffer, address(c, i)), k.load(x.buffer, address(x, i)), k.load(y.buffer, address(y, i)));
  });
}

namespace {
bool is_arg(CombineOp op) { return op == CombineOp::argmax || op == CombineOp::argmin; }
}  // namespace

View ProgramMaker::reduce(CombineOp op, const View& x, const std::vector<int>& axes, bool keepdim, int part) {
  std::vector<Expr> sizes;
  std::vector<std::size_t> inner;
  for (std::size_t d = 0; d < x.sizes.size(); ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(d)) != axes.end();
    if (reduced) inner.push_back(d);
    if (!reduced || keepdim) sizes.push_back(reduced ? number(1) : x.sizes[d]);
  }
  if (part < 0) part = is_arg(op) ? 1 : 0;
  const Dtype type = is_arg(op) && part == 1 ? Dtype::i64 : dtype(x);
  const View out = result(sizes, type);
  KernelBuilder k(program_, fmt::format("red_{}", loop::info_of(op).name));
  k.set_origin(origin(loop::info_of(op).name));
  std::vector<Expr> index(x.sizes.size()), outer;
  std::size_t o = 0;
  for (std::size_t d = 0; d < x.sizes.size(); ++d) {
    if (std::find(inner.begin(), inner.end(), d) == inner.end()) {
      index[d] = k.outer(x.sizes[d]);
      outer.push_back(index[d]);
      ++o;
    } else if (keepdim) {
      outer.push_back(number(0));
    }
  }
  std::vector<Expr> extents;
  for (std::size_t d : inner) extents.push_back(x.sizes[d]);
  const std::vector<Expr> vars = k.phase(extents);
  for (std::size_t i = 0; i < inner.size(); ++i) index[inner[i]] = vars[i];
  std::vector<ValueId> operands{k.load(x.buffer, address(x, index))};
  if (is_arg(op)) {
    Expr flat = number(0);
    for (std::size_t d : inner) flat = flat * x.sizes[d] + index[d];
    operands.push_back(k.index(flat));
  }
  const ValueId c = k.combine(op, operands, compute_dtype(dtype(x)));
  const ValueId r = k.part(c, part);
  k.phase();
  k.store(out.buffer, address(out, outer), r);
  program_.items.emplace_back(k.finish());
  return out;
}

std::vector<View> ProgramMaker::reduce_all_parts(CombineOp op, const View& x, int axis) {
  std::vector<View> parts;
  for (int p = 0; p < loop::info_of(op).parts; ++p) parts.push_back(reduce(op, x, {axis}, false, p));
  return parts;
}

View ProgramMaker::mean(const View& x, const std::vector<int>& axes, bool keepdim) {
  const View s = reduce(CombineOp::sum, x, axes, keepdim);
  Expr n = number(1);
  for (int a : axes) n = n * x.sizes[static_cast<std::size_t>(a)];
  return pointwise("mean", s.sizes, dtype(x), [&](KernelBuilder& k, std::span<const Expr> i) {
    return k.binary(ScalarOp::div, k.load(s.buffer, address(s, i)), k.cast(k.index(n), compute_dtype(dtype(x))));
  });
}

View ProgramMaker::scan(CombineOp op, const View& x, int axis, bool reverse) {
  const View out = result(x.sizes, dtype(x));
  KernelBuilder k(program_, fmt::format("scan_{}", loop::info_of(op).name));
  k.set_origin(origin(fmt::format("cum{}", loop::info_of(op).name)));
  std::vector<Expr> index(x.sizes.size());
  for (std::size_t d = 0; d < x.sizes.size(); ++d)
    if (static_cast<int>(d) != axis) index[d] = k.outer(x.sizes[d]);
  index[static_cast<std::size_t>(axis)] = k.phase({x.sizes[static_cast<std::size_t>(axis)]})[0];
  const ValueId v = k.scan(op, {k.load(x.buffer, address(x, index))}, compute_dtype(dtype(x)), reverse);
  k.store(out.buffer, address(out, index), v);
  program_.items.emplace_back(k.finish());
  return out;
}

View ProgramMaker::gather_rows(const View& table, const View& indices) {
  return pointwise("embedding", {indices.sizes[0], table.sizes[1]}, dtype(table),
                   [&](KernelBuilder& k, std::span<const Expr> i) {
                     const ValueId row = k.load(indices.buffer, address(indices, i.subspan(0, 1)));
                     const ValueId b = k.bounded(row, table.sizes[0], false);
                     const std::vector<Expr> at{k.symbol_of(b), i[1]};
                     return k.load(table.buffer, address(table, at));
                   });
}

View ProgramMaker::matmul(const View& a, const View& b) {
  std::vector<Expr> sizes = a.sizes;
  sizes.back() = b.sizes.back();
  const View out = result(std::move(sizes), dtype(a));
  loop::LibraryCall call;
  call.name = "matmul";
  call.a = a;
  call.b = b;
  call.out = out;
  program_.items.emplace_back(call);
  return out;
}

View ProgramMaker::transpose(View x, int a, int b) const {
  std::swap(x.sizes[static_cast<std::size_t>(a)], x.sizes[static_cast<std::size_t>(b)]);
  std::swap(x.strides[static_cast<std::size_t>(a)], x.strides[static_cast<std::size_t>(b)]);
  return x;
}

View ProgramMaker::slice(View x, int axis, Expr start, Expr length, std::int64_t step) const {
  const auto d = static_cast<std::size_t>(axis);
  x.offset = x.offset + start * x.strides[d];
  x.sizes[d] = length;
  x.strides[d] = x.strides[d] * step;
  return x;
}

View ProgramMaker::flip(View x, int axis) const {
  const auto d = static_cast<std::size_t>(axis);
  x.offset = x.offset + (x.sizes[d] - 1) * x.strides[d];
  x.strides[d] = -x.strides[d];
  return x;
}

View ProgramMaker::unsqueeze(View x, int axis) const {
  x.sizes.insert(x.sizes.begin() + axis, program_.context->constant(1));
  x.strides.insert(x.strides.begin() + axis, program_.context->constant(0));
  return x;
}

View ProgramMaker::merge(View x) const {
  Expr n = program_.context->constant(1);
  for (Expr s : x.sizes) n = n * s;
  x.sizes = {n};
  x.strides = {program_.context->constant(1)};
  return x;
}

void ProgramMaker::output(const View& x) {
  program_.outputs.push_back(x);
  Buffer& b = program_.buffers[static_cast<std::size_t>(x.buffer)];
  if (b.kind == BufferKind::temporary) b.kind = BufferKind::output;
}

void ProgramMaker::write(const View& in, const View& value) {
  program_.buffers[static_cast<std::size_t>(in.buffer)].written_input = true;
  KernelBuilder k(program_, "poi_copy");
  k.set_origin(origin("copy"));
  const std::vector<Expr> index = k.outer(in.sizes);
  k.phase();
  k.store(in.buffer, address(in, index), k.load(value.buffer, address(value, index)));
  program_.items.emplace_back(k.finish());
}

loop::Bindings ProgramMaker::bindings(std::uint32_t seed, bool exact) const {
  loop::Bindings b;
  b.sizes = size_values_;
  std::mt19937 random(seed);
  for (const Buffer& buffer : program_.buffers) {
    if (buffer.kind != BufferKind::input) continue;
    const auto number_of = [&](Expr e) {
      return *symbolic::evaluate(e, [&](Expr s) -> std::optional<std::int64_t> {
        for (std::size_t i = 0; i < program_.sizes.size(); ++i)
          if (program_.sizes[i] == s) return size_values_[i];
        return std::nullopt;
      });
    };
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < buffer.sizes.size(); ++d)
      elements += (number_of(buffer.sizes[d]) - 1) * number_of(buffer.strides[d]);
    const Array f = Array::empty({elements}, Dtype::f64);
    for (std::int64_t i = 0; i < elements; ++i)
      f.data_as<double>()[i] =
          exact ? static_cast<double>(static_cast<int>(random() % 5)) - (buffer.dtype == Dtype::u8 ? 0 : 2)
                : std::ldexp(static_cast<double>(random() % 4096), -10) - 2.0;
    if (is_integral(buffer.dtype) && !exact)
      for (std::int64_t i = 0; i < elements; ++i) f.data_as<double>()[i] = std::abs(std::floor(f.data_as<double>()[i]));
    b.inputs.push_back(cast_copy(f, buffer.dtype));
  }
  return b;
}

namespace {

bool same_bits(const Array& a, const Array& b, std::span<const std::int64_t> index) {
  if (!is_floating(a.dtype())) return read_i64(a, index) == read_i64(b, index);
  const double x = read_f64(a, index), y = read_f64(b, index);
  return (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof x) == 0;
}

std::string compare(const Array& a, const Array& b, const std::string& what) {
  std::string text;
  for_each_index(a.sizes(), [&](std::span<const std::int64_t> i) {
    if (text.empty() && !same_bits(a, b, i))
      text = fmt::format("{} at {}: {} and {}", what, to_string(i), read_f64(a, i), read_f64(b, i));
  });
  return text;
}

}  // namespace

std::string difference(const loop::Program& a, const loop::Program& b, const loop::Bindings& bindings) {
  loop::Bindings ba = bindings, bb = bindings;
  for (loop::Bindings* x : {&ba, &bb})
    for (Array& in : x->inputs) in = contiguous_copy(in);
  const auto out_a = loop::interpret(a, ba), out_b = loop::interpret(b, bb);
  if (out_a.size() != out_b.size()) return "numbers of outputs";
  for (std::size_t i = 0; i < out_a.size(); ++i)
    if (auto d = compare(out_a[i], out_b[i], fmt::format("output {}", i)); !d.empty()) return d;
  for (std::size_t i = 0; i < ba.inputs.size(); ++i)
    if (auto d = compare(ba.inputs[i], bb.inputs[i], fmt::format("input {}", i)); !d.empty()) return d;
  return {};
}

int kernel_count(const loop::Program& p) {
  return static_cast<int>(std::count_if(p.items.begin(), p.items.end(),
                                        [](const loop::Item& i) { return std::holds_alternative<loop::Kernel>(i); }));
}

}  // namespace stax::fusion::test
