// Memory-bound kernels from loop text against the bandwidth that plain loops reach, interleaved, on warm pages.
//   kernels_cpu [ROW…]     STAX_BENCH_THREADS (2), STAX_BENCH_SECONDS per row (2)
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "base/file.h"
#include "base/subprocess.h"
#include "build/cpp_flags.h"
#include "codegen/cpp/emit.h"
#include "loop/text.h"
#include "schedule/schedule.h"

namespace {

using namespace stax;

struct Row {
  std::string name, text, schedule;
  std::vector<std::int64_t> sizes;
  double bytes;
  bool writes;  // ceiling: copy, else read
};

constexpr const char* kHead =
    "program p\nsizes s0 in [2, 281474976710656] hint {}, s1 in [2, 281474976710656] hint {}\n";

std::string head(std::int64_t a, std::int64_t b) { return fmt::format(fmt::runtime(kHead), a, b); }

std::vector<Row> rows() {
  std::vector<Row> r;
  r.push_back({"relu_add_row_sum",
               head(8192, 4096) + R"(
buffer b0: f32[s0, s1] input
buffer b1: f32[s0, s1] input
buffer b2: f32[s0] output
kernel k outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = load.f32 b1[s1*i0 + r0]
    %2 = add.f32 %0 %1
    %3 = constant.f32 0.0
    %4 = max.f32 %2 %3
    %5 = constant.f32 2.0
    %6 = mul.f32 %4 %5
    %7 = combine.f32 sum %6
  }
  phase {
    store b2[i0] %7
  }
}
)",
               "",
               {8192, 4096},
               8192.0 * 4096 * 8,
               false});
  r.push_back({"e11",
               head(64, 128) + r.back().text.substr(r.back().text.find("buffer")),
               "",
               {64, 128},
               64.0 * 128 * 8,
               false});
  r.push_back({"transpose_add",
               head(4096, 4096) + R"(
buffer b0: f32[s1, s0] input
buffer b1: f32[s0, s1] input
buffer b2: f32[s0, s1] output
kernel k outer (i0 < s0, i1 < s1) {
  phase {
    %0 = load.f32 b0[i0 + s0*i1]
    %1 = load.f32 b1[s1*i0 + i1]
    %2 = add.f32 %0 %1
    store b2[s1*i0 + i1] %2
  }
}
)",
               "",
               {4096, 4096},
               4096.0 * 4096 * 12,
               true});
  r.push_back({"softmax",
               head(16384, 1000) + R"(
buffer b0: f32[s0, s1] input
buffer b1: f32[s0, s1] output
kernel k outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = combine.f32 online_softmax %0
    %2 = part.f32 %1 1
  }
  phase (r1 < s1) {
    %3 = load.f32 b0[s1*i0 + r1]
    %4 = sub.f32 %3 %1
    %5 = exp.f32 %4
    %6 = div.f32 %5 %2
    store b1[s1*i0 + r1] %6
  }
}
)",
               "",
               {16384, 1000},
               16384.0 * 1000 * 8,
               true});
  r.push_back({"layernorm",
               head(16384, 1024) + R"(
buffer b0: f32[s0, s1] input
buffer b1: f32[s1] input
buffer b2: f32[s1] input
buffer b3: f32[s0, s1] output
kernel k outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = combine.f32 welford %0
    %2 = part.f32 %1 1
    %3 = part.f32 %1 2
  }
  phase {
    %4 = div.f32 %2 %3
    %5 = constant.f32 1e-5
    %6 = add.f32 %4 %5
    %7 = rsqrt.f32 %6
  }
  phase (r1 < s1) {
    %8 = load.f32 b0[s1*i0 + r1]
    %9 = sub.f32 %8 %1
    %10 = mul.f32 %9 %7
    %11 = load.f32 b1[r1]
    %12 = mul.f32 %10 %11
    %13 = load.f32 b2[r1]
    %14 = add.f32 %12 %13
    store b3[s1*i0 + r1] %14
  }
}
)",
               "",
               {16384, 1024},
               16384.0 * 1024 * 8,
               true});
  r.push_back({"gelu",
               head(1 << 25, 2) + R"(
buffer b0: f32[s0] input
buffer b1: f32[s0] output
kernel k outer (i0 < s0) {
  phase {
    %0 = load.f32 b0[i0]
    %1 = constant.f32 0.7071067811865476
    %2 = mul.f32 %0 %1
    %3 = erf.f32 %2
    %4 = constant.f32 1.0
    %5 = add.f32 %3 %4
    %6 = constant.f32 0.5
    %7 = mul.f32 %0 %6
    %8 = mul.f32 %7 %5
    store b1[i0] %8
  }
}
)",
               "",
               {1 << 25, 2},
               8.0 * (1 << 25),
               true});
  r.push_back({"column_sum",
               head(8192, 4096) + R"(
buffer b0: f32[s0, s1] input
buffer b1: f32[s1] output
kernel k outer (i0 < s1) {
  phase (r0 < s0) {
    %0 = load.f32 b0[i0 + s1*r0]
    %1 = combine.f32 sum %0
  }
  phase {
    store b1[i0] %1
  }
}
)",
               "",
               {8192, 4096},
               8192.0 * 4096 * 4,
               false});
  r.push_back({"full_sum",
               head(1 << 25, 2) + R"(
buffer b0: f32[s0] input
buffer b1: f32[] output
kernel k {
  phase (r0 < s0) {
    %0 = load.f32 b0[r0]
    %1 = combine.f32 sum %0
  }
  phase {
    store b1[0] %1
  }
}
)",
               "",
               {1 << 25, 2},
               4.0 * (1 << 25),
               false});
  r.push_back({"cumsum",
               head(8192, 4096) + R"(
buffer b0: f32[s0, s1] input
buffer b1: f32[s0, s1] output
kernel k outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = scan.f32 sum %0
    store b1[s1*i0 + r0] %1
  }
}
)",
               "",
               {8192, 4096},
               8192.0 * 4096 * 8,
               true});
  r.push_back({"argmax_rows",
               head(8192, 4096) + R"(
buffer b0: f32[s0, s1] input
buffer b1: i64[s0] output
kernel k outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = index.i64 [r0]
    %2 = combine.f32 argmax %0 %1
    %3 = part.i64 %2 1
  }
  phase {
    store b1[i0] %3
  }
}
)",
               "",
               {8192, 4096},
               8192.0 * 4096 * 4,
               false});
  return r;
}

