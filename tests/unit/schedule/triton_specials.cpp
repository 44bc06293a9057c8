// Reductions and scans of rows that hold NaN, infinities, zeros of both signs, extreme integers: in registers, in
// blocks, along columns.
#include <fmt/format.h>
#include <stax/tensor/dtype.h>

#include <limits>

#include "loop/scalar_ops.h"
#include "triton_corpus.h"

namespace stax::test {
namespace {

using loop::CombineOp;

constexpr Dtype kStored[] = {Dtype::boolean, Dtype::u8,  Dtype::i8,   Dtype::i16, Dtype::i32,
                             Dtype::i64,     Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64};

bool is_possible(CombineOp op, Dtype t) {
  if (op == CombineOp::any || op == CombineOp::all) return t == Dtype::boolean;
  if (op == CombineOp::welford || op == CombineOp::online_softmax) return is_floating(t);
  return t != Dtype::boolean || op == CombineOp::max || op == CombineOp::min;
}

enum class Form : std::uint8_t { rows, blocks, columns, scan, block_scan };
constexpr const char* kNames[] = {"rows", "blocks", "columns", "scan", "block_scan"};

// `exact`: the operators whose results do not depend on the order; else the others.
TritonCase special(Dtype stored, Form form, bool exact) {
  const bool scan = form == Form::scan || form == Form::block_scan;
  const bool dynamic = form == Form::blocks || form == Form::block_scan;
  const Dtype t = stored == Dtype::f16 || stored == Dtype::bf16 ? Dtype::f32 : stored;
  const std::string d(to_text(t)), length = dynamic ? "s1" : "37", rows = fmt::format("{}", kSpecialRows);
  const std::string sizes = form == Form::columns ? length + ", " + rows : rows + ", " + length;
  const std::string place = form == Form::columns ? rows + "*r0 + i0" : length + "*i0 + r0";
  std::string buffers = fmt::format("buffer b0: {}[{}] input\n", to_text(stored), sizes), returns, stores;
  std::string body = fmt::format("    %0 = load.{} b0[{}]\n    %1 = index.i64 [r0]\n", d, place);
  int value = 2, buffer = 1;
  for (int i = 0; i < loop::kCombineOpCount; ++i) {
    const auto op = static_cast<CombineOp>(i);
    if (!is_possible(op, t) || exact == (op == CombineOp::welford || op == CombineOp::online_softmax)) continue;
    const loop::CombineOpInfo& info = loop::info_of(op);
    const int tuple = value++;
    body += fmt::format("    %{} = {}.{} {} %0{}\n", tuple, scan ? "scan" : "combine", d, info.name,
                        info.operands == 2 ? " %1" : "");
    for (int part = 0; part < info.parts; ++part) {
      const std::string type = info.operands == 2 && part == 1 ? "i64" : d;
      const int v = part == 0 ? tuple : value++;
      if (part > 0) body += fmt::format("    %{} = part.{} %{} {}\n", v, type, tuple, part);
      buffers += fmt::format("buffer b{}: {}[{}] output\n", buffer, type, scan ? sizes : rows);
      stores += fmt::format("    store b{}[{}] %{}\n", buffer, scan ? place : "i0", v);
      returns +=
          fmt::format("return b{} [{}] strides ({})\n", buffer++, scan ? sizes : rows, scan ? length + ", 1" : "1");
    }
  }
  return {.name = fmt::format("special_{}_{}{}", kNames[static_cast<int>(form)], to_text(stored), exact ? "" : "_sums"),
          .text = "program p\n" + std::string(dynamic ? "sizes s1 in [0, 1000000] hint 128\n" : "") + buffers +
                  fmt::format("kernel k outer (i0 < {}) {{\n  phase (r0 < {}) {{\n", rows, length) + body +
                  (scan ? stores : "  }\n  phase {\n" + stores) + "  }\n}\n" + returns,
          .small = dynamic ? std::vector<std::vector<std::int64_t>>{{0}, {1}, {300}}
                           : std::vector<std::vector<std::int64_t>>{{}},
          .tolerance = exact ? 0 : 1e-4,
          .patterns = form == Form::columns ? Patterns::columns : Patterns::rows};
}

std::vector<TritonCase> make() {
  std::vector<TritonCase> all;
  for (const Dtype t : kStored)
    for (const Form form : {Form::rows, Form::blocks, Form::columns, Form::scan, Form::block_scan}) {
      const bool half = t == Dtype::f16 || t == Dtype::bf16;  // computed as f32
      if (half && form != Form::rows && form != Form::blocks) continue;
      all.push_back(special(t, form, true));
      if (is_floating(t)) all.push_back(special(t, form, false));
    }
  return all;
}

}  // namespace

const std::vector<TritonCase>& triton_specials() {
  static const std::vector<TritonCase> all = make();
  return all;
}

// The kinds of rows. Sums and products of their numbers are exact in every order.
double special_number(std::int64_t row, std::int64_t i, std::int64_t length) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const double plain = i % 3 ? 1.0 : -1.0;
  const bool last = i == length - 1, middle = i == length / 2;
  switch (row) {
    case 0:
      return i == 0 ? nan : plain;
    case 1:
      return last ? nan : -plain;
    case 2:
      return -inf;
    case 3:
      return middle ? inf : last ? -inf : plain;
    case 4:
      return -0.0;
    case 5:
      return middle ? 0.0 : -0.0;
    case 6:
      return middle || last ? nan : inf;
    case 7:
      return nan;
    case 8:
      return middle ? inf : plain;
    case 9:
      return middle ? -inf : plain;
    case 10:
      return plain;  // with ties
    default:
      return last ? -0.0 : 0.0;
  }
}

// The same for integers: extremes of the dtype, ties, overflow.
std::int64_t special_integer(std::int64_t row, std::int64_t i, std::int64_t length, std::int64_t low,
                             std::int64_t high) {
  const bool last = i == length - 1, middle = i == length / 2;
  switch (row % 6) {
    case 0:
      return low;
    case 1:
      return high;
    case 2:
      return last ? low : high;
    case 3:
      return middle ? high : low;
    case 4:
      return 0;
    default:
      return i % 3 + (row > 6 ? 1 : 0);
  }
}

}  // namespace stax::test
