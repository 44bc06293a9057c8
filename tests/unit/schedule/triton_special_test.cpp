// Every operation, combine and scan of every dtype in Triton's interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "base/file.h"
#include "base/subprocess.h"
#include "run_kernels.h"
#include "runtime/error_word.h"
#include "triton_pack.h"

namespace stax::test {
namespace {

#define STAX_NEED_INTERPRETER()                                            \
  if (!std::filesystem::exists(STAX_SOURCE_DIR "/.venv/triton.installed")) \
  GTEST_SKIP() << "Triton is not installed (make triton)"

void interpret(const std::filesystem::path& pack) {
  base::ProcessOptions options;
  options.argv = {STAX_SOURCE_DIR "/.venv/bin/python3", STAX_SOURCE_DIR "/tests/unit/schedule/triton_interpret.py",
                  pack.string()};
  const auto result = base::run_process(options);
  ASSERT_TRUE(result.ok()) << result.describe() << "\n"
                           << result.err.substr(result.err.size() > 3000 ? result.err.size() - 3000 : 0);
}

void run(const std::vector<TritonCase>& cases) {
  base::TempDir dir("stax-test");
  const auto launches = write_pack(dir.path(), cases);
  ASSERT_NO_FATAL_FAILURE(interpret(dir.path()));
  check_pack(dir.path(), launches);
}

TEST(TritonInterpreter, Operations) {
  STAX_NEED_INTERPRETER();
  run(triton_operations());
}

TEST(TritonInterpreter, RowsOfSpecialValues) {
  STAX_NEED_INTERPRETER();
  run(triton_specials());
}

const char* const kDivisions[] = {"floor_div", "trunc_div", "floor_mod", "trunc_mod"};

// Every quotient and remainder of n numbers.
TritonCase divisions(Dtype t, std::int64_t n) {
  const std::string d(to_text(t));
  std::string buffers, body, stores, returns;
  for (int i = 0; i < 2; ++i) {
    buffers += fmt::format("buffer b{}: {}[{}] input\n", i, d, n);
    body += fmt::format("    %{0} = load.{1} b{0}[i0]\n", i, d);
  }
  for (int i = 0; i < 4; ++i) {
    buffers += fmt::format("buffer b{}: {}[{}] output\n", i + 2, d, n);
    body += fmt::format("    %{} = {}.{} %0 %1\n", i + 2, kDivisions[i], d);
    stores += fmt::format("    store b{}[i0] %{}\n", i + 2, i + 2);
    returns += fmt::format("return b{} [{}] strides (1)\n", i + 2, n);
  }
  return {.name = "divisions",
          .text = fmt::format("program p\n{}kernel k outer (i0 < {}) {{\n  phase {{\n{}{}  }}\n}}\n{}", buffers, n,
                              body, stores, returns),
          .small = {{}}};
}

template <class T>
void check_divisions(Dtype t) {
  const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  std::vector<T> kinds{low, static_cast<T>(low + 1), 0, 1, 2, 3, 7, high, static_cast<T>(high - 1)};
  if (low < 0) kinds.insert(kinds.end(), {static_cast<T>(-1), static_cast<T>(-2), static_cast<T>(-7)});
  const auto n = static_cast<std::int64_t>(kinds.size() * kinds.size());
  Array x = random_array({n}, t, 0), y = random_array({n}, t, 0), safe = random_array({n}, t, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    x.data_as<T>()[i] = kinds[static_cast<std::size_t>(i) / kinds.size()];
    y.data_as<T>()[i] = kinds[static_cast<std::size_t>(i) % kinds.size()];
    safe.data_as<T>()[i] = y.data_as<T>()[i] == 0 ? T(1) : y.data_as<T>()[i];
  }
  TritonCase c = divisions(t, n);
  c.inputs = {x, safe};
  base::TempDir dir("stax-test");
  auto launches = write_pack(dir.path(), {c});
  base::write_file_atomic(dir.path() / "divisions.0.b1",
                          std::string(static_cast<const char*>(y.data()), static_cast<std::size_t>(n) * sizeof(T)));
  for (auto& o : launches.at(0).outputs)
    for (std::int64_t i = 0; i < n; ++i)
      if (y.data_as<T>()[i] == 0) o.expected.data_as<T>()[i] = 0;
  ASSERT_NO_FATAL_FAILURE(interpret(dir.path()));
  check_pack(dir.path(), launches);
  std::int64_t word[4];
  std::memcpy(word, base::read_file(dir.path() / "error").data(), sizeof word);
  EXPECT_EQ(word[0], static_cast<std::int64_t>(runtime::ErrorCode::division_by_zero));
}

// By zero: 0 and a report. The least integer by -1 wraps.
TEST(TritonInterpreter, IntegerDivisions) {
  STAX_NEED_INTERPRETER();
  check_divisions<std::uint8_t>(Dtype::u8);
  check_divisions<std::int8_t>(Dtype::i8);
  check_divisions<std::int16_t>(Dtype::i16);
  check_divisions<std::int32_t>(Dtype::i32);
  check_divisions<std::int64_t>(Dtype::i64);
}

// Rows of special values in C++ kernels.
TEST(SpecialRows, OnTheCpu) {
  std::vector<Check> checks;
  for (const TritonCase& c : triton_specials()) {
    const auto fill = [patterns = c.patterns](loop::Bindings& bindings) {
      Array& in = bindings.inputs.at(0);
      in = special_array(patterns, {in.sizes().begin(), in.sizes().end()}, in.dtype());
    };
    checks.push_back({.text = c.text, .sizes = c.small, .tolerance = c.tolerance, .fill = fill});
  }
  for (const int vector_bytes : {16, 64}) check_all(checks, vector_bytes, 1);
}

}  // namespace
}  // namespace stax::test
