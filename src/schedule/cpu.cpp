#include <algorithm>
#include <optional>

#include "codegen/common/levels.h"
#include "codegen/common/same_value.h"
#include "schedule/access.h"
#include "schedule/schedule.h"

namespace stax::schedule {

using loop::CpuSchedule;
using loop::Expr;
using loop::Kernel;
using loop::Phase;
using loop::Program;
using loop::ScalarOp;
using loop::Value;
using loop::ValueId;

namespace {

constexpr std::int64_t kUnknown = 1024;  // a size without a hint

// Fork and join cost about as much as this many vector instructions of lanes.
constexpr std::int64_t kForkCost = 16 * 6000;

class Chooser {
 public:
  Chooser(const Kernel& k, const Program& p, const CpuTarget& target)
      : k_(k), p_(p), target_(target), lanes_(target.vector_bytes / 4) {}
  CpuSchedule run();

 private:
  struct Score {
    int unit = 0, other = 0;
    double value() const { return unit - 3.0 * other; }
  };
  Score score(Expr axis, const Phase* only) const;
  bool has_inner() const;
  bool has(ScalarOp op) const;
  std::int64_t extent(int axis) const { return hint_or(k_.outer[static_cast<std::size_t>(axis)].extent, kUnknown); }
  int best_outer_axis() const;
  int best_inner_axis(const Phase& p) const;
  bool prefers_outer(int axis) const;
  void choose_form();
  void choose_tile();
  bool is_large_tiled(int axis) const;
  void choose_chunk();
  void choose_split();
  void choose_phases();
  void choose_ahead();
  void choose_kept();

