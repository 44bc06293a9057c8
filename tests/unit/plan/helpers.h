// Plans from text, run with kernels that are functions of the test.
#pragma once
#include <gtest/gtest.h>
#include <stax/tensor/array.h>

#include <map>

#include "plan/executable.h"
#include "plan/text.h"

namespace stax::plan::test {

class FakeModule final : public runtime::Module {
 public:
  explicit FakeModule(std::map<std::string, runtime::CpuKernel> functions) : functions_(std::move(functions)) {}
  const std::string& name() const override { return name_; }
  void* function(std::string_view symbol) const override {
    return reinterpret_cast<void*>(functions_.at(std::string(symbol)));
  }

 private:
  std::string name_ = "fake";
  std::map<std::string, runtime::CpuKernel> functions_;
};

inline Plan plan_of(std::string_view text) {
  return parse_plan(text, std::make_shared<symbolic::Context>(), "test.plan");
}

inline Executable executable(std::string_view text, std::map<std::string, runtime::CpuKernel> functions = {}) {
  return Executable(plan_of(text), {std::make_shared<FakeModule>(std::move(functions))});
}

inline Array filled(std::vector<std::int64_t> sizes, float first, float step = 1) {
  Array a = Array::empty(sizes, Dtype::f32);
  for (std::int64_t i = 0; i < a.numel(); ++i) a.data_as<float>()[i] = first + static_cast<float>(i) * step;
  return a;
}

// The arguments of one call, kept alive.
struct Call {
  std::vector<Array> tensors;
  std::vector<ScalarValue> scalars;
  std::vector<const Array*> pointers;

  explicit Call(std::vector<Array> t, std::vector<ScalarValue> s = {}) : tensors(std::move(t)), scalars(std::move(s)) {
    for (const Array& a : tensors) pointers.push_back(&a);
  }
  CallArgs args() const { return {pointers, scalars}; }
};

inline std::vector<Array> run(const Executable& e, const Call& call) {
  std::vector<Array> outputs(e.plan().outputs.size());
  e.run(call.args(), outputs);
  return outputs;
}

inline std::string failure(const Executable& e, const Call& call) {
  GuardFailure why;
  const bool fits = e.check(call.args(), &why);
  EXPECT_EQ(fits, e.check(call.args()));
  return fits ? "fits" : why.text;
}

// out = x + y over s0 · s1 elements, contiguous.
inline constexpr std::string_view kAdd = R"(plan @add {
  input  x f32 rank 2 cpu
  input  y f32 rank 2 cpu
  bind   s0 in [2, 281474976710655] hint 64 = x.size(0) because "first size" at "main.cpp":9
  bind   s1 in [2, 281474976710655] hint 128 = x.size(1)
  guard  x.stride(1) == 1 because "row-major" at "main.cpp":9
  guard  y.stride(1) == 1
  guard  y.size(0) == s0 because "equal sizes share a symbol" at "main.cpp":9
  guard  y.size(1) == s1
  guard  x.stride(0) == s1
  guard  y.stride(0) == s1
  buffer b0 f32 cpu input x
  buffer b1 f32 cpu input y
  buffer b2 f32 cpu output bytes 4*s0*s1
  kernel add symbol add_f32 module 0
  alloc  b2
  launch add (b0, b1, b2; s0*s1; )
  return out0 f32 b2[s0, s1] strides (s1, 1) offset 0
}
)";

inline void add_f32(void* const* buffers, const std::int64_t* ints, const std::uint64_t*, int, runtime::ErrorWord*) {
  const auto* x = static_cast<const float*>(buffers[0]);
  const auto* y = static_cast<const float*>(buffers[1]);
  auto* out = static_cast<float*>(buffers[2]);
  for (std::int64_t i = 0; i < ints[0]; ++i) out[i] = x[i] + y[i];
}

}  // namespace stax::plan::test
