// Data movement: views of all kinds, copies, joins. What is known of the values does not change.
#include <algorithm>

#include "steps.h"

namespace stax::fuzz {

namespace {

using Maybe = std::optional<Known>;
using Int = std::int64_t;
using Ints = std::vector<Int>;

Int draw_axis(Random& r, int rank) {
  const Int axis = r.below(std::max(rank, 1));
  return r.chance(30) ? axis - std::max(rank, 1) : axis;
}
std::size_t plain(Int axis, int rank) { return static_cast<std::size_t>(axis < 0 ? axis + rank : axis); }

Maybe view(Builder& b, const Known& x, const char* op, Attributes attributes) {
  if (type_of(x).scalar) return {};
  return b.add(op, {x.value}, std::move(attributes), x.facts);
}

Maybe permute(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  const int rank = rank_of(x);
  if (rank == 2 && r.chance(40)) return view(b, x, "t", {});
  if (r.chance(50)) return view(b, x, "transpose", {{"axis0", draw_axis(r, rank)}, {"axis1", draw_axis(r, rank)}});
  Ints order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  for (std::size_t i = order.size(); i-- > 1;)
    std::swap(order[i], order[static_cast<std::size_t>(r.below(static_cast<Int>(i) + 1))]);
  return view(b, x, "permute", {{"order", order}});
}

Maybe slice(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (rank_of(x) == 0) return {};
  const Int axis = draw_axis(r, rank_of(x));
  const Expr size = type_of(x).sizes[plain(axis, rank_of(x))];
  Attributes a{{"axis", axis}};
  static constexpr Int kSteps[] = {1, 1, 1, 2, 3, -1, -1, -2, -3};
  const Int step = r.pick(kSteps);
  a["step"] = step;
  // Bounds mostly keep most of the axis; in dynamic graphs they may be expressions of the size.
  const Int n = b.hint(size);
  Int lo = r.chance(40) ? 0 : r.below(std::max<Int>(n / 2, 1) + 1), hi = r.chance(40) ? n : n - r.below(n / 2 + 1);
  if (r.chance(5)) lo = n + 3;
  if (r.chance(5)) hi = -n - 2;
  Attribute start = lo, stop = r.chance(50) && hi < n && hi > 0 ? Attribute(hi - n) : Attribute(hi);
  if (hi > 0 && hi <= n && r.chance(50)) stop = Attribute(size - (n - hi));
  if (step < 0) {
    std::swap(start, stop);
    if (r.chance(70)) stop = Attribute{};
  }
  if (r.chance(30)) start = Attribute{};
  if (r.chance(30)) stop = Attribute{};
  a["start"] = start, a["stop"] = stop;
  return view(b, x, "slice", std::move(a));
}

Maybe select(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (rank_of(x) < 2 && !r.chance(20)) return {};
  if (rank_of(x) == 0) return {};
  const Int axis = draw_axis(r, rank_of(x));
  const Int n = b.hint(type_of(x).sizes[plain(axis, rank_of(x))]);
  if (n == 0) return {};
  const Int index = r.chance(60) ? 0 : r.below(std::min<Int>(n, 2));
  return view(b, x, "select", {{"axis", axis}, {"index", r.chance(30) ? -1 - index : index}});
}

Maybe expand(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  std::vector<Expr> sizes = type_of(x).sizes;
  for (Expr& e : sizes)
    if (e.is_constant(1) && r.chance(60)) e = e.context().constant(r.between(2, 5));
  if (r.chance(40) && sizes.size() < 4) sizes.insert(sizes.begin(), b.graph().context().constant(r.between(1, 4)));
  if (sizes == type_of(x).sizes) return {};
  return view(b, x, "expand", {{"sizes", sizes}});
}

Maybe squeeze(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (r.chance(50)) return view(b, x, "squeeze", {});
  if (rank_of(x) == 0) return {};
  return view(b, x, "squeeze", {{"axes", Ints{draw_axis(r, rank_of(x))}}});
}

Maybe unsqueeze(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (rank_of(x) >= 5) return {};
  return view(b, x, "unsqueeze", {{"axis", draw_axis(r, rank_of(x) + 1)}});
}

Maybe diagonal(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (rank_of(x) < 2) return {};
  const Int a0 = draw_axis(r, rank_of(x)), a1 = draw_axis(r, rank_of(x));
  if (plain(a0, rank_of(x)) == plain(a1, rank_of(x))) return {};
  return view(b, x, "diagonal", {{"offset", r.between(-2, 2)}, {"axis0", a0}, {"axis1", a1}});
}

Maybe reshape(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  const int rank = rank_of(x);
  const Expr one = b.graph().context().constant(1), open = b.graph().context().constant(-1);
  std::vector<Expr> sizes = type_of(x).sizes;
  switch (r.below(4)) {
    case 0:
      if (b.is_empty(x)) return {};
      return view(b, x, "reshape", {{"sizes", std::vector<Expr>{open}}});
    case 1: {  // two neighbours become one
      if (rank < 2) return {};
      const auto d = static_cast<std::size_t>(r.below(rank - 1));
      sizes[d] = sizes[d] * sizes[d + 1];
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(d) + 1);
      break;
    }
    case 2: {  // one axis split where it divides
      if (rank == 0 || rank >= 5) return {};
      const auto d = static_cast<std::size_t>(r.below(rank));
      for (Int by : {r.between(2, 4), Int{2}, Int{3}})
        if (const Int n = b.hint(sizes[d]); n > by && n % by == 0) {
          if (r.chance(50))
            return view(b, x, "unflatten",
                        {{"axis", static_cast<Int>(d)}, {"sizes", r.chance(50) ? Ints{by, -1} : Ints{-1, by}}});
          sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(d), b.graph().context().constant(by));
          sizes[d + 1] = floordiv(sizes[d + 1], by);
          return view(b, x, "reshape", {{"sizes", sizes}});
        }
      return {};
    }
    default:  // the axes' sizes in another order: other elements meet
      std::reverse(sizes.begin(), sizes.end());
      if (r.chance(30)) sizes.push_back(one);
      break;
  }
  return view(b, x, "reshape", {{"sizes", sizes}});
}

