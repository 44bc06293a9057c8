// Canonical kernels: equal up to names means equal text.
#include <fmt/format.h>

#include <algorithm>

#include "loop/transform.h"

namespace stax::loop {
namespace {

class Canonicalizer {
 public:
  Canonicalizer(const Program& p, const Kernel& k) : p_(p), k_(k) {
    out_.context = std::make_shared<symbolic::Context>();
    out_.program.context = out_.context;
    out_.program.name = "canonical";
  }

  Canonical run() {
    for (const Axis& a : k_.outer) sizes(a.extent);
    for (const Phase& ph : k_.phases)
      for (const Axis& a : ph.inner) sizes(a.extent);
    for (BufferId b : used_buffers()) buffer(b);
    for (const Value& v : k_.values)
      if (v.index) sizes(v.index);
    for (const Phase& ph : k_.phases)
      for (const Store& s : ph.stores) sizes(s.index);
    facts();
    kernel();
    return std::move(out_);
  }

 private:
  symbolic::Context& context() { return *out_.context; }

  // Canonical symbols for the sizes of an expression, numbered by first appearance.
  void sizes(Expr e) {
    for (Expr s : symbolic::symbols_of(e)) {
      if (map_.contains(s) || std::find(p_.sizes.begin(), p_.sizes.end(), s) == p_.sizes.end()) continue;
      symbolic::SymbolInfo info = s.info();
      info.range = p_.facts.range(s);
      info.multiple_of = p_.facts.multiple_of(s);
      const Expr n = context().symbol(fmt::format("n{}", out_.sizes.size()), info);
      map_[s] = n;
      out_.sizes.push_back(s);
      out_.program.sizes.push_back(n);
    }
  }

  Expr renamed(Expr e) {
    return symbolic::symbols_of(e).empty() ? symbolic::transfer(e, context()) : symbolic::substitute(e, map_);
  }
  std::vector<Expr> renamed(const std::vector<Expr>& exprs) {
    std::vector<Expr> result;
    for (Expr e : exprs) result.push_back(renamed(e));
    return result;
  }

  std::vector<BufferId> used_buffers() const {
    std::vector<BufferId> result;
    const auto use = [&](BufferId b) {
      if (std::find(result.begin(), result.end(), b) == result.end()) result.push_back(b);
    };
    for (const Access& a : reads_of(k_)) use(a.buffer);
    for (const Access& a : writes_of(k_)) use(a.buffer);
    return result;
  }

  void buffer(BufferId id) {
    const Buffer& b = p_.buffers[static_cast<std::size_t>(id)];
    for (Expr e : b.sizes) sizes(e);
    for (Expr e : b.strides) sizes(e);
    Buffer c;
    c.name = fmt::format("b{}", out_.buffers.size());
    c.dtype = b.dtype;
    c.sizes = renamed(b.sizes);
    c.strides = renamed(b.strides);
    buffer_of_[id] = static_cast<BufferId>(out_.buffers.size());
    out_.buffers.push_back(id);
    out_.program.buffers.push_back(std::move(c));
  }

  // What is known about the sizes that the kernel uses.
  void facts() {
    const auto is_covered = [&](const std::vector<Expr>& symbols) {
      return std::all_of(symbols.begin(), symbols.end(), [&](Expr s) { return map_.contains(s); });
    };
    for (symbolic::Bool c : p_.facts.conditions())
      if (const auto symbols = symbolic::symbols_of(c); !symbols.empty() && is_covered(symbols))
        out_.program.facts.assume(symbolic::substitute(c, map_));
    for (Expr s : out_.sizes)
      if (const auto found = p_.facts.equalities().find(s); found != p_.facts.equalities().end())
        if (is_covered(symbolic::symbols_of(found->second)))
          out_.program.facts.assume(symbolic::eq(map_.at(s), renamed(found->second)));
  }

  std::vector<Axis> axes(const std::vector<Axis>& from, char letter) {
    std::vector<Axis> result;
    for (const Axis& a : from) {
      const Expr extent = renamed(a.extent), var = out_.program.fresh_axis(extent, letter);
      map_[a.var] = var;
      result.push_back({var, extent});
    }
    return result;
  }

  void kernel() {
    Kernel c = k_;
    c.name = "kernel";
    c.outer = axes(k_.outer, 'i');
    out_.program.next_axis = 0;  // inner axes count from 0 as well
    for (std::size_t i = 0; i < c.phases.size(); ++i) {
      Phase& phase = c.phases[i];
      phase.inner = axes(k_.phases[i].inner, 'r');
      for (ValueId v = phase.begin; v < phase.end; ++v) value(c.values[static_cast<std::size_t>(v)]);
      for (Store& s : phase.stores) {
        s.buffer = buffer_of_.at(s.buffer);
        s.index = renamed(s.index);
      }
    }
    out_.program.items.emplace_back(std::move(c));
  }

  void value(Value& v) {
    if (v.index) v.index = renamed(v.index);
    if (v.op == ScalarOp::load) v.buffer = buffer_of_.at(v.buffer);
    if (v.op == ScalarOp::bounded) {
      const Expr symbol = out_.program.fresh_indirect(v.index);
      map_[v.symbol] = symbol;
      v.symbol = symbol;
    }
    if (v.scalar >= 0) v.scalar = scalar(v.scalar);
    v.origin = can_fail(v) ? origin(v.origin) : -1;
  }

  static bool can_fail(const Value& v) {
    const bool divides = v.op == ScalarOp::floor_div || v.op == ScalarOp::floor_mod || v.op == ScalarOp::trunc_div ||
                         v.op == ScalarOp::trunc_mod;
    return (v.op == ScalarOp::bounded && v.checked) || (divides && is_integral(v.dtype));
  }

  int scalar(int id) {
    return numbered(out_.scalars, id, [&] {
      ScalarInput s;
      s.name = fmt::format("c{}", out_.scalars.size());
      s.dtype = p_.scalars[static_cast<std::size_t>(id)].dtype;
      out_.program.scalars.push_back(std::move(s));
    });
  }

  int origin(int id) {
    if (id < 0) return -1;
    return numbered(out_.origins, id, [&] { out_.program.origins.push_back({"", {}}); });
  }

  // The position of `id` in the list, added when new.
  template <class F>
  static int numbered(std::vector<int>& list, int id, F&& added) {
    const auto found = std::find(list.begin(), list.end(), id);
    const auto position = static_cast<int>(found - list.begin());
    if (found == list.end()) {
      added();
      list.push_back(id);
    }
    return position;
  }

  const Program& p_;
  const Kernel& k_;
  Canonical out_;
  symbolic::SymbolMap map_;  // program symbol → canonical symbol
  std::unordered_map<BufferId, BufferId> buffer_of_;
};

}  // namespace

Canonical canonicalize(const Program& p, const Kernel& k) { return Canonicalizer(p, k).run(); }

}  // namespace stax::loop
