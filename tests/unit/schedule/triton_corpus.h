// Loop programs whose Triton kernels are compiled, interpreted and run.
#pragma once
#include <stax/tensor/array.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stax::test {

// Rows or columns of the inputs that are each of one kind: see special_number.
enum class Patterns : std::uint8_t { none, rows, columns };

struct TritonCase {
  std::string name, text;
  std::vector<std::vector<std::int64_t>> small;  // sizes for the interpreters; a static case has one empty entry
  double tolerance = 0;
  bool special = false;  // inputs hold NaN, infinities, zeros of both signs
  bool indices = false;  // integer inputs are valid indices
  Patterns patterns = Patterns::none;
  std::vector<Array> inputs = {};  // by position; else they are made
};

const std::vector<TritonCase>& triton_corpus();
// Every operation, combine and scan of every compute dtype.
const std::vector<TritonCase>& triton_operations();
// Reductions and scans of rows of special values.
const std::vector<TritonCase>& triton_specials();
const TritonCase& triton_case(const std::string& name);

// Element i of a row of special values.
inline constexpr std::int64_t kSpecialRows = 12;
double special_number(std::int64_t row, std::int64_t i, std::int64_t length);
std::int64_t special_integer(std::int64_t row, std::int64_t i, std::int64_t length, std::int64_t low,
                             std::int64_t high);

}  // namespace stax::test
