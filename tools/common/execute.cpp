#include "common/execute.h"

#include <fmt/format.h>
#include <stax/tensor/io.h>

#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "compile/assemble.h"
#include "graph/interpret.h"
#include "runtime/transfer.h"

namespace stax::tools {

namespace {

std::vector<Result> named(std::vector<Array> outputs) {
  std::vector<Result> results;
  for (Array& a : outputs) results.push_back({fmt::format("out{}", results.size()), std::move(a)});
  return results;
}

// A graph that has the program's inputs and sizes and nothing else.
graph::Graph shell_of(const loop::Program& p, Device device) {
  graph::Graph g(p.context);
  g.name = p.name;
  std::vector<graph::TensorType> types(p.buffers.size());
  for (std::size_t i = 0; i < p.buffers.size(); ++i) {
    const loop::Buffer& b = p.buffers[i];
    if (b.kind != loop::BufferKind::input) continue;
    if (b.input != static_cast<int>(g.inputs.size()) || i != g.inputs.size())
      throw UserError(fmt::format("program {}: buffer {} is input {}", p.name, b.name, b.input), {},
                      "To be compiled, the inputs must be the first buffers, in order");
    g.add_input(b.name, {b.dtype, device, b.sizes, b.strides, false});
  }
  for (const loop::ScalarInput& s : p.scalars)
    if (!s.value) g.add_input(s.name, {s.dtype, {}, {}, {}, true});
  return g;
}

}  // namespace

std::vector<Result> run_reference(const graph::Graph& g, const Inputs& inputs) {
  std::vector<Result> results = named(graph::interpret(g, inputs.arrays));
  for (const graph::Mutation& m : g.mutations)
    results.push_back(
        {g.input_names[static_cast<std::size_t>(m.input)], inputs.arrays[static_cast<std::size_t>(m.input)]});
  return results;
}

std::vector<Result> run_loops(const loop::Program& p, const Inputs& inputs) {
  const loop::Bindings bindings = inputs.bindings(p);
  std::vector<Result> results = named(loop::interpret(p, bindings));
  for (const loop::Buffer& b : p.buffers)
    if (b.written_input)
      results.push_back(
          {inputs.specs[static_cast<std::size_t>(b.input)].name, bindings.inputs[static_cast<std::size_t>(b.input)]});
  return results;
}

std::vector<Result> run_compiled(const plan::Executable& executable, const Inputs& inputs) {
  std::vector<Array> tensors;
  const Device device = executable.plan().inputs.empty() ? Device{} : executable.plan().inputs.front().device;
  for (const Array& a : inputs.tensors()) tensors.push_back(runtime::moved_to(a, device));
  std::vector<const Array*> pointers;
  for (const Array& a : tensors) pointers.push_back(&a);
  const std::vector<plan::ScalarValue> scalars = inputs.scalars();
  const plan::CallArgs args{pointers, scalars};
  plan::GuardFailure why;
  if (!executable.check(args, &why)) throw UserError("the inputs do not fit: " + why.text);
  const plan::Plan& plan = executable.plan();
  std::vector<Array> outputs(plan.outputs.size());
  executable.run(args, outputs);
  std::vector<Array> values;
  for (const Array& a : outputs) values.push_back(runtime::on_host(a));
  std::vector<Result> results = named(std::move(values));
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    if (plan.inputs[i].written) results.push_back({plan.inputs[i].name, runtime::on_host(tensors[i])});
  return results;
}

plan::Plan plan_of(const loop::Program& p, const std::vector<compiler::ScheduledKernel>& kernels, Device device) {
  std::vector<Expr> bound;
  for (const InputSpec& s : input_specs(p))
    for (const auto* list : {&s.sizes, &s.strides})
      for (Expr e : *list)
        if (e.is_symbol()) bound.push_back(e);
  for (Expr s : p.sizes)
    if (std::find(bound.begin(), bound.end(), s) == bound.end())
      throw UserError(fmt::format("program {}: {} is no size or stride of an input", p.name, s.name()), {},
                      "To be compiled, every size must be read off an input");
  return compiler::assemble(shell_of(p, device), p, kernels, {});
}

plan::Executable build_program(const loop::Program& p, const std::vector<schedule::KernelSchedule>* schedules) {
  compiler::Session& session = compiler::Session::of({});
  const auto kernels = compiler::emit_kernels(p, session.cpu_target(), schedules);
  plan::Plan plan = plan_of(p, kernels);
  return plan::Executable(std::move(plan), compiler::build_kernels(kernels, session).modules);
}

std::string summary(const Result& result) {
  constexpr std::int64_t kShown = 6;
  const Array& a = result.array;
  const std::span<const std::int64_t> sizes(a.sizes().data(), a.sizes().size());
  std::vector<std::string> shown;
  double low = INFINITY, high = -INFINITY, sum = 0;
  std::int64_t nans = 0;
  for_each_index(sizes, [&](std::span<const std::int64_t> index) {
    const double v = read_f64(a, index);
    if (static_cast<std::int64_t>(shown.size()) < kShown)
      shown.push_back(is_floating(a.dtype()) ? base::float_text(static_cast<float>(v))
                                             : std::to_string(read_i64(a, index)));
    if (std::isnan(v)) {
      ++nans;
      return;
    }
    low = std::min(low, v), high = std::max(high, v), sum += v;
  });
  const std::int64_t n = a.numel();
  std::string text =
      fmt::format("{}: {}{} = [{}", result.name, to_string(a.dtype()), to_string(sizes), base::joined(shown));
  text += n > kShown ? fmt::format(", … {} more]", n - kShown) : "]";
  if (n > nans)
    text += fmt::format(", from {:.6g} to {:.6g}, mean {:.6g}", low, high, sum / static_cast<double>(n - nans));
  if (nans) text += fmt::format(", {} NaN", nans);
  return text;
}

void save(const std::vector<Result>& results, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw UserError(fmt::format("--output: cannot make the directory '{}': {}", directory, error.message()));
  for (const Result& r : results)
    io::save_npy((std::filesystem::path(directory) / (r.name + ".npy")).string(), r.array);
}

}  // namespace stax::tools
