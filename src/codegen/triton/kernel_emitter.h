// Prints one kernel. Blocks are [XBLOCK] or [YBLOCK, XBLOCK] for kernels without inner axes, [XBLOCK, R_BLOCK] in
// phases with inner axes and [XBLOCK, 1] in phases without. A value has the shape of the dimensions that it depends on;
// where it varies along none it is a scalar.
#pragma once
#include <functional>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "codegen/common/expr_text.h"
#include "codegen/triton/emit.h"

namespace stax::codegen {

using loop::CombineOp;
using loop::Expr;
using loop::InnerForm;
using loop::Kernel;
using loop::kNoValue;
using loop::Phase;
using loop::Program;
using loop::ScalarOp;
using loop::Store;
using loop::Value;
using loop::ValueId;

class TritonEmitter {
 public:
  TritonEmitter(const Program& p, const Kernel& k, const loop::TritonSchedule& s,
                const std::vector<std::string>& operators);
  TritonKernelText run();

 private:
  enum Dim : unsigned { kY = 1, kX = 2, kR = 4 };
  struct Site {
    const Phase* phase = nullptr;
    int number = 0;
    InnerForm form = InnerForm::none;
    unsigned full = 0;  // the dimensions of the phase
    bool may_be_empty = false;
  };

  // frame.cpp
  void find_dimensions();
  void find_reused_values();
  void find_needed_values();
  std::vector<TritonParameter> parameters() const;
  void emit_group(const std::vector<int>& group, char letter, const std::string& pid, const std::string& shape);
  void emit_axes(const std::vector<loop::Axis>& axes, const std::string& index);
  void emit_outer();
  void emit_phase(int number);
  void emit_inner_index(const Site& site, const std::string& offset);
  void emit_barrier(const Site& site);
  void emit_loop(const Site& site);
  std::string block_name(int phase) const { return block_names_[static_cast<std::size_t>(phase)]; }
  std::string shape_of(const Site& site, unsigned dims) const;
  std::string full_mask(const Site& site, unsigned dims) const;
  bool needs_mask(Expr length, std::int64_t block) const;

  // values.cpp
  void emit_value(const Site& site, ValueId id);
  void emit_load(const Site& site, ValueId id);
  void emit_bounded(const Site& site, ValueId id);
  void emit_random(const Site& site, ValueId id);
  void emit_operation(const Site& site, ValueId id);
  std::string_view share_pattern(const Value& v) const;
  bool is_below_maximum(const Value& e) const;
  void emit_store(const Site& site, const Store& s);
  std::string cast_text(const std::string& x, Dtype from, Dtype to) const;
  std::string integer_text(Expr e) const;  // as a typed i64
  std::string ok_mask(Expr e) const;       // of the bounded values that an address uses
  std::string ref(ValueId id) const;
  std::string broadcast(const Site& site, ValueId id) const;
  std::string broadcast_text(const Site& site, const std::string& text, unsigned dims) const;
  std::string note(const Value& v) const;
  bool is_shared(const Site& site, Expr address) const;
  unsigned dims_of(Expr e) const;
  unsigned dims_of(ValueId v) const { return dims_[static_cast<std::size_t>(v)]; }
  const Value& value(ValueId v) const { return k_.values[static_cast<std::size_t>(v)]; }
  std::string text_of(Expr e) const { return expr_(e, names_); }
  std::string bare(Expr e) const { return expr_.bare(e, names_); }
  void line(const std::string& text, const std::string& comment);

  // combine.cpp
  std::string combine_function(CombineOp op) const;
  std::vector<std::string> operands(const Site& site, const Value& v);  // one for each part, broadcast
  std::vector<std::string> identities(const Value& v) const;
  std::vector<std::string> part_names(ValueId id, const std::string& prefix) const;
  std::string type_of_part(const Value& v, int part) const;
  void emit_combine(const Site& site, ValueId id);  // persistent
  void emit_two_pass(const Site& site, ValueId id);
  void emit_scan(const Site& site, ValueId id);
  void declare_accumulators(const Site& site, ValueId id);
  void update_accumulators(const Site& site, ValueId id);
  void finish_accumulators(const Site& site, ValueId id);
  std::vector<std::string> masked(const Site& site, const Value& v, std::vector<std::string> x);
  bool reduces_to_scalar(const Site& site) const;
  std::string row_value(const Site& site, const std::string& x, const char* function, std::string_view type) const;
  void emit_reduce(const Site& site, ValueId id, std::vector<std::string> x);

  const Program& p_;
  const Kernel& k_;
  const loop::TritonSchedule& s_;
  const std::vector<std::string>& operators_;
  symbolic::Facts facts_;
  ExprText expr_;
  SymbolNames names_;
  base::TextWriter out_{4};
  bool has_inner_ = false, needs_error_ = false;
  std::vector<unsigned> dims_;
  std::vector<char> needed_;
  std::vector<std::string> block_names_;
  std::unordered_map<ValueId, ValueId> reused_;  // value of a later phase → the equal one of an earlier phase
  std::unordered_map<Expr, unsigned> axis_dims_;
  std::unordered_map<Expr, ValueId> bounded_;  // symbol → value
  std::string xmask_, ymask_;                  // empty: proven
  std::map<int, std::string> rmask_;           // by phase
};

}  // namespace stax::codegen
