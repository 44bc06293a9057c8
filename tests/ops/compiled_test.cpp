// Compiled code against reference evaluation. Every operator × dtype × layout has an artifact whose sizes are symbols,
// which all samples that its guards admit run through; some samples, other ones each day, are compiled with their sizes
// as numbers. The full matrix, at every vector width, runs under STAX_TEST_ALL.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <iostream>
#include <random>
#include <set>

#include "base/env.h"
#include "batch.h"
#include "op_case.h"
#include "runtime/cpu/caching_allocator.h"

namespace stax::optest {
namespace {

constexpr int kShards = 8;

std::uint64_t seed() {
  if (const auto given = base::env_integer("STAX_FUZZ_SEED")) return static_cast<std::uint64_t>(*given);
  return static_cast<std::uint64_t>(std::time(nullptr)) / 86400;
}

std::vector<OpCase> cases_of_shard(int shard) {
  std::vector<OpCase> cases;
  const std::vector<const graph::OpDef*> ops = tested_ops();
  for (std::size_t i = static_cast<std::size_t>(shard); i < ops.size(); i += kShards)
    for (OpCase& c : cases_of(*ops[i])) cases.push_back(std::move(c));
  return cases;
}

// What a graph of symbols depends on: dtypes, ranks, attributes, which sizes are 0, 1 or equal, which strides are runs.
std::string key_of(const OpCase& c) {
  std::string key = c.op->name;
  std::map<std::int64_t, int> numbers;
  for (std::size_t i = 0; i < c.sample.operands.size(); ++i) {
    const Array& a = c.sample.operands[i];
    if (!a.defined()) {
      key += "|none";
      continue;
    }
    key += fmt::format("|{}{}", to_text(a.dtype()), c.is_scalar(i) ? "s" : "");
    for (std::int64_t n : a.sizes())
      key += n < 2 ? fmt::format(" {}", n)
                   : fmt::format(" n{}", numbers.try_emplace(n, static_cast<int>(numbers.size())).first->second);
    std::int64_t run = 1;
    std::string layout;
    for (int d = a.rank() - 1; d >= 0; --d) {
      const auto i2 = static_cast<std::size_t>(d);
      layout += a.size(d) < 2            ? "-"
                : a.strides()[i2] == run ? "r"
                : a.strides()[i2] == 0   ? "0"
                : a.strides()[i2] == 1   ? "1"
                : a.strides()[i2] == -1  ? "m"
                                         : "s";
      if (a.size(d) > 1) run = a.strides()[i2] * a.size(d);
    }
    key += ":" + layout;
  }
  const OpCase bare{c.op, {{}, {}, c.sample.attributes, 0, {}}, 0};
  return key + bare.text();
}

struct Run {
  const OpCase* op_case;
  CaseGraph inputs;
  int artifact;
};

// Empty, or what is wrong; nothing when the guards refuse and `must_fit` is false.
std::optional<std::string> check(const Batch& batch, const Run& run, bool must_fit) {
  if (!batch.error(run.artifact).empty()) return batch.error(run.artifact);
  const plan::Executable& e = *batch.executable(run.artifact);
  const std::vector<const Array*> tensors = run.inputs.tensor_pointers();
  const std::vector<plan::ScalarValue> scalars = run.inputs.scalar_values();
  const plan::CallArgs args{tensors, scalars};
  plan::GuardFailure why;
  if (!e.check(args, &why)) return must_fit ? std::optional("refused by its own artifact: " + why.text) : std::nullopt;
  try {
    std::vector<Array> outputs(e.plan().outputs.size());
    poison_free_memory();
    e.run(args, outputs);
    return difference(outputs, reference(*run.op_case), run.op_case->sample.tolerance);
  } catch (const std::exception& error) {
    return error.what();
  }
}

class Report {
 public:
  void failed(const OpCase& c, std::string_view how, const std::string& problem) {
    if (++by_op_[c.op->name] <= 4) ADD_FAILURE() << how << ": " << c.text() << "\n  " << problem;
  }
  void ran() { ++runs_; }
  void finish(std::string_view how, const Batch& batch) const {
    std::cout << fmt::format("{}: {} runs, {} kernels\n", how, runs_, batch.kernel_count());
    for (const auto& [op, count] : by_op_)
      if (count > 4) ADD_FAILURE() << op << ": " << count << " failures in all";
    EXPECT_GT(runs_, 0);
  }

