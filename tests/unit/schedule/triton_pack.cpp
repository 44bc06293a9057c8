#include "triton_pack.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "base/file.h"
#include "codegen/triton/job.h"
#include "loop/text.h"
#include "run_kernels.h"
#include "schedule/schedule.h"

namespace stax::test {

Array special_array(Patterns patterns, const std::vector<std::int64_t>& sizes, Dtype dtype) {
  Array a = random_array(sizes, dtype, 0);
  const bool rows = patterns == Patterns::rows;
  const std::int64_t length = sizes.at(rows ? 1 : 0);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t n = 0; n < a.numel(); ++n) {
      const std::int64_t row = rows ? n / length : n % kSpecialRows, i = rows ? n % length : n / kSpecialRows;
      if constexpr (std::is_same_v<T, bool>)
        a.data_as<T>()[n] = special_integer(row, i, length, 0, 1) != 0;
      else if constexpr (std::is_integral_v<T>)
        a.data_as<T>()[n] = static_cast<T>(
            special_integer(row, i, length, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
      else
        a.data_as<T>()[n] = T(static_cast<float>(special_number(row, i, length)));
    }
  });
  return a;
}

namespace {

using codegen::TritonParameter;
using loop::Program;

std::int64_t value_of(const Program& p, const loop::Bindings& bindings, loop::Expr e) {
  return symbolic::evaluate(e,
                            [&](loop::Expr s) -> std::optional<std::int64_t> {
                              for (std::size_t i = 0; i < p.sizes.size(); ++i)
                                if (p.sizes[i] == s) return bindings.sizes[i];
                              return std::nullopt;
                            })
      .value();
}

std::vector<std::int64_t> sizes_of(const Program& p, const loop::Bindings& bindings, const loop::Buffer& b) {
  std::vector<std::int64_t> sizes;
  for (loop::Expr e : b.sizes) sizes.push_back(value_of(p, bindings, e));
  return sizes;
}

void write_array(const std::filesystem::path& file, const Array& a) {
  base::write_file_atomic(file, std::string(static_cast<const char*>(a.data()),
                                            static_cast<std::size_t>(a.numel() * byte_size(a.dtype()))));
}

Array input_of(const TritonCase& c, const std::vector<std::int64_t>& sizes, Dtype dtype, unsigned seed) {
  if (c.patterns != Patterns::none) return special_array(c.patterns, sizes, dtype);
  Array a = random_array(sizes, dtype, seed, c.special);
  if (c.indices && dtype == Dtype::i64) {
    std::mt19937 rng(seed);
    for (std::int64_t i = 0; i < a.numel(); ++i)
      a.data_as<std::int64_t>()[i] = static_cast<std::int64_t>(rng() % 100) - 50;
  }
  return a;
}

class Packer {
 public:
  Packer(std::filesystem::path dir, build::TritonCompiler* compiler) : dir_(std::move(dir)), compiler_(compiler) {}

  void add(const TritonCase& c) {
    const Program p = loop::parse_program(c.text);
    const auto& k = std::get<loop::Kernel>(p.items[0]);
    schedule::GpuTarget target{.promise_sizes = false};            // the sizes here are all kinds
    if (c.patterns != Patterns::none) target.multiprocessors = 1;  // several rows a program
    const auto kernel = codegen::emit_triton(p, k, schedule::schedule_triton(k, p, target));
    base::write_file_atomic(dir_ / (c.name + ".py"), kernel.text);
    build::TritonBinary binary;
    binary.warps = kernel.warps;
    if (compiler_) {
      binary = compiler_->compile(codegen::job_of(kernel));
      base::write_file_atomic(dir_ / (c.name + ".cubin"), binary.cubin);
    }
    for (std::size_t i = 0; i < c.small.size(); ++i) launch(c, p, kernel, binary, i);
    if (c.small.empty()) measure(c, p, kernel, binary);
  }

  std::vector<PackedLaunch> finish() {
    base::write_file_atomic(dir_ / "launches.txt", text_);
    return std::move(launches_);
  }

 private:
  // Static and too large for an interpreter: a line of sizes to be timed.
  void measure(const TritonCase& c, const Program& p, const codegen::TritonKernelText& kernel,
               const build::TritonBinary& binary) {
    text_ += fmt::format("case {} 0\nfunction {}\ngrid {}\nthreads {}\nshared {}\n", c.name, kernel.function,
                         value_of(p, {}, kernel.grid), 32 * binary.warps, binary.shared);
    for (const TritonParameter& q : kernel.parameters) {
      const loop::Buffer& b = p.buffers[static_cast<std::size_t>(q.id)];
      std::int64_t bytes = byte_size(b.dtype);
      for (std::int64_t n : sizes_of(p, {}, b)) bytes *= n;
      text_ += fmt::format("space {}\n", bytes);
    }
    text_ += "measure\n";
  }

