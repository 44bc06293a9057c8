// Graphs that once went wrong, shrunk, with the right values.
#include <gtest/gtest.h>

#include <cmath>

#include "compile/pipeline.h"
#include "fusion/fusion.h"
#include "graph/interpret.h"
#include "loop/text.h"
#include "ops/ops.h"
#include "passes/lower.h"

namespace stax::fuzz {
namespace {

Array floats(std::vector<float> v, std::vector<std::int64_t> sizes) {
  Array a = Array::empty(sizes, Dtype::f32);
  std::copy(v.begin(), v.end(), a.data_as<float>());
  return a;
}

std::vector<double> values(const Array& a) {
  std::vector<double> v;
  for_each_index(std::span<const std::int64_t>(a.sizes().data(), a.sizes().size()),
                 [&](std::span<const std::int64_t> at) { v.push_back(read_f64(a, at)); });
  return v;
}

graph::Graph parse(const char* text) {
  ops::register_all();
  graph::Graph g = graph::parse_graph(text);
  graph::verify(g);
  return g;
}

// The graph by the reference, as loops, as fused loops and compiled: check(outputs, inputs afterwards) after each.
template <class Inputs, class Check>
void every_way(const graph::Graph& g, const Inputs& inputs, const Check& check) {
  {
    SCOPED_TRACE("reference");
    std::vector<Array> in = inputs();
    check(graph::interpret(g, in), in);
  }
  const loop::Program lowered = passes::lower(compiler::run_passes(g, {}), {});
  loop::verify(lowered);
  {
    SCOPED_TRACE("loops");
    std::vector<Array> in = inputs();
    check(loop::interpret(lowered, {{}, in, {}, {}}), in);
  }
  {
    SCOPED_TRACE("fused");
    std::vector<Array> in = inputs();
    check(loop::interpret(fusion::fuse(lowered, {}).program, {{}, in, {}, {}}), in);
  }
  SCOPED_TRACE("compiled");
  std::vector<Array> in = inputs();
  std::vector<const Array*> tensors;
  for (const Array& a : in) tensors.push_back(&a);
  const auto artifact = compiler::compile_graph(g, {}, compiler::Session::of(""));
  std::vector<Array> out(g.outputs.size());
  artifact->executable.run({tensors, {}}, out);
  check(out, in);
}

// An output that is a written input, but wants its old contents, is a copy; the input is written all the same.
TEST(FuzzRegression, OldAndNewContentsOfAWrittenInput) {
  const graph::Graph g = parse(R"(graph @g(x: f32[3], y: f32[3]) {
  %0 = add(x, y) : f32[3]
  write x = %0
  return written x, x
})");
  every_way(
      g,
      [] {
        return std::vector{floats({1, 2, 3}, {3}), floats({10, 20, 30}, {3})};
      },
      [](const std::vector<Array>& out, const std::vector<Array>& in) {
        EXPECT_EQ(values(out[0]), (std::vector<double>{11, 22, 33}));
        EXPECT_EQ(values(out[1]), (std::vector<double>{1, 2, 3}));
        EXPECT_EQ(values(in[0]), (std::vector<double>{11, 22, 33}));
        EXPECT_EQ(values(in[1]), (std::vector<double>{10, 20, 30}));
      });
}

// Views of a written input show what was written, in its memory; views taken as values keep what was read.
TEST(FuzzRegression, ViewsOfAWrittenInput) {
  const graph::Graph g = parse(R"(graph @g(x: f32[2, 2]) {
  %0 = transpose(x, axis0=0, axis1=1) : f32[2, 2] strides (1, 2)
  %1 = add(%0, 1.0) : f32[2, 2] strides (1, 2)
  %2 = select(%0, axis=0, index=1) : f32[2] strides (2)
  write x = %1
  return written %2, %2, written x
})");
  EXPECT_EQ(graph::to_text(parse(graph::to_text(g).c_str())), graph::to_text(g));
  every_way(
      g,
      [] {
        return std::vector{floats({1, 2, 3, 4}, {2, 2})};
      },
      [](const std::vector<Array>& out, const std::vector<Array>& in) {
        EXPECT_EQ(values(in[0]), (std::vector<double>{2, 4, 3, 5}));
        EXPECT_EQ(values(out[0]), (std::vector<double>{4, 5}));
        EXPECT_EQ(values(out[1]), (std::vector<double>{2, 4}));
        EXPECT_EQ(out[0].storage(), in[0].storage());
        EXPECT_NE(out[1].storage(), in[0].storage());
        EXPECT_EQ(out[2].storage(), in[0].storage());
        EXPECT_EQ(out[0].data_as<float>(), in[0].data_as<float>() + 1);
      });
}

