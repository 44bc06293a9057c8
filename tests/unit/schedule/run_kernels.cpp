#include "run_kernels.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/file.h"
#include "base/subprocess.h"
#include "build/cpp_flags.h"
#include "codegen/cpp/emit.h"

namespace stax::test {

using loop::Bindings;
using loop::Kernel;
using loop::Program;

namespace {

std::int64_t value_of(const Program& p, const Bindings& bindings, loop::Expr e) {
  return symbolic::evaluate(e,
                            [&](loop::Expr s) -> std::optional<std::int64_t> {
                              for (std::size_t i = 0; i < p.sizes.size(); ++i)
                                if (p.sizes[i] == s) return bindings.sizes[i];
                              return std::nullopt;
                            })
      .value();
}

Layout layout_of(const Program& p, const Bindings& bindings, const std::vector<loop::Expr>& sizes,
                 const std::vector<loop::Expr>& strides) {
  Layout l;
  for (loop::Expr e : sizes) l.sizes.push_back(value_of(p, bindings, e));
  for (loop::Expr e : strides) l.strides.push_back(value_of(p, bindings, e));
  return l;
}

// STAX_TEST_SANITIZE=address or undefined: of the kernels alone, with the sanitizer's library preloaded.
std::string sanitizer() {
#ifdef __SANITIZE_ADDRESS__
  return "address";
#else
  const char* chosen = std::getenv("STAX_TEST_SANITIZE");
  return chosen ? chosen : "";
#endif
}

std::string symbol(std::size_t program, std::size_t item) { return fmt::format("p{}_k{}", program, item); }

}  // namespace

CompiledKernels::Choose default_schedule(int vector_bytes, int threads) {
  return [=](const Kernel& k, const Program& p) {
    loop::CpuSchedule s = schedule::schedule_cpu(k, p, {.vector_bytes = vector_bytes, .threads = threads});
    return loop::parse_cpu_schedule(loop::to_text(s, k), k);  // the text is the schedule
  };
}

CompiledKernels::CompiledKernels(const std::vector<const Program*>& programs, int vector_bytes, const Choose& choose,
                                 const std::vector<std::string>& extra_flags)
    : programs_(programs) {
  std::vector<codegen::CppKernel> kernels;
  for (const Program* p : programs)
    for (const auto& item : p->items) schedules_.push_back(choose(std::get<Kernel>(item), *p));
  std::size_t n = 0;
  for (std::size_t i = 0; i < programs.size(); ++i)
    for (std::size_t j = 0; j < programs[i]->items.size(); ++j)
      kernels.push_back({symbol(i, j), programs[i], &std::get<Kernel>(programs[i]->items[j]), &schedules_[n++]});
  source_ = codegen::emit_cpp(kernels, vector_bytes);
  base::TempDir dir("stax-test");
  const std::string cpp = (dir.path() / "k.cpp").string(), so = (dir.path() / "k.so").string();
  base::write_file_atomic(cpp, source_);
  if (const char* keep = std::getenv("STAX_TEST_KEEP")) base::write_file_atomic(keep, source_);
  base::ProcessOptions options;
  options.argv = {"g++"};
  const char* isa = vector_bytes == 64 ? "avx512" : vector_bytes == 32 ? "avx2" : "sse2";
  for (const std::string& flag : build::cpp_flags({isa, vector_bytes}, sanitizer())) options.argv.push_back(flag);
  // The code is large and runs once: little optimisation, unless STAX_TEST_OPTIMIZE says otherwise.
  const char* level = std::getenv("STAX_TEST_OPTIMIZE");
  options.argv.emplace_back(level ? level : "-O1");
  for (const std::string& flag : extra_flags) options.argv.push_back(flag);
  for (const std::string& a : {cpp, std::string("-o"), so, std::string("-lgomp"), std::string("-lm")})
    options.argv.push_back(a);
  const base::ProcessResult result = base::run_process(options);
  seconds_ = result.seconds;
  STAX_CHECK(result.ok(), result.err.substr(0, 3000));
  library_ = dlopen(so.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) /* threads of the OpenMP pool outlive it */;
  STAX_CHECK(library_, dlerror());
}

CompiledKernels::~CompiledKernels() {
  if (library_) dlclose(library_);
}

CompiledKernels::Function CompiledKernels::function(std::size_t program, std::size_t item) const {
  auto* f = reinterpret_cast<Function>(dlsym(library_, symbol(program, item).c_str()));
  STAX_CHECK(f, "no function");
  return f;
}

std::vector<Array> CompiledKernels::run(std::size_t which, const Bindings& bindings, int threads,
                                        ErrorWord* error) const {
  const Program& p = *programs_[which];
  std::vector<Array> arrays;
  std::vector<void*> pointers;
  for (const loop::Buffer& b : p.buffers) {
    if (b.kind == loop::BufferKind::input) {
      arrays.push_back(bindings.inputs[static_cast<std::size_t>(b.input)]);
    } else {
      const Layout l = layout_of(p, bindings, b.sizes, b.strides);
      Array flat = guarded_array({extent_of(l).second + 1}, b.dtype);
      std::memset(flat.data(), 0xA5, flat.storage()->bytes());
      arrays.push_back(flat.with_layout(l));
    }
    pointers.push_back(arrays.back().data());
  }
  std::vector<std::uint64_t> scalars(p.scalars.size());
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    if (p.scalars[i].dtype == Dtype::f64)
      std::memcpy(&scalars[i], &bindings.scalars_f64[i], 8);
    else
      scalars[i] = static_cast<std::uint64_t>(bindings.scalars_i64[i]);
  }
  ErrorWord none;
  for (std::size_t j = 0; j < p.items.size(); ++j)
    function(which, j)(pointers.data(), bindings.sizes.data(), scalars.data(), threads, error ? error : &none);
  std::vector<Array> outputs;
  for (const loop::View& v : p.outputs) {
    Layout l = layout_of(p, bindings, v.sizes, v.strides);
    l.offset =
        arrays[static_cast<std::size_t>(v.buffer)].layout().offset + (v.offset ? value_of(p, bindings, v.offset) : 0);
    outputs.push_back(arrays[static_cast<std::size_t>(v.buffer)].with_layout(l));
  }
  return outputs;
}

