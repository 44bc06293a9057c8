// Programs with every scalar operation, combine and scan of a dtype, one kernel each.
#include <fmt/format.h>

#include "loop/verify.h"
#include "triton_corpus.h"

namespace stax::test {
namespace {

using loop::CombineOp;
using loop::ScalarOp;

constexpr Dtype kCompute[] = {Dtype::boolean, Dtype::u8,  Dtype::i8,  Dtype::i16,
                              Dtype::i32,     Dtype::i64, Dtype::f32, Dtype::f64};

bool is_plain(ScalarOp op) {
  return loop::info_of(op).arity > 0 && op != ScalarOp::bounded && op != ScalarOp::combine && op != ScalarOp::scan &&
         op != ScalarOp::part && op != ScalarOp::cast && op != ScalarOp::round_to;
}

bool is_division(ScalarOp op) {
  return op == ScalarOp::floor_div || op == ScalarOp::trunc_div || op == ScalarOp::floor_mod ||
         op == ScalarOp::trunc_mod;
}

struct Text {
  std::string buffers, body, returns;
  int buffer_count, value_count;
  void store(const std::string& dtype, int v, const std::string& sizes, const std::string& strides,
             const std::string& address) {
    buffers += fmt::format("buffer b{}: {}[{}] output\n", buffer_count, dtype, sizes);
    body += fmt::format("    store b{}[{}] %{}\n", buffer_count, address, v);
    returns += fmt::format("return b{} [{}] strides ({})\n", buffer_count++, sizes, strides);
  }
};

// 257 elements; divisors are not zero.
TritonCase operations(Dtype t) {
  const std::string d(to_text(t));
  Text x{fmt::format("buffer b0: {0}[257] input\nbuffer b1: {0}[257] input\nbuffer b2: boolean[257] input\n", d),
         fmt::format("    %0 = load.{0} b0[i0]\n    %1 = load.{0} b1[i0]\n    %2 = load.boolean b2[i0]\n", d), "", 3,
         3};
  int divisor = 1;
  if (is_integral(t)) {
    x.body += fmt::format("    %3 = constant.{0} 1\n    %4 = bit_or.{0} %1 %3\n", d);
    divisor = 4;
    x.value_count = 5;
  }
  std::string stores;
  for (int i = 0; i < loop::kScalarOpCount; ++i) {
    const auto op = static_cast<ScalarOp>(i);
    const loop::ScalarOpInfo& info = loop::info_of(op);
    if (!is_plain(op) || !loop::takes(info.operands, t)) continue;
    const bool truth = info.result == loop::ResultRule::boolean;
    std::string args = info.arity == 1   ? "%0"
                       : info.arity == 2 ? fmt::format("%0 %{}", is_division(op) ? divisor : 1)
                                         : "%0 %1 %0";
    if (op == ScalarOp::select) args = "%2 %0 %1";
    x.body += fmt::format("    %{} = {}.{} {}\n", x.value_count, info.name, truth ? "boolean" : d, args);
    Text later{"", "", "", x.buffer_count, 0};
    later.store(truth ? "boolean" : d, x.value_count++, "257", "1", "i0");
    x.buffers += later.buffers;
    stores += later.body;
    x.returns += later.returns;
    x.buffer_count = later.buffer_count;
  }
  for (Dtype to : kCompute) {
    if (to == t) continue;
    x.body += fmt::format("    %{} = cast.{} %0\n", x.value_count, to_text(to));
    Text later{"", "", "", x.buffer_count, 0};
    later.store(std::string(to_text(to)), x.value_count++, "257", "1", "i0");
    x.buffers += later.buffers;
    stores += later.body;
    x.returns += later.returns;
    x.buffer_count = later.buffer_count;
  }
  return {"ops_" + d,
          "program ops\n" + x.buffers + "kernel poi_ops outer (i0 < 257) {\n  phase {\n" + x.body + stores +
              "  }\n}\n" + x.returns,
          {{}},
          t == Dtype::f32   ? 1e-6
          : t == Dtype::f64 ? 1e-13
                            : 0,
          true};
}

bool is_possible(CombineOp op, Dtype t) {
  if (op == CombineOp::any || op == CombineOp::all) return t == Dtype::boolean;
  if (op == CombineOp::welford || op == CombineOp::online_softmax) return is_floating(t);
  return t != Dtype::boolean || op == CombineOp::max || op == CombineOp::min;
}

TritonCase combinations(Dtype t, bool dynamic, bool scan, bool reverse) {
  const std::string d(to_text(t)), rows = dynamic ? "s0" : "5", columns = dynamic ? "s1" : "37";
  const std::string place = columns + "*i0 + r0", both = rows + ", " + columns;
  Text x{fmt::format("buffer b0: {}[{}] input\n", d, both), "", "", 1, 2};
  std::string body = fmt::format("    %0 = load.{} b0[{}]\n    %1 = index.i64 [r0]\n", d, place), stores;
  for (int i = 0; i < loop::kCombineOpCount; ++i) {
    const auto op = static_cast<CombineOp>(i);
    if (!is_possible(op, t)) continue;
    const loop::CombineOpInfo& info = loop::info_of(op);
    const int tuple = x.value_count++;
    body += fmt::format("    %{} = {}.{} {} %0{}{}\n", tuple, scan ? "scan" : "combine", d, info.name,
                        info.operands == 2 ? " %1" : "", reverse ? " reverse" : "");
    for (int part = 0; part < info.parts; ++part) {
      const std::string type = info.operands == 2 && part == 1 ? "i64" : d;
      const int v = part == 0 ? tuple : x.value_count++;
      if (part > 0) body += fmt::format("    %{} = part.{} %{} {}\n", v, type, tuple, part);
      Text one{"", "", "", x.buffer_count, 0};
      one.store(type, v, scan ? both : rows, scan ? columns + ", 1" : "1", scan ? place : "i0");
      x.buffers += one.buffers;
      stores += one.body;
      x.returns += one.returns;
      x.buffer_count = one.buffer_count;
    }
  }
  const std::string kind = scan ? (reverse ? "back" : "scan") : "com";
  return {fmt::format("{}_{}{}", kind, d, dynamic ? "_dynamic" : ""),
          "program p\n" +
              std::string(dynamic ? "sizes s0 in [0, 1000000] hint 64, s1 in [0, 1000000] hint 128\n" : "") +
              x.buffers + fmt::format("kernel k_{} outer (i0 < {}) {{\n  phase (r0 < {}) {{\n", kind, rows, columns) +
              body + (scan ? stores : "  }\n  phase {\n" + stores) + "  }\n}\n" + x.returns,
          dynamic ? std::vector<std::vector<std::int64_t>>{{3, 1}, {2, 300}, {4, 0}}
                  : std::vector<std::vector<std::int64_t>>{{}},
          is_floating(t) ? 1e-4 : 0, false};
}

std::vector<TritonCase> make() {
  std::vector<TritonCase> all;
  for (Dtype t : kCompute) {
    all.push_back(operations(t));
    for (bool dynamic : {false, true}) {
      all.push_back(combinations(t, dynamic, false, false));
      all.push_back(combinations(t, dynamic, true, false));
      all.push_back(combinations(t, dynamic, true, true));
    }
  }
  return all;
}

}  // namespace

const std::vector<TritonCase>& triton_operations() {
  static const std::vector<TritonCase> all = make();
  return all;
}

}  // namespace stax::test
