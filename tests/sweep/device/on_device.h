// Graphs and arrays moved to a device, for comparisons of what it computes with the reference.
#pragma once
#include <stax/tensor/array.h>

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "compile/pipeline.h"
#include "graph/graph.h"
#include "plan/executable.h"

namespace stax::devicetest {

// The graph with all its tensors on `device`.
graph::Graph on_device(const graph::Graph& g, Device device);

// A copy in a storage of its own with the same layout; the memory around the elements comes along.
Array moved(const Array& a, Device to);

// What a compile for these inputs may count on: their first elements' alignment in storages that are aligned
// themselves.
compiler::CallFacts facts_of(std::span<const Array> inputs);

struct Result {
  std::vector<Array> outputs, inputs;  // on the CPU; inputs as they are afterwards
};
// A guard that the artifact's promises need does not hold: an artifact without promises serves the call.
struct PromiseFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Checks the guards (PromiseFailed, or std::runtime_error with the reason when another refuses) and runs on copies of
// the inputs; the device memory that the call gets holds `poison` in every byte.
Result run(const plan::Executable& e, Device device, std::span<const Array> inputs,
           std::span<const plan::ScalarValue> scalars, int poison);

// Calls job(0) … job(count - 1) on `threads` threads.
void in_parallel(int threads, std::size_t count, const std::function<void(std::size_t)>& job);

// Value of `--name VALUE`; `otherwise` when it is not given.
std::string option(int argc, char** argv, const std::string& name, const std::string& otherwise);

// What a program ends with where the device does not exist: it says so, and ctest counts it as skipped.
inline constexpr int kSkipped = 77;
bool exists(Device device);

}  // namespace stax::devicetest
