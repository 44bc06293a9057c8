#include "compile/pipeline.h"

#include <fmt/format.h>

#include "build/build_id.h"
#include "codegen/cpp/emit.h"
#include "codegen/triton/emit.h"
#include "compile/assemble.h"
#include "compile/dump.h"
#include "graph/interpret.h"
#include "loop/text.h"
#include "loop/transform.h"
#include "passes/lower.h"
#include "runtime/device_runtime.h"

namespace stax::compiler {

namespace {
// What a program keeps of its row in registers: 16k elements of 4 bytes. Longer rows are read again from memory.
constexpr std::int64_t kRegisterRow = 64 << 10;
}  // namespace

Device device_of(const graph::Graph& g) {
  std::optional<Device> found;
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const graph::TensorType& t = g.inputs[i].type();
    if (t.scalar) continue;
    if (found && t.device != *found)
      throw UserError(fmt::format("{}: {} is on {}, an earlier tensor on {}", g.name, g.input_names[i],
                                  to_string(t.device), to_string(*found)),
                      g.inputs[i].node->where, "Move it with .to(device)");
    found = t.device;
  }
  for (const graph::Node* n : g.nodes())
    for (const graph::TensorType& t : n->types) {
      if (t.scalar) continue;
      if (found && t.device != *found)
        throw UserError(fmt::format("{}: {} is on {}, the other tensors on {}", g.name, n->op->name,
                                    to_string(t.device), to_string(*found)),
                        n->where, "Make it on the same device");
      found = t.device;
    }
  return found.value_or(Device{});
}

graph::Graph run_passes(const graph::Graph& g, const Settings& settings, const Observer& observe) {
  graph::Graph current = graph::rewrite(g, nullptr);
  const passes::PassOptions options = pass_options(settings, device_of(g));
  for (const passes::Pass& pass : passes::all_passes()) {
    current = pass.run(current, options);
    if (settings.verify) graph::verify(current);
    if (observe) observe(pass.name, [&] { return graph::to_text(current); });
  }
  return current;
}

fusion::FusionOptions fusion_options(const Settings& settings, const schedule::Target& target) {
  fusion::FusionOptions o;
  o.enabled = settings.fuse;
  o.strict = settings.strict_numerics;
  if (const auto* gpu = std::get_if<schedule::GpuTarget>(&target)) {
    o.parallel_units = gpu->multiprocessors;
    o.cache_bytes = kRegisterRow;
    o.shares_rows = false;
    o.calls_store_views = false;  // cuBLASLt knows one batch stride
    o.can_emit = codegen::can_emit_triton;
    return o;
  }
  const auto& cpu = std::get<schedule::CpuTarget>(target);
  o.parallel_units = cpu.threads;
  o.cache_bytes = cpu.l2_bytes;
  o.can_emit = codegen::can_emit_cpp;
  return o;
}

fusion::SplitTarget split_target(const schedule::Target& target) {
  if (const auto* gpu = std::get_if<schedule::GpuTarget>(&target))
    return fusion::SplitTarget::gpu(gpu->multiprocessors);
  // The schedule shares rows among threads within one kernel, which is as fast for rows and faster for columns.
  return {.parallel_units = 0};
}

passes::PassOptions pass_options(const Settings& settings, Device device) {
  const runtime::DeviceRuntime& runtime = runtime::runtime_for(device);
  return {settings.strict_numerics, [&runtime](const runtime::MatmulKind& kind) { return runtime.can_matmul(kind); },
          device.kind != DeviceKind::cpu};
}

void normalise_kernels(loop::Program& p) {
  for (loop::Item& item : p.items) {
    auto* k = std::get_if<loop::Kernel>(&item);
    if (!k) continue;
    loop::reorder_outer_axes(p, *k);
    loop::merge_axes(p, *k);
    loop::eliminate_common_values(*k);
    loop::eliminate_dead_values(*k);
  }
}

