// A C++ compiler that is there but does not do its work: an error where the options ask for compiled code, otherwise
// one warning and the right result.
#include <filesystem>
#include <optional>

#include "message.h"

namespace stax::test {
namespace {

struct Broken {
  const char* name;  // of the file
  const char* script;
  const char* problem;  // after "the C++ compiler PATH"
};

const Broken kBroken[] = {
    {"g++", "echo 'cannot start' >&2; exit 1", " does not work: exit status 1"},
    {"cxx", "exit 1", " does not work: exit status 1"},
    // Says what it is, and compiles nothing.
    {"g++", "case \"$*\" in *--version*|*-dM*) exec g++ \"$@\";; esac; echo 'g++: fatal error: no cc1plus' >&2; exit 1",
     " does not work: exit status 1, whatever it is given: g++: fatal error: no cc1plus"},
    {"g++", "exit 0", " ended well but wrote no object file"},
};

class BrokenCompiler : public testing::TestWithParam<Broken> {
 protected:
  BrokenCompiler() {
    const std::string path = (dir_.path() / GetParam().name).string();
    base::write_file_atomic(path, std::string("#!/bin/sh\n") + GetParam().script + "\n", 0700);
    compiler_.emplace("STAX_CXX", path);
    cache_ = (dir_.path() / "cache").string();
    problem_ = "the C++ compiler " + path + GetParam().problem;
  }
  base::TempDir dir_{"stax-errors"};
  std::optional<ScopedVariable> compiler_;
  std::string cache_, problem_;
};

Tensor twice(const Tensor& x) { return x * 2 + 1; }

TEST_P(BrokenCompiler, IsAnErrorWhereCompiledCodeIsAskedFor) {
  for (const CompileOptions& options : {CompileOptions{.strict_native = true, .cache_dir = cache_},
                                        CompileOptions{.fullgraph = true, .cache_dir = cache_}}) {
    const auto f = compile([](Tensor x) { return twice(x); }, options);
    const std::string message = message_of([&] { (void)f(ones({3})); });
    EXPECT_EQ(message.find(problem_), 0U) << message;
    EXPECT_NE(message.find("Install one (apt install g++) or name it in STAX_CXX"), std::string::npos) << message;
  }
}

TEST_P(BrokenCompiler, OtherwiseIsOneWarningAndTheRightResult) {
  const base::LogCapture log;
  const auto f = compile([](Tensor x) { return twice(x); }, {.cache_dir = cache_});
  const auto g = compile([](Tensor x) { return sum(x, -1); }, {.cache_dir = cache_});
  EXPECT_EQ(f(ones({3})).to_vector<float>(), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(f(ones({4})).to_vector<float>(), (std::vector<float>{3, 3, 3, 3}));
  EXPECT_EQ(g(ones({2, 3})).to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(f.stats().fallbacks, 2U);
  EXPECT_EQ(f.stats().compiles, 0U);
  EXPECT_NE(f.explain(ones({3})).find("runs uncompiled: " + problem_), std::string::npos);
  const std::string text = log.text(), tail = "runs uncompiled, unless strict_native or fullgraph forbids it\n";
  EXPECT_EQ(text.find("[warn] " + problem_), 0U) << text;
  EXPECT_EQ(text.find(tail), text.size() - tail.size()) << "one warning: " << text;
}

TEST(VanishedCompiler, IsOneToo) {
  const base::TempDir dir("stax-errors");
  const std::string path = (dir.path() / "g++").string();
  base::write_file_atomic(path, "#!/bin/sh\nexec g++ \"$@\"\n", 0700);
  const ScopedVariable compiler("STAX_CXX", path);
  const base::LogCapture log;
  const auto f = compile([](Tensor x) { return twice(x); }, {.cache_dir = (dir.path() / "cache").string()});
  EXPECT_EQ(f(ones({3})).to_vector<float>(), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(f.stats().compiles, 1U);
  std::filesystem::remove(path);
  EXPECT_EQ(f(ones({2, 2})).to_vector<float>(), (std::vector<float>{3, 3, 3, 3}));
  EXPECT_EQ(f.stats().fallbacks, 1U);
  EXPECT_EQ(log.text().find("[warn] the C++ compiler " + path + " does not work: cannot start '"), 0U) << log.text();
}

INSTANTIATE_TEST_SUITE_P(Each, BrokenCompiler, testing::ValuesIn(kBroken));

}  // namespace
}  // namespace stax::test
