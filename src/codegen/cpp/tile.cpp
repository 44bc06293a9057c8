// The tiled form: a unit is a rectangle of the vectorised axis and the tile axis. Loads that are contiguous along the
// tile axis come in squares of L vectors and are transposed in registers; everything else is the outer form, row by
// row.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpp/kernel_emitter.h"

namespace stax::codegen {

using fmt::format;

bool KernelEmitter::is_turned(const Site& site, const Value& v) const {
  if (v.op != ScalarOp::load) return false;
  const Dtype t = p_.buffers[static_cast<std::size_t>(v.buffer)].dtype;
  if (byte_size(compute_dtype(t)) != 4 && t != Dtype::boolean) return false;
  const Address a = address_of(site, v.index);
  if (a.kind != Address::strided || a.level != 1) return false;
  const auto along_tile = symbolic::linear_in(v.index, site.loops[0].var);
  return along_tile && along_tile->coefficient.is_constant(1);
}

// Whole squares are apart from the others, so that m stays in registers.
void KernelEmitter::emit_square(const Site& site, ValueId id, bool whole, const std::vector<ValueId>& fetched) {
  const Value& v = value(id);
  const Address a = address_of(site, v.index);
  const auto type = memory_type(p_.buffers[static_cast<std::size_t>(v.buffer)].dtype);
  SymbolNames corner = names_;
  corner[site.axis] = "e";
  corner[site.loops[0].var] = "g";
  const std::string stride = text_of(a.coefficient);
  out_.format_line("{} m{}[v::L];", vector_type(v.dtype), id);
  {
    const auto block = out_.block("{");
    out_.format_line("const {}* const s = buf{} + {};", type, v.buffer, expr_(v.index, corner));
    if (whole) {
      out_.format_line("#pragma GCC unroll {}", lanes_);
      const auto rows = out_.block("for (i64 j = 0; j < v::L; j++) {");
      if (s_.phases[0].ahead > 0) emit_pace(id, fetched);
      out_.format_line("m{}[j] = v::load(s + j * {});", id, stride);
      if (s_.phases[0].ahead > 0) fetch_next_line(site, id);
      for (ValueId f : fetched) fetch_next_square(site, f);
    } else {
      out_.format_line("for (i64 j = 0; j < v::L; j++) m{}[j] = {}{{}};", id, vector_type(v.dtype));
      out_.format_line("for (i64 j = 0; j < n; j++) m{}[j] = v::load_part(s + j * {}, rows);", id, stride);
    }
  }
  out_.format_line("v::transpose(m{});", id);
}

// Links of the pace before what a row of a square fetches: two for each line that comes.
void KernelEmitter::emit_pace(ValueId turned, const std::vector<ValueId>& fetched) {
  constexpr std::int64_t kLine = 64, kLinksALine = 2;
  std::int64_t bytes = 0;
  const auto add = [&](ValueId v) {
    bytes += lanes_ * byte_size(p_.buffers[static_cast<std::size_t>(value(v).buffer)].dtype);
  };
  add(turned);
  for (ValueId v : fetched) add(v);
  out_.format_line("pace = v::later<{}>(pace);", bytes * kLinksALine / kLine);
}

// One line of the next unit's rectangle for each row of this square, so many that the end of the rectangle is reached
// with the end of this one. Whole rows, because pieces of a line each are slower from memory; into the second cache,
// because the first one has few sets for rows that are a power of two apart and loses what finds none free.
void KernelEmitter::fetch_next_line(const Site& site, ValueId id) {
  constexpr std::int64_t kLine = 64;
  const Value& v = value(id);
  const Dtype t = p_.buffers[static_cast<std::size_t>(v.buffer)].dtype;
  const auto parts = [](std::int64_t n, std::int64_t size) { return (n + size - 1) / size; };
  const std::int64_t run = parts(s_.tile * byte_size(t), kLine);  // lines of a row
  const std::int64_t chunk = s_.chunk > 0 ? s_.chunk : s_.tile;
  const std::int64_t squares = parts(s_.tile, lanes_) * parts(chunk, lanes_);
  std::int64_t share = parts(run * chunk, squares);  // lines a square
  if (share >= run) share = parts(share, run) * run;
  const std::int64_t rest = parts(run, share);  // squares a row, where a row is longer than a share
  const auto some = out_.block(share < lanes_ ? format("if (j < {}) {{", share) : "{");
  SymbolNames corner = names_;
  corner[site.axis] = "row";
  corner[site.loops[0].var] = "d0_next";
  if (share >= run)
    out_.format_line("const i64 row = c0_next + square * {} + j / {}, line = j % {};", share / run, run, run);
  else
    out_.format_line("const i64 row = c0_next + square / {}, line = square % {} * {} + j;", rest, rest, share);
  out_.format_line("__builtin_prefetch(buf{} + {} + line * {} + pace, 0, 2);", v.buffer, expr_(v.index, corner),
                   kLine / byte_size(t));
}

// A load along the lanes, from addresses that no value decides.
bool KernelEmitter::is_fetched(const Site& site, ValueId id) const {
  const Value& v = value(id);
  if (s_.phases[0].ahead == 0 || v.op != ScalarOp::load || !is_vector(id) || is_turned(site, v)) return false;
  const auto symbols = symbolic::symbols_of(v.index);
  return address_of(site, v.index).kind == Address::unit &&
         std::none_of(symbols.begin(), symbols.end(), [&](Expr s) { return bounded_.contains(s); });
}

// Row j of a square that comes soon.
void KernelEmitter::fetch_next_square(const Site& site, ValueId id) {
  const Value& v = value(id);
  SymbolNames soon = names_;
  soon[site.axis] = "e_soon";
  soon[site.loops[0].var] = "(g_soon + j)";
  out_.format_line("__builtin_prefetch(buf{} + {} + pace, 0, 2);", v.buffer, expr_(v.index, soon));
}

void KernelEmitter::emit_square_rows(const Site& site, Rows rows) {
  const bool whole = rows != Rows::part;
  if (whole && s_.phases[0].unroll > 1) out_.format_line("#pragma GCC unroll {}", lanes_);
  const auto loop = out_.block(format("for (i64 k = 0; k < {}; k++) {{", whole ? "v::L" : "rows"));
  out_.format_line("const i64 {} = g + k;", bare(site.loops[0].var));
  emit_level(site, 1, {});
  out_.format_line("const i64 {} = e;", bare(site.axis));
  const Copy copy{0, !whole, s_.phases[0].stream && whole};
  if (copy.stream)
    out_.format_line("const bool stream0 = {};",
                     rows == Rows::aligned ? "true" : "stream" + aligned_stores(site, position(site)));
  emit_level(site, 2, copy);
}

// Whether all rows of a whole square may be streamed: the first two are aligned and all are as far apart. Empty:
// unknown.
std::string KernelEmitter::aligned_square(const Site& site) const {
  if (!s_.phases[0].stream) return {};
  std::string text = "stream";
  for (const Store& s : site.phase->stores) {
    const auto symbols = symbolic::symbols_of(s.index);
    if (std::any_of(symbols.begin(), symbols.end(), [&](Expr e) { return bounded_.contains(e); })) return {};
    if (address_of(site, s.index).kind != Address::unit) continue;
    if (!symbolic::linear_in(s.index, site.loops[0].var)) return {};
    for (const char* row : {"g", "(g + 1)"}) {
      SymbolNames first = names_;
      first[site.axis] = "e";
      first[site.loops[0].var] = row;
      text += format(" && v::is_aligned(buf{} + {})", s.buffer, expr_(s.index, first));
    }
  }
  return text;
}

// The compiler would share addresses among squares and bodies, more than there are registers: a square that reads them
// back from the stack is half as long again.
void KernelEmitter::emit_whole_square(const Site& site, const std::vector<ValueId>& turned,
                                      const std::vector<ValueId>& fetched, Rows rows) {
  out_.format_line("v::hide(g, e{});", s_.phases[0].ahead > 0 ? ", g_soon, e_soon, square" : "");
  for (ValueId v : turned) emit_square(site, v, true, v == turned.front() ? fetched : std::vector<ValueId>{});
  emit_square_rows(site, rows);
}

void KernelEmitter::emit_tiles() {
  needs_.insert("square");
  Site site;
  site.phase = &k_.phases[0];
  for (int axis : {s_.tile_axis, s_.vector_axis}) site.loops.push_back(k_.outer[static_cast<std::size_t>(axis)]);
  site.lo = {"d0", "c0"};
  site.hi = {"d1", "c1"};
  site.axis = site.loops.back().var;
  const Levels levels(k_, *site.phase, {site.loops[0].var, site.loops[1].var}, [](ValueId) { return 0; });
  site.levels = &levels;
  for (ValueId v = 0; v < site.phase->end; ++v) vector_[static_cast<std::size_t>(v)] = levels.of(v) == site.depth();
  std::vector<ValueId> turned, fetched;
  for (ValueId v = site.phase->begin; v < site.phase->end; ++v) {
    if (is_vector(v) && is_turned(site, value(v))) turned.push_back(v);
    if (is_fetched(site, v)) fetched.push_back(v);
  }
  for (ValueId v : turned) turned_.emplace(v, format("m{}[k]", v));

  const int ahead = s_.phases[0].ahead;
  emit_level(site, 0, {});
  if (ahead > 0) {
    out_.format_line("const bool row_ends = c1 == {};", bare(site.loops[1].extent));
    out_.line("const i64 c0_next = row_ends ? 0 : c1, d0_next = row_ends ? d1 : d0;");
    out_.line("i64 square = 0, pace = 0;");
  }
  const auto across = out_.block("for (i64 g0 = d0; g0 < d1; g0 += v::L) {");
  out_.line("const i64 rows = v::index_min(v::L, d1 - g0);");
  const auto along = out_.block("for (i64 e0 = c0; e0 < c1; e0 += v::L) {");
  out_.line("const i64 n = v::index_min(v::L, c1 - e0);");
  out_.line("i64 g = g0, e = e0;");
  if (ahead > 0) {
    out_.format_line("i64 e_soon = e + {} * v::L, g_soon = g;", ahead);
    out_.line("if (e_soon >= c1) e_soon -= c1 - c0, g_soon += v::L;");
    out_.line("if (g_soon >= d1) e_soon += c0_next - c0, g_soon = d0_next;");
  }
  out_.line("const bool whole = n == v::L && rows == v::L;");
  const std::string aligned = aligned_square(site);
  if (!aligned.empty()) {
    const auto streamed = out_.block(format("if (whole && {}) {{", aligned));
    emit_whole_square(site, turned, fetched, Rows::aligned);
  }
  {
    const auto whole = out_.block(format("{}if (whole) {{", aligned.empty() ? "" : "else "));
    emit_whole_square(site, turned, fetched, Rows::whole);
  }
  {
    const auto part = out_.block("else {");
    for (ValueId v : turned) emit_square(site, v, false, {});
    emit_square_rows(site, Rows::part);
  }
  if (ahead > 0) out_.line("square++;");
}

}  // namespace stax::codegen
