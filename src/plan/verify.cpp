#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "plan/plan.h"
#include "plan/uses.h"
#include "symbolic/analysis.h"

namespace stax::plan {

namespace {

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan) {}

  void run() {
    rule(plan_.context != nullptr, "no symbolic context");
    names();
    facts();
    for (const Guard& g : plan_.guards) guard(g);
    for (const DerivedScalar& d : plan_.derived) {
      rule(passable(d.dtype), "derived scalar " + d.name + " has dtype " + std::string(to_text(d.dtype)));
      expression(d.value, d.name);
    }
    for (const Buffer& b : plan_.buffers) buffer(b);
    state_.assign(plan_.buffers.size(), State::fresh);
    for (const Step& s : plan_.steps) std::visit([this](const auto& one) { step(one); }, s);
    for (const Output& o : plan_.outputs) {
      view(o.view, "output " + o.name);
      rule(at(o.view.buffer).kind != BufferKind::temporary, "output " + o.name + " views a temporary");
    }
  }

 private:
  enum class State { fresh, live, ended };

  void rule(bool holds, const std::string& message) {
    if (!holds) throw InternalError(fmt::format("plan {}: {}", plan_.name, message));
  }
  template <class List>
  void index(int i, const List& list, const char* what) {
    rule(i >= 0 && static_cast<std::size_t>(i) < list.size(), fmt::format("{} {} of {}", what, i, list.size()));
  }
  const Buffer& at(int i) {
    index(i, plan_.buffers, "buffer");
    return plan_.buffers[static_cast<std::size_t>(i)];
  }
  static bool passable(Dtype t) { return t == Dtype::f64 || t == Dtype::i64 || t == Dtype::boolean; }

  void unique(std::set<std::string>& seen, const std::string& name, const char* what) {
    rule(!name.empty() && seen.insert(name).second, fmt::format("{} named '{}' twice or empty", what, name));
  }

  void names() {
    std::set<std::string> arguments, buffers, kernels;
    for (const TensorInput& i : plan_.inputs) {
      unique(arguments, i.name, "input");
      rule(i.rank >= 0 && i.rank <= 16, fmt::format("input {} has rank {}", i.name, i.rank));
    }
    for (const ScalarInput& s : plan_.scalars) {
      unique(arguments, s.name, "scalar");
      rule(passable(s.dtype), fmt::format("scalar {} has dtype {}", s.name, to_text(s.dtype)));
    }
    for (const DerivedScalar& d : plan_.derived) unique(arguments, d.name, "derived scalar");
    for (const Buffer& b : plan_.buffers) unique(buffers, b.name, "buffer");
    for (const Kernel& k : plan_.kernels) unique(kernels, k.name, "kernel");
  }

  void fact(const Fact& f) {
    if (f.kind == Fact::Kind::scalar) {
      index(f.input, plan_.scalars, "scalar");
      rule(plan_.scalars[static_cast<std::size_t>(f.input)].dtype != Dtype::f64, "a size read from an f64 scalar");
      return;
    }
    index(f.input, plan_.inputs, "input");
    const int rank = plan_.inputs[static_cast<std::size_t>(f.input)].rank;
    if (f.kind != Fact::Kind::offset)
      rule(f.axis >= 0 && f.axis < rank, fmt::format("axis {} of rank {}", f.axis, rank));
  }

  void facts() {
    for (const Binding& b : plan_.bindings) {
      rule(b.symbol && b.symbol.is_symbol(), "a binding of no symbol");
      rule(bound_.insert(b.symbol).second, "symbol " + b.symbol.name() + " bound twice");
      fact(b.from);
    }
  }

  template <class E>
  void expression(const E& e, const std::string& where) {
    rule(e.node() != nullptr, where + " has no expression");
    for (const Expr s : symbols_of(e)) rule(bound_.contains(s), where + ": symbol " + s.name() + " is not bound");
  }

  void guard(const Guard& g) {
    switch (g.kind) {
      case Guard::Kind::fact:
        fact(g.fact);
        return expression(g.value, "guard");
      case Guard::Kind::condition:
        return expression(g.condition, "guard");
      case Guard::Kind::scalar:
        return index(g.fact.input, plan_.scalars, "scalar");
      case Guard::Kind::aligned:
        rule(g.bytes > 0, "alignment of 0 bytes");
        return index(g.a, plan_.inputs, "input");
      case Guard::Kind::disjoint:
      case Guard::Kind::same:
        index(g.a, plan_.inputs, "input"), index(g.b, plan_.inputs, "input");
    }
  }

