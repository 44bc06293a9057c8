#include "compile/assemble.h"

#include <fmt/format.h>

#include <map>
#include <unordered_set>

#include "graph/op_def.h"
#include "loop/text.h"
#include "plan/text.h"
#include "schedule/slots.h"
#include "symbolic/analysis.h"

namespace stax::compiler {

namespace {

using graph::TensorType;
using graph::Value;
using plan::Fact;
using plan::Guard;
using symbolic::Expr;

class Assembler {
 public:
  Assembler(const graph::Graph& g, const loop::Program& p, const std::vector<ScheduledKernel>& kernels)
      : g_(g), p_(p), kernels_(kernels), slots_(schedule::assign_slots(p)) {
    plan_.name = g.name;
    plan_.context = g.shared_context();
  }

  plan::Plan run(const ExtraGuards& extra) {
    inputs();
    for (const symbolic::Guard& guard : g_.env().guards())
      plan_.guards.push_back(Guard::holds(guard.condition, guard.reason, guard.where));
    plan_.guards.insert(plan_.guards.end(), extra.begin(), extra.end());
    plan::order_guards(plan_);
    buffers();
    for (const loop::Origin& o : p_.origins) plan_.origins.push_back({o.op, o.where});
    steps();
    outputs();
    plan::verify(plan_);
    return std::move(plan_);
  }

 private:
  // A size or stride of an input: binds its symbol at the first sight, otherwise a guard.
  void fact(const Fact& f, Expr e, const char* reason, const SourceLoc& where) {
    if (e.is_symbol() && bound_.insert(e).second) {
      plan_.bindings.push_back(
          {e, f});  // the binding checks the symbol's range: sizes 0 and 1 have artifacts of their own
      return;
    }
    plan_.guards.push_back(Guard::equals(f, e, reason, where));
  }

  void inputs() {
    int tensor = 0;
    for (std::size_t i = 0; i < g_.inputs.size(); ++i) {
      const TensorType& t = g_.inputs[i].type();
      if (t.scalar) {
        plan_.scalars.push_back({g_.input_names[i], t.dtype});
        continue;
      }
      const bool written = p_.buffers[static_cast<std::size_t>(tensor)].written_input;
      plan_.inputs.push_back({g_.input_names[i], t.dtype, t.rank(), t.device, written});
      ++tensor;
    }
    tensor = 0;
    // Sizes first: strides are mostly expressions over them.
    for (const Value& v : g_.inputs) {
      const TensorType& t = v.type();
      if (t.scalar) continue;
      for (int d = 0; d < t.rank(); ++d)
        fact({Fact::Kind::size, tensor, d}, t.sizes[static_cast<std::size_t>(d)], "the size that was traced",
             v.node->where);
      ++tensor;
    }
    tensor = 0;
    for (const Value& v : g_.inputs) {
      const TensorType& t = v.type();
      if (t.scalar) continue;
      for (int d = 0; d < t.rank(); ++d) {
        const auto i = static_cast<std::size_t>(d);
        // The stride of an axis of size 1 or 0 moves nothing.
        if (t.sizes[i].is_constant(1) || t.sizes[i].is_constant(0)) continue;
        fact({Fact::Kind::stride, tensor, d}, t.strides[i], "the memory layout that was traced", v.node->where);
      }
      ++tensor;
    }
    for (const loop::ScalarInput& s : p_.scalars)
      if (s.value) plan_.derived.push_back({s.name, s.dtype, s.value});
  }

  void buffers() {
    plan_buffer_.assign(p_.buffers.size(), -1);
    std::vector<int> slot_buffer(slots_.slots.size(), -1);
    for (std::size_t i = 0; i < p_.buffers.size(); ++i) {
      const loop::Buffer& b = p_.buffers[i];
      if (b.kind == loop::BufferKind::input) {
        plan_buffer_[i] = add({b.name, b.dtype, plan::BufferKind::input, b.input, device_of(b.input), {}});
      } else if (b.kind == loop::BufferKind::output) {
        plan_buffer_[i] = add({b.name, b.dtype, plan::BufferKind::output, -1, {}, schedule::byte_span(p_, b)});
      } else if (const int slot = slots_.slot_of[i]; slot >= 0) {
        int& shared = slot_buffer[static_cast<std::size_t>(slot)];
        if (shared < 0)
          shared = add({fmt::format("t{}", slot),
                        b.dtype,
                        plan::BufferKind::temporary,
                        -1,
                        {},
                        slots_.slots[static_cast<std::size_t>(slot)].bytes});
        plan_buffer_[i] = shared;
      }
    }
    slot_buffer_ = std::move(slot_buffer);
  }

  Device device_of(int input) const { return plan_.inputs[static_cast<std::size_t>(input)].device; }
  int add(plan::Buffer b) {
    plan_.buffers.push_back(std::move(b));
    return static_cast<int>(plan_.buffers.size()) - 1;
  }
  int buffer(loop::BufferId b) const {
    const int found = plan_buffer_.at(static_cast<std::size_t>(b));
    STAX_CHECK(found >= 0, "plan: a buffer without memory is used");
    return found;
  }
  plan::View view(const loop::View& v) const { return {buffer(v.buffer), v.sizes, v.strides, v.offset}; }

