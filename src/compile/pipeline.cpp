#include "compile/pipeline.h"

#include <fmt/format.h>

#include <map>

#include "codegen/cpp/emit.h"
#include "compile/assemble.h"
#include "compile/dump.h"
#include "graph/interpret.h"
#include "loop/text.h"
#include "loop/transform.h"
#include "passes/lower.h"
#include "passes/passes.h"

namespace stax::compiler {

graph::Graph run_passes(const graph::Graph& g, const Settings& settings, const Observer& observe) {
  graph::Graph current = graph::rewrite(g, nullptr);
  for (const passes::Pass& pass : passes::all_passes()) {
    current = pass.run(current, {settings.strict_numerics});
#ifndef NDEBUG
    graph::verify(current);
#endif
    if (observe) observe(pass.name, [&] { return graph::to_text(current); });
  }
  return current;
}

fusion::FusionOptions fusion_options(const Settings& settings, const schedule::CpuTarget& target) {
  fusion::FusionOptions o;
  o.enabled = settings.fuse;
  o.strict = settings.strict_numerics;
  o.parallel_units = target.threads;
  o.cache_bytes = target.l2_bytes;
  o.can_emit = codegen::can_emit_cpp;
  return o;
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

std::vector<ScheduledKernel> emit_kernels(const loop::Program& p, const schedule::CpuTarget& target,
                                          const std::vector<loop::CpuSchedule>* schedules) {
  std::vector<ScheduledKernel> kernels;
  std::map<std::string, int> codes;  // canonical loops and schedule → position among distinct sources
  std::vector<std::string> sources, symbols;
  for (const loop::Item& item : p.items) {
    const auto* k = std::get_if<loop::Kernel>(&item);
    if (!k) continue;
    ScheduledKernel s;
    s.canonical = loop::canonicalize(p, *k);
    const auto& canonical = std::get<loop::Kernel>(s.canonical.program.items.at(0));
    s.schedule =
        schedules ? schedules->at(kernels.size()) : schedule::schedule_cpu(canonical, s.canonical.program, target);
    s.symbol = k->name;
    const std::string text = loop::to_text(s.canonical.program) + loop::to_text(s.schedule, canonical);
    auto [it, fresh] = codes.try_emplace(text, static_cast<int>(sources.size()));
    if (fresh) {
      const codegen::CppKernel one{s.symbol, &s.canonical.program, &canonical, &s.schedule};
      symbols.push_back(s.symbol);
      sources.push_back(codegen::emit_cpp({&one, 1}, target.vector_bytes));
    }
    s.code = it->second;
    s.source = sources[static_cast<std::size_t>(s.code)];
    s.symbol = symbols[static_cast<std::size_t>(s.code)];  // equal code keeps the name of the first
    kernels.push_back(std::move(s));
  }
  return kernels;
}

std::vector<std::shared_ptr<runtime::Module>> build_modules(const std::vector<ScheduledKernel>& kernels,
                                                            Session& session, std::uint64_t* built,
                                                            std::uint64_t* hits) {
  std::vector<build::CppJob> jobs;
  for (const ScheduledKernel& k : kernels)
    if (k.code == static_cast<int>(jobs.size())) jobs.push_back({k.symbol, k.source});
  if (jobs.empty()) return {};
  build::KernelStore& store = session.kernels();
  build::KernelStoreStats mine;
  auto modules = store.build_or_load_all(jobs, &mine);
  if (built) *built = mine.built;
  if (hits) *hits = mine.disk_hits + mine.live_hits;
  return modules;
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

// The stages: passes (see passes::all_passes), lower, fuse, normalise, emit, build, assemble.
std::shared_ptr<const Artifact> run_stages(const graph::Graph& g, const Settings& settings, Session& session,
                                           const ExtraGuards& extra, const Observer& observe) {
  std::vector<StageTime> times;
  Stages stages(times, observe);
  const schedule::CpuTarget target = session.cpu_target();

  const graph::Graph lowered = run_passes(g, settings, observe);
  stages.done("passes", [&] { return graph::to_text(lowered); });

  loop::Program program = passes::lower(lowered, {settings.index_checks});
  stages.done("lower", [&] { return loop::to_text(program); });

  fusion::FusionResult fused = fusion::fuse(std::move(program), fusion_options(settings, target));
  stages.done("fuse", [&] { return loop::to_text(fused.program); });

  normalise_kernels(fused.program);
  stages.done("normalise", [&] { return loop::to_text(fused.program); });
#ifndef NDEBUG
  loop::verify(fused.program);
#endif

  std::vector<ScheduledKernel> kernels = emit_kernels(fused.program, target);
  stages.done("emit", [&] {
    std::string all;
    for (const ScheduledKernel& k : kernels) all += k.source;
    return all;
  });

  std::uint64_t built = 0, hits = 0;
  std::vector<std::shared_ptr<runtime::Module>> modules = build_modules(kernels, session, &built, &hits);
  stages.done("build", [] { return std::string(); });

  plan::Plan plan = assemble(g, fused.program, kernels, extra);
  stages.done("plan", [&] { return listing(plan); });

  auto artifact = std::make_shared<Artifact>(
      Artifact{plan::Executable(std::move(plan), std::move(modules)), {}, {}, {}, {}, {}, {}, 0, built, hits});
  describe(*artifact, fused, kernels);
  artifact->times = std::move(times);
  return artifact;
}

}  // namespace

std::shared_ptr<const Artifact> compile_graph(const graph::Graph& g, const Settings& settings, Session& session,
                                              const ExtraGuards& extra, const Observer& observe) {
  try {
    return run_stages(g, settings, session, extra, dumping(g, observe));
  } catch (const InternalError& fault) {
    report_fault(g, fault);
  }
}

}  // namespace stax::compiler
