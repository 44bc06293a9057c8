// can_emit_cpp agrees with the emitter: what it allows is emitted and compiles, what it refuses has no spelling.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/file.h"
#include "base/subprocess.h"
#include "codegen/cpp/emit.h"
#include "loop/builder.h"

namespace stax::test {
namespace {

using loop::CombineOp;
using loop::KernelBuilder;
using loop::Program;
using loop::ScalarOp;
using loop::Value;
using loop::ValueId;

constexpr Dtype kAll[] = {
#define X(name, type, bytes, kind) Dtype::name,
    STAX_DTYPES(X)
#undef X
};

struct Built {
  std::unique_ptr<Program> program;
  loop::CpuSchedule schedule;
  std::string what;
  const loop::Kernel& kernel() const { return std::get<loop::Kernel>(program->items[0]); }
};

loop::Buffer vector_buffer(Program& p, Dtype t, loop::BufferKind kind) {
  loop::Buffer b;
  b.name = fmt::format("b{}", p.buffers.size());
  b.dtype = t;
  b.sizes = {p.sizes[0]};
  b.strides = {p.context->constant(1)};
  b.kind = kind;
  b.input = kind == loop::BufferKind::input ? static_cast<int>(p.buffers.size()) : -1;
  return b;
}

std::unique_ptr<Program> empty_program(Dtype in, Dtype out) {
  auto p = std::make_unique<Program>();
  p->context = std::make_shared<symbolic::Context>();
  p->sizes = {p->context->symbol("n0", {.range = {0, 1 << 20}})};
  p->buffers.push_back(vector_buffer(*p, in, loop::BufferKind::input));
  p->buffers.push_back(vector_buffer(*p, Dtype::boolean, loop::BufferKind::input));
  p->buffers.push_back(vector_buffer(*p, out, loop::BufferKind::output));
  return p;
}

// The operation on loads of a dtype, stored as the dtype of its result.
Built operation(ScalarOp op, Dtype t) {
  const loop::ScalarOpInfo& info = loop::info_of(op);
  const bool truth = info.result == loop::ResultRule::boolean;
  Built built{empty_program(t, truth ? Dtype::boolean : t), {}, fmt::format("{} of {}", info.name, to_text(t))};
  KernelBuilder b(*built.program, "k");
  const auto i = b.outer(built.program->sizes[0]);
  b.phase();
  Value v;
  v.op = op;
  v.dtype = truth ? Dtype::boolean : compute_dtype(t);
  for (int a = 0; a < info.arity; ++a) {
    const bool condition = op == ScalarOp::select && a == 0;
    v.args[static_cast<std::size_t>(a)] = b.load(condition ? 1 : 0, i);
  }
  if (op == ScalarOp::round_to) v.half = t;
  b.store(2, i, b.append(v));
  built.program->items.emplace_back(b.finish());
  built.schedule.order = {0};
  built.schedule.vector_axis = 0;
  built.schedule.phases.resize(1);
  return built;
}

Built combination(CombineOp op, Dtype t, bool scan) {
  const loop::CombineOpInfo& info = loop::info_of(op);
  Built built{empty_program(t, t), {}, fmt::format("{} {} of {}", scan ? "scan" : "combine", info.name, to_text(t))};
  KernelBuilder b(*built.program, "k");
  const auto r = b.phase({built.program->sizes[0]});
  std::vector<ValueId> operands{b.load(0, r[0])};
  if (info.operands == 2) operands.push_back(b.index(r[0]));
  const ValueId result = scan ? b.scan(op, operands, compute_dtype(t)) : b.combine(op, operands, compute_dtype(t));
  if (!scan) b.phase();
  b.store(2, scan ? r[0] : built.program->context->constant(0), result);
  built.program->items.emplace_back(b.finish());
  built.schedule.phases.resize(built.kernel().phases.size());
  return built;
}

std::vector<Built> everything() {
  std::vector<Built> all;
  auto add = [&](auto&& make) {
    try {
      all.push_back(make());
    } catch (const Error&) {  // the builder refuses it: no such kernel exists
    }
  };
  for (Dtype t : kAll) {
    for (int i = 0; i < loop::kScalarOpCount; ++i) {
      const auto op = static_cast<ScalarOp>(i);
      const int arity = loop::info_of(op).arity;
      const bool leaf = arity == 0 || op == ScalarOp::bounded || op == ScalarOp::combine || op == ScalarOp::scan ||
                        op == ScalarOp::part;
      if (leaf || (op == ScalarOp::round_to && !is_half(t)) || op == ScalarOp::cast) continue;
      add([&] { return operation(op, t); });
    }
    for (int i = 0; i < loop::kCombineOpCount; ++i)
      for (bool scan : {false, true}) add([&] { return combination(static_cast<CombineOp>(i), t, scan); });
  }
  return all;
}

TEST(CanEmit, AgreesWithTheEmitter) {
  const std::vector<Built> all = everything();
  std::vector<codegen::CppKernel> allowed;
  int refused = 0;
  for (const Built& b : all) {
    const codegen::CppKernel kernel{fmt::format("k{}", &b - all.data()), b.program.get(), &b.kernel(), &b.schedule};
    if (const auto decision = codegen::can_emit_cpp(*b.program, b.kernel())) {
      allowed.push_back(kernel);
    } else {
      ++refused;
      EXPECT_FALSE(decision.reason().empty());
      EXPECT_THROW(codegen::emit_cpp({&kernel, 1}, 64), InternalError) << b.what;
    }
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(allowed.size(), 250U);
  for (int width : {16, 32, 64}) {
    base::TempDir dir("stax-test");
    const std::string file = (dir.path() / "k.cpp").string();
    base::write_file_atomic(file, codegen::emit_cpp(allowed, width));
    base::ProcessOptions options;
    options.argv = {"g++", "-march=native", "-std=c++20", "-fopenmp", "-fsyntax-only", "-w", file};
    const auto result = base::run_process(options);
    EXPECT_TRUE(result.ok()) << result.err.substr(0, 2000);
  }
}

TEST(CanEmit, Reasons) {
  auto reason = [](const Built& b) { return codegen::can_emit_cpp(*b.program, b.kernel()).reason(); };
  EXPECT_EQ(reason(operation(ScalarOp::add, Dtype::f8e4m3)), "C++ kernels do not read float8");
  EXPECT_EQ(reason(operation(ScalarOp::erf, Dtype::i32)), "C++ kernels have no erf of i32");
  EXPECT_EQ(reason(combination(CombineOp::argmax, Dtype::boolean, false)),
            "C++ kernels have no combine argmax of boolean");
  EXPECT_EQ(reason(operation(ScalarOp::tanh, Dtype::bf16)), "");
}

}  // namespace
}  // namespace stax::test
