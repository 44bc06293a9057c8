// The samples of the catalogue on the null device: every operator has an artifact with sizes as symbols whose kernels
// compile for sm_90 and whose plan runs; the other samples take turns, all of them under STAX_TEST_ALL. Without Triton
// the kernels are printed but not compiled.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <random>

#include "base/env.h"
#include "base/file.h"
#include "codegen/triton/job.h"
#include "compile/assemble.h"
#include "graph/interpret.h"
#include "op_case.h"
#include "passes/lower.h"
#include "runtime/null/null_runtime.h"

namespace stax::optest {
namespace {

constexpr Device kNull{DeviceKind::null_gpu, 0};
constexpr int kShards = 4;
constexpr std::size_t kOthers = 20;  // samples of a shard beside one of every operator

std::uint64_t seed() {
  if (const auto given = base::env_integer("STAX_FUZZ_SEED")) return static_cast<std::uint64_t>(*given);
  return static_cast<std::uint64_t>(std::time(nullptr)) / 86400;
}

std::vector<OpCase> cases_of_shard(int shard) {
  std::vector<OpCase> first, others;
  const std::vector<const graph::OpDef*> ops = tested_ops();
  for (std::size_t i = static_cast<std::size_t>(shard); i < ops.size(); i += kShards)
    for (OpCase& c : cases_of(*ops[i])) (c.number == 0 ? first : others).push_back(std::move(c));
  if (!base::env_flag("STAX_TEST_ALL").value_or(false)) {
    std::shuffle(others.begin(), others.end(), std::mt19937_64(seed()));
    others.resize(std::min(others.size(), kOthers));
  }
  first.insert(first.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return first;
}

void move_to_null(graph::Graph& g) {
  for (graph::Node* n : g.nodes()) {
    for (graph::TensorType& t : n->types)
      if (!t.scalar) t.device = kNull;
    if (const auto it = n->attributes.find("device"); it != n->attributes.end()) it->second = std::string("null");
  }
  graph::verify(g);
}

Array on_null(const Array& a) {
  auto storage = std::make_shared<Storage>(runtime::null_runtime().allocator(), a.storage()->bytes(), kNull);
  return Array(std::move(storage), a.dtype(), a.layout());
}

struct Compiled {
  const OpCase* op_case = nullptr;
  CaseGraph inputs;
  plan::Plan plan;
  std::vector<std::size_t> codes;  // positions of its modules among all jobs
};

bool is_float8(const OpCase& c) {
  const std::string text = c.text();
  return text.find("f8e") != std::string::npos;
}

void compile(const OpCase& c, std::vector<Compiled>& all, std::vector<build::TritonJob>& jobs) {
  const compiler::Settings settings;
  const schedule::Target target = compiler::Session::of({}).target(kNull);
  Compiled one{&c, build_graph(c, Sizes::symbols), {}, {}};
  graph::Graph& g = one.inputs.graph;
  move_to_null(g);
  loop::Program p = passes::lower(compiler::run_passes(g, settings), {settings.index_checks});
  fusion::split_reductions(p, compiler::split_target(target));
  p = fusion::fuse(std::move(p), compiler::fusion_options(settings, target)).program;
  compiler::normalise_kernels(p);
  loop::verify(p);
  const auto kernels = compiler::emit_kernels(p, target);
  one.plan = compiler::assemble(g, p, kernels, {});
  for (const compiler::ScheduledKernel& k : kernels) {
    if (k.code != static_cast<int>(one.codes.size())) continue;
    one.codes.push_back(jobs.size());
    jobs.push_back(codegen::job_of(*k.triton));
    jobs.back().name = fmt::format("{} of {}", k.symbol, c.text());
  }
  all.push_back(std::move(one));
}

void run(const Compiled& one, const std::vector<std::shared_ptr<runtime::Module>>& modules) {
  std::vector<std::shared_ptr<runtime::Module>> own;
  for (const std::size_t i : one.codes) own.push_back(modules[i]);
  const plan::Executable e(one.plan, own);
  std::vector<Array> tensors;
  for (const Array* a : one.inputs.tensor_pointers()) tensors.push_back(on_null(*a));
  std::vector<const Array*> pointers;
  for (const Array& a : tensors) pointers.push_back(&a);
  const std::vector<plan::ScalarValue> scalars = one.inputs.scalar_values();
  const plan::CallArgs args{pointers, scalars};
  plan::GuardFailure why;
  ASSERT_TRUE(e.check(args, &why) || why.text.find("aligned") != std::string::npos) << why.text;
  std::vector<Array> outputs(e.plan().outputs.size());
  e.run(args, outputs);
  for (const Array& a : outputs) EXPECT_EQ(a.device(), kNull);
}

class OpNull : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Shard, OpNull, testing::Range(0, kShards));

TEST_P(OpNull, KernelsCompileAndPlansRun) {
  std::cout << "STAX_FUZZ_SEED=" << seed() << '\n';
  std::vector<OpCase> cases = cases_of_shard(GetParam());
  std::vector<Compiled> all;
  std::vector<build::TritonJob> jobs;
  for (const OpCase& c : cases) {
    if (is_float8(c)) continue;  // no target has it
    try {
      compile(c, all, jobs);
    } catch (const std::exception& e) {
      ADD_FAILURE() << c.text() << "\n  " << e.what();
    }
  }
  ::setenv("STAX_PYTHON", STAX_SOURCE_DIR "/.venv/bin/python3", 0);
  const base::TempDir cache("stax-null-ops");
  std::vector<std::shared_ptr<runtime::Module>> modules;
  try {
    for (build::GpuKernel& k :
         compiler::Session::of(cache.path().string()).gpu_kernels().build_or_load_all(jobs, kNull))
      modules.push_back(std::move(k.module));
  } catch (const UserError& e) {
    GTEST_SKIP() << e.what();
  }
  std::cout << fmt::format("{} graphs, {} kernels\n", all.size(), jobs.size());
  for (const Compiled& one : all) {
    SCOPED_TRACE(one.op_case->text());
    try {
      run(one, modules);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

}  // namespace
}  // namespace stax::optest
