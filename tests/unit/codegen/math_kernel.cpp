#include "math_kernel.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <utility>

#include "build/cpp_flags.h"
#include "codegen/cpp/prelude.h"

namespace stax::codegen {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr const char* kSanitize = "-fsanitize=address,undefined -fno-sanitize-recover=undefined";
#else
constexpr const char* kSanitize = "";
#endif

}  // namespace

MathKernel::MathKernel(std::span<const std::string_view> snippets, std::string_view body, int vector_bytes,
                       std::string_view flags) {
  std::string path = (std::filesystem::temp_directory_path() / "stax-math-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary directory");
  const std::filesystem::path dir = path;
  std::ofstream(dir / "kernel.cpp") << prelude_text(snippets, vector_bytes) << body;
  const auto start = std::chrono::steady_clock::now();
  std::string command = "g++ -Wall -Wextra -Werror -Wno-psabi";
  for (const std::string& flag : build::cpp_flags({"sse2", 16}, ""))  // `flags` names the instruction set
    if (flag != "-w" && flag != "-nostdlib") command += " " + flag;
  command += fmt::format(" {0} {1} -shared -fPIC {2}/kernel.cpp -o {2}/kernel.so", kSanitize, flags, path);
  const int status = std::system(command.c_str());
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (status == 0) handle_ = dlopen((dir / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string error = status != 0 ? "the kernel does not compile" : handle_ == nullptr ? dlerror() : "";
  std::filesystem::remove_all(dir);
  if (handle_ == nullptr) throw std::runtime_error(error);
}
MathKernel::~MathKernel() {
#ifndef __SANITIZE_ADDRESS__  // an unloaded module would make its constructor's allocations leaks
  if (handle_ != nullptr) dlclose(handle_);
#endif
}
MathKernel::MathKernel(MathKernel&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), seconds_(other.seconds_) {}

void* MathKernel::symbol(const std::string& name) const {
  void* address = dlsym(handle_, name.c_str());
  if (address == nullptr) throw std::runtime_error("no symbol " + name);
  return address;
}

std::string map_bodies(std::span<const std::string_view> functions) {
  std::string text;
  for (const auto name : functions)
    text += fmt::format(
        "extern \"C\" void map_{0}(const f32* x, f32* y, i64 n) {{\n"
        "  i64 i = 0;\n"
        "  for (; i + v::L <= n; i += v::L) v::store(y + i, v::{0}(v::load(x + i)));\n"
        "  if (i < n) v::store_part(y + i, v::{0}(v::load_part(x + i, n - i)), n - i);\n"
        "}}\n"
        "extern \"C\" void each_{0}(const f32* x, f32* y, i64 n) {{ for (i64 i = 0; i < n; i++) y[i] = v::{0}(x[i]); "
        "}}\n",
        name);
  return text;
}

double ulp_error(float y, double reference) {
  if (std::isnan(reference) || std::isnan(y))
    return std::isnan(reference) && std::isnan(y) ? 0 : std::numeric_limits<double>::infinity();
  const float nearest = static_cast<float>(reference);
  if (y == nearest && std::signbit(y) == std::signbit(nearest))
    if (std::isinf(y) || y == 0) return 0;
  if (std::isinf(y) != std::isinf(nearest) && std::fabs(reference) < 0x1.fffffcp127)
    return std::numeric_limits<double>::infinity();
  if (y == 0 && nearest == 0) return std::numeric_limits<double>::infinity();  // the sign of zero
  // 2^(e - 23) for a reference in [2^e, 2^(e+1)), e no less than that of the smallest normal float32
  const double magnitude = std::clamp(std::fabs(reference), 0x1p-126, 0x1.fffffep127);
  const double last_place =
      std::bit_cast<double>((std::bit_cast<std::uint64_t>(magnitude) & 0x7ff0000000000000) - (std::uint64_t{23} << 52));
  const double at = std::isinf(y) ? std::copysign(0x1p128, y) : y;
  return std::fabs(at - reference) / last_place;
}

namespace {
double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
}  // namespace

std::span<const MathFunction> math_functions() {
  static const MathFunction all[] = {
      {"exp", "exp", std::exp, 2},    {"log", "log", std::log, 2},        {"tanh", "tanh", std::tanh, 2},
      {"erf", "erf", std::erf, 2},    {"sigmoid", "sigmoid", sigmoid, 2}, {"sin", "trig", std::sin, 2},
      {"cos", "trig", std::cos, 2},   {"exp2", "exp2", std::exp2, 4},     {"expm1", "expm1", std::expm1, 4},
      {"log2", "log2", std::log2, 4}, {"log1p", "log1p", std::log1p, 4},
  };
  return all;
}

}  // namespace stax::codegen
