#include "compile/explain.h"

#include <fmt/format.h>

#include "base/text.h"
#include "plan/text.h"

namespace stax::compiler {

namespace {

void write_gpu(base::TextWriter& w, const GpuKernelReport& g) {
  const build::KernelResources& r = g.resources;
  std::string blocks;
  for (const auto& [name, length] : g.constants) blocks += fmt::format(", {} {}", name, length);
  w.format_line(
      "launch: grid {}{}, {} threads ({} warps) a program{}", g.grid,
      g.programs && g.grid != std::to_string(*g.programs) ? fmt::format(" = {} at the hints", *g.programs) : "",
      32 * r.warps, r.warps, blocks);
  w.format_line("compiled: {} registers a thread, {} bytes of shared memory a program, spills {} bytes, stack {} bytes",
                r.registers, r.shared, r.spills, r.stack);
}

}  // namespace

std::string explain(const Artifact& artifact) {
  base::TextWriter w;
  const plan::Plan& plan = artifact.executable.plan();
  {
    auto guards = w.block("guards {");
    for (const std::string& g : artifact.guards) w.line(g);
  }
  if (artifact.wishes)
    for (const plan::Guard& g : artifact.wishes->list())
      w.line("other calls may get kernels that count on " + plan::to_text(g, plan));
  for (const KernelReport& k : artifact.kernels) {
    auto kernel = w.block("kernel " + k.name + " {");
    if (k.shared) {
      w.line("the code of an earlier kernel, on other buffers");
    } else {
      w.write(k.loops);
      w.line(k.schedule);
    }
    if (k.gpu) write_gpu(w, *k.gpu);
  }
  for (const std::string& c : artifact.library_calls) w.line("library call " + c);
  for (const plan::Buffer& b : plan.buffers)
    if (b.kind == plan::BufferKind::temporary)
      w.format_line("buffer {} {} bytes {}", b.name, to_text(b.dtype), symbolic::to_string(b.bytes));
  w.write(artifact.fusion_report);
  w.format_line("memory traffic of the kernels at the hints: {} bytes", artifact.bytes);
  for (const StageTime& t : artifact.times)
    w.format_line("stage {} {:.2f} ms", t.stage, static_cast<double>(t.time.count()) * 1e-3);
  w.write(plan::to_text(plan));
  return w.take();
}

}  // namespace stax::compiler
