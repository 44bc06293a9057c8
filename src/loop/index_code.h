// Index expressions compiled to instructions over slots, each a number or one number per lane.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "loop/ir.h"

namespace stax::loop {

inline constexpr std::size_t kLanes = 256;

class IndexCode {
 public:
  struct Instr {
    symbolic::Op op;
    int out;
    std::vector<int> operands;
  };
  using Code = std::vector<Instr>;

  // When a symbol changes: with the block of units, or within a phase.
  enum class Level : std::uint8_t { kernel, block, phase };
  int add_symbol(Expr symbol, Level level, bool per_lane);
  void set(int slot, std::int64_t v) { slots_[static_cast<std::size_t>(slot)].number = v; }
  std::int64_t* lanes(int slot) { return slots_[static_cast<std::size_t>(slot)].lanes.data(); }
  bool per_lane(int slot) const { return slots_[static_cast<std::size_t>(slot)].per_lane; }
  std::int64_t at(int slot, std::size_t lane) const {
    const Slot& s = slots_[static_cast<std::size_t>(slot)];
    return s.per_lane ? s.lanes[lane] : s.number;
  }

  // The slot of an expression; its instructions go to the code of its level, at most once in each phase.
  int compile(Expr e, Code& phase_code);
  void begin_phase() { in_phase_.clear(); }
  Code& kernel_code() { return kernel_code_; }
  Code& block_code() { return block_code_; }

  // Throws UserError on division by zero.
  void run(const Instr& instr, std::size_t lanes);
  void run(const Code& code, std::size_t lanes) {
    for (const Instr& i : code) run(i, lanes);
  }

 private:
  struct Slot {
    Level level = Level::kernel;
    bool per_lane = false;
    std::int64_t number = 0;
    std::vector<std::int64_t> lanes;
  };
  std::vector<Slot> slots_;
  std::unordered_map<Expr, int> slot_of_;
  std::unordered_set<int> in_phase_;  // emitted in the current phase
  Code kernel_code_, block_code_;
};

}  // namespace stax::loop
