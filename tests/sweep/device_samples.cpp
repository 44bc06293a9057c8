// Every sample of every operator on a device against reference evaluation, with its sizes as numbers and as symbols.
//   device_samples [--device cuda] [--only OPERATOR] [--every N] [--threads N] [--out FILE]
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>

#include "../ops/op_case.h"
#include "base/thread_pool.h"
#include "compile/pipeline.h"
#include "device/on_device.h"
#include "runtime/device_runtime.h"

namespace {

using namespace stax;
using devicetest::option;

struct Run {
  optest::OpCase op_case;
  optest::Sizes sizes = optest::Sizes::numbers;
  optest::CaseGraph inputs;
  std::shared_ptr<const compiler::Artifact> artifact;
  std::string problem;
};

void compile(Run& r, Device device) {
  try {
    r.inputs = optest::build_graph(r.op_case, r.sizes);
    r.artifact = compiler::compile_graph(devicetest::on_device(r.inputs.graph, device), {}, compiler::Session::of(""),
                                         devicetest::facts_of(r.inputs.tensors));
  } catch (const std::exception& e) {
    r.problem = e.what();
  }
}

void check(Run& r, Device device) {
  if (!r.problem.empty()) return;
  try {
    const devicetest::Result result =
        devicetest::run(r.artifact->executable, device, r.inputs.tensors, r.inputs.scalar_values(), 0xff);
    if (result.outputs.empty() && !runtime::runtime_for(device).executes()) return;
    r.problem = optest::difference(result.outputs, optest::reference(r.op_case), r.op_case.sample.tolerance);
  } catch (const std::exception& e) {
    r.problem = e.what();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Device device = parse_device(option(argc, argv, "--device", "cuda"));
  if (!devicetest::exists(device)) return devicetest::kSkipped;
  const std::string only = option(argc, argv, "--only", "");
  const auto every = std::stoull(option(argc, argv, "--every", "1"));
  const int threads = std::stoi(option(argc, argv, "--threads", std::to_string(base::usable_cores())));
  const auto start = std::chrono::steady_clock::now();
  std::vector<Run> runs;
  for (const graph::OpDef* op : optest::tested_ops()) {
    if (!only.empty() && op->name != only) continue;
    std::size_t n = 0;
    for (const optest::OpCase& c : optest::cases_of(*op))
      for (const optest::Sizes sizes : {optest::Sizes::numbers, optest::Sizes::symbols})
        if (n++ % every == 0) runs.push_back({c, sizes, {}, nullptr, {}});
  }
  std::string text;
  std::map<std::string, int> failures;
  std::size_t kernels = 0, failed = 0;
  static constexpr std::size_t kBatch = 512;
  for (std::size_t begin = 0; begin < runs.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, runs.size() - begin);
    devicetest::in_parallel(threads, count, [&](std::size_t i) { compile(runs[begin + i], device); });
    for (std::size_t i = begin; i < begin + count; ++i) {
      Run& r = runs[i];
      check(r, device);
      if (r.artifact) kernels += r.artifact->kernels.size();
      r.artifact = nullptr;
      if (r.problem.empty()) continue;
      ++failed;
      if (++failures[r.op_case.op->name] > 4) continue;
      text += fmt::format("{} {}\n  {}\n", r.sizes == optest::Sizes::numbers ? "numbers" : "symbols", r.op_case.text(),
                          r.problem);
    }
  }
  for (const auto& [op, n] : failures) text += fmt::format("{}: {} failures\n", op, n);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  text = fmt::format("{}: {} runs of samples, {} kernels, {} wrong, {:.0f} s\n",
                     runtime::runtime_for(device).properties().name, runs.size(), kernels, failed, seconds) +
         text;
  std::fputs(text.c_str(), stdout);
  if (const std::string out = option(argc, argv, "--out", ""); !out.empty()) std::ofstream(out) << text;
  return failed == 0 ? 0 : 1;
}
