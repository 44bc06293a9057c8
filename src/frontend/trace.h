// A running trace: the graph that grows while the user's function runs on stand-ins.
#pragma once
#include <stax/frontend/tensor.h>

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "graph/op_def.h"
#include "plan/guard.h"

namespace stax::frontend {

class Trace;

// One view operator of the chain from a tensor's memory to the tensor.
struct ViewStep {
  const graph::OpDef* op;
  graph::Attributes attributes;
  SourceLoc where;
};

// What tensors that share memory have in common inside a trace: the value of the whole, replaced at every write.
struct Cell {
  graph::Value value;
  int version = 0;
  int input = -1;  // graph input that this memory is, or -1
};

struct TensorImpl {
  Array array;  // concrete tensors
  // Traced ones.
  std::uint64_t trace = 0;
  std::shared_ptr<Cell> cell;
  std::vector<ViewStep> chain;
  graph::Value value;
  int version = 0;  // of the cell when `value` was made
};

// Thrown through the user's function when it reads a value that tracing does not have; the caller runs it operator by
// operator.
struct GraphBreak {
  std::string reason;
  SourceLoc where;
};

// Which sizes of an input become symbols.
struct InputSpec {
  std::string name;
  std::vector<bool> dynamic;  // by axis; empty: none
};

class Trace {
 public:
  Trace(bool fullgraph, std::string name);
  // Makes this the running trace of the thread; traces nest.
  class Scope {
   public:
    explicit Scope(Trace& t);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
  static Trace* current();
  // The running trace, which must be the one that made a symbolic value: UserError for one that escaped.
  static Trace& expect(std::uint64_t id, const char* what, const SourceLoc& where);

  graph::Graph& graph() { return *graph_; }
  std::shared_ptr<graph::Graph> shared_graph() { return graph_; }
  symbolic::ShapeEnv& env() { return graph_->env(); }
  std::uint64_t id() const { return id_; }
  bool fullgraph() const { return fullgraph_; }

  Tensor add_input(const InputSpec& spec, const Array& sample, const SourceLoc& where);
  Scalar add_scalar(const std::string& name, const Scalar& value);
  // Inputs that were not arguments: tensors that the function captured, in graph order after the arguments.
  const std::vector<Tensor>& captured() const { return captured_; }
  // Guards on scalar inputs.
  const std::vector<plan::Guard>& scalar_guards() const { return scalar_guards_; }
  bool compare_scalar(const Scalar& s, plan::Guard::Comparison c, const Scalar& with, const SourceLoc& where);

  graph::Value value_of(const Tensor& t, const SourceLoc& where);
  graph::Value value_of(const Scalar& s, const SourceLoc& where);
  std::vector<Tensor> apply(const graph::OpDef& op, std::vector<graph::Value> operands, graph::Attributes attributes,
                            const Tensor* view_of, const SourceLoc& where);
  void write(const Tensor& target, const Tensor& source, const SourceLoc& where);
  void write(const Tensor& target, const Scalar& value, const SourceLoc& where);

  symbolic::Expr expr_of(const Dim& d, const SourceLoc& where);
  Dim dim_of(symbolic::Expr e) const;
  Tensor wrap(graph::Value v);

  // Outputs and writes enter the graph; the trace is over.
  void finish(const std::vector<Tensor>& results);

 private:
  void store(TensorImpl& target, graph::Value source, const char* what, const SourceLoc& where);
  graph::Value current_value(TensorImpl& t, const SourceLoc& where);
  graph::Value view_of_written_input(const TensorImpl& t);
  graph::Value replay(graph::Value base, const std::vector<ViewStep>& chain, symbolic::Expr& offset);
  TensorImpl& traced(const Tensor& t, const SourceLoc& where);

  std::shared_ptr<graph::Graph> graph_;
  std::uint64_t id_;
  bool fullgraph_;
  std::vector<Tensor> captured_;
  std::unordered_map<const TensorImpl*, Tensor> stand_ins_;   // captured tensor → its stand-in
  std::vector<std::shared_ptr<Cell>> cells_;                  // of the inputs, by graph input (null for scalars)
  std::unordered_map<std::int64_t, symbolic::Expr> by_hint_;  // equal hints share a symbol
  std::vector<plan::Guard> scalar_guards_;
  std::vector<graph::Value> scalar_values_;
};

}  // namespace stax::frontend
