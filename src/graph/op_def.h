// The definition of an operator: everything that Stax knows about it, in one place.
#pragma once
#include <functional>
#include <optional>
#include <span>

#include "graph/graph.h"
#include "loop/builder.h"

namespace stax::graph {

enum class ParamKind : std::uint8_t {
  tensor,
  optional_tensor,
  tensor_list,  // operands, in order; a list takes all remaining operands
  operand,      // a tensor or a host scalar
  boolean,
  integer,
  floating,
  string,
  dtype,
  optional_dtype,
  dim,
  optional_dim,
  dims,  // sizes: numbers or expressions
  axis,
  axes,
  optional_axes,  // axis numbers, negative from the end
};

struct Param {
  std::string name;
  ParamKind kind;
  std::optional<Attribute> default_value;  // none: required
  std::string doc;
};

class InferContext;
class LowerContext;
class EvalContext;

// What a view operator yields, in terms of its first operand: same memory, other sizes, strides and offset (in
// elements, from the operand's first element).
struct ViewMap {
  std::vector<Expr> sizes, strides;
  Expr offset;
};

// One test case. Operands are concrete arrays (an undefined Array is an absent optional operand, scalars are rank-0
// arrays marked as such).
struct Sample {
  std::vector<Array> operands;
  std::vector<bool> scalars;  // which operands are host scalars; may be shorter than operands
  Attributes attributes;      // sizes as numbers
  double tolerance = 0;       // relative to 1 + |expected|; 0: exact
  std::string note;
};

struct OpDef {
  std::string name;
  std::string doc{};
  std::vector<Param> params{};
  std::vector<std::string> results = {"result"};
  bool method = false;       // also a member of Tensor
  bool internal = false;     // made by passes and decompositions only: not in the public API
  bool handwritten = false;  // its public declaration is not generated from the schema

  // Result types; not for view operators. Throws UserError through the context.
  std::function<std::vector<TensorType>(InferContext&)> infer = {};
  // Replaces the operator while the graph is built, where strides decide what it is (a reshape is a view or a copy):
  // returns the results, or nothing to keep the operator itself.
  std::function<std::vector<Value>(Graph&, InferContext&)> build = {};
  // View operators only: how the result sees the operand.
  std::function<ViewMap(InferContext&)> view = {};
  // Exactly one of: rewriting into other operators, or lowering to loops. View operators need neither.
  std::function<std::vector<Value>(Graph&, const Node&, const std::vector<Value>& operands)> decompose = {};
  std::function<void(LowerContext&, const Node&)> lower = {};
  // Reference evaluation, independent of loops. Absent: by decomposition.
  std::function<std::vector<Array>(EvalContext&)> evaluate = {};
  std::function<std::vector<Sample>()> samples = {};

  bool is_view() const { return static_cast<bool>(view); }
  const Param* find_param(std::string_view name) const;
};

// The catalogue. `ops` registers into it; lookups are thread-safe after that.
void register_op(OpDef def);
const OpDef* find_op(std::string_view name);
const OpDef& op(std::string_view name);  // UserError with near names when unknown
std::vector<const OpDef*> all_ops();     // sorted by name

// Access to operands and attributes of one application, with error messages that begin with the operator's name.
class InferContext {
 public:
  InferContext(const OpDef& op, std::span<const Value> operands, const Attributes& attributes, symbolic::ShapeEnv& env,
               SourceLoc where)
      : op_(op), operands_(operands), attributes_(attributes), env_(env), where_(std::move(where)) {}

  const OpDef& op() const { return op_; }
  symbolic::ShapeEnv& env() const { return env_; }
  symbolic::Context& context() const { return env_.context(); }
  const SourceLoc& where() const { return where_; }
  std::size_t operand_count() const { return operands_.size(); }
  bool has(std::size_t i) const { return i < operands_.size() && operands_[i]; }
  const TensorType& type(std::size_t i) const { return operands_[i].type(); }
  std::span<const Value> operands() const { return operands_; }

  const Attribute& attribute(std::string_view name) const;  // its default where not given
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double floating(std::string_view name) const;
  std::string string(std::string_view name) const;
  Dtype dtype(std::string_view name) const;
  std::optional<Dtype> optional_dtype(std::string_view name) const;
  Expr dim(std::string_view name) const;
  std::optional<Expr> optional_dim(std::string_view name) const;
  std::vector<Expr> dims(std::string_view name) const;
  // In [0, rank); UserError "NAME: axis 2 is out of range for rank 2".
  int axis(std::string_view name, int rank) const;
  int checked_axis(std::int64_t axis, int rank) const;
  std::vector<int> axes(std::string_view name, int rank) const;  // sorted, no duplicates; None or empty: all
  bool none(std::string_view name) const;