namespace {

// Times the stages and shows their results to the observer.
class Stages {
 public:
  Stages(std::vector<StageTime>& times, const Observer& observe) : times_(times), observe_(observe) {}
  template <class Text>
  void done(std::string_view stage, const Text& text) {
    const auto now = std::chrono::steady_clock::now();
    times_.push_back({std::string(stage), std::chrono::duration_cast<std::chrono::microseconds>(now - last_)});
    if (observe_) observe_(stage, text);
    last_ = std::chrono::steady_clock::now();
  }

 private:
  std::vector<StageTime>& times_;
  const Observer& observe_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

base::Digest content_of(const graph::Graph& g, const Settings& settings, const schedule::Target& target,
                        const CallFacts& call) {
  base::KeyBuilder key;
  key.add("kind", "compiled for a GPU").add("stax", build::build_id()).add("graph", graph::to_text(g));
  key.add("strict", settings.strict_numerics).add("checks", settings.index_checks).add("fuse", settings.fuse);
  key.add("promises", settings.promises)
      .add("bounds", settings.row_bounds)
      .add("units", std::get<schedule::GpuTarget>(target).multiprocessors);
  for (const int i : call.unaligned) key.add("unaligned", i);
  return key.finish();
}

// The stages: passes (see passes::all_passes), lower, split, fuse, normalise, emit, build, assemble.
std::shared_ptr<const Artifact> run_stages(const graph::Graph& g, const Settings& settings, Session& session,
                                           const CallFacts& call, const Observer& observe) {
  std::vector<StageTime> times;
  Stages stages(times, observe);
  const Device device = device_of(g);
  const schedule::Target target = session.target(device);

  // What has not been compiled yet needs a Triton worker, which starts while the stages run.
  std::optional<base::Digest> fresh;
  if (schedule::is_gpu(target)) {
    fresh = content_of(g, settings, target, call);
    if (session.knows(*fresh))
      fresh.reset();
    else
      session.gpu_kernels().warm_up();
  }
  const graph::Graph lowered = run_passes(g, settings, observe);
  stages.done("passes", [&] { return graph::to_text(lowered); });

  loop::Program program = passes::lower(lowered, {settings.index_checks});
  stages.done("lower", [&] { return loop::to_text(program); });

  fusion::split_reductions(program, split_target(target));
  stages.done("split", [&] { return loop::to_text(program); });

  fusion::FusionResult fused = fusion::fuse(std::move(program), fusion_options(settings, target));
  stages.done("fuse", [&] { return loop::to_text(fused.program); });

  normalise_kernels(fused.program);
  stages.done("normalise", [&] { return loop::to_text(fused.program); });
  if (settings.verify) loop::verify(fused.program);

  std::vector<ScheduledKernel> kernels =
      emit_kernels(fused.program, target, nullptr, {settings.promises, settings.row_bounds, call.unaligned});
  stages.done("emit", [&] {
    std::string all;
    for (const ScheduledKernel& k : kernels) all += k.source;
    return all;
  });

  build::KernelStoreStats stats;
  BuiltKernels built = build_kernels(kernels, session, device, &stats);
  if (fresh) session.remember(*fresh);
  stages.done("build", [] { return std::string(); });

  plan::Plan plan = assemble(g, fused.program, kernels, call.guards);
  stages.done("plan", [&] { return listing(plan); });

  auto artifact = std::make_shared<Artifact>(Artifact{plan::Executable(std::move(plan), std::move(built.modules)),
                                                      {},
                                                      {},
                                                      {},
                                                      {},
                                                      {},
                                                      {},
                                                      {},
                                                      0,
                                                      stats.built,
                                                      stats.disk_hits + stats.live_hits});
  if (std::vector<plan::Guard> wished = wishes(fused.program, kernels); !wished.empty())
    artifact->wishes = std::make_unique<plan::Wishes>(artifact->executable.plan(), std::move(wished));
  describe(*artifact, fused, kernels, built.resources);
  artifact->times = std::move(times);
  return artifact;
}

}  // namespace

std::shared_ptr<const Artifact> compile_graph(const graph::Graph& g, const Settings& settings, Session& session,
                                              const CallFacts& call, const Observer& observe) {
  try {
    return run_stages(g, settings, session, call, dumping(g, observe));
  } catch (const InternalError& fault) {
    report_fault(g, fault);
  }
}

}  // namespace stax::compiler
