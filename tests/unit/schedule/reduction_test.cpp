// Every combine operator on every dtype in every form of reduction, against the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "run_kernels.h"

namespace stax::test {
namespace {

using loop::CombineOp;

bool is_possible(CombineOp op, Dtype t) {
  switch (op) {
    case CombineOp::any:
    case CombineOp::all:
      return t == Dtype::boolean;
    case CombineOp::welford:
    case CombineOp::online_softmax:
      return t == Dtype::f32 || t == Dtype::f64;
    case CombineOp::sum:
    case CombineOp::prod:
      return t == Dtype::f32 || t == Dtype::f64 || t == Dtype::i64 || t == Dtype::i32;
    case CombineOp::argmax:
    case CombineOp::argmin:
      return t != Dtype::boolean;
    default:
      return true;
  }
}

struct Shape {
  std::string outer, inner, address, position;  // axes; address of the element; index along the reduced axes
  std::string out_size, out_address;
  std::string in_sizes;
  std::vector<std::vector<std::int64_t>> sizes;
};

std::string program_of(CombineOp op, Dtype t, const Shape& s, bool scan, bool reverse = false) {
  const loop::CombineOpInfo& info = loop::info_of(op);
  const std::string dtype(to_text(t));
  std::string text = fmt::format(
      "program p\nsizes s0 in [0, 100000000], s1 in [0, 100000000]\nbuffer b0: {}[{}] input\n", dtype, s.in_sizes);
  std::string out, returned;
  for (int part = 0; part < info.parts; ++part) {
    const bool index = info.operands == 2 && part == 1;
    out += fmt::format("buffer b{}: {}[{}] output\n", part + 1, index ? "i64" : dtype, scan ? s.in_sizes : s.out_size);
    returned += fmt::format("return b{} [{}] strides ({})\n", part + 1, scan ? s.in_sizes : s.out_size,
                            scan                 ? "s1, 1"
                            : s.out_size.empty() ? ""
                                                 : "1");
  }
  text += out + fmt::format("kernel k{} {{\n  phase ({}) {{\n    %0 = load.{} b0[{}]\n",
                            s.outer.empty() ? "" : " outer (" + s.outer + ")", s.inner, dtype, s.address);
  if (info.operands == 2) text += fmt::format("    %1 = index.i64 [{}]\n", s.position);
  text += fmt::format("    %2 = {}.{} {} %0{}{}\n", scan ? "scan" : "combine", dtype, info.name,
                      info.operands == 2 ? " %1" : "", reverse ? " reverse" : "");
  std::string stores;
  for (int part = 1; part < info.parts; ++part)
    text += fmt::format("    %{} = part.{} %2 {}\n", part + 2, info.operands == 2 ? "i64" : dtype, part);
  for (int part = 0; part < info.parts; ++part)
    stores +=
        fmt::format("    store b{}[{}] %{}\n", part + 1, scan ? s.address : s.out_address, part == 0 ? 2 : part + 2);
  text += (scan ? stores : "  }\n  phase {\n" + stores) + "  }\n}\n" + returned;
  return text;
}

constexpr Dtype kCompute[] = {Dtype::boolean, Dtype::u8,  Dtype::i8,  Dtype::i16,
                              Dtype::i32,     Dtype::i64, Dtype::f32, Dtype::f64};

std::vector<Check> all(const Shape& shape, bool scan = false, bool reverse = false, const std::string& schedule = "") {
  std::vector<Check> checks;
  for (int i = 0; i < loop::kCombineOpCount; ++i)
    for (Dtype t : kCompute) {
      const auto op = static_cast<CombineOp>(i);
      if (!is_possible(op, t)) continue;
      Check c;
      c.text = program_of(op, t, shape, scan, reverse);
      c.sizes = shape.sizes;
      c.schedule = schedule;
      c.tolerance = op == CombineOp::max || op == CombineOp::min || op == CombineOp::argmax ||
                            op == CombineOp::argmin || !is_floating(t)
                        ? 0
                    : op == CombineOp::prod || scan ? 1e-4
                                                    : 2e-5;
      c.special = c.tolerance == 0;
      checks.push_back(c);
    }
  return checks;
}

const Shape kRows{
    .outer = "i0 < s0",
    .inner = "r0 < s1",
    .address = "s1*i0 + r0",
    .position = "r0",
    .out_size = "s0",
    .out_address = "i0",
    .in_sizes = "s0, s1",
    .sizes = {{0, 3}, {1, 1}, {3, 2}, {2, 15}, {3, 16}, {4, 17}, {2, 31}, {3, 33}, {5, 1000}, {2, 20000}}};
const Shape kColumns{.outer = "i0 < s1",
                     .inner = "r0 < s0",
                     .address = "i0 + s1*r0",
                     .position = "r0",
                     .out_size = "s1",
                     .out_address = "i0",
                     .in_sizes = "s0, s1",
                     .sizes = {{3, 0}, {1, 1}, {2, 3}, {15, 2}, {16, 3}, {17, 16}, {31, 17}, {7, 1000}, {5, 2100}}};
const Shape kAll{.outer = "",
                 .inner = "r0 < s0, r1 < s1",
                 .address = "s1*r0 + r1",
                 .position = "s1*r0 + r1",
                 .out_size = "",
                 .out_address = "0",
                 .in_sizes = "s0, s1",
                 .sizes = {{1, 1}, {2, 3}, {15, 2}, {3, 17}, {1, 1000}, {1000, 1}, {70, 1000}}};

class ReductionWidths : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(VectorBytes, ReductionWidths, testing::Values(16, 64));

TEST_P(ReductionWidths, AlongRows) { check_all(all(kRows), GetParam()); }
TEST_P(ReductionWidths, AlongColumns) { check_all(all(kColumns), GetParam()); }
TEST_P(ReductionWidths, OfEverythingByATeam) {
  check_all(all(kAll, false, false, "schedule cpu { units grain 1; vector inner; split inner 0; phase 0: unroll 2 }"),
            GetParam(), 3);
}
TEST_P(ReductionWidths, OfColumnsByATeam) {
  check_all(all(kColumns, false, false, "schedule cpu { units i0 / 64 grain 1; vector i0; split inner 0 }"), GetParam(),
            3);
}
TEST_P(ReductionWidths, ScansAlongRows) { check_all(all(kRows, true), GetParam()); }
TEST_P(ReductionWidths, ScansAlongRowsFromTheEnd) { check_all(all(kRows, true, true), GetParam()); }
TEST_P(ReductionWidths, ScansAlongColumns) { check_all(all(kColumns, true), GetParam()); }
TEST_P(ReductionWidths, ScansAlongColumnsFromTheEnd) { check_all(all(kColumns, true, true), GetParam()); }

// 2^25 ones: a running float32 sum would stop at 2^24.
TEST(Reductions, LongSumsOfOnes) {
  const loop::Program rows = loop::parse_program(program_of(CombineOp::sum, Dtype::f32, kRows, false));
  const loop::Program columns = loop::parse_program(program_of(CombineOp::sum, Dtype::f32, kColumns, false));
  const CompiledKernels compiled({&rows, &columns}, 64, [&](const loop::Kernel& k, const loop::Program& p) {
    return &p == &rows ? default_schedule(64, 1)(k, p)
                       : loop::parse_cpu_schedule("schedule cpu { units i0 / 64 grain 1; vector i0 }", k);
  });
  constexpr std::int64_t n = 1 << 25;
  const Array ones = guarded_array({n}, Dtype::f32);
  std::fill_n(ones.data_as<float>(), n, 1.0F);
  loop::Bindings b;
  b.inputs = {ones};
  b.sizes = {1, n};
  EXPECT_EQ(compiled.run(0, b, 1)[0].data_as<float>()[0], 1 << 25);
  b.sizes = {n, 1};
  EXPECT_EQ(compiled.run(1, b, 1)[0].data_as<float>()[0], 1 << 25);
}

// One NaN, or one zero of the other sign, wherever in the row it stands: in a vector of each accumulator, in the tail.
TEST(Reductions, ExtremaSeeOneElement) {
  constexpr std::int64_t n = 150;
  const loop::Program largest = loop::parse_program(program_of(CombineOp::max, Dtype::f32, kRows, false));
  const loop::Program least = loop::parse_program(program_of(CombineOp::min, Dtype::f32, kRows, false));
  const Array in = guarded_array({n, n}, Dtype::f32);
  loop::Bindings b;
  b.inputs = {in};
  b.sizes = {n, n};
  auto fill = [&](auto other, float one) {
    for (std::int64_t i = 0; i < n * n; ++i) in.data_as<float>()[i] = i / n == i % n ? one : other(i);
  };
  for (int width : {16, 32, 64}) {
    const CompiledKernels compiled({&largest, &least}, width, default_schedule(width, 1));
    for (std::size_t which : {0, 1}) {
      fill([](std::int64_t i) { return static_cast<float>(i % 17) - 8; }, NAN);
      const Array nans = compiled.run(which, b, 1)[0];
      for (std::int64_t i = 0; i < n; ++i) EXPECT_TRUE(std::isnan(nans.data_as<float>()[i])) << width << " " << i;
      const float zero = which == 0 ? 0.0F : -0.0F;
      fill([&](std::int64_t) { return -zero; }, zero);
      const Array zeros = compiled.run(which, b, 1)[0];
      for (std::int64_t i = 0; i < n; ++i)
        EXPECT_EQ(std::signbit(zeros.data_as<float>()[i]), std::signbit(zero)) << width << " " << i;
      fill([&](std::int64_t) { return which == 0 ? -INFINITY : INFINITY; }, 3);
      const Array found = compiled.run(which, b, 1)[0];
      for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(found.data_as<float>()[i], 3) << width << " " << i;
    }
  }
}

// A reduction over nothing is the identity.
TEST(Reductions, OfNothing) {
  std::vector<Check> checks;
  for (const char* op : {"sum", "prod", "max", "min"})
    for (const Shape& base : {kRows, kColumns}) {
      Shape s = base;
      s.sizes = {&base == &kRows ? std::vector<std::int64_t>{3, 0} : std::vector<std::int64_t>{0, 3}, {3, 0}};
      checks.push_back({.text = program_of(*loop::parse_combine_op(op), Dtype::f32, s, false), .sizes = s.sizes});
    }
  check_all(checks);
}

}  // namespace
}  // namespace stax::test
