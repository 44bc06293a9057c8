// Choices for Triton kernels, by the rules measured on Hopper cards: enough bytes in flight for each multiprocessor,
// 16-byte accesses along the axis of stride 1, rows in registers up to 16k elements.
#include <algorithm>
#include <bit>
#include <numeric>

#include "schedule/access.h"
#include "schedule/schedule.h"

namespace stax::schedule {

using loop::Evict;
using loop::Expr;
using loop::InnerForm;
using loop::Kernel;
using loop::Program;
using loop::ScalarOp;
using loop::TritonSchedule;
using loop::Value;

namespace {

constexpr std::int64_t kUnknown = 1024;      // a size without a hint
constexpr std::int64_t kLongestRow = 16384;  // elements of a persistent reduction
constexpr std::int64_t kLargestMultiple = 1 << 20;
constexpr std::int64_t kShortestBound = 256;  // rows that are promised to be short may have so many elements

std::int64_t power_at_least(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}
std::int64_t power_at_most(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}

class TritonChooser {
 public:
  TritonChooser(const Kernel& k, const Program& p, const GpuTarget& target) : k_(k), p_(p), target_(target) {}
  TritonSchedule run();
  std::vector<std::vector<loop::SizePromise>> further(const TritonSchedule& s);

 private:
  enum class Form { tile, units, columns, rows };
  Form form() const;
  std::int64_t saved_bytes(Expr axis, Expr with = {}) const;
  int innermost_axis() const;
  bool has(ScalarOp op) const;
  bool reduces_columns(const loop::Phase& p) const;
  bool reduces_unloaded(const loop::Phase& p) const;
  struct Vectors {
    Expr length;
    std::int64_t elements;  // in 16 bytes
  };
  std::vector<Vectors> lengths_of_accesses() const;
  void promise();
  std::vector<Expr> factors() const;
  bool gains_at_hints() const;
  bool is_whole(const Vectors& v) const;
  TritonSchedule with_multiple(Expr size, std::int64_t multiple) const;
  std::int64_t least_multiple(Expr size, const Vectors& v) const;
  void promise_short_rows();
  void choose_tile();
  void choose_rows();
  void choose_long_rows();
  void choose_columns();
  void choose_hints();
  std::int64_t units() const { return hint_of(k_.outer, kUnknown); }
  std::int64_t length(const loop::Phase& p) const { return hint_of(p.inner, kUnknown); }

