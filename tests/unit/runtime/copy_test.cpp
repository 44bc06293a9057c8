#include "runtime/cpu/copy.h"

#include <gtest/gtest.h>
#include <stax/tensor/array.h>

#include <random>

namespace stax::runtime {
namespace {

void copy(const Array& from, const Array& to) {
  CopyArgs args;
  args.from = from.data(), args.to = to.data();
  args.from_dtype = from.dtype(), args.to_dtype = to.dtype();
  args.sizes = to.sizes(), args.from_strides = from.strides(), args.to_strides = to.strides();
  cpu_copy(args);
}

template <class T>
Array counted(std::int64_t n) {
  Array a = Array::empty({n}, dtype_of<T>());
  for (std::int64_t i = 0; i < n; ++i) a.data_as<T>()[i] = static_cast<T>(i);
  return a;
}

void expect_equal(const Array& from, const Array& to) {
  int bad = 0;
  for_each_index(to.sizes(), [&](auto index) { bad += read_i64(from, index) != read_i64(to, index); });
  EXPECT_EQ(bad, 0);
}

TEST(Copy, EveryOrderOfAxesAndElementSize) {
  const std::vector<Dims> strides{{35, 7, 1}, {1, 4, 20}, {5, 1, 20}, {-35, 7, 1}, {0, 7, 1}, {35, 0, 1}, {70, 14, 2}};
  auto run = [&](auto zero) {
    using T = decltype(zero);
    for (const Dims& s : strides) {
      const Array from = counted<T>(400).with_layout(Layout{{4, 5, 7}, s, s[0] < 0 ? 105 : 0});
      for (const Dims& d : {Dims{35, 7, 1}, Dims{1, 4, 20}, Dims{80, 16, 2}, Dims{-35, 7, 1}}) {
        const Array to = counted<T>(400).with_layout(Layout{{4, 5, 7}, d, d[0] < 0 ? 105 : 0});
        copy(from, to);
        expect_equal(from, to);
      }
    }
  };
  run(std::int8_t{});
  run(std::int16_t{});
  run(std::int32_t{});
  run(std::int64_t{});
}

TEST(Copy, LargeTransposeOnAllThreads) {
  const Array from = counted<std::int32_t>(700 * 900).with_layout(Layout{{900, 700}, {1, 900}, 0});
  const Array to = Array::empty({900, 700}, Dtype::i32);
  copy(from, to);
  expect_equal(from, to);
}

TEST(Copy, EmptyAndScalar) {
  copy(Array::empty({0, 3}, Dtype::f32), Array::empty({0, 3}, Dtype::f32));
  const Array from = counted<std::int32_t>(9).with_layout(Layout{{}, {}, 7});
  const Array to = Array::empty({}, Dtype::i32);
  copy(from, to);
  EXPECT_EQ(to.data_as<std::int32_t>()[0], 7);
}

TEST(Copy, Converts) {
  const Array from = counted<std::int32_t>(12).with_layout(Layout{{3, 4}, {1, 3}, 0});
  const Array to = Array::empty({3, 4}, Dtype::f16);
  copy(from, to);
  expect_equal(from, to);
}

}  // namespace
}  // namespace stax::runtime
