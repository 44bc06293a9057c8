// Inputs of `stax run` and `stax-opt --run` that do not fit.
#include "message.h"

namespace stax::test {
namespace {

class ToolInputs : public testing::Test {
 protected:
  void SetUp() override {
    base::write_file_atomic(path("g.stax"),
                            "graph @f(x: f32[s0, 3], c: scalar f64) {\n  size s0 in [2, 100]\n"
                            "  %0 = mul(x, c) : f32[s0, 3]\n  return %0\n}\n");
    save_npy(path("x.npy"), ones({4, 3}));
  }
  std::string path(const std::string& name) const { return (work_.path() / name).string(); }
  base::ProcessResult run(std::vector<std::string> more) const {
    std::vector<std::string> argv{"stax", "run", path("g.stax")};
    argv.insert(argv.end(), more.begin(), more.end());
    return run_tool(argv);
  }
  std::string error(std::vector<std::string> more) const {
    const base::ProcessResult r = run(std::move(more));
    EXPECT_EQ(r.exit_code, 1);
    return r.err;
  }
  base::TempDir work_{"stax-errors"};
};

TEST_F(ToolInputs, OfAnUnknownName) {
  EXPECT_EQ(error({"--input", "y=" + path("x.npy")}),
            "stax: --input y=" + path("x.npy") + ": there is no tensor input 'y' (inputs: x)\n");
}

TEST_F(ToolInputs, ThatFit) {
  const base::ProcessResult r = run({"--input", path("x.npy"), "--scalar", "c=2.5", "--output", path("out")});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(
      r.out,
      "input x: f32[4, 3]\nout0: f32[4, 3] = [2.5, 2.5, 2.5, 2.5, 2.5, 2.5, … 6 more], from 2.5 to 2.5, mean 2.5\n");
  EXPECT_EQ(load_npy(path("out/out0.npy")).to_vector<float>(), std::vector<float>(12, 2.5f));
}

TEST_F(ToolInputs, MissingScalar) {
  EXPECT_EQ(error({"--input", path("x.npy")}), "stax: the scalar input c has no value. Give --scalar c=NUMBER\n");
}

TEST_F(ToolInputs, SizeWithoutValue) {
  EXPECT_EQ(error({"--scalar", "c=1"}), "stax: the size s0 has no value and no hint. Give --dim s0=NUMBER\n");
}

TEST_F(ToolInputs, UnknownNames) {
  EXPECT_EQ(error({"--scalar", "k=1"}), "stax: --scalar k: no such scalar input. Scalar inputs: c\n");
  EXPECT_EQ(error({"--dim", "s7=1"}), "stax: --dim s7: there is no size of this name. Sizes: s0\n");
  EXPECT_EQ(error({"--dim", "s0"}), "stax: --dim: 's0' is not of the form s0=17\n");
  EXPECT_EQ(error({"--dim", "s0=x"}), "stax: --dim s0: 'x' is not a number\n");
}

TEST_F(ToolInputs, WrongDtype) {
  save_npy(path("i.npy"), ones({4, 3}, i64));
  EXPECT_EQ(
      error({"--input", path("i.npy"), "--scalar", "c=1"}),
      "stax: input x: " + path("i.npy") + " holds i64, the text says f32. Convert the file with numpy's astype\n");
}

TEST_F(ToolInputs, WrongSize) {
  save_npy(path("y.npy"), ones({4, 5}));
  EXPECT_EQ(error({"--input", path("y.npy"), "--scalar", "c=1"}),
            "stax: input x: size 5 of axis 1 of " + path("y.npy") + " does not fit 3\n");
}

TEST_F(ToolInputs, ConflictOfFileAndOption) {
  EXPECT_EQ(error({"--input", path("x.npy"), "--dim", "s0=5"}), "stax: --dim s0=5: the input files say 4\n");
}

TEST_F(ToolInputs, SizeOutsideItsRange) {
  EXPECT_EQ(error({"--dim", "s0=1", "--scalar", "c=1"}),
            "stax: the inputs do not fit: x.size(0) >= 2 failed: x.size(0) is 1\n");
}

TEST_F(ToolInputs, TooManyFiles) {
  EXPECT_EQ(error({"--input", path("x.npy"), "--input", path("x.npy"), "--scalar", "c=1"}),
            "stax: --input " + path("x.npy") + ": every tensor input has a file already (inputs: x)\n");
}

TEST_F(ToolInputs, MissingFile) {
  EXPECT_EQ(error({"--input", "no-such.npy", "--scalar", "c=1"}),
            "stax: cannot open 'no-such.npy': No such file or directory\n");
}

}  // namespace
}  // namespace stax::test
