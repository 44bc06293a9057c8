// Attribute values of operators: what is not a tensor.
#pragma once
#include <stax/tensor/dtype.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "symbolic/expr.h"

namespace stax::graph {

using symbolic::Expr;

// monostate is None. Sizes may be given as numbers or expressions; InferContext reads both.
using Attribute = std::variant<std::monostate, bool, std::int64_t, double, std::string, Dtype, Expr,
                               std::vector<std::int64_t>, std::vector<Expr>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

}  // namespace stax::graph
