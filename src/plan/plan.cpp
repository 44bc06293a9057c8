#include "plan/plan.h"

#include <algorithm>

#include "plan/uses.h"

namespace stax::plan {

namespace {

int cost(const Guard& g) {
  if (g.promise) return g.kind == Guard::Kind::aligned ? 6 : 7;
  switch (g.kind) {
    case Guard::Kind::fact:
      return g.value.constant() ? 0 : 2;
    case Guard::Kind::aligned:
    case Guard::Kind::same:
      return 1;
    case Guard::Kind::scalar:
      return 3;
    case Guard::Kind::disjoint:
      return 4;
    case Guard::Kind::condition:
      return 5;
  }
  return 8;
}

// Apart from reason and place.
bool equal(const Guard& x, const Guard& y) {
  return x.kind == y.kind && x.fact == y.fact && x.value == y.value && x.condition == y.condition &&
         x.comparison == y.comparison && x.bits == y.bits && x.a == y.a && x.b == y.b && x.bytes == y.bytes &&
         x.promise == y.promise;
}

}  // namespace

std::vector<int> buffers_used(const Step& step) {
  std::vector<int> used;
  std::visit(
      [&](const auto& s) {
        using T = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<T, LaunchStep>) {
          used = s.buffers;
        } else if constexpr (std::is_same_v<T, MatmulStep>) {
          used = {s.a.buffer, s.b.buffer, s.out.buffer};
          if (s.bias) used.push_back(s.bias->buffer);
          if (s.residual) used.push_back(s.residual->buffer);
        } else if constexpr (std::is_same_v<T, CopyStep>) {
          used = {s.from.buffer, s.to.buffer};
        }
      },
      step);
  return used;
}

void order_guards(Plan& plan) {
  std::vector<Guard> kept;
  for (Guard& g : plan.guards)
    if (std::none_of(kept.begin(), kept.end(), [&](const Guard& k) { return equal(g, k); }))
      kept.push_back(std::move(g));
  std::stable_sort(kept.begin(), kept.end(), [](const Guard& a, const Guard& b) { return cost(a) < cost(b); });
  plan.guards = std::move(kept);
}

void place_allocations(Plan& plan) {
  std::erase_if(plan.steps, [](const Step& s) { return std::holds_alternative<FreeStep>(s); });
  std::vector<int> last(plan.buffers.size(), -1);
  std::vector<bool> allocated(plan.buffers.size(), false);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for (const int b : buffers_used(plan.steps[i])) last[static_cast<std::size_t>(b)] = static_cast<int>(i);
    if (const auto* a = std::get_if<AllocStep>(&plan.steps[i])) allocated[static_cast<std::size_t>(a->buffer)] = true;
  }
  std::vector<Step> placed;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const std::vector<int> used = buffers_used(plan.steps[i]);
    for (const int b : used) {
      const auto at = static_cast<std::size_t>(b);
      if (plan.buffers[at].kind != BufferKind::input && !allocated[at])
        placed.emplace_back(std::in_place_type<AllocStep>, b);
      allocated[at] = true;
    }
    placed.push_back(std::move(plan.steps[i]));
    std::vector<int> ended;
    for (const int b : used) {
      const bool temporary = plan.buffers[static_cast<std::size_t>(b)].kind == BufferKind::temporary;
      if (temporary && last[static_cast<std::size_t>(b)] == static_cast<int>(i) &&
          std::find(ended.begin(), ended.end(), b) == ended.end())
        ended.push_back(b);
    }
    for (const int b : ended) placed.emplace_back(std::in_place_type<FreeStep>, b);
  }
  plan.steps = std::move(placed);
}

}  // namespace stax::plan
