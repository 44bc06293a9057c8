#include <bit>
#include <map>

#include "graph/op_def.h"
#include "passes/passes.h"

namespace stax::passes {

namespace {

using graph::Node;
using graph::Value;

// Expressions are interned: their node addresses compare.
struct AttributeLess {
  static std::vector<const void*> nodes(const std::vector<graph::Expr>& list) {
    std::vector<const void*> out;
    for (graph::Expr e : list) out.push_back(e.node());
    return out;
  }
  bool operator()(const graph::Attribute& a, const graph::Attribute& b) const {
    if (a.index() != b.index()) return a.index() < b.index();
    if (const auto* x = std::get_if<graph::Expr>(&a)) return x->node() < std::get<graph::Expr>(b).node();
    if (const auto* x = std::get_if<std::vector<graph::Expr>>(&a))
      return nodes(*x) < nodes(std::get<std::vector<graph::Expr>>(b));
    // Doubles compare by their bits: -0 is not 0, a NaN equals itself.
    if (const auto* x = std::get_if<double>(&a))
      return std::bit_cast<std::uint64_t>(*x) < std::bit_cast<std::uint64_t>(std::get<double>(b));
    return std::visit(
        [&]<class T>(const T& x) {
          if constexpr (std::is_same_v<T, graph::Expr> || std::is_same_v<T, std::vector<graph::Expr>>)
            return false;
          else
            return x < std::get<T>(b);
        },
        a);
  }
};

struct Key {
  const graph::OpDef* op;
  std::vector<std::pair<const Node*, int>> operands;
  std::vector<std::pair<std::string, graph::Attribute>> attributes;
  bool operator<(const Key& o) const {
    if (op != o.op) return op < o.op;
    if (operands != o.operands) return operands < o.operands;
    const AttributeLess less;
    return std::lexicographical_compare(attributes.begin(), attributes.end(), o.attributes.begin(), o.attributes.end(),
                                        [&](const auto& x, const auto& y) {
                                          return x.first != y.first ? x.first < y.first : less(x.second, y.second);
                                        });
  }
};

}  // namespace

Graph eliminate_common_nodes(const Graph& g, const PassOptions&) {
  std::map<Key, std::vector<Value>> seen;
  return graph::rewrite(g, [&](Graph& to, const Node& node, const std::vector<Value>& operands) {
    Key key{node.op, {}, {node.attributes.begin(), node.attributes.end()}};
    for (const Value& v : operands) key.operands.emplace_back(v.node, v.result);
    if (auto it = seen.find(key); it != seen.end()) return it->second;
    Node* copy = to.append(*node.op, operands, node.attributes, node.types, node.where);
    copy->view_offset = node.view_offset;
    std::vector<Value>& results = seen[key];
    for (std::size_t i = 0; i < copy->types.size(); ++i) results.push_back(copy->value(static_cast<int>(i)));
    return results;
  });
}

}  // namespace stax::passes
