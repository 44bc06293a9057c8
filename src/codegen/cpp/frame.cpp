// The frame of a kernel: parameters, the range of units, threads.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpp/kernel_emitter.h"
#include "codegen/cpp/spelling.h"

namespace stax::codegen {

using fmt::format;

KernelEmitter::KernelEmitter(const CppKernel& in, int vector_bytes)
    : p_(*in.program),
      k_(*in.kernel),
      s_(*in.schedule),
      symbol_(in.symbol),
      lanes_(vector_bytes / 4),
      vector_bytes_(vector_bytes),
      facts_(in.program->facts),
      expr_(kCppExprSpelling, facts_),
      needs_{"types", "bits", "arith", "loadstore", "reduce", "kernel"},
      vector_(in.kernel->values.size(), 0),
      array_(in.kernel->values.size(), 0),
      crosses_(in.kernel->values.size(), 0) {
  loop::verify(s_, k_);
  const base::Decision possible = can_emit_cpp(p_, k_);
  STAX_CHECK(static_cast<bool>(possible), "kernel " + k_.name + ": " + possible.reason());
  for (int p = 0; p < static_cast<int>(k_.phases.size()); ++p)
    STAX_CHECK(!is_split() || !is_outer() || !loop::overwrites_what_it_loads(k_, p),
               "kernel " + k_.name + ": a team cannot share what it overwrites column by column");
  STAX_CHECK(s_.vector_axis < 0 || s_.chunk > 0 || loop::is_pointwise(k_),
             "kernel " + k_.name + ": the outer form needs a chunk");
  name_symbols();
  find_crossing_values();
  find_kept_rows();
}

// Names of axes must not be those of types (i8, i16, …) or of the variables of the frame.
void KernelEmitter::name_symbols() {
  auto name_axis = [&](const loop::Axis& a) {
    static constexpr std::string_view kTaken[] = {"i8", "i16", "i32",  "i64", "u8",  "u16", "u32", "u64",
                                                  "b8", "f16", "bf16", "f32", "f64", "e",   "n",   "l"};
    for (std::string_view t : kTaken)
      if (a.var.name() == t) names_[a.var] = "axis_" + a.var.name();
  };
  for (const loop::Axis& a : k_.outer) name_axis(a);
  for (const Phase& p : k_.phases)
    for (const loop::Axis& a : p.inner) name_axis(a);
  for (std::size_t v = 0; v < k_.values.size(); ++v)
    if (k_.values[v].op == ScalarOp::bounded) {
      bounded_.emplace(k_.values[v].symbol, static_cast<ValueId>(v));
      names_[k_.values[v].symbol] = format("x{}", v);
    }
}

void KernelEmitter::find_crossing_values() {
  for (const Phase& p : k_.phases) {
    auto use = [&](ValueId v) {
      if (v != kNoValue && v < p.begin) crosses_[static_cast<std::size_t>(v)] = 1;
    };
    auto use_symbols = [&](Expr e) {
      if (!e) return;
      for (Expr s : symbolic::symbols_of(e))
        if (const auto it = bounded_.find(s); it != bounded_.end()) use(it->second);
    };
    for (ValueId v = p.begin; v < p.end; ++v) {
      for (ValueId a : value(v).args) use(a);
      use_symbols(value(v).index);
    }
    for (const Store& s : p.stores) {
      use(s.value);
      use_symbols(s.index);
    }
  }
}

bool KernelEmitter::is_chunked(int axis) const {
  return (axis == s_.vector_axis && s_.chunk > 0) || axis == s_.tile_axis;
}

void KernelEmitter::emit_sizes() {
  std::string text;
  for (std::size_t i = 0; i < p_.sizes.size(); ++i)
    text += format("{}{} = sizes[{}]", i ? ", " : "const i64 ", bare(p_.sizes[i]), i);
  if (!text.empty()) out_.line(text + ";");
}

void KernelEmitter::emit_parameters() {
  emit_sizes();
  std::vector<bool> used(p_.buffers.size(), false), written(p_.buffers.size(), false);
  for (const loop::Access& a : loop::reads_of(k_)) used[static_cast<std::size_t>(a.buffer)] = true;
  for (const loop::Access& a : loop::writes_of(k_))
    used[static_cast<std::size_t>(a.buffer)] = written[static_cast<std::size_t>(a.buffer)] = true;
  bool may_alias = false;  // a written input may be another input too
  for (std::size_t i = 0; i < written.size(); ++i)
    may_alias = may_alias || (written[i] && p_.buffers[i].kind == loop::BufferKind::input);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    const std::string type = format("{}{}*", written[i] ? "" : "const ", memory_type(p_.buffers[i].dtype));
    out_.format_line("{0} {1}buf{2} = ({0})buffers[{2}];", type, may_alias ? "" : "__restrict ", i);
  }
}

