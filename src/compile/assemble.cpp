#include "compile/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "graph/op_def.h"
#include "loop/text.h"
#include "plan/text.h"
#include "schedule/access.h"
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
      : g_(g), p_(p), kernels_(kernels), slots_(schedule::assign_slots(p)), device_(compiler::device_of(g)) {
    plan_.name = g.name;
    plan_.context = g.shared_context();
  }

  plan::Plan run(const std::vector<plan::Guard>& extra) {
    inputs();
    for (const symbolic::Guard& guard : g_.env().guards())
      plan_.guards.push_back(Guard::holds(guard.condition, guard.reason, guard.where));
    plan_.guards.insert(plan_.guards.end(), extra.begin(), extra.end());
    buffers();
    for (const loop::Origin& o : p_.origins) plan_.origins.push_back({o.op, o.where});
    steps();
    plan::order_guards(plan_);
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
        plan_buffer_[i] = add({b.name, b.dtype, plan::BufferKind::input, b.input, device_, {}});
      } else if (b.kind == loop::BufferKind::output) {
        plan_buffer_[i] = add({b.name, b.dtype, plan::BufferKind::output, -1, device_, schedule::byte_span(p_, b)});
      } else if (const int slot = slots_.slot_of[i]; slot >= 0) {
        int& shared = slot_buffer[static_cast<std::size_t>(slot)];
        if (shared < 0)
          shared = add({fmt::format("t{}", slot), b.dtype, plan::BufferKind::temporary, -1, device_,
                        slots_.slots[static_cast<std::size_t>(slot)].bytes});
        plan_buffer_[i] = shared;
      }
    }
    slot_buffer_ = std::move(slot_buffer);
  }

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
      if (const auto* kernel = std::get_if<loop::Kernel>(&p_.items[i]))
        launch(kernels_[next++], *kernel);
      else
        call(std::get<loop::LibraryCall>(p_.items[i]));
      for (int slot : slots_.free_after[i])
        plan_.steps.emplace_back(plan::FreeStep{slot_buffer_[static_cast<std::size_t>(slot)]});
    }
  }

  // Entries of equal code are one kernel of the plan.
  int kernel_of(const ScheduledKernel& k) {
    for (std::size_t i = 0; i < plan_.kernels.size(); ++i)
      if (plan_.kernels[i].module == k.code) return static_cast<int>(i);
    const int same = ++name_uses_[k.symbol];
    plan::Kernel kernel{same == 1 ? k.symbol : fmt::format("{}_{}", k.symbol, same), k.symbol, k.code, k.source};
    if (k.triton)
      kernel.reports = std::ranges::any_of(
          k.triton->parameters, [](const auto& q) { return q.kind == codegen::TritonParameter::Kind::error; });
    plan_.kernels.push_back(std::move(kernel));
    return static_cast<int>(plan_.kernels.size()) - 1;
  }

  // Where the last value that has a place comes from.
  static int origin_of(const loop::Kernel& k) {
    for (std::size_t i = k.values.size(); i-- > 0;)
      if (k.values[i].origin >= 0) return k.values[i].origin;
    return -1;
  }

  void launch(const ScheduledKernel& k, const loop::Kernel& from) {
    plan::LaunchStep step;
    step.kernel = kernel_of(k);
    step.origins = k.canonical.origins;
    if (k.triton) {
      step.origin = origin_of(from);
      triton_arguments(k, step);
      promises(k, step);
    } else {
      for (loop::BufferId b : k.canonical.buffers) step.buffers.push_back(buffer(b));
      step.ints = k.canonical.sizes;
      step.scalars = k.canonical.scalars;
    }
    plan_.steps.emplace_back(std::move(step));
  }

  // Parameters as the text has them: buffers, error word, sizes, scalars, each in canonical order.
  void triton_arguments(const ScheduledKernel& k, plan::LaunchStep& step) {
    using Kind = codegen::TritonParameter::Kind;
    Kind last = Kind::buffer;
    for (const codegen::TritonParameter& q : k.triton->parameters) {
      STAX_CHECK(q.kind >= last, "parameters of kernel " + k.symbol + " are out of order");
      last = q.kind;
      const auto id = static_cast<std::size_t>(q.id);
      if (q.kind == Kind::buffer) step.buffers.push_back(buffer(k.canonical.buffers.at(id)));
      if (q.kind == Kind::size) step.ints.push_back(k.canonical.sizes.at(id));
      if (q.kind == Kind::scalar) step.scalars.push_back(k.canonical.scalars.at(id));
    }
    // The grid is written in the sizes of the first kernel of this code: equal names, another context.
    symbolic::SymbolMap map;
    for (const Expr s : symbolic::symbols_of(k.triton->grid)) {
      const auto& sizes = k.canonical.program.sizes;
      const auto it = std::ranges::find_if(sizes, [&](Expr e) { return e.name() == s.name(); });
      STAX_CHECK(it != sizes.end(), "grid of kernel " + k.symbol + " over an unknown size");
      map[s] = k.canonical.sizes[static_cast<std::size_t>(it - sizes.begin())];
    }
    step.grid = {map.empty() ? symbolic::transfer(k.triton->grid, *p_.context)
                             : symbolic::substitute(k.triton->grid, map)};
  }

  // What the schedule counts on, as guards; on the launch as well, since kernels may promise the same.
  void promises(const ScheduledKernel& k, plan::LaunchStep& step) {
    const auto& s = std::get<loop::TritonSchedule>(k.schedule);
    auto& context = *p_.context;
    for (const loop::BufferId b : s.aligned) {
      const loop::BufferId id = k.canonical.buffers.at(static_cast<std::size_t>(b));
      step.aligned.push_back(buffer(id));
      const loop::Buffer& in = p_.buffers[static_cast<std::size_t>(id)];
      if (in.kind != loop::BufferKind::input) continue;
      add_promise(
          Guard::aligned_to(in.input, 16, "16-byte accesses were chosen because its address was a multiple of 16"));
    }
    for (const loop::SizePromise& q : s.promises) {
      const auto& sizes = k.canonical.program.sizes;
      const auto at = std::ranges::find(sizes, q.size) - sizes.begin();
      const Expr size = k.canonical.sizes.at(static_cast<std::size_t>(at));
      const auto hint = size.is_symbol() ? size.info().hint : std::nullopt;
      const std::string was = hint ? fmt::format("{} = {}", size.name(), *hint) : symbolic::to_string(size);
      if (q.multiple_of > 1) {
        const symbolic::Bool holds =
            symbolic::eq(symbolic::floormod(size, context.constant(q.multiple_of)), context.constant(0));
        step.promises.push_back(holds);
        add_promise(Guard::holds(
            holds, fmt::format("16-byte accesses were chosen because {} is a multiple of {}", was, q.multiple_of)));
      }
      if (q.at_most > 0) {
        const symbolic::Bool holds = symbolic::le(size, context.constant(q.at_most));
        step.promises.push_back(holds);
        add_promise(
            Guard::holds(holds, fmt::format("a row in registers was chosen because {} is at most {}", was, q.at_most)));
      }
    }
  }
  void add_promise(Guard g) {
    g.promise = true;
    plan_.guards.push_back(std::move(g));
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
  Device device_;
  plan::Plan plan_;
  std::unordered_set<Expr> bound_;
  std::map<std::string, int> name_uses_;
  std::vector<int> plan_buffer_, slot_buffer_;
};

}  // namespace

