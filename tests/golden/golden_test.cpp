// Every example of examples.cpp: its texts are those of tests/golden/examples/NAME.txt, each text reads back to itself,
// and every stage computes the same numbers. `test_golden --update` writes the files anew; lines to check are kept.
#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "common/execute.h"
#include "golden_file.h"
#include "graph/interpret.h"
#include "loop/text.h"
#include "plan/text.h"
#include "schedule/text.h"
#include "stages.h"

namespace stax::golden {

bool update = false;

namespace {

std::string path_of(const Example& e) { return STAX_SOURCE_DIR "/tests/golden/examples/" + e.name + ".txt"; }

void write_anew(const Example& e, const Stages& stages) {
  const std::vector<Section> old = read_sections(path_of(e));
  std::vector<Section> sections;
  for (const std::string& stage : e.stages) {
    Section s{stage, stage == "cpp" || stage == "schedule", stages.texts.at(stage)};
    for (const Section& o : old)
      if (o.stage == stage && o.check) s = o;
    sections.push_back(s);
  }
  write_sections(path_of(e), e.title, sections);
}

double difference(const Array& a, const Array& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return INFINITY;
  double worst = 0;
  for_each_index({a.sizes().data(), a.sizes().size()}, [&](std::span<const std::int64_t> i) {
    const double x = read_f64(a, i), y = read_f64(b, i);
    if (!(std::isnan(x) && std::isnan(y)) && x != y) worst = std::max(worst, std::abs(x - y) / (1 + std::abs(y)));
  });
  return worst;
}

class Golden : public testing::TestWithParam<Example> {};

TEST_P(Golden, TextsAreThoseOfTheFile) {
  const Stages stages = stages_of(GetParam());
  if (update) write_anew(GetParam(), stages);
  std::vector<std::string> seen;
  for (const Section& s : read_sections(path_of(GetParam()))) {
    seen.push_back(s.stage);
    ASSERT_TRUE(stages.texts.contains(s.stage)) << "no stage " << s.stage;
    const std::string& text = stages.texts.at(s.stage);
    if (s.check)
      EXPECT_EQ(missing_line(s.text, text), "") << "in the text of stage " << s.stage << ":\n" << text;
    else
      EXPECT_EQ(text, s.text) << "stage " << s.stage << "; test_golden --update accepts the new text";
  }
  EXPECT_EQ(seen, GetParam().stages);
}

TEST_P(Golden, TextsReadBack) {
  const Stages stages = stages_of(GetParam());
  for (const char* stage : {"lowered", "fused", "split"}) {
    const loop::Program p = loop::parse_program(stages.texts.at(stage), stage);
    loop::verify(p);
    EXPECT_EQ(loop::to_text(p), stages.texts.at(stage));
  }
  const std::string scheduled = stages.texts.at("fused") + stages.texts.at("schedule");
  const schedule::ScheduledProgram read = schedule::parse_scheduled(scheduled);
  EXPECT_EQ(loop::to_text(read.program) + schedule::to_text(read.program, read.schedules.value()), scheduled);
  const plan::Plan plan = plan::parse_plan(stages.texts.at("plan"), std::make_shared<symbolic::Context>());
  EXPECT_EQ(plan::to_text(plan), stages.texts.at("plan"));
}

TEST_P(Golden, StagesComputeTheSame) {
  const Example& e = GetParam();
  const Stages stages = stages_of(e);
  const auto artifact = compiler::compile_graph(stages.graph, {}, compiler::Session::of({}));
  for (const std::vector<std::string>& dims : e.runs) {
    const tools::Inputs inputs = tools::gather_inputs(stages.graph, {{}, dims, {}});
    const Array expected = tools::run_reference(stages.graph, inputs).at(0).array;
    const auto check = [&](const char* what, const std::vector<tools::Result>& results) {
      EXPECT_LE(difference(results.at(0).array, expected), e.tolerance) << what;
    };
    check("lowered", tools::run_loops(stages.lowered, inputs));
    check("fused", tools::run_loops(stages.fused, inputs));
    check("split", tools::run_loops(stages.split, inputs));
    check("compiled", tools::run_compiled(artifact->executable, inputs));
    check("split, compiled", tools::run_compiled(tools::build_program(stages.split, nullptr), inputs));
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, Golden, testing::ValuesIn(examples()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace stax::golden

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) stax::golden::update |= std::string(argv[i]) == "--update";
  const stax::base::TempDir cache("stax-golden");
  ::setenv("STAX_CACHE_DIR", cache.path().c_str(), 1);
  return RUN_ALL_TESTS();
}
