// Parser of the text form that print.cpp writes. Optional in hand-written text: the header, strides (row-major), dtypes
// that follow from operands, symbols of bounded values, input numbers, origins.
#include <fmt/format.h>

#include <algorithm>

#include "loop/parser.h"

namespace stax::loop {

std::string ProgramParser::name(std::string_view what) {
  if (auto s = scan_.accept_string()) return *s;
  return std::string(scan_.expect_identifier(what));
}

Expr ProgramParser::symbol_of(std::string_view name) {
  if (const auto found = scope_.find(std::string(name)); found != scope_.end()) return found->second;
  for (Expr s : program_.sizes)
    if (s.name() == name) return s;
  throw UserError(fmt::format("unknown symbol {}", name));
}

Expr ProgramParser::expr() {
  std::string_view rest = scan_.rest();
  const std::size_t length = rest.size();
  try {
    const Expr e =
        symbolic::parse_expr_prefix(rest, context(), [this](std::string_view symbol) { return symbol_of(symbol); });
    scan_.advance(length - rest.size());
    return e;
  } catch (const UserError& e) {
    scan_.fail("in this expression: " + e.problem());
  }
}

symbolic::Bool ProgramParser::condition() {
  std::string_view rest = scan_.rest();
  const std::size_t length = rest.size();
  try {
    const symbolic::Bool b =
        symbolic::parse_bool_prefix(rest, context(), [this](std::string_view symbol) { return symbol_of(symbol); });
    scan_.advance(length - rest.size());
    return b;
  } catch (const UserError& e) {
    scan_.fail("in this condition: " + e.problem());
  }
}

std::vector<Expr> ProgramParser::exprs(std::string_view close) {
  std::vector<Expr> result;
  while (!scan_.accept(close)) {
    if (!result.empty()) {
      scan_.expect(",");
      if (scan_.accept(close)) break;  // "(s1,)"
    }
    result.push_back(expr());
  }
  return result;
}

std::int64_t ProgramParser::bound(std::int64_t infinite) {
  if (scan_.accept("inf") || scan_.accept("-inf")) return infinite;
  return scan_.expect_integer("a bound");
}

Program ProgramParser::run() {
  if (scan_.accept("program")) program_.name = name("the program's name");
  while (!scan_.at_end()) {
    if (scan_.accept("sizes"))
      sizes();
    else if (scan_.accept("facts"))
      facts();
    else if (scan_.accept("buffer"))
      buffer();
    else if (scan_.accept("scalar"))
      scalar();
    else if (scan_.accept("kernel"))
      kernel();
    else if (scan_.accept("call"))
      call();
    else if (scan_.accept("return"))
      program_.outputs.push_back(view());
    else if (scan_.accept("origin"))
      origin();
    else
      scan_.fail_expected("sizes, facts, buffer, scalar, kernel, call, return or origin");
  }
  return std::move(program_);
}

void ProgramParser::sizes() {
  do {
    const std::size_t at = here();
    const std::string symbol(scan_.expect_identifier("a size symbol"));
    symbolic::SymbolInfo info;
    info.range = {0, symbolic::kMaxInf};
    if (scan_.accept("in")) {
      scan_.expect("[");
      info.range.lo = bound(symbolic::kMinInf);
      scan_.expect(",");
      info.range.hi = bound(symbolic::kMaxInf);
      scan_.expect("]");
    }
    if (scan_.accept("multiple")) info.multiple_of = scan_.expect_integer();
    if (scan_.accept("hint")) info.hint = scan_.expect_integer();
    if (context().find_symbol(symbol)) scan_.fail_at(at, fmt::format("size {} is declared twice", symbol));
    program_.sizes.push_back(context().symbol(symbol, info));
  } while (scan_.accept(","));
}

void ProgramParser::facts() {
  do program_.facts.assume(condition());
  while (scan_.accept(";"));
}

std::vector<Expr> ProgramParser::row_major(const std::vector<Expr>& sizes) {
  std::vector<Expr> strides(sizes.size());
  Expr stride = context().constant(1);
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride = stride * sizes[d];
  }
  return strides;
}

