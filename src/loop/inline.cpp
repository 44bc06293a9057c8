// Inlining of pointwise producers into their consumers.
#include <algorithm>

#include "loop/delinearize.h"
#include "loop/transform.h"

namespace stax::loop {
namespace {

// Every element of the buffer is written by the producer's units.
bool covers_buffer(const Program& p, const Kernel& producer, const Buffer& b) {
  Expr units = p.context->constant(1), elements = units;
  for (const Axis& a : producer.outer) units = units * a.extent;
  for (Expr s : b.sizes) elements = elements * s;
  return units == elements || symbolic::always(symbolic::eq(units, elements), &p.facts);
}

// The producer's values that the store needs, and its checks, in order.
std::vector<ValueId> needed_values(const Kernel& producer, const Store& store) {
  std::vector<bool> needed(producer.values.size(), false);
  const auto mark = [&](auto&& self, ValueId v) -> void {
    if (v == kNoValue || needed[static_cast<std::size_t>(v)]) return;
    needed[static_cast<std::size_t>(v)] = true;
    const Value& value = producer.values[static_cast<std::size_t>(v)];
    for (ValueId a : value.args) self(self, a);
    if (!value.index) return;
    for (std::size_t i = 0; i < producer.values.size(); ++i)
      if (producer.values[i].op == ScalarOp::bounded && symbolic::depends_on(value.index, producer.values[i].symbol))
        self(self, static_cast<ValueId>(i));
  };
  mark(mark, store.value);
  for (std::size_t i = 0; i < producer.values.size(); ++i)
    if (is_check(producer.values[i])) mark(mark, static_cast<ValueId>(i));
  std::vector<ValueId> result;
  for (std::size_t i = 0; i < needed.size(); ++i)
    if (needed[i]) result.push_back(static_cast<ValueId>(i));
  return result;
}

class Inliner {
 public:
  Inliner(Program& p, const Kernel& producer, const Store& store, bool round_half)
      : p_(p),
        producer_(producer),
        store_(store),
        needed_(needed_values(producer, store)),
        half_(round_half ? p.buffers[static_cast<std::size_t>(store.buffer)].dtype : Dtype::f32) {}

  // The consumer with its loads of the buffer computed; `indices`: by load, the producer's axes.
  Kernel run(const Kernel& consumer, const std::unordered_map<ValueId, std::vector<Expr>>& indices) {
    Kernel result = consumer;
    result.values.clear();
    std::vector<ValueId> renamed(consumer.values.size(), kNoValue);
    for (std::size_t i = 0; i < consumer.phases.size(); ++i) {
      Phase& phase = result.phases[i];
      phase.begin = static_cast<ValueId>(result.values.size());
      for (ValueId v = consumer.phases[i].begin; v < consumer.phases[i].end; ++v) {
        const auto found = indices.find(v);
        renamed[static_cast<std::size_t>(v)] =
            found != indices.end() ? compute(result.values, found->second)
                                   : copy(result.values, consumer.values[static_cast<std::size_t>(v)], renamed);
      }
      phase.end = static_cast<ValueId>(result.values.size());
      for (Store& s : phase.stores) s.value = renamed[static_cast<std::size_t>(s.value)];
    }
    return result;
  }

 private:
  static ValueId copy(std::vector<Value>& to, Value v, const std::vector<ValueId>& renamed) {
    for (ValueId& a : v.args)
      if (a != kNoValue) a = renamed[static_cast<std::size_t>(a)];
    to.push_back(std::move(v));
    return static_cast<ValueId>(to.size()) - 1;
  }

  ValueId compute(std::vector<Value>& to, const std::vector<Expr>& at) {
    symbolic::SymbolMap map;
    for (std::size_t d = 0; d < at.size(); ++d) map[producer_.outer[d].var] = at[d];
    std::vector<ValueId> renamed(producer_.values.size(), kNoValue);
    for (ValueId id : needed_) {
      Value v = producer_.values[static_cast<std::size_t>(id)];
      if (v.index) v.index = symbolic::simplify(symbolic::substitute(v.index, map), p_.facts);
      if (v.op == ScalarOp::bounded) {
        const Expr fresh = p_.fresh_indirect(v.index);
        map[v.symbol] = fresh;
        v.symbol = fresh;
      }
      renamed[static_cast<std::size_t>(id)] = copy(to, std::move(v), renamed);
    }
    const ValueId result = renamed[static_cast<std::size_t>(store_.value)];
    if (!is_half(half_)) return result;
    Value round;
    round.op = ScalarOp::round_to;
    round.half = half_;
    round.args[0] = result;
    round.origin = to[static_cast<std::size_t>(result)].origin;
    to.push_back(round);
    return static_cast<ValueId>(to.size()) - 1;
  }

  Program& p_;
  const Kernel& producer_;
  const Store& store_;
  std::vector<ValueId> needed_;
  Dtype half_;
};

}  // namespace

bool inline_producer(Program& p, Kernel& consumer, const Kernel& producer, const Store& store, bool round_half,
                     bool allow_division) {
  STAX_CHECK(is_pointwise(producer), producer.name + " is not pointwise: it cannot be inlined");
  // The producer's operands must still hold what they held when the consumer runs.
  for (const Access& w : writes_of(consumer)) {
    if (w.buffer == store.buffer) return false;
    for (const Access& r : reads_of(producer))
      if (r.buffer == w.buffer) return false;
  }
  for (const Access& w : writes_of(producer))
    for (const Access& r : reads_of(producer))
      if (r.buffer == w.buffer) return false;
  const bool covers = covers_buffer(p, producer, p.buffers[static_cast<std::size_t>(store.buffer)]);
  std::unordered_map<ValueId, std::vector<Expr>> indices;
  for (std::size_t i = 0; i < consumer.phases.size(); ++i) {
    std::optional<Domain> domain;
    for (ValueId v = consumer.phases[i].begin; v < consumer.phases[i].end; ++v) {
      const Value& load = consumer.values[static_cast<std::size_t>(v)];
      if (load.op != ScalarOp::load || load.buffer != store.buffer) continue;
      if (!domain) domain.emplace(p, consumer, static_cast<int>(i));
      auto index = delinearize(load.index, store.index, producer.outer, *domain, covers, allow_division);
      if (!index) return false;
      indices.emplace(v, std::move(*index));
    }
  }
  if (indices.empty()) return true;
  consumer = Inliner(p, producer, store, round_half).run(consumer, indices);
  eliminate_common_values(consumer);
  return true;
}

}  // namespace stax::loop
