#include "loop/delinearize.h"

#include <algorithm>

namespace stax::loop {

using symbolic::always;
using symbolic::Op;

namespace {

// One term as constant · atoms.
struct Monomial {
  std::int64_t scale = 1;
  std::vector<Expr> atoms;  // with repetition
};

Monomial monomial_of(Expr term) {
  Monomial m;
  if (const auto c = term.constant()) {
    m.scale = *c;
  } else if (term.op() == Op::mul) {
    for (std::size_t i = 0; i < term.operands().size(); ++i) {
      const Monomial f = monomial_of(term.operand(i));
      m.scale *= f.scale;
      m.atoms.insert(m.atoms.end(), f.atoms.begin(), f.atoms.end());
    }
  } else {
    m.atoms.push_back(term);
  }
  return m;
}

// Quotient of a term by a monomial: exact in the atoms, truncated in the constants; nullopt when it is zero.
std::optional<Expr> quotient(Expr term, const Monomial& divisor) {
  Monomial m = monomial_of(term);
  for (Expr atom : divisor.atoms) {
    const auto found = std::find(m.atoms.begin(), m.atoms.end(), atom);
    if (found == m.atoms.end()) return std::nullopt;
    m.atoms.erase(found);
  }
  if (divisor.scale == 0 || m.scale / divisor.scale == 0) return std::nullopt;
  return term.context().constant(m.scale / divisor.scale) * symbolic::product(term.context(), m.atoms);
}

// The term of highest degree.
Monomial leading(Expr e) {
  Monomial best;
  bool first = true;
  for (Expr t : symbolic::terms_of(e)) {
    Monomial m = monomial_of(t);
    if (first || m.atoms.size() > best.atoms.size()) best = std::move(m);
    first = false;
  }
  return best;
}

struct Division {
  Expr quotient, rest;
};

Division divide(Expr e, Expr stride) {
  const Monomial lead = leading(stride);
  Expr q = e.context().constant(0);
  if (e.is_constant(0)) return {q, e};
  for (Expr t : symbolic::terms_of(e))
    if (const auto part = quotient(t, lead)) q = q + *part;
  return {q, e - q * stride};
}

struct Dim {
  std::size_t axis;
  Expr stride, extent;  // stride > 0; of the flipped axis when flipped
  bool flipped;
};

class Delinearizer {
 public:
  Delinearizer(const std::vector<Axis>& axes, const Domain& domain) : axes_(axes), domain_(domain) {}

  // Splits `stored` into base and strides; false when it is not an injective linear form.
  bool analyse(Expr stored) {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const auto l = symbolic::linear_in(stored, axes_[i].var);
      if (!l) return false;
      stored = l->rest;
      const Expr extent = axes_[i].extent;
      if (domain_.is_equal(extent, extent.context().constant(1))) continue;
      if (always(symbolic::ge(l->coefficient, 1), &domain_.facts())) {
        dims_.push_back({i, l->coefficient, extent, false});
      } else if (always(symbolic::le(l->coefficient, -1), &domain_.facts())) {
        dims_.push_back({i, -l->coefficient, extent, true});
        stored = stored + l->coefficient * (extent - 1);
      } else {
        return false;
      }
    }
    base_ = stored;
    sort_by_stride();
    return true;
  }

  std::optional<std::vector<Expr>> by_terms(Expr address) const {
    std::vector<Expr> found;
    Expr rest = address - base_;
    for (const Dim& d : dims_) {
      const Division division = divide(rest, d.stride);
      found.push_back(division.quotient);
      rest = division.rest;
      // Borrow or carry one when only that brings the rest into [0, stride).
      for (const std::int64_t carry : {0, 1, -1}) {
        const Expr candidate = division.rest + d.stride * carry;
        if (!domain_.is_index_below(candidate, d.stride)) continue;
        found.back() = division.quotient - carry;
        rest = candidate;
        break;
      }
    }
    if (!domain_.is_equal(rest, rest.context().constant(0))) return std::nullopt;
    for (std::size_t i = 0; i < dims_.size(); ++i)
      if (!domain_.is_index_below(found[i], dims_[i].extent)) return std::nullopt;
    return placed(found, address);
  }

  std::optional<std::vector<Expr>> by_division(Expr address) const {
    std::vector<Expr> found;
    Expr rest = address - base_;
    for (std::size_t i = 0; i < dims_.size(); ++i) {
      const bool last = i + 1 == dims_.size();
      if (!last && !always(symbolic::ge(dims_[i].stride, dims_[i + 1].stride * dims_[i + 1].extent), &domain_.facts()))
        return std::nullopt;
      found.push_back(symbolic::simplify(symbolic::floordiv(rest, dims_[i].stride), domain_.facts()));
      rest = symbolic::simplify(symbolic::floormod(rest, dims_[i].stride), domain_.facts());
    }
    return placed(found, address);
  }

 private:
  std::vector<Expr> placed(const std::vector<Expr>& found, Expr address) const {
    std::vector<Expr> result(axes_.size(), address.context().constant(0));
    for (std::size_t i = 0; i < dims_.size(); ++i)
      result[dims_[i].axis] = dims_[i].flipped ? dims_[i].extent - 1 - found[i] : found[i];
    return result;
  }

  void sort_by_stride() {
    const auto larger = [&](const Dim& a, const Dim& b) {
      const symbolic::Truth t = symbolic::prove(symbolic::gt(a.stride, b.stride), &domain_.facts());
      if (t != symbolic::Truth::unknown) return t == symbolic::Truth::always;
      // A multiple of the other by sizes, else by the hints.
      const std::size_t da = leading(a.stride).atoms.size(), db = leading(b.stride).atoms.size();
      if (da != db) return da > db;
      const auto ha = symbolic::hint_of(a.stride), hb = symbolic::hint_of(b.stride);
      return ha && hb && *ha > *hb;
    };
    for (std::size_t i = 1; i < dims_.size(); ++i)
      for (std::size_t j = i; j > 0 && larger(dims_[j], dims_[j - 1]); --j) std::swap(dims_[j], dims_[j - 1]);
  }

  const std::vector<Axis>& axes_;
  const Domain& domain_;
  std::vector<Dim> dims_;  // largest stride first
  Expr base_;
};

}  // namespace

std::optional<std::vector<Expr>> delinearize(Expr address, Expr stored, const std::vector<Axis>& axes,
                                             const Domain& domain, bool covers, bool allow_division) {
  Delinearizer d(axes, domain);
  if (!d.analyse(stored)) return std::nullopt;
  if (auto result = d.by_terms(address)) return result;
  return covers && allow_division ? d.by_division(address) : std::nullopt;
}

}  // namespace stax::loop