std::string KernelEmitter::unit_count() const {
  std::string text;
  for (int axis : s_.order) {
    const loop::Axis& a = k_.outer[static_cast<std::size_t>(axis)];
    std::string count;
    if (is_chunked(axis))
      count = format("v::index_ceil_div({}, {})", text_of(a.extent), axis == s_.tile_axis ? s_.tile : s_.chunk);
    else if (axis != s_.vector_axis)
      count = text_of(a.extent);
    if (!count.empty()) text += (text.empty() ? "" : " * ") + count;
  }
  return text.empty() ? "1" : text;
}

// Elements of the whole kernel: units times the largest phase.
std::string KernelEmitter::work_text() const {
  std::string text;
  for (const loop::Axis& a : k_.outer) text += (text.empty() ? "" : " * ") + text_of(a.extent);
  std::string largest;
  for (const Phase& p : k_.phases) {
    std::string inner;
    for (const loop::Axis& a : p.inner) inner += (inner.empty() ? "" : " * ") + text_of(a.extent);
    if (inner.empty()) continue;
    largest = largest.empty() || largest == inner ? inner : format("v::index_max({}, {})", largest, inner);
  }
  if (!largest.empty()) text += (text.empty() ? "" : " * ") + largest;
  return text.empty() ? "1" : text;
}

namespace {
constexpr std::string_view kArguments = "void* const* buffers, const i64* sizes, const u64* scalars";
}

// Units [begin, end): the first is taken apart into axes by division, the next ones by counting.
void KernelEmitter::emit_unit_loop(const std::function<void()>& body) {
  struct Counter {
    std::string name, count;
  };
  std::vector<Counter> counters;
  std::string bounds;
  for (int axis : s_.order) {
    const loop::Axis& a = k_.outer[static_cast<std::size_t>(axis)];
    const std::string name = bare(a.var), extent = bare(a.extent);
    if (is_chunked(axis)) {
      const bool tile = axis == s_.tile_axis;
      const std::int64_t length = tile ? s_.tile : s_.chunk;
      counters.push_back({name + "_q", format("v::index_ceil_div({}, {})", extent, length)});
      bounds += format("const i64 {0}0 = {1}_q * {2}, {0}1 = v::index_min({0}0 + {2}, {3});\n", tile ? "d" : "c", name,
                       length, extent);
    } else if (axis == s_.vector_axis) {
      bounds += format("const i64 c0 = 0, c1 = {};\n", extent);
    } else {
      counters.push_back({name, extent});
    }
  }
  if (counters.empty()) {
    const auto block = out_.block("if (begin < end) {");
    out_ << bounds;
    body();
    return;
  }
  out_.line("if (begin >= end) return;");
  std::string declared;
  for (const Counter& c : counters) declared += (declared.empty() ? "i64 " : ", ") + c.name;
  out_.format_line("{};", declared);
  out_.line("i64 rest = begin;");
  for (std::size_t i = counters.size(); i-- > 0;) {
    if (i == 0) {
      out_.format_line("{} = rest;", counters[i].name);
    } else {
      out_.format_line("{0} = rest % {1}, rest /= {1};", counters[i].name, "(" + counters[i].count + ")");
    }
  }
  const auto loop = out_.block("for (i64 unit = begin; unit < end; unit++) {");
  out_ << bounds;
  body();
  std::string advance;
  for (std::size_t i = counters.size(); i-- > 1;)
    advance += format("if (++{} == {}) {{ {} = 0; ", counters[i].name, counters[i].count, counters[i].name);
  advance += format("++{};", counters[0].name);
  for (std::size_t i = 1; i < counters.size(); ++i) advance += " }";
  out_.line(advance);
}

// A checked index into nothing has no element to clamp to.
void KernelEmitter::emit_empty_checks() {
  for (std::size_t i = 0; i < k_.values.size(); ++i) {
    const Value& v = k_.values[i];
    if (v.op != ScalarOp::bounded || !v.checked || symbolic::range_of(v.index, &facts_).lo >= 1) continue;
    bool of_sizes = true;
    for (Expr s : symbolic::symbols_of(v.index))
      of_sizes = of_sizes && std::find(p_.sizes.begin(), p_.sizes.end(), s) != p_.sizes.end();
    if (!of_sizes) continue;
    std::string condition = "begin < end";
    for (const loop::Axis& a : k_.phases[static_cast<std::size_t>(loop::phase_of(k_, static_cast<ValueId>(i)))].inner)
      condition += format(" && {} > 0", text_of(a.extent));
    out_.format_line("if ({} && {} <= 0) return {}", condition, text_of(v.index), raise(1, v.origin, "0", "0"));
  }
}

