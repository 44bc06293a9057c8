#include "loop/scalar_ops.h"

#include <stax/base/error.h>

#include <array>
#include <string>

namespace stax::loop {
namespace {

constexpr std::array<ScalarOpInfo, kScalarOpCount> kScalarOps{{
#define X(name, arity, operands, result, meaning) {#name, arity, OperandClass::operands, ResultRule::result, meaning},
    STAX_SCALAR_OPS(X)
#undef X
}};

constexpr int operand_count(std::string_view name) { return name == "argmax" || name == "argmin" ? 2 : 1; }

constexpr std::array<CombineOpInfo, kCombineOpCount> kCombineOps{{
#define X(name, parts, identity, commutative, meaning) \
  {#name, parts, operand_count(#name), commutative, identity, meaning},
    STAX_COMBINE_OPS(X)
#undef X
}};

}  // namespace

const ScalarOpInfo& info_of(ScalarOp op) {
  const auto i = static_cast<std::size_t>(op);
  STAX_CHECK(i < kScalarOps.size(), "scalar operation " + std::to_string(i) + " does not exist");
  return kScalarOps[i];
}

std::optional<ScalarOp> parse_scalar_op(std::string_view name) {
  for (std::size_t i = 0; i < kScalarOps.size(); ++i)
    if (kScalarOps[i].name == name) return static_cast<ScalarOp>(i);
  return std::nullopt;
}

const CombineOpInfo& info_of(CombineOp op) {
  const auto i = static_cast<std::size_t>(op);
  STAX_CHECK(i < kCombineOps.size(), "combine operator " + std::to_string(i) + " does not exist");
  return kCombineOps[i];
}

std::optional<CombineOp> parse_combine_op(std::string_view name) {
  for (std::size_t i = 0; i < kCombineOps.size(); ++i)
    if (kCombineOps[i].name == name) return static_cast<CombineOp>(i);
  return std::nullopt;
}

}  // namespace stax::loop