  // NumPy broadcasting with decisions on symbolic sizes (guards recorded); error names both shapes.
  std::vector<Expr> broadcast(std::span<const std::vector<Expr>> shapes) const;
  std::vector<Expr> broadcast_operands() const;  // of all operands
  Dtype promoted() const;                        // of all operands
  Device device() const;                         // of the operands; error names the argument that differs
  // Row-major strides; or the layout rule of pointwise results (see strides_for_pointwise).
  std::vector<Expr> row_major(const std::vector<Expr>& sizes) const;
  std::vector<Expr> pointwise_strides(const std::vector<Expr>& sizes) const;
  TensorType pointwise_type(Dtype dtype) const;  // broadcast sizes, pointwise strides
  TensorType contiguous_type(Dtype dtype, std::vector<Expr> sizes) const;

  bool decide(symbolic::Bool condition, std::string_view reason) const {
    return env_.decide(condition, std::string(op_.name) + ": " + std::string(reason), where_);
  }
  [[noreturn]] void error(std::string what, std::string remedy = {}) const;  // UserError "NAME: what at where. remedy"

 private:
  const OpDef& op_;
  std::span<const Value> operands_;
  const Attributes& attributes_;
  symbolic::ShapeEnv& env_;
  SourceLoc where_;
};

std::vector<Expr> row_major_strides(symbolic::Context& context, const std::vector<Expr>& sizes);
std::string size_text(Expr size);                        // "128"; with its hint where symbolic: "s0 (=64)"
std::string shape_text(const std::vector<Expr>& sizes);  // "[s0, 128]", with hints where symbolic: "[s0 (=64), 128]"

// Lowering of one graph to a loop program: where each value lives, and helpers for the common forms.
class LowerContext {
 public:
  LowerContext(loop::Program& program, const symbolic::ShapeEnv& env) : program_(program), env_(env) {}
  loop::Program& program() { return program_; }
  const symbolic::ShapeEnv& env() const { return env_; }
  symbolic::Context& context() { return *program_.context; }

  const loop::View& view(const Value& v) const;  // of a tensor value
  void bind(const Value& v, loop::View view);
  int scalar_position(const Value& v) const;  // of a host scalar input
  int scalar_slot(const Value& v);            // of any host scalar: a literal or size becomes a derived scalar
  void bind_scalar(const Value& v, int position);
  // A temporary buffer with the type's layout, bound to the value.
  loop::View make_result(const Value& v);
  loop::BufferId add_buffer(Dtype dtype, std::vector<Expr> sizes, std::vector<Expr> strides);
  int origin(const Node& node);  // entry of Program::origins
  // `index_checks`: CompileOptions::checks
  bool checks = true;

  // Proven, of the size itself or by what was decided while tracing: the axis does not move in a broadcast.
  bool is_one(Expr size) const;
  Expr address(const loop::View& view, std::span<const Expr> index) const;
  // Element of an operand at `index` of the broadcast shape (aligned at the last axis; size-1 axes do not move), as a
  // value of `dtype`; host scalars, literals and sizes included.
  loop::ValueId operand(loop::KernelBuilder& k, const Value& v, std::span<const Expr> index, Dtype dtype);
  // result[i…] = body(index), one pointwise kernel.
  void pointwise(const Node& node,
                 const std::function<loop::ValueId(loop::KernelBuilder&, std::span<const Expr>)>& body);
  void emit(loop::Item item);

 private:
  loop::Program& program_;
  const symbolic::ShapeEnv& env_;
  std::map<std::pair<const Node*, int>, loop::View> views_;
  std::map<const Node*, int> scalars_;
};

// Reference evaluation of one node with concrete arrays. The node belongs to a graph whose sizes are all constants.
class EvalContext {
 public:
  EvalContext(const Node& node, std::vector<Array> operands, InferContext& attributes)
      : node_(node), operands_(std::move(operands)), attributes_(attributes) {}
  const Node& node() const { return node_; }
  const Array& operand(std::size_t i) const { return operands_[i]; }
  bool has(std::size_t i) const { return i < operands_.size() && operands_[i].defined(); }
  std::size_t operand_count() const { return operands_.size(); }
  const InferContext& attributes() const { return attributes_; }
  std::vector<std::int64_t> dims(std::string_view name) const;  // a size attribute as numbers
  std::vector<std::int64_t> result_sizes(std::size_t i = 0) const;
  Dtype result_dtype(std::size_t i = 0) const { return node_.types[i].dtype; }
  Array make_result(std::size_t i = 0) const;  // uninitialised, with the inferred strides
  [[noreturn]] void error(std::string what, std::string remedy = {}) const {
    attributes_.error(std::move(what), std::move(remedy));
  }

 private:
  const Node& node_;
  std::vector<Array> operands_;
  InferContext& attributes_;
};
Array broadcast_to(const Array& a, std::span<const std::int64_t> sizes);  // a view with stride 0 on the new axes

}  // namespace stax::graph
