// The functions of tests/golden/examples on a device against reference evaluation, at all their sizes.
//   device_examples [--device cuda]
#include <fmt/format.h>

#include "../golden/examples.h"
#include "../ops/op_case.h"
#include "common/execute.h"
#include "device/on_device.h"
#include "graph/interpret.h"
#include "runtime/device_runtime.h"

namespace {

using namespace stax;

// Empty when the results agree.
std::string check(const golden::Example& e, const graph::Graph& g, const std::vector<std::string>& dims,
                  Device device) {
  const tools::Inputs inputs = tools::gather_inputs(g, {{}, dims, {}});
  const std::vector<Array> tensors = inputs.tensors();
  const auto artifact = compiler::compile_graph(devicetest::on_device(g, device), {}, compiler::Session::of(""),
                                                devicetest::facts_of(tensors));
  std::vector<Array> expected;
  for (const tools::Result& r : tools::run_reference(g, inputs)) expected.push_back(r.array);
  const devicetest::Result result = devicetest::run(artifact->executable, device, tensors, inputs.scalars(), 0xff);
  if (!runtime::runtime_for(device).executes()) return {};
  return optest::difference(result.outputs, expected, e.tolerance);
}

}  // namespace

int main(int argc, char** argv) {
  const Device device = parse_device(devicetest::option(argc, argv, "--device", "cuda"));
  if (!devicetest::exists(device)) return devicetest::kSkipped;
  int failed = 0;
  for (const golden::Example& e : golden::examples()) {
    const graph::Graph g = graph::parse_graph(to_text(e.trace()));
    for (const std::vector<std::string>& dims : e.runs) {
      std::string problem;
      try {
        problem = check(e, g, dims, device);
      } catch (const std::exception& error) {
        problem = error.what();
      }
      failed += !problem.empty();
      fmt::print("{} {}: {}\n", e.name, fmt::join(dims, " "), problem.empty() ? "right" : problem);
    }
  }
  return failed == 0 ? 0 : 1;
}
