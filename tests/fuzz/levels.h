// One random graph run in every way, and the comparison of the results.
#pragma once
#include <stax/tensor/array.h>

#include <memory>

#include "compile/pipeline.h"
#include "loop/text.h"
#include "plan/executable.h"
#include "steps.h"

namespace stax::fuzz {

// What a call left behind: its outputs, and its inputs as they are afterwards.
struct Outcome {
  std::vector<Array> outputs, inputs;
};

class Case {
 public:
  explicit Case(const Recipe& r);  // throws what building or checking the graph throws

  const Recipe& recipe() const { return recipe_; }
  const FuzzGraph& graph() const { return graph_; }
  const compiler::Settings& settings() const { return settings_; }
  // Size lists that the artifact serves, the recipe's own first.
  const std::vector<std::vector<std::int64_t>>& sizes() const { return sizes_; }

  loop::Program lowered() const;
  // Fused and normalised; what pays is drawn from the seed, so that small graphs meet every form.
  loop::Program fused(const schedule::CpuTarget& target) const;
  schedule::CpuTarget target(int vector_bytes) const;

  Outcome reference(const std::vector<std::int64_t>& sizes) const;
  Outcome run(const loop::Program& p, const std::vector<std::int64_t>& sizes) const;
  // Memory that the artifact allocates is filled with `poison` first. Throws std::runtime_error when the guards refuse.
  Outcome run(const plan::Executable& e, const std::vector<std::int64_t>& sizes, int poison) const;

  // The arguments of a call, host scalars as arrays of rank 0.
  std::vector<Array> inputs(const std::vector<std::int64_t>& sizes) const;
  bool is_scalar(std::size_t input) const { return graph_.graph.inputs[input].type().scalar; }

  // Empty when they agree within the bounds; layouts of outputs, unwritten memory and unread gaps included.
  std::string difference(const Outcome& actual, const Outcome& expected, const std::vector<std::int64_t>& sizes) const;

 private:
  bool serves(const std::vector<std::int64_t>& sizes) const;
  bool views_written(std::size_t output) const;
  symbolic::Lookup lookup(const std::vector<Array>& inputs) const;

  Recipe recipe_;
  FuzzGraph graph_;
  compiler::Settings settings_;
  std::vector<std::vector<std::int64_t>> sizes_;
};

plan::ScalarValue scalar_value(const Array& a);  // of a host scalar

// Reference against loops as lowered against loops as fused, at every size; empty when all agree. `calls`, when given,
// counts the comparisons.
std::string check_loops(const Case& c, int* calls = nullptr);

}  // namespace stax::fuzz
