// Loop programs whose Triton kernels are compiled, interpreted and run.
#pragma once
#include <string>
#include <vector>

namespace stax::test {

struct TritonCase {
  std::string name, text;
  std::vector<std::vector<std::int64_t>> small;  // sizes for the interpreters; a static case has one empty entry
  double tolerance = 0;
  bool special = false;  // inputs hold NaN, infinities, zeros of both signs
  bool indices = false;  // integer inputs are valid indices
};

const std::vector<TritonCase>& triton_corpus();
// Every operation, combine and scan of every compute dtype.
const std::vector<TritonCase>& triton_operations();
const TritonCase& triton_case(const std::string& name);

}  // namespace stax::test
