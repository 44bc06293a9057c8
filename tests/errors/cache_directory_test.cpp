// A cache directory that cannot be used costs one warning and the caching; the function is compiled all the same.
#include <filesystem>

#include "message.h"

namespace stax::test {
namespace {

// Compiles and runs a graph in a process of its own.
base::ProcessResult run_with_cache(const base::TempDir& work, const std::string& cache) {
  const std::string graph = (work.path() / "graph.stax").string();
  base::write_file_atomic(
      graph, "graph @twice(x: f32[4]) {\n  %0 = mul(x, 2) : f32[4]\n  %1 = add(%0, x) : f32[4]\n  return %1\n}\n");
  return run_tool({"stax", "run", graph}, {{"STAX_CACHE_DIR", cache}});
}

TEST(CacheDirectory, ThatIsAFile) {
  const base::TempDir work("stax-errors");
  const std::string path = (work.path() / "file").string();
  base::write_file_atomic(path, "a file");
  const base::ProcessResult r = run_with_cache(work, path);
  EXPECT_TRUE(r.ok()) << r.err;
  EXPECT_NE(r.out.find("out0: f32[4] = ["), std::string::npos) << r.out;
  EXPECT_EQ(r.err,
            "[stax] [warn] the disk cache is not used: cannot use the directory '" + path + "': Not a directory\n");
}

TEST(CacheDirectory, ThatOthersMayWriteTo) {
  const base::TempDir work("stax-errors");
  const std::string path = (work.path() / "open").string();
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, std::filesystem::perms::all);
  const base::ProcessResult r = run_with_cache(work, path);
  EXPECT_TRUE(r.ok()) << r.err;
  EXPECT_EQ(r.err, "[stax] [warn] the disk cache is not used: others may write to the directory '" + path +
                       "' (mode 777). Run: chmod 700 '" + path + "'\n");
}

TEST(CacheDirectory, OnAReadOnlyFileSystem) {
  const base::TempDir work("stax-errors");
  const base::ProcessResult r = run_with_cache(work, "/proc/stax-cache");
  EXPECT_TRUE(r.ok()) << r.err;
  EXPECT_EQ(r.err.find("[stax] [warn] the disk cache is not used: cannot "), 0U) << r.err;
  EXPECT_EQ(r.err.find('\n'), r.err.size() - 1) << "one line: " << r.err;
}

TEST(CacheDirectory, OfTheCacheCommand) {
  const base::ProcessResult r = run_tool({"stax", "cache", "stats"}, {{"STAX_CACHE", "0"}});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.err, "stax: cache: there is no disk cache. Unset STAX_CACHE=0, or set STAX_CACHE_DIR\n");
}

}  // namespace
}  // namespace stax::test
