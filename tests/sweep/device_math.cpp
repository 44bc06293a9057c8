// Every float32 through the float32 functions of a GPU's kernels (as the base of a power with one random exponent
// each), against its float64 functions, which are compared with the C library on a part of the inputs.
//   device_math [--device cuda] [--only FUNCTION] [--chunks N, default all 256]
// prints a row for each function: largest error in ULP (also of subnormal results), where, and how many results are of
// the wrong class or have a zero of the wrong sign. Exit status 1 if a bound is exceeded.
#include <fmt/format.h>
#include <stax/stax.h>

#include <bit>
#include <cmath>
#include <functional>

#include "device/on_device.h"

using namespace stax;

namespace {

constexpr std::int64_t kChunk = 1 << 24;

struct Function {
  std::string name;
  double bound;
  std::function<Tensor(const Tensor&, const Tensor&)> call;
  double (*reference)(double, double);
};

double sigmoid_of(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

std::vector<Function> functions() {
  using T = const Tensor&;
  return {
      {"exp", 2, [](T x, T) { return exp(x); }, [](double x, double) { return std::exp(x); }},
      {"log", 2, [](T x, T) { return log(x); }, [](double x, double) { return std::log(x); }},
      {"tanh", 2, [](T x, T) { return tanh(x); }, [](double x, double) { return std::tanh(x); }},
      {"erf", 2, [](T x, T) { return erf(x); }, [](double x, double) { return std::erf(x); }},
      {"sigmoid", 2, [](T x, T) { return sigmoid(x); }, [](double x, double) { return sigmoid_of(x); }},
      {"sin", 2, [](T x, T) { return sin(x); }, [](double x, double) { return std::sin(x); }},
      {"cos", 2, [](T x, T) { return cos(x); }, [](double x, double) { return std::cos(x); }},
      {"exp2", 4, [](T x, T) { return exp2(x); }, [](double x, double) { return std::exp2(x); }},
      {"expm1", 4, [](T x, T) { return expm1(x); }, [](double x, double) { return std::expm1(x); }},
      {"log2", 4, [](T x, T) { return log2(x); }, [](double x, double) { return std::log2(x); }},
      {"log1p", 4, [](T x, T) { return log1p(x); }, [](double x, double) { return std::log1p(x); }},
      {"pow", 4, [](T x, T e) { return pow(x, e.to(x.dtype())); }, [](double x, double e) { return std::pow(x, e); }},
      {"sqrt", 0.5, [](T x, T) { return sqrt(x); }, [](double x, double) { return std::sqrt(x); }},
      {"rsqrt", 4, [](T x, T) { return rsqrt(x); }, [](double x, double) { return 1 / std::sqrt(x); }},
  };
}

// Exponents for which powers of x have all magnitudes, subnormal ones and beyond the largest too, from numbers in [0,
// 1); whole ones below 0.
Tensor exponents_for(const Tensor& x, const Tensor& u) {
  const Tensor e = (u * 280 - 150) / log2(abs(x));
  return where(x < 0, round(e), e);
}

// Largest error of y, where, that of subnormal results, wrong results.
std::vector<Tensor> errors_of(const Tensor& y, const Tensor& r) {
  const Tensor wide = y.to(f64), rounded = r.to(f32);
  const Tensor ulp = exp2(maximum(floor(log2(abs(r))) - 23, -149));
  const Tensor nan = logical_or(isnan(r), isnan(y)), infinite = logical_or(isinf(r), isinf(y));
  const Tensor error = where(logical_or(nan, infinite), 0.0, abs(wide - r) / ulp);
  const Tensor other_nan = isnan(r) != isnan(y);
  const Tensor other_infinity = logical_and(logical_and(infinite, logical_not(nan)), rounded != y);
  const Tensor zeros = logical_and(y == 0, r == 0);
  const Tensor other_zero = logical_and(zeros, 1 / y != (1 / r).to(f32));
  const Tensor wrong = logical_or(logical_or(other_nan, other_infinity), other_zero);
  return {amax(error, {0}), argmax(error, 0), amax(where(abs(r) < 0x1p-126, error, 0.0), {0}), sum(wrong)};
}

struct Row {
  double ulp = -1, subnormal = 0;
  float at = 0;
  std::int64_t wrong = 0;
};

// Largest relative difference of the card's float64 function from the C library's, over inputs of all magnitudes.
double reference_error(const Function& f) {
  std::vector<float> some;
  for (std::uint64_t bits = 0; bits < (1ull << 32); bits += 65521)
    some.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const auto count = static_cast<std::int64_t>(some.size());
  const Tensor given = from_vector(some, {count}), exponents = exponents_for(given, rand({count}, 1));
  const std::vector<float> e = exponents.to_vector<float>();
  const auto compiled = compile(
      std::function<Tensor(Tensor, Tensor)>([&](const Tensor& t, const Tensor& p) { return f.call(t.to(f64), p); }));
  const std::vector<double> y = compiled(given, exponents).to_vector<double>();
  double worst = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const double r = f.reference(some[i], e[i]);
    if (std::isnan(r) != std::isnan(y[i])) return INFINITY;
    if (std::isnan(r) || r == y[i]) continue;
    worst = std::max(worst, std::abs(y[i] - r) / std::abs(r));
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const Device device = parse_device(devicetest::option(argc, argv, "--device", "cuda"));
  if (!devicetest::exists(device)) return devicetest::kSkipped;
  set_default_device(device);
  const std::string only = devicetest::option(argc, argv, "--only", "");
  const auto chunks = std::stoull(devicetest::option(argc, argv, "--chunks", "256"));
  const std::vector<Function> all = functions();
  using Both = std::function<std::vector<Tensor>(Tensor, Tensor)>;
  std::vector<decltype(compile(Both()))> calls;
  for (const Function& f : all)
    calls.push_back(compile(Both([&f](const Tensor& x, const Tensor& e) {
      return std::vector{f.call(x, e), f.call(x.to(f64), e)};
    })));
  const auto powers = compile(exponents_for);
  const Tensor uniform = rand({kChunk}, 1);
  const auto errors = compile(std::function<std::vector<Tensor>(Tensor, Tensor)>(errors_of));
  std::vector<Row> rows(all.size());
  std::vector<float> x(kChunk);
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint64_t part = chunk * (256 / chunks);
    for (std::uint64_t i = 0; i < kChunk; ++i)
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(part * kChunk + i));
    const Tensor given = from_vector(x, {kChunk}), exponents = powers(given, uniform);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!only.empty() && all[k].name != only) continue;
      const std::vector<Tensor> results = calls[k](given, exponents), e = errors(results[0], results[1]);
      Row& row = rows[k];
      if (const double ulp = e[0].item<double>(); ulp > row.ulp)
        row.ulp = ulp, row.at = x[static_cast<std::size_t>(e[1].item<std::int64_t>())];
      row.subnormal = std::max(row.subnormal, e[2].item<double>());
      row.wrong += e[3].item<std::int64_t>();
    }
    if (chunk % 32 == 0) fmt::print(stderr, "{} of {} parts\n", chunk + 1, chunks);
  }
  bool good = true;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!only.empty() && all[k].name != only) continue;
    const Row& row = rows[k];
    const double reference = reference_error(all[k]);
    good = good && row.ulp <= all[k].bound && row.wrong == 0 && reference < 1e-14;
    fmt::print("| {} | {:.3f} | {:a} | {:.3f} | {} | {} | {:.1e} |\n", all[k].name, row.ulp, row.at, row.subnormal,
               row.wrong, all[k].bound, reference);
  }
  return good ? 0 : 1;
}