  const Kernel& k_;
  const Program& p_;
  const GpuTarget& target_;
  Form form_ = Form::tile;
  TritonSchedule s_;
};

bool TritonChooser::has(ScalarOp op) const {
  return std::any_of(k_.values.begin(), k_.values.end(), [&](const Value& v) { return v.op == op; });
}

// Bytes an element of the accesses that are contiguous along an axis (and vary with another).
std::int64_t TritonChooser::saved_bytes(Expr axis, Expr with) const {
  std::int64_t bytes = 0;
  auto add = [&](loop::BufferId b, Expr index) {
    if (with && !symbolic::depends_on(index, with)) return;
    if (stride_along(index, axis) == Stride::unit) bytes += byte_size(p_.buffers[static_cast<std::size_t>(b)].dtype);
  };
  for (const Value& v : k_.values)
    if (v.op == ScalarOp::load) add(v.buffer, v.index);
  for (const loop::Phase& p : k_.phases)
    for (const loop::Store& s : p.stores) add(s.buffer, s.index);
  return bytes;
}

// The axis along which the stores are contiguous, else most bytes.
int TritonChooser::innermost_axis() const {
  int best = static_cast<int>(k_.outer.size()) - 1;
  std::int64_t most = -1;
  for (int a = 0; a < static_cast<int>(k_.outer.size()); ++a) {
    const Expr axis = k_.outer[static_cast<std::size_t>(a)].var;
    std::int64_t score = 4 * saved_bytes(axis);
    for (const loop::Phase& p : k_.phases)
      for (const loop::Store& s : p.stores)
        if (stride_along(s.index, axis) == Stride::unit) score += 1000;
    if (hint_or(k_.outer[static_cast<std::size_t>(a)].extent, kUnknown) == 1) score = -1;
    if (score >= most && score > 0) {
      most = score;
      best = a;
    }
  }
  return best;
}

// What has to be a multiple of 16 bytes for 16-byte accesses: the distances between rows, and the lengths along which
// accesses are contiguous, since a mask must not cut a vector.
std::vector<TritonChooser::Vectors> TritonChooser::lengths_of_accesses() const {
  std::vector<Vectors> lengths;
  const int last = innermost_axis();
  const Expr fastest = last < 0 ? Expr() : k_.outer[static_cast<std::size_t>(last)].var;
  // Whether vectors of an access run along an outer axis.
  const auto runs_along = [&](Expr index, Expr axis) {
    return form_ != Form::rows && (form_ != Form::tile || axis == fastest || symbolic::depends_on(index, fastest));
  };
  const auto look = [&](loop::BufferId b, Expr index, const std::vector<loop::Axis>& axes) {
    const std::int64_t elements = 16 / byte_size(p_.buffers[static_cast<std::size_t>(b)].dtype);
    for (const loop::Axis& a : axes) {
      if (!symbolic::depends_on(index, a.var)) continue;
      const auto linear = symbolic::linear_in(index, a.var);
      if (!linear) continue;
      const bool contiguous = linear->coefficient.is_constant(1);
      if (contiguous && &axes == &k_.outer && !runs_along(index, a.var)) continue;
      lengths.push_back({contiguous ? a.extent : linear->coefficient, elements});
    }
  };
  for (const loop::Phase& p : k_.phases) {
    const auto both = [&](loop::BufferId b, Expr index) {
      look(b, index, k_.outer);
      look(b, index, p.inner);
    };
    for (loop::ValueId v = p.begin; v < p.end; ++v) {
      const Value& x = k_.values[static_cast<std::size_t>(v)];
      if (x.op == ScalarOp::load) both(x.buffer, x.index);
    }
    for (const loop::Store& s : p.stores) both(s.buffer, s.index);
  }
  return lengths;
}

// Facts about sizes and addresses that the launch will check.
void TritonChooser::promise() {
  for (std::size_t b = 0; b < p_.buffers.size(); ++b)
    if (p_.buffers[b].kind != loop::BufferKind::input || target_.promise_inputs)
      s_.aligned.push_back(static_cast<int>(b));
  if (!target_.promise_sizes || !gains_at_hints()) return;
  const std::vector<Expr> order = factors();
  for (const Vectors& v : lengths_of_accesses()) {
    if (is_whole(v)) continue;
    for (const Expr size : order) {
      const auto hint = size.info().hint;
      const std::int64_t multiple = hint && *hint > 0 ? least_multiple(size, v) : 0;
      if (multiple == 0 || *hint % multiple != 0) continue;
      s_ = with_multiple(size, multiple);
      break;
    }
  }
}

bool TritonChooser::gains_at_hints() const {
  std::vector<loop::BufferId> all(p_.buffers.size());
  std::iota(all.begin(), all.end(), 0);
  const auto at_hint = [](Expr size) -> std::optional<std::int64_t> { return size.info().hint.value_or(kUnknown); };
  return symbolic::evaluate(gains_from_wide_accesses(p_, all), at_hint).value();
}

bool TritonChooser::is_whole(const Vectors& v) const {
  const symbolic::Facts known = loop::facts_of(s_, p_);
  return v.length.constant() || symbolic::multiple_of(v.length, &known) % v.elements == 0;
}

// Sizes whose multiples may be promised. One factor of a length is enough; the innermost sizes of buffers first, which
// most lengths share.
std::vector<Expr> TritonChooser::factors() const {
  std::vector<Expr> order;
  const auto add = [&](Expr size) {
    if (size.is_symbol() && std::ranges::find(p_.sizes, size) != p_.sizes.end() &&
        std::ranges::find(order, size) == order.end())
      order.push_back(size);
  };
  for (const loop::Buffer& b : p_.buffers)
    if (!b.sizes.empty()) add(b.sizes.back());
  for (Expr size : p_.sizes) add(size);
  return order;
}

TritonSchedule TritonChooser::with_multiple(Expr size, std::int64_t multiple) const {
  TritonSchedule more = s_;
  auto it = std::ranges::find_if(more.promises, [&](const loop::SizePromise& q) { return q.size == size; });
  if (it == more.promises.end()) it = more.promises.insert(it, {size});
  it->multiple_of = std::max(it->multiple_of, multiple);
  return more;
}

// The least multiple of a size that makes the length one of whole vectors; parts of a row that was split need as many
// times that. 0: none does.
std::int64_t TritonChooser::least_multiple(Expr size, const Vectors& v) const {
  if (!symbolic::depends_on(v.length, size)) return 0;
  for (std::int64_t multiple = v.elements; multiple <= kLargestMultiple; multiple *= 2) {
    const symbolic::Facts facts = loop::facts_of(with_multiple(size, multiple), p_);
    if (symbolic::multiple_of(v.length, &facts) % v.elements == 0) return multiple;
  }
  return 0;
}

std::vector<std::vector<loop::SizePromise>> TritonChooser::further(const TritonSchedule& s) {
  s_ = s;
  form_ = form();
  std::vector<std::vector<loop::SizePromise>> all;
  for (const Vectors& v : lengths_of_accesses()) {
    if (is_whole(v)) continue;
    std::vector<loop::SizePromise> one_of;
    for (const Expr size : factors())
      if (const std::int64_t multiple = least_multiple(size, v); multiple > 0) one_of.push_back({size, multiple});
    if (!one_of.empty() && std::ranges::find(all, one_of) == all.end()) all.push_back(std::move(one_of));
  }
  return all;
}

// Rows that several phases visit stay in registers when they are short: a bound for a length that has none.
void TritonChooser::promise_short_rows() {
  if (!target_.promise_sizes || !target_.promise_bounds) return;
  int visits = 0;
  for (const loop::Phase& p : k_.phases) visits += !p.inner.empty();
  if (visits < 2) return;
  for (const loop::Phase& p : k_.phases) {
    if (p.inner.empty()) continue;
    const symbolic::Facts facts = loop::facts_of(s_, p_);
    const Expr length = loop::length_of(p, p_);
    if (symbolic::range_of(length, &facts).hi <= kLongestRow) continue;
    const std::vector<Expr> sizes = symbolic::symbols_of(length);
    const auto hint = symbolic::hint_of(length);
    if (sizes.size() != 1 || !hint || *hint > kLongestRow) continue;
    const auto linear = symbolic::linear_in(length, sizes[0]);
    const auto factor = linear ? linear->coefficient.constant() : std::nullopt;
    if (!factor || *factor < 1 || !linear->rest.is_constant(0)) continue;
    const std::int64_t at_most = std::max<std::int64_t>(power_at_least(*hint), kShortestBound) / *factor;
    auto it = std::ranges::find_if(s_.promises, [&](const loop::SizePromise& q) { return q.size == sizes[0]; });
    if (it == s_.promises.end()) it = s_.promises.insert(it, {sizes[0]});
    it->at_most = at_most;
  }
}

// Pointwise: one dimension, or tiles where half of the accesses are contiguous along another axis than the stores.
void TritonChooser::choose_tile() {
  const int inner = innermost_axis();
  s_.warps = 4;
  std::int64_t widest = 4;
  for (const loop::Buffer& b : p_.buffers) widest = std::min<std::int64_t>(widest, byte_size(b.dtype));
  for (int a = 0; a < static_cast<int>(k_.outer.size()); ++a) s_.x.push_back(a);
  const std::int64_t block = widest <= 2 ? 1024 : 512;
  // Blocks for few elements serve few: what has no bound may be called with many.
  const bool few = std::ranges::all_of(k_.outer, [](const loop::Axis& a) { return a.extent.constant().has_value(); });
  s_.x_block = std::clamp<std::int64_t>(power_at_least(units()), few ? 1 : 128, block);
  if (k_.outer.empty()) s_.x_block = 1;
  // A small problem is spread over the card.
  while (s_.x_block > 128 && units() / s_.x_block < target_.multiprocessors) s_.x_block /= 2;
  s_.warps = static_cast<int>(std::clamp<std::int64_t>(s_.x_block / 128, 1, 4));
  if (inner < 0) return;
  int other = -1;
  std::int64_t most = 0;
  for (int a = 0; a < static_cast<int>(k_.outer.size()); ++a) {
    if (a == inner || hint_or(k_.outer[static_cast<std::size_t>(a)].extent, kUnknown) < 8) continue;
    const std::int64_t bytes =
        saved_bytes(k_.outer[static_cast<std::size_t>(a)].var, k_.outer[static_cast<std::size_t>(inner)].var);
    if (bytes > most) {
      most = bytes;
      other = a;
    }
  }
  if (other < 0 || hint_or(k_.outer[static_cast<std::size_t>(inner)].extent, kUnknown) < 8) return;
  s_.x.clear();
  for (int a = 0; a < static_cast<int>(k_.outer.size()); ++a)
    if (a != inner && a != other) s_.y.push_back(a);
  s_.y.push_back(other);  // varies fastest within y: its tile is contiguous
  s_.x.push_back(inner);
  s_.y_block =
      std::min<std::int64_t>(64, power_at_least(hint_or(k_.outer[static_cast<std::size_t>(other)].extent, kUnknown)));
  s_.x_block =
      std::min<std::int64_t>(128, power_at_least(hint_or(k_.outer[static_cast<std::size_t>(inner)].extent, kUnknown)));
  s_.warps = static_cast<int>(std::clamp<std::int64_t>(s_.x_block * s_.y_block / 1024, 1, 8));
}

// Whether the accesses of a phase are contiguous along an outer axis and not along an inner one.
bool TritonChooser::reduces_columns(const loop::Phase& p) const {
  if (p.inner.empty() || k_.outer.empty()) return false;
  std::int64_t inner = 0, outer = 0;
  for (loop::ValueId v = p.begin; v < p.end; ++v) {
    const Value& x = k_.values[static_cast<std::size_t>(v)];
    if (x.op != ScalarOp::load) continue;
    const std::int64_t bytes = byte_size(p_.buffers[static_cast<std::size_t>(x.buffer)].dtype);
    if (stride_along(x.index, p.inner.back().var) == Stride::unit) inner += bytes;
    for (const loop::Axis& a : k_.outer)
      if (stride_along(x.index, a.var) == Stride::unit) {
        outer += bytes;
        break;
      }
  }
  return outer > inner;
}

bool TritonChooser::reduces_unloaded(const loop::Phase& p) const {
  const auto begin = k_.values.begin() + p.begin, end = k_.values.begin() + p.end;
  return std::any_of(begin, end, [](const Value& v) { return v.op == ScalarOp::combine; }) &&
         std::none_of(begin, end, [](const Value& v) { return v.op == ScalarOp::load; });
}

// Rows along the contiguous axis: persistent as long as they fit in registers, else in blocks.
void TritonChooser::choose_rows() {
  promise_short_rows();
  const symbolic::Facts facts = loop::facts_of(s_, p_);
  for (int a = 0; a < static_cast<int>(k_.outer.size()); ++a) s_.x.push_back(a);
  std::int64_t longest = 1;
  for (std::size_t i = 0; i < k_.phases.size(); ++i) {
    const loop::Phase& p = k_.phases[i];
    if (p.inner.empty()) continue;
    const symbolic::Range range = symbolic::range_of(loop::length_of(p, p_), &facts);
    loop::TritonPhase& phase = s_.phases[i];
    if (range.hi <= kLongestRow) {
      phase.form = InnerForm::persistent;
      phase.block = power_at_least(range.hi);
    } else {
      phase.form = InnerForm::looped;
      phase.block = std::clamp<std::int64_t>(power_at_least(length(p)), 64, 4096);
    }
    longest = std::max(longest, phase.block);
  }
  // Short rows share a program; 1k elements a warp, so that no row of theirs is shared by warps. Triton would compute
  // what is not loaded once in every lane: rows of it are reduced to scalars, one a program.
  if (!k_.outer.empty() && std::ranges::none_of(k_.phases, [&](const auto& p) { return reduces_unloaded(p); })) {
    s_.x_block = std::clamp<std::int64_t>(1024 / longest, 1, 64);
    s_.x_block = std::min(s_.x_block, power_at_least(units()));
    while (s_.x_block > 1 && units() / s_.x_block < 2 * target_.multiprocessors) s_.x_block /= 2;
  }
  const std::int64_t elements = s_.x_block * longest;
  s_.warps = static_cast<int>(std::clamp<std::int64_t>(elements / 1024, 1, longest > 8192 ? 16 : 8));
  choose_long_rows();
}

// Rows that are read several times stay in the second-level cache where few programs are in flight: many warps a
// program. Blocks are long, 64 bytes a thread, unless a phase needs many registers.
void TritonChooser::choose_long_rows() {
  int loops = 0, bytes = 2;
  bool light = true;
  for (std::size_t i = 0; i < k_.phases.size(); ++i) {
    const loop::Phase& p = k_.phases[i];
    if (s_.phases[i].form != InnerForm::looped) continue;
    if (length(p) <= kLongestRow) return;
    ++loops;
    int loads = 0, accumulators = 0;
    for (loop::ValueId v = p.begin; v < p.end; ++v) {
      const Value& x = k_.values[static_cast<std::size_t>(v)];
      if (x.op == ScalarOp::combine || x.op == ScalarOp::scan) accumulators += loop::info_of(x.combine).parts;
      if (x.op != ScalarOp::load) continue;
      ++loads;
      bytes = std::max(bytes, byte_size(p_.buffers[static_cast<std::size_t>(x.buffer)].dtype));
    }
    light = light && loads <= 2 && accumulators <= 1;
  }
  if (loops < 2 || s_.x_block > 1) return;
  for (loop::TritonPhase& phase : s_.phases)
    if (phase.form == InnerForm::looped) phase.block = light ? 16384 : 4096;
  s_.warps = light && bytes == 2 ? 16 : 32;
}

// Columns: tiles of 8 or more rows by a contiguous block of columns.
void TritonChooser::choose_columns() {
  const int inner = innermost_axis();
  for (int a = 0; a < static_cast<int>(k_.outer.size()); ++a)
    if (a != inner) s_.x.push_back(a);
  if (inner >= 0) s_.x.push_back(inner);
  s_.x_block = std::clamp<std::int64_t>(power_at_least(units()), 1, 64);
  while (s_.x_block > 16 && units() / s_.x_block < target_.multiprocessors) s_.x_block /= 2;
  for (std::size_t i = 0; i < k_.phases.size(); ++i) {
    const loop::Phase& p = k_.phases[i];
    if (p.inner.empty()) continue;
    const symbolic::Facts facts = loop::facts_of(s_, p_);
    const std::int64_t most = symbolic::range_of(loop::length_of(p, p_), &facts).hi;
    loop::TritonPhase& phase = s_.phases[i];
    phase.form = most <= 64 ? InnerForm::persistent : InnerForm::looped;
    phase.block = phase.form == InnerForm::persistent
                      ? power_at_least(most)
                      : std::clamp<std::int64_t>(power_at_most(length(p)), 16, 8192 / s_.x_block);
    // One tile at a time is enough; long columns of few units take longer ones.
    phase.block = std::min<std::int64_t>(phase.block, 128);
  }
  std::int64_t tile = 1;
  for (const loop::TritonPhase& p : s_.phases) tile = std::max(tile, p.block * s_.x_block);
  s_.warps = static_cast<int>(std::clamp<std::int64_t>(tile / 512, 1, 8));
}

// Hints pay off when the tensors are far larger than the second-level cache.
void TritonChooser::choose_hints() {
  std::int64_t bytes = 0;
  for (const loop::Buffer& b : p_.buffers) {
    std::int64_t n = byte_size(b.dtype);
    for (Expr e : b.sizes) n *= std::max<std::int64_t>(hint_or(e, kUnknown), 1);
    bytes += n;
  }
  if (bytes < 2 * target_.l2_bytes) return;
  int loops = 0;
  bool writes = false;
  for (std::size_t i = 0; i < k_.phases.size(); ++i) {
    loops += s_.phases[i].form == InnerForm::looped;
    writes = writes ||
             (!k_.phases[i].stores.empty() && (k_.outer.empty() || k_.phases[i].inner.size() + is_pointwise(k_) > 0));
  }
  if (!writes) return;
  if (loops < 2) {
    for (loop::TritonPhase& p : s_.phases) p.load = Evict::last;
    return;
  }
  // A row that is read again stays; the last reading lets it go.
  int seen = 0;
  for (loop::TritonPhase& p : s_.phases) {
    if (p.form != InnerForm::looped) continue;
    const bool last = ++seen == loops;
    p.load = last ? Evict::first : Evict::last;
    if (last) p.store = Evict::first;
  }
}

TritonChooser::Form TritonChooser::form() const {
  const auto first = std::find_if(k_.phases.begin(), k_.phases.end(), [](const auto& p) { return !p.inner.empty(); });
  if (first == k_.phases.end()) return loop::is_pointwise(k_) ? Form::tile : Form::units;
  return !has(ScalarOp::scan) && reduces_columns(*first) ? Form::columns : Form::rows;
}

TritonSchedule TritonChooser::run() {
  s_.phases.resize(k_.phases.size());
  form_ = form();
  promise();
  switch (form_) {
    case Form::tile:
      choose_tile();
      break;
    case Form::units:
      for (int a = 0; a < static_cast<int>(k_.outer.size()); ++a) s_.x.push_back(a);
      s_.x_block = k_.outer.empty() ? 1 : 128;
      break;
    case Form::columns:
      choose_columns();
      break;
    case Form::rows:
      choose_rows();
      break;
  }
  choose_hints();
  s_.index_bits = loop::fits_32_bits(k_, p_, loop::facts_of(s_, p_)) ? 32 : 64;
  return s_;
}

}  // namespace

std::vector<std::vector<loop::SizePromise>> further_promises(const Kernel& k, const Program& p,
                                                             const TritonSchedule& s) {
  return TritonChooser(k, p, {}).further(s);
}

TritonSchedule schedule_triton(const Kernel& k, const Program& p, const GpuTarget& target) {
  TritonSchedule s = TritonChooser(k, p, target).run();
  loop::verify(s, k, p);
  return s;
}

}  // namespace stax::schedule