// Corners of an empty domain are not attained.
TEST(FuzzRegression, BackwardsThroughNothing) {
  const graph::Graph g = parse(R"(graph @g(x: f32[0]) {
  %0 = slice(x, axis=0, start=none, stop=none, step=-2) : f32[0] strides (-2)
  %1 = flip(%0, axes=none) : f32[0]
  %2 = sum(%1, axes=none, keepdim=false, dtype=none) : f32[]
  return %1, %2
})");
  every_way(
      g, [] { return std::vector{floats({}, {0})}; },
      [](const std::vector<Array>& out, const std::vector<Array>&) {
        EXPECT_EQ(out[0].numel(), 0);
        EXPECT_EQ(values(out[1]), std::vector<double>{0});
      });
}

// The layout of a result is the inferred one, axes of size 1 included.
TEST(FuzzRegression, StridesOfUnitAxes) {
  const graph::Graph g = parse(R"(graph @g(x: f32[2, 1] strides (1, -1)) {
  %0 = softmax(x, axis=0) : f32[2, 1]
  return %0
})");
  every_way(
      g,
      [] {
        return std::vector{floats({4, 4}, {2, 1}).with_layout({{2, 1}, {1, -1}, 0})};
      },
      [](const std::vector<Array>& out, const std::vector<Array>&) {
        EXPECT_EQ(out[0].strides(), (Dims{1, 1}));
        EXPECT_EQ(values(out[0]), (std::vector<double>{0.5, 0.5}));
      });
}

// A value that does not vary over a chunk of columns is used after its phase.
TEST(FuzzRegression, UniformValueUsedByLaterPhase) {
  const graph::Graph g = parse(R"(graph @g(x: f64[2, 32], s: f64[1]) {
  %0 = mul(x, s) : f64[2, 32]
  %1 = mean(%0, axes=[0], keepdim=true) : f64[1, 32]
  %2 = sub(%0, %1) : f64[2, 32]
  return %2
})");
  every_way(
      g,
      [] {
        Array x = Array::empty({2, 32}, Dtype::f64), s = Array::empty({1}, Dtype::f64);
        for (int i = 0; i < 64; ++i) x.data_as<double>()[i] = i < 32 ? 1 : 3;
        *s.data_as<double>() = 2;
        return std::vector{x, s};
      },
      [](const std::vector<Array>& out, const std::vector<Array>&) {
        const std::vector<double> v = values(out[0]);
        EXPECT_EQ(v.front(), -2);
        EXPECT_EQ(v[31], -2);
        EXPECT_EQ(v[32], 2);
        EXPECT_EQ(v.back(), 2);
      });
}

// +0 is larger than -0 in every extremum.
TEST(FuzzRegression, SignedZerosInExtrema) {
  const graph::Graph g = parse(R"(graph @g(x: f32[2]) {
  %0 = clamp(x, 0.0, 2.0) : f32[2]
  %1 = amax(x, axes=none, keepdim=false) : f32[]
  %2 = amin(x, axes=none, keepdim=false) : f32[]
  return %0, %1, %2
})");
  every_way(
      g,
      [] {
        return std::vector{floats({-0.0f, 0.0f}, {2})};
      },
      [](const std::vector<Array>& out, const std::vector<Array>&) {
        EXPECT_FALSE(std::signbit(values(out[0])[0]));
        EXPECT_FALSE(std::signbit(values(out[1])[0]));
        EXPECT_TRUE(std::signbit(values(out[2])[0]));
      });
}

// More bits than a double has.
TEST(FuzzRegression, ReluOfLargeIntegers) {
  const graph::Graph g = parse(R"(graph @g(x: i64[2]) {
  %0 = relu(x) : i64[2]
  return %0
})");
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  every_way(
      g,
      [&] {
        Array a = Array::empty({2}, Dtype::i64);
        a.data_as<std::int64_t>()[0] = large;
        a.data_as<std::int64_t>()[1] = -large;
        return std::vector{a};
      },
      [&](const std::vector<Array>& out, const std::vector<Array>&) {
        EXPECT_EQ(out[0].data_as<std::int64_t>()[0], large);
        EXPECT_EQ(out[0].data_as<std::int64_t>()[1], 0);
      });
}

