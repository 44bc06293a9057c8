#include <fmt/format.h>

#include <bit>

#include "base/scanner.h"
#include "plan/names.h"
#include "plan/text.h"
#include "symbolic/analysis.h"

namespace stax::plan {

namespace {

class Parser {
 public:
  Parser(std::string_view text, std::shared_ptr<symbolic::Context> context, std::string file)
      : in_(text, std::move(file)) {
    plan_.context = std::move(context);
  }

  Plan run() {
    in_.expect("plan");
    in_.expect("@");
    plan_.name = name("the plan's name");
    in_.expect("{");
    while (!in_.accept("}")) line();
    if (!in_.at_end()) in_.fail_expected("the end of the text");
    try {
      verify(plan_);
    } catch (const InternalError& e) {
      in_.fail_at(0, fmt::format("the plan does not verify: {}", e.what()));
    }
    return std::move(plan_);
  }

 private:
  std::string name(std::string_view what) {
    if (auto s = in_.accept_string()) return *s;
    return std::string(in_.expect_identifier(what));
  }
  template <class List>
  int find(const List& list, std::string_view what) {
    const std::size_t start = offset();
    const std::string n = name(what);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].name == n) return static_cast<int>(i);
    in_.fail_at(start, fmt::format("there is no {} '{}'", what, n));
  }
  // Of the next token.
  std::size_t offset() {
    in_.rest();
    return in_.offset();
  }
  template <class F>
  auto expression(F parse) {
    std::string_view rest = in_.rest();
    const std::size_t before = rest.size();
    const std::size_t start = offset();
    auto e = [&] {
      try {
        return parse(rest, *plan_.context, [&](std::string_view symbol) { return symbol_of(symbol, start); });
      } catch (const UserError& error) {
        in_.fail_at(start, error.problem());
      }
    }();
    in_.advance(before - rest.size());
    return e;
  }
  Expr expr() {
    return expression([](auto&&... a) { return symbolic::parse_expr_prefix(a...); });
  }
  Bool condition() {
    return expression([](auto&&... a) { return symbolic::parse_bool_prefix(a...); });
  }
  Expr symbol_of(std::string_view symbol, std::size_t) {
    for (const Binding& b : plan_.bindings)
      if (b.symbol.name() == symbol) return b.symbol;
    throw UserError(fmt::format("symbol {} is not bound", symbol));
  }
  Dtype dtype() {
    const std::size_t start = offset();
    const std::string_view text = in_.expect_identifier("a dtype");
    if (auto t = parse_dtype(text)) return *t;
    in_.fail_at(start, fmt::format("'{}' is no dtype", text));
  }
  Device device() {
    const std::size_t start = offset();
    std::string text(in_.expect_identifier("a device"));
    if (in_.accept(":")) text += ":" + std::to_string(in_.expect_integer());
    try {
      return parse_device(text);
    } catch (const UserError& error) {
      in_.fail_at(start, error.problem());
    }
  }
  std::vector<Expr> exprs(std::string_view close) {
    std::vector<Expr> list;
    if (in_.peek(close)) return list;
    do list.push_back(expr());
    while (in_.accept(","));
    return list;
  }
  SourceLoc place() {
    if (!in_.accept("at")) return {};
    SourceLoc where;
    where.file = in_.expect_string("a file name");
    in_.expect(":");
    where.line = static_cast<int>(in_.expect_integer("a line"));
    return where;
  }
  std::string reason() { return in_.accept("because") ? in_.expect_string("a reason") : std::string{}; }

  void line() {
    const std::size_t start = offset();
    const std::string_view word = in_.expect_identifier("a line of a plan");
    if (word == "input") return input();
    if (word == "scalar") return scalar();
    if (word == "bind") return bind();
    if (word == "guard") return guard(false);
    if (word == "promise") return guard(true);
    if (word == "derive") return derive();
    if (word == "buffer") return buffer();
    if (word == "kernel") return kernel();
    if (word == "origin") return origin();
    if (word == "alloc") return static_cast<void>(plan_.steps.emplace_back(AllocStep{find(plan_.buffers, "buffer")}));
    if (word == "free") return static_cast<void>(plan_.steps.emplace_back(FreeStep{find(plan_.buffers, "buffer")}));
    if (word == "launch") return launch();
    if (word == "matmul") return matmul();
    if (word == "copy") return copy();
    if (word == "return") return output();
    in_.fail_at(start, fmt::format("unknown line '{}'", word));
  }

