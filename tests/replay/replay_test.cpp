// The GPU kernels of a fixed corpus, with their schedules and plans, as they were generated last: a change of the
// compiler shows its diff. `test_replay --update` writes the files anew.
//
// The corpus: the loop programs of tests/unit/schedule/triton_corpus.cpp and the graphs of tests/golden/examples and
// tests/replay/graphs, for the null device (132 multiprocessors, sm_90).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "../unit/schedule/triton_corpus.h"
#include "base/file.h"
#include "compile/assemble.h"
#include "graph/interpret.h"
#include "loop/text.h"
#include "ops/ops.h"
#include "passes/lower.h"
#include "schedule/text.h"

namespace stax::replay {

bool update = false;

namespace {

namespace fs = std::filesystem;
const fs::path kFolder = fs::path(STAX_SOURCE_DIR) / "tests/replay/kernels";
constexpr Device kNull{DeviceKind::null_gpu, 0};

struct Case {
  std::string name, graph, program;  // one of the texts
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

std::string graph_section(const std::string& text) {
  const std::size_t begin = text.find("== graph\n");
  if (begin == std::string::npos) return text;
  const std::size_t from = begin + 9;
  return text.substr(from, text.find("\n== ", from) + 1 - from);
}

std::vector<Case> corpus() {
  std::vector<Case> cases;
  for (const test::TritonCase& c : test::triton_corpus()) cases.push_back({"loops_" + c.name, "", c.text});
  std::vector<fs::path> files;
  for (const char* folder : {"tests/golden/examples", "tests/replay/graphs"})
    for (const auto& entry : fs::directory_iterator(fs::path(STAX_SOURCE_DIR) / folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& f : files) cases.push_back({f.stem().string(), graph_section(base::read_file(f)), ""});
  return cases;
}

graph::Graph on_null(const std::string& text) {
  ops::register_all();
  static const std::regex type(R"((: [a-z0-9]+\[[^\]]*\]( strides \([^)]*\))?))");
  return graph::parse_graph(std::regex_replace(text, type, "$1 device \"null\""));
}

const schedule::Target kTarget = schedule::GpuTarget{};

struct Generated {
  std::optional<graph::Graph> graph;
  loop::Program program;  // fused
  std::vector<compiler::ScheduledKernel> kernels;

  std::vector<schedule::KernelSchedule> schedules() const {
    std::vector<schedule::KernelSchedule> all;
    for (const compiler::ScheduledKernel& k : kernels) all.push_back(compiler::program_schedule(k));
    return all;
  }
  std::string sources() const {
    std::string text;
    int next = 0;
    for (const compiler::ScheduledKernel& k : kernels)
      if (k.code == next) text += "\n" + k.source, ++next;
    return text;
  }
  // Schedules, the source of every distinct kernel, and of a graph the plan.
  std::string text() const {
    std::string all = schedule::to_text(program, schedules()) + sources();
    if (graph) all += "\n" + compiler::listing(compiler::assemble(*graph, program, kernels, {}));
    return all;
  }
};

Generated generate(const Case& c) {
  const compiler::Settings settings;
  Generated g;
  if (c.graph.empty()) {
    g.program = loop::parse_program(c.program);
  } else {
    g.graph = on_null(c.graph);
    loop::Program p = passes::lower(compiler::run_passes(*g.graph, settings), {settings.index_checks});
    fusion::split_reductions(p, compiler::split_target(kTarget));
    g.program = fusion::fuse(std::move(p), compiler::fusion_options(settings, kTarget)).program;
    compiler::normalise_kernels(g.program);
  }
  g.kernels = compiler::emit_kernels(g.program, kTarget);
  return g;
}

class Replay : public testing::TestWithParam<Case> {};

TEST_P(Replay, TextIsThatOfTheFile) {
  const fs::path path = kFolder / (GetParam().name + ".txt");
  const std::string text = generate(GetParam()).text();
  if (update) base::write_file_atomic(path, text);
  ASSERT_TRUE(fs::exists(path)) << "test_replay --update writes it";
  EXPECT_EQ(base::read_file(path), text) << "test_replay --update accepts the new text";
}

TEST_P(Replay, ScheduledTextsReadBack) {
  const Generated g = generate(GetParam());
  const std::string text = loop::to_text(g.program) + schedule::to_text(g.program, g.schedules());
  const schedule::ScheduledProgram read = schedule::parse_scheduled(text);
  EXPECT_EQ(loop::to_text(read.program) + schedule::to_text(read.program, read.schedules.value()), text);
  Generated again;
  again.program = loop::parse_program(loop::to_text(g.program));
  again.kernels = compiler::emit_kernels(read.program, kTarget, &*read.schedules);
  EXPECT_EQ(again.sources(), g.sources());
}

INSTANTIATE_TEST_SUITE_P(Corpus, Replay, testing::ValuesIn(corpus()), [](const auto& info) { return info.param.name; });

TEST(ReplayFiles, AllBelongToTheCorpus) {
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const auto cases = corpus();
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& c) { return c.name == entry.path().stem().string(); }))
        << entry.path();
  }
}

}  // namespace
}  // namespace stax::replay

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) stax::replay::update |= std::string(argv[i]) == "--update";
  return RUN_ALL_TESTS();
}
