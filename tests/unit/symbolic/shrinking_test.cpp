// Properties under rapidcheck: a tree is decoded from bytes, so that a failure shrinks to a short one.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <stax/base/error.h>

#include "tree.h"

namespace stax::symbolic::test {

namespace {
// Cases a property; RC_PARAMS of the environment, e.g. a seed to repeat, goes before.
const int kCases = setenv("RC_PARAMS", "max_success=3000 max_size=60", 0);

Choose from_bytes(const std::vector<std::uint8_t>& bytes) {
  auto at = std::make_shared<std::size_t>(0);
  return [&bytes, at](std::uint32_t below) -> std::uint32_t { return *at < bytes.size() ? bytes[(*at)++] % below : 0; };
}

struct Small {
  Context context;
  std::vector<Expr> variables;
  Small() {
    variables.push_back(context.symbol("x", {.range = {-5, 5}}));
    variables.push_back(context.symbol("y", {.range = {1, kMaxInf}}));
    variables.push_back(context.symbol("i", {.range = {0, kMaxInf}, .below = variables[1]}));
  }
  Lookup at(const Point& p) const {
    return [this, p](Expr s) -> std::optional<std::int64_t> {
      for (std::size_t i = 0; i < variables.size(); ++i) {
        if (variables[i] == s) return p[i];
      }
      return std::nullopt;
    };
  }
};
const Names kNames{"x", "y", "i"};
}  // namespace

RC_GTEST_PROP(Shrinking, SimplifiedTreeHasTheSameValue, (const std::vector<std::uint8_t>& bytes)) {
  Small in;
  Tree tree = random_tree(from_bytes(bytes), 3, 4);
  RC_LOG() << to_text(tree, kNames) << std::endl;
  Expr e;
  try {
    e = build(tree, in.context, in.variables);
  } catch (const UserError&) {
    RC_DISCARD("divides by zero");
  }
  for_each_point({{-5, 5}, {1, 4}, {0, 3}}, [&](const Point& p) {
    if (p[2] >= p[1]) return;
    if (auto v = value_at(tree, p)) RC_ASSERT(evaluate(e, in.at(p)) == static_cast<std::int64_t>(*v));
  });
}

RC_GTEST_PROP(Shrinking, RebuildingChangesNothing, (const std::vector<std::uint8_t>& bytes)) {
  Small in;
  Tree tree = random_tree(from_bytes(bytes), 3, 4);
  RC_LOG() << to_text(tree, kNames) << std::endl;
  try {
    Expr e = build(tree, in.context, in.variables);
    Expr again =
        parse_expr(to_string(e), in.context, [&](std::string_view name) { return *in.context.find_symbol(name); });
    RC_LOG() << to_string(e) << std::endl << to_string(again) << std::endl;
    RC_ASSERT(again == e);
  } catch (const UserError&) {
    RC_DISCARD("divides by zero");
  }
}

RC_GTEST_PROP(Shrinking, ProofsAreSound, (const std::vector<std::uint8_t>& bytes)) {
  Small in;
  Choose choose = from_bytes(bytes);
  Tree question = random_condition(choose, 3, 2), known = random_condition(choose, 3, 1);
  RC_LOG() << to_text(question, kNames) << " given " << to_text(known, kNames) << std::endl;
  Facts facts;
  Truth truth = Truth::unknown;
  try {
    facts.assume(build_bool(known, in.context, in.variables));
    truth = prove(build_bool(question, in.context, in.variables), &facts);
  } catch (const UserError&) {
    RC_DISCARD("divides by zero");
  }
  if (truth == Truth::unknown) return;
  for_each_point({{-5, 5}, {1, 4}, {0, 3}}, [&](const Point& p) {
    if (p[2] >= p[1] || value_at(known, p) != Wide{1}) return;
    if (auto v = value_at(question, p)) RC_ASSERT((*v != 0) == (truth == Truth::always));
  });
}

}  // namespace stax::symbolic::test