// A layout without elements needs no memory, whatever its strides.
TEST(FuzzRegression, NoMemoryForNothing) {
  const graph::Graph g = parse(R"(graph @g(x: f32[0]) {
  %0 = view(x, sizes=[0, 1]) : f32[0, 1]
  %1 = slice(%0, axis=1, start=1, stop=none, step=1) : f32[0, 0]
  %2 = add(%1, 1.0) : f32[0, 0]
  return %2
})");
  every_way(
      g, [] { return std::vector{floats({}, {0})}; },
      [](const std::vector<Array>& out, const std::vector<Array>&) {
        EXPECT_EQ(out[0].sizes(), (Dims{0, 0}));
      });
}

// Two sums over rows in two phases of one kernel, each with its own count of rows.
TEST(FuzzRegression, TwoColumnSumsInOneKernel) {
  const graph::Graph g = parse(R"(graph @g(x: f64[8, 8]) {
  %0 = mean(x, axes=[0], keepdim=true) : f64[1, 8]
  %1 = sub(x, %0) : f64[8, 8]
  %2 = mul(%1, %1) : f64[8, 8]
  %3 = sum(%2, axes=[0], keepdim=true, dtype=none) : f64[1, 8]
  return %3
})");
  every_way(
      g,
      [] {
        Array x = Array::empty({8, 8}, Dtype::f64);
        for (int i = 0; i < 64; ++i) x.data_as<double>()[i] = i / 8 % 2 ? 1 : 3;
        return std::vector{x};
      },
      [](const std::vector<Array>& out, const std::vector<Array>&) {
        EXPECT_EQ(values(out[0]), std::vector<double>(8, 8.0));
      });
}

// NaN and infinity give NaN, also without an axis.
TEST(FuzzRegression, SoftmaxOfOneNumber) {
  const graph::Graph g = parse(R"(graph @g(x: f32[], y: f32[]) {
  %0 = softmax(x, axis=0) : f32[]
  %1 = log_softmax(x, axis=0) : f32[]
  %2 = softmax(y, axis=0) : f32[]
  %3 = log_softmax(y, axis=0) : f32[]
  return %0, %1, %2, %3
})");
  every_way(
      g,
      [] {
        return std::vector{floats({INFINITY}, {}), floats({-7}, {})};
      },
      [](const std::vector<Array>& out, const std::vector<Array>&) {
        EXPECT_TRUE(std::isnan(values(out[0])[0]));
        EXPECT_TRUE(std::isnan(values(out[1])[0]));
        EXPECT_EQ(values(out[2])[0], 1);
        EXPECT_EQ(values(out[3])[0], 0);
      });
}

// A dear value that is the same along the row is not kept for a later pass over it.
TEST(FuzzRegression, UniformValueInTwoPasses) {
  const graph::Graph g = parse(R"(graph @g(x: f64[1]) {
  %0 = trunc_divide(x, -0.5) : f64[1]
  %1 = expand(%0, sizes=[20]) : f64[20] strides (0)
  %2 = cumsum(%1, axis=0, dtype=none) : f64[20]
  %3 = sum(%1, axes=none, keepdim=true, dtype=none) : f64[1]
  return %3, %2
})");
  every_way(
      g,
      [] {
        Array x = Array::empty({1}, Dtype::f64);
        *x.data_as<double>() = 3.25;
        return std::vector{x};
      },
      [](const std::vector<Array>& out, const std::vector<Array>&) {
        EXPECT_EQ(values(out[0])[0], -120);
        EXPECT_EQ(values(out[1])[19], -120);
        EXPECT_EQ(values(out[1])[0], -6);
      });
}

// The negative of a negative literal.
TEST(FuzzRegression, NegatedNegativeConstant) {
  const graph::Graph g = parse(R"(graph @g(x: f32[2, 3]) {
  %0 = full(-2, sizes=[2, 3], dtype=f32, device="cpu") : f32[2, 3]
  %1 = neg(%0) : f32[2, 3]
  %2 = add(%1, x) : f32[2, 3]
  return %2, %1
})");
  every_way(
      g,
      [] {
        return std::vector{floats({1, 2, 3, 4, 5, 6}, {2, 3})};
      },
      [](const std::vector<Array>& out, const std::vector<Array>&) {
        EXPECT_EQ(values(out[0]), (std::vector<double>{3, 4, 5, 6, 7, 8}));
        EXPECT_EQ(values(out[1]), std::vector<double>(6, 2.0));
      });
}

