#include "compiled.h"

#include <fmt/format.h>

#include "codegen/cpp/emit.h"
#include "compile/assemble.h"
#include "runtime/cpu/isa.h"
#include "runtime/device_runtime.h"

namespace stax::fuzz {

namespace {

struct Prepared {
  const Case* test = nullptr;
  int vector_bytes = 0;
  loop::Program program;
  std::vector<compiler::ScheduledKernel> kernels;
  int codes = 0;
};

// A distinct name for the code of every kernel of every graph.
Prepared prepare(const Case& c, std::size_t number, int vector_bytes) {
  Prepared p;
  p.test = &c;
  p.vector_bytes = vector_bytes;
  const schedule::CpuTarget target = c.target(vector_bytes);
  p.program = c.fused(target);
  p.kernels = compiler::emit_kernels(p.program, target);
  for (compiler::ScheduledKernel& k : p.kernels) {
    k.symbol = fmt::format("g{}_k{}", number, k.code);
    p.codes = std::max(p.codes, k.code + 1);
  }
  return p;
}

std::string source_of(std::span<const Prepared* const> list) {
  std::vector<codegen::CppKernel> kernels;
  for (const Prepared* p : list) {
    int next = 0;
    for (const compiler::ScheduledKernel& k : p->kernels)
      if (k.code == next)
        ++next,
            kernels.push_back({k.symbol, &k.canonical.program, &std::get<loop::Kernel>(k.canonical.program.items.at(0)),
                               &std::get<loop::CpuSchedule>(k.schedule)});
  }
  return codegen::emit_cpp(kernels, list.front()->vector_bytes);
}

std::shared_ptr<runtime::Module> load(const std::string& name, std::string object) {
  return runtime::runtime_for(Device{}).load_module({name, std::move(object), runtime::host_target().isa});
}

std::string run_all(const Prepared& p, const std::shared_ptr<runtime::Module>& module, int& calls) {
  std::string stage = "plan";
  try {
    const plan::Executable e(compiler::assemble(p.test->graph().graph, p.program, p.kernels, {}),
                             std::vector(static_cast<std::size_t>(p.codes), module));
    int poison = 0xff;  // NaN, -1
    for (const auto& sizes : p.test->sizes()) {
      const std::string at = fmt::format(" at sizes [{}]", fmt::join(sizes, ", "));
      stage = "reference" + at;
      const Outcome expected = p.test->reference(sizes);
      stage = fmt::format("compiled code ({} byte vectors){}", p.vector_bytes, at);
      if (std::string text = p.test->difference(p.test->run(e, sizes, poison), expected, sizes); !text.empty())
        return stage + ": " + text;
      poison = 0x55;
      ++calls;
    }
  } catch (const std::exception& e) {
    return stage + ": " + e.what();
  }
  return {};
}

int vector_bytes_of(const Recipe& r) {
  const int widest = runtime::host_target().vector_bytes;
  static constexpr int kWidths[] = {64, 64, 64, 32, 16};
  Random random(r.seed ^ 0x3c6ef372u);
  return std::min(widest, random.pick(kWidths));
}

}  // namespace

std::vector<CompiledResult> check_compiled(std::span<const Case* const> cases, int units) {
  std::vector<CompiledResult> results(cases.size());
  std::vector<Prepared> prepared(cases.size());
  // Units by vector width, each of about the same number of kernels.
  std::map<int, std::vector<std::size_t>> by_width;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    try {
      prepared[i] = prepare(*cases[i], i, vector_bytes_of(cases[i]->recipe()));
      results[i].kernels = prepared[i].codes;
      by_width[prepared[i].vector_bytes].push_back(i);
    } catch (const std::exception& e) {
      results[i].problem = std::string("emit: ") + e.what();
    }
  }
  std::vector<std::vector<std::size_t>> groups;
  for (const auto& [width, list] : by_width) {
    const std::size_t most = cases.size() / static_cast<std::size_t>(std::max(units, 1)) + 1;
    for (std::size_t i = 0; i < list.size(); i += most)
      groups.emplace_back(list.begin() + static_cast<std::ptrdiff_t>(i),
                          list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), i + most)));
  }
  build::CppOptions options;
  options.jobs = units;
  options.timeout = std::chrono::minutes(20);
  const build::CppCompiler compiler(options);
  auto job = [&](const std::vector<std::size_t>& group, std::size_t number) {
    std::vector<const Prepared*> list;
    for (std::size_t i : group) list.push_back(&prepared[i]);
    return build::CppJob{fmt::format("fuzz{}", number), source_of(list)};
  };
  std::vector<build::CppJob> jobs;
  for (std::size_t g = 0; g < groups.size(); ++g) jobs.push_back(job(groups[g], g));
  std::vector<std::string> objects;
  try {
    objects = compiler.compile_all(jobs);
  } catch (const std::exception&) {
    objects.clear();  // one by one, to find which
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::shared_ptr<runtime::Module> shared = objects.empty() ? nullptr : load(jobs[g].name, objects[g]);
    for (std::size_t i : groups[g]) {
      try {
        const auto module = shared ? shared : load("fuzz", compiler.compile(job({i}, i)));
        results[i].problem = run_all(prepared[i], module, results[i].calls);
      } catch (const std::exception& e) {
        results[i].problem = std::string("build: ") + e.what();
      }
    }
  }
  return results;
}

}  // namespace stax::fuzz
