// Arrays for the inputs of a graph or loop program: from npy files, or made.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "loop/text.h"
#include "plan/executable.h"

namespace stax::tools {

using symbolic::Expr;

// What the command line says.
struct InputOptions {
  std::vector<std::string> files;    // "FILE.npy" for the next tensor input, or "NAME=FILE.npy"
  std::vector<std::string> dims;     // "s0=17"
  std::vector<std::string> scalars;  // "c0=2.5"
};

struct InputSpec {
  std::string name;
  Dtype dtype = Dtype::f32;
  bool scalar = false;
  std::vector<Expr> sizes, strides;
};
// In the order of the graph's inputs; a program's tensors come first, then its scalars.
std::vector<InputSpec> input_specs(const graph::Graph& g);
std::vector<InputSpec> input_specs(const loop::Program& p);

struct Inputs {
  std::vector<InputSpec> specs;
  std::vector<Array> arrays;  // one a spec; scalars as rank-0 arrays of their dtype
  std::vector<bool> made;     // one a spec: not given, filled with numbers of a fixed seed

  std::map<std::string, std::int64_t> sizes;  // of the symbols, by name

  std::vector<Array> tensors() const;
  std::vector<plan::ScalarValue> scalars() const;
  loop::Bindings bindings(const loop::Program& p) const;
  std::int64_t value_of(Expr e) const;  // UserError when a symbol has no value
};

// Sizes come from the files, then from --dim, then from the hints. A tensor without a file gets numbers of a fixed
// seed: normal ones, 1 to 3 for integers, both truth values. UserError for files and sizes that do not fit.
Inputs gather_inputs(const graph::Graph& g, const InputOptions& options);
Inputs gather_inputs(const loop::Program& p, const InputOptions& options);
// One line an input: "input x: f32[64, 128] from a.npy".
std::string describe(const Inputs& inputs);

}  // namespace stax::tools