Array guarded_array(const std::vector<std::int64_t>& sizes, Dtype dtype) {
  Layout layout = contiguous_layout(std::span<const std::int64_t>(sizes.data(), sizes.size()));
  const auto bytes = static_cast<std::size_t>(layout.numel() * byte_size(dtype));
  const std::size_t page = 4096, pages = (bytes + page - 1) / page, whole = (pages + 2) * page;
  auto* map = static_cast<char*>(mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  STAX_CHECK(map != MAP_FAILED, "mmap");
  if (pages) mprotect(map + page, pages * page, PROT_READ | PROT_WRITE);
  auto storage =
      std::make_shared<Storage>(map + page + pages * page - bytes, bytes, Device{}, [=] { munmap(map, whole); });
  return Array(std::move(storage), dtype, std::move(layout));
}

Array random_array(const std::vector<std::int64_t>& sizes, Dtype dtype, unsigned seed, bool special) {
  Array a = guarded_array(sizes, dtype);
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* x = a.data_as<T>();
    for (std::int64_t i = 0; i < a.numel(); ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        x[i] = rng() & 1;
      } else if constexpr (std::is_integral_v<T>) {
        x[i] = static_cast<T>(static_cast<int>(rng() % 21) - 10);
      } else {
        double v = normal(rng);
        if (special && rng() % 7 == 0) {
          constexpr double kSpecial[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0};
          v = kSpecial[rng() % 6];
        }
        x[i] = T(static_cast<float>(v));
      }
    }
  });
  return a;
}

double difference(const Array& a, const Array& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return INFINITY;
  double worst = 0;
  for_each_index(std::span<const std::int64_t>(a.sizes().data(), a.sizes().size()),
                 [&](std::span<const std::int64_t> i) {
                   if (!is_floating(a.dtype())) {
                     if (read_i64(a, i) != read_i64(b, i)) worst = INFINITY;
                     return;
                   }
                   const double x = read_f64(a, i), y = read_f64(b, i);
                   if (std::isnan(x) != std::isnan(y) || std::isinf(x) != std::isinf(y)) worst = INFINITY;
                   if (std::isnan(x) || x == y) {
                     if (x == 0 && std::signbit(x) != std::signbit(y)) worst = std::max(worst, 1e-30);
                     return;
                   }
                   worst = std::max(worst, std::abs(x - y) / std::max(std::abs(y), 1.0));
                 });
  return worst;
}

