// Where each phase of two aligned kernels goes in the joined one, and how loads of stored buffers are served.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fusion/align.h"
#include "loop/address_solve.h"

namespace stax::fusion {

struct Fragment {
  int which;  // kernel 0 or 1
  int phase;
};

// One phase of the joined kernel.
struct Slot {
  std::vector<loop::Axis> inner;
  std::vector<Fragment> fragments;
  bool combines = false, scans = false;
};

struct StoreRef {
  int which, phase;
  loop::ValueId value;
  loop::Expr index;
};

// How a load of a buffer that an earlier phase stores gets its value.
struct Passed {
  StoreRef store;
  loop::Solution solution;
  bool read_back = false;  // from memory, unless the value is at hand
};

class Placement {
 public:
  static std::optional<Placement> make(const loop::Program& program, const Aligned& kernels,
                                       const std::function<bool(loop::BufferId)>& needed_elsewhere,
                                       std::string& reason);

  const loop::Kernel& kernel(int which) const { return which == 0 ? kernels_->a : kernels_->b; }
  const loop::Phase& phase(const Fragment& f) const {
    return kernel(f.which).phases[static_cast<std::size_t>(f.phase)];
  }
  const std::vector<Slot>& slots() const { return slots_; }
  int slot_of(int which, int phase) const { return slot_[which][static_cast<std::size_t>(phase)]; }
  // A value of a phase without inner axes, or a combine result.
  bool is_unit_value(int which, loop::ValueId v) const { return unit_[which][static_cast<std::size_t>(v)]; }
  std::optional<Passed> passed(int which, loop::ValueId load) const;
  // Stores to the loaded buffer that come after the load in the program.
  std::vector<StoreRef> later_stores(int which, loop::ValueId load) const;
  bool stays_in_unit(const StoreRef& store, loop::Expr address, const std::vector<loop::Axis>& inner) const;
  const std::unordered_map<loop::Expr, loop::ValueId>& bounded_symbols(int which) const { return bounded_[which]; }

 private:
  Placement(const loop::Program& program, const Aligned& kernels) : program_(&program), kernels_(&kernels) {}
  void index(int which);
  bool serve_loads(const std::function<bool(loop::BufferId)>& needed_elsewhere, std::string& reason);
  bool costs_more_than_a_load(const StoreRef& store) const;
  void place();
  int first_slot(const Fragment& f);
  int ready(int which, loop::ValueId v);
  void add(Slot& slot, const Fragment& f);

  const loop::Program* program_;
  const Aligned* kernels_;
  std::vector<Slot> slots_;
  std::vector<int> slot_[2];   // by phase
  std::vector<bool> unit_[2];  // by value
  std::vector<int> ready_[2];  // by value: first slot that can have it, -1 not known yet
  std::map<loop::BufferId, std::vector<StoreRef>> stores_;
  std::map<std::pair<int, loop::ValueId>, Passed> passed_;
  std::unordered_map<loop::Expr, loop::ValueId> bounded_[2];
};

}  // namespace stax::fusion
