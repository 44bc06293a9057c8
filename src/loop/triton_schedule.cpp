#include "loop/triton_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace stax::loop {
namespace {

constexpr std::int64_t kMaxIndex = INT32_MAX;
constexpr std::int64_t kMaxBlock = std::int64_t{1} << 20;  // elements of a Triton tensor

bool is_block(std::int64_t n) { return n >= 1 && n <= kMaxBlock && std::has_single_bit(static_cast<std::uint64_t>(n)); }

// The facts with the ranges of the axes and bounded symbols of the kernel.
symbolic::Facts with_axes(const Kernel& k, symbolic::Facts facts) {
  auto add = [&](Expr symbol, Expr extent) {
    const std::int64_t hi = symbolic::range_of(extent, &facts).hi;
    facts.assume_range(symbol, {0, hi == symbolic::kMaxInf ? hi : std::max<std::int64_t>(hi - 1, 0)});
  };
  for (const Axis& a : k.outer) add(a.var, a.extent);
  for (const Phase& p : k.phases)
    for (const Axis& a : p.inner) add(a.var, a.extent);
  for (const Value& v : k.values)
    if (v.op == ScalarOp::bounded && v.symbol) add(v.symbol, v.index);
  return facts;
}

const char* evict_name(Evict e) { return e == Evict::last ? "last" : "first"; }

std::string phase_text(const TritonPhase& p, std::size_t i) {
  std::vector<std::string> options;
  if (p.form == InnerForm::persistent) options.push_back(fmt::format("persistent {}", p.block));
  if (p.form == InnerForm::looped) options.push_back(fmt::format("looped {}", p.block));
  if (p.load != Evict::none) options.push_back(fmt::format("load {}", evict_name(p.load)));
  if (p.store != Evict::none) options.push_back(fmt::format("store {}", evict_name(p.store)));
  return fmt::format("phase {}{}{}", i, options.empty() ? "" : ": ", fmt::join(options, ", "));
}

std::string group_text(const char* name, const std::vector<int>& group, std::int64_t block, const Kernel& k) {
  std::string text = name;
  for (std::size_t i = 0; i < group.size(); ++i)
    text += (i ? ", " : " ") + k.outer[static_cast<std::size_t>(group[i])].var.name();
  return text + fmt::format(" / {}", block);
}

class Parser {
 public:
  Parser(base::Scanner& in, const Kernel& k, const Program& p) : in_(in), k_(k), p_(p) {
    s_.phases.resize(k.phases.size());
  }

  TritonSchedule run() {
    in_.expect("schedule");
    in_.expect("triton");
    in_.expect("{");
    while (!in_.accept("}")) {
      item();
      if (!in_.accept(";")) {
        in_.expect("}");
        break;
      }
    }
    return std::move(s_);
  }

 private:
  void item() {
    if (in_.accept("x")) return group(s_.x, s_.x_block);
    if (in_.accept("y")) return group(s_.y, s_.y_block);
    if (in_.accept("warps")) {
      s_.warps = static_cast<int>(in_.expect_integer("a number of warps"));
    } else if (in_.accept("index")) {
      s_.index_bits = static_cast<int>(in_.expect_integer("32 or 64"));
    } else if (in_.accept("phase")) {
      phase();
    } else if (in_.accept("align")) {
      do s_.aligned.push_back(buffer());
      while (in_.accept(","));
    } else if (in_.accept("promise")) {
      do promise();
      while (in_.accept(","));
    } else {
      in_.fail_expected("'x', 'y', 'warps', 'index', 'phase', 'align', 'promise' or '}'");
    }
  }

  void group(std::vector<int>& axes, std::int64_t& block) {
    while (in_.peek_identifier()) {
      const std::size_t start = in_.offset();
      const std::string_view name = in_.expect_identifier("an outer axis");
      const auto it =
          std::find_if(k_.outer.begin(), k_.outer.end(), [&](const Axis& a) { return a.var.name() == name; });
      if (it == k_.outer.end()) in_.fail_at(start, fmt::format("'{}' is no outer axis of kernel {}", name, k_.name));
      axes.push_back(static_cast<int>(it - k_.outer.begin()));
      if (!in_.accept(",")) break;
    }
    in_.expect("/");
    block = in_.expect_integer("a block length");
  }