std::string first_difference(const Array& actual, const Array& expected, double tolerance) {
  std::string text;
  for_each_index(std::span<const std::int64_t>(expected.sizes().data(), expected.sizes().size()),
                 [&](std::span<const std::int64_t> i) {
                   if (!text.empty()) return;
                   const double x = read_f64(actual, i), y = read_f64(expected, i);
                   const bool same = (std::isnan(x) && std::isnan(y)) ||
                                     (x == y && (tolerance > 0 || std::signbit(x) == std::signbit(y))) ||
                                     std::abs(x - y) <= tolerance * std::max(std::abs(y), 1.0);
                   if (!same) text = fmt::format("[{}]: {}, not {}", fmt::join(i, ", "), x, y);
                 });
  return text;
}

void check_all(const std::vector<Check>& checks, int vector_bytes, int threads) {
  if (!runtime::cpu_supports(vector_bytes == 64 ? "avx512" : vector_bytes == 32 ? "avx2" : "sse2")) GTEST_SKIP();
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<const Program*> pointers;
  for (const Check& c : checks) {
    programs.push_back(std::make_unique<Program>(loop::parse_program(c.text)));
    loop::verify(*programs.back());
    pointers.push_back(programs.back().get());
  }
  const auto standard = default_schedule(vector_bytes, threads);
  const CompiledKernels compiled(pointers, vector_bytes, [&](const Kernel& k, const Program& p) {
    for (std::size_t i = 0; i < checks.size(); ++i)
      if (pointers[i] == &p && !checks[i].schedule.empty()) return loop::parse_cpu_schedule(checks[i].schedule, k);
    return standard(k, p);
  });
  for (std::size_t i = 0; i < checks.size(); ++i)
    for (const auto& sizes : checks[i].sizes) {
      SCOPED_TRACE(fmt::format("{}\nsizes {}", checks[i].text, fmt::join(sizes, ", ")));
      const Program& p = *programs[i];
      Bindings bindings;
      bindings.sizes = sizes;
      unsigned seed = 1;
      for (const loop::Buffer& b : p.buffers) {
        if (b.kind != loop::BufferKind::input) continue;
        const Layout l = layout_of(p, bindings, b.sizes, b.strides);
        std::int64_t low = 0, high = -1;
        std::tie(low, high) = extent_of(l);
        Array flat = random_array({std::max<std::int64_t>(high - low + 1, 0)}, b.dtype, seed++, checks[i].special);
        Layout shifted = l;
        shifted.offset = -low;
        bindings.inputs.push_back(
            high < low ? Array::empty(std::span<const std::int64_t>(l.sizes.data(), l.sizes.size()), b.dtype)
                       : flat.with_layout(shifted));
      }
      for (std::size_t s = 0; s < p.scalars.size(); ++s) {
        bindings.scalars_f64.push_back(1.5);
        bindings.scalars_i64.push_back(3);
      }
      if (checks[i].fill) checks[i].fill(bindings);
      Bindings second = bindings;  // written inputs are written once by each
      for (Array& a : second.inputs) {
        Array copy = random_array({extent_of(a.layout()).second + 1}, a.dtype(), 0);
        if (copy.data() && a.storage()->data())
          std::memcpy(copy.data(), a.storage()->data(),
                      a.storage()->bytes() < copy.storage()->bytes() ? a.storage()->bytes() : copy.storage()->bytes());
        a = copy.with_layout(a.layout());
      }
      const auto expected = loop::interpret(p, bindings);
      const auto actual = compiled.run(i, second, threads);
      ASSERT_EQ(expected.size(), actual.size());
      for (std::size_t o = 0; o < expected.size(); ++o)
        EXPECT_LE(difference(actual[o], expected[o]), checks[i].tolerance)
            << "output " << o << "\n"
            << first_difference(actual[o], expected[o], checks[i].tolerance);
    }
}

}  // namespace stax::test
