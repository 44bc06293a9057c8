// Programs from text, arrays from lists, and the run of a program.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loop/text.h"
#include "loop/transform.h"

namespace stax::loop {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

// Parses and verifies.
inline Program program_of(std::string_view text) {
  Program p = parse_program(text);
  verify(p);
  return p;
}

inline Kernel& kernel_of(Program& p, std::size_t item = 0) { return std::get<Kernel>(p.items.at(item)); }

template <class T = float>
Array array_of(std::initializer_list<std::int64_t> sizes, const std::vector<T>& values) {
  Array a = Array::empty(sizes, dtype_of<T>());
  EXPECT_EQ(a.numel(), static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) a.data_as<T>()[i] = values[i];
  return a;
}

// Row-major elements as T.
template <class T = float>
std::vector<T> values_of(const Array& a) {
  std::vector<T> result;
  for_each_index(std::span(a.sizes().data(), a.sizes().size()), [&](std::span<const std::int64_t> index) {
    if constexpr (std::is_floating_point_v<T>)
      result.push_back(static_cast<T>(read_f64(a, index)));
    else
      result.push_back(static_cast<T>(read_i64(a, index)));
  });
  return result;
}

inline std::vector<Array> run(const Program& p, std::vector<std::int64_t> sizes, std::vector<Array> inputs,
                              std::vector<double> scalars = {}) {
  Bindings b;
  b.sizes = std::move(sizes);
  b.inputs = std::move(inputs);
  for (double s : scalars) {
    b.scalars_f64.push_back(s);
    b.scalars_i64.push_back(static_cast<std::int64_t>(s));
  }
  return interpret(p, b);
}

// Same length, NaN equal to NaN, zeros by sign, else exact.
inline void expect_same(const std::vector<float>& got, const std::vector<float>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
    } else {
      EXPECT_EQ(got[i], wanted[i]) << "element " << i;
      EXPECT_EQ(std::signbit(got[i]), std::signbit(wanted[i])) << "sign of element " << i;
    }
  }
}

}  // namespace stax::loop
