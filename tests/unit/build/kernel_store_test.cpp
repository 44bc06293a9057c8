#include "base/file.h"
#include "build/build_id.h"
#include "cache/store.h"
#include "helpers.h"

namespace stax::build::test {
namespace {

TEST(KernelStore, BuiltOnceThenLiveThenFromDisk) {
  const base::TempDir folder;
  cache::Store disk(folder.path() / "cache", std::uint64_t{1} << 30);
  const CppCompiler compiler;
  KernelStore store(compiler, &disk);
  auto module = store.build_or_load(job("a", "4"));
  EXPECT_EQ(call(*module), 4.0f);
  EXPECT_EQ(store.build_or_load(job("another name", "4")), module);
  EXPECT_EQ(store.stats().built, 1u);
  EXPECT_EQ(store.stats().live_hits, 1u);
  module.reset();
  EXPECT_EQ(call(*store.build_or_load(job("a", "4"))), 4.0f);
  EXPECT_EQ(store.stats().disk_hits, 1u);

  KernelStore second(compiler, &disk);
  EXPECT_EQ(call(*second.build_or_load(job("a", "4"))), 4.0f);
  EXPECT_EQ(second.stats().built, 0u);
}

TEST(KernelStore, EqualSourcesInOneBatchAreBuiltOnce) {
  const CppCompiler compiler;
  KernelStore store(compiler, nullptr);
  const std::vector<CppJob> jobs{job("a", "1"), job("b", "2"), job("c", "1")};
  KernelStoreStats mine;
  const auto modules = store.build_or_load_all(jobs, &mine);
  EXPECT_EQ(modules[0], modules[2]);
  EXPECT_EQ(call(*modules[1]), 2.0f);
  EXPECT_EQ(mine.built, 2u);
}

TEST(KernelStore, TheKeyCoversSourceFlagsAndInstructionSet) {
  const CppCompiler compiler;
  KernelStore store(compiler, nullptr);
  EXPECT_EQ(store.key(job("a", "1")), store.key(job("b", "1")));
  EXPECT_NE(store.key(job("a", "1")), store.key(job("a", "2")));
  CppOptions options;
  options.target = {"sse2", 16};
  const CppCompiler other(options);
  EXPECT_NE(KernelStore(other, nullptr).key(job("a", "1")), store.key(job("a", "1")));
  EXPECT_GE(build_id().size(), 16u);
}

TEST(KernelStore, ObjectsForPackagesCanBeLoaded) {
  const CppCompiler compiler;
  KernelStore store(compiler, nullptr);
  EXPECT_EQ(call(*load(compiler, store.object_of(job("a", "6")))), 6.0f);
}

}  // namespace
}  // namespace stax::build::test
