// Rule 20 of the semantics: for exact arithmetic the outputs do not depend on which other outputs exist, on their
// order, or on a forced copy.
#include <algorithm>
#include <numeric>

#include "batch.h"
#include "forms.h"
#include "op_case.h"

namespace stax::optest {
namespace {

struct ExactProgram {
  const char* name;
  Tensors inputs;
  TensorFunction values;  // everything that may be an output
  bool strict = false;    // rounds: exact under strict numerics only
};

std::vector<ExactProgram> programs() {
  const Tensor x = randn({7, 35}, 1), y = randn({35}, 2), h = randn({6, 33}, 3).to(f16);
  const Tensor i = (randn({9, 21}, 4) * 10).to(i32), narrow = (randn({9, 21}, 5) * 50).to(i8);
  return {{"differences of equal values",
           {x, y},
           [](Tensors in) {
             const Tensor m = exp(in[0]) * tanh(in[1]);
             const Tensor d = m - m, r = m / m;
             return Tensors{d, r, argmax(d, 1), argmin(r, 0), gt(m, 0), sum(gt(m, 0), 1), m};
           }},
          {"integers wrap",
           {i, narrow},
           [](Tensors in) {
             const Tensor a = in[0] * 100003 + in[1], b = in[1] * in[1] - in[1];
             return Tensors{
                 a,    b, floor_divide(a, 7), floor_mod(a, -5), sum(a * b, 0), amax(b, 1), argmax(b, 1), cumsum(b, 1),
                 a.t()};
           }},
          {"stored halves are rounded",
           {h},
           [](Tensors in) {
             const Tensor y = in[0] * 1.0009765625, z = y.to(f32) - in[0].to(f32);
             return Tensors{y, eq(y, in[0]), z, amax(y, 1), argmax(y, 1), where(gt(y, 0), y, 0)};
           },
           true},
          {"views and joins", {x, y}, [](Tensors in) {
             const Tensor a = -in[0], c = cat({a, in[0].index({Slice(None, None, -1)})}, 0);
             return Tensors{c, amax(c, 0), c.t().index({Slice(1, None, 2)}), flip(a, 1), maximum(a, in[1]), argmin(c)};
           }}};
}

struct Variant {
  std::string text;
  std::vector<std::size_t> outputs;  // positions among the program's values
  bool cloned = false;
};

std::vector<Variant> variants_of(std::size_t values) {
  std::vector<Variant> variants;
  std::vector<std::size_t> all(values);
  std::iota(all.begin(), all.end(), std::size_t{0});
  variants.push_back({"all", all});
  std::vector<std::size_t> reversed(all.rbegin(), all.rend());
  variants.push_back({"reversed", reversed});
  variants.push_back({"all, copied", all, true});
  for (std::size_t v : all) variants.push_back({"alone: " + std::to_string(v), {v}});
  for (std::size_t v : all)
    if (v + 1 < values) variants.push_back({"pair from " + std::to_string(v), {v + 1, v}});
  return variants;
}

void check_programs(bool strict) {
  struct Run {
    const ExactProgram* program;
    Variant variant;
    std::string sizes;
    int artifact;
  };
  const std::vector<ExactProgram> list = programs();
  compiler::Settings settings;
  settings.strict_numerics = strict;
  Batch batch(0, settings);
  std::vector<Run> runs;
  for (const ExactProgram& p : list) {
    if (p.strict && !strict) continue;
    for (const Variant& v : variants_of(p.values(p.inputs).size()))
      for (const Tracing tracing : {Tracing::concrete, Tracing::symbolic}) {
        const TensorFunction f = [&](Tensors in) {
          const Tensors values = p.values(std::move(in));
          Tensors outputs;
          for (std::size_t i : v.outputs) outputs.push_back(v.cloned ? clone(values[i]) : values[i]);
          return outputs;
        };
        const Graph g = make_graph(f, {tracing})(p.inputs);
        runs.push_back(
            {&p, v, tracing == Tracing::concrete ? "static" : "dynamic", batch.add(graph::rewrite(g.impl(), nullptr))});
      }
  }
  batch.build();
  std::map<const ExactProgram*, std::vector<Array>> first;  // of the variant "all"
  for (const Run& r : runs) {
    SCOPED_TRACE(std::string(r.program->name) + ", " + r.variant.text + ", " + r.sizes);
    ASSERT_EQ(batch.error(r.artifact), "");
    const plan::Executable& e = *batch.executable(r.artifact);
    std::vector<Array> inputs, outputs(r.variant.outputs.size());
    std::vector<const Array*> pointers;
    for (const Tensor& t : r.program->inputs) inputs.push_back(t.array());
    for (const Array& a : inputs) pointers.push_back(&a);
    ASSERT_TRUE(e.check({pointers, {}}));
    poison_free_memory();
    e.run({pointers, {}}, outputs);
    for (Array& a : outputs) a = contiguous_copy(a);
    if (r.variant.text == "all" && r.sizes == "static") first[r.program] = outputs;
    const std::vector<Array>& expected = first.at(r.program);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      EXPECT_EQ(difference(outputs[i], expected[r.variant.outputs[i]], 0), "") << "value " << r.variant.outputs[i];
  }
}

TEST(Outputs, DoNotDependOnEachOther) { check_programs(false); }
TEST(Outputs, DoNotDependOnEachOtherWhenStrict) { check_programs(true); }

}  // namespace
}  // namespace stax::optest
