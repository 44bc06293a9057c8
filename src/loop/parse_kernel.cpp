// Kernels of the text form.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "loop/parser.h"
#include "loop/scalar_eval.h"

namespace stax::loop {

std::vector<Axis> ProgramParser::axes(char letter) {
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

void ProgramParser::kernel() {
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

void ProgramParser::phase(Kernel& k) {
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

ValueId ProgramParser::operand() {
  scan_.expect("%");
  const std::size_t at = here();
  const std::int64_t n = scan_.expect_integer("a value's number");
  const auto found = numbers_.find(n);
  if (found == numbers_.end()) scan_.fail_at(at, fmt::format("%{} is used before it is defined", n));
  return found->second;
}

void ProgramParser::operands(Value& v, int count) {
  for (int i = 0; i < count; ++i) v.args[static_cast<std::size_t>(i)] = operand();
}

BufferId ProgramParser::buffer_ref() {
  const std::size_t at = here();
  const std::string name(scan_.expect_identifier("a buffer"));
  const auto found = buffers_.find(name);
  if (found == buffers_.end()) scan_.fail_at(at, fmt::format("unknown buffer {}", name));
  return found->second;
}

int ProgramParser::scalar_ref() {
  const std::size_t at = here();
  const std::string_view label = scan_.expect_identifier("a scalar");
  for (std::size_t s = 0; s < program_.scalars.size(); ++s)
    if (label == fmt::format("c{}", s)) return static_cast<int>(s);
  scan_.fail_at(at, fmt::format("unknown scalar {}", label));
}

std::uint64_t ProgramParser::literal(Dtype dtype) {
  if (scan_.accept("true")) return 1;
  if (scan_.accept("false")) return 0;
  if (scan_.accept("bits")) return static_cast<std::uint64_t>(scan_.expect_integer());
  if (!is_floating(dtype)) return bits_of_int(scan_.expect_integer("a literal"), dtype);
  if (scan_.accept("nan")) return bits_of_double(std::numeric_limits<double>::quiet_NaN(), dtype);
  return bits_of_double(scan_.expect_float("a literal"), dtype);
}

void ProgramParser::value(Kernel& k) {
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
  payload(v);
  if (!typed) finish_dtype(k, v, at);
  if (scan_.accept("@")) v.origin = static_cast<int>(scan_.expect_integer());
  if (!numbers_.emplace(number, static_cast<ValueId>(k.values.size())).second)
    scan_.fail_at(at, fmt::format("%{} is defined twice", number));
  k.values.push_back(v);
}

void ProgramParser::payload(Value& v) {
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
}

// Dtype of a value that does not state it.
void ProgramParser::finish_dtype(const Kernel& k, Value& v, std::size_t at) {
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

}  // namespace stax::loop