 private:
  std::map<std::string, int> by_op_;
  int runs_ = 0;
};

// One artifact a key; a sample that its key's artifact refuses gets its own.
void run_dynamic(const std::vector<OpCase>& cases, int vector_bytes, std::string_view how) {
  Batch batch(vector_bytes);
  Report report;
  std::map<std::string, int> artifacts;
  std::vector<Run> runs;
  std::vector<bool> own;
  for (const OpCase& c : cases) {
    try {
      CaseGraph g = build_graph(c, Sizes::symbols);
      auto [it, fresh] = artifacts.try_emplace(key_of(c), 0);
      if (fresh) it->second = batch.add(std::move(g.graph));
      runs.push_back({&c, std::move(g), it->second});
      own.push_back(fresh);
    } catch (const std::exception& e) {
      report.failed(c, how, e.what());
    }
  }
  batch.build();
  std::vector<Run> refused;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::optional<std::string> problem = check(batch, runs[i], own[i]);
    if (!problem)
      refused.push_back({runs[i].op_case, build_graph(*runs[i].op_case, Sizes::symbols), 0});
    else if (!problem->empty())
      report.failed(*runs[i].op_case, how, *problem);
    if (problem) report.ran();
  }
  for (Run& r : refused) r.artifact = batch.add(std::move(r.inputs.graph));
  batch.build();
  for (const Run& r : refused) {
    report.ran();
    if (const std::string problem = check(batch, r, true).value(); !problem.empty())
      report.failed(*r.op_case, how, problem);
  }
  report.finish(how, batch);
}

void run_static(const std::vector<OpCase>& cases, int vector_bytes, std::string_view how) {
  Batch batch(vector_bytes);
  Report report;
  std::vector<Run> runs;
  for (const OpCase& c : cases) {
    try {
      CaseGraph g = build_graph(c, Sizes::numbers);
      const int artifact = batch.add(std::move(g.graph));
      runs.push_back({&c, std::move(g), artifact});
    } catch (const std::exception& e) {
      report.failed(c, how, e.what());
    }
  }
  batch.build();
  for (const Run& r : runs) {
    report.ran();
    if (const std::string problem = check(batch, r, true).value(); !problem.empty())
      report.failed(*r.op_case, how, problem);
  }
  report.finish(how, batch);
}

// The executor's next blocks show what a kernel leaves unwritten.
TEST(PoisonedMemory, IsWhatTheExecutorGets) {
  poison_free_memory();
  runtime::CachingAllocator& memory = runtime::CachingAllocator::cpu();
  for (const std::size_t bytes : {256, 700, 4000}) {
    auto* data = static_cast<unsigned char*>(memory.allocate(bytes));
    EXPECT_EQ(data[64], 0xff) << bytes;
    EXPECT_EQ(data[bytes - 1], 0xff) << bytes;
    memory.release(data, bytes);
  }
}

class OpCompiled : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Shard, OpCompiled, testing::Range(0, kShards));

TEST_P(OpCompiled, Symbols) { run_dynamic(cases_of_shard(GetParam()), 0, "symbols"); }

TEST_P(OpCompiled, SomeNumbers) {
  const std::uint64_t s = seed();
  std::cout << "STAX_FUZZ_SEED=" << s << '\n';
  std::vector<OpCase> cases = cases_of_shard(GetParam());
  std::shuffle(cases.begin(), cases.end(), std::mt19937_64(s));
  cases.resize(std::min<std::size_t>(cases.size(), 30));
  run_static(cases, 0, "numbers");
}

class OpCompiledLong : public testing::TestWithParam<std::tuple<int, int>> {
  void SetUp() override {
    if (!base::env_flag("STAX_TEST_ALL").value_or(false)) GTEST_SKIP() << "runs with STAX_TEST_ALL=1";
    if (!Batch::supports(width())) GTEST_SKIP() << "this CPU has no vectors of " << width() << " bytes";
  }

 protected:
  int width() const { return std::get<1>(GetParam()); }
  std::vector<OpCase> cases() const { return cases_of_shard(std::get<0>(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Shard, OpCompiledLong,
                         testing::Combine(testing::Range(0, kShards), testing::Values(16, 32, 64)));

TEST_P(OpCompiledLong, Symbols) { run_dynamic(cases(), width(), fmt::format("symbols at {} bytes", width())); }
TEST_P(OpCompiledLong, Numbers) { run_static(cases(), width(), fmt::format("numbers at {} bytes", width())); }

}  // namespace
}  // namespace stax::optest
