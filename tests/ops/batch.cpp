#include "batch.h"

#include <fmt/format.h>

#include <cstring>

#include "codegen/cpp/emit.h"
#include "compile/assemble.h"
#include "loop/text.h"
#include "passes/lower.h"
#include "runtime/cpu/caching_allocator.h"
#include "runtime/cpu/isa.h"

namespace stax::optest {

namespace {

constexpr std::size_t kKernelsPerUnit = 24;

runtime::CpuTarget target_of(int vector_bytes) {
  if (vector_bytes == 64) return {"avx512", 64};
  if (vector_bytes == 32) return {"avx2", 32};
  if (vector_bytes == 16) return {"sse2", 16};
  return runtime::host_target();
}

}  // namespace

bool Batch::supports(int vector_bytes) { return runtime::cpu_supports(target_of(vector_bytes).isa); }

Batch::Batch(int vector_bytes, compiler::Settings settings) : settings_(std::move(settings)) {
  cpp_.target = target_of(vector_bytes);
  target_ = compiler::Session::of("").cpu_target();
  target_.vector_bytes = cpp_.target.vector_bytes;
}

int Batch::add(graph::Graph graph) {
  artifacts_.push_back(std::make_unique<Artifact>(Artifact{std::move(graph), {}, {}, {}, nullptr, {}}));
  Artifact& a = *artifacts_.back();
  try {
    loop::Program lowered = passes::lower(compiler::run_passes(a.graph, settings_), {settings_.index_checks});
    a.program = fusion::fuse(std::move(lowered), compiler::fusion_options(settings_, target_)).program;
    compiler::normalise_kernels(a.program);
    loop::verify(a.program);
    for (const loop::Item& item : a.program.items) {
      const auto* k = std::get_if<loop::Kernel>(&item);
      if (!k) continue;
      auto code = std::make_unique<Code>();
      code->canonical = loop::canonicalize(a.program, *k);
      const auto& canonical = std::get<loop::Kernel>(code->canonical.program.items.at(0));
      code->schedule = schedule::schedule_cpu(canonical, code->canonical.program, target_);
      auto [it, fresh] = by_text_.try_emplace(
          loop::to_text(code->canonical.program) + loop::to_text(code->schedule, canonical), kernels_.size());
      compiler::ScheduledKernel scheduled;
      scheduled.canonical = code->canonical, scheduled.schedule = code->schedule;
      a.kernels.push_back(std::move(scheduled));
      a.codes.push_back(it->second);
      code->symbol = fmt::format("k{}_{}", kernels_.size(), k->name);
      if (fresh) kernels_.push_back(std::move(code));
    }
  } catch (const std::exception& e) {
    a.error = e.what();
  }
  return static_cast<int>(artifacts_.size()) - 1;
}

std::string Batch::source(std::span<Code* const> codes) const {
  std::vector<codegen::CppKernel> kernels;
  for (const Code* c : codes)
    kernels.push_back(
        {c->symbol, &c->canonical.program, &std::get<loop::Kernel>(c->canonical.program.items.at(0)), &c->schedule});
  return codegen::emit_cpp(kernels, target_.vector_bytes);
}

// A unit that fails is taken apart, so that the fault lands on the kernel that has it.
void Batch::compile(std::vector<Code*> codes) {
  const build::CppCompiler compiler(cpp_);
  build::KernelStore store(compiler, nullptr);
  std::vector<std::vector<Code*>> units;
  std::vector<build::CppJob> jobs;
  auto flush = [&](std::vector<Code*> unit) {
    if (unit.empty()) return;
    jobs.push_back({unit.front()->symbol, source(unit)});
    units.push_back(std::move(unit));
  };
  std::vector<Code*> unit;
  for (Code* c : codes) {
    try {
      source({&c, 1});
    } catch (const std::exception& e) {
      c->error = fmt::format("{}: {}", c->symbol, e.what());
      continue;
    }
    unit.push_back(c);
    if (unit.size() == kKernelsPerUnit) flush(std::move(unit)), unit.clear();
  }
  flush(std::move(unit));
  try {
    const auto modules = store.build_or_load_all(jobs);
    for (std::size_t i = 0; i < units.size(); ++i)
      for (Code* c : units[i]) c->module = modules[i];
    return;
  } catch (const std::exception&) {}
  for (std::size_t i = 0; i < units.size(); ++i) {
    try {
      for (Code* c : units[i]) c->module = store.build_or_load(jobs[i]);
      continue;
    } catch (const std::exception&) {}
    for (Code* c : units[i]) {
      try {
        c->module = store.build_or_load({c->symbol, source({&c, 1})});
      } catch (const std::exception& e) {
        c->error = fmt::format("{}: {}", c->symbol, e.what());
      }
    }
  }
}

void Batch::assemble(Artifact& a) {
  std::vector<std::shared_ptr<runtime::Module>> modules;
  std::map<std::size_t, int> position;
  for (std::size_t i = 0; i < a.kernels.size(); ++i) {
    const Code& code = *kernels_[a.codes[i]];
    if (!code.error.empty()) throw std::runtime_error(code.error);
    auto [it, fresh] = position.try_emplace(a.codes[i], static_cast<int>(modules.size()));
    if (fresh) modules.push_back(code.module);
    a.kernels[i].symbol = code.symbol;
    a.kernels[i].code = it->second;
  }
  a.executable =
      std::make_unique<plan::Executable>(compiler::assemble(a.graph, a.program, a.kernels, {}), std::move(modules));
}

void Batch::build() {
  std::vector<Code*> missing;
  for (const auto& code : kernels_)
    if (!code->module && code->error.empty()) missing.push_back(code.get());
  if (!missing.empty()) compile(std::move(missing));
  for (const auto& a : artifacts_) {
    if (a->executable || !a->error.empty()) continue;
    try {
      assemble(*a);
    } catch (const std::exception& e) {
      a->error = e.what();
    }
  }
}

const plan::Executable* Batch::executable(int artifact) const {
  return artifacts_[static_cast<std::size_t>(artifact)]->executable.get();
}
const std::string& Batch::error(int artifact) const { return artifacts_[static_cast<std::size_t>(artifact)]->error; }

void poison_free_memory() {
  runtime::CachingAllocator& memory = runtime::CachingAllocator::cpu();
  std::vector<std::pair<void*, std::size_t>> blocks;
  // One size of each of the allocator's classes.
  for (std::size_t base = 512; base <= 8192; base *= 2)
    for (std::size_t bytes = base == 512 ? 64 : base; bytes < 2 * base; bytes += base / 8)
      for (int i = 0; i < 2; ++i) blocks.emplace_back(memory.allocate(bytes), bytes);
  for (auto [data, bytes] : blocks) std::memset(data, 0xff, bytes);
  for (auto [data, bytes] : blocks) memory.release(data, bytes);
}

}  // namespace stax::optest
