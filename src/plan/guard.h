// Conditions under which a plan may serve a call.
#pragma once
#include <stax/base/error.h>

#include <cstdint>
#include <string>

#include "symbolic/expr.h"

namespace stax::plan {

using symbolic::Bool;
using symbolic::Expr;

// A number read off the arguments of a call.
struct Fact {
  enum class Kind : std::uint8_t { size, stride, offset, scalar };
  Kind kind = Kind::size;
  int input = -1;  // tensor input; scalar: position among the scalar inputs (i64 or boolean)
  int axis = 0;    // size, stride
  bool operator==(const Fact&) const = default;
};

// Rank, dtype and device of every input are always checked and need no guard.
struct Guard {
  enum class Kind : std::uint8_t {
    fact,       // fact == value
    condition,  // condition over bound symbols
    scalar,     // scalar input `fact.input` <comparison> the number in `bits`
    aligned,    // the first element of input a lies at a multiple of `bytes`
    disjoint,   // inputs a and b share no byte
    same,       // inputs a and b have the same first element (and the same storage)
  };
  enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };

  Kind kind = Kind::fact;
  Fact fact;
  Expr value;
  Bool condition;
  Comparison comparison = Comparison::eq;
  std::uint64_t bits = 0;  // of the scalar's dtype: f64, i64 or boolean
  int a = -1, b = -1;
  std::int64_t bytes = 0;
  // Not of the program but of the code: a kernel counts on it, another artifact may do without.
  bool promise = false;
  std::string reason;  // "equal sizes share a symbol"
  SourceLoc where;

  static Guard equals(Fact fact, Expr value, std::string reason, SourceLoc where = {}) {
    Guard g;
    g.fact = fact, g.value = value, g.reason = std::move(reason), g.where = std::move(where);
    return g;
  }
  static Guard holds(Bool condition, std::string reason, SourceLoc where = {}) {
    Guard g;
    g.kind = Kind::condition, g.condition = condition, g.reason = std::move(reason), g.where = std::move(where);
    return g;
  }
  static Guard scalar(int position, Comparison comparison, std::uint64_t bits, std::string reason,
                      SourceLoc where = {}) {
    Guard g;
    g.kind = Kind::scalar, g.fact = {Fact::Kind::scalar, position, 0}, g.comparison = comparison, g.bits = bits;
    g.reason = std::move(reason), g.where = std::move(where);
    return g;
  }
  static Guard pointers(Kind kind, int a, int b, std::string reason, SourceLoc where = {}) {
    Guard g;
    g.kind = kind, g.a = a, g.b = b, g.reason = std::move(reason), g.where = std::move(where);
    return g;
  }
  static Guard aligned_to(int input, std::int64_t bytes, std::string reason, SourceLoc where = {}) {
    Guard g;
    g.kind = Kind::aligned, g.a = input, g.bytes = bytes, g.reason = std::move(reason), g.where = std::move(where);
    return g;
  }
};

struct Plan;
std::string to_text(const Fact& fact, const Plan& plan);    // "x.size(0)", "alpha"
std::string to_text(const Guard& guard, const Plan& plan);  // "x.stride(1) == 1", without reason and place

}  // namespace stax::plan
