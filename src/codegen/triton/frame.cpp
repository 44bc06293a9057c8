// Parameters, program ids, index vectors, phases.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_set>

#include "codegen/common/same_value.h"
#include "codegen/triton/helpers.h"
#include "codegen/triton/kernel_emitter.h"
#include "codegen/triton/spelling.h"

namespace stax::codegen {

using fmt::format;

TritonEmitter::TritonEmitter(const Program& p, const Kernel& k, const loop::TritonSchedule& s,
                             const std::vector<std::string>& operators)
    : p_(p), k_(k), s_(s), operators_(operators), facts_(loop::facts_of(s, p)), expr_(kTritonExprSpelling, facts_) {
  for (const Phase& phase : k.phases) has_inner_ = has_inner_ || !phase.inner.empty();
  for (const Value& v : k.values) {
    const bool division = is_integral(v.dtype) && (v.op == ScalarOp::floor_div || v.op == ScalarOp::trunc_div ||
                                                   v.op == ScalarOp::floor_mod || v.op == ScalarOp::trunc_mod);
    needs_error_ = needs_error_ || (v.op == ScalarOp::bounded && v.checked) || division;
  }
  std::map<std::int64_t, std::string> names;  // equal blocks share a name
  for (std::size_t i = 0; i < k.phases.size(); ++i) {
    if (k.phases[i].inner.empty()) {
      block_names_.emplace_back();
      continue;
    }
    const auto [it, fresh] = names.try_emplace(s.phases[i].block, format("R{}_BLOCK", names.size()));
    block_names_.push_back(it->second);
  }
  find_dimensions();
  find_reused_values();
  find_needed_values();
}

unsigned TritonEmitter::dims_of(Expr e) const {
  unsigned dims = 0;
  for (Expr s : symbolic::symbols_of(e)) {
    if (const auto axis = axis_dims_.find(s); axis != axis_dims_.end()) dims |= axis->second;
    if (const auto b = bounded_.find(s); b != bounded_.end()) dims |= dims_of(b->second);
  }
  return dims;
}

void TritonEmitter::find_dimensions() {
  for (int a : s_.y) axis_dims_[k_.outer[static_cast<std::size_t>(a)].var] = kY;
  for (int a : s_.x) axis_dims_[k_.outer[static_cast<std::size_t>(a)].var] = kX;
  for (const Phase& p : k_.phases)
    for (const loop::Axis& a : p.inner) axis_dims_[a.var] = kR;
  dims_.assign(k_.values.size(), 0);
  const unsigned unit = has_inner_ ? unsigned{kX} : 0;
  for (std::size_t i = 0; i < k_.values.size(); ++i) {
    const Value& v = k_.values[i];
    unsigned d = v.index ? dims_of(v.index) : 0;
    for (ValueId a : v.args)
      if (a != kNoValue) d |= dims_of(a);
    if (v.op == ScalarOp::combine) d = unit;
    if (v.op == ScalarOp::scan) d = kX | kR;
    if (v.op == ScalarOp::bounded && v.symbol) bounded_[v.symbol] = static_cast<ValueId>(i);
    dims_[i] = d;
  }
}

// In persistent blocks of equal length a value that an earlier phase has computed is there still.
void TritonEmitter::find_reused_values() {
  for (ValueId later = 0; later < static_cast<ValueId>(k_.values.size()); ++later) {
    const auto a = static_cast<std::size_t>(loop::phase_of(k_, later));
    const Value& v = value(later);
    if (s_.phases[a].form != InnerForm::persistent || !(dims_of(later) & kR) || v.op == ScalarOp::combine ||
        v.op == ScalarOp::scan)
      continue;
    for (ValueId earlier = 0; earlier < k_.phases[a].begin; ++earlier) {
      const auto b = static_cast<std::size_t>(loop::phase_of(k_, earlier));
      if (value(earlier).op != v.op || s_.phases[b].form != InnerForm::persistent ||
          s_.phases[a].block != s_.phases[b].block)
        continue;
      if (!same_value(k_, later, earlier)) continue;
      const auto first = reused_.find(earlier);
      reused_[later] = first == reused_.end() ? earlier : first->second;
      break;
    }
  }
}

void TritonEmitter::find_needed_values() {
  needed_.assign(k_.values.size(), 0);
  std::function<void(ValueId)> need = [&](ValueId id) {
    if (id == kNoValue) return;
    if (const auto r = reused_.find(id); r != reused_.end()) id = r->second;
    if (needed_[static_cast<std::size_t>(id)]) return;
    needed_[static_cast<std::size_t>(id)] = 1;
    const Value& v = value(id);
    for (ValueId a : v.args) need(a);
    if (v.index)
      for (Expr s : symbolic::symbols_of(v.index))
        if (const auto b = bounded_.find(s); b != bounded_.end()) need(b->second);
  };
  for (const Phase& p : k_.phases)
    for (const Store& s : p.stores) {
      need(s.value);
      for (Expr e : symbolic::symbols_of(s.index))
        if (const auto b = bounded_.find(e); b != bounded_.end()) need(b->second);
    }
  // Checks are effects.
  for (std::size_t i = 0; i < k_.values.size(); ++i)
    if (value(static_cast<ValueId>(i)).op == ScalarOp::bounded && value(static_cast<ValueId>(i)).checked &&
        !reused_.contains(static_cast<ValueId>(i)))
      need(static_cast<ValueId>(i));
}

std::vector<TritonParameter> TritonEmitter::parameters() const {
  std::set<int> buffers, scalars;
  std::unordered_set<Expr> symbols;
  auto mention = [&](Expr e) {
    for (Expr s : symbolic::symbols_of(e)) symbols.insert(s);
  };
  for (const loop::Axis& a : k_.outer) mention(a.extent);
  for (const Phase& p : k_.phases) {
    for (const loop::Axis& a : p.inner) mention(a.extent);
    for (const Store& s : p.stores) {
      buffers.insert(s.buffer);
      mention(s.index);
    }
  }
  for (const Value& v : k_.values) {
    if (v.index) mention(v.index);
    if (v.op == ScalarOp::load) buffers.insert(v.buffer);
    if (v.op == ScalarOp::scalar || v.op == ScalarOp::random) scalars.insert(v.scalar);
  }
  std::vector<TritonParameter> all;
  for (int b : buffers) {
    const bool aligned = std::find(s_.aligned.begin(), s_.aligned.end(), b) != s_.aligned.end();
    all.push_back({TritonParameter::Kind::buffer, b, format("b{}", b),
                   std::string(triton_pointer(p_.buffers[static_cast<std::size_t>(b)].dtype)), aligned ? 16 : 1});
  }
  if (needs_error_) all.push_back({TritonParameter::Kind::error, -1, "error", "*i64", 16});
  for (std::size_t i = 0; i < p_.sizes.size(); ++i) {
    if (!symbols.contains(p_.sizes[i])) continue;
    const std::int64_t multiple = std::gcd<std::int64_t>(symbolic::multiple_of(p_.sizes[i], &facts_), 16);
    all.push_back({TritonParameter::Kind::size, static_cast<int>(i), p_.sizes[i].name(), format("i{}", s_.index_bits),
                   static_cast<int>(multiple)});
  }
  for (int s : scalars)
    all.push_back({TritonParameter::Kind::scalar, s, format("scalar{}", s),
                   p_.scalars[static_cast<std::size_t>(s)].dtype == Dtype::f64 ? "fp64" : "i64", 1});
  return all;
}

bool TritonEmitter::needs_mask(Expr length, std::int64_t block) const {
  return block > 1 && symbolic::multiple_of(length, &facts_) % block != 0;
}

// The axes of a merged range, the last varying fastest.
void TritonEmitter::emit_axes(const std::vector<loop::Axis>& axes, const std::string& index) {
  Expr inner = p_.context->constant(1);
  for (std::size_t i = axes.size(); i-- > 0;) {
    std::string text = inner.is_constant(1) ? index : format("{} // ({})", index, bare(inner));
    if (i > 0) text = format("({}) % ({})", text, bare(axes[i].extent));
    out_.format_line("{} = {}", axes[i].var.name(), text);
    inner = inner * axes[i].extent;
  }
}

void TritonEmitter::emit_group(const std::vector<int>& group, char letter, const std::string& pid,
                               const std::string& shape) {
  if (group.empty()) return;
  const Expr length = loop::length_of(k_, group, p_);
  std::vector<loop::Axis> axes;
  for (int a : group) axes.push_back(k_.outer[static_cast<std::size_t>(a)]);
  const char block = static_cast<char>(letter - 'a' + 'A');
  out_.format_line("{}index = {} * {}BLOCK + tl.arange(0, {}BLOCK){}", letter, pid, block, block, shape);
  if (needs_mask(length, letter == 'x' ? s_.x_block : s_.y_block)) {
    out_.format_line("{0}mask = {0}index < {1}", letter, bare(length));
    (letter == 'x' ? xmask_ : ymask_) = format("{}mask", letter);
  }
  emit_axes(axes, format("{}index", letter));
}

void TritonEmitter::emit_outer() {
  const char* wide = s_.index_bits == 64 ? ".to(tl.int64)" : "";
  if (k_.outer.empty()) return;
  if (s_.y.empty()) {
    out_.format_line("pid = tl.program_id(0){}", wide);
    emit_group(s_.x, 'x', "pid", has_inner_ ? "[:, None]" : "");
    return;
  }
  out_.format_line("pid = tl.program_id(0){}", wide);
  out_.format_line("columns = ({} + (XBLOCK - 1)) // XBLOCK", bare(loop::length_of(k_, s_.x, p_)));
  emit_group(s_.y, 'y', "(pid // columns)", "[:, None]");
  emit_group(s_.x, 'x', "(pid % columns)", "[None, :]");
}

std::string TritonEmitter::shape_of(const Site& site, unsigned dims) const {
  if (!has_inner_) {
    if (s_.y.empty()) return dims & kX ? "[XBLOCK]" : "[]";
    return format("[{}, {}]", dims & kY ? "YBLOCK" : "1", dims & kX ? "XBLOCK" : "1");
  }
  return format("[{}, {}]", dims & kX ? "XBLOCK" : "1", dims & kR ? block_name(site.number) : "1");
}

std::string TritonEmitter::full_mask(const Site& site, unsigned dims) const {
  std::string text;
  auto add = [&](const std::string& m) {
    if (!m.empty()) text += (text.empty() ? "" : " & ") + m;
  };
  if (dims & kY) add(ymask_);
  if (dims & kX) add(xmask_);
  if (dims & kR) {
    if (const auto it = rmask_.find(site.number); it != rmask_.end()) add(it->second);
  } else if (site.may_be_empty) {
    add(format("(rlength{} > 0)", site.number));
  }
  return text;
}

// A block orders its own loads and stores only where they are a barrier apart.
void TritonEmitter::emit_barrier(const Site& site) {
  std::set<int> before_stored, before_loaded;
  for (int i = 0; i < site.number; ++i) {
    const Phase& p = k_.phases[static_cast<std::size_t>(i)];
    for (const Store& s : p.stores) before_stored.insert(s.buffer);
    for (ValueId v = p.begin; v < p.end; ++v)
      if (value(v).op == ScalarOp::load) before_loaded.insert(value(v).buffer);
  }
  bool conflict = false;
  for (const Store& s : site.phase->stores)
    conflict = conflict || before_loaded.contains(s.buffer) || before_stored.contains(s.buffer);
  for (ValueId v = site.phase->begin; v < site.phase->end; ++v)
    conflict = conflict || (value(v).op == ScalarOp::load && before_stored.contains(value(v).buffer));
  if (conflict) out_.line("tl.debug_barrier()");
}

void TritonEmitter::emit_inner_index(const Site& site, const std::string& offset) {
  const std::string name = format("rindex{}", site.number), block = block_name(site.number);
  const char* wide = s_.index_bits == 64 ? ".to(tl.int64)" : "";
  out_.format_line("{} = {}tl.arange(0, {})[None, :]{}", name, offset, block, wide);
  const Expr length = loop::length_of(*site.phase, p_);
  const std::int64_t elements = s_.phases[static_cast<std::size_t>(site.number)].block;
  const bool whole = site.form == InnerForm::persistent ? !length.is_constant(elements) : needs_mask(length, elements);
  if (whole) {
    out_.format_line("rmask{0} = {1} < rlength{0}", site.number, name);
    rmask_[site.number] = format("rmask{}", site.number);
  }
  emit_axes(site.phase->inner, name);
}

void TritonEmitter::emit_phase(int number) {
  Site site;
  site.number = number;
  site.phase = &k_.phases[static_cast<std::size_t>(number)];
  site.form = s_.phases[static_cast<std::size_t>(number)].form;
  site.full = has_inner_ ? unsigned{kX} : (s_.y.empty() ? 0U : unsigned{kY}) | (s_.x.empty() ? 0U : unsigned{kX});
  if (site.form != InnerForm::none) site.full |= kR;
  out_.format_line("# phase {}", number);
  emit_barrier(site);
  if (site.form == InnerForm::none) {
    for (ValueId id = site.phase->begin; id < site.phase->end; ++id) emit_value(site, id);
    // One thread stores what all hold a copy of.
    if (has_inner_ && loop::overwrites_what_it_loads(k_, number)) out_.line("tl.debug_barrier()");
    for (const Store& s : site.phase->stores) emit_store(site, s);
    return;
  }
  const Expr length = loop::length_of(*site.phase, p_);
  out_.format_line("rlength{} = {}", number, bare(length));
  site.may_be_empty = symbolic::range_of(length, &facts_).lo < 1;
  if (site.form == InnerForm::looped) return emit_loop(site);
  emit_inner_index(site, "");
  for (ValueId id = site.phase->begin; id < site.phase->end; ++id) emit_value(site, id);
  for (const Store& s : site.phase->stores) emit_store(site, s);
}

void TritonEmitter::emit_loop(const Site& site) {
  auto each = [&](auto&& f) {
    for (ValueId id = site.phase->begin; id < site.phase->end; ++id)
      if (needed_[static_cast<std::size_t>(id)]) f(id);
  };
  auto hoisted = [&](ValueId id) {
    return !(dims_of(id) & kR) && value(id).op != ScalarOp::combine && value(id).op != ScalarOp::part;
  };
  each([&](ValueId id) {
    if (hoisted(id)) emit_value(site, id);
  });
  each([&](ValueId id) { declare_accumulators(site, id); });
  bool reverse = false;
  each([&](ValueId id) { reverse = reverse || (value(id).op == ScalarOp::scan && value(id).reverse); });
  const std::string block = block_name(site.number), offset = format("roffset{}", site.number),
                    length = format("rlength{}", site.number);
  {
    const auto loop = out_.block(
        format("for {} in range(0, {}, {}):", reverse ? format("rstep{}", site.number) : offset, length, block), "");
    if (reverse)
      out_.format_line("{0} = ({1} + ({2} - 1)) // {2} * {2} - {2} - rstep{3}", offset, length, block, site.number);
    emit_inner_index(site, offset + " + ");
    each([&](ValueId id) {
      if (!hoisted(id)) emit_value(site, id);
    });
    for (const Store& s : site.phase->stores) emit_store(site, s);
  }
  each([&](ValueId id) { finish_accumulators(site, id); });
}

TritonKernelText TritonEmitter::run() {
  TritonKernelText result;
  result.function = k_.name;
  for (char& c : result.function)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  result.parameters = parameters();
  result.warps = s_.warps;
  if (!s_.y.empty()) result.constants.emplace_back("YBLOCK", s_.y_block);
  result.constants.emplace_back("XBLOCK", s_.x_block);
  for (std::size_t i = 0; i < k_.phases.size(); ++i) {
    const std::pair<std::string, std::int64_t> c{block_names_[i], s_.phases[i].block};
    if (!c.first.empty() && std::find(result.constants.begin(), result.constants.end(), c) == result.constants.end())
      result.constants.push_back(c);
  }
  std::string header;
  for (const TritonParameter& q : result.parameters) header += (header.empty() ? "" : ", ") + q.name;
  for (const auto& c : result.constants) header += (header.empty() ? "" : ", ") + c.first + ": tl.constexpr";
  out_.line("@triton.jit");
  {
    const auto body = out_.block(format("def {}({}):", result.function, header), "");
    emit_outer();
    for (int i = 0; i < static_cast<int>(k_.phases.size()); ++i) emit_phase(i);
  }
  result.grid = symbolic::ceildiv(loop::length_of(k_, s_.x, p_), s_.x_block) *
                symbolic::ceildiv(loop::length_of(k_, s_.y, p_), s_.y_block);
  const std::string body = out_.take();
  result.text = "import triton\nimport triton.language as tl\nfrom triton.language.extra.cuda import libdevice\n" +
                triton_helpers_for(body) + "\n\n" + body;
  return result;
}

TritonKernelText emit_triton(const Program& p, const Kernel& k, const loop::TritonSchedule& s,
                             const std::vector<std::string>& operators) {
  if (const auto d = can_emit_triton(p, k); !d) throw InternalError(d.reason());
  loop::verify(s, k, p);
  return TritonEmitter(p, k, s, operators).run();
}

}  // namespace stax::codegen
