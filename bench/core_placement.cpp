// Where two cores of a virtual machine are: what a line costs that the other core wrote, and whether two threads stream
// faster than one.
//   bench_core_placement [SECONDS]      a row a second, 10 by default; needs AVX-512 and two cores
#include <fmt/core.h>
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/cpu/openmp.h"

namespace {

constexpr std::size_t kShared = 192 * 1024, kLarge = std::size_t{32} << 20;  // floats of a thread: 0.75 and 128 MiB

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// µs of reading n floats, a multiple of 32.
__attribute__((target("avx512f"))) double read_us(const float* x, std::size_t n) {
  const double begin = now_us();
  __m512 a = _mm512_setzero_ps(), b = a;
  for (std::size_t i = 0; i < n; i += 32) {
    a = _mm512_add_ps(a, _mm512_loadu_ps(x + i));
    b = _mm512_add_ps(b, _mm512_loadu_ps(x + i + 16));
  }
  a = _mm512_add_ps(a, b);
  asm volatile("" : : "v"(a));
  return now_us() - begin;
}

// Loads that cross lines would take twice the time.
using Floats = std::unique_ptr<float[], decltype(&std::free)>;
Floats ones(std::size_t n) {
  Floats x(static_cast<float*>(std::aligned_alloc(4096, n * sizeof(float))), &std::free);
  if (x) std::fill_n(x.get(), n, 1.0f);
  return x;
}

struct Sample {
  double own, other, one, two;  // µs
};

Sample measure(float* shared, const float* large) {
  double own[2], other[2], streamed[2];
#pragma omp parallel num_threads(2)
  {
    const auto t = static_cast<std::size_t>(omp_get_thread_num());
    std::fill_n(shared + t * kShared, kShared, 1.0f);
#pragma omp barrier
    own[t] = read_us(shared + t * kShared, kShared);
#pragma omp barrier
    other[t] = read_us(shared + (1 - t) * kShared, kShared);
#pragma omp barrier
    streamed[t] = read_us(large + t * kLarge, kLarge);
  }
  return {std::max(own[0], own[1]), std::max(other[0], other[1]), read_us(large, kLarge),
          std::max(streamed[0], streamed[1])};
}

double median(std::vector<Sample>& samples, double Sample::*field) {
  std::sort(samples.begin(), samples.end(), [&](const Sample& a, const Sample& b) { return a.*field < b.*field; });
  return samples[samples.size() / 2].*field;
}

}  // namespace

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 10;
  if (rows < 1 || !__builtin_cpu_supports("avx512f") || std::thread::hardware_concurrency() < 2) {
    fmt::print(stderr, "bench_core_placement: needs AVX-512, two cores and a number of seconds from 1 on\n");
    return 2;
  }
  const Floats shared = ones(2 * kShared), large = ones(2 * kLarge);
  if (!shared || !large) return 1;
  fmt::print("0.75 MB of the own core, of the other core (us); one thread, two threads (GB/s)\n");
  for (int i = 0; i < rows; ++i) {
    std::vector<Sample> samples;
    for (const double end = now_us() + 1e6; now_us() < end || samples.size() < 3;)
      samples.push_back(measure(shared.get(), large.get()));
    constexpr double kBytes = 4e-3 * kLarge;  // GB/s from µs
    fmt::print("{:5.1f} {:5.1f} {:6.1f} {:6.1f}\n", median(samples, &Sample::own), median(samples, &Sample::other),
               kBytes / median(samples, &Sample::one), 2 * kBytes / median(samples, &Sample::two));
    std::fflush(stdout);
  }
  return 0;
}