void ProgramParser::buffer() {
  const std::size_t at = here();
  Buffer b;
  b.name = std::string(scan_.expect_identifier("a buffer's name"));
  scan_.expect(":");
  const std::size_t dtype_at = here();
  const auto dtype = parse_dtype(scan_.expect_identifier("a dtype"));
  if (!dtype) scan_.fail_at(dtype_at, "unknown dtype");
  b.dtype = *dtype;
  scan_.expect("[");
  b.sizes = exprs("]");
  if (scan_.accept("strides")) {
    scan_.expect("(");
    b.strides = exprs(")");
  } else {
    b.strides = row_major(b.sizes);
  }
  if (b.sizes.size() != b.strides.size()) scan_.fail_at(at, fmt::format("{} has as many strides as sizes", b.name));
  if (scan_.accept("input")) {
    b.kind = BufferKind::input;
    b.input = static_cast<int>(scan_.accept_integer().value_or(inputs_));
    inputs_ = std::max(inputs_, b.input + 1);
    b.written_input = scan_.accept("written");
  } else if (scan_.accept("output")) {
    b.kind = BufferKind::output;
  } else {
    scan_.accept("temporary");
  }
  if (!buffers_.emplace(b.name, static_cast<BufferId>(program_.buffers.size())).second)
    scan_.fail_at(at, fmt::format("buffer {} is declared twice", b.name));
  program_.buffers.push_back(std::move(b));
}

void ProgramParser::scalar() {
  const std::string label(scan_.expect_identifier("a scalar's label"));
  if (label != fmt::format("c{}", program_.scalars.size()))
    scan_.fail(fmt::format("scalars are labelled in order: c{} is next", program_.scalars.size()));
  ScalarInput s;
  scan_.expect(":");
  const auto dtype = parse_dtype(scan_.expect_identifier("a dtype"));
  if (!dtype) scan_.fail("unknown dtype");
  s.dtype = *dtype;
  s.name = scan_.accept_string().value_or(label);
  if (scan_.accept("=")) s.value = expr();
  program_.scalars.push_back(std::move(s));
}

void ProgramParser::origin() {
  scan_.expect("@");
  if (scan_.expect_integer() != static_cast<std::int64_t>(program_.origins.size()))
    scan_.fail(fmt::format("origins are numbered in order: @{} is next", program_.origins.size()));
  Origin o;
  o.op = name("an operator");
  if (scan_.accept("at")) {
    o.where.file = scan_.expect_string("a file in quotes");
    scan_.expect(":");
    o.where.line = static_cast<int>(scan_.expect_integer("a line"));
  }
  program_.origins.push_back(std::move(o));
}

View ProgramParser::view() {
  View v;
  v.buffer = buffer_ref();
  if (scan_.accept("[")) {
    v.sizes = exprs("]");
    v.strides = row_major(v.sizes);
  } else {
    v.sizes = program_.buffers[static_cast<std::size_t>(v.buffer)].sizes;
    v.strides = program_.buffers[static_cast<std::size_t>(v.buffer)].strides;
  }
  if (scan_.accept("strides")) {
    scan_.expect("(");
    v.strides = exprs(")");
  }
  v.offset = scan_.accept("offset") ? expr() : context().constant(0);
  return v;
}

void ProgramParser::call() {
  LibraryCall c;
  c.name = name("the call's name");
  scan_.expect("{");
  while (!scan_.accept("}")) {
    if (scan_.accept("a"))
      c.a = view();
    else if (scan_.accept("b"))
      c.b = view();
    else if (scan_.accept("out"))
      c.out = view();
    else if (scan_.accept("bias"))
      c.bias = view();
    else if (scan_.accept("residual"))
      c.residual = view();
    else if (scan_.accept("scale"))
      c.scale = scan_.expect_float();
    else if (scan_.accept("weight"))
      c.b_is_weight = true;
    else if (scan_.accept("@"))
      c.origin = static_cast<int>(scan_.expect_integer());
    else if (scan_.accept("activation")) {
      const auto activation = parse_activation(scan_.expect_identifier("an activation"));
      if (!activation) scan_.fail("unknown activation before this");
      c.activation = *activation;
    } else {
      scan_.fail_expected("a, b, out, bias, residual, activation, scale, weight, @origin or }");
    }
  }
  if (c.a.buffer < 0 || c.b.buffer < 0 || c.out.buffer < 0) scan_.fail("a call states a, b and out");
  program_.items.emplace_back(std::move(c));
}

Program parse_program(std::string_view text, std::string_view file) { return ProgramParser(text, file).run(); }

}  // namespace stax::loop
