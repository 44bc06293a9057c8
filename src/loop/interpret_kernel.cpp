// One kernel, block by block: the lanes are units, the inner axes are loops. Units are independent, so phases may run
// in lockstep over a block of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/philox.h"
#include "loop/accumulate.h"
#include "loop/index_code.h"
#include "loop/interpret.h"
#include "loop/scalar_eval.h"

namespace stax::loop {
namespace {

struct Instr {
  enum class Kind : std::uint8_t { index_node, lanes, load, index, bounded, random, step, scan, part } kind;
  IndexCode::Instr node{};  // index_node
  const Value* value = nullptr;
  void* out = nullptr;
  const void* args[3] = {nullptr, nullptr, nullptr};
  LaneFn fn = nullptr;  // lanes: the operation; load: conversion of half types
  int slot = -1;        // address, expression, bound or element
  int symbol_slot = -1;
  Accumulator* accumulator = nullptr;
};

struct StoreInstr {
  std::vector<IndexCode::Instr> nodes;
  const Store* store;
  int slot;
  const void* value;
  LaneFn convert;
};

struct PhaseCode {
  std::vector<int> inner;  // slots of the axes
  std::vector<std::int64_t> extents;
  bool reverse = false;
  std::vector<Instr> code;
  std::vector<StoreInstr> stores;
  std::vector<Instr> results;  // combine values, read when the phase is over
};

class KernelRun {
 public:
  KernelRun(const RunState& state, const Kernel& k);
  void run();

 private:
  void compile_phase(const Phase& p);
  void compile_value(ValueId id, PhaseCode& code);
  void fill_constant(ValueId id);
  int slot_of(Expr e, std::vector<Instr>& code);
  void* reg(ValueId v) { return registers_.data() + static_cast<std::size_t>(v) * kLanes * 8; }
  Dtype dtype_of(ValueId v) const { return k_.values[static_cast<std::size_t>(v)].dtype; }

  void set_units(std::int64_t first, std::size_t lanes);
  void run_phase(PhaseCode& p, std::size_t lanes);
  void execute(const Instr& i, std::size_t lanes);
  void load(const Instr& i, std::size_t lanes);
  void bounded(const Instr& i, std::size_t lanes);
  void random(const Instr& i, std::size_t lanes);
  void store(const StoreInstr& i, std::size_t lanes);
  void check_address(BufferId buffer, std::int64_t address, std::string_view access) const;