constexpr const char* kCeilings = R"(
typedef float V __attribute__((vector_size(64)));
extern "C" int omp_get_thread_num(void); extern "C" int omp_get_num_threads(void);
extern "C" void copy(const float* a, float* b, long n, int threads) {
  #pragma omp parallel num_threads(threads)
  {
    long t = omp_get_thread_num(), c = omp_get_num_threads(), lo = n / 64 * t / c * 64, hi = n / 64 * (t + 1) / c * 64;
    for (long i = lo; i < hi; i += 64)
      for (int j = 0; j < 64; j += 16) __builtin_ia32_movntps512(b + i + j, *(const V*)(a + i + j));
    __builtin_ia32_sfence();
  }
}
extern "C" float read(const float* a, long n, int threads) {
  float total = 0;
  #pragma omp parallel num_threads(threads)
  {
    long t = omp_get_thread_num(), c = omp_get_num_threads(), lo = n / 128 * t / c * 128, hi = n / 128 * (t + 1) / c * 128;
    V s[8] = {};
    for (long i = lo; i < hi; i += 128)
      for (int j = 0; j < 8; j++) s[j] += *(const V*)(a + i + 16 * j);
    V x = (s[0] + s[1]) + (s[2] + s[3]) + ((s[4] + s[5]) + (s[6] + s[7]));
    #pragma omp critical
    total += x[0];
  }
  return total;
}
)";

void* compile(const std::string& source) {
  base::TempDir dir("stax-bench");
  const std::string cpp = (dir.path() / "k.cpp").string(), so = (dir.path() / "k.so").string();
  base::write_file_atomic(cpp, source);
  base::ProcessOptions o;
  o.argv = {"g++"};
  for (const std::string& flag : build::cpp_flags(runtime::host_target(), "")) o.argv.push_back(flag);
  for (const std::string& a : {cpp, std::string("-o"), so, std::string("-lgomp"), std::string("-lm")})
    o.argv.push_back(a);
  const auto result = base::run_process(o);
  if (!result.ok()) throw InternalError(result.err);
  void* library = dlopen(so.c_str(), RTLD_NOW | RTLD_NODELETE);
  if (!library) throw InternalError(dlerror());
  return library;
}

