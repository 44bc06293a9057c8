// The closed list of scalar operations of the loop IR. One table drives enum, printer, parser, verifier, interpreter
// and the spelling tables of the printers.
//
// Values inside a kernel have compute dtypes only: boolean, u8, i8, i16, i32, i64, f32, f64. Half types exist in loads
// and stores. Integers wrap at their width. Floats are IEEE with round to nearest even; no contraction, no
// reassociation.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace stax::loop {

// Operand classes: a any, n number (not boolean), f float, i integer, b boolean, l integer or boolean, _ none.
// Result rule: same (dtype of the operands, which agree), boolean, given (stated on the value).
//
// X(name, arity, operands, result, meaning)
#define STAX_SCALAR_OPS(X)                                                                                         \
  /* leaves */                                                                                                     \
  X(constant, 0, _, given, "a literal")                                                                            \
  X(index, 0, _, given, "an index expression over axes and sizes, as i64")                                         \
  X(load, 0, _, given, "the element of a buffer at a flat index; half types arrive as f32")                        \
  X(scalar, 0, _, given, "a host scalar argument of the kernel")                                                   \
  X(bounded, 1, i, same,                                                                                           \
    "the operand as an index: checked to lie in [0, bound), names a symbol for index expressions")                 \
  X(random, 0, _, given, "counter-based random number: pure function of seed and logical element index")           \
  /* reductions and scans: values of the unit, or running values along the scanned axis */                         \
  X(combine, 3, a, given, "reduction over the inner axes of the phase by a combine operator")                      \
  X(scan, 3, a, given, "inclusive scan along the single inner axis by a combine operator")                         \
  X(part, 1, a, given, "a further result of a combine or scan of a tuple; the value itself is part 0")             \
  /* conversions */                                                                                                \
  X(cast, 1, a, given, "conversion: float to integer truncates, to boolean is != 0")                               \
  X(round_to, 1, f, same, "f32 rounded to a half type and back (the half type is the payload)")                    \
  /* arithmetic */                                                                                                 \
  X(neg, 1, n, same, "sign flip: -(+0) is -0")                                                                     \
  X(abs, 1, n, same, "magnitude; MIN wraps")                                                                       \
  X(sign, 1, n, same, "-1, 0, 1; NaN stays NaN")                                                                   \
  X(add, 2, n, same, "sum")                                                                                        \
  X(sub, 2, n, same, "difference")                                                                                 \
  X(mul, 2, n, same, "product")                                                                                    \
  X(div, 2, f, same, "IEEE quotient")                                                                              \
  X(fma, 3, f, same, "a*b + c rounded once")                                                                       \
  X(floor_div, 2, n, same,                                                                                         \
    "the exact quotient rounded to minus infinity; integers: by zero is an error, MIN / -1 wraps")                 \
  X(trunc_div, 2, n, same,                                                                                         \
    "quotient rounded to zero (floats: the IEEE quotient); integers: by zero is an error, MIN / -1 wraps")         \
  X(floor_mod, 2, n, same, "remainder with the divisor's sign")                                                    \
  X(trunc_mod, 2, n, same, "remainder with the dividend's sign")                                                   \
  X(max, 2, a, same, "NaN if either is NaN; max(-0, +0) = +0; boolean: or")                                        \
  X(min, 2, a, same, "NaN if either is NaN; min(-0, +0) = -0; boolean: and")                                       \
  X(pow, 2, n, same, "power; integers by repeated product, a negative exponent gives 0 except for bases 1 and -1") \
  /* functions of a float */                                                                                       \
  X(exp, 1, f, same, "e^x")                                                                                        \
  X(exp2, 1, f, same, "2^x")                                                                                       \
  X(expm1, 1, f, same, "e^x - 1")                                                                                  \
  X(log, 1, f, same, "natural logarithm")                                                                          \
  X(log2, 1, f, same, "logarithm to base 2")                                                                       \
  X(log1p, 1, f, same, "log(1 + x)")                                                                               \
  X(sqrt, 1, f, same, "square root, correctly rounded")                                                            \
  X(rsqrt, 1, f, same, "1 / sqrt(x), each step correctly rounded")                                                 \
  X(tanh, 1, f, same, "hyperbolic tangent")                                                                        \
  X(erf, 1, f, same, "error function")                                                                             \
  X(sigmoid, 1, f, same, "1 / (1 + e^-x)")                                                                         \
  X(sin, 1, f, same, "sine of radians")                                                                            \
  X(cos, 1, f, same, "cosine of radians")                                                                          \
  X(floor, 1, n, same, "to minus infinity")                                                                        \
  X(ceil, 1, n, same, "to plus infinity")                                                                          \
  X(round, 1, n, same, "to nearest, ties to even")                                                                 \
  X(trunc, 1, n, same, "to zero")                                                                                  \
  /* comparisons and logic */                                                                                      \
  X(eq, 2, a, boolean, "equal; false with NaN")                                                                    \
  X(ne, 2, a, boolean, "not equal; true with NaN")                                                                 \
  X(lt, 2, a, boolean, "less")                                                                                     \
  X(le, 2, a, boolean, "less or equal")                                                                            \
  X(is_nan, 1, f, boolean, "is NaN")                                                                               \
  X(is_inf, 1, f, boolean, "is plus or minus infinity")                                                            \
  X(bit_and, 2, l, same, "bitwise and; logical for boolean")                                                       \
  X(bit_or, 2, l, same, "bitwise or")                                                                              \
  X(bit_xor, 2, l, same, "bitwise exclusive or")                                                                   \
  X(bit_not, 1, l, same, "bitwise not; logical for boolean")                                                       \
  X(select, 3, a, given, "second operand where the first (boolean) is true, else third")

