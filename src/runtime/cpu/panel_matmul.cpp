#include "runtime/cpu/panel_matmul.h"

#include <algorithm>
#include <atomic>

#include "runtime/cpu/isa.h"
#include "runtime/cpu/openmp.h"
#include "runtime/cpu/team_grid.h"

#if defined(__x86_64__)
#include "runtime/cpu/avx512_block.h"
#endif

namespace stax::runtime::onednn {

#if defined(__x86_64__)

namespace {

constexpr std::int64_t kPanel = 64;                      // columns of a panel; its rows follow each other in memory
constexpr std::int64_t kSerial = std::int64_t{1} << 17;  // multiplications that are not worth a second thread
constexpr std::int64_t kRowsAtOnce = 512;                // stay in the caches while the columns pass
constexpr std::int64_t kMostRows = kRows << 31;          // numbers of blocks fit 32 bits

static_assert(kRows == avx512::kWideRows && kStrip == avx512::kNarrowColumns && kPanel == avx512::kWideColumns);

// Where the strips of a weight are: half panels.
struct Strips {
  const float* data = nullptr;
  std::int64_t count = 0, panel_size = 0;  // elements of a panel
  const float* at(std::int64_t strip) const { return data + strip / 2 * panel_size + strip % 2 * kStrip; }
};

Strips strips_at(const void* data, std::int64_t k, std::int64_t n) {
  return {static_cast<const float*>(data), ceil_div(n, kStrip), ceil_div(k, 16) * 16 * kPanel};
}

struct Span {
  std::int64_t begin, end;
};
Span share(std::int64_t count, std::int64_t member, std::int64_t members) {
  return {count * member / members, count * (member + 1) / members};
}

avx512::Epilogue epilogue_at(const MatmulProblem& p, std::int64_t row, std::int64_t column) {
  avx512::Epilogue e{};
  e.bias = p.bias.data ? static_cast<const float*>(p.bias.data) + column : nullptr;
  e.residual = p.residual.data ? static_cast<const float*>(p.residual.data) + row * p.residual.rows + column : nullptr;
  e.residual_step = p.residual.rows;
  e.out = static_cast<float*>(p.out.data) + row * p.out.rows + column;
  e.out_step = p.out.rows;
  e.scale = static_cast<float>(p.scale);
  e.gelu = p.activation == Activation::gelu_erf;
  for (int part = 0; part < 4; ++part) e.active[part] = avx512::first_lanes(p.n - column - 16 * part);
  return e;
}

// Rows times one strip or, where `wide`, two strips of a panel. The last blocks fetch the strips at `ahead`, each some
// of the cache lines of a row.
void run_strips(const MatmulProblem& p, Span rows, std::int64_t column, bool wide, const float* strip,
                const float* ahead) {
  const auto* a = static_cast<const float*>(p.a.data);
  const std::int64_t most = wide ? avx512::kWideRows : avx512::kNarrowRows, lines = wide ? 4 : 2;
  const auto* forms = wide ? avx512::kWideBlocks : avx512::kNarrowBlocks;
  const std::int64_t blocks = ceil_div(rows.end - rows.begin, most);
  const std::int64_t fetching = std::min(blocks, lines);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const Span block = share(rows.end - rows.begin, i, blocks);
    const std::int64_t row = rows.begin + block.begin, fetcher = i - (blocks - fetching);
    avx512::Ahead fetch;
    if (fetcher >= 0) {
      const Span part = share(lines, fetcher, fetching);
      fetch = {ahead, static_cast<int>(part.begin), static_cast<int>(part.end - part.begin)};
    }
    forms[block.end - block.begin - 1](a + row * p.a.rows, p.a.rows, strip, kPanel, p.k, epilogue_at(p, row, column),
                                       fetch);
  }
}

bool fits(const MatmulProblem& p, const PackedWeight& w) {
  if (p.dtype != Dtype::f32 || !p.batch.empty() || p.m < 1 || p.m > kMostRows || p.k < 1) return false;
  if (p.activation != Activation::none && p.activation != Activation::gelu_erf) return false;
  if (p.a.columns != 1 || p.out.columns != 1 || (p.residual.data && p.residual.columns != 1)) return false;
  if (p.bias.data && (p.bias.columns != 1 || (p.m > 1 && p.bias.rows != 0))) return false;
  static const bool wide = cpu_supports("avx512");
  return wide && w.panels;
}

// The weight that the calling thread used last: a model uses its weights in the same order call after call.
std::weak_ptr<PackedWeight>& last_used() {
  thread_local std::weak_ptr<PackedWeight> last;
  return last;
}

// Blocks of rows that the team has not yet taken. Each member starts with an equal share: the kernels around a product
// share rows in the same way, so what it reads and writes is in the caches of its core. It takes ever smaller pieces,
// and at the end some of what the others have left, so that one whose core is slowed down does less.
class Rows {
 public:
  Rows(std::int64_t m, std::int64_t members) : m_(m), members_(std::min(members, kMembers)) {
    const std::int64_t blocks = ceil_div(m, kRows);
    for (std::int64_t i = 0; i < members_; ++i) {
      const Span s = share(blocks, i, members_);
      left_[i].blocks = pack(s);
    }
  }