  void input() {
    TensorInput i;
    i.name = name("a name");
    i.dtype = dtype();
    in_.expect("rank");
    i.rank = static_cast<int>(in_.expect_integer());
    i.device = device();
    i.written = in_.accept("written");
    plan_.inputs.push_back(std::move(i));
  }
  void scalar() {
    ScalarInput s;
    s.name = name("a name");
    s.dtype = dtype();
    plan_.scalars.push_back(std::move(s));
  }
  std::int64_t bound() {
    if (in_.accept("inf")) return symbolic::kMaxInf;
    if (in_.accept("-inf")) return symbolic::kMinInf;
    return in_.expect_integer();
  }
  void bind() {
    const std::string symbol(in_.expect_identifier("a symbol"));
    symbolic::SymbolInfo info;
    in_.expect("in");
    in_.expect("[");
    info.range.lo = bound();
    in_.expect(",");
    info.range.hi = bound();
    in_.expect("]");
    if (in_.accept("multiple")) info.multiple_of = in_.expect_integer();
    if (in_.accept("hint")) info.hint = in_.expect_integer();
    in_.expect("=");
    Binding b;
    b.from = fact();
    b.reason = reason();
    b.where = place();
    b.symbol = plan_.context->symbol(symbol, info);
    plan_.bindings.push_back(std::move(b));
  }

