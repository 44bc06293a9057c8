// Products, lookups, tensors made from nothing.
#include <algorithm>
#include <numeric>

#include "steps.h"

namespace stax::fuzz {

namespace {

using Maybe = std::optional<Known>;
using Int = std::int64_t;
using Ints = std::vector<Int>;

Facts product_facts(const Facts& x, const Facts& y, double k, Dtype t) {
  Facts f{true, true, k * x.magnitude * y.magnitude, 0};
  if (!is_floating(t)) return f;
  const Dtype acc = is_half(t) ? Dtype::f32 : t;
  if (x.exact && y.exact && x.whole && y.whole && f.magnitude <= exact_limit(acc)) {
    f.whole = f.magnitude <= exact_limit(t);
    return f;
  }
  f.error = k * (x.error * y.magnitude + y.error * x.magnitude + x.error * y.error) +
            8 * (4 + std::sqrt(k)) * epsilon(acc) * f.magnitude;
  return rounded(f, t, 2);
}

// Both operands in one dtype that products are made in.
Dtype meet(Builder& b, Known& x, Known& y) {
  if (is_floating(type_of(x).dtype) || is_floating(type_of(y).dtype)) {
    x = b.bounded(b.as_float(x), 50), y = b.bounded(b.as_float(y), 50);
  }
  const PromotionOperand both[] = {{type_of(x).dtype, false, false}, {type_of(y).dtype, false, false}};
  const Dtype t = promote_all(both);
  for (Known* k : {&x, &y})
    if (type_of(*k).dtype != t && is_floating(t) && !k->facts.exact) k->facts = rounded(k->facts, t);
  return t;
}

// x by a transpose of itself or of another value with the same last size; then perhaps bias, activation, residual.
Maybe matmul(Builder& b, const Step& s, Random& r) {
  Known x = b.value(s.a), y = b.value(s.b);
  if (rank_of(x) == 0 || type_of(x).scalar) return {};
  if (type_of(x).dtype == Dtype::boolean) return {};
  if (rank_of(y) == 0 || type_of(y).scalar || type_of(y).dtype == Dtype::boolean ||
      type_of(y).sizes.back() != type_of(x).sizes.back())
    y = x;
  const double k = std::max(Builder::bound_of(type_of(x).sizes.back()), 1.0);
  const bool linear = rank_of(y) == 2 && is_floating(type_of(x).dtype) && is_floating(type_of(y).dtype) && r.chance(40);
  const Dtype t = meet(b, x, y);
  Facts f = product_facts(x.facts, y.facts, k, t);
  if (linear) return b.add("linear", {x.value, y.value, Value{}}, {}, f);
  if (rank_of(y) >= 2) y = b.add("transpose", {y.value}, {{"axis0", Int{-1}}, {"axis1", Int{-2}}}, y.facts);
  if (rank_of(x) > 2 && rank_of(y) > 2) {  // batches must agree
    while (rank_of(y) > 2) y = b.add("select", {y.value}, {{"axis", Int{0}}, {"index", Int{0}}}, y.facts);
  }
  Known out = b.add("matmul", {x.value, y.value}, {}, f);
  if (!is_floating(t) || rank_of(out) == 0 || !r.chance(50)) return out;
  if (auto bias = b.fitted(b.value(s.c), {type_of(out).sizes.back()});
      bias && !type_of(*bias).scalar && type_of(*bias).dtype == t && bias->facts.exact && bias->facts.finite()) {
    f = {f.exact && f.whole, f.whole && bias->facts.whole, f.magnitude + bias->facts.magnitude, f.error};
    // The sum may be rounded before or after the bias.
    if (!f.exact || !f.whole || f.magnitude > exact_limit(t)) f = rounded(f, t, 4);
    out = b.add("add", {out.value, bias->value}, {}, f);
  }
  if (r.chance(50)) out = b.add("relu", {out.value}, {}, f);
  return out;
}

Maybe embedding(Builder& b, const Step& s, Random& r) {
  Known table = b.value(s.a), index = b.value(s.b);
  if (rank_of(table) != 2 || type_of(index).scalar) return {};
  if (!is_integral(type_of(index).dtype)) {
    for (int i = s.b; i >= 0 && !(is_integral(type_of(index).dtype) && !type_of(index).scalar); --i)
      if (b.value(i).value) index = b.value(i);
    if (!is_integral(type_of(index).dtype) || type_of(index).scalar) return {};
  }
  const Expr rows = type_of(table).sizes[0];
  if (b.hint(rows) < 1) return {};
  if (rank_of(index) > 3) return {};
  (void)r;
  const Known wide = b.add("cast", {index.value}, {{"dtype", Dtype::i64}}, index.facts);
  const Known row =
      b.add("floor_mod", {wide.value, b.graph().size_value(rows)}, {}, {true, true, Builder::bound_of(rows), 0});
  return b.add("embedding", {table.value, row.value}, {}, table.facts);
}

// A product whose rows go elsewhere: heads in and out of rows, reversed or cut, as a copy or under another shape.
Maybe product_copy(Builder& b, const Step& s, Random& r) {
  auto out = matmul(b, s, r);
  if (!out || rank_of(*out) < 2) return out;
  Known x = *out;
  const int rank = rank_of(x);
  Ints order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), Int{0});
  for (Int i = rank - (r.chance(80) ? 2 : 1); i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(r.below(i + 1))]);
  x = b.add("permute", {x.value}, {{"order", order}}, x.facts);
  if (r.chance(15)) x = b.add("flip", {x.value}, {{"axes", Ints{r.below(rank)}}}, x.facts);
  if (r.chance(15)) x = b.add("slice", {x.value}, {{"axis", r.below(rank)}, {"start", r.below(2)}}, x.facts);
  if (r.chance(50)) return b.add("contiguous", {x.value}, {}, x.facts);
  std::vector<Expr> sizes = type_of(x).sizes;
  const Expr last = sizes.back();
  sizes.pop_back();
  sizes.back() = sizes.back() * last;
  return b.add("reshape", {x.value}, {{"sizes", sizes}}, x.facts);
}

