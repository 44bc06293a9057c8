// Random kernels over small sizes, for equivalence tests by interpretation.
#pragma once
#include <fmt/format.h>

#include <cstring>
#include <random>

#include "loop/builder.h"
#include "support.h"

namespace stax::loop {

class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {
    p.context = std::make_shared<symbolic::Context>();
    for (int i = 0; i < 3; ++i) {
      p.sizes.push_back(p.context->symbol(fmt::format("s{}", i), {{1, 1 << 20}, 1, std::nullopt}));
      sizes.push_back(pick(1, 5));
    }
    p.scalars.push_back({"alpha", Dtype::f64, {}});
    p.scalars.push_back({"seed", Dtype::i64, {}});
  }

  Program p;
  std::vector<std::int64_t> sizes;
  std::vector<Array> inputs;

  std::int64_t pick(std::int64_t lo, std::int64_t hi) {
    return std::uniform_int_distribution<std::int64_t>(lo, hi)(random_);
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  Expr constant(std::int64_t v) { return p.context->constant(v); }
  Expr extent() {
    switch (pick(0, 5)) {
      case 0:
        return constant(pick(1, 6));
      case 1:
        return constant(1);
      case 2:
        return 2 * size();
      default:
        return size();
    }
  }
  Expr size() { return p.sizes[static_cast<std::size_t>(pick(0, 2))]; }

  // A buffer whose dimensions lie in memory in a random order, sometimes with gaps or from the end.
  BufferId buffer(Dtype dtype, std::vector<Expr> dims, BufferKind kind, bool plain = false) {
    Buffer b;
    b.name = fmt::format("b{}", p.buffers.size());
    b.dtype = dtype;
    b.sizes = std::move(dims);
    b.strides.resize(b.sizes.size());
    std::vector<std::size_t> order(b.sizes.size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
    if (!plain && chance(40)) std::shuffle(order.begin(), order.end(), random_);
    Expr stride = constant(1);
    for (std::size_t d = order.size(); d-- > 0;) {
      b.strides[order[d]] = stride;
      stride = stride * b.sizes[order[d]];
      if (!plain && chance(15)) stride = stride + 3;
    }
    b.kind = kind;
    if (kind == BufferKind::input) {
      b.input = static_cast<int>(inputs.size());
      inputs.push_back(data(b));
    }
    p.buffers.push_back(std::move(b));
    return static_cast<BufferId>(p.buffers.size()) - 1;
  }

  // The flat address of an element.
  Expr address(BufferId id, const std::vector<Expr>& index) {
    const Buffer& b = p.buffers[static_cast<std::size_t>(id)];
    Expr e = constant(0);
    for (std::size_t d = 0; d < index.size(); ++d) e = e + b.strides[d] * index[d];
    return e;
  }

  // A few operations over the values, which share a dtype.
  ValueId expression(KernelBuilder& b, std::vector<ValueId> values) {
    const Dtype t = b.dtype_of(values[0]);
    for (int i = 0; i < 4; ++i) {
      const ValueId x = any(values), y = any(values);
      static constexpr ScalarOp kBinary[] = {ScalarOp::add, ScalarOp::sub, ScalarOp::mul, ScalarOp::max, ScalarOp::min};
      switch (pick(0, 6)) {
        case 0:
          values.push_back(b.unary(ScalarOp::neg, x));
          break;
        case 1:
          values.push_back(b.select(b.binary(ScalarOp::lt, x, y), y, x));
          break;
        case 2:
          values.push_back(b.constant(static_cast<double>(pick(-2, 2)), t));
          break;
        case 3:
          values.push_back(b.cast(b.scalar(0, Dtype::f32), t));
          break;
        default:
          values.push_back(b.binary(kBinary[pick(0, 4)], x, y));
      }
    }
    return values.back();
  }
  ValueId any(const std::vector<ValueId>& values) {
    return values[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(values.size()) - 1))];
  }

  std::vector<Array> run() const {
    Bindings b;
    b.sizes = sizes;
    for (const Array& a : inputs) b.inputs.push_back(a);
    b.scalars_f64 = {1.5, 7};
    b.scalars_i64 = {1, 7};
    return interpret(p, b);
  }

  View whole(BufferId id) {
    const Buffer& b = p.buffers[static_cast<std::size_t>(id)];
    return {id, b.sizes, b.strides, constant(0)};
  }

 private:
  Array data(const Buffer& b) {
    Dims dims, strides;
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < b.sizes.size(); ++d) {
      dims.push_back(value(b.sizes[d]));
      strides.push_back(value(b.strides[d]));
      elements += (dims.back() - 1) * strides.back();
    }
    const Array storage = Array::empty({elements}, b.dtype);
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < elements; ++i) numbers.push_back(static_cast<float>(pick(-8, 8)));
    copy_elements(array_of({elements}, numbers), storage);
    return storage.with_layout({dims, strides, 0});
  }
  std::int64_t value(Expr e) {
    return *symbolic::evaluate(e, [&](Expr s) -> std::optional<std::int64_t> {
      for (std::size_t i = 0; i < p.sizes.size(); ++i)
        if (p.sizes[i] == s) return sizes[i];
      return std::nullopt;
    });
  }
  std::mt19937_64 random_;
};

// Bit for bit.
inline void expect_equal_outputs(const std::vector<Array>& a, const std::vector<Array>& b, const std::string& context) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Array x = contiguous_copy(a[i]), y = contiguous_copy(b[i]);
    ASSERT_EQ(x.sizes(), y.sizes());
    ASSERT_TRUE(x.numel() == 0 ||
                std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.numel() * byte_size(x.dtype()))) == 0)
        << "output " << i << " of\n"
        << context;
  }
}

}  // namespace stax::loop
