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

void KernelEmitter::emit_square(const Site& site, ValueId id) {
  const Value& v = value(id);
  const Address a = address_of(site, v.index);
  const auto type = memory_type(p_.buffers[static_cast<std::size_t>(v.buffer)].dtype);
  SymbolNames corner = names_;
  corner[site.axis] = "e";
  corner[site.loops[0].var] = "g";
  const std::string stride = text_of(a.coefficient);
  out_.format_line("{} m{}[v::L];", vector_type(v.dtype), id);
  const auto block = out_.block("{");
  out_.format_line("const {}* const s = buf{} + {};", type, v.buffer, expr_(v.index, corner));
  {
    const auto whole = out_.block("if (n == v::L && rows == v::L) {");
    out_.format_line("#pragma GCC unroll {}", lanes_);
    out_.format_line("for (i64 j = 0; j < v::L; j++) m{}[j] = v::load(s + j * {});", id, stride);
  }
  {
    const auto part = out_.block("else {");
    out_.format_line("for (i64 j = 0; j < v::L; j++) m{}[j] = {}{{}};", id, vector_type(v.dtype));
    out_.format_line("for (i64 j = 0; j < n; j++) m{}[j] = v::load_part(s + j * {}, rows);", id, stride);
  }
  out_.format_line("v::transpose(m{});", id);
}

// Rows of the next unit's rectangle, so many a square that its end is reached with the end of this one. They go to the
// second cache: the first one has few sets for rows that are a power of two apart.
void KernelEmitter::fetch_next_rows(const Site& site, ValueId id) {
  const Value& v = value(id);
  const Dtype t = p_.buffers[static_cast<std::size_t>(v.buffer)].dtype;
  const std::int64_t square = static_cast<std::int64_t>(lanes_) * lanes_;
  const std::int64_t rows = std::max<std::int64_t>(square / s_.tile, 1);
  const std::int64_t squares = std::max<std::int64_t>(s_.tile / square, 1);
  SymbolNames corner = names_;
  corner[site.axis] = "row";
  corner[site.loops[0].var] = "d0_next";
  const auto due = out_.block(squares > 1 ? format("if (square % {} == 0) {{", squares) : "{");
  const auto each = out_.block(format("for (i64 r = 0; r < {}; r++) {{", rows));
  out_.format_line("const i64 row = c0_next + square / {} * {} + r;", squares, rows);
  out_.format_line("const {}* const s = buf{} + {};", memory_type(t), v.buffer, expr_(v.index, corner));
  out_.format_line("#pragma GCC unroll {}", lanes_);
  out_.format_line("for (i64 j = 0; j < {}; j += {}) __builtin_prefetch(s + j, 0, 2);", s_.tile, 64 / byte_size(t));
}

// The same row of a square that comes soon, for a load along the lanes.
void KernelEmitter::fetch_next_square(const Site& site, ValueId id) {
  const Value& v = value(id);
  SymbolNames soon = names_;
  soon[site.axis] = "e_soon";
  soon[site.loops[0].var] = "(g_soon + k)";
  out_.format_line("__builtin_prefetch(buf{} + {});", v.buffer, expr_(v.index, soon));
}

void KernelEmitter::emit_square_rows(const Site& site, bool whole) {
  if (whole && s_.phases[0].unroll > 1) out_.format_line("#pragma GCC unroll {}", lanes_);
  const auto loop = out_.block(format("for (i64 k = 0; k < {}; k++) {{", whole ? "v::L" : "rows"));
  out_.format_line("const i64 {} = g + k;", bare(site.loops[0].var));
  emit_level(site, 1, {});
  out_.format_line("const i64 {} = e;", bare(site.axis));
  const Copy copy{0, !whole, s_.phases[0].stream && whole};
  if (copy.stream) out_.format_line("const bool stream0 = stream{};", aligned_stores(site, position(site)));
  emit_level(site, 2, copy);
}

void KernelEmitter::emit_tiles() {
  needs_.insert("transpose");
  Site site;
  site.phase = &k_.phases[0];
  for (int axis : {s_.tile_axis, s_.vector_axis}) site.loops.push_back(k_.outer[static_cast<std::size_t>(axis)]);
  site.lo = {"d0", "c0"};
  site.hi = {"d1", "c1"};
  site.axis = site.loops.back().var;
  const Levels levels(k_, *site.phase, {site.loops[0].var, site.loops[1].var}, [](ValueId) { return 0; });
  site.levels = &levels;
  for (ValueId v = 0; v < site.phase->end; ++v) vector_[static_cast<std::size_t>(v)] = levels.of(v) == site.depth();
  std::vector<ValueId> turned;
  for (ValueId v = site.phase->begin; v < site.phase->end; ++v)
    if (vector_[static_cast<std::size_t>(v)] && is_turned(site, value(v))) turned.push_back(v);
  for (ValueId v : turned) turned_.emplace(v, format("m{}[k]", v));

  const int ahead = s_.phases[0].ahead;
  emit_level(site, 0, {});
  if (ahead > 0) {
    out_.format_line("const bool row_ends = c1 == {};", bare(site.loops[1].extent));
    out_.line("const i64 c0_next = row_ends ? 0 : c1, d0_next = row_ends ? d1 : d0;");
    out_.line("i64 square = 0;");
  }
  const auto across = out_.block("for (i64 g = d0; g < d1; g += v::L) {");
  out_.line("const i64 rows = v::index_min(v::L, d1 - g);");
  const auto along = out_.block("for (i64 e = c0; e < c1; e += v::L) {");
  out_.line("const i64 n = v::index_min(v::L, c1 - e);");
  if (ahead > 0) {
    for (ValueId v : turned) fetch_next_rows(site, v);
    out_.line("square++;");
    out_.format_line("i64 e_soon = e + {} * v::L, g_soon = g;", ahead);
    out_.line("if (e_soon >= c1) e_soon -= c1 - c0, g_soon += v::L;");
    out_.line("if (g_soon >= d1) e_soon += c0_next - c0, g_soon = d0_next;");
  }
  for (ValueId v : turned) emit_square(site, v);
  {
    const auto whole = out_.block("if (n == v::L && rows == v::L) {");
    emit_square_rows(site, true);
  }
  const auto part = out_.block("else {");
  emit_square_rows(site, false);
}

}  // namespace stax::codegen
