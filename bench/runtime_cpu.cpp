// Costs of the runtime itself: allocation, guard check, dispatch, matrix products, compiling a kernel. Prints a table.
//   bench_runtime_cpu [allocator|dispatch|linear|attention|compiling …]
#include <fmt/format.h>
#include <stax/tensor/array.h>

#include <cstring>
#include <string>
#include <vector>

#include "build/cpp_compiler.h"
#include "plan/executable.h"
#include "plan/text.h"
#include "runtime/cpu/caching_allocator.h"
#include "runtime/cpu/matmul.h"
#include "runtime/cpu/threads.h"
#include "runtime/device_runtime.h"
#include "runtime/timing.h"

namespace {

using namespace stax;
using runtime::measure;

void allocator() {
  auto& a = runtime::CachingAllocator::cpu();
  for (const std::size_t bytes : {64u, 1024u, 32768u, 1u << 20, 64u << 20}) {
    const auto t = measure([&] { a.release(a.allocate(bytes), bytes); });
    fmt::print("allocate + release {:>9} bytes      {:>8.1f} ns\n", bytes, t.min_us * 1e3);
  }
  const std::int64_t sizes[] = {64, 128};
  fmt::print("Array::empty 64x128                   {:>8.1f} ns\n",
             measure([&] { Array::empty(sizes, Dtype::f32); }).min_us * 1e3);
}

// A kernel that does nothing: what remains is the dispatch.
class NoKernel final : public runtime::Module {
 public:
  const std::string& name() const override { return name_; }
  void* function(std::string_view) const override {
    return reinterpret_cast<void*>(
        +[](void* const*, const std::int64_t*, const std::uint64_t*, int, runtime::ErrorWord*) {});
  }

 private:
  std::string name_ = "none";
};

void dispatch() {
  const char* text = R"(plan @e11 {
    input  x f32 rank 2 cpu
    input  y f32 rank 2 cpu
    bind   s0 in [2, 281474976710655] = x.size(0)
    bind   s1 in [2, 281474976710655] = x.size(1)
    guard  x.stride(1) == 1
    guard  y.stride(1) == 1
    guard  x.offset == 0
    guard  y.offset == 0
    guard  x.stride(0) == s1
    guard  y.size(0) == s0
    guard  y.size(1) == s1
    guard  y.stride(0) == s1
    buffer b0 f32 cpu input x
    buffer b1 f32 cpu input y
    buffer b2 f32 cpu output bytes 4*s0
    kernel k symbol k module 0
    launch k (b0, b1, b2; s0, s1; )
    return out f32 b2[s0] strides (1) offset 0
  })";
  plan::Plan p = plan::parse_plan(text, std::make_shared<symbolic::Context>());
  plan::place_allocations(p);
  const plan::Executable e(std::move(p), {std::make_shared<NoKernel>()});
  const Array x = Array::empty({64, 128}, Dtype::f32), y = Array::empty({64, 128}, Dtype::f32);
  const Array* pointers[] = {&x, &y};
  const plan::CallArgs args{pointers, {}};
  std::vector<Array> out(1);
  bool fits = true;
  fmt::print("guard check, two rank-2 inputs        {:>8.1f} ns\n",
             measure([&] { fits = fits && e.check(args); }).min_us * 1e3);
  fmt::print("run without the kernel                {:>8.1f} ns\n", measure([&] { e.run(args, out); }).min_us * 1e3);
  if (!fits) fmt::print("the call does not fit\n");
}

Array random(std::initializer_list<std::int64_t> sizes) {
  Array a = Array::empty(sizes, Dtype::f32);
  for (std::int64_t i = 0; i < a.numel(); ++i) a.data_as<float>()[i] = static_cast<float>(i % 37) * 0.05f - 0.9f;
  return a;
}

void report(const std::string& name, double flop, const runtime::Timing& t) {
  fmt::print("{:<37} {:>9.1f} us {:>6.0f} GFLOP/s (median {:.0f})\n", name, t.min_us, flop / t.min_us / 1e3,
             flop / t.median_us / 1e3);
}

