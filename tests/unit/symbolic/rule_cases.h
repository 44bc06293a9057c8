// The rule tables as reference trees.
#pragma once
#include "symbolic/rules.h"
#include "tree.h"

namespace stax::symbolic::test {

struct RuleCase {
  std::string title;
  const Rule* rule;
  Tree from, to, when;
  Names names;
};

inline std::vector<RuleCase> rule_cases() {
  std::vector<RuleCase> cases;
  for (auto rules : {floordiv_rules(), floormod_rules(), ceildiv_rules(), truncdiv_rules(), truncmod_rules(),
                     min_rules(), max_rules()}) {
    for (const Rule& r : rules) {
      RuleCase c;
      c.rule = &r;
      c.title.append(r.from).append(" -> ").append(r.to).append(" when ").append(r.when);
      c.from = parse_tree(r.from, c.names);
      c.to = parse_tree(r.to, c.names);
      c.when = parse_tree(r.when.empty() ? "true" : r.when, c.names);
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

}  // namespace stax::symbolic::test
