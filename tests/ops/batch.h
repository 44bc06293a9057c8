// Compiles many graphs with few runs of the compiler: the kernels of all of them, equal ones once, are gathered in a
// few translation units.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/pipeline.h"
#include "plan/executable.h"

namespace stax::optest {

class Batch {
 public:
  // vector_bytes 16, 32, 64, which the CPU must support; 0: the machine's.
  explicit Batch(int vector_bytes = 0, compiler::Settings settings = {});
  static bool supports(int vector_bytes);

  // All stages up to the source. The graph is kept. Faults of the stages are kept for `error`.
  int add(graph::Graph graph);
  void build();
  // Of an artifact, after build. Null when `error` is not empty.
  const plan::Executable* executable(int artifact) const;
  const std::string& error(int artifact) const;

  std::size_t kernel_count() const { return kernels_.size(); }

 private:
  struct Code {
    loop::Canonical canonical;
    loop::CpuSchedule schedule;
    std::string symbol, error;
    std::shared_ptr<runtime::Module> module;
  };
  struct Artifact {
    graph::Graph graph;
    loop::Program program;
    std::vector<compiler::ScheduledKernel> kernels;
    std::vector<std::size_t> codes;  // of the kernels
    std::unique_ptr<plan::Executable> executable;
    std::string error;
  };
  std::string source(std::span<Code* const> codes) const;
  void compile(std::vector<Code*> codes);
  void assemble(Artifact& a);

  compiler::Settings settings_;
  schedule::CpuTarget target_;
  build::CppOptions cpp_;
  std::vector<std::unique_ptr<Code>> kernels_;
  std::map<std::string, std::size_t> by_text_;
  std::vector<std::unique_ptr<Artifact>> artifacts_;
};

// Memory that the next call gets is filled with a pattern that is NaN in every floating dtype.
void poison_free_memory();

}  // namespace stax::optest
