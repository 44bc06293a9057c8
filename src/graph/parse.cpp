// The text form of graphs: parsing.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/scanner.h"
#include "graph/interpret.h"
#include "symbolic/analysis.h"

namespace stax::graph {

namespace {

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : in_(text, std::string(file)) {}

  Graph parse() {
    in_.expect("graph");
    in_.expect("@");
    g_.name = std::string(in_.expect_dotted_name("the graph's name"));
    in_.expect("(");
    // Types mention sizes that are declared below: read the declarations first.
    const std::size_t inputs_at = in_.offset();
    skip_to_body();
    declarations();
    const std::size_t body_at = in_.offset();
    in_.reset(inputs_at);
    inputs();
    in_.expect("{");
    in_.reset(body_at);
    while (!in_.peek("return")) {
      if (in_.accept("write"))
        write();
      else
        statement();
    }
    in_.expect("return");
    if (!in_.peek("}")) {
      do output();
      while (in_.accept(","));
    }
    in_.expect("}");
    if (!in_.at_end()) in_.fail_expected("the end of the text");
    return std::move(g_);
  }

 private:
  void skip_to_body() {
    int depth = 1;
    while (depth > 0) {
      if (in_.at_end()) in_.fail_expected("')'");
      if (in_.accept("("))
        ++depth;
      else if (in_.accept(")"))
        --depth;
      else if (!in_.accept_string())
        in_.advance(1);
    }
    in_.expect("{");
  }

  symbolic::Context& context() { return g_.context(); }

  Expr known_symbol(std::string_view name) {
    if (auto s = context().find_symbol(name)) return *s;
    in_.fail(fmt::format("the size '{}' is not declared", name));
  }

  Expr expr() {
    std::string_view rest = in_.rest();
    const std::size_t before = rest.size();
    Expr e = guarded([&] {
      return symbolic::parse_expr_prefix(rest, context(), [&](std::string_view n) { return known_symbol(n); });
    });
    in_.advance(before - rest.size());
    return e;
  }

  symbolic::Bool condition() {
    std::string_view rest = in_.rest();
    const std::size_t before = rest.size();
    symbolic::Bool b = guarded([&] {
      return symbolic::parse_bool_prefix(rest, context(), [&](std::string_view n) { return known_symbol(n); });
    });
    in_.advance(before - rest.size());
    return b;
  }

  // Errors of the expression parser count from its own start: say our line instead.
  template <class F>
  auto guarded(F&& f) -> decltype(f()) {
    try {
      return f();
    } catch (const UserError& e) {
      if (e.problem().find("line ") == std::string::npos || e.problem().find("is not declared") == std::string::npos)
        in_.fail(e.problem());
      throw;
    }
  }

  std::vector<Expr> expr_list(std::string_view open, std::string_view close) {
    std::vector<Expr> list;
    in_.expect(open);
    if (in_.accept(close)) return list;
    do list.push_back(expr());
    while (in_.accept(","));
    in_.expect(close);
    return list;
  }

  SourceLoc place() {
    if (!in_.accept("at")) return {};
    std::string file = in_.expect_string("a file name");
    in_.expect(":");
    return {std::move(file), static_cast<int>(in_.expect_integer("a line"))};
  }

  std::int64_t bound(std::int64_t infinite) {
    if (in_.accept("-inf") || in_.accept("inf")) return infinite;
    return in_.expect_integer("a bound");
  }

  void declarations() {
    while (true) {
      if (in_.accept("size")) {
        (void)in_.at_end();  // skips blanks
        const std::size_t at = in_.offset();
        const std::string name(in_.expect_identifier("a size"));
        if (!sizes_.insert(name).second) in_.fail_at(at, fmt::format("the size {} is declared twice", name));
        symbolic::SymbolInfo info;
        in_.expect("in");
        in_.expect("[");
        info.range.lo = bound(symbolic::kMinInf);
        in_.expect(",");
        info.range.hi = bound(symbolic::kMaxInf);
        in_.expect("]");
        if (in_.accept("multiple")) info.multiple_of = in_.expect_integer();
        if (in_.accept("hint")) info.hint = in_.expect_integer();
        std::string origin = in_.accept("from") ? in_.expect_string("where the size comes from") : std::string();
        g_.env().add_symbol(name, info, std::move(origin), place());
      } else if (in_.accept("guard")) {
        symbolic::Guard guard;
        guard.condition = condition();
        if (in_.accept("because")) guard.reason = in_.expect_string("a reason");
        guard.where = place();
        g_.env().add_guard(std::move(guard));
      } else {
        return;
      }
    }
  }

