// Builds the body of a kernel with local simplification: exact constant folding, common subexpressions, no float
// rewriting.
#pragma once
#include <unordered_map>

#include "loop/ir.h"
#include "loop/value_key.h"

namespace stax::loop {

class KernelBuilder {
 public:
  KernelBuilder(Program& program, std::string name);
  Program& program() { return program_; }

  // Axes get fresh symbols. Outer axes first, before any phase.
  Expr outer(Expr extent);
  std::vector<Expr> outer(const std::vector<Expr>& extents);
  void add_outer(Axis axis);  // with an existing symbol
  // Ends the current phase and begins another.
  std::vector<Expr> phase(const std::vector<Expr>& inner_extents = {});
  void phase_with(std::vector<Axis> inner);
  void set_origin(int origin) { origin_ = origin; }

  // Values. Operand dtypes must agree (use cast); equal values of a phase are made once. Without a phase they start one
  // that has no inner axes.
  ValueId constant(double v, Dtype dtype);
  ValueId constant_int(std::int64_t v, Dtype dtype);
  ValueId index(Expr e);  // i64
  ValueId load(BufferId buffer, Expr address);
  ValueId scalar(int position, Dtype dtype);  // converted from the host's dtype
  // An index expression that is provably in [0, bound) comes back as it is; symbol_of gives its expression.
  ValueId bounded(ValueId v, Expr bound, bool wraps_negative, bool checked = true);
  Expr symbol_of(ValueId bounded_value) const;
  ValueId random(int seed_scalar, Expr element, bool normal);  // f32
  ValueId unary(ScalarOp op, ValueId a);
  ValueId binary(ScalarOp op, ValueId a, ValueId b);
  ValueId select(ValueId condition, ValueId a, ValueId b);
  ValueId fma(ValueId a, ValueId b, ValueId c);
  ValueId cast(ValueId a, Dtype dtype);  // nothing when it has the dtype; half types: cast to f32 and round_to
  ValueId round_to(ValueId a, Dtype half);
  ValueId combine(CombineOp op, std::vector<ValueId> operands, Dtype dtype);
  ValueId scan(CombineOp op, std::vector<ValueId> operands, Dtype dtype, bool reverse = false);
  ValueId part(ValueId tuple, int which);
  ValueId append(const Value& v);  // any value, already remapped; `bounded` keeps its symbol
  // Casts to the compute dtype of the buffer. Loads of a phase see the buffers as they are before its stores.
  void store(BufferId buffer, Expr address, ValueId value);

  Dtype dtype_of(ValueId v) const { return kernel_.values[static_cast<std::size_t>(v)].dtype; }
  // The kernel without the values that no store and no check needs and without empty phases; the builder is spent.
  Kernel finish();

 private:
  ValueId make(Value v);
  ValueId emit(Value v);
  void begin_phase(std::vector<Axis> inner);
  void end_phase();
  Value operation(ScalarOp op, Dtype dtype, std::array<ValueId, 3> args) const;
  const Value& at(ValueId v) const { return kernel_.values[static_cast<std::size_t>(v)]; }
  std::optional<std::uint64_t> folded(const Value& v) const;
  ValueId simplified(const Value& v) const;
  bool proves_index(Expr e, Expr bound) const;

  Program& program_;
  Kernel kernel_;
  int origin_ = -1;
  bool open_ = false;          // a phase is being built
  ValueTable unit_, phase_;    // values of the unit; values of this phase
  std::vector<bool> visible_;  // by value: usable as an operand now
};

}  // namespace stax::loop