void KernelEmitter::emit_units_function() {
  base::TextWriter body;
  std::swap(out_, body);
  emit_unit_loop([&] {
    if (s_.tile_axis >= 0)
      emit_tiles();
    else
      emit_unit();
    if (is_split()) out_.line("v::barrier(team);");
  });
  std::swap(out_, body);
  const auto function =
      out_.block(format("static void {}_units({}, ErrorWord* error, i64 begin, i64 end{}{}) {{", symbol_, kArguments,
                        any_stream_ ? ", bool stream" : "", is_split() ? ", const Team* team" : ""));
  out_.line("(void)buffers, (void)sizes, (void)scalars, (void)error;");
  emit_parameters();
  emit_empty_checks();
  out_ << array_declarations_;
  out_ << body.str();
  if (any_stream_) out_.line("if (stream) v::fence_stream();");
}

std::string KernelEmitter::stream_text() const {
  std::string bytes;
  for (const Phase& p : k_.phases) {
    if (!s_.phases[static_cast<std::size_t>(&p - k_.phases.data())].stream) continue;
    std::string elements;
    for (const loop::Axis& a : k_.outer) elements += text_of(a.extent) + " * ";
    for (const loop::Axis& a : p.inner) elements += text_of(a.extent) + " * ";
    for (const Store& s : p.stores)
      bytes += (bytes.empty() ? "" : " + ") + elements +
               std::to_string(byte_size(p_.buffers[static_cast<std::size_t>(s.buffer)].dtype));
  }
  return bytes.empty() ? "0" : bytes;
}

void KernelEmitter::emit_entry() {
  const auto function =
      out_.block(format("extern \"C\" void {}({}, int threads, ErrorWord* error) {{", symbol_, kArguments));
  emit_sizes();
  out_.format_line("const i64 units = {};", unit_count());
  out_.line("if (units <= 0) return;");
  out_.format_line("i64 team_size = v::index_min(threads, ({}) / {});", work_text(), s_.grain);
  const std::string stream = any_stream_ ? ", stream" : "";
  if (any_stream_) out_.format_line("const bool stream = {} > {};", stream_text(), s_.stream_bytes);
  if (is_split()) return emit_team(stream);
  out_.line("team_size = v::index_min(team_size, units);");
  {
    const auto serial = out_.block("if (team_size <= 1) {");
    out_.format_line("{}_units(buffers, sizes, scalars, error, 0, units{});", symbol_, stream);
    out_.line("return;");
  }
  out_.line("#pragma omp parallel num_threads((int)team_size)");
  const auto region = out_.block("{");
  out_.line("const i64 thread = omp_get_thread_num(), count = omp_get_num_threads();");
  out_.format_line("{}_units(buffers, sizes, scalars, error, units * thread / count, units * (thread + 1) / count{});",
                   symbol_, stream);
}

// Few units are shared by the threads, many are shared out: then every thread is a team of its own.
void KernelEmitter::emit_team(const std::string& stream) {
  const int slots = std::max(split_slots_, 1);
  const std::int64_t words = is_outer() ? s_.chunk + lanes_ : 8;
  out_.line("if (team_size < 1) team_size = 1;");
  out_.line("const bool alone = units >= 2 * team_size;");
  out_.format_line("u64* const partials = (u64*)__builtin_malloc(sizeof(u64) * {} * team_size);", slots * words);
  {
    out_.line("#pragma omp parallel num_threads((int)team_size) if (team_size > 1)");
    const auto region = out_.block("{");
    out_.line("const i64 thread = omp_get_thread_num(), count = omp_get_num_threads();");
    out_.format_line(
        "const Team team = alone ? Team{{0, 1, 1, partials + thread * {}}} : Team{{thread, count, team_size, "
        "partials}};",
        slots * words);
    out_.format_line(
        "{}_units(buffers, sizes, scalars, error, alone ? units * thread / count : 0, alone ? units * (thread + 1) / "
        "count : units{}, &team);",
        symbol_, stream);
  }
  out_.line("__builtin_free(partials);");
}

std::string KernelEmitter::text() {
  for (const Value& v : k_.values)
    if (v.op == ScalarOp::combine || v.op == ScalarOp::scan) needs_.insert("combine");
  for (std::size_t i = 0; i < k_.phases.size(); ++i)
    any_stream_ = any_stream_ || (s_.phases[i].stream && !k_.phases[i].stores.empty());
  emit_units_function();
  emit_entry();
  return out_.take();
}

}  // namespace stax::codegen