Maybe flip(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (rank_of(x) == 0 || r.chance(20)) return view(b, x, "flip", {});
  return view(b, x, "flip", {{"axes", Ints{draw_axis(r, rank_of(x))}}});
}

// Windows of a contiguous copy: overlapping, gapped, backwards.
Maybe as_strided(Builder& b, const Step& s, Random& r) {
  Known x = b.value(s.a);
  if (rank_of(x) == 0 || b.is_empty(x)) return {};
  x = b.add("contiguous", {x.value}, {}, x.facts);
  Expr n = b.graph().context().constant(1);
  for (Expr e : type_of(x).sizes) n = n * e;
  const Expr one = b.graph().context().constant(1);
  const Int count = b.hint(n);
  if (count < 3) return {};
  switch (r.below(3)) {
    case 0:
      return view(
          b, x, "as_strided",
          {{"sizes", std::vector<Expr>{n - 1, one * 2}}, {"strides", std::vector<Expr>{one, one}}, {"offset", Int{0}}});
    case 1:
      return view(b, x, "as_strided",
                  {{"sizes", std::vector<Expr>{n - 1}}, {"strides", std::vector<Expr>{one * -1}}, {"offset", n - 1}});
    default:
      return view(
          b, x, "as_strided",
          {{"sizes", std::vector<Expr>{floordiv(n, 2)}}, {"strides", std::vector<Expr>{one * 2}}, {"offset", Int{0}}});
  }
}

Maybe copy(Builder& b, const Step& s, Random& r) {
  return view(b, b.value(s.a), r.chance(60) ? "contiguous" : "clone", {});
}

Maybe repeat(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  Ints repeats;
  for (int i = 0; i < rank_of(x); ++i) repeats.push_back(r.chance(60) ? 1 : r.between(1, 3));
  if (r.chance(25) && rank_of(x) < 4) repeats.insert(repeats.begin(), r.between(1, 3));
  return view(b, x, "repeat", {{"repeats", repeats}});
}

