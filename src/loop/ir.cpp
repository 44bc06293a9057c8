#include "loop/ir.h"

#include <fmt/format.h>

#include <algorithm>

namespace stax::loop {
namespace {

constexpr std::array<std::string_view, 7> kActivations{"none", "relu",    "gelu_erf", "gelu_tanh",
                                                       "silu", "sigmoid", "tanh"};

// A symbol with range [0, extent) whose name no symbol of the context has.
Expr fresh_symbol(symbolic::Context& context, char letter, int& counter, Expr extent, const symbolic::Facts& facts) {
  symbolic::SymbolInfo info;
  const std::int64_t hi = symbolic::range_of(extent, &facts).hi;
  info.range = {0, hi == symbolic::kMaxInf ? hi : std::max<std::int64_t>(hi - 1, 0)};
  while (true) {
    const std::string name = fmt::format("{}{}", letter, counter++);
    if (!context.find_symbol(name)) return context.symbol(name, info);
  }
}

void add_unique(std::vector<BufferId>& buffers, BufferId b) {
  if (b >= 0 && std::find(buffers.begin(), buffers.end(), b) == buffers.end()) buffers.push_back(b);
}

}  // namespace

std::string_view to_text(Activation a) { return kActivations[static_cast<std::size_t>(a)]; }

std::optional<Activation> parse_activation(std::string_view text) {
  for (std::size_t i = 0; i < kActivations.size(); ++i)
    if (kActivations[i] == text) return static_cast<Activation>(i);
  return std::nullopt;
}

Expr Program::fresh_axis(Expr extent, char letter) { return fresh_symbol(*context, letter, next_axis, extent, facts); }

Expr Program::fresh_indirect(Expr bound) { return fresh_symbol(*context, 'j', next_indirect, bound, facts); }

std::vector<Access> reads_of(const Kernel& k) {
  std::vector<Access> reads;
  for (std::size_t p = 0; p < k.phases.size(); ++p)
    for (ValueId v = k.phases[p].begin; v < k.phases[p].end; ++v) {
      const Value& value = k.values[static_cast<std::size_t>(v)];
      if (value.op == ScalarOp::load) reads.push_back({value.buffer, value.index, static_cast<int>(p)});
    }
  return reads;
}

std::vector<Access> writes_of(const Kernel& k) {
  std::vector<Access> writes;
  for (std::size_t p = 0; p < k.phases.size(); ++p)
    for (const Store& s : k.phases[p].stores) writes.push_back({s.buffer, s.index, static_cast<int>(p)});
  return writes;
}

std::vector<BufferId> buffers_read(const Item& item) {
  std::vector<BufferId> buffers;
  if (const auto* k = std::get_if<Kernel>(&item)) {
    for (const Access& a : reads_of(*k)) add_unique(buffers, a.buffer);
  } else {
    const auto& call = std::get<LibraryCall>(item);
    add_unique(buffers, call.a.buffer);
    add_unique(buffers, call.b.buffer);
    if (call.bias) add_unique(buffers, call.bias->buffer);
    if (call.residual) add_unique(buffers, call.residual->buffer);
  }
  return buffers;
}

std::vector<BufferId> buffers_written(const Item& item) {
  std::vector<BufferId> buffers;
  if (const auto* k = std::get_if<Kernel>(&item)) {
    for (const Access& a : writes_of(*k)) add_unique(buffers, a.buffer);
  } else {
    add_unique(buffers, std::get<LibraryCall>(item).out.buffer);
  }
  return buffers;
}

bool is_check(const Value& v) { return v.op == ScalarOp::bounded && v.checked; }

bool is_pointwise(const Kernel& k) { return k.phases.size() == 1 && k.phases[0].inner.empty(); }

Dtype part_dtype(const Value& tuple, int which) {
  const bool arg = tuple.combine == CombineOp::argmax || tuple.combine == CombineOp::argmin;
  return arg && which == 1 ? Dtype::i64 : tuple.dtype;
}

bool overwrites_what_it_loads(const Kernel& k, int phase) {
  const Phase& p = k.phases[static_cast<std::size_t>(phase)];
  if (!p.inner.empty()) return false;
  const std::vector<Access> reads = reads_of(k);
  return std::any_of(p.stores.begin(), p.stores.end(), [&](const Store& s) {
    return std::any_of(reads.begin(), reads.end(),
                       [&](const Access& a) { return a.buffer == s.buffer && a.phase <= phase; });
  });
}

bool is_combined(const Kernel& k, ValueId v) {
  const Value& value = k.values[static_cast<std::size_t>(v)];
  return value.op == ScalarOp::combine ||
         (value.op == ScalarOp::part && k.values[static_cast<std::size_t>(value.args[0])].op == ScalarOp::combine);
}

int phase_of(const Kernel& k, ValueId v) {
  for (std::size_t p = 0; p < k.phases.size(); ++p)
    if (k.phases[p].begin <= v && v < k.phases[p].end) return static_cast<int>(p);
  STAX_CHECK(false, fmt::format("%{} is in no phase of {}", v, k.name));
  return -1;
}

}  // namespace stax::loop
