// Small launches in Triton's interpreter against the loop interpreter: index arithmetic, masks, combines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/subprocess.h"
#include "triton_pack.h"

namespace stax::test {
namespace {

TEST(TritonInterpreter, CorpusAgreesWithTheLoopInterpreter) {
  if (!std::filesystem::exists(STAX_SOURCE_DIR "/.venv/triton.installed"))
    GTEST_SKIP() << "Triton is not installed (make triton)";
  base::TempDir dir("stax-test");
  std::vector<TritonCase> cases;
  for (const TritonCase& c : triton_corpus())  // the interpreter takes a millisecond an element of a reduction
    if (c.small.size() > 1) cases.push_back(c);
  for (const char* name : {"half", "integers", "embedding", "argmax"}) cases.push_back(triton_case(name));
  const auto launches = write_pack(dir.path(), cases);
  base::ProcessOptions options;
  options.argv = {STAX_SOURCE_DIR "/.venv/bin/python3", STAX_SOURCE_DIR "/tests/unit/schedule/triton_interpret.py",
                  dir.path().string()};
  options.timeout = std::chrono::minutes(5);
  const auto result = base::run_process(options);
  ASSERT_TRUE(result.ok()) << result.describe() << "\n"
                           << result.err.substr(result.err.size() > 3000 ? result.err.size() - 3000 : 0);
  check_pack(dir.path(), launches);
  EXPECT_GT(launches.size(), 20U);
}

// An index out of range is reported and its access clamped; the first report stays.
TEST(TritonInterpreter, IndexErrorsReachTheErrorWord) {
  if (!std::filesystem::exists(STAX_SOURCE_DIR "/.venv/triton.installed"))
    GTEST_SKIP() << "Triton is not installed (make triton)";
  base::TempDir dir("stax-test");
  write_pack(dir.path(), {triton_case("embedding")});
  std::string indices = base::read_file(dir.path() / "embedding.0.b0");
  const std::int64_t bad = 77;
  std::memcpy(indices.data() + 16, &bad, 8);
  base::write_file_atomic(dir.path() / "embedding.0.b0", indices);
  base::ProcessOptions options;
  options.argv = {STAX_SOURCE_DIR "/.venv/bin/python3", STAX_SOURCE_DIR "/tests/unit/schedule/triton_interpret.py",
                  dir.path().string()};
  const auto result = base::run_process(options);
  ASSERT_TRUE(result.ok()) << result.err;
  std::int64_t word[4];
  std::memcpy(word, base::read_file(dir.path() / "error").data(), sizeof word);
  EXPECT_EQ(word[0], 3);  // of an index that may wrap
  EXPECT_EQ(word[2], 77);
  EXPECT_EQ(word[3], 50);
}

// For a machine with a card: STAX_TEST_PACK names a folder that gets the launches with their cubins and expected
// values.
TEST(TritonPack, IsWrittenOnRequest) {
  const char* folder = std::getenv("STAX_TEST_PACK");
  if (!folder) GTEST_SKIP() << "STAX_TEST_PACK names no folder";
  build::TritonCompiler compiler({.python = STAX_SOURCE_DIR "/.venv/bin/python3"});
  std::vector<TritonCase> cases;
  for (const TritonCase& c : triton_corpus()) cases.push_back(c);
  if (!std::getenv("STAX_TEST_PACK_SHORT"))
    for (const auto* more : {&triton_operations(), &triton_specials()})
      cases.insert(cases.end(), more->begin(), more->end());
  std::string expected;
  for (const PackedLaunch& l : write_pack(folder, cases, &compiler))
    for (const auto& o : l.outputs) {
      const std::string file = o.file + ".expected";
      base::write_file_atomic(
          std::filesystem::path(folder) / file,
          std::string(static_cast<const char*>(o.expected.data()),
                      static_cast<std::size_t>(o.expected.numel() * byte_size(o.expected.dtype()))));
      expected += o.file + " " + std::string(to_text(o.expected.dtype())) + " " + fmt::format("{}", l.tolerance) + "\n";
    }
  base::write_file_atomic(std::filesystem::path(folder) / "expected.txt", expected);
}

}  // namespace
}  // namespace stax::test