// Rows of a table, each reduced or normalised.
Maybe lookup_rows(Builder& b, const Step& s, Random& r) {
  const auto rows = embedding(b, s, r);
  if (!rows || !rows->facts.finite()) return rows;
  const Known x = b.bounded(b.as_float(*rows), 30);
  if (b.is_empty(x)) return x;
  const Attributes over{{"axes", Ints{-1}}, {"keepdim", true}};
  const Known top = b.add("amax", {x.value}, over, x.facts);
  Facts f = x.facts;
  f.magnitude *= 2, f.error *= 2;
  if (!f.whole || f.magnitude > exact_limit(type_of(x).dtype)) f = rounded(f, type_of(x).dtype, 4);
  return b.add("sub", {x.value, top.value}, {}, f);
}

Maybe make(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  const std::vector<Expr> sizes = type_of(x).sizes;
  static constexpr Dtype kTypes[] = {Dtype::f32, Dtype::f64, Dtype::i64, Dtype::i32, Dtype::f16};
  const Dtype t = r.pick(kTypes);
  switch (r.below(4)) {
    case 0: {
      const Int v = r.between(-3, 3);
      return b.add("full", {b.literal(v).value}, {{"sizes", sizes}, {"dtype", t}}, {true, true, 3, 0});
    }
    case 1: {
      if (sizes.empty()) return {};
      const Expr n = sizes[static_cast<std::size_t>(r.below(static_cast<Int>(sizes.size())))];
      Facts f{true, true, Builder::bound_of(n) * 2 + 3, 0};
      if (f.magnitude > exact_limit(t)) return {};
      return b.add("arange", {}, {{"start", r.between(-1, 1)}, {"end", n}, {"step", r.between(1, 2)}, {"dtype", t}}, f);
    }
    case 2: {
      const Dtype f = is_floating(t) ? t : Dtype::f32;
      return b.add("rand", {b.literal(r.below(1000)).value}, {{"sizes", sizes}, {"dtype", f}}, {true, false, 1, 0});
    }
    default: {
      const Dtype f = is_floating(t) ? t : Dtype::f32;
      return b.add("randn", {b.literal(r.below(1000)).value}, {{"sizes", sizes}, {"dtype", f}},
                   rounded({false, false, 8, 64 * epsilon(Dtype::f32)}, f, 8));
    }
  }
}

}  // namespace

std::vector<StepKind> other_steps() {
  return {{"matmul", 3, matmul},
          {"product_copy", 3, product_copy},
          {"embedding", 2, embedding},
          {"lookup_rows", 2, lookup_rows},
          {"make", 3, make}};
}

}  // namespace stax::fuzz