  const RunState& state_;
  const Kernel& k_;
  std::vector<std::int64_t> extents_;
  std::vector<int> outer_;
  std::vector<std::byte> registers_, scratch_;  // 8 bytes a lane
  IndexCode index_;
  std::vector<PhaseCode> phases_;
  std::vector<std::unique_ptr<Accumulator>> accumulators_;  // by value
};

KernelRun::KernelRun(const RunState& state, const Kernel& k)
    : state_(state),
      k_(k),
      registers_(k.values.size() * kLanes * 8),
      scratch_(kLanes * 8),
      accumulators_(k.values.size()) {
  for (const auto& [symbol, value] : state.sizes)
    index_.set(index_.add_symbol(symbol, IndexCode::Level::kernel, false), value);
  for (const Axis& a : k.outer) {
    extents_.push_back(state.value_of(a.extent));
    outer_.push_back(index_.add_symbol(a.var, IndexCode::Level::block, true));
  }
  for (const Phase& p : k.phases) compile_phase(p);
}

int KernelRun::slot_of(Expr e, std::vector<Instr>& code) {
  IndexCode::Code nodes;
  const int slot = index_.compile(e, nodes);
  for (IndexCode::Instr& n : nodes) {
    Instr i{Instr::Kind::index_node};
    i.node = std::move(n);
    code.push_back(std::move(i));
  }
  return slot;
}

void KernelRun::compile_phase(const Phase& p) {
  index_.begin_phase();
  PhaseCode code;
  for (const Axis& a : p.inner) {
    code.extents.push_back(state_.value_of(a.extent));
    code.inner.push_back(index_.add_symbol(a.var, IndexCode::Level::phase, false));
  }
  for (ValueId v = p.begin; v < p.end; ++v) compile_value(v, code);
  for (const Store& s : p.stores) {
    StoreInstr i{{}, &s, 0, reg(s.value), nullptr};
    i.slot = index_.compile(s.index, i.nodes);
    i.convert = cast_function(dtype_of(s.value), state_.memory[static_cast<std::size_t>(s.buffer)].dtype);
    code.stores.push_back(std::move(i));
  }
  phases_.push_back(std::move(code));
}

void KernelRun::fill_constant(ValueId id) {
  const Value& v = k_.values[static_cast<std::size_t>(id)];
  std::uint64_t bits = v.bits;
  if (v.op == ScalarOp::scalar) {
    const auto s = static_cast<std::size_t>(v.scalar);
    const ScalarInput& input = state_.program.scalars[s];
    bits = input.value                ? bits_of_int(state_.value_of(input.value), v.dtype)
           : is_floating(input.dtype) ? bits_of_double(state_.bindings.scalars_f64.at(s), v.dtype)
                                      : bits_of_int(state_.bindings.scalars_i64.at(s), v.dtype);
  }
  auto* out = static_cast<char*>(reg(id));
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    lane_of_bits(bits, v.dtype, out + lane * static_cast<std::size_t>(byte_size(v.dtype)));
}

void KernelRun::compile_value(ValueId id, PhaseCode& code) {
  const Value& v = k_.values[static_cast<std::size_t>(id)];
  Instr i{Instr::Kind::lanes};
  i.value = &v;
  i.out = reg(id);
  for (std::size_t a = 0; a < 3; ++a)
    if (v.args[a] != kNoValue) i.args[a] = reg(v.args[a]);
  if (v.index) i.slot = slot_of(v.index, code.code);
  switch (v.op) {
    case ScalarOp::constant:
    case ScalarOp::scalar:
      return fill_constant(id);
    case ScalarOp::index:
      i.kind = Instr::Kind::index;
      break;
    case ScalarOp::random:
      i.kind = Instr::Kind::random;
      break;
    case ScalarOp::load: {
      i.kind = Instr::Kind::load;
      const Dtype stored = state_.memory[static_cast<std::size_t>(v.buffer)].dtype;
      if (is_half(stored)) i.fn = cast_function(stored, v.dtype);
      break;
    }
    case ScalarOp::bounded:
      i.kind = Instr::Kind::bounded;
      i.symbol_slot = index_.add_symbol(v.symbol, IndexCode::Level::phase, true);
      break;
    case ScalarOp::combine:
    case ScalarOp::scan: {
      auto& accumulator = accumulators_[static_cast<std::size_t>(id)];
      accumulator = make_accumulator(v);
      i.accumulator = accumulator.get();
      i.kind = v.op == ScalarOp::scan ? Instr::Kind::scan : Instr::Kind::step;
      code.reverse = code.reverse || v.reverse;
      if (v.op == ScalarOp::combine) {
        Instr result = i;
        result.kind = Instr::Kind::part;
        code.results.push_back(std::move(result));
      }
      break;
    }
    case ScalarOp::part:
      i.kind = Instr::Kind::part;
      i.accumulator = accumulators_[static_cast<std::size_t>(v.args[0])].get();
      if (is_combined(k_, id)) {
        code.results.push_back(i);
        if (phase_of(k_, v.args[0]) == static_cast<int>(phases_.size())) return;
      }
      break;
    case ScalarOp::cast:
      i.fn = cast_function(dtype_of(v.args[0]), v.dtype);
      break;
    case ScalarOp::round_to:
      i.fn = round_function(v.half);
      break;
    default:
      i.fn = lane_function(v.op, dtype_of(v.args[v.op == ScalarOp::select ? 1 : 0]));
  }
  STAX_CHECK(i.kind != Instr::Kind::lanes || i.fn, fmt::format("{} %{} has no meaning", k_.name, id));
  code.code.push_back(std::move(i));
}

void KernelRun::set_units(std::int64_t first, std::size_t lanes) {
  std::vector<std::int64_t> at(extents_.size());
  for (std::size_t d = extents_.size(); d-- > 0;) {
    at[d] = first % extents_[d];
    first /= extents_[d];
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    for (std::size_t d = 0; d < at.size(); ++d) index_.lanes(outer_[d])[lane] = at[d];
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < extents_[d]) break;
      at[d] = 0;
    }
  }
}

void KernelRun::run() {
  std::int64_t units = 1;
  for (std::int64_t e : extents_) units *= std::max<std::int64_t>(e, 0);
  index_.run(index_.kernel_code(), 1);
  for (std::int64_t first = 0; first < units; first += static_cast<std::int64_t>(kLanes)) {
    const auto lanes = static_cast<std::size_t>(std::min<std::int64_t>(units - first, kLanes));
    set_units(first, lanes);
    index_.run(index_.block_code(), lanes);
    for (PhaseCode& p : phases_) run_phase(p, lanes);
  }
}

void KernelRun::run_phase(PhaseCode& p, std::size_t lanes) {
  for (const Instr& i : p.code)
    if (i.kind == Instr::Kind::step || i.kind == Instr::Kind::scan) i.accumulator->reset(lanes);
  std::int64_t count = 1;
  for (std::int64_t e : p.extents) count *= std::max<std::int64_t>(e, 0);
  const std::size_t rank = p.extents.size();
  std::vector<std::int64_t> at(rank);
  for (std::size_t d = 0; d < rank; ++d) at[d] = p.reverse ? p.extents[d] - 1 : 0;
  for (std::int64_t n = 0; n < count; ++n) {
    for (std::size_t d = 0; d < rank; ++d) index_.set(p.inner[d], at[d]);
    for (const Instr& i : p.code) execute(i, lanes);
    for (const StoreInstr& s : p.stores) store(s, lanes);
    for (std::size_t d = rank; d-- > 0;) {
      if (p.reverse ? --at[d] >= 0 : ++at[d] < p.extents[d]) break;
      at[d] = p.reverse ? p.extents[d] - 1 : 0;
    }
  }
  for (const Instr& i : p.results) execute(i, lanes);
}

