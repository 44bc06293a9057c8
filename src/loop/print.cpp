// Printer of the text form; parse.cpp reads it back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "loop/text.h"

namespace stax::loop {
namespace {

using symbolic::to_string;

std::string list(const std::vector<Expr>& exprs) {
  std::vector<std::string> texts;
  for (Expr e : exprs) texts.push_back(to_string(e));
  return base::joined(texts);
}

bool is_identifier(std::string_view s) {
  const auto word = [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !s.empty() && word(s[0]) && std::all_of(s.begin(), s.end(), [&](char c) { return word(c) || digit(c); });
}

std::string name_text(std::string_view name) { return is_identifier(name) ? std::string(name) : base::quote(name); }

std::string buffer_text(const Program& p, BufferId b) {
  if (b < 0 || b >= static_cast<int>(p.buffers.size())) return fmt::format("b?{}", b);
  const std::string& name = p.buffers[static_cast<std::size_t>(b)].name;
  return name.empty() ? fmt::format("b{}", b) : name;
}

// The literal; bits in hexadecimal where no decimal reads back to them (NaN payloads).
std::string literal(std::uint64_t bits, Dtype dtype) {
  const auto fallback = [&] { return fmt::format("bits {}", static_cast<std::int64_t>(bits)); };
  if (dtype == Dtype::boolean) return bits ? "true" : "false";
  if (dtype == Dtype::f32) {
    float v;
    const auto low = static_cast<std::uint32_t>(bits);
    std::memcpy(&v, &low, sizeof v);
    if (std::isnan(v)) return low == 0x7fc00000U ? "nan" : fallback();
    const std::string text = base::float_text(v);
    return static_cast<float>(std::strtod(text.c_str(), nullptr)) == v ? text : fallback();
  }
  if (dtype == Dtype::f64) {
    double v;
    std::memcpy(&v, &bits, sizeof v);
    if (std::isnan(v)) return bits == 0x7ff8000000000000U ? "nan" : fallback();
    return base::float_text(v);
  }
  return fmt::format("{}", static_cast<std::int64_t>(bits));
}

std::string operands(const Value& v) {
  std::string text;
  for (ValueId a : v.args)
    if (a != kNoValue) text += fmt::format(" %{}", a);
  return text;
}

std::string payload(const Program& p, const Value& v) {
  switch (v.op) {
    case ScalarOp::constant:
      return fmt::format(" {}", literal(v.bits, v.dtype));
    case ScalarOp::index:
      return fmt::format(" [{}]", to_string(v.index));
    case ScalarOp::load:
      return fmt::format(" {}[{}]", buffer_text(p, v.buffer), to_string(v.index));
    case ScalarOp::scalar:
      return fmt::format(" c{}", v.scalar);
    case ScalarOp::bounded:
      return fmt::format("{} in [0, {}) as {}{}{}", operands(v), to_string(v.index), to_string(v.symbol),
                         v.wraps_negative ? " wraps" : "", v.checked ? "" : " unchecked");
    case ScalarOp::random:
      return fmt::format(" {} c{} [{}]", v.part == 1 ? "normal" : "uniform", v.scalar, to_string(v.index));
    case ScalarOp::combine:
    case ScalarOp::scan:
      return fmt::format(" {}{}{}", info_of(v.combine).name, operands(v), v.reverse ? " reverse" : "");
    case ScalarOp::part:
      return fmt::format("{} {}", operands(v), v.part);
    case ScalarOp::round_to:
      return fmt::format(" {}{}", stax::to_text(v.half), operands(v));
    default:
      return operands(v);
  }
}

void print_value(base::TextWriter& w, const Program& p, ValueId id, const Value& v) {
  const ScalarOpInfo& info = info_of(v.op);
  w.format("%{} = {}", id, info.name);
  if (info.result != ResultRule::boolean) w.format(".{}", stax::to_text(v.dtype));
  w.write(payload(p, v));
  if (v.origin >= 0) w.format("  @{}", v.origin);
  w.line();
}

std::string axes_text(const std::vector<Axis>& axes) {
  std::vector<std::string> texts;
  for (const Axis& a : axes) texts.push_back(fmt::format("{} < {}", to_string(a.var), to_string(a.extent)));
  return fmt::format("({})", base::joined(texts));
}

void print_kernel(base::TextWriter& w, const Program& p, const Kernel& k) {
  std::string head = "kernel " + name_text(k.name);
  if (!k.outer.empty()) head += " outer " + axes_text(k.outer);
  const auto body = w.block(head + " {");
  for (const Phase& phase : k.phases) {
    const auto block = w.block(phase.inner.empty() ? "phase {" : "phase " + axes_text(phase.inner) + " {");
    for (ValueId v = phase.begin; v < phase.end; ++v) print_value(w, p, v, k.values[static_cast<std::size_t>(v)]);
    for (const Store& s : phase.stores)
      w.format_line("store {}[{}] %{}", buffer_text(p, s.buffer), to_string(s.index), s.value);
  }
}

std::string view_text(const Program& p, const View& v) {
  std::string text = fmt::format("{} [{}] strides ({})", buffer_text(p, v.buffer), list(v.sizes), list(v.strides));
  if (v.offset && !v.offset.is_constant(0)) text += " offset " + to_string(v.offset);
  return text;
}

void print_call(base::TextWriter& w, const Program& p, const LibraryCall& c) {
  const auto block = w.block("call " + name_text(c.name) + " {");
  w.line("a " + view_text(p, c.a)).line("b " + view_text(p, c.b)).line("out " + view_text(p, c.out));
  if (c.bias) w.line("bias " + view_text(p, *c.bias));
  if (c.residual) w.line("residual " + view_text(p, *c.residual));
  if (c.activation != Activation::none) w.format_line("activation {}", to_text(c.activation));
  if (c.scale != 1.0) w.format_line("scale {}", base::float_text(c.scale));
  if (c.b_is_weight) w.line("weight");
  if (c.origin >= 0) w.format_line("@{}", c.origin);
}

void print_buffer(base::TextWriter& w, const Program& p, BufferId id) {
  const Buffer& b = p.buffers[static_cast<std::size_t>(id)];
  w.format("buffer {}: {}[{}] strides ({})", buffer_text(p, id), stax::to_text(b.dtype), list(b.sizes),
           list(b.strides));
  if (b.kind == BufferKind::input) w.format(" input {}{}", b.input, b.written_input ? " written" : "");
  w.line(b.kind == BufferKind::output ? " output" : "");
}

std::string bound_text(std::int64_t v) {
  if (v == symbolic::kMinInf) return "-inf";
  return v == symbolic::kMaxInf ? "inf" : fmt::format("{}", v);
}

void print_sizes(base::TextWriter& w, const Program& p, Hints hints) {
  if (p.sizes.empty()) return;
  std::vector<std::string> texts;
  for (Expr s : p.sizes) {
    const symbolic::SymbolInfo& info = s.info();
    std::string text = fmt::format("{} in [{}, {}]", s.name(), bound_text(info.range.lo), bound_text(info.range.hi));
    if (info.multiple_of != 1) text += fmt::format(" multiple {}", info.multiple_of);
    if (info.hint && hints == Hints::shown) text += fmt::format(" hint {}", *info.hint);
    texts.push_back(std::move(text));
  }
  w.line("sizes " + base::joined(texts));
}

// Everything that the facts say beyond the declarations, as conditions.
void print_facts(base::TextWriter& w, const Program& p) {
  std::vector<std::string> texts;
  const auto add = [&](symbolic::Bool b) {
    std::string text = to_string(b);
    if (!b.constant() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
  };
  for (Expr s : p.sizes) {
    const symbolic::Range declared = s.info().range, known = p.facts.range(s);
    const std::int64_t multiple = p.facts.multiple_of(s);
    if (known.lo != declared.lo && known.lo != symbolic::kMinInf) add(symbolic::ge(s, known.lo));
    if (known.hi != declared.hi && known.hi != symbolic::kMaxInf) add(symbolic::le(s, known.hi));
    if (multiple > 1 && multiple != s.info().multiple_of) add(symbolic::eq(symbolic::floormod(s, multiple), 0));
    if (const auto found = p.facts.equalities().find(s); found != p.facts.equalities().end())
      add(symbolic::eq(s, found->second));
  }
  for (symbolic::Bool c : p.facts.conditions()) add(c);
  if (!texts.empty()) w.line("facts " + base::joined(texts, "; "));
}

}  // namespace

std::string to_text(const Program& p, const Kernel& k) {
  base::TextWriter w;
  print_kernel(w, p, k);
  return w.take();
}

std::string to_text(const Program& p, Hints hints) {
  base::TextWriter w;
  w.line("program " + name_text(p.name));
  print_sizes(w, p, hints);
  print_facts(w, p);
  for (std::size_t b = 0; b < p.buffers.size(); ++b) print_buffer(w, p, static_cast<BufferId>(b));
  for (std::size_t s = 0; s < p.scalars.size(); ++s)
    w.format_line("scalar c{}: {} {}{}", s, stax::to_text(p.scalars[s].dtype), base::quote(p.scalars[s].name),
                  p.scalars[s].value ? " = " + to_string(p.scalars[s].value) : "");
  for (const Item& item : p.items) {
    if (const auto* k = std::get_if<Kernel>(&item))
      print_kernel(w, p, *k);
    else
      print_call(w, p, std::get<LibraryCall>(item));
  }
  for (const View& v : p.outputs) w.line("return " + view_text(p, v));
  for (std::size_t o = 0; o < p.origins.size(); ++o) {
    w.format("origin @{} {}", o, name_text(p.origins[o].op));
    if (p.origins[o].where.known())
      w.format(" at {}:{}", base::quote(p.origins[o].where.file), p.origins[o].where.line);
    w.line();
  }
  return w.take();
}

}  // namespace stax::loop
