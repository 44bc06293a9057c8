// Runs one function over tensors in every form that Stax has: eager, as a graph, as loops, fused, compiled.
#pragma once
#include <gtest/gtest.h>
#include <stax/frontend/graph.h>
#include <stax/stax.h>

#include <functional>
#include <string>
#include <vector>

namespace stax::optest {

using Tensors = std::vector<Tensor>;
using TensorFunction = std::function<Tensors(Tensors)>;

// How one form is called and what it gave.
struct FormResult {
  std::string form;
  Tensors outputs, inputs;  // inputs after the call: written ones have changed
};
// `inputs` are not written: every form gets copies of its own, with their layout.
std::vector<FormResult> run_forms(const TensorFunction& f, const Tensors& inputs);

// The outputs of every form have the dtype, shape and bits of `expected` (any NaN equals any NaN). `tolerance` as in
// difference().
void expect_forms(const TensorFunction& f, const Tensors& inputs, const Tensors& expected, double tolerance = 0);

}  // namespace stax::optest