  void steps() {
    std::size_t next = 0;
    for (std::size_t i = 0; i < p_.items.size(); ++i) {
      for (int slot : slots_.alloc_before[i])
        plan_.steps.emplace_back(plan::AllocStep{slot_buffer_[static_cast<std::size_t>(slot)]});
      if (std::holds_alternative<loop::Kernel>(p_.items[i]))
        launch(kernels_[next++]);
      else
        call(std::get<loop::LibraryCall>(p_.items[i]));
      for (int slot : slots_.free_after[i])
        plan_.steps.emplace_back(plan::FreeStep{slot_buffer_[static_cast<std::size_t>(slot)]});
    }
  }

  void launch(const ScheduledKernel& k) {
    plan::LaunchStep step;
    // Entries of equal code are one kernel of the plan.
    for (std::size_t i = 0; i < plan_.kernels.size(); ++i)
      if (plan_.kernels[i].module == k.code) step.kernel = static_cast<int>(i);
    if (step.kernel < 0) {
      step.kernel = static_cast<int>(plan_.kernels.size());
      const int same = ++name_uses_[k.symbol];
      plan_.kernels.push_back(
          {same == 1 ? k.symbol : fmt::format("{}_{}", k.symbol, same), k.symbol, k.code, k.source});
    }
    for (loop::BufferId b : k.canonical.buffers) step.buffers.push_back(buffer(b));
    step.ints = k.canonical.sizes;
    step.scalars = k.canonical.scalars;
    step.origins = k.canonical.origins;
    plan_.steps.emplace_back(std::move(step));
  }

  void call(const loop::LibraryCall& c) {
    plan::MatmulStep s;
    s.name = c.name;
    s.dtype = p_.buffers[static_cast<std::size_t>(c.out.buffer)].dtype;
    s.a = view(c.a), s.b = view(c.b), s.out = view(c.out);
    if (c.bias) s.bias = view(*c.bias);
    if (c.residual) s.residual = view(*c.residual);
    s.activation = runtime::parse_activation(loop::to_text(c.activation)).value();
    s.scale = c.scale;
    s.b_is_weight = c.b_is_weight;
    s.origin = c.origin;
    plan_.steps.emplace_back(std::move(s));
  }

  void outputs() {
    for (std::size_t i = 0; i < p_.outputs.size(); ++i)
      plan_.outputs.push_back({fmt::format("out{}", i),
                               p_.buffers[static_cast<std::size_t>(p_.outputs[i].buffer)].dtype, view(p_.outputs[i])});
  }

  const graph::Graph& g_;
  const loop::Program& p_;
  const std::vector<ScheduledKernel>& kernels_;
  schedule::SlotAssignment slots_;
  plan::Plan plan_;
  std::unordered_set<Expr> bound_;
  std::map<std::string, int> name_uses_;
  std::vector<int> plan_buffer_, slot_buffer_;
};

}  // namespace

plan::Plan assemble(const graph::Graph& g, const loop::Program& p, const std::vector<ScheduledKernel>& kernels,
                    const ExtraGuards& extra) {
  return Assembler(g, p, kernels).run(extra);
}

std::string listing(const plan::Plan& plan) { return plan::to_text(plan); }

void describe(Artifact& artifact, const fusion::FusionResult& fused, const std::vector<ScheduledKernel>& kernels) {
  std::unordered_set<int> seen;
  for (const ScheduledKernel& k : kernels) {
    const auto& kernel = std::get<loop::Kernel>(k.canonical.program.items.at(0));
    artifact.kernels.push_back({k.symbol, k.source, loop::to_text(k.canonical.program),
                                loop::to_text(k.schedule, kernel), !seen.insert(k.code).second});
  }
  for (const loop::Item& item : fused.program.items)
    if (const auto* call = std::get_if<loop::LibraryCall>(&item)) artifact.library_calls.push_back(call->name);
  const plan::Plan& plan = artifact.executable.plan();
  for (const plan::Binding& b : plan.bindings) {
    const symbolic::Range r = b.symbol.info().range;
    if (r.lo != symbolic::kMinInf)
      artifact.guards.push_back(
          fmt::format("{} >= {} because the artifact serves a range of sizes", plan::to_text(b.from, plan), r.lo));
  }
  for (const Guard& g : plan.guards) {
    std::string text = plan::to_text(g, plan);
    if (!g.reason.empty()) text += " because " + g.reason;
    if (g.where.known()) text += " at " + stax::to_string(g.where);
    artifact.guards.push_back(std::move(text));
  }
  artifact.refusals = fused.refusals;
  artifact.fusion_report = fusion::report(fused);
  artifact.bytes = fused.bytes_after;
}

}  // namespace stax::compiler