  Fact fact() {
    Fact f;
    const std::size_t start = offset();
    const std::string n = name("an input");
    for (std::size_t i = 0; i < plan_.scalars.size(); ++i)
      if (plan_.scalars[i].name == n) return {Fact::Kind::scalar, static_cast<int>(i), 0};
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i)
      if (plan_.inputs[i].name == n) f.input = static_cast<int>(i);
    if (f.input < 0) in_.fail_at(start, fmt::format("there is no input '{}'", n));
    in_.expect(".");
    if (in_.accept("offset")) {
      f.kind = Fact::Kind::offset;
      return f;
    }
    if (in_.accept("stride"))
      f.kind = Fact::Kind::stride;
    else
      in_.expect("size");
    in_.expect("(");
    f.axis = static_cast<int>(in_.expect_integer());
    in_.expect(")");
    return f;
  }

  Guard::Comparison comparison() {
    for (const auto c : {Guard::Comparison::eq, Guard::Comparison::ne, Guard::Comparison::le, Guard::Comparison::ge,
                         Guard::Comparison::lt, Guard::Comparison::gt})
      if (in_.accept(to_text(c))) return c;
    in_.fail_expected("a comparison");
  }
  std::uint64_t bits(Dtype t) {
    if (t == Dtype::f64) return std::bit_cast<std::uint64_t>(in_.expect_float());
    if (t == Dtype::i64) return static_cast<std::uint64_t>(in_.expect_integer());
    if (in_.accept("true")) return 1;
    in_.expect("false");
    return 0;
  }

  void guard(bool promise) {
    Guard g;
    g.promise = promise;
    if (in_.accept("where")) {
      g.kind = Guard::Kind::condition;
      g.condition = condition();
    } else if (in_.accept("scalar")) {
      g.kind = Guard::Kind::scalar;
      g.fact = {Fact::Kind::scalar, find(plan_.scalars, "scalar"), 0};
      g.comparison = comparison();
      g.bits = bits(plan_.scalars[static_cast<std::size_t>(g.fact.input)].dtype);
    } else if (in_.accept("aligned")) {
      g.kind = Guard::Kind::aligned;
      g.a = find(plan_.inputs, "input");
      g.bytes = in_.expect_integer();
    } else if (in_.peek("disjoint") || in_.peek("same")) {
      g.kind = in_.accept("disjoint") ? Guard::Kind::disjoint : (in_.expect("same"), Guard::Kind::same);
      g.a = find(plan_.inputs, "input");
      g.b = find(plan_.inputs, "input");
    } else {
      g.fact = fact();
      in_.expect("==");
      g.value = expr();
    }
    g.reason = reason();
    g.where = place();
    plan_.guards.push_back(std::move(g));
  }

  void derive() {
    DerivedScalar d;
    d.name = name("a name");
    d.dtype = dtype();
    in_.expect("=");
    d.value = expr();
    plan_.derived.push_back(std::move(d));
  }
  void buffer() {
    Buffer b;
    b.name = name("a name");
    b.dtype = dtype();
    b.device = device();
    if (in_.accept("input")) {
      b.kind = BufferKind::input;
      b.input = find(plan_.inputs, "input");
    } else {
      if (in_.accept("output"))
        b.kind = BufferKind::output;
      else
        in_.expect("temporary");
      in_.expect("bytes");
      b.bytes = expr();
    }
    plan_.buffers.push_back(std::move(b));
  }
  void kernel() {
    Kernel k;
    k.name = name("a name");
    in_.expect("symbol");
    k.symbol = name("a function");
    in_.expect("module");
    k.module = static_cast<int>(in_.expect_integer());
    k.reports = in_.accept("reports");
    plan_.kernels.push_back(std::move(k));
  }
  void origin() {
    Origin o;
    o.op = name("an operator");
    o.where = place();
    plan_.origins.push_back(std::move(o));
  }

  View view() {
    View v;
    v.buffer = find(plan_.buffers, "buffer");
    in_.expect("[");
    v.sizes = exprs("]");
    in_.expect("]");
    in_.expect("strides");
    in_.expect("(");
    v.strides = exprs(")");
    in_.expect(")");
    in_.expect("offset");
    v.offset = expr();
    return v;
  }
  int scalar_position() {
    const std::size_t start = offset();
    const std::string n = name("a scalar");
    for (std::size_t i = 0; i < plan_.scalars.size(); ++i)
      if (plan_.scalars[i].name == n) return static_cast<int>(i);
    for (std::size_t i = 0; i < plan_.derived.size(); ++i)
      if (plan_.derived[i].name == n) return static_cast<int>(plan_.scalars.size() + i);
    in_.fail_at(start, fmt::format("there is no scalar '{}'", n));
  }
  void launch() {
    LaunchStep s;
    s.kernel = find(plan_.kernels, "kernel");
    in_.expect("(");
    if (!in_.peek(";")) do
        s.buffers.push_back(find(plan_.buffers, "buffer"));
      while (in_.accept(","));
    in_.expect(";");
    s.ints = exprs(";");
    in_.expect(";");
    if (!in_.peek(")")) do
        s.scalars.push_back(scalar_position());
      while (in_.accept(","));
    in_.expect(")");
    if (in_.accept("grid")) {
      in_.expect("(");
      s.grid = exprs(")");
      in_.expect(")");
    }
    if (in_.accept("origins")) {
      in_.expect("(");
      do s.origins.push_back(static_cast<int>(in_.expect_integer("an origin")));
      while (in_.accept(","));
      in_.expect(")");
    }
    if (in_.accept("from")) s.origin = static_cast<int>(in_.expect_integer("an origin"));
    if (in_.accept("aligned")) {
      in_.expect("(");
      do s.aligned.push_back(find(plan_.buffers, "buffer"));
      while (in_.accept(","));
      in_.expect(")");
    }
    if (in_.accept("promises")) {
      in_.expect("(");
      do s.promises.push_back(condition());
      while (in_.accept(","));
      in_.expect(")");
    }
    plan_.steps.emplace_back(std::move(s));
  }
  void matmul() {
    MatmulStep s;
    s.name = name("a name");
    s.dtype = dtype();
    in_.expect("a");
    s.a = view();
    in_.expect("b");
    s.b = view();
    in_.expect("out");
    s.out = view();
    if (in_.accept("bias")) s.bias = view();
    if (in_.accept("residual")) s.residual = view();
    if (in_.accept("activation")) {
      const std::size_t start = offset();
      const std::string_view text = in_.expect_identifier("an activation");
      const auto a = runtime::parse_activation(text);
      if (!a) in_.fail_at(start, fmt::format("'{}' is no activation", text));
      s.activation = *a;
    }
    if (in_.accept("scale")) s.scale = in_.expect_float();
    s.b_is_weight = in_.accept("weight");
    if (in_.accept("origin")) s.origin = static_cast<int>(in_.expect_integer());
    plan_.steps.emplace_back(std::move(s));
  }
  void copy() {
    CopyStep s;
    s.from = view();
    in_.expect("to");
    s.to = view();
    plan_.steps.emplace_back(std::move(s));
  }
  void output() {
    Output o;
    o.name = name("a name");
    o.dtype = dtype();
    o.view = view();
    plan_.outputs.push_back(std::move(o));
  }

  base::Scanner in_;
  Plan plan_;
};

}  // namespace

Plan parse_plan(std::string_view text, std::shared_ptr<symbolic::Context> context, std::string file) {
  return Parser(text, std::move(context), std::move(file)).run();
}

}  // namespace stax::plan
