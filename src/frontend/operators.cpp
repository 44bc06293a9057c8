#include "frontend/dispatch.h"

namespace stax {

using frontend::apply_one;

#define STAX_BINARY_OPERATOR(symbol, op)                            \
  Tensor operator symbol(TensorOperand a, TensorOperand b) {        \
    return apply_one(op, {a.tensor, b.tensor}, {}, a.where);        \
  }                                                                 \
  Tensor operator symbol(TensorOperand a, const ScalarOperand& b) { \
    return apply_one(op, {a.tensor, b.scalar}, {}, a.where);        \
  }                                                                 \
  Tensor operator symbol(const ScalarOperand& a, TensorOperand b) { \
    return apply_one(op, {a.scalar, b.tensor}, {}, b.where);        \
  }
STAX_BINARY_OPERATOR(+, "add")
STAX_BINARY_OPERATOR(-, "sub")
STAX_BINARY_OPERATOR(*, "mul")
STAX_BINARY_OPERATOR(/, "div")
STAX_BINARY_OPERATOR(<, "lt")
STAX_BINARY_OPERATOR(<=, "le")
STAX_BINARY_OPERATOR(>, "gt")
STAX_BINARY_OPERATOR(>=, "ge")
STAX_BINARY_OPERATOR(==, "eq")
STAX_BINARY_OPERATOR(!=, "ne")
#undef STAX_BINARY_OPERATOR

Tensor operator-(TensorOperand a) { return apply_one("neg", {a.tensor}, {}, a.where); }

}  // namespace stax