  Evict evict() {
    if (in_.accept("last")) return Evict::last;
    in_.expect("first");
    return Evict::first;
  }

  void phase() {
    const std::size_t start = in_.offset();
    const std::int64_t i = in_.expect_integer("a phase number");
    if (i < 0 || i >= static_cast<std::int64_t>(s_.phases.size()))
      in_.fail_at(start, fmt::format("phase {} does not exist: the kernel has {}", i, s_.phases.size()));
    TritonPhase& p = s_.phases[static_cast<std::size_t>(i)];
    if (!in_.accept(":")) return;
    do {
      if (in_.accept("persistent")) {
        p.form = InnerForm::persistent;
        p.block = in_.expect_integer("a block length");
      } else if (in_.accept("looped")) {
        p.form = InnerForm::looped;
        p.block = in_.expect_integer("a block length");
      } else if (in_.accept("load")) {
        p.load = evict();
      } else if (in_.accept("store")) {
        p.store = evict();
      } else {
        in_.fail_expected("'persistent', 'looped', 'load' or 'store'");
      }
    } while (in_.accept(","));
  }

  BufferId buffer() {
    const std::size_t start = in_.offset();
    const std::string_view name = in_.expect_identifier("a buffer");
    for (std::size_t b = 0; b < p_.buffers.size(); ++b)
      if (p_.buffers[b].name == name) return static_cast<BufferId>(b);
    in_.fail_at(start, fmt::format("'{}' is no buffer", name));
  }

  void promise() {
    const std::size_t start = in_.offset();
    const std::string_view name = in_.expect_identifier("a size");
    const auto size = std::find_if(p_.sizes.begin(), p_.sizes.end(), [&](Expr e) { return e.name() == name; });
    if (size == p_.sizes.end()) in_.fail_at(start, fmt::format("'{}' is no size", name));
    auto it =
        std::find_if(s_.promises.begin(), s_.promises.end(), [&](const SizePromise& q) { return q.size == *size; });
    if (it == s_.promises.end()) it = s_.promises.insert(it, {*size});
    if (in_.accept("%"))
      it->multiple_of = in_.expect_integer("a divisor");
    else if (in_.accept("<="))
      it->at_most = in_.expect_integer("a bound");
    else
      in_.fail_expected("'%' or '<='");
  }

  base::Scanner& in_;
  const Kernel& k_;
  const Program& p_;
  TritonSchedule s_;
};

}  // namespace

symbolic::Facts facts_of(const TritonSchedule& s, const Program& p) {
  symbolic::Facts facts = p.facts;
  for (const SizePromise& q : s.promises) {
    if (q.multiple_of > 1)
      facts.assume(
          symbolic::eq(symbolic::floormod(q.size, p.context->constant(q.multiple_of)), p.context->constant(0)));
    if (q.at_most > 0) facts.assume_range(q.size, {symbolic::kMinInf, q.at_most});
  }
  return facts;
}

Expr length_of(const Kernel& k, const std::vector<int>& group, const Program& p) {
  Expr n = p.context->constant(1);
  for (int a : group) n = n * k.outer[static_cast<std::size_t>(a)].extent;
  return n;
}

Expr length_of(const Phase& phase, const Program& p) {
  Expr n = p.context->constant(1);
  for (const Axis& a : phase.inner) n = n * a.extent;
  return n;
}

