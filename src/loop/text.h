// Text form, verifier and reference interpreter of loop programs.
#pragma once
#include <stax/tensor/array.h>

#include "loop/ir.h"

namespace stax::loop {

enum class Hints : bool { shown, left_out };  // the values of sizes that steer choices
std::string to_text(const Program& p, Hints hints = Hints::shown);
std::string to_text(const Program& p, const Kernel& k);
// Throws UserError with line and column.
Program parse_program(std::string_view text, std::string_view file = "<text>");

// Checks every rule stated in ir.h, dtypes against the operation table, axes, visibility; bounds of addresses where
// provable wrong. Throws InternalError naming the kernel and the value.
void verify(const Program& p);
void verify(const Program& p, const Kernel& k);

struct Bindings {
  std::vector<std::int64_t> sizes;  // values of Program::sizes
  std::vector<Array> inputs;        // by Buffer::input
  std::vector<double> scalars_f64;  // values of the scalar inputs; integers also in scalars_i64
  std::vector<std::int64_t> scalars_i64;
};
// Runs the program element by element on the CPU: the meaning of the IR. Library calls accumulate in double.
// Written inputs are written. Index errors throw UserError as the executor does.
std::vector<Array> interpret(const Program& p, const Bindings& bindings);

}  // namespace stax::loop
