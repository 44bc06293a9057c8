#include "loop/index_code.h"

#include <algorithm>

namespace stax::loop {

using symbolic::Op;

namespace {

std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapping_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) throw UserError("division by zero in an index expression");
  const std::int64_t q = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t apply(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::add:
      return wrapping_add(a, b);
    case Op::mul:
      return wrapping_mul(a, b);
    case Op::floordiv:
      return floor_quotient(a, b);
    case Op::floormod:
      return wrapping_add(a, -wrapping_mul(b, floor_quotient(a, b)));
    case Op::ceildiv:
      return -floor_quotient(-a, b);
    case Op::truncdiv:
      if (b == 0) throw UserError("division by zero in an index expression");
      return a / b;
    case Op::truncmod:
      if (b == 0) throw UserError("division by zero in an index expression");
      return a % b;
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    default:
      STAX_CHECK(false, "an index expression is made of integers");
  }
  return 0;
}

}  // namespace

int IndexCode::add_symbol(Expr symbol, Level level, bool per_lane) {
  Slot s;
  s.level = level;
  s.per_lane = per_lane;
  if (per_lane) s.lanes.resize(kLanes);
  slots_.push_back(std::move(s));
  return slot_of_[symbol] = static_cast<int>(slots_.size()) - 1;
}

int IndexCode::compile(Expr e, Code& phase_code) {
  const auto known = slot_of_.find(e);
  if (known != slot_of_.end()) {
    const Slot& s = slots_[static_cast<std::size_t>(known->second)];
    if (s.level != Level::phase || e.is_symbol() || in_phase_.contains(known->second)) return known->second;
  }
  STAX_CHECK(!e.is_symbol(), "symbol " + symbolic::to_string(e) + " has no value here");
  if (const auto c = e.constant()) {
    const int slot = add_symbol(e, Level::kernel, false);
    set(slot, *c);
    return slot;
  }
  Instr instr{e.op(), 0, {}};
  Level level = Level::kernel;
  bool per_lane = false;
  for (std::size_t i = 0; i < e.operands().size(); ++i) {
    const int operand = compile(e.operand(i), phase_code);
    level = std::max(level, slots_[static_cast<std::size_t>(operand)].level);
    per_lane = per_lane || slots_[static_cast<std::size_t>(operand)].per_lane;
    instr.operands.push_back(operand);
  }
  const int slot = known != slot_of_.end() ? known->second : add_symbol(e, level, per_lane);
  instr.out = slot;
  if (level == Level::phase) in_phase_.insert(slot);
  (level == Level::kernel  ? kernel_code_
   : level == Level::block ? block_code_
                           : phase_code)
      .push_back(std::move(instr));
  return slot;
}

void IndexCode::run(const Instr& instr, std::size_t lanes) {
  Slot& out = slots_[static_cast<std::size_t>(instr.out)];
  if (!out.per_lane) {
    std::int64_t v = slots_[static_cast<std::size_t>(instr.operands[0])].number;
    for (std::size_t i = 1; i < instr.operands.size(); ++i)
      v = apply(instr.op, v, slots_[static_cast<std::size_t>(instr.operands[i])].number);
    out.number = v;
    return;
  }
  std::int64_t* o = out.lanes.data();
  for (std::size_t i = 0; i < instr.operands.size(); ++i) {
    const Slot& s = slots_[static_cast<std::size_t>(instr.operands[i])];
    const auto value = [&](std::size_t lane) { return s.per_lane ? s.lanes[lane] : s.number; };
    if (i == 0) {
      for (std::size_t lane = 0; lane < lanes; ++lane) o[lane] = value(lane);
    } else if (instr.op == Op::add) {
      for (std::size_t lane = 0; lane < lanes; ++lane) o[lane] = wrapping_add(o[lane], value(lane));
    } else if (instr.op == Op::mul) {
      for (std::size_t lane = 0; lane < lanes; ++lane) o[lane] = wrapping_mul(o[lane], value(lane));
    } else {
      for (std::size_t lane = 0; lane < lanes; ++lane) o[lane] = apply(instr.op, o[lane], value(lane));
    }
  }
}

}  // namespace stax::loop
