// Kernels over the prelude, built by the system compiler and loaded: what the math tests and the sweeps call.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stax::codegen {

class MathKernel {
 public:
  // The prelude snippets followed by `body`, built for vectors of vector_bytes with -O2 and `flags`.
  MathKernel(std::span<const std::string_view> snippets, std::string_view body, int vector_bytes,
             std::string_view flags = "-march=native");
  ~MathKernel();
  MathKernel(MathKernel&& other) noexcept;
  MathKernel& operator=(MathKernel&&) = delete;

  template <class F>
  F* function(const std::string& name) const {
    return reinterpret_cast<F*>(symbol(name));
  }
  double compile_seconds() const { return seconds_; }

 private:
  void* symbol(const std::string& name) const;
  void* handle_ = nullptr;
  double seconds_ = 0;
};

using Map1 = void(const float* x, float* y, std::int64_t n);

// Loops `void map_<name>(const f32* x, f32* y, i64 n)` for functions of one float32 vector, tails included.
std::string map_bodies(std::span<const std::string_view> functions);

// |y - reference| in units of the last place of a float32 at the reference; 0 for two NaN, infinite for a wrong class.
double ulp_error(float y, double reference);

// A float32 function under test and its double reference.
struct MathFunction {
  std::string_view name, snippet;
  double (*reference)(double);
  double bound;  // ULP
};
std::span<const MathFunction> math_functions();

}  // namespace stax::codegen
