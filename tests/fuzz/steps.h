// From a recipe to a graph, with what is known of every value.
#pragma once
#include <cmath>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "recipe.h"

namespace stax::fuzz {

using graph::Attribute;
using graph::Attributes;
using graph::Graph;
using graph::Value;
using symbolic::Expr;

// What every way of running must give. exact: the same bits (any NaN is any NaN). whole: whole numbers of magnitude at
// most `magnitude`, so that sums are exact while they fit the mantissa. error: bound of |actual - reference|, 0 when
// exact. magnitude is infinite where special values may occur.
struct Facts {
  bool exact = true, whole = false;
  double magnitude = 0, error = 0;
  bool finite() const { return std::isfinite(magnitude); }
};

struct Known {
  Value value;
  Facts facts;
};

struct FuzzGraph {
  Graph graph;
  std::vector<Expr> sizes;             // of Recipe::sizes: numbers or symbols
  std::vector<int> inputs;             // which recipe inputs became graph inputs, in order
  std::vector<Facts> outputs, writes;  // of the graph's outputs and mutations
};

// Catches UserErrors of single steps: such a step is bypassed.
FuzzGraph build_graph(const Recipe& r);
// Which values an output or write needs.
std::vector<bool> live_values(const Recipe& r);
int draw_step_kind(Random& r);

// Builds step by step. A step function returns nothing when it does not apply: the value is then operand a.
class Builder {
 public:
  Builder(const Recipe& r, Graph& g, std::vector<Known>& values) : r_(r), g_(g), values_(values) {}

  std::optional<Known> apply(const Step& s);

  Graph& graph() { return g_; }
  const Known& value(int i) const { return values_[static_cast<std::size_t>(i)]; }

  // Helpers of the step functions.
  Known add(std::string_view op, std::vector<Value> operands, Attributes attributes, Facts facts);
  std::optional<Known> checked(Known k) const;  // nothing when the bounds say too little or the value is too large
  Known as_float(const Known& k);               // integers and booleans of small magnitude become f32
  Known tame(const Known& k);                   // integers small enough for every float type
  Known bounded(const Known& k, double limit);  // clamped unless within [-limit, limit] already
  // A value that broadcasts with `a`: near position b of the values, else value b cut to fit, else `a` itself.
  Known partner(const Known& a, int b);
  std::optional<Known> fitted(const Known& b, const std::vector<Expr>& sizes);
  Known literal(double v);
  Known literal(std::int64_t v);

  static double bound_of(Expr e);  // of a size, over all sizes that a dynamic graph is run at
  std::int64_t hint(Expr e) const;
  bool is_empty(const Known& k) const;

 private:
  const Recipe& r_;
  Graph& g_;
  std::vector<Known>& values_;
};

inline const graph::TensorType& type_of(const Known& k) { return k.value.type(); }
inline int rank_of(const Known& k) { return k.value.type().rank(); }
double epsilon(Dtype t);      // half a unit in the last place of 1; 0 for integers
double exact_limit(Dtype t);  // whole numbers up to here are exact sums in the dtype
double largest(Dtype t);      // bound above which inexact values are not followed; integers: the largest value
Facts rounded(Facts f, Dtype t, double steps = 1);  // adds the rounding of a result of dtype t

using StepFunction = std::optional<Known> (*)(Builder&, const Step&, Random&);
struct StepKind {
  const char* name;
  int weight;
  StepFunction apply;
};
const std::vector<StepKind>& step_kinds();
std::vector<StepKind> pointwise_steps();
std::vector<StepKind> view_steps();
std::vector<StepKind> reduction_steps();
std::vector<StepKind> other_steps();

}  // namespace stax::fuzz