// Memory of a temporary that is free again serves another dtype, in library calls too.
TEST(FuzzRegression, ProductsOfTwoDtypesInOneTemporary) {
  ops::register_all();
  graph::Graph g;
  const auto input = [&](const char* name, Dtype dtype, std::int64_t rows) {
    const symbolic::Expr eight = g.context().constant(8);
    return g.add_input(name, {dtype, {}, {g.context().constant(rows), eight}, {eight, g.context().constant(1)}, false});
  };
  const graph::Value x = input("x", Dtype::f64, 8), y = input("y", Dtype::f32, 16), z = input("z", Dtype::f32, 8);
  g.outputs = {g.add("matmul", {g.add("matmul", {x, x}), x}), g.add("matmul", {g.add("matmul", {y, z}), z})};
  const auto artifact = compiler::compile_graph(g, {}, compiler::Session::of(""));
  int temporaries = 0;
  for (const plan::Buffer& b : artifact->executable.plan().buffers)
    temporaries += b.kind == plan::BufferKind::temporary;
  EXPECT_EQ(temporaries, 1);
  every_way(
      g,
      [] {
        Array x = Array::empty({8, 8}, Dtype::f64);
        std::fill_n(x.data_as<double>(), 64, 1.0);
        return std::vector{x, floats(std::vector<float>(128, 2.0f), {16, 8}),
                           floats(std::vector<float>(64, 0.5f), {8, 8})};
      },
      [](const std::vector<Array>& out, const std::vector<Array>&) {
        EXPECT_EQ(values(out[0]), std::vector<double>(64, 64.0));
        EXPECT_EQ(values(out[1]), std::vector<double>(128, 32.0));
      });
}

// What is known of the axis order of x when silu is traced decides the layout of its result, and a view is made for it.
// `learn`: that x is column-major is decided after that. The rows of the result stay in its order.
void keep_the_traced_layout(bool learn) {
  ops::register_all();
  graph::Graph g;
  const symbolic::Expr rows = g.env().new_symbol(2, {2, 1024}, "size 0");
  const symbolic::Expr columns = g.env().new_symbol(3, {2, 1024}, "size 1");
  const symbolic::Expr stride = g.env().new_symbol(2, {1, 1024}, "stride 1"), one = g.context().constant(1);
  const graph::Value x = g.add_input("x", {Dtype::f32, {}, {rows, columns}, {one, stride}, false});
  const graph::Value y = g.add("silu", {x});
  const graph::Value flat = g.add("view", {y}, {{"sizes", std::vector{rows * columns}}});
  g.outputs = {flat, y};
  if (learn) {
    EXPECT_TRUE(g.env().decide(eq(stride, rows), "learnt later"));
  }
  graph::verify(g);
  const auto inputs = [] { return std::vector{floats({1, 2, 3, 4, 5, 6}, {6}).with_layout({{2, 3}, {1, 2}, 0})}; };
  const auto check = [](const std::vector<Array>& out) {
    const std::vector<double> v = values(out[0]);
    ASSERT_EQ(v.size(), 6u);
    for (int i = 0; i < 6; ++i) {
      const double at = std::vector<double>{1, 3, 5, 2, 4, 6}[static_cast<std::size_t>(i)];
      EXPECT_NEAR(v[static_cast<std::size_t>(i)], at / (1 + std::exp(-at)), 1e-6);
    }
    EXPECT_EQ(out[1].strides(), (Dims{3, 1}));
  };
  check(graph::interpret(g, inputs()));
  const loop::Program lowered = passes::lower(compiler::run_passes(g, {}), {});
  loop::verify(lowered);
  loop::Bindings bindings{{}, inputs(), {}, {}};
  for (const symbolic::Expr s : lowered.sizes) bindings.sizes.push_back(*symbolic::hint_of(s));
  check(loop::interpret(lowered, bindings));
}
TEST(FuzzRegression, NumbersShowAnAxisOrderThatNothingProves) { keep_the_traced_layout(false); }
TEST(FuzzRegression, TheAxisOrderIsLearntAfterTheView) { keep_the_traced_layout(true); }

// An operator of several gives the strides of its own type, whatever those of its operand are, though nothing is
// stored.
TEST(FuzzRegression, EmptyRowsKeepTheInferredStrides) {
  for (const char* op : {"softmax", "log_softmax"}) {
    const std::string text = R"(graph @g(x: f32[2, 0] strides (1, 2)) {
  %0 = OP(x, axis=0) : f32[2, 0]
  return %0
})";
    const graph::Graph g = parse(std::string(text).replace(text.find("OP"), 2, op).c_str());
    compiler::Settings settings;
    settings.verify = true;
    const graph::Graph lowered = compiler::run_passes(g, settings);
    EXPECT_EQ(lowered.outputs[0].type().strides, g.outputs[0].type().strides) << op;
    every_way(
        g,
        [] {
          return std::vector{floats({}, {0}).with_layout({{2, 0}, {1, 2}, 0})};
        },
        [](const std::vector<Array>& out, const std::vector<Array>&) {
          EXPECT_EQ(out[0].sizes(), (Dims{2, 0}));
          EXPECT_EQ(out[0].strides(), (Dims{1, 1}));
        });
  }
}

