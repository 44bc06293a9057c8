#include "compile/explain.h"

#include "base/text.h"
#include "plan/text.h"

namespace stax::compiler {

std::string explain(const Artifact& artifact) {
  base::TextWriter w;
  const plan::Plan& plan = artifact.executable.plan();
  {
    auto guards = w.block("guards {");
    for (const std::string& g : artifact.guards) w.line(g);
  }
  for (const KernelReport& k : artifact.kernels) {
    auto kernel = w.block("kernel " + k.name + " {");
    if (k.shared) {
      w.line("the code of an earlier kernel, on other buffers");
      continue;
    }
    w.write(k.loops);
    w.line(k.schedule);
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
