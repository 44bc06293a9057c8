#include "forms.h"

#include <cstring>

#include "compile/pipeline.h"
#include "op_case.h"
#include "passes/lower.h"

namespace stax::optest {

namespace {

Tensors copies_of(const Tensors& inputs) {
  Tensors copies;
  for (const Tensor& t : inputs) {
    const Array a = t.array();
    Array whole = Array::empty({static_cast<std::int64_t>(a.storage()->bytes()) / byte_size(a.dtype())}, a.dtype());
    if (whole.data()) std::memcpy(whole.data(), a.storage()->data(), a.storage()->bytes());
    copies.emplace_back(Array(whole.storage(), a.dtype(), a.layout()));
  }
  return copies;
}

Tensors tensors_of(const std::vector<Array>& arrays) { return {arrays.begin(), arrays.end()}; }

std::vector<Array> arrays_of(const Tensors& tensors) {
  std::vector<Array> arrays;
  for (const Tensor& t : tensors) arrays.push_back(t.array());
  return arrays;
}

// Outputs of a compiled call may share memory with inputs; the bits are compared, not the layout.
Tensors dense(const Tensors& tensors) {
  Tensors result;
  for (const Tensor& t : tensors) result.emplace_back(contiguous_copy(t.array()));
  return result;
}

FormResult run_loops_form(const std::string& form, const Graph& g, Tensors inputs, bool fuse) {
  compiler::Settings settings;
  settings.strict_numerics = true;
  loop::Program p = passes::lower(compiler::run_passes(g.impl(), settings), {});
  loop::verify(p);
  if (fuse) {
    p = fusion::fuse(std::move(p), compiler::fusion_options(settings, schedule::CpuTarget{})).program;
    compiler::normalise_kernels(p);
    loop::verify(p);
  }
  CaseGraph c;
  c.tensors = arrays_of(inputs);
  Tensors outputs = tensors_of(run_loops(p, c));
  return {form, dense(outputs), dense(inputs)};
}

}  // namespace

std::vector<FormResult> run_forms(const TensorFunction& f, const Tensors& inputs) {
  std::vector<FormResult> results;
  auto call = [&](const std::string& form, const std::function<Tensors(const Tensors&)>& run) {
    const Tensors own = copies_of(inputs);
    const Tensors outputs = run(own);
    results.push_back({form, dense(outputs), dense(own)});
  };
  call("eager", f);
  for (const Tracing tracing : {Tracing::concrete, Tracing::symbolic}) {
    const std::string sizes = tracing == Tracing::concrete ? "static" : "dynamic";
    const Graph g = make_graph(f, {tracing})(inputs);
    call(sizes + " graph", [&](const Tensors& own) { return interpret(g, own); });
    results.push_back(run_loops_form(sizes + " loops", g, copies_of(inputs), false));
    results.push_back(run_loops_form(sizes + " fused loops", g, copies_of(inputs), true));
    const CompileOptions options{.dynamic = tracing == Tracing::concrete ? Dynamic::no : Dynamic::yes,
                                 .fullgraph = true,
                                 .strict_native = true,
                                 .numerics = Numerics::strict,
                                 .cache_dir = testing::TempDir() + "stax_ops_forms"};
    const auto compiled = compile(f, options);
    call(sizes + " compiled", [&](const Tensors& own) { return compiled(own); });
  }
  return results;
}

void expect_forms(const TensorFunction& f, const Tensors& inputs, const Tensors& expected, double tolerance) {
  for (const FormResult& r : run_forms(f, inputs))
    EXPECT_EQ(difference(arrays_of(r.outputs), arrays_of(dense(expected)), tolerance), "") << r.form;
}

}  // namespace stax::optest