plan::Plan assemble(const graph::Graph& g, const loop::Program& p, const std::vector<ScheduledKernel>& kernels,
                    const std::vector<plan::Guard>& extra) {
  return Assembler(g, p, kernels).run(extra);
}

std::vector<plan::Guard> wishes(const loop::Program& p, const std::vector<ScheduledKernel>& kernels) {
  std::vector<plan::Guard> all;
  const auto add = [&](Guard g) {
    const bool known = std::ranges::any_of(all, [&](const Guard& o) {
      return o.kind == g.kind && (g.kind == Guard::Kind::aligned ? o.a == g.a : o.condition == g.condition);
    });
    if (!known) all.push_back(std::move(g));
  };
  for (const ScheduledKernel& k : kernels) {
    for (const int input : k.wished_inputs) add(Guard::aligned_to(input, 16, {}));
    const symbolic::Bool gains = schedule::gains_from_wide_accesses(p, k.canonical.buffers);
    for (const auto& one_of : k.wished_sizes) {
      symbolic::Bool any = p.context->boolean(false);
      for (const loop::SizePromise& q : one_of) {
        const auto& sizes = k.canonical.program.sizes;
        const Expr size =
            k.canonical.sizes.at(static_cast<std::size_t>(std::ranges::find(sizes, q.size) - sizes.begin()));
        any = any || symbolic::eq(symbolic::floormod(size, p.context->constant(q.multiple_of)), 0);
      }
      add(Guard::holds(any && gains, {}));
    }
  }
  return all;
}

std::string listing(const plan::Plan& plan) { return plan::to_text(plan); }

namespace {

// Of the kernel's launch, in the sizes of the plan.
std::optional<GpuKernelReport> gpu_report(const ScheduledKernel& k, const plan::LaunchStep& step,
                                          const std::vector<build::KernelResources>& resources) {
  if (!k.triton) return std::nullopt;
  const Expr grid = step.grid.at(0);
  return GpuKernelReport{resources.at(static_cast<std::size_t>(k.code)), symbolic::to_string(grid),
                         symbolic::hint_of(grid), k.triton->constants};
}

}  // namespace

void describe(Artifact& artifact, const fusion::FusionResult& fused, const std::vector<ScheduledKernel>& kernels,
              const std::vector<build::KernelResources>& resources) {
  std::vector<const plan::LaunchStep*> launches;
  for (const plan::Step& s : artifact.executable.plan().steps)
    if (const auto* launch = std::get_if<plan::LaunchStep>(&s)) launches.push_back(launch);
  std::unordered_set<int> seen;
  for (const ScheduledKernel& k : kernels) {
    const auto& kernel = std::get<loop::Kernel>(k.canonical.program.items.at(0));
    artifact.kernels.push_back({k.symbol, k.source, loop::to_text(k.canonical.program),
                                schedule::to_text(k.schedule, kernel, k.canonical.program), !seen.insert(k.code).second,
                                gpu_report(k, *launches.at(artifact.kernels.size()), resources)});
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
