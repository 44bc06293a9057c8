// The samples of the catalogue as test cases: graphs of one operator, reference results, comparison.
#pragma once
#include <string>
#include <vector>

#include "graph/op_def.h"
#include "loop/text.h"
#include "plan/executable.h"

namespace stax::optest {

struct OpCase {
  const graph::OpDef* op = nullptr;
  graph::Sample sample;
  std::size_t number = 0;  // among the operator's samples

  bool is_scalar(std::size_t operand) const { return operand < sample.scalars.size() && sample.scalars[operand]; }
  std::string text() const;  // "add[3] (edge shape): f32[3, 17] strides [17, 1], …; axis=1"
};
std::vector<OpCase> cases_of(const graph::OpDef& op);
// Operators that a user or a pass can apply: all but the graph's own nodes (input, literal, size).
std::vector<const graph::OpDef*> tested_ops();

enum class Sizes : std::uint8_t { numbers, symbols };
// The operator applied to the sample's operands, all results being outputs. With numbers, host scalars are literals;
// with symbols, they are inputs, every size from 2 up is a symbol (equal sizes share one, as tracing does), and size
// attributes that name such a size are that symbol.
struct CaseGraph {
  graph::Graph graph;
  std::vector<Array> tensors;  // tensor inputs
  std::vector<Array> scalars;  // host scalar inputs
  std::vector<plan::ScalarValue> scalar_values() const;
  std::vector<const Array*> tensor_pointers() const;
};
CaseGraph build_graph(const OpCase& c, Sizes sizes);

std::vector<Array> reference(const OpCase& c);
// Runs a program by the loop interpreter; size symbols have the values of their hints.
std::vector<Array> run_loops(const loop::Program& p, const CaseGraph& g);

// Empty when equal: dtype, sizes, strides, and every element. Tolerance 0: bit for bit, any NaN being equal to any NaN.
// Else |actual - expected| <= tolerance · (1 + |expected|), infinities equal.
std::string difference(const Array& actual, const Array& expected, double tolerance);
std::string difference(const std::vector<Array>& actual, const std::vector<Array>& expected, double tolerance);

}  // namespace stax::optest
