// The text form of graphs: printing. Parsing is in parse.cpp.
#include <fmt/format.h>

#include <unordered_map>

#include "base/text.h"
#include "graph/interpret.h"

namespace stax::graph {

namespace {

std::string exprs(const std::vector<Expr>& list, char open, char close) {
  std::string text(1, open);
  for (std::size_t i = 0; i < list.size(); ++i) text += (i ? ", " : "") + symbolic::to_string(list[i]);
  return text + close;
}

std::string type_text(const TensorType& t) {
  std::string text = std::string(to_text(t.dtype));
  if (t.scalar) return "scalar " + text;
  text += exprs(t.sizes, '[', ']');
  if (t.rank() > 0 && t.strides != row_major_strides(t.sizes[0].context(), t.sizes))
    text += " strides " + exprs(t.strides, '(', ')');
  if (t.device != Device{}) text += fmt::format(" device {}", base::quote(stax::to_string(t.device)));
  return text;
}

std::string attribute_text(const Attribute& a) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return base::float_text(v); }
    std::string operator()(const std::string& v) const { return base::quote(v); }
    std::string operator()(Dtype v) const { return std::string(to_text(v)); }
    std::string operator()(Expr v) const { return symbolic::to_string(v); }
    std::string operator()(const std::vector<std::int64_t>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
    std::string operator()(const std::vector<Expr>& v) const { return exprs(v, '[', ']'); }
  };
  return std::visit(Visitor{}, a);
}

std::string place(const SourceLoc& where) {
  return where.known() ? fmt::format(" at {}:{}", base::quote(where.file), where.line) : "";
}

class Printer {
 public:
  explicit Printer(const Graph& g) : g_(g) {
    for (std::size_t i = 0; i < g.inputs.size(); ++i) names_[g.inputs[i].node] = g.input_names[i];
    int next = 0;
    for (const Node* n : g.nodes())
      if (!names_.contains(n) && !is_inline(*n)) names_[n] = fmt::format("%{}", next++);
  }

  std::string print() {
    std::string header = "graph @" + g_.name + "(";
    for (std::size_t i = 0; i < g_.inputs.size(); ++i)
      header += fmt::format("{}{}: {}", i ? ", " : "", g_.input_names[i], type_text(g_.inputs[i].type()));
    {
      auto body = w_.block(header + ") {");
      environment();
      for (const Node* n : g_.nodes())
        if (n->op->name != "input" && !is_inline(*n)) node(*n);
      for (const Mutation& m : g_.mutations)
        w_.format_line("write {} = {}", g_.input_names[static_cast<std::size_t>(m.input)], value(m.value));
      std::string list;
      for (std::size_t i = 0; i < g_.outputs.size(); ++i) {
        list += (i ? ", " : "") + std::string(g_.output_input(i) < 0 ? "" : "written ") + value(g_.outputs[i]);
      }
      w_.line(list.empty() ? "return" : "return " + list);
    }
    return w_.take();
  }

 private:
  static bool is_inline(const Node& n) { return n.op->name == "literal" || n.op->name == "size"; }

  void environment() {
    for (const symbolic::SizeSymbol& s : g_.env().symbols()) {
      const symbolic::SymbolInfo& info = s.symbol.info();
      std::string text = fmt::format("size {} in [{}, {}]", s.symbol.name(),
                                     info.range.lo == symbolic::kMinInf ? "-inf" : std::to_string(info.range.lo),
                                     info.range.hi == symbolic::kMaxInf ? "inf" : std::to_string(info.range.hi));
      if (info.multiple_of != 1) text += fmt::format(" multiple {}", info.multiple_of);
      if (info.hint) text += fmt::format(" hint {}", *info.hint);
      if (!s.origin.empty()) text += " from " + base::quote(s.origin);
      w_.line(text + place(s.where));
    }
    for (const symbolic::Guard& guard : g_.env().guards())
      w_.line(fmt::format("guard {} because {}{}", symbolic::to_string(guard.condition), base::quote(guard.reason),
                          place(guard.where)));
  }

  std::string value(const Value& v) const {
    if (!v) return "none";
    if (v.node->op->name == "literal") return attribute_text(v.node->attributes.at("value"));
    if (v.node->op->name == "size") return "size(" + attribute_text(v.node->attributes.at("value")) + ")";
    const std::string& name = names_.at(v.node);
    return v.node->types.size() > 1 ? fmt::format("{}.{}", name, v.result) : name;
  }

  void node(const Node& n) {
    std::string text = fmt::format("{}{} = {}(", names_.at(&n),
                                   n.types.size() > 1 ? fmt::format(":{}", n.types.size()) : "", n.op->name);
    bool first = true;
    for (const Value& v : n.operands) {
      text += (first ? "" : ", ") + value(v);
      first = false;
    }
    for (const Param& p : n.op->params) {
      auto it = n.attributes.find(p.name);
      if (it == n.attributes.end()) continue;
      text += fmt::format("{}{}={}", first ? "" : ", ", p.name, attribute_text(it->second));
      first = false;
    }
    text += ") : ";
    for (std::size_t i = 0; i < n.types.size(); ++i) text += (i ? ", " : "") + type_text(n.types[i]);
    w_.line(text + place(n.where));
  }

  const Graph& g_;
  base::TextWriter w_;
  std::unordered_map<const Node*, std::string> names_;
};

}  // namespace

std::string to_text(const Graph& g) { return Printer(g).print(); }

base::Digest structural_hash(const Graph& g) {
  // Places in the source and names of inputs do not matter.
  Graph plain = rewrite(g, [](Graph& to, const Node& node, const std::vector<Value>& operands) {
    Node* copy = to.append(*node.op, operands, node.attributes, node.types, {});
    copy->view_offset = node.view_offset;
    std::vector<Value> results;
    for (std::size_t i = 0; i < copy->types.size(); ++i) results.push_back(copy->value(static_cast<int>(i)));
    return results;
  });
  for (std::size_t i = 0; i < plain.input_names.size(); ++i) plain.input_names[i] = fmt::format("x{}", i);
  plain.name = "graph";
  std::string text = to_text(plain);
  // The environment lines carry places; keep their facts only.
  std::string kept;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    std::string_view line(text.data() + begin, end - begin);
    if (line.starts_with("  size ")) line = line.substr(0, line.find(" hint "));
    if (line.starts_with("  size ")) line = line.substr(0, line.find(" from "));
    if (line.starts_with("  guard ")) line = line.substr(0, line.find(" because "));
    kept.append(line).push_back('\n');
    begin = end + 1;
  }
  return base::sha256(kept);
}

}  // namespace stax::graph