// With one thread on a busy machine the thread's own time says more than the wall clock.
double seconds() {
  timespec t{};
  clock_gettime(std::getenv("STAX_BENCH_CPU_TIME") ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int env_int(const char* name, int otherwise) {
  const char* v = std::getenv(name);
  return v ? std::atoi(v) : otherwise;
}

using Function = void (*)(void* const*, const std::int64_t*, const std::uint64_t*, int, void*);
using Copy = void (*)(const float*, float*, long, int);
using Read = float (*)(const float*, long, int);

}  // namespace

int main(int argc, char** argv) {
  const int threads = env_int("STAX_BENCH_THREADS", 2);
  const bool hot = std::getenv("STAX_BENCH_HOT") != nullptr;  // call after call, without the ceiling's loop between
  const double budget = env_int("STAX_BENCH_SECONDS", 2);
  void* ceilings = compile(kCeilings);
  const auto copy = reinterpret_cast<Copy>(dlsym(ceilings, "copy"));
  const auto read = reinterpret_cast<Read>(dlsym(ceilings, "read"));
  constexpr long kCeilingElements = 1L << 25;
  auto* a = static_cast<float*>(std::aligned_alloc(64, kCeilingElements * 4));
  auto* b = static_cast<float*>(std::aligned_alloc(64, kCeilingElements * 4));
  std::fill(a, a + kCeilingElements, 1.0F);
  std::fill(b, b + kCeilingElements, 1.0F);
  for (const Row& row : rows()) {
    if (argc > 1 && std::find(argv + 1, argv + argc, row.name) == argv + argc) continue;
    const loop::Program p = loop::parse_program(row.text);
    const auto& k = std::get<loop::Kernel>(p.items[0]);
    loop::CpuSchedule s = schedule::schedule_cpu(k, p, {.threads = threads});
    if (const char* text = std::getenv("STAX_BENCH_SCHEDULE")) s = loop::parse_cpu_schedule(text, k);
    const codegen::CppKernel kernel{"k", &p, &k, &s};
    const std::string source = codegen::emit_cpp({&kernel, 1}, 64);
    if (const char* keep = std::getenv("STAX_BENCH_KEEP")) base::write_file_atomic(keep, source);
    const auto f = reinterpret_cast<Function>(dlsym(compile(source), "k"));
    std::vector<void*> buffers;
    for (const loop::Buffer& buffer : p.buffers) {
      double n = 1;
      for (loop::Expr e : buffer.sizes) n *= static_cast<double>(symbolic::hint_of(e).value_or(1));
      const auto elements = static_cast<std::size_t>(n);
      auto* data = static_cast<float*>(std::aligned_alloc(4096, elements * 8 + 4096));
      for (std::size_t i = 0; i < elements; ++i)
        data[i] = static_cast<float>((i * 2654435761U >> 8) % 2001) / 1000.0F - 1.0F;
      buffers.push_back(data);
    }
    long error[4] = {};
    double best = 1e9, best_copy = 1e9, best_read = 1e9;
    int runs = 0;
    for (const double start = seconds(); seconds() - start < budget || runs < 3; ++runs) {
      double t = seconds();
      f(buffers.data(), row.sizes.data(), nullptr, threads, error);
      best = std::min(best, seconds() - t);
      if (hot && runs > 0) continue;
      t = seconds();
      row.writes ? copy(a, b, kCeilingElements, threads) : static_cast<void>(read(a, kCeilingElements, threads));
      (row.writes ? best_copy : best_read) = std::min(row.writes ? best_copy : best_read, seconds() - t);
    }
    const double ceiling = row.writes ? kCeilingElements * 8 / best_copy : kCeilingElements * 4 / best_read;
    fmt::print("{:18} {:9.4f} ms  {:6.1f} GB/s  ceiling {:6.1f} GB/s  share {:.2f}   {}\n", row.name, best * 1e3,
               row.bytes / best / 1e9, ceiling / 1e9, row.bytes / best / ceiling, loop::to_text(s, k));
    std::fflush(stdout);
    for (void* data : buffers) std::free(data);
  }
}
