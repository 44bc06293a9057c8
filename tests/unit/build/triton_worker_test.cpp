// Workers that crash, hang or answer nonsense are replaced; what cannot be helped is a clear error. The workers here
// are small scripts that need no Triton; the last tests use the real one where it is installed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stax/base/error.h>

#include <filesystem>

#include "base/file.h"
#include "base/subprocess.h"
#include "build/triton_compiler.h"
#include "cache/store.h"
#include "fake_worker.h"

namespace stax::build {
namespace {

using std::chrono::milliseconds;

// `body` runs for each job; FIRST is a file that exists from the first job on.
std::string script(const base::TempDir& dir, const std::string& body) {
  return std::string(test::kFakeWorker) +
         fmt::format(
             "FIRST = {:?}\nwhile True:\n    job = receive()\n    first = not os.path.exists(FIRST)\n    open(FIRST, "
             "'a').close()\n",
             (dir.path() / "first").string()) +
         body;
}

TritonJob job(const std::string& text = "text") {
  TritonJob j;
  j.name = "red_sum";
  j.function = "f";
  j.text = text;
  return j;
}

TritonOptions options(const std::string& script, milliseconds timeout = milliseconds(20000)) {
  return {.python = "python3", .script = script, .timeout = timeout, .jobs = 2};
}

std::string message_of(TritonCompiler& compiler, const TritonJob& j = job()) {
  try {
    compiler.compile(j);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TritonWorkers, AnswerWithTheBinary) {
  base::TempDir dir("stax-test");
  TritonCompiler compiler(options(script(dir, "    good(job)\n")));
  const TritonBinary b = compiler.compile(job("abc"));
  EXPECT_EQ(b.cubin,
            "\x7f"
            "ELFabc");
  EXPECT_EQ(b.registers, 9);
  compiler.compile(job("abd"));
  EXPECT_EQ(compiler.stats().started, 1U);
}

TEST(TritonWorkers, CrashIsRepaired) {
  base::TempDir dir("stax-test");
  TritonCompiler compiler(options(script(dir, "    if first: os.abort()\n    good(job)\n")));
  EXPECT_EQ(compiler.compile(job()).function, "f");
  EXPECT_EQ(compiler.stats().replaced, 1U);
  EXPECT_EQ(compiler.stats().started, 2U);
}

TEST(TritonWorkers, CrashOnTheSameKernelTwiceIsAnError) {
  base::TempDir dir("stax-test");
  TritonCompiler compiler(options(script(dir, "    print('out of cheese', flush=True); os._exit(3)\n")));
  const std::string text = message_of(compiler);
  EXPECT_TRUE(contains(text, "red_sum") && contains(text, "ended unexpectedly") && contains(text, "out of cheese"))
      << text;
  EXPECT_EQ(compiler.stats().replaced, 2U);
}

TEST(TritonWorkers, HangIsRepaired) {
  base::TempDir dir("stax-test");
  TritonCompiler compiler(options(script(dir, "    if first: time.sleep(1000)\n    good(job)\n"), milliseconds(700)));
  EXPECT_EQ(compiler.compile(job()).function, "f");
  EXPECT_EQ(compiler.stats().replaced, 1U);
}

TEST(TritonWorkers, HangTwiceIsAnError) {
  base::TempDir dir("stax-test");
  TritonCompiler compiler(options(script(dir, "    time.sleep(1000)\n"), milliseconds(300)));
  const std::string text = message_of(compiler);
  EXPECT_TRUE(contains(text, "gave no answer within 0.3 s")) << text;
}

TEST(TritonWorkers, NonsenseIsRepaired) {
  for (const char* nonsense : {"send(b'{{{')", "send(b'[]')", "send(b'{\"ok\": 3}')", "send(b'{\"ok\": true}')",
                               "channel.sendall(b'\\xff\\xff\\xff\\xff')"}) {
    SCOPED_TRACE(nonsense);
    base::TempDir dir("stax-test");
    TritonCompiler compiler(
        options(script(dir, fmt::format("    if first:\n        {}\n        continue\n    good(job)\n", nonsense))));
    EXPECT_EQ(compiler.compile(job()).function, "f");
    EXPECT_EQ(compiler.stats().replaced, 1U);
  }
}

TEST(TritonWorkers, RefusalNamesTheOperator) {
  base::TempDir dir("stax-test");
  TritonCompiler compiler(options(script(dir,
                                         "    send(json.dumps(dict(ok=False, kind='CompilationError', error='bad "
                                         "types', statement='v3 = v1 + v2  # add of gelu')).encode())\n")));
  const std::string text = message_of(compiler);
  EXPECT_TRUE(contains(text, "Triton refused kernel red_sum at operator 'add of gelu'") && contains(text, "bad types"))
      << text;
  EXPECT_EQ(compiler.stats().replaced, 0U);
}

TEST(TritonWorkers, MissingTritonSaysWhatToInstall) {
  const std::string text = message_of(
      *std::make_unique<TritonCompiler>(options("import socket, struct\nc = socket.socket(fileno=3)\nd = b'{\"hello\": "
                                                "false, \"problem\": \"No module named triton\"}'\n"
                                                "c.sendall(struct.pack('<I', len(d)) + d)\n")));
  EXPECT_TRUE(contains(text, "cannot import Triton") && contains(text, "pip install triton==3.6.0")) << text;
}

TEST(TritonWorkers, MissingPythonSaysWhatToInstall) {
  TritonCompiler compiler({.python = "/nowhere/python3"});
  const std::string text = message_of(compiler);
  EXPECT_TRUE(contains(text, "/nowhere/python3") && contains(text, "STAX_PYTHON")) << text;
}

TEST(TritonWorkers, WarmCacheStartsNoPython) {
  base::TempDir dir("stax-test");
  const std::string text = script(dir, "    good(job)\n");
  cache::Store store(dir.path() / "cache", 1 << 24);
  TritonBinary first;
  {
    TritonCompiler compiler(options(text), &store);
    first = compiler.compile(job());
    EXPECT_EQ(compiler.stats().built, 1U);
  }
  TritonCompiler compiler(options(text), &store);
  const TritonBinary second = compiler.compile(job());
  EXPECT_EQ(second.cubin, first.cubin);
  EXPECT_EQ(second.registers, first.registers);
  EXPECT_EQ(compiler.stats().started, 0U);
  EXPECT_EQ(compiler.stats().disk_hits, 1U);
  compiler.compile(job("another"));
  EXPECT_EQ(compiler.stats().started, 1U);
}

TEST(TritonWorkers, DamagedEntryIsBuiltAgain) {
  base::TempDir dir("stax-test");
  const std::string text = script(dir, "    good(job)\n");
  cache::Store store(dir.path() / "cache", 1 << 24);
  TritonCompiler compiler(options(text), &store);
  compiler.compile(job());
  for (const auto& f : std::filesystem::recursive_directory_iterator(dir.path() / "cache"))
    if (f.is_regular_file() && f.file_size() > 100) base::write_file_atomic(f.path(), std::string(200, 'x'));
  EXPECT_EQ(compiler.compile(job()).function, "f");
  EXPECT_EQ(compiler.stats().built, 2U);
}

TEST(TritonWorkersConcurrency, ManyJobsOnTwoWorkers) {
  base::TempDir dir("stax-test");
  TritonCompiler compiler(options(script(dir, "    good(job)\n")));
  compiler.warm_up(1);
  std::vector<TritonJob> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(job(std::to_string(i % 20)));
  const auto binaries = compiler.compile_all(jobs);
  ASSERT_EQ(binaries.size(), 40U);
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(binaries[static_cast<std::size_t>(i)].cubin,
              "\x7f"
              "ELF" +
                  std::to_string(i % 20));
  EXPECT_LE(compiler.stats().started, 3U);
  EXPECT_EQ(compiler.stats().built, 20U);
}

// With the real worker.
class RealTriton : public testing::Test {
 protected:
  RealTriton() : compiler_({.python = STAX_SOURCE_DIR "/.venv/bin/python3", .jobs = 1}) {}
  void SetUp() override {
    if (!std::filesystem::exists(STAX_SOURCE_DIR "/.venv/triton.installed"))
      GTEST_SKIP() << "Triton is not installed (make triton)";
  }
  TritonCompiler compiler_;
};

TEST_F(RealTriton, CompilesAndRefuses) {
  TritonJob j =
      job("import triton\nimport triton.language as tl\n@triton.jit\ndef f(x, N: tl.constexpr):\n"
          "    i = tl.arange(0, N)\n    tl.store(x + i, tl.load(x + i) + 1.0)  # add\n");
  j.parameters = {{"x", "*fp32", 16}};
  j.constants = {{"N", 128}};
  const TritonBinary b = compiler_.compile(j);
  EXPECT_EQ(b.function, "f");
  EXPECT_EQ(b.warps, 4);
  EXPECT_GT(b.registers, 0);
  j.text.replace(j.text.find("tl.load(x"), 9, "tl.loud(x");
  const std::string text = message_of(compiler_, j);
  EXPECT_TRUE(contains(text, "at operator 'add'") && contains(text, "loud")) << text;
  EXPECT_EQ(compiler_.stats().started, 1U);
}

const char* const kWithHelper = R"(
import triton
import triton.language as tl

@triton.jit
def helper(x):
    return x.to(tl.float99)

@triton.jit
def f(x, N: tl.constexpr):
    i = tl.arange(0, N)
    v0 = tl.load(x + i)  # load of gelu
    v1 = helper(v0)  # cast of gelu
    tl.store(x + i, v1)
)";

TritonJob with_helper() {
  TritonJob j = job(kWithHelper);
  j.parameters = {{"x", "*fp32", 16}};
  j.constants = {{"N", 128}};
  return j;
}

// The kernel's statement and the helper's fault.
TEST_F(RealTriton, FaultsOfHelpersAreTold) {
  try {
    (void)compiler_.compile(with_helper());
    FAIL();
  } catch (const TritonRefusal& refusal) {
    EXPECT_EQ(refusal.statement(), "v1 = helper(v0)  # cast of gelu");
    EXPECT_TRUE(contains(refusal.problem(), "float99")) << refusal.problem();
  }
}

base::ProcessResult run_program(const TritonJob& j) {
  const base::TempDir dir("stax-test");
  const std::string path = (dir.path() / "kernel.py").string();
  base::write_file_atomic(path, triton_program(j));
  base::ProcessOptions options;
  options.argv = {STAX_SOURCE_DIR "/.venv/bin/python3", path};
  options.directory = dir.path().string();
  return base::run_process(options);
}

TEST_F(RealTriton, ProgramsReproduceARefusal) {
  const base::ProcessResult r = run_program(with_helper());
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_TRUE(contains(r.err, "float99") && contains(r.err, "CompilationError")) << r.err;
}

TEST_F(RealTriton, ProgramsTakeQuotesAndBackslashes) {
  for (const char* comment : {"", "# it's \"quoted\"\n", "# ''' \n", "# \\ \\n\n"}) {
    SCOPED_TRACE(comment);
    TritonJob j = with_helper();
    j.name = "red_\"it's\"";
    j.text.replace(j.text.find("float99"), 7, "float16");
    j.text += comment;
    const base::ProcessResult r = run_program(j);
    EXPECT_TRUE(r.ok() && contains(r.out, "compiled: ")) << r.describe() << r.err;
  }
}

TEST_F(RealTriton, TheAssemblersWordIsKept) {
  TritonJob j = job(R"(
import triton
import triton.language as tl

@triton.jit
def f(x):
    v0 = tl.load(x)
    v1 = tl.inline_asm_elementwise("no.such.instruction $0, $1;", "=r,r", [v0], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(x, v1)
)");
  j.parameters = {{"x", "*i32", 16}};
  const std::string text = message_of(compiler_, j);
  EXPECT_TRUE(contains(text, "Triton refused kernel red_sum: ") && contains(text, "ptxas") &&
              contains(text, "Unknown modifier '.such'"))
      << text;
}

// ptxas 12.8 adds 0 in place of the constant to one half of some pairs.
TEST(TritonPairs, OfShortIntegersAreTakenApart) {
  const std::string python = STAX_SOURCE_DIR "/.venv/bin/python3";
  if (!std::filesystem::exists(STAX_SOURCE_DIR "/.venv/triton.installed")) GTEST_SKIP() << "Triton is not installed";
  TritonJob j =
      job("import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef f(a, o, B: tl.constexpr):\n"
          "    i = tl.arange(0, B)\n    tl.store(o + i, tl.load(a + i) + 13)\n");
  j.parameters = {{"a", "*i16", 16}, {"o", "*i16", 16}};
  j.constants = {{"B", 1024}};
  const base::TempDir dir("stax-pairs");
  const auto path = dir.path() / "pairs.py";
  base::write_file_atomic(path, triton_program(j) + "print(ptx)\n");
  base::ProcessOptions run;
  run.argv = {python, path.string()};
  const auto result = base::run_process(run);
  ASSERT_TRUE(result.ok()) << result.describe() << result.err;
  EXPECT_NE(result.out.find("add.s16 a1, a1, b1"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("s16x2"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace stax::build