Facts joined(const Known& x, const Known& y) {
  const PromotionOperand both[] = {{type_of(x).dtype, false, rank_of(x) == 0},
                                   {type_of(y).dtype, false, rank_of(y) == 0}};
  const Dtype t = promote_all(both);
  Facts f{x.facts.exact && y.facts.exact, x.facts.whole && y.facts.whole,
          std::max(x.facts.magnitude, y.facts.magnitude), std::max(x.facts.error, y.facts.error)};
  if (f.magnitude > exact_limit(t)) f.whole = false;
  return f.exact ? f : rounded(f, t);
}

// Both of x's shape but along `axis`, in types that meet without a loss.
std::optional<std::pair<Known, Known>> pair_of(Builder& b, const Step& s) {
  Known x = b.value(s.a), y = b.partner(x, s.b);
  if (type_of(x).scalar || type_of(y).scalar) return {};
  if (is_floating(type_of(x).dtype) || is_floating(type_of(y).dtype)) x = b.tame(x), y = b.tame(y);
  if (type_of(x).sizes != type_of(y).sizes) y = b.add("expand", {y.value}, {{"sizes", type_of(x).sizes}}, y.facts);
  return std::pair{x, y};
}

Maybe cat(Builder& b, const Step& s, Random& r) {
  auto both = pair_of(b, s);
  if (!both || rank_of(both->first) == 0) return {};
  auto [x, y] = *both;
  const Int axis = draw_axis(r, rank_of(x));
  if (r.chance(50)) {
    y = b.add("slice", {y.value}, {{"axis", axis}, {"start", r.below(3)}}, y.facts);
  }
  std::vector<Value> list{x.value, y.value};
  if (r.chance(30)) list.push_back(x.value);
  return b.add("cat", list, {{"axis", axis}}, joined(x, y));
}

Maybe stack(Builder& b, const Step& s, Random& r) {
  auto both = pair_of(b, s);
  if (!both || rank_of(both->first) >= 4) return {};
  auto [x, y] = *both;
  return b.add("stack", {x.value, y.value}, {{"axis", draw_axis(r, rank_of(x) + 1)}}, joined(x, y));
}

// A part of a copy of x overwritten: what tracing makes of x[a:b] = y.
Maybe write_part(Builder& b, const Step& s, Random& r) {
  Known x = b.value(s.a);
  if (rank_of(x) == 0) return {};
  x = b.add("contiguous", {x.value}, {}, x.facts);
  const Int axis = r.below(rank_of(x));
  const Expr size = type_of(x).sizes[static_cast<std::size_t>(axis)];
  if (b.hint(size) < 3) return {};
  static constexpr Int kSteps[] = {1, 2, -1};
  const Int step = r.pick(kSteps);
  const Known part =
      b.add("slice", {x.value}, {{"axis", axis}, {"start", step > 0 ? Attribute(Int{1}) : Attribute{}}, {"step", step}},
            x.facts);
  auto y = b.fitted(b.value(s.b), type_of(part).sizes);
  if (!y || type_of(*y).scalar) return {};
  const Dtype from = type_of(*y).dtype, to = type_of(x).dtype;
  if (from != to) {
    if (is_floating(from) && !is_floating(to)) return {};
    y = b.tame(*y);
    Facts f = y->facts;
    if (f.magnitude > exact_limit(to)) f.whole = false;
    y = b.add("cast", {y->value}, {{"dtype", to}}, f.exact ? f : rounded(f, to));
  }
  if (type_of(*y).sizes != type_of(part).sizes)
    y = b.add("expand", {y->value}, {{"sizes", type_of(part).sizes}}, y->facts);
  return b.add("strided_write", {x.value, y->value},
               {{"strides", type_of(part).strides}, {"offset", part.value.node->view_offset}}, joined(x, *y));
}

}  // namespace

std::vector<StepKind> view_steps() {
  return {{"permute", 10, permute},
          {"slice", 9, slice},
          {"select", 3, select},
          {"expand", 5, expand},
          {"squeeze", 2, squeeze},
          {"unsqueeze", 4, unsqueeze},
          {"diagonal", 2, diagonal},
          {"reshape", 8, reshape},
          {"flip", 4, flip},
          {"as_strided", 2, as_strided},
          {"copy", 3, copy},
          {"repeat", 2, repeat},
          {"cat", 5, cat},
          {"stack", 3, stack},
          {"write_part", 3, write_part}};
}

}  // namespace stax::fuzz
