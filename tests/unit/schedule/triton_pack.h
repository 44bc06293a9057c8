// Launches of corpus kernels as files: a list of launches in launches.txt, each buffer in a file. What runs them
// (Triton's interpreter, a program on a machine with a card) overwrites the files of the buffers.
//
//   case rows 0                      name and number
//   function red_sum                 kernel NAME.py, NAME.cubin
//   grid 64
//   threads 128
//   shared 32
//   buffer *fp32 rows.0.b0 1024      Triton's type, file, bytes
//   error rows.0.error
//   integer 64    double 1.5         arguments in their order
//   constant XBLOCK 1
//   end
// or, for cases without small sizes, `space BYTES` for each buffer and `measure` at the end.
#pragma once
#include <stax/tensor/array.h>

#include <filesystem>
#include <vector>

#include "build/triton_compiler.h"
#include "triton_corpus.h"

namespace stax::test {

struct PackedLaunch {
  std::string name;
  double tolerance = 0;
  struct Output {
    std::string file;
    Array expected;
  };
  std::vector<Output> outputs;
};

// Rows or columns of special values, see special_number.
Array special_array(Patterns patterns, const std::vector<std::int64_t>& sizes, Dtype dtype);

// `compiler`: also the cubins. Inputs are random, outputs are poisoned, expected values come from the loop interpreter.
std::vector<PackedLaunch> write_pack(const std::filesystem::path& dir, const std::vector<TritonCase>& cases,
                                     build::TritonCompiler* compiler = nullptr);
// Compares the files with what was expected.
void check_pack(const std::filesystem::path& dir, const std::vector<PackedLaunch>& launches);

}  // namespace stax::test
