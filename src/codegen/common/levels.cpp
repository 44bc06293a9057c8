#include "codegen/common/levels.h"

#include <algorithm>

namespace stax::codegen {

using loop::Expr;
using loop::ScalarOp;
using loop::Value;
using loop::ValueId;

Levels::Levels(const loop::Kernel& k, const loop::Phase& p, std::vector<Expr> loops,
               std::function<int(ValueId)> unit_level)
    : kernel_(k), phase_(p), loops_(std::move(loops)), unit_level_(std::move(unit_level)) {
  for (ValueId v = 0; v < p.end; ++v)
    if (k.values[static_cast<std::size_t>(v)].op == ScalarOp::bounded)
      bounded_.emplace(k.values[static_cast<std::size_t>(v)].symbol, v);
  level_.reserve(static_cast<std::size_t>(p.end - p.begin));
  for (ValueId v = p.begin; v < p.end; ++v) {
    const Value& value = k.values[static_cast<std::size_t>(v)];
    int level = 0;
    for (ValueId a : value.args)
      if (a != loop::kNoValue) level = std::max(level, of(a));
    if (value.index) level = std::max(level, of(value.index));
    if (value.op == ScalarOp::combine || value.op == ScalarOp::scan) level = depth();
    level_.push_back(level);
  }
}

int Levels::of(ValueId v) const {
  if (v < phase_.begin) return unit_level_(v);
  return level_[static_cast<std::size_t>(v - phase_.begin)];
}

int Levels::of(Expr e) const {
  int level = 0;
  for (Expr s : symbolic::symbols_of(e)) {
    const auto loop = std::find(loops_.begin(), loops_.end(), s);
    if (loop != loops_.end()) {
      level = std::max(level, static_cast<int>(loop - loops_.begin()) + 1);
      continue;
    }
    const auto indirect = bounded_.find(s);
    if (indirect != bounded_.end()) level = std::max(level, of(indirect->second));
  }
  return level;
}

}  // namespace stax::codegen
