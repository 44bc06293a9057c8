#include "codegen/cpp/emit.h"

#include "codegen/cpp/kernel_emitter.h"
#include "codegen/cpp/prelude.h"

namespace stax::codegen {

std::string emit_cpp(std::span<const CppKernel> kernels, int vector_bytes) {
  std::set<std::string_view> needs;
  std::string body;
  for (const CppKernel& k : kernels) {
    KernelEmitter emitter(k, vector_bytes);
    body += "\n// " + k.kernel->name + "\n" + emitter.text();
    needs.insert(emitter.needs().begin(), emitter.needs().end());
  }
  const std::vector<std::string_view> wanted(needs.begin(), needs.end());
  return prelude_text(wanted, vector_bytes) + body;
}

}  // namespace stax::codegen
