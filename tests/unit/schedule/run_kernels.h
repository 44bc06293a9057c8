// Compiles kernels of loop programs with the system compiler and runs them beside the interpreter.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loop/schedule.h"
#include "loop/text.h"
#include "schedule/schedule.h"

namespace stax::test {

struct ErrorWord {
  std::int64_t code = 0, origin = 0, index = 0, bound = 0;
};

// A shared object of the kernels of some programs, one function a kernel.
class CompiledKernels {
 public:
  using Choose = std::function<loop::CpuSchedule(const loop::Kernel&, const loop::Program&)>;
  CompiledKernels(const std::vector<const loop::Program*>& programs, int vector_bytes, const Choose& choose,
                  const std::vector<std::string>& extra_flags = {});
  ~CompiledKernels();
  const std::string& source() const { return source_; }
  double compile_seconds() const { return seconds_; }

  // Runs the kernels of program `which` in order. Buffers that are not inputs are filled with 0xA5 before.
  std::vector<Array> run(std::size_t which, const loop::Bindings& bindings, int threads,
                         ErrorWord* error = nullptr) const;

  using Function = void (*)(void* const*, const std::int64_t*, const std::uint64_t*, int, ErrorWord*);
  Function function(std::size_t program, std::size_t item) const;

 private:
  std::vector<const loop::Program*> programs_;
  std::vector<loop::CpuSchedule> schedules_;
  std::string source_;
  void* library_ = nullptr;
  double seconds_ = 0;
};

CompiledKernels::Choose default_schedule(int vector_bytes, int threads);

// Row-major, uninitialised, ends at an inaccessible page: reading or writing beyond it is a fault.
Array guarded_array(const std::vector<std::int64_t>& sizes, Dtype dtype);

// Random values around zero, NaN, infinities and zeros of both signs among them when `special`.
Array random_array(const std::vector<std::int64_t>& sizes, Dtype dtype, unsigned seed, bool special = false);

// Largest difference relative to max(|b|, scale); infinite when one is NaN or the integers differ.
double difference(const Array& a, const Array& b);

// "[3, 5]: 1.5, not nan"; empty when there is none.
std::string first_difference(const Array& actual, const Array& expected, double tolerance);

// The output must be within `tolerance` of the interpreter's for every size of `sizes` (values of Program::sizes).
// Inputs are random; `fill` may replace them.
struct Check {
  std::string text;
  std::vector<std::vector<std::int64_t>> sizes;
  double tolerance = 0;
  bool special = false;
  std::function<void(loop::Bindings&)> fill;
  std::string schedule;  // of every kernel; empty: the default
};
void check_all(const std::vector<Check>& checks, int vector_bytes = 64, int threads = 2);

}  // namespace stax::test