  const Kernel& k_;
  const Program& p_;
  const CpuTarget& target_;
  const std::int64_t lanes_;
  CpuSchedule s_;
};

// Addresses with stride 1 along the axis, and with other strides, over the accesses of a phase or of the kernel.
Chooser::Score Chooser::score(Expr axis, const Phase* only) const {
  Score score;
  auto count = [&](Expr address, int weight) {
    const Stride s = stride_along(address, axis);
    if (s == Stride::unit) score.unit += weight;
    if (s == Stride::other) score.other += weight;
  };
  for (const Phase& p : k_.phases) {
    if (only && &p != only) continue;
    for (ValueId v = p.begin; v < p.end; ++v) {
      const Value& value = k_.values[static_cast<std::size_t>(v)];
      if (value.op == ScalarOp::load) count(value.index, 2);
    }
    for (const loop::Store& s : p.stores) count(s.index, 3);
  }
  return score;
}

bool Chooser::has_inner() const {
  return std::any_of(k_.phases.begin(), k_.phases.end(), [](const Phase& p) { return !p.inner.empty(); });
}

bool Chooser::has(ScalarOp op) const {
  return std::any_of(k_.values.begin(), k_.values.end(), [&](const Value& v) { return v.op == op; });
}

int Chooser::best_outer_axis() const {
  int best = -1;
  double best_score = 0;
  for (int i = 0; i < static_cast<int>(k_.outer.size()); ++i) {
    double value = score(k_.outer[static_cast<std::size_t>(i)].var, nullptr).value();
    if (extent(i) < lanes_) value -= 2 * static_cast<double>(lanes_ - extent(i)) / static_cast<double>(lanes_) + 2;
    if (extent(i) <= 1) value -= 100;
    if (best < 0 || value >= best_score) best = i, best_score = value;
  }
  return best;
}

// The axis with the most contiguous accesses; the last when nothing speaks against it.
int Chooser::best_inner_axis(const Phase& p) const {
  int best = static_cast<int>(p.inner.size()) - 1;
  for (int i = best - 1; i >= 0; --i) {
    const loop::Axis& a = p.inner[static_cast<std::size_t>(i)];
    const loop::Axis& b = p.inner[static_cast<std::size_t>(best)];
    const double gain = score(a.var, &p).value() - score(b.var, &p).value();
    if ((gain > 0 && hint_or(a.extent, kUnknown) >= lanes_ / 2) ||
        (gain == 0 && hint_or(b.extent, kUnknown) < lanes_ / 2 &&
         hint_or(a.extent, kUnknown) > hint_or(b.extent, kUnknown)))
      best = i;
  }
  return best;
}

// Whether lanes over an outer axis beat lanes over the inner axes.
bool Chooser::prefers_outer(int axis) const {
  if (axis < 0) return false;
  double inner = 0;
  std::int64_t shortest = INT64_MAX, longest = 0;
  for (const Phase& p : k_.phases) {
    if (p.inner.empty()) continue;
    const loop::Axis& lanes = p.inner[static_cast<std::size_t>(best_inner_axis(p))];
    inner += score(lanes.var, &p).value();
    shortest = std::min(shortest, hint_or(lanes.extent, kUnknown));
    longest = std::max(longest, hint_or(lanes.extent, kUnknown));
  }
  const Expr var = k_.outer[static_cast<std::size_t>(axis)].var;
  double outer = 0;
  for (const Phase& p : k_.phases)
    if (!p.inner.empty()) outer += score(var, &p).value();
  if (extent(axis) < lanes_ && shortest >= extent(axis)) return false;
  if (longest <= lanes_ / 4 && extent(axis) >= lanes_) return true;  // rows too short for lanes of their own
  return outer > inner;
}

void Chooser::choose_form() {
  const int axis = best_outer_axis();
  if (!has_inner() || prefers_outer(axis)) s_.vector_axis = axis;
  for (int i = 0; i < static_cast<int>(k_.outer.size()); ++i)
    if (i != s_.vector_axis) s_.order.push_back(i);
  if (s_.vector_axis >= 0) s_.order.push_back(s_.vector_axis);
}

// Both axes are long and the arrays come from memory, which would wait while a square is transposed.
bool Chooser::is_large_tiled(int axis) const {
  constexpr std::int64_t kLeast = 1024;
  if (extent(axis) < kLeast || extent(s_.vector_axis) < kLeast) return false;
  return hint_of(k_.outer, kUnknown) * 8 > target_.llc_bytes;  // 4 bytes read, 4 written
}

// Loads that are contiguous along another axis than the lanes: squares of both axes are transposed in registers.
void Chooser::choose_tile() {
  if (has_inner() || s_.vector_axis < 0) return;
  const Expr lane = k_.outer[static_cast<std::size_t>(s_.vector_axis)].var;
  for (int i = 0; i < static_cast<int>(k_.outer.size()); ++i) {
    if (i == s_.vector_axis || extent(i) < lanes_ || extent(s_.vector_axis) < lanes_) continue;
    const Expr var = k_.outer[static_cast<std::size_t>(i)].var;
    const bool turned = std::any_of(k_.values.begin(), k_.values.end(), [&](const Value& v) {
      return v.op == ScalarOp::load && (byte_size(v.dtype) == 4 || v.dtype == Dtype::boolean) &&
             stride_along(v.index, lane) == Stride::other && stride_along(v.index, var) == Stride::unit &&
             symbolic::linear_in(v.index, lane).has_value();
    });
    if (!turned) continue;
    s_.tile_axis = i;
    s_.tile = s_.chunk = 128;
    std::erase(s_.order, i);
    s_.order.insert(s_.order.end() - 1, i);
    return;
  }
}

void Chooser::choose_chunk() {
  if (s_.vector_axis < 0 || s_.tile_axis >= 0) return;
  const std::int64_t length = extent(s_.vector_axis);
  std::int64_t others = 1;
  for (int i = 0; i < static_cast<int>(k_.outer.size()); ++i)
    if (i != s_.vector_axis) others *= std::max<std::int64_t>(extent(i), 1);
  if (!has_inner()) {
    s_.chunk = others >= 4 * target_.threads && length <= 8192 ? 8192 : 2048;
    return;
  }
  // Arrays of results over the chunk stay in the first cache, the rows of a chunk that later phases read again in the
  // second. One pass over data reads whole rows: pieces of rows cost twice as much from memory.
  std::int64_t chunk = 4096;
  int phases = 0;
  std::int64_t rows = 1;
  for (const Phase& p : k_.phases) {
    if (p.inner.empty()) continue;
    ++phases;
    rows = std::max(rows, hint_of(p.inner, kUnknown));
  }
  while (chunk > 4 * lanes_ && chunk / 2 >= length) chunk /= 2;
  if (phases > 1)
    while (chunk > 4 * lanes_ && rows * chunk * 4 > target_.l2_bytes / 2) chunk /= 2;
  const bool long_rows =
      phases == 1 && !has(ScalarOp::scan) && rows * length * 4 > target_.l2_bytes / 2 && rows >= 16 * target_.threads;
  if (!long_rows)
    while (chunk > 4 * lanes_ && (length * others + chunk - 1) / chunk < 2 * target_.threads) chunk /= 2;
  s_.chunk = chunk;
}

// Few long rows: the threads share each of them.
void Chooser::choose_split() {
  if (!has_inner() || has(ScalarOp::scan) || target_.threads < 2) return;
  for (int p = 0; s_.vector_axis >= 0 && p < static_cast<int>(k_.phases.size()); ++p)
    if (loop::overwrites_what_it_loads(k_, p)) return;  // each thread computes a column before one of them stores it
  std::int64_t units = 1;
  for (int i = 0; i < static_cast<int>(k_.outer.size()); ++i) {
    std::int64_t n = std::max<std::int64_t>(extent(i), 1);
    if (i == s_.vector_axis && s_.chunk > 0) n = (n + s_.chunk - 1) / s_.chunk;
    units *= n;
  }
  if (units >= target_.threads) return;
  std::size_t axes = SIZE_MAX;
  std::int64_t work = 0;
  for (const Phase& p : k_.phases) {
    if (p.inner.empty()) continue;
    axes = std::min(axes, p.inner.size());
    work = std::max(work, hint_of(p.inner, kUnknown));
  }
  if (s_.vector_axis >= 0) work *= std::min(extent(s_.vector_axis), s_.chunk);
  const bool unknown = k_.outer.empty();
  if (!unknown && work < 2 * s_.grain) return;
  int best = 0;
  std::int64_t best_extent = 0;
  for (std::size_t a = 0; a < axes; ++a) {
    std::int64_t shortest = INT64_MAX;
    for (const Phase& p : k_.phases)
      if (!p.inner.empty()) shortest = std::min(shortest, hint_or(p.inner[a].extent, kUnknown));
    if (shortest > best_extent) best = static_cast<int>(a), best_extent = shortest;
    if (shortest >= 16 * target_.threads) break;  // the outermost long one keeps pieces contiguous
  }
  s_.split = best;
}

void Chooser::choose_phases() {
  for (const Phase& p : k_.phases) {
    loop::CpuPhaseSchedule phase;
    const std::int64_t cost = cost_of(k_, p);
    bool combines = false;
    for (ValueId v = p.begin; v < p.end; ++v)
      combines = combines || k_.values[static_cast<std::size_t>(v)].op == ScalarOp::combine;
    const bool inner = s_.vector_axis < 0 && !p.inner.empty();
    if (inner && best_inner_axis(p) + 1 < static_cast<int>(p.inner.size())) phase.vector = best_inner_axis(p);
    if (inner && combines) phase.unroll = cost <= 12 ? 4 : 2;
    if (!combines && (inner || s_.vector_axis >= 0) && cost <= 12) phase.unroll = 2;
    std::int64_t bytes = 0;
    for (const loop::Store& s : p.stores)
      bytes += hint_of(k_.outer, kUnknown) * hint_of(p.inner, kUnknown) *
               byte_size(p_.buffers[static_cast<std::size_t>(s.buffer)].dtype);
    phase.stream = !p.stores.empty() && bytes > target_.llc_bytes / 4 && (inner || !has_inner());
    s_.phases.push_back(phase);
  }
}

// Rows that are visited more than once: memory would wait while a row is computed, so the first visit of a row asks for
// a later one. Worthwhile where rows come from memory and a few of them fit the first cache.
void Chooser::choose_ahead() {
  constexpr std::int64_t kUnits = 2, kSquares = 8, kLeastBytes = 512;
  if (s_.tile_axis >= 0 && is_large_tiled(s_.tile_axis)) s_.phases[0].ahead = kSquares;
  if (s_.vector_axis >= 0 || s_.split >= 0 || k_.outer.empty()) return;
  std::size_t first = k_.phases.size(), visits = 0;
  for (std::size_t i = k_.phases.size(); i-- > 0;)
    if (!k_.phases[i].inner.empty()) first = i, ++visits;
  if (visits < 2) return;
  std::int64_t row = 0;  // bytes
  const Phase& p = k_.phases[first];
  for (ValueId v = p.begin; v < p.end; ++v) {
    const Value& value = k_.values[static_cast<std::size_t>(v)];
    if (value.op == ScalarOp::load)
      row += hint_of(p.inner, kUnknown) * byte_size(p_.buffers[static_cast<std::size_t>(value.buffer)].dtype);
  }
  if (row < kLeastBytes || row * (kUnits + 1) > target_.l1_bytes) return;
  if (row * hint_of(k_.outer, kUnknown) > target_.llc_bytes) s_.phases[first].ahead = kUnits;
}

// Cost of computing the value again, operands included.
std::int64_t recomputation_cost(const Kernel& k, ValueId v, ValueId begin) {
  if (v < begin) return 0;
  Phase alone;
  alone.begin = v;
  alone.end = v + 1;
  std::int64_t cost = cost_of(k, alone);
  for (ValueId a : k.values[static_cast<std::size_t>(v)].args)
    if (a != loop::kNoValue) cost += recomputation_cost(k, a, begin);
  return cost;
}

// Rows of values that are dear to compute again, as long as they stay in the second cache.
void Chooser::choose_kept() {
  if (s_.vector_axis >= 0 || s_.split >= 0) return;
  constexpr std::int64_t kLimit = 4096, kWorthwhile = 12;
  std::vector<bool> replaced(k_.values.size(), false);
  for (const Phase& p : k_.phases) {
    if (p.inner.size() != 1) continue;
    const codegen::Levels levels(k_, p, {p.inner[0].var}, [](ValueId) { return 0; });
    for (ValueId v = p.end - 1; v >= p.begin; --v) {  // whole expressions before their parts
      const Value& value = k_.values[static_cast<std::size_t>(v)];
      if (replaced[static_cast<std::size_t>(v)] || levels.of(v) == 0) continue;  // or the same along the row
      const bool weights = value.op == ScalarOp::combine && value.combine == loop::CombineOp::online_softmax;
      if (!weights && (value.op == ScalarOp::combine || recomputation_cost(k_, v, p.begin) < kWorthwhile)) continue;
      const auto readers = codegen::readers_of_kept(k_, v);
      const bool fresh = std::any_of(readers.begin(), readers.end(),
                                     [&](ValueId r) { return !replaced[static_cast<std::size_t>(r)]; });
      if (!fresh) continue;
      s_.keep.push_back({v, kLimit});
      std::vector<ValueId> work = readers;
      while (!work.empty()) {
        const ValueId r = work.back();
        work.pop_back();
        if (r == loop::kNoValue || replaced[static_cast<std::size_t>(r)]) continue;
        replaced[static_cast<std::size_t>(r)] = true;
        for (ValueId a : k_.values[static_cast<std::size_t>(r)].args) work.push_back(a);
      }
    }
  }
}

CpuSchedule Chooser::run() {
  s_.stream_bytes = target_.llc_bytes;
  s_.grain = std::max<std::int64_t>(kForkCost / cost_of(k_), 512);
  choose_form();
  choose_tile();
  choose_chunk();
  choose_split();
  choose_phases();
  choose_ahead();
  choose_kept();
  return s_;
}

}  // namespace

CpuSchedule schedule_cpu(const Kernel& k, const Program& p, const CpuTarget& target) {
  return Chooser(k, p, target).run();
}

}  // namespace stax::schedule
