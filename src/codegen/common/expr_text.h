// Index expressions as source text.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "symbolic/analysis.h"

namespace stax::codegen {

// How a target writes divisions. The plain operators round to zero in C++ and to minus infinity in Python; they are
// used where both operands are proven non-negative.
struct ExprSpelling {
  std::string_view divide, modulo;              // "{0} / {1}"
  std::string_view floor_divide, floor_modulo;  // operands of any sign
  std::string_view ceil_divide;
  std::string_view trunc_divide, trunc_modulo;
  std::string_view min, max;
  // A quotient that is proven to be a multiple of so many is written as a product, for compilers that look for divisors
  // in the text. 1: as it is.
  int written_multiple = 1;
};

// Names of symbols in the generated source where they differ from their own.
using SymbolNames = std::unordered_map<symbolic::Expr, std::string>;

// Replaces {0}, {1}, {2} by the arguments and {T} by `type`.
std::string fill_pattern(std::string_view pattern, std::string_view a, std::string_view b = {}, std::string_view c = {},
                         std::string_view type = {});

class ExprText {
 public:
  ExprText(const ExprSpelling& spelling, const symbolic::Facts& facts) : spelling_(spelling), facts_(facts) {}
  std::string operator()(symbolic::Expr e, const SymbolNames& names) const;  // a sum is in parentheses
  std::string bare(symbolic::Expr e, const SymbolNames& names) const;        // … is not

 private:
  std::string term(symbolic::Expr e, const SymbolNames& names, bool& negative) const;
  std::string binary(std::string_view pattern, symbolic::Expr e, const SymbolNames& names) const;
  bool plain_division(symbolic::Expr e) const;
  std::string quotient(symbolic::Expr e, const SymbolNames& names) const;

  const ExprSpelling& spelling_;
  const symbolic::Facts& facts_;
};

}  // namespace stax::codegen
