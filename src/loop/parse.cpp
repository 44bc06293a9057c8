// Parser of the text form that print.cpp writes. Optional in hand-written text: the header, strides (row-major), dtypes
// that follow from operands, symbols of bounded values, input numbers, origins.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/scanner.h"
#include "loop/scalar_eval.h"
#include "loop/text.h"

namespace stax::loop {
namespace {

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : scan_(text, std::string(file)) {
    program_.context = std::make_shared<symbolic::Context>();
  }
  Program run();

 private:
  symbolic::Context& context() { return *program_.context; }
  // Offset of the next token, for errors.
  std::size_t here() {
    scan_.rest();
    return scan_.offset();
  }
  std::string name(std::string_view what);
  Expr expr();
  symbolic::Bool condition();
  std::vector<Expr> exprs(std::string_view close);
  std::int64_t bound(std::int64_t infinite);
  Expr symbol_of(std::string_view name);

  void sizes();
  void facts();
  void buffer();
  void scalar();
  void origin();
  void kernel();
  void call();
  View view();

  std::vector<Axis> axes(char letter);
  void phase(Kernel& k);
  void value(Kernel& k);
  void payload(const Kernel& k, Value& v);
  void finish_dtype(const Kernel& k, Value& v, std::size_t at);
  void operands(Value& v, int count);
  ValueId operand();
  std::uint64_t literal(Dtype dtype);
  BufferId buffer_ref();
  int scalar_ref();
  std::vector<Expr> row_major(const std::vector<Expr>& sizes);

