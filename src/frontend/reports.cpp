#include <fmt/format.h>

#include "base/text.h"
#include "compile/explain.h"
#include "frontend/core_impl.h"
#include "graph/interpret.h"
#include "plan/text.h"

namespace stax::frontend {

namespace {

ArtifactInfo info_of(const Entry& entry) {
  const compiler::Artifact& a = *entry.artifact;
  ArtifactInfo info;
  info.guards = a.guards;
  for (const compiler::KernelReport& k : a.kernels) {
    KernelInfo& kernel = info.kernels.emplace_back(KernelInfo{k.name, k.source, k.loops, k.schedule, {}});
    if (!k.gpu) continue;
    const build::KernelResources& r = k.gpu->resources;
    kernel.gpu = GpuKernelInfo{k.gpu->grid, 32 * r.warps, r.registers, r.shared, r.spills, r.stack};
  }
  for (const plan::Buffer& b : a.executable.plan().buffers)
    if (b.kind == plan::BufferKind::temporary)
      info.buffers.push_back(fmt::format("{} {} bytes {}", b.name, to_text(b.dtype), symbolic::to_string(b.bytes)));
  info.library_calls = a.library_calls;
  info.bytes = a.bytes;
  info.graph = graph::to_text(*entry.graph);
  info.plan = plan::to_text(a.executable.plan());
  info.fusion = a.fusion_report;
  for (const compiler::StageTime& t : a.times)
    info.stages.emplace_back(t.stage, static_cast<double>(t.time.count()) * 1e-6);
  return info;
}

}  // namespace

std::vector<ArtifactInfo> Core::artifacts() const {
  std::shared_lock lock(impl_->mutex);
  std::vector<ArtifactInfo> list;
  for (const auto& entry : impl_->entries) list.push_back(info_of(*entry));
  return list;
}

std::string Core::explain() const {
  base::TextWriter w;
  if (const Mode mode = impl_->options.mode; mode != Mode::balanced)
    w.format_line("mode {}: the same as balanced: kernels are chosen by rules, launches are not recorded",
                  mode == Mode::max_autotune ? "max_autotune" : "reduce_overhead");
  std::shared_lock lock(impl_->mutex);
  for (const auto& [key, group] : impl_->groups)
    if (!group.eager_reason.empty()) w.line("runs uncompiled: " + group.eager_reason);
  for (std::size_t i = 0; i < impl_->entries.size(); ++i) {
    auto block = w.block(fmt::format("artifact {} {{", i));
    w.write(compiler::explain(*impl_->entries[i]->artifact));
  }
  return w.take();
}

std::string Core::why_recompiled() const {
  std::shared_lock lock(impl_->mutex);
  if (impl_->recompiles.empty()) return "no recompiles\n";
  return base::joined(impl_->recompiles, "\n") + "\n";
}

}  // namespace stax::frontend