// A size that is 1 by what was decided about it, not by itself, broadcasts: nothing beyond its element is read.
void broadcast_a_decided_one(const char* body, const std::vector<double>& y, const Dims& y_sizes,
                             const std::vector<double>& expected) {
  const std::string text = R"(graph @g(x: f32[s0, 2, 2], y: f32[Y]) {
  size s0 in [2, 1024] hint 2 from "size 0"
  guard floordiv(s0 + 1, 3) != 2 because "sizes of the operands agree"
  guard floordiv(s0 + 1, 3) == 1 because "a size of 1 broadcasts"
  %0 = slice(x, axis=0, start=none, stop=s0 - 1, step=3) : f32[floordiv(s0 + 1, 3), 2, 2] strides (12, 2, 1)
  %1 = neg(%0) : f32[floordiv(s0 + 1, 3), 2, 2]
)";
  std::string shape;
  for (std::size_t i = 0; i < y_sizes.size(); ++i) shape += (i ? ", " : "") + std::to_string(y_sizes[i]);
  const graph::Graph g = parse((std::string(text).replace(text.find('Y'), 1, shape) + body + "}").c_str());
  const loop::Program lowered = passes::lower(compiler::run_passes(g, {}), {});
  loop::verify(lowered);
  const std::vector<Array> in{floats({1, 2, 3, 4, 50, 60, 70, 80}, {2, 2, 2}),
                              floats({y.begin(), y.end()}, {y_sizes.begin(), y_sizes.end()})};
  loop::Bindings bindings{{}, in, {}, {}};
  for (const symbolic::Expr s : lowered.sizes) bindings.sizes.push_back(*symbolic::hint_of(s));
  EXPECT_EQ(values(graph::interpret(g, in)[0]), expected);
  EXPECT_EQ(values(loop::interpret(lowered, bindings)[0]), expected);
}

TEST(FuzzRegression, SizesDecidedToBeOneBroadcast) {
  broadcast_a_decided_one("  %2 = add(%1, y) : f32[2, 2, 2]\n  return %2\n", {0, 0, 0, 0, 10, 10, 10, 10}, {2, 2, 2},
                          {-1, -2, -3, -4, 9, 8, 7, 6});
  broadcast_a_decided_one("  %2 = matmul_fused(%1, y) : f32[2, 2, 2]\n  return %2\n", {1, 0, 0, 1, 2, 0, 0, 2},
                          {2, 2, 2}, {-1, -2, -3, -4, -2, -4, -6, -8});
}

const char* const kFirstNumberFills = R"(
  %1 = select(%0, axis=0, index=0) : f32[]
  %2 = expand(%1, sizes=[s0, s1]) : f32[s0, s1] strides (0, 0)
)";
const char* const kFirstRowFills = R"(
  %1 = neg(%0) : f32[s1]
  %2 = expand(%1, sizes=[s0, s1]) : f32[s0, s1] strides (0, 1)
)";

// The rows of x, at a stride that is a symbol, after the program.
std::vector<double> overwritten(const char* body) {
  const std::string text = R"(graph @g(x: f32[s0, s1] strides (s2, 1)) {
  size s0 in [2, 1024] hint 3 from "size 0"
  size s1 in [2, 1024] hint 2 from "size 1"
  size s2 in [-1024, 1024] hint -2 from "x.stride"
  %0 = select(x, axis=0, index=0) : f32[s1])";
  const graph::Graph g = parse((text + body + "  write x = %2\n  return\n}").c_str());
  const loop::Program fused = fusion::fuse(passes::lower(compiler::run_passes(g, {}), {}), {}).program;
  loop::verify(fused);
  const std::vector<Array> in{floats({1, 2, 3, 4, 5, 6}, {6}).with_layout({{3, 2}, {-2, 1}, 4})};
  loop::Bindings bindings{{}, in, {}, {}};
  for (const symbolic::Expr s : fused.sizes) bindings.sizes.push_back(*symbolic::hint_of(s));
  loop::interpret(fused, bindings);
  return values(in[0]);
}

// A unit reads an element of the input and then overwrites what it alone stores.
TEST(FuzzRegression, FirstElementsFillTheirOwnInput) {
  EXPECT_EQ(overwritten(kFirstNumberFills), std::vector<double>(6, 5.0));
  EXPECT_EQ(overwritten(kFirstRowFills), (std::vector<double>{-5, -6, -5, -6, -5, -6}));
}

}  // namespace
}  // namespace stax::fuzz
