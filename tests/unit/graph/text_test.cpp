// Graph texts that a person writes.
#include <gtest/gtest.h>

#include "graph/interpret.h"
#include "graph/op_def.h"

namespace stax::graph {
namespace {

// A pointwise operator, one with two results, one that is only an abbreviation.
void register_test_ops() {
  static const bool once = [] {
    OpDef both;
    both.name = "both";
    both.params = {{"x", ParamKind::tensor, {}, ""}, {"scale", ParamKind::floating, 1.0, ""}};
    both.infer = [](InferContext& c) { return std::vector{c.type(0), c.type(0)}; };
    register_op(std::move(both));
    OpDef short_form;
    short_form.name = "short_form";
    short_form.params = {{"x", ParamKind::tensor, {}, ""}};
    short_form.build = [](Graph&, InferContext& c) { return std::vector{c.operands()[0]}; };
    register_op(std::move(short_form));
    return true;
  }();
  (void)once;
}

TEST(GraphText, ResultsOfOneNode) {
  register_test_ops();
  const std::string text =
      "graph @g(x: f32[3]) {\n  %0:2 = both(x, scale=2.0) : f32[3], f32[3]\n"
      "  %1:2 = both(%0.1, scale=1.0) : f32[3], f32[3]\n  return %1.0, %0.0\n}\n";
  EXPECT_EQ(to_text(parse_graph(text)), text);
}

TEST(GraphText, AttributesHaveTheirDefaults) {
  register_test_ops();
  const Graph g = parse_graph("graph @g(x: f32[3]) {\n  %0:2 = both(x) : f32[3], f32[3]\n  return %0.0\n}\n");
  EXPECT_EQ(std::get<double>(g.nodes().back()->attributes.at("scale")), 1.0);
}

TEST(GraphText, AbbreviationsAreRefused) {
  register_test_ops();
  try {
    (void)parse_graph("graph @g(x: f32[3]) {\n  %0 = short_form(x) : f32[3]\n  return %0\n}\n");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.problem(),
              "<text>: line 2, column 7: short_form is an abbreviation: write the operators that it stands for");
  }
}

}  // namespace
}  // namespace stax::graph