bool fits_32_bits(const Kernel& k, const Program& p, const symbolic::Facts& facts) {
  const symbolic::Facts known = with_axes(k, facts);
  bool fits = true;
  auto check = [&](Expr e) {
    const symbolic::Range r = symbolic::range_of(e, &known);
    fits = fits && r.lo >= -kMaxIndex && r.hi <= kMaxIndex;
  };
  // Blocks may reach past the end of a range by less than the largest block.
  auto check_length = [&](Expr e) { fits = fits && symbolic::range_of(e, &known).hi <= kMaxIndex - kMaxBlock; };
  std::vector<int> all(k.outer.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  check_length(length_of(k, all, p));
  for (const Phase& phase : k.phases) {
    check_length(length_of(phase, p));
    for (const Store& s : phase.stores)
      for (Expr term : symbolic::terms_of(s.index)) check(term);
    for (const Store& s : phase.stores) check(s.index);
  }
  for (const Value& v : k.values) {
    if (!v.index) continue;
    check(v.index);
    for (Expr term : symbolic::terms_of(v.index)) check(term);
  }
  return fits;
}

void verify(const TritonSchedule& s, const Kernel& k, const Program& p) {
  auto fail = [&](const std::string& what) {
    throw InternalError("Triton schedule of kernel " + k.name + ": " + what);
  };
  std::vector<int> all = s.y;
  all.insert(all.end(), s.x.begin(), s.x.end());
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < std::max(all.size(), k.outer.size()); ++i)
    if (i >= all.size() || all[i] != static_cast<int>(i)) fail("x and y must name every outer axis once");
  if (!is_block(s.x_block) || !is_block(s.y_block)) fail("blocks must be powers of two up to 2^20");
  if (s.x.empty() && s.x_block != 1) fail("a block of no axis has length 1");
  if (!s.y.empty() && !is_pointwise(k)) fail("two-dimensional tiles need a pointwise kernel");
  if (s.y.empty() && s.y_block != 1) fail("a y block needs axes");
  if (s.warps < 1 || s.warps > 32 || !std::has_single_bit(static_cast<unsigned>(s.warps)))
    fail("warps must be a power of two up to 32");
  if (s.index_bits != 32 && s.index_bits != 64) fail("an index has 32 or 64 bits");
  if (s.phases.size() != k.phases.size()) fail("one entry for each phase");
  const symbolic::Facts facts = facts_of(s, p);
  if (s.index_bits == 32 && !fits_32_bits(k, p, facts)) fail("an address may pass 32 bits");
  for (std::size_t i = 0; i < s.phases.size(); ++i) {
    const TritonPhase& phase = s.phases[i];
    if (k.phases[i].inner.empty() != (phase.form == InnerForm::none))
      fail(fmt::format("phase {} has the wrong form", i));
    if (!is_block(phase.block) || phase.block * s.x_block > kMaxBlock)
      fail(fmt::format("phase {} has a wrong block", i));
    if (phase.form == InnerForm::persistent && symbolic::range_of(length_of(k.phases[i], p), &facts).hi > phase.block)
      fail(fmt::format("phase {} may be longer than its persistent block", i));
  }
  for (BufferId b : s.aligned)
    if (b < 0 || b >= static_cast<int>(p.buffers.size())) fail("no such buffer");
  for (const SizePromise& q : s.promises)
    if (std::find(p.sizes.begin(), p.sizes.end(), q.size) == p.sizes.end() || q.multiple_of < 1)
      fail("no such promise");
}

std::string to_text(const TritonSchedule& s, const Kernel& k, const Program& p) {
  std::vector<std::string> items;
  if (!s.y.empty()) items.push_back(group_text("y", s.y, s.y_block, k));
  if (!s.x.empty()) items.push_back(group_text("x", s.x, s.x_block, k));
  items.push_back(fmt::format("warps {}", s.warps));
  items.push_back(fmt::format("index {}", s.index_bits));
  for (std::size_t i = 0; i < s.phases.size(); ++i) items.push_back(phase_text(s.phases[i], i));
  std::vector<std::string> names, promises;
  for (BufferId b : s.aligned) names.push_back(p.buffers[static_cast<std::size_t>(b)].name);
  if (!names.empty()) items.push_back(fmt::format("align {}", fmt::join(names, ", ")));
  for (const SizePromise& q : s.promises) {
    if (q.multiple_of > 1) promises.push_back(fmt::format("{} % {}", q.size.name(), q.multiple_of));
    if (q.at_most > 0) promises.push_back(fmt::format("{} <= {}", q.size.name(), q.at_most));
  }
  if (!promises.empty()) items.push_back(fmt::format("promise {}", fmt::join(promises, ", ")));
  return fmt::format("schedule triton {{ {} }}", fmt::join(items, "; "));
}

TritonSchedule parse_triton_schedule(base::Scanner& in, const Kernel& k, const Program& p) {
  return Parser(in, k, p).run();
}

TritonSchedule parse_triton_schedule(std::string_view text, const Kernel& k, const Program& p, std::string file) {
  base::Scanner in(text, std::move(file));
  TritonSchedule s = parse_triton_schedule(in, k, p);
  if (!in.at_end()) in.fail_expected("the end of the schedule");
  return s;
}

}  // namespace stax::loop
