// The operator graph: what the user wrote, with symbolic sizes and strides.
#pragma once
#include <stax/base/error.h>
#include <stax/tensor/array.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/attribute.h"
#include "symbolic/shape_env.h"

namespace stax::graph {

struct OpDef;
struct Node;

struct TensorType {
  Dtype dtype = Dtype::f32;
  Device device;
  std::vector<Expr> sizes, strides;  // in elements
  bool scalar = false;               // a host scalar: rank 0, weak in promotion, lives in no memory

  int rank() const { return static_cast<int>(sizes.size()); }
  bool operator==(const TensorType&) const = default;
};

// One result of a node. Null node: an optional operand that is absent.
struct Value {
  Node* node = nullptr;
  int result = 0;
  const TensorType& type() const;
  explicit operator bool() const { return node != nullptr; }
  bool operator==(const Value&) const = default;
};

struct Node {
  int id = 0;
  const OpDef* op = nullptr;
  std::vector<Value> operands;
  Attributes attributes;
  std::vector<TensorType> types;  // of the results
  Expr view_offset;               // view operators: elements from the operand's first element
  SourceLoc where;

  Value value(int result = 0) { return Value{this, result}; }
};
inline const TensorType& Value::type() const { return node->types[static_cast<std::size_t>(result)]; }

// The value at the end of the chain of views that `v` is: what owns the memory, as far as the graph says.
Value viewed(Value v);

// What the graph does to an input besides reading it.
struct Mutation {
  int input;    // position among the inputs
  Value value;  // its contents at the end; same sizes and dtype
};

// Nodes live as long as the graph and never move. Copy with `clone`.
class Graph {
 public:
  Graph() : Graph(std::make_shared<symbolic::Context>()) {}
  explicit Graph(std::shared_ptr<symbolic::Context> context)
      : context_(std::move(context)), env_(std::make_shared<symbolic::ShapeEnv>(*context_)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  symbolic::Context& context() const { return *context_; }
  const std::shared_ptr<symbolic::Context>& shared_context() const { return context_; }
  symbolic::ShapeEnv& env() const { return *env_; }
  void share_env(const Graph& other) {
    context_ = other.context_;
    env_ = other.env_;
  }

  std::string name = "graph";
  std::vector<Value> inputs;  // tensors and host scalars, in order: nodes of the operator `input`
  std::vector<std::string> input_names;
  std::vector<Value> outputs;
  std::vector<Mutation> mutations;
  // For each output: the written input whose memory it is, or -1. May be shorter than `outputs`. Such an output is the
  // input or a chain of views of it, and shows what was written.
  std::vector<int> output_inputs;
  int output_input(std::size_t output) const { return output < output_inputs.size() ? output_inputs[output] : -1; }

  // Appends a node with inferred types. Operands must belong to this graph. Errors of inference are UserErrors at
  // `where`.
  Value add(const OpDef& op, std::vector<Value> operands, Attributes attributes, SourceLoc where = {});
  std::vector<Value> add_all(const OpDef& op, std::vector<Value> operands, Attributes attributes, SourceLoc where = {});
  Value add(std::string_view op, std::vector<Value> operands, Attributes attributes = {}, SourceLoc where = {});
  std::vector<Value> add_all(std::string_view op, std::vector<Value> operands, Attributes attributes = {},
                             SourceLoc where = {});
  Value add_input(std::string name, TensorType type, SourceLoc where = {});
  // Host scalars: a literal, or a size used as a number.
  Value literal(bool v);
  Value literal(std::int64_t v);
  Value literal(double v);
  Value size_value(Expr e);
  // Appends with the given types, not inferred: for copies.
  Node* append(const OpDef& op, std::vector<Value> operands, Attributes attributes, std::vector<TensorType> types,
               SourceLoc where);

  const std::vector<Node*>& nodes() const { return order_; }  // in execution order, inputs included
  void set_nodes(std::vector<Node*> order) { order_ = std::move(order); }
  std::vector<Value> tensor_inputs() const;
  std::vector<Value> scalar_inputs() const;

 private:
  std::shared_ptr<symbolic::Context> context_;
  std::shared_ptr<symbolic::ShapeEnv> env_;
  std::deque<Node> storage_;
  std::vector<Node*> order_;
  int next_id_ = 0;
};

// Rebuilds a graph node by node into `to` (which shares the context): `visit` returns the replacement results of a
// node, or an empty vector to copy it. Inputs, outputs and mutations are carried over.
using Rewriter = std::function<std::vector<Value>(Graph& to, const Node& node, const std::vector<Value>& operands)>;
Graph rewrite(const Graph& from, const Rewriter& visit);

}  // namespace stax::graph