void linear() {
  for (const auto& [k, n] :
       {std::pair<std::int64_t, std::int64_t>{384, 384}, {384, 1152}, {384, 1536}, {1536, 384}, {1024, 1024}})
    for (const std::int64_t m : {1, 16, 17, 128, 1024, 2048}) {
      const Array a = random({m, k}), b = random({k, n}), out = random({m, n}), bias = random({n});
      for (const bool packed : {false, true}) {
        runtime::MatmulArgs args;
        args.m = m, args.n = n, args.k = k;
        args.a = {a.data(), a.strides()}, args.b = {b.data(), b.strides()}, args.out = {out.data(), out.strides()};
        const std::int64_t row[] = {0, 1};
        args.bias = {bias.data(), row};
        if (n == 1536) args.activation = runtime::Activation::gelu_erf;
        if (packed) args.weight = &b.storage();
        const std::int64_t start = runtime::now_ns();
        runtime::cpu_matmul(args);
        const double first = static_cast<double>(runtime::now_ns() - start) / 1e3;
        report(fmt::format("{}x{}x{}{}{} (first {:.0f} us)", m, k, n, n == 1536 ? " gelu" : "", packed ? " packed" : "",
                           first),
               2.0 * static_cast<double>(m * n * k), measure([&] { runtime::cpu_matmul(args); }, 100));
      }
    }
}

void attention() {
  const std::int64_t heads = 12, width = 32;
  for (const auto& [batch, length] :
       {std::pair<std::int64_t, std::int64_t>{1, 16}, {1, 17}, {1, 128}, {8, 128}, {32, 64}})
    for (const std::int64_t row : {std::int64_t{384}, std::int64_t{1152}}) {
      const Array q = random({batch * length * row}), scores = random({batch, heads, length, length});
      const std::int64_t batches[] = {batch, heads}, qs[] = {length * row, width, row, 1},
                         ks[] = {length * row, width, 1, row}, ms[] = {length * heads * width, width, heads * width, 1};
      const Array mixed = random({batch, length, heads * width});
      runtime::MatmulArgs args;
      args.batch = batches;
      args.m = length, args.n = length, args.k = width;
      args.a = {q.data(), qs}, args.b = {q.data(), ks}, args.out = {scores.data(), scores.strides()};
      args.scale = 0.17;
      const double flop = 2.0 * static_cast<double>(batch * heads * length * length * width);
      report(fmt::format("q·k {}x{} row {}", batch, length, row), flop,
             measure([&] { runtime::cpu_matmul(args); }, 100));
      args.m = length, args.n = width, args.k = length;
      args.a = {scores.data(), scores.strides()}, args.b = {q.data(), qs}, args.out = {mixed.data(), ms};
      args.scale = 1;
      report(fmt::format("p·v {}x{} row {}", batch, length, row), flop,
             measure([&] { runtime::cpu_matmul(args); }, 100));
    }
}

void compiling() {
  const build::CppJob job{"bench", R"(
typedef float v16 __attribute__((vector_size(64), aligned(4)));
extern "C" void k(void* const* buffers, const long* ints, const unsigned long*, int threads, void*) {
  const float* x = (const float*)buffers[0];
  float* y = (float*)buffers[1];
  long n = ints[0];
#pragma omp parallel for num_threads(threads) if (n > 65536)
  for (long i = 0; i < n / 16; ++i) {
    v16 v = *(const v16*)(x + 16 * i), z = {};
    v = v > 0 ? v : z;
    *(v16*)(y + 16 * i) = v * 2.0f;
  }
  for (long i = n / 16 * 16; i < n; ++i) y[i] = x[i] > 0 ? 2 * x[i] : 0;
})"};
  const build::CppCompiler compiler;
  fmt::print("find the compiler                     {:>8.1f} us\n", measure([] { build::CppCompiler{}; }).min_us);
  fmt::print("compile a kernel                      {:>8.1f} ms\n",
             measure([&] { compiler.compile(job); }, 2000).min_us / 1e3);
  const std::string object = compiler.compile(job);
  fmt::print("load it                               {:>8.1f} us\n",
             measure([&] {
               runtime::runtime_for({}).load_module({"k", object, compiler.target().isa});
             }).min_us);
}

}  // namespace

int main(int argc, char** argv) {
  const std::pair<const char*, void (*)()> parts[] = {{"allocator", allocator},
                                                      {"dispatch", dispatch},
                                                      {"linear", linear},
                                                      {"attention", attention},
                                                      {"compiling", compiling}};
  fmt::print("{} threads\n", stax::runtime::num_threads());
  for (const auto& [name, part] : parts) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted = wanted || std::strcmp(argv[i], name) == 0;
    if (wanted) part();
  }
}
