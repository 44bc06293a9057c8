#include <stax/base/error.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "helpers.h"

namespace stax::build::test {
namespace {

TEST(CppCompiler, SourceToCallableCode) {
  const CppCompiler compiler;
  EXPECT_FALSE(compiler.identity().empty());
  EXPECT_FALSE(compiler.version().empty());
  EXPECT_EQ(call(*load(compiler, compiler.compile(job("seven", "7.5f")))), 7.5f);
}

TEST(CppCompiler, MathLibraryAndOpenMp) {
  const CppCompiler compiler;
  const CppJob j{"math", R"(
extern "C" double pow(double, double) noexcept;
extern "C" int omp_get_thread_num(void) noexcept;
extern "C" void k(void* const* b, const long*, const unsigned long*, int threads, void*) {
  float sum = 0;
  volatile double two = 2;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
  for (int i = 0; i < 30; ++i) sum += (float)pow(two, 3.0) + 0 * omp_get_thread_num();
  *(float*)b[0] = sum;
})"};
  EXPECT_EQ(call(*load(compiler, compiler.compile(j))), 240.0f);
}

TEST(CppCompiler, ProductsAreNotContractedAndIntegersWrap) {
  const CppCompiler compiler;
  const CppJob j{"exact", R"(
extern "C" void k(void* const* b, const long* ints, const unsigned long*, int, void*) {
  volatile float x = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f);
  float r = x * x + c;
  volatile int most = 2147483647;
  int next = most + 1;
  *(float*)b[0] = r == 0.0f && next < most ? 1.0f : 0.0f;
})"};
  EXPECT_EQ(call(*load(compiler, compiler.compile(j))), 1.0f);
}

TEST(CppCompiler, SeveralAtOnceKeepTheirOrder) {
  const CppCompiler compiler;
  std::vector<CppJob> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(job("k" + std::to_string(i), std::to_string(i)));
  const auto objects = compiler.compile_all(jobs);
  ASSERT_EQ(objects.size(), 5u);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(call(*load(compiler, objects[static_cast<std::size_t>(i)])), static_cast<float>(i));
}

// A script in the place of the compiler; what compiling a kernel with it throws as a UserError.
std::string problem_with(const std::string& script) {
  const base::TempDir folder("stax-fake");
  const std::string path = (folder.path() / "g++").string();
  base::write_file_atomic(path, "#!/bin/sh\n" + script + "\n", 0755);
  CppOptions options;
  options.compiler = path;
  try {
    (void)CppCompiler(options).compile(job("fake", "1"));
  } catch (const UserError& e) {
    std::string text = e.what();
    if (const std::size_t at = text.find(path); at != std::string::npos) text.replace(at, path.size(), "CXX");
    return text;
  }
  return "no error";
}

TEST(CppCompiler, WhatIsNotTheKernelsFaultIsSaid) {
  const std::string install = "Install one (apt install g++) or name it in STAX_CXX";
  const std::string room = "Free memory, or space in the directory of temporary files (TMPDIR)";
  EXPECT_EQ(problem_with("exit 0"), "the C++ compiler CXX ended well but wrote no object file. " + install);
  EXPECT_EQ(problem_with("kill -9 $$"), "the C++ compiler was ended by signal 9 (Killed) on kernel fake. " + room);
  EXPECT_EQ(problem_with("echo 'note: x' >&2; echo 'as: fatal: /tmp/x.o: No space left on device' >&2; exit 1"),
            "the C++ compiler failed: as: fatal: /tmp/x.o: No space left on device on kernel fake. " + room);
  EXPECT_EQ(
      problem_with("echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1"),
      "the C++ compiler failed: g++: fatal error: Killed signal terminated program cc1plus on kernel fake. " + room);
  EXPECT_EQ(
      problem_with("case $1 in --version) echo 'other 14.0';; -dM) printf '#define __GNUC__ 4\\n#define "
                   "__clang__ 1\\n';; *) exit 1;; esac"),
      "the C++ compiler CXX (other 14.0) is not GNU C++ 12 or newer, for which CPU kernels are written. " + install);
  EXPECT_EQ(problem_with("case $1 in --version) echo 'g++ 9.1';; -dM) echo '#define __GNUC__ 9';; *) exit 1;; esac"),
            "the C++ compiler CXX (g++ 9.1) is not GNU C++ 12 or newer, for which CPU kernels are written. " + install);
}

TEST(CppCompiler, ARefusedKernelIsOurFaultAndKept) {
  const CppCompiler compiler;
  try {
    compiler.compile({"bad/kernel", "void f() { undeclared = 1; }\n"});
    FAIL();
  } catch (const InternalError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("refused kernel bad/kernel (exit status 1)"), std::string::npos) << what;
    EXPECT_NE(what.find("'undeclared' was not declared"), std::string::npos) << what;
    const std::string path = what.substr(what.rfind("kept in ") + 8);
    EXPECT_NE(base::read_file(path).find("undeclared"), std::string::npos);
    std::filesystem::remove_all(std::filesystem::path(path).parent_path());
  }
}

TEST(CppCompiler, OneFailureOfSeveralIsThrown) {
  const CppCompiler compiler;
  const std::vector<CppJob> jobs{job("good", "1"), {"bad", "syntax error"}, job("good", "2")};
  try {
    compiler.compile_all(jobs);
    FAIL();
  } catch (const InternalError& e) {
    const std::string what = e.what();
    std::filesystem::remove_all(std::filesystem::path(what.substr(what.rfind("kept in ") + 8)).parent_path());
  }
}

TEST(CppCompiler, AMissingCompilerSaysWhatToInstall) {
  CppOptions options;
  options.compiler = "no-such-compiler";
  try {
    const CppCompiler compiler(options);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.problem(), "the C++ compiler 'no-such-compiler' does not exist or cannot be run");
    EXPECT_NE(e.remedy().find("apt install g++"), std::string::npos);
  }
  const std::string path = getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  EXPECT_THROW(CppCompiler{}, UserError);
  setenv("PATH", path.c_str(), 1);
}

TEST(CppCompiler, AHangingCompilerIsStopped) {
  const base::TempDir folder;
  const auto script = folder.path() / "slow-g++";
  std::ofstream(script) << "#!/bin/sh\nsleep 60\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  CppOptions options;
  options.compiler = script.string();
  options.timeout = std::chrono::milliseconds(200);
  const CppCompiler compiler(options);
  try {
    compiler.compile(job("k", "1"));
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(e.problem().find("timed out after 0.2 s on kernel k"), std::string::npos) << e.problem();
  }
}

TEST(CppCompiler, EveryInstructionSetCompiles) {
  for (const auto& [isa, bytes] : {std::pair("sse2", 16), std::pair("avx2", 32), std::pair("avx512", 64)}) {
    if (!runtime::cpu_supports(isa)) continue;
    CppOptions options;
    options.target = {isa, bytes};
    const CppCompiler compiler(options);
    EXPECT_EQ(call(*load(compiler, compiler.compile(job("k", "3")))), 3.0f);
  }
}

TEST(CppCompiler, SanitizersAddTheirFlags) {
  CppOptions options;
  options.sanitize = "address";
  const CppCompiler compiler(options);
  EXPECT_NE(std::find(compiler.flags().begin(), compiler.flags().end(), "-fsanitize=address"), compiler.flags().end());
  EXPECT_NE(compiler.compile(job("k", "3")).find("__asan_init"), std::string::npos);
  options.sanitize = "adress";
  EXPECT_THROW(CppCompiler{options}, UserError);
}

}  // namespace
}  // namespace stax::build::test
