// A kernel that Triton refuses: the user sees the operator, the line and Triton's words, and gets a program that
// reproduces it.
#include <filesystem>
#include <regex>

#include "fake_worker.h"
#include "message.h"

namespace stax::test {
namespace {

namespace fs = std::filesystem;

constexpr Device kNull{DeviceKind::null_gpu, 0};

// An interpreter with this program.
std::string interpreter(const base::TempDir& dir, const std::string& program) {
  const std::string path = (dir.path() / "python").string();
  base::write_file_atomic(path, program, 0700);
  return path;
}

// A worker that refuses every job at the statement that holds `where`; where that is empty, at none.
std::string refuses(const std::string& where) {
  return fake_interpreter(
      fmt::format("    found = [line.strip() for line in job['text'].split('\\n') if '{0}' in line]\n"
                  "    refuse('PTXASError', 'too much cheese', found[0] if '{0}' else '')\n",
                  where));
}

struct Refusal {
  std::string message, program, graph;
};

// What compiling a function on the null device.
Refusal refusal_with(const std::string& python) {
  const base::TempDir cache("stax-errors");
  const ScopedVariable variable("STAX_PYTHON", python);
  const auto f = compile(
      [](Tensor x) {
        const Tensor y = x + 1;
        return sqrt(y);
      },
      {.fullgraph = true, .cache_dir = cache.path().string()});
  Refusal refusal;
  try {
    (void)f(ones({64, 32}).to(kNull));
  } catch (const InternalError& e) {
    refusal.message = e.what();
  }
  std::smatch files;
  if (std::regex_search(refusal.message, files,
                        std::regex(R"(The kernel with its signature is in (\S+\.py); to reproduce: (\S+) \1)")))
    refusal.program = files[1];
  if (std::regex_search(refusal.message, files, std::regex(R"(The graph is in (\S+\.stax); to reproduce: stax-opt)")))
    refusal.graph = files[1];
  return refusal;
}
constexpr int kAddLine = 41, kSqrtLine = 42;

std::string python_of_the_checkout() { return STAX_SOURCE_DIR "/.venv/bin/python3"; }

std::string place(int line) { return fmt::format("{}:{}", __FILE__, line); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void remove_files(const Refusal& r) {
  fs::remove(r.program);
  fs::remove(r.graph);
}

TEST(TritonRefusal, NamesTheOperatorAndTheLine) {
  const base::TempDir dir("stax-errors");
  const Refusal r = refusal_with(interpreter(dir, refuses("# sqrt")));
  EXPECT_TRUE(
      contains(r.message, "Triton refused kernel ") &&
      contains(r.message, ", which computes sqrt at " + place(kSqrtLine) + ": PTXASError: too much cheese\n  v"))
      << r.message;
  ASSERT_TRUE(fs::exists(r.program) && fs::exists(r.graph)) << r.message;
  EXPECT_TRUE(contains(base::read_file(r.program), "@triton.jit"));
  remove_files(r);
}

TEST(TritonRefusal, WithoutAStatementAllOperatorsAreNamed) {
  const base::TempDir dir("stax-errors");
  const Refusal r = refusal_with(interpreter(dir, refuses("")));
  EXPECT_TRUE(contains(r.message, fmt::format(", which computes add at {}, sqrt at {}: PTXASError: too much cheese\n"
                                              "The kernel",
                                              place(kAddLine), place(kSqrtLine))))
      << r.message;
  remove_files(r);
}

// The real Triton, given a kernel whose square root is spelt wrongly.
TEST(TritonRefusal, TritonsOwnWordsAndAProgramToRun) {
  if (!fs::exists(STAX_SOURCE_DIR "/.venv/triton.installed")) GTEST_SKIP() << "Triton is not installed (make triton)";
  const base::TempDir dir("stax-errors");
  const Refusal r = refusal_with(interpreter(dir, "#!" + python_of_the_checkout() + R"PY(
import re, sys
job = "job = json.loads(receive())"
damage = "job['text'] = re.sub(r'(v\\d+) = .*# sqrt', r'\\1 = tl.no_such_function(1)  # sqrt', job['text'])"
exec(sys.argv[2].replace(job, job + "; " + damage))
)PY"));
  EXPECT_TRUE(contains(r.message, "which computes sqrt at " + place(kSqrtLine)) &&
              contains(r.message, "no_such_function") && contains(r.message, "AttributeError"))
      << r.message;
  ASSERT_TRUE(fs::exists(r.program)) << r.message;
  base::ProcessOptions options;
  options.argv = {python_of_the_checkout(), r.program};
  const base::ProcessResult again = base::run_process(options);
  EXPECT_TRUE(again.ok() && contains(again.out, "compiled: ")) << "without the damage: " << again.err;
  const base::ProcessResult opt =
      run_tool({"stax-opt", r.graph, "--plan"}, {{"STAX_PYTHON", python_of_the_checkout()}});
  EXPECT_TRUE(opt.ok() && contains(opt.out, "launch ")) << opt.describe() << opt.err;
  remove_files(r);
}

}  // namespace
}  // namespace stax::test