void KernelRun::execute(const Instr& i, std::size_t lanes) {
  switch (i.kind) {
    case Instr::Kind::index_node:
      return index_.run(i.node, lanes);
    case Instr::Kind::lanes:
      if (!i.fn(lanes, i.out, i.args[0], i.args[1], i.args[2])) {
        const auto [op, where] = origin_of(state_.program, i.value->origin, k_.name);
        throw UserError(fmt::format("{}: integer division by zero", op), where, "Make the divisor nonzero");
      }
      return;
    case Instr::Kind::load:
      return load(i, lanes);
    case Instr::Kind::index: {
      auto* out = static_cast<std::int64_t*>(i.out);
      for (std::size_t lane = 0; lane < lanes; ++lane) out[lane] = index_.at(i.slot, lane);
      return;
    }
    case Instr::Kind::bounded:
      return bounded(i, lanes);
    case Instr::Kind::random:
      return random(i, lanes);
    case Instr::Kind::step:
      return i.accumulator->step(lanes, i.args);
    case Instr::Kind::scan:
      i.accumulator->step(lanes, i.args);
      return i.accumulator->read(lanes, 0, i.out);
    case Instr::Kind::part:
      return i.accumulator->read(lanes, i.value->part, i.out);
  }
}

void KernelRun::check_address(BufferId buffer, std::int64_t address, std::string_view access) const {
  const Memory& m = state_.memory[static_cast<std::size_t>(buffer)];
  if (address < m.lo || address > m.hi) [[unlikely]]
    throw InternalError(fmt::format("kernel {}: {} {}[{}] is outside [{}, {}]", k_.name, access,
                                    state_.program.buffers[static_cast<std::size_t>(buffer)].name, address, m.lo,
                                    m.hi));
}

void KernelRun::load(const Instr& i, std::size_t lanes) {
  const Memory& m = state_.memory[static_cast<std::size_t>(i.value->buffer)];
  const auto gather = [&](auto zero) {
    using T = decltype(zero);
    auto* out = static_cast<T*>(i.fn ? static_cast<void*>(scratch_.data()) : i.out);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t address = index_.at(i.slot, lane);
      check_address(i.value->buffer, address, "load of");
      std::memcpy(out + lane, m.base + address * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    }
  };
  switch (byte_size(m.dtype)) {
    case 1:
      gather(std::uint8_t{});
      break;
    case 2:
      gather(std::uint16_t{});
      break;
    case 4:
      gather(std::uint32_t{});
      break;
    default:
      gather(std::uint64_t{});
  }
  if (i.fn) i.fn(lanes, i.out, scratch_.data(), nullptr, nullptr);
}

void KernelRun::store(const StoreInstr& i, std::size_t lanes) {
  index_.run(i.nodes, lanes);
  const Memory& m = state_.memory[static_cast<std::size_t>(i.store->buffer)];
  i.convert(lanes, scratch_.data(), i.value, nullptr, nullptr);
  const auto* from = reinterpret_cast<const char*>(scratch_.data());
  const auto size = static_cast<std::size_t>(byte_size(m.dtype));
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::int64_t address = index_.at(i.slot, lane);
    check_address(i.store->buffer, address, "store to");
    std::memcpy(m.base + address * static_cast<std::int64_t>(size), from + lane * size, size);
  }
}

void KernelRun::bounded(const Instr& i, std::size_t lanes) {
  const Dtype dtype = i.value->dtype;
  auto* symbol = index_.lanes(i.symbol_slot);
  cast_function(dtype, Dtype::i64)(lanes, symbol, i.args[0], nullptr, nullptr);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::int64_t bound = index_.at(i.slot, lane), given = symbol[lane];
    if (i.value->wraps_negative && given < 0) symbol[lane] += bound;
    if (i.value->checked && (symbol[lane] < 0 || symbol[lane] >= bound)) {
      const auto [op, where] = origin_of(state_.program, i.value->origin, k_.name);
      throw UserError(
          fmt::format("{}: index {} is out of range [{}, {})", op, given, i.value->wraps_negative ? -bound : 0, bound),
          where, "Give indices within the range");
    }
  }
  cast_function(Dtype::i64, dtype)(lanes, i.out, symbol, nullptr, nullptr);
}

void KernelRun::random(const Instr& i, std::size_t lanes) {
  const auto s = static_cast<std::size_t>(i.value->scalar);
  const Expr derived = state_.program.scalars[s].value;
  const auto seed = static_cast<std::uint64_t>(derived ? state_.value_of(derived) : state_.bindings.scalars_i64.at(s));
  auto* out = static_cast<float*>(i.out);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto element = static_cast<std::uint64_t>(index_.at(i.slot, lane));
    out[lane] = i.value->part == 1 ? base::random_normal(seed, element) : base::random_uniform(seed, element);
  }
}

}  // namespace

void run_kernel(const RunState& state, const Kernel& kernel) { KernelRun(state, kernel).run(); }

}  // namespace stax::loop