  Dtype dtype() {
    const std::string_view name = in_.expect_identifier("a dtype");
    if (auto t = parse_dtype(name)) return *t;
    in_.fail(fmt::format("unknown dtype '{}'", name));
  }

  TensorType type() {
    TensorType t;
    t.scalar = in_.accept("scalar");
    t.dtype = dtype();
    if (t.scalar) return t;
    t.sizes = expr_list("[", "]");
    t.strides = in_.accept("strides") ? expr_list("(", ")") : row_major_strides(context(), t.sizes);
    if (t.strides.size() != t.sizes.size()) in_.fail("sizes and strides differ in length");
    if (in_.accept("device")) t.device = parse_device(in_.expect_string("a device"));
    return t;
  }

  void inputs() {
    if (in_.accept(")")) return;
    do {
      std::string name(in_.expect_dotted_name("an input's name"));
      in_.expect(":");
      TensorType t = type();
      values_[name] = g_.add_input(name, std::move(t)).node;
    } while (in_.accept(","));
    in_.expect(")");
  }

  Value value() {
    if (in_.accept("none")) return {};
    if (in_.accept("true")) return g_.literal(true);
    if (in_.accept("false")) return g_.literal(false);
    if (in_.accept("size")) {
      in_.expect("(");
      Expr e = expr();
      in_.expect(")");
      return g_.size_value(e);
    }
    if (in_.accept("%")) return result_of("%" + digits());
    if (in_.peek_integer()) return g_.literal(in_.expect_integer());
    if (in_.peek_float() && !known_input()) return g_.literal(in_.expect_float());
    return result_of(std::string(in_.expect_dotted_name("a value")));
  }

  // `%3.0` is result 0 of value 3, not a float.
  std::string digits() {
    const std::string_view rest = in_.rest();
    const std::size_t n = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (n == 0) in_.fail_expected("a value");
    std::string text(rest.substr(0, n));
    in_.advance(n);
    return text;
  }

  bool known_input() {
    const std::size_t at = in_.offset();
    auto name = in_.accept_identifier();
    in_.reset(at);
    return name && values_.contains(std::string(*name));
  }

  Value result_of(const std::string& name) {
    auto it = values_.find(name);
    if (it == values_.end()) in_.fail(fmt::format("'{}' is not defined", name));
    int result = 0;
    if (it->second->types.size() > 1) {
      in_.expect(".");
      result = static_cast<int>(in_.expect_integer("a result"));
      if (result < 0 || static_cast<std::size_t>(result) >= it->second->types.size()) in_.fail("no such result");
    }
    return it->second->value(result);
  }

  Attribute attribute(const Param& p) {
    if (in_.accept("none")) return std::monostate{};
    switch (p.kind) {
      case ParamKind::boolean:
        if (in_.accept("true")) return true;
        in_.expect("false");
        return false;
      case ParamKind::floating:
        return in_.expect_float();
      case ParamKind::string:
        return in_.expect_string();
      case ParamKind::dtype:
      case ParamKind::optional_dtype:
        return dtype();
      case ParamKind::dim:
      case ParamKind::optional_dim: {
        Expr e = expr();
        return e.constant() ? Attribute(*e.constant()) : Attribute(e);
      }
      case ParamKind::dims: {
        std::vector<Expr> list = expr_list("[", "]");
        std::vector<std::int64_t> numbers;
        for (Expr e : list)
          if (auto c = e.constant()) numbers.push_back(*c);
        return numbers.size() == list.size() ? Attribute(numbers) : Attribute(list);
      }
      case ParamKind::axes:
      case ParamKind::optional_axes:
        if (in_.accept("[")) {
          std::vector<std::int64_t> list;
          if (in_.accept("]")) return list;
          do list.push_back(in_.expect_integer("an axis"));
          while (in_.accept(","));
          in_.expect("]");
          return list;
        }
        [[fallthrough]];
      default:
        return in_.expect_integer();
    }
  }

  int input_index() {
    const std::string name(in_.expect_dotted_name("an input"));
    auto it = std::find(g_.input_names.begin(), g_.input_names.end(), name);
    if (it == g_.input_names.end()) in_.fail(fmt::format("'{}' is not an input", name));
    return static_cast<int>(it - g_.input_names.begin());
  }