  // Empty at the end.
  Span take(std::int64_t member) {
    for (std::int64_t i = 0; i < members_; ++i) {
      const Span s = take_from(left_[(member + i) % members_].blocks, i == 0);
      if (s.begin < s.end) return {s.begin * kRows, std::min(m_, s.end * kRows)};
    }
    return {m_, m_};
  }

 private:
  static constexpr std::int64_t kMembers = 64;
  static constexpr std::int64_t kFewest = 6, kMost = 86;  // blocks: 36 and 516 rows

  static std::uint64_t pack(Span s) {
    return static_cast<std::uint64_t>(s.begin) << 32 | static_cast<std::uint64_t>(s.end);
  }

  // From the front of what is its own, from the end of what is not.
  static Span take_from(std::uint64_t& left_blocks, bool own) {
    const std::atomic_ref blocks(left_blocks);
    std::uint64_t old = blocks.load(std::memory_order_relaxed);
    Span left{}, taken{};
    do {
      left = {static_cast<std::int64_t>(old >> 32), static_cast<std::int64_t>(old & 0xffffffff)};
      if (left.begin >= left.end) return {0, 0};
      const std::int64_t count =
          std::min(left.end - left.begin, std::clamp((left.end - left.begin) / 2, kFewest, kMost));
      taken = own ? Span{left.begin, left.begin + count} : Span{left.end - count, left.end};
      left = own ? Span{taken.end, left.end} : Span{left.begin, taken.begin};
    } while (!blocks.compare_exchange_weak(old, pack(left), std::memory_order_relaxed));
    return taken;
  }

  struct alignas(64) Left {
    std::uint64_t blocks;
  };
  const std::int64_t m_, members_;
  Left left_[kMembers];  // of the first members_; the others are not touched
};

// Few rows wait for the weight: narrow strips come in a steadier stream.
bool is_few(std::int64_t rows) { return rows <= 2 * avx512::kNarrowRows; }

// Rows times the strips of one member; fetches the strip `after` at the end.
void run_rows(const MatmulProblem& p, Span rows, const Strips& strips, Span mine, const float* after) {
  const bool few = is_few(rows.end - rows.begin);
  for (std::int64_t i = mine.begin, step = 1; i < mine.end; i += step) {
    step = !few && i % 2 == 0 && i + 1 < mine.end ? 2 : 1;
    run_strips(p, rows, i * kStrip, step == 2, strips.at(i), i + step < mine.end ? strips.at(i + step) : after);
  }
}

// Strips of few rows, whole panels where that makes no thread do more: the two strips of a panel are halves of pairs of
// cache lines, which the processor fetches together.
struct Units {
  std::int64_t width = 1, count = 0;  // width: strips
  std::int64_t strip(std::int64_t unit) const { return unit * width; }
};

Units units_of(std::int64_t strips, std::int64_t threads) {
  const std::int64_t panels = ceil_div(strips, 2);
  if (2 * ceil_div(panels, threads) > ceil_div(strips, threads)) return {1, strips};
  return {2, panels};
}

// Units that the team has not yet taken. A member's own are the same in every call, so that its last-level cache may
// still have some; at the end it takes what others have left. They lie in turns, not side by side: members that read
// nearby share the memory's open pages.
class Turns {
 public:
  Turns(std::int64_t units, std::int64_t members) : units_(units), members_(std::min(members, kMost)) {
    for (std::int64_t i = 0; i < members_; ++i) taken_[i].count = 0;
  }

