#include "stages.h"

#include <filesystem>

#include "compile/assemble.h"
#include "compile/pipeline.h"
#include "fusion/split.h"
#include "graph/interpret.h"
#include "loop/text.h"
#include "passes/lower.h"
#include "schedule/text.h"

namespace stax::golden {

namespace {

const schedule::CpuTarget kTarget{.vector_bytes = 64, .threads = 2};

// Places name files without their directory.
std::string without_directories(std::string text) {
  const std::string directory = std::filesystem::path(__FILE__).parent_path().string() + "/";
  for (std::size_t at = 0; (at = text.find(directory, at)) != std::string::npos;) text.erase(at, directory.size());
  return text;
}

loop::Program fused_from(loop::Program p) {
  loop::Program fused = fusion::fuse(std::move(p), compiler::fusion_options({}, kTarget)).program;
  compiler::normalise_kernels(fused);
  return fused;
}

// The text after the prelude, which is the same for many kernels.
std::string kernel_text(const std::string& source) { return source.substr(source.find("// kernel\n")); }

}  // namespace

Stages stages_of(const Example& example) {
  Stages s;
  s.graph = graph::parse_graph(without_directories(to_text(example.trace())));
  s.texts["graph"] = graph::to_text(s.graph);
  const graph::Graph primitive = compiler::run_passes(s.graph, {});
  s.lowered = passes::lower(primitive);
  s.texts["lowered"] = loop::to_text(s.lowered);
  s.fused = fused_from(s.lowered);
  s.texts["fused"] = loop::to_text(s.fused);
  const auto kernels = compiler::emit_kernels(s.fused, kTarget);
  std::vector<schedule::KernelSchedule> schedules;
  for (const compiler::ScheduledKernel& k : kernels) {
    schedules.push_back(k.schedule);
    s.texts["cpp"] += kernel_text(k.source);
  }
  s.texts["schedule"] = schedule::to_text(s.fused, schedules);
  s.texts["plan"] = compiler::listing(compiler::assemble(s.graph, s.fused, kernels, {}));
  s.split = s.lowered;
  (void)fusion::split_reductions(s.split, fusion::SplitTarget::gpu(132));
  s.split = fused_from(std::move(s.split));
  s.texts["split"] = loop::to_text(s.split);
  return s;
}

}  // namespace stax::golden