  void buffer(const Buffer& b) {
    rule(b.device == plan_.buffers.front().device, "buffers on unlike devices");
    if (b.kind != BufferKind::input) return expression(b.bytes, "size of buffer " + b.name);
    index(b.input, plan_.inputs, "input");
    const TensorInput& in = plan_.inputs[static_cast<std::size_t>(b.input)];
    rule(in.device == b.device, "buffer " + b.name + " is not on its input's device");
  }

  void view(const View& v, const std::string& what) {
    at(v.buffer);
    rule(v.sizes.size() == v.strides.size(), what + ": sizes and strides of unlike rank");
    for (const Expr& e : v.sizes) expression(e, what);
    for (const Expr& e : v.strides) expression(e, what);
    expression(v.offset, what);
  }

  void use(int b) {
    const Buffer& buffer = at(b);
    const State s = state_[static_cast<std::size_t>(b)];
    if (buffer.kind == BufferKind::temporary)
      rule(s == State::live,
           fmt::format("{} is used {}", buffer.name, s == State::fresh ? "before its alloc" : "after its free"));
  }

  void step(const AllocStep& s) {
    rule(at(s.buffer).kind != BufferKind::input, "alloc of an input");
    State& state = state_[static_cast<std::size_t>(s.buffer)];
    rule(state != State::live, at(s.buffer).name + " is allocated twice");
    rule(state == State::fresh || at(s.buffer).kind == BufferKind::temporary,
         at(s.buffer).name + " is allocated twice");
    state = State::live;
  }
  void step(const FreeStep& s) {
    rule(at(s.buffer).kind == BufferKind::temporary, "free of " + at(s.buffer).name + ", which is no temporary");
    use(s.buffer);
    state_[static_cast<std::size_t>(s.buffer)] = State::ended;
  }
  void step(const LaunchStep& s) {
    index(s.kernel, plan_.kernels, "kernel");
    for (const int b : s.buffers) use(b);
    for (const Expr& e : s.ints) expression(e, "launch");
    for (const Expr& e : s.grid) expression(e, "grid");
    for (const int o : s.origins) index(o, plan_.origins, "origin");
    rule(s.grid.size() <= 3, "grid of more than 3 dimensions");
    rule(s.origin >= -1 && s.origin < static_cast<int>(plan_.origins.size()), "launch: origin");
    promises(s);
    for (const int p : s.scalars)
      rule(p >= 0 && static_cast<std::size_t>(p) < plan_.scalars.size() + plan_.derived.size(), "scalar position");
  }
  // Whatever a kernel counts on is checked.
  void promises(const LaunchStep& s) {
    for (const int b : s.aligned) {
      rule(std::ranges::find(s.buffers, b) != s.buffers.end(), "a launch counts on a buffer that it does not take");
      if (at(b).kind != BufferKind::input) continue;
      rule(std::ranges::any_of(plan_.guards,
                               [&](const Guard& g) {
                                 return g.kind == Guard::Kind::aligned && g.a == at(b).input && g.bytes % 16 == 0;
                               }),
           "no guard says that buffer " + at(b).name + " is aligned");
    }
    for (const Bool& c : s.promises) {
      expression(c, "launch");
      rule(std::ranges::any_of(plan_.guards,
                               [&](const Guard& g) { return g.kind == Guard::Kind::condition && g.condition == c; }),
           "no guard says that " + to_string(c));
    }
  }
  void step(const MatmulStep& s) {
    const std::size_t rank = s.out.sizes.size();
    rule(rank >= 2, s.name + " of rank below 2");
    for (const View* v : {&s.a, &s.b, &s.out, s.bias ? &*s.bias : nullptr, s.residual ? &*s.residual : nullptr}) {
      if (!v) continue;
      view(*v, s.name);
      rule(v->sizes.size() == rank, s.name + ": operands of unlike rank");
      rule(at(v->buffer).kind == BufferKind::temporary || at(v->buffer).dtype == s.dtype,  // temporaries share memory
           s.name + ": operand dtype");
      use(v->buffer);
    }
    rule(s.origin >= -1 && s.origin < static_cast<int>(plan_.origins.size()), s.name + ": origin");
  }
  void step(const CopyStep& s) {
    view(s.from, "copy"), view(s.to, "copy");
    rule(s.from.sizes.size() == s.to.sizes.size(), "copy: unlike ranks");
    use(s.from.buffer), use(s.to.buffer);
  }

  const Plan& plan_;
  std::unordered_set<Expr> bound_;
  std::vector<State> state_;
};

}  // namespace

void verify(const Plan& plan) { Verifier(plan).run(); }

}  // namespace stax::plan