  int written_input(const Value& v, std::size_t at) {
    const Value root = viewed(v);
    const auto input = static_cast<int>(std::find(g_.inputs.begin(), g_.inputs.end(), root) - g_.inputs.begin());
    for (const Mutation& m : g_.mutations)
      if (m.input == input) return input;
    in_.fail_at(at, "what follows 'written' is no written input, nor a view of one");
  }

  void output() {
    const bool written = in_.accept("written");
    (void)in_.at_end();  // skips blanks
    const std::size_t at = in_.offset();
    const Value v = value();
    if (!v || v.type().scalar) in_.fail_at(at, "a number is no result: only tensors are");
    g_.outputs.push_back(v);
    g_.output_inputs.push_back(written ? written_input(v, at) : -1);
  }

  void write() {
    const int input = input_index();
    in_.expect("=");
    (void)in_.at_end();  // skips blanks
    const std::size_t at = in_.offset();
    const Value v = value();
    const TensorType& target = g_.inputs[static_cast<std::size_t>(input)].type();
    if (!v || v.type().scalar || v.type().dtype != target.dtype || v.type().sizes.size() != target.sizes.size())
      in_.fail_at(at, "the written value has another dtype or rank than its input");
    g_.mutations.push_back({input, v});
  }

  void statement() {
    in_.expect("%");
    const std::string name = fmt::format("%{}", in_.expect_integer("a value"));
    std::int64_t results = 1;
    if (in_.accept(":")) results = in_.expect_integer("the number of results");
    in_.expect("=");
    const std::size_t at = in_.offset();
    const std::string op_name(in_.expect_identifier("an operator"));
    const OpDef* def = find_op(op_name);
    if (!def) in_.fail_at(at, fmt::format("unknown operator '{}'", op_name));
    in_.expect("(");
    std::vector<Value> operands;
    Attributes attributes;
    if (!in_.accept(")")) {
      do {
        const std::size_t here = in_.offset();
        auto key = in_.accept_identifier();
        if (key && in_.accept("=")) {
          const Param* p = def->find_param(*key);
          if (!p) in_.fail_at(here, fmt::format("{} has no attribute '{}'", op_name, *key));
          attributes[p->name] = attribute(*p);
        } else {
          in_.reset(here);
          operands.push_back(value());
        }
      } while (in_.accept(","));
      in_.expect(")");
    }
    for (const Param& p : def->params)
      if (p.default_value && p.kind > ParamKind::operand) attributes.emplace(p.name, *p.default_value);
    if (!def->infer && !def->is_view())
      in_.fail_at(at, fmt::format("{} is an abbreviation: write the operators that it stands for", op_name));
    in_.expect(":");
    (void)in_.at_end();  // skips blanks: errors about the types point at them
    const std::size_t types_at = in_.offset();
    std::vector<TensorType> types;
    for (std::int64_t i = 0; i < results; ++i) {
      if (i) in_.expect(",");
      types.push_back(type());
    }
    SourceLoc where = place();
    Node* node = g_.append(*def, std::move(operands), std::move(attributes), std::move(types), std::move(where));
    check_node(*node, at, types_at);
    values_[name] = node;
  }

  // Written types must be the inferred ones.
  void check_node(Node& node, std::size_t at, std::size_t types_at) {
    if (const std::string problem = operand_problem(node); !problem.empty())
      in_.fail_at(at, fmt::format("{}: {}", node.op->name, problem));
    InferContext infer(*node.op, node.operands, node.attributes, g_.env(), node.where);
    try {
      if (node.op->is_view()) {
        ViewMap map = node.op->view(infer);
        node.view_offset = map.offset;
      } else if (node.op->infer(infer).size() != node.types.size()) {
        in_.fail_at(at, fmt::format("{} has another number of results", node.op->name));
      }
    } catch (const UserError& e) {
      if (std::string_view(e.what()).find("line ") != std::string_view::npos) throw;
      in_.fail_at(at, e.problem());
    }
    if (const std::string problem = type_problem(g_, node); !problem.empty())
      in_.fail_at(types_at, fmt::format("{}: {}", node.op->name, problem));
  }

  base::Scanner in_;
  Graph g_;
  std::unordered_map<std::string, Node*> values_;
  std::set<std::string> sizes_;
};

}  // namespace

Graph parse_graph(std::string_view text, std::string_view file) {
  Graph g = Parser(text, file).parse();
  try {
    verify(g);
  } catch (const InternalError& e) {
    throw UserError(fmt::format("{}: line 1: the graph does not verify: {}", file, e.what()));
  }
  return g;
}

}  // namespace stax::graph
