// The phases of one unit: loops, vector loops with exact tails, bodies.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpp/kernel_emitter.h"

namespace stax::codegen {

using fmt::format;

namespace {

bool is_reverse(const Kernel& k, const Phase& p) {
  for (ValueId v = p.begin; v < p.end; ++v)
    if (k.values[static_cast<std::size_t>(v)].op == ScalarOp::scan && k.values[static_cast<std::size_t>(v)].reverse)
      return true;
  return false;
}

}  // namespace

bool KernelEmitter::is_scan(const Phase& p) const {
  for (ValueId v = p.begin; v < p.end; ++v)
    if (value(v).op == ScalarOp::scan) return true;
  return false;
}

KernelEmitter::Site KernelEmitter::site_of(int number) const {
  Site site;
  site.number = number;
  site.phase = &k_.phases[static_cast<std::size_t>(number)];
  std::vector<std::size_t> order;
  const int vector = is_outer() ? -1 : s_.phases[static_cast<std::size_t>(number)].vector;
  for (std::size_t i = 0; i < site.phase->inner.size(); ++i)
    if (static_cast<int>(i) != vector) order.push_back(i);
  if (vector >= 0) order.push_back(static_cast<std::size_t>(vector));
  for (std::size_t i : order) {
    const loop::Axis& a = site.phase->inner[i];
    site.loops.push_back(a);
    const bool split = is_split() && static_cast<int>(i) == s_.split;
    site.lo.push_back(split ? format("part_lo{}", number) : "0");
    site.hi.push_back(split ? format("part_hi{}", number) : bare(a.extent));
  }
  if (is_outer()) {
    site.loops.push_back(k_.outer[static_cast<std::size_t>(s_.vector_axis)]);
    site.lo.emplace_back("c0");
    site.hi.emplace_back("c1");
  }
  if (!site.loops.empty()) site.axis = site.loops.back().var;
  site.reverse = is_reverse(k_, *site.phase);
  return site;
}

void KernelEmitter::emit_phase(int number) {
  Site site = site_of(number);
  std::vector<Expr> vars;
  for (const loop::Axis& a : site.loops) vars.push_back(a.var);
  const Levels levels(k_, *site.phase, vars,
                      [&](ValueId v) { return array_[static_cast<std::size_t>(v)] ? site.depth() : 0; });
  site.levels = &levels;
  for (ValueId v = 0; v < site.phase->end; ++v) {
    const auto i = static_cast<std::size_t>(v);
    vector_[i] = site.axis && levels.of(v) == site.depth();
    if (v >= site.phase->begin && is_outer())
      array_[i] = loop::is_combined(k_, v) || (site.phase->inner.empty() && vector_[i]);
  }
  if (!site.axis) return emit_scalar_phase(site);
  if (!is_split() || site.phase->inner.empty()) {
    emit_phase_loops(site);
    if (!is_outer()) finish_totals(site);
    return;
  }
  {
    const auto parts = out_.block("for (i64 part = team->thread; part < team->parts; part += team->threads) {");
    const std::string extent = bare(site.phase->inner[static_cast<std::size_t>(s_.split)].extent);
    for (const char* end : {"lo", "hi"})
      out_.format_line("const i64 part_{}{} = v::share({}, part{}, team->parts);", end, number, extent,
                       end[0] == 'l' ? "" : " + 1");
    emit_phase_loops(site);
    if (!is_outer()) publish_totals(site);
  }
  out_.line("v::barrier(team);");
  if (is_outer())
    merge_team_arrays(site);
  else
    merge_team_totals(site);
}

void KernelEmitter::emit_phase_loops(const Site& site) {
  if (is_outer())
    initialise_arrays(site);
  else
    declare_totals(site);
  declare_carries(site);
  const bool accumulate = !is_outer() && !is_blocked(site);
  // What does not vary over the chunk of a phase of single values is a value of the unit: later phases see it.
  const bool unit_values = is_outer() && site.phase->inner.empty();
  if (unit_values) emit_level(site, 0, {});
  auto loops = [&](const std::string& open) {
    const auto block = out_.block(open);
    if (is_outer() && site.depth() == 1) count_step(site);
    if (!unit_values) emit_level(site, 0, {});
    if (accumulate) declare_accumulators(site);
    emit_loops(site, 0);
    if (accumulate) fold_accumulators(site);
    if (is_outer()) flush_sums(site, true);
  };
  std::string fits;
  for (const auto& [id, row] : rows_)
    for (ValueId reader : row.readers)
      if (site.phase->begin <= reader && reader < site.phase->end) {
        kept_.emplace(reader, row.row);
        const std::string one = format("{} <= {}", text_of(row.extent), row.limit);
        if (fits.find(one) == std::string::npos) fits += (fits.empty() ? "" : " && ") + one;
      }
  const std::string guard = guard_of(site);
  if (kept_.empty()) return loops(guard.empty() ? "{" : format("if ({}) {{", guard));
  loops(format("if ({}{}{}) {{", fits, guard.empty() ? "" : " && ", guard));
  kept_.clear();
  loops(guard.empty() ? "else {" : format("else if ({}) {{", guard));
}

// Inner loops that may be empty are skipped whole: invariant loads before them may have no element.
std::string KernelEmitter::guard_of(const Site& site) const {
  std::string condition;
  for (const loop::Axis& a : site.phase->inner)
    if (symbolic::range_of(a.extent, &facts_).lo < 1)
      condition += (condition.empty() ? "" : " && ") + format("{} > 0", text_of(a.extent));
  return condition;
}

// A phase of single values: once for each unit. In a team all threads compute, one stores.
void KernelEmitter::emit_scalar_phase(const Site& site) {
  for (ValueId id = site.phase->begin; id < site.phase->end; ++id) emit_value(site, id, {});
  if (site.phase->stores.empty()) return;
  if (is_split() && loop::overwrites_what_it_loads(k_, site.number)) out_.line("v::barrier(team);");
  {
    const auto block = out_.block(is_split() ? "if (team->thread == 0) {" : "{");
    for (std::size_t i = 0; i < site.phase->stores.size(); ++i) emit_store(site, i, {});
  }
  if (is_split()) out_.line("v::barrier(team);");
}

void KernelEmitter::emit_loops(const Site& site, int depth) {
  const auto d = static_cast<std::size_t>(depth);
  if (depth == site.depth() - 1) {
    const int unroll = s_.phases[static_cast<std::size_t>(site.number)].unroll;
    const bool outer = is_outer();
    auto body = [&](const Copy& copy) { emit_body(site, copy); };
    if (outer || !is_blocked(site)) return emit_vector_loop(site, outer ? 1 : unroll, body);
    // Blocks of the row: bounded error of sums, second passes over what is still in the cache.
    const std::string axis = bare(site.axis), lo = site.lo[d], hi = site.hi[d];
    const auto block =
        out_.block(format("for (i64 block = {}; block < {}; block += {}) {{", lo, hi, block_length(site)));
    out_.format_line("const i64 block_end = v::index_min(block + {}, {});", block_length(site), hi);
    declare_accumulators(site);
    Site inside = site;
    inside.lo[d] = "block";
    inside.hi[d] = "block_end";
    emit_vector_loop(inside, unroll, body);
    fold_accumulators(site);
    return;
  }
  const std::string axis = bare(site.loops[d].var);
  const bool backwards = site.reverse && is_outer();
  const std::string head = backwards
                               ? format("for (i64 {0} = {2} - 1; {0} >= {1}; {0}--) {{", axis, site.lo[d], site.hi[d])
                               : format("for (i64 {0} = {1}; {0} < {2}; {0}++) {{", axis, site.lo[d], site.hi[d]);
  const auto block = out_.block(head);
  if (is_outer() && depth == site.depth() - 2) count_step(site);
  emit_level(site, depth + 1, {});
  emit_loops(site, depth + 1);
  if (is_outer() && depth == site.depth() - 2) flush_sums(site, false);
}

void KernelEmitter::emit_body(const Site& site, const Copy& copy) {
  if (is_outer()) load_unit_values(site);
  emit_level(site, site.depth(), copy);
}

bool KernelEmitter::streams(const Site& site) const {
  return s_.phases[static_cast<std::size_t>(site.number)].stream && !site.phase->stores.empty() && !site.reverse;
}

// Scans go vector by vector, in their direction; the last step has fewer lanes.
void KernelEmitter::emit_scan_loop(const Site& site, const std::function<void(const Copy&)>& body) {
  const auto d = static_cast<std::size_t>(site.depth() - 1);
  const std::string lo = site.lo[d], hi = site.hi[d], axis = bare(site.axis);
  const auto scope = out_.block("{");
  out_.format_line("i64 e = {};", site.reverse ? hi : lo);
  {
    const auto whole = out_.block(site.reverse ? format("for (; e - v::L >= {};) {{", lo)
                                               : format("for (; e + v::L <= {}; e += v::L) {{", hi));
    if (site.reverse) out_.line("e -= v::L;");
    out_.format_line("const i64 {} = e;", axis);
    body({0, false, false});
  }
  const auto rest = out_.block(site.reverse ? format("if (e > {}) {{", lo) : format("if (e < {}) {{", hi));
  if (site.reverse) {
    out_.format_line("const i64 n = e - ({}), {} = {};", lo, axis, lo);
  } else {
    out_.format_line("const i64 n = {} - e, {} = e;", hi, axis);
  }
  body({0, true, false});
}

// " && …" for every store that would stream from element `at` on.
std::string KernelEmitter::aligned_stores(const Site& site, std::string_view at) const {
  std::string text;
  for (std::size_t i = 0; i < site.phase->stores.size(); ++i)
    if (address_of(site, site.phase->stores[i].index).kind == Address::unit)
      text += format(" && v::is_aligned(q{}_{} + {})", site.number, i, at);
  return text;
}

// Whole vectors in copies with accumulators of their own, then one vector of the first n lanes. With streaming stores a
// partial vector comes first that brings the stores to their alignment.
void KernelEmitter::emit_vector_loop(const Site& site, int unroll, const std::function<void(const Copy&)>& body) {
  const auto d = static_cast<std::size_t>(site.depth() - 1);
  const std::string axis = bare(site.axis), lo = site.lo[d], hi = site.hi[d];
  auto copies = [&](bool stream) {
    for (int u = 0; u < unroll; ++u) {
      const auto block = out_.block("{");
      out_.format_line("const i64 {} = e{};", axis, u == 0 ? "" : format(" + {}", u * lanes_));
      body({u, false, stream});
    }
  };
  // A long loop stays a loop: straight-line code gives the processor's prefetcher no stride to follow.
  auto whole_vectors = [&] {
    const std::int64_t least = static_cast<std::int64_t>(4) * unroll * lanes_;
    if (site.loops[d].extent.constant().value_or(least) >= least) out_.line("#pragma GCC unroll 1");
    return out_.block(format("for (; e + {0} <= {1}; e += {0}) {{", unroll * lanes_, hi));
  };
  auto tail = [&] {
    out_.format_line("const i64 {} = e;", axis);
    body({0, true, false});
  };
  if (!is_outer() && is_scan(*site.phase)) return emit_scan_loop(site, body);
  if (streams(site)) {
    const auto scope = out_.block("{");
    const Store& s = site.phase->stores[0];
    const int bytes = byte_size(p_.buffers[static_cast<std::size_t>(s.buffer)].dtype);
    const bool unit = address_of(site, s.index).kind == Address::unit;
    out_.format_line("i64 e = {}, n = {};", lo,
                     unit ? format("stream ? v::lanes_to_alignment(q{}_0 + e, {}) : 0", site.number, bytes) : "0");
    out_.format_line("n = v::index_min(n, {} - e);", hi);
    out_.format_line("const bool stream{} = stream{};", site.number, aligned_stores(site, "e + n"));
    const auto loop = out_.block("for (;; n = 0) {");
    {
      const auto whole = out_.block("if (n == 0) {");
      {
        const auto fast = whole_vectors();
        copies(true);
      }
      out_.format_line("n = v::index_min(v::L, {} - e);", hi);
      out_.line("if (n <= 0) break;");
    }
    {
      const auto rest = out_.block("{");
      tail();
    }
    out_.line("e += n;");
    return;
  }
  const auto scope = out_.block("{");
  out_.format_line("i64 e = {};", lo);
  {
    const auto fast = whole_vectors();
    copies(false);
  }
  const auto rest = out_.block(unroll > 1 ? format("for (; e < {}; e += v::L) {{", hi) : format("if (e < {}) {{", hi));
  out_.format_line("const i64 n = v::index_min(v::L, {} - e);", hi);
  tail();
}

void KernelEmitter::emit_unit() {
  fetch_shared_lines();
  fetch_indirect_rows();
  for (int i = 0; i < static_cast<int>(k_.phases.size()); ++i) {
    out_.format_line("// phase {}", i);
    emit_phase(i);
  }
}

}  // namespace stax::codegen