  base::Scanner scan_;
  Program program_;
  std::unordered_map<std::string, BufferId> buffers_;
  std::unordered_map<std::string, Expr> scope_;        // axes and bounded symbols of the kernel, by their written name
  std::unordered_map<std::int64_t, ValueId> numbers_;  // written number of a value → id
  int inputs_ = 0;
};

std::string Parser::name(std::string_view what) {
  if (auto s = scan_.accept_string()) return *s;
  return std::string(scan_.expect_identifier(what));
}

Expr Parser::symbol_of(std::string_view name) {
  if (const auto found = scope_.find(std::string(name)); found != scope_.end()) return found->second;
  for (Expr s : program_.sizes)
    if (s.name() == name) return s;
  throw UserError(fmt::format("unknown symbol {}", name));
}

Expr Parser::expr() {
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

symbolic::Bool Parser::condition() {
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

std::vector<Expr> Parser::exprs(std::string_view close) {
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

std::int64_t Parser::bound(std::int64_t infinite) {
  if (scan_.accept("inf") || scan_.accept("-inf")) return infinite;
  return scan_.expect_integer("a bound");
}

Program Parser::run() {
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

void Parser::sizes() {
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

void Parser::facts() {
  do program_.facts.assume(condition());
  while (scan_.accept(";"));
}

std::vector<Expr> Parser::row_major(const std::vector<Expr>& sizes) {
  std::vector<Expr> strides(sizes.size());
  Expr stride = context().constant(1);
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride = stride * sizes[d];
  }
  return strides;
}

void Parser::buffer() {
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

void Parser::scalar() {
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

void Parser::origin() {
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

View Parser::view() {
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

void Parser::call() {
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

std::vector<Axis> Parser::axes(char letter) {
  std::vector<Axis> result;
  scan_.expect("(");
  while (!scan_.accept(")")) {
    if (!result.empty()) scan_.expect(",");
    const std::string symbol(scan_.expect_identifier("an axis"));
    scan_.expect("<");
    const Expr extent = expr();
    symbolic::SymbolInfo info;
    const std::int64_t hi = symbolic::range_of(extent, &program_.facts).hi;
    info.range = {0, hi == symbolic::kMaxInf ? hi : std::max<std::int64_t>(hi - 1, 0)};
    // A name that an earlier kernel uses with another range gets a fresh symbol.
    const auto taken = context().find_symbol(symbol);
    const Expr var = taken && taken->info().range != info.range ? program_.fresh_axis(extent, letter)
                                                                : context().symbol(symbol, info);
    scope_[symbol] = var;
    result.push_back({var, extent});
  }
  return result;
}

void Parser::kernel() {
  Kernel k;
  k.name = name("the kernel's name");
  scope_.clear();
  numbers_.clear();
  if (scan_.accept("outer")) k.outer = axes('i');
  scan_.expect("{");
  while (!scan_.accept("}")) phase(k);
  scope_.clear();
  program_.items.emplace_back(std::move(k));
}

void Parser::phase(Kernel& k) {
  scan_.expect("phase");
  Phase p;
  if (scan_.peek("(")) p.inner = axes('r');
  scan_.expect("{");
  p.begin = static_cast<ValueId>(k.values.size());
  while (!scan_.accept("}")) {
    if (!scan_.accept("store")) {
      value(k);
      continue;
    }
    Store s;
    s.buffer = buffer_ref();
    scan_.expect("[");
    s.index = expr();
    scan_.expect("]");
    s.value = operand();
    p.stores.push_back(s);
  }
  p.end = static_cast<ValueId>(k.values.size());
  k.phases.push_back(std::move(p));
}

ValueId Parser::operand() {
  scan_.expect("%");
  const std::size_t at = here();
  const std::int64_t n = scan_.expect_integer("a value's number");
  const auto found = numbers_.find(n);
  if (found == numbers_.end()) scan_.fail_at(at, fmt::format("%{} is used before it is defined", n));
  return found->second;
}

void Parser::operands(Value& v, int count) {
  for (int i = 0; i < count; ++i) v.args[static_cast<std::size_t>(i)] = operand();
}

BufferId Parser::buffer_ref() {
  const std::size_t at = here();
  const std::string name(scan_.expect_identifier("a buffer"));
  const auto found = buffers_.find(name);
  if (found == buffers_.end()) scan_.fail_at(at, fmt::format("unknown buffer {}", name));
  return found->second;
}

int Parser::scalar_ref() {
  const std::size_t at = here();
  const std::string_view label = scan_.expect_identifier("a scalar");
  for (std::size_t s = 0; s < program_.scalars.size(); ++s)
    if (label == fmt::format("c{}", s)) return static_cast<int>(s);
  scan_.fail_at(at, fmt::format("unknown scalar {}", label));
}

std::uint64_t Parser::literal(Dtype dtype) {
  if (scan_.accept("true")) return 1;
  if (scan_.accept("false")) return 0;
  if (scan_.accept("bits")) return static_cast<std::uint64_t>(scan_.expect_integer());
  if (!is_floating(dtype)) return bits_of_int(scan_.expect_integer("a literal"), dtype);
  if (scan_.accept("nan")) return bits_of_double(std::numeric_limits<double>::quiet_NaN(), dtype);
  return bits_of_double(scan_.expect_float("a literal"), dtype);
}

void Parser::value(Kernel& k) {
  scan_.expect("%");
  const std::int64_t number = scan_.expect_integer("a value's number");
  scan_.expect("=");
  const std::size_t at = here();
  std::string_view op = scan_.expect_dotted_name("an operation");
  Value v;
  bool typed = false;
  if (const auto dot = op.find('.'); dot != std::string_view::npos) {
    const auto dtype = parse_dtype(op.substr(dot + 1));
    if (!dtype) scan_.fail_at(at, fmt::format("unknown dtype {}", op.substr(dot + 1)));
    v.dtype = *dtype;
    typed = true;
    op = op.substr(0, dot);
  }
  const auto parsed = parse_scalar_op(op);
  if (!parsed) scan_.fail_at(at, fmt::format("unknown operation {}", op));
  v.op = *parsed;
  if (v.op == ScalarOp::constant && !typed) scan_.fail_at(at, "a constant states its dtype");
  payload(k, v);
  if (!typed) finish_dtype(k, v, at);
  if (scan_.accept("@")) v.origin = static_cast<int>(scan_.expect_integer());
  if (!numbers_.emplace(number, static_cast<ValueId>(k.values.size())).second)
    scan_.fail_at(at, fmt::format("%{} is defined twice", number));
  k.values.push_back(v);
}

void Parser::payload(const Kernel& k, Value& v) {
  switch (v.op) {
    case ScalarOp::constant:
      v.bits = literal(v.dtype);
      break;
    case ScalarOp::load:
      v.buffer = buffer_ref();
      [[fallthrough]];
    case ScalarOp::index:
      scan_.expect("[");
      v.index = expr();
      scan_.expect("]");
      break;
    case ScalarOp::scalar:
      v.scalar = scalar_ref();
      break;
    case ScalarOp::bounded:
      operands(v, 1);
      scan_.expect("in");
      scan_.expect("[");
      scan_.expect("0");
      scan_.expect(",");
      v.index = expr();
      scan_.expect(")");
      if (scan_.accept("as")) {
        const std::string symbol(scan_.expect_identifier("a symbol"));
        const std::int64_t hi = symbolic::range_of(v.index, &program_.facts).hi;
        symbolic::SymbolInfo info;
        info.range = {0, hi == symbolic::kMaxInf ? hi : std::max<std::int64_t>(hi - 1, 0)};
        v.symbol = context().find_symbol(symbol) ? program_.fresh_indirect(v.index) : context().symbol(symbol, info);
        scope_[symbol] = v.symbol;
      } else {
        v.symbol = program_.fresh_indirect(v.index);
      }
      v.wraps_negative = scan_.accept("wraps");
      v.checked = !scan_.accept("unchecked");
      break;
    case ScalarOp::random:
      if (!scan_.accept("uniform")) scan_.expect("normal"), v.part = 1;
      v.scalar = scalar_ref();
      scan_.expect("[");
      v.index = expr();
      scan_.expect("]");
      break;
    case ScalarOp::combine:
    case ScalarOp::scan: {
      const auto op = parse_combine_op(scan_.expect_identifier("a combine operator"));
      if (!op) scan_.fail("unknown combine operator before this");
      v.combine = *op;
      // Up to three operands; the next value starts with "%n =".
      for (std::size_t i = 0; i < 3 && scan_.peek("%"); ++i) {
        const std::size_t back = scan_.offset();
        scan_.expect("%");
        scan_.expect_integer();
        const bool next = scan_.peek("=");
        scan_.reset(back);
        if (next) break;
        v.args[i] = operand();
      }
      v.reverse = scan_.accept("reverse");
      break;
    }
    case ScalarOp::part:
      operands(v, 1);
      v.part = static_cast<int>(scan_.expect_integer("which part"));
      break;
    case ScalarOp::round_to: {
      const auto half = parse_dtype(scan_.expect_identifier("a half type"));
      if (!half) scan_.fail("unknown dtype before this");
      v.half = *half;
      operands(v, 1);
      break;
    }
    default:
      operands(v, info_of(v.op).arity);
  }
  (void)k;
}

// Dtype of a value that does not state it.
void Parser::finish_dtype(const Kernel& k, Value& v, std::size_t at) {
  const auto dtype_of = [&](ValueId a) { return k.values[static_cast<std::size_t>(a)].dtype; };
  if (info_of(v.op).result == ResultRule::boolean) {
    v.dtype = Dtype::boolean;
    return;
  }
  switch (v.op) {
    case ScalarOp::index:
      v.dtype = Dtype::i64;
      break;
    case ScalarOp::load:
      v.dtype = compute_dtype(program_.buffers[static_cast<std::size_t>(v.buffer)].dtype);
      break;
    case ScalarOp::scalar:
      v.dtype = program_.scalars[static_cast<std::size_t>(v.scalar)].dtype;
      break;
    case ScalarOp::random:
      v.dtype = Dtype::f32;
      break;
    case ScalarOp::select:
      v.dtype = dtype_of(v.args[1]);
      break;
    case ScalarOp::part:
      v.dtype = part_dtype(k.values[static_cast<std::size_t>(v.args[0])], v.part);
      break;
    case ScalarOp::cast:
      scan_.fail_at(at, "a cast states its dtype");
    default:
      v.dtype = v.args[0] == kNoValue ? Dtype::f32 : dtype_of(v.args[0]);
  }
}

}  // namespace

Program parse_program(std::string_view text, std::string_view file) { return Parser(text, file).run(); }

}  // namespace stax::loop