  void launch(const TritonCase& c, const Program& p, const codegen::TritonKernelText& kernel,
              const build::TritonBinary& binary, std::size_t number) {
    loop::Bindings bindings;
    bindings.sizes = c.small[number];
    for (std::size_t s = 0; s < p.scalars.size(); ++s) {
      bindings.scalars_f64.push_back(1.5);
      bindings.scalars_i64.push_back(3);
    }
    std::vector<std::string> files(p.buffers.size());
    for (std::size_t b = 0; b < p.buffers.size(); ++b) {
      const loop::Buffer& buffer = p.buffers[b];
      files[b] = fmt::format("{}.{}.b{}", c.name, number, b);
      const auto sizes = sizes_of(p, bindings, buffer);
      if (buffer.kind == loop::BufferKind::input) {
        const std::size_t next = bindings.inputs.size();
        bindings.inputs.push_back(
            next < c.inputs.size() ? c.inputs[next] : input_of(c, sizes, buffer.dtype, static_cast<unsigned>(b + 1)));
        write_array(dir_ / files[b], bindings.inputs.back());
      } else {
        Array poison = random_array(sizes, buffer.dtype, 0);
        std::memset(poison.data(), 0xA5, static_cast<std::size_t>(poison.numel() * byte_size(buffer.dtype)));
        write_array(dir_ / files[b], poison);
      }
    }
    PackedLaunch packed{fmt::format("{} {}", c.name, number), c.tolerance, {}};
    const auto expected = loop::interpret(p, bindings);
    for (std::size_t o = 0; o < expected.size(); ++o)
      packed.outputs.push_back({files[static_cast<std::size_t>(p.outputs[o].buffer)], expected[o]});
    text_ += fmt::format("case {} {}\nfunction {}\ngrid {}\nthreads {}\nshared {}\n", c.name, number, kernel.function,
                         value_of(p, bindings, kernel.grid), 32 * binary.warps, binary.shared);
    for (const TritonParameter& q : kernel.parameters) text_ += argument(p, bindings, q, files);
    for (const auto& [name, value] : kernel.constants) text_ += fmt::format("constant {} {}\n", name, value);
    text_ += "end\n";
    launches_.push_back(std::move(packed));
  }

  std::string argument(const Program& p, const loop::Bindings& bindings, const TritonParameter& q,
                       const std::vector<std::string>& files) const {
    const auto id = static_cast<std::size_t>(q.id);
    switch (q.kind) {
      case TritonParameter::Kind::buffer:
        return fmt::format("buffer {} {} {}\n", q.type, files[id], std::filesystem::file_size(dir_ / files[id]));
      case TritonParameter::Kind::error:
        base::write_file_atomic(dir_ / "error", std::string(32, '\0'));
        return "buffer *i64 error 32\n";
      case TritonParameter::Kind::size:
        return fmt::format("integer {} {}\n", q.type, bindings.sizes[id]);
      default:
        return p.scalars[id].dtype == Dtype::f64 ? fmt::format("double {}\n", bindings.scalars_f64[id])
                                                 : fmt::format("integer i64 {}\n", bindings.scalars_i64[id]);
    }
  }

  std::filesystem::path dir_;
  build::TritonCompiler* compiler_;
  std::string text_;
  std::vector<PackedLaunch> launches_;
};

}  // namespace

std::vector<PackedLaunch> write_pack(const std::filesystem::path& dir, const std::vector<TritonCase>& cases,
                                     build::TritonCompiler* compiler) {
  Packer packer(dir, compiler);
  for (const TritonCase& c : cases) packer.add(c);
  return packer.finish();
}

void check_pack(const std::filesystem::path& dir, const std::vector<PackedLaunch>& launches) {
  for (const PackedLaunch& l : launches) {
    SCOPED_TRACE(l.name);
    for (const auto& o : l.outputs) {
      const std::string bytes = base::read_file(dir / o.file);
      Array actual = random_array({o.expected.sizes().begin(), o.expected.sizes().end()}, o.expected.dtype(), 0);
      ASSERT_EQ(bytes.size(), static_cast<std::size_t>(actual.numel() * byte_size(actual.dtype())));
      std::memcpy(actual.data(), bytes.data(), bytes.size());
      EXPECT_LE(difference(actual, o.expected), l.tolerance) << o.file << "\n"
                                                             << first_difference(actual, o.expected, l.tolerance);
    }
  }
}

}  // namespace stax::test