  // `units` at the end.
  std::int64_t take(std::int64_t member) {
    for (std::int64_t i = 0; i < members_; ++i) {
      const std::int64_t owner = (member + i) % members_;
      const std::atomic_ref count(taken_[owner].count);
      const std::int64_t unit = owner + members_ * count.fetch_add(1, std::memory_order_relaxed);
      if (unit < units_) return unit;
    }
    return units_;
  }

 private:
  static constexpr std::int64_t kMost = 64;

  struct alignas(64) Taken {
    std::int64_t count;
  };
  const std::int64_t units_, members_;
  Taken taken_[kMost];  // of the first members_; the others are not touched
};

// What the members of a team take from one another.
struct Work {
  Work(std::int64_t m, Units units, std::int64_t members)
      : rows(m, members), units(units), turns(units.count, members) {}
  Rows rows;
  const Units units;
  Turns turns;
};

// All rows, few, times the units of one member; fetches the strip `after` at the end.
void run_few(const MatmulProblem& p, const Strips& strips, const float* after, Work& work, int thread) {
  const Units units = work.units;
  for (std::int64_t unit = work.turns.take(thread); unit < units.count;) {
    const std::int64_t then = work.turns.take(thread);
    const float* following = then < units.count ? strips.at(units.strip(then)) : after;
    const std::int64_t end = std::min(units.strip(unit + 1), strips.count);
    for (std::int64_t i = units.strip(unit); i < end; ++i)
      run_strips(p, {0, p.m}, i * kStrip, false, strips.at(i), i + 1 < end ? strips.at(i + 1) : following);
    unit = then;
  }
}

// One member's part. `next`: the strips of the weight that is expected to follow.
void run_part(const MatmulProblem& p, const Strips& strips, const Strips& next, Work& work, int thread, int threads) {
  const TeamGrid grid = team_grid(threads, p.m, p.n, p.k);
  // Fetching never faults: the weight that followed may be gone.
  if (grid.rows == 1 && is_few(p.m)) {
    const Strips& following = next.data ? next : strips;
    run_few(p, strips, following.at(units_of(following.count, threads).strip(thread)), work, thread);
    return;
  }
  const std::int64_t column = thread % grid.columns;
  const Span mine = share(strips.count, column, grid.columns);
  const float* following = next.data ? next.at(share(next.count, column, grid.columns).begin) : strips.at(mine.begin);
  if (grid.columns == 1) {
    for (Span rows = work.rows.take(thread); rows.begin < rows.end;) {
      const Span then = work.rows.take(thread);
      run_rows(p, rows, strips, mine, then.begin < then.end ? strips.at(mine.begin) : following);
      rows = then;
    }
    return;
  }
  const Span rows = share(p.m, thread / grid.columns, grid.rows);
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += kRowsAtOnce) {
    const Span part{begin, std::min(rows.end, begin + kRowsAtOnce)};
    run_rows(p, part, strips, mine, part.end < rows.end ? strips.at(mine.begin) : following);
  }
}

}  // namespace

bool panel_matmul(const MatmulProblem& p, const std::shared_ptr<PackedWeight>& weight, int threads) {
  if (!fits(p, *weight)) return false;
  if (const auto last = last_used().lock(); last && last != weight) last->next.set(weight->bytes.data(), p.k, p.n);
  last_used() = weight;
  const auto& after = weight->next;
  const Strips strips = strips_at(weight->bytes.data(), p.k, p.n),
               next = strips_at(after.data.load(std::memory_order_relaxed), after.k.load(std::memory_order_relaxed),
                                after.n.load(std::memory_order_relaxed));
  const std::int64_t units = strips.count * ceil_div(p.m, kRows);
  const int team = p.m * p.n * p.k <= kSerial ? 1 : static_cast<int>(std::min<std::int64_t>(threads, units));
  Work work(p.m, units_of(strips.count, team), team);
#pragma omp parallel num_threads(team) if (team > 1)
  run_part(p, strips, next, work, omp_get_thread_num(), omp_get_num_threads());
  return true;
}

#else

bool panel_matmul(const MatmulProblem&, const std::shared_ptr<PackedWeight>&, int) { return false; }

#endif

}  // namespace stax::runtime::onednn
