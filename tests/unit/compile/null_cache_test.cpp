// Kernels of a GPU come from the cache: equal ones are shared, and a warm cache starts no Python.
#include "null_device.h"
#include "plan/text.h"

namespace stax::compiler::test {
namespace {

const std::string kTwice = R"(
graph @twice(x: f32[64, 300], y: f32[64, 300]) {
  %0 = sum(x, axes=[-1]) : f32[64]
  %1 = sum(y, axes=[-1]) : f32[64]
  return %0, %1
}
)";

TEST(NullCache, AWarmCacheStartsNoPython) {
  STAX_NEED_TRITON();
  const base::TempDir directory("stax-warm");
  const std::string path = directory.path().string();
  const auto first = compile_graph(null_graph(kTwice), {}, Session::of(path));
  EXPECT_GT(first->kernels_built, 0U);
  Session& again = Session::of(path + "/.");  // another session on the same files
  const auto second = compile_graph(null_graph(kTwice), {}, again);
  EXPECT_EQ(second->kernels_built, 0U);
  EXPECT_EQ(second->cache_hits, first->kernels_built);
  EXPECT_EQ(again.gpu_kernels().compiler().stats().started, 0U);
}

TEST(NullCache, LoadedKernelsAreSharedWhileTheyLive) {
  STAX_NEED_TRITON();
  const auto first = compile_graph(null_graph(kTwice), {}, session());
  const std::uint64_t modules = runtime::null_counts().modules;
  const auto second = compile_graph(null_graph(kTwice), {}, session());
  EXPECT_EQ(runtime::null_counts().modules, modules);
}

TEST(NullCache, EqualKernelsOfOneGraphAreOne) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(R"(
graph @chain(x: f32[s0], y: f32[s1]) {
  size s0 in [2, 281474976710655] hint 1001
  size s1 in [2, 281474976710655] hint 999
  %0 = exp(x) : f32[s0]
  %1 = exp(y) : f32[s1]
  return %0, %1
}
)"),
                                      {}, session());
  ASSERT_EQ(artifact->kernels.size(), 2U);
  EXPECT_TRUE(artifact->kernels[1].shared) << explain(*artifact);
  const Call call({null_tensor({1001}), null_tensor({33})});
  EXPECT_EQ(missed(*artifact, call), "");
  EXPECT_EQ(run(*artifact, call).size(), 2U);
}

TEST(NullCache, WithoutPythonTheErrorSaysWhatToInstall) {
  const base::TempDir directory("stax-python");
  const char* const known = std::getenv("STAX_PYTHON");
  const std::string before = known ? known : "";
  ::setenv("STAX_PYTHON", "/nonexistent/python3", 1);
  std::string message;
  try {
    (void)compile_graph(null_graph(kTwice), {}, Session::of(directory.path().string()));
  } catch (const UserError& e) {
    message = e.what();
  }
  before.empty() ? ::unsetenv("STAX_PYTHON") : ::setenv("STAX_PYTHON", before.c_str(), 1);
  EXPECT_EQ(message,
            "the Python interpreter '/nonexistent/python3' does not exist or cannot be run. Run `make triton`, or "
            "install Python 3 with Triton (pip install triton==3.6.0) and name it in STAX_PYTHON.");
}

}  // namespace
}  // namespace stax::compiler::test
