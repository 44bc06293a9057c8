// Malformed texts: line and column.
#include "message.h"

namespace stax::test {
namespace {

std::string graph_error(const std::string& text) {
  return message_of([&] { parse_graph(text); });
}

// What stax-opt says about a file with this text, without the file's name.
std::string opt_error(const std::string& text) {
  const base::TempDir work("stax-errors");
  const std::string path = (work.path() / "x.stax").string();
  base::write_file_atomic(path, text);
  const base::ProcessResult r = run_tool({"stax-opt", path});
  EXPECT_EQ(r.exit_code, 1);
  const std::string begin = "stax-opt: " + path + ": ";
  return r.err.starts_with(begin) ? r.err.substr(begin.size()) : r.err;
}

TEST(GraphText, UnknownOperator) {
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = ad(x, x) : f32[2]\n  return %0\n}\n"),
            "<text>: line 2, column 7: unknown operator 'ad'");
}

TEST(GraphText, UndefinedValue) {
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = add(x, y) : f32[2]\n  return %0\n}\n"),
            "<text>: line 2, column 16: 'y' is not defined");
}

TEST(GraphText, UnknownDtype) {
  EXPECT_EQ(graph_error("graph @f(x: f33[2]) {\n"), "<text>: line 1, column 16: unknown dtype 'f33'");
}

TEST(GraphText, WrongType) {
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = add(x, x) : f32[3]\n  return %0\n}\n"),
            "<text>: line 2, column 20: add: its sizes are [3], inferred [2]");
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = add(x, x) : i32[2]\n  return %0\n}\n"),
            "<text>: line 2, column 20: add: its dtype is i32, inferred f32");
}

TEST(GraphText, ShapesThatDoNotFit) {
  EXPECT_EQ(graph_error("graph @f(x: f32[2], y: f32[3]) {\n  %0 = add(x, y) : f32[3]\n  return %0\n}\n"),
            "<text>: line 2, column 7: add: shapes [2] and [3] do not broadcast: 2 against 3 at axis -1");
}

TEST(GraphText, OperandsThatDoNotFit) {
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = add(x) : f32[2]\n  return %0\n}\n"),
            "<text>: line 2, column 7: add: the operand 'b' is missing");
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = add(x, none) : f32[2]\n  return %0\n}\n"),
            "<text>: line 2, column 7: add: the operand 'b' is missing");
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = exp() : f32[2]\n  return %0\n}\n"),
            "<text>: line 2, column 7: exp: the operand 'x' is missing");
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = exp(x, x) : f32[2]\n  return %0\n}\n"),
            "<text>: line 2, column 7: exp: 2 operands where 1 are taken");
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = unsqueeze(2.0, axis=0) : f64[1]\n  return %0\n}\n"),
            "<text>: line 2, column 7: unsqueeze: the operand 'x' is a number, which has no memory to view");
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = cat(axis=0) : f32[2]\n  return %0\n}\n"),
            "<text>: line 2, column 7: cat: the operand 'tensors' is missing");
}

TEST(GraphText, DeclarationsResultsAndWrites) {
  EXPECT_EQ(graph_error("graph @f(x: f32[s0]) {\n  size s0 in [2, 9]\n  size s0 in [2, 8]\n  return x\n}\n"),
            "<text>: line 3, column 8: the size s0 is declared twice");
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  return 1.5\n}\n"),
            "<text>: line 2, column 10: a number is no result: only tensors are");
  EXPECT_EQ(graph_error("graph @f(x: f32[2], y: f64[2]) {\n  write x = y\n  return\n}\n"),
            "<text>: line 2, column 13: the written value has another dtype or rank than its input");
  EXPECT_EQ(graph_error("graph @f(x: f32[2], y: f32[2]) {\n  write x = y\n  return written y\n}\n"),
            "<text>: line 3, column 18: what follows 'written' is no written input, nor a view of one");
}

TEST(GraphText, UnknownAttribute) {
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = sum(x, axs=[0]) : f32[]\n  return %0\n}\n"),
            "<text>: line 2, column 14: sum has no attribute 'axs'");
}

TEST(GraphText, HalfAText) {
  EXPECT_EQ(graph_error("graph @f(x: f32[2]) {\n  %0 = add(x, "),
            "<text>: line 2, column 15: expected a value, found the end of the text");
}

TEST(GraphText, OfAnUnknownKind) {
  EXPECT_EQ(opt_error("module @f {}\n"), "line 1, column 1: expected 'graph', 'program' or 'plan', found 'module'\n");
}

TEST(LoopText, UnknownOperation) {
  EXPECT_EQ(opt_error("program f\nbuffer b0: f32[4] strides (1) input 0\nbuffer b1: f32[4] strides (1) output\n"
                      "kernel k outer (i0 < 4) {\n  phase {\n    %0 = laod.f32 b0[i0]\n    store b1[i0] %0\n  }\n}\n"
                      "return b1 [4] strides (1)\n"),
            "line 6, column 10: unknown operation laod\n");
}

TEST(LoopText, ScheduleOfAnotherKernel) {
  EXPECT_EQ(opt_error("program f\nbuffer b0: f32[4] strides (1) input 0\nbuffer b1: f32[4] strides (1) output\n"
                      "kernel k outer (i0 < 4) {\n  phase {\n    %0 = load.f32 b0[i0]\n    store b1[i0] %0\n  }\n}\n"
                      "return b1 [4] strides (1)\nfor other schedule cpu { units i0 grain 1; vector i0; phase 0 }\n"),
            "line 11, column 5: expected 'k', found 'other'\n");
}

TEST(PlanText, UnknownStep) {
  EXPECT_EQ(opt_error("plan @f {\n  input  x f32 rank 1 cpu\n  lunch k (b0)\n}\n"),
            "line 3, column 3: unknown line 'lunch'\n");
}

}  // namespace
}  // namespace stax::test