enum class ScalarOp : std::uint8_t {
#define X(name, arity, operands, result, meaning) name,
  STAX_SCALAR_OPS(X)
#undef X
};

inline constexpr int kScalarOpCount = 0
#define X(name, arity, operands, result, meaning) +1
    STAX_SCALAR_OPS(X)
#undef X
    ;

enum class OperandClass : std::uint8_t { _, a, n, f, i, b, l };
enum class ResultRule : std::uint8_t { same, boolean, given };

struct ScalarOpInfo {
  std::string_view name;
  int arity;
  OperandClass operands;
  ResultRule result;
  std::string_view meaning;
};
const ScalarOpInfo& info_of(ScalarOp op);
std::optional<ScalarOp> parse_scalar_op(std::string_view name);

// Combine operators: monoids over a tuple of values. Loops, splits, vectors and blocks use these facts only.
//
// X(name, parts, identity, commutative, meaning)
#define STAX_COMBINE_OPS(X)                                                                                    \
  X(sum, 1, "0", true, "sum; floats in f32 or f64, integers in i64")                                           \
  X(prod, 1, "1", true, "product")                                                                             \
  X(max, 1, "-inf or MIN", true, "NaN if any is NaN")                                                          \
  X(min, 1, "+inf or MAX", true, "NaN if any is NaN")                                                          \
  X(argmax, 2, "(-inf or MIN, +inf index)", true,                                                              \
    "(value, i64 index): the first NaN, else the first maximum; index is an operand")                          \
  X(argmin, 2, "(+inf or MAX, +inf index)", true, "(value, i64 index): the first NaN, else the first minimum") \
  X(any, 1, "false", true, "or")                                                                               \
  X(all, 1, "true", true, "and")                                                                               \
  X(welford, 3, "(0, 0, 0)", true,                                                                             \
    "(mean, sum of squared differences, count) of the operand; an infinity makes the second NaN")              \
  X(online_softmax, 2, "(-inf, 0)", true, "(maximum m, sum of e^(x - m)); a row of -inf gives NaN when divided")

enum class CombineOp : std::uint8_t {
#define X(name, parts, identity, commutative, meaning) name,
  STAX_COMBINE_OPS(X)
#undef X
};

inline constexpr int kCombineOpCount = 0
#define X(name, parts, identity, commutative, meaning) +1
    STAX_COMBINE_OPS(X)
#undef X
    ;

struct CombineOpInfo {
  std::string_view name;
  int parts;  // number of results
  // Values fed per element: 2 for argmax/argmin (value, index), else 1. A combine that merges partial tuples is fed
  // `parts` values: welford (mean, m2, count), online_softmax (m, d).
  int operands;
  bool commutative;
  std::string_view identity, meaning;
};
const CombineOpInfo& info_of(CombineOp op);
std::optional<CombineOp> parse_combine_op(std::string_view name);

}  // namespace stax::loop
