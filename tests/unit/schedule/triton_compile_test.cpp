// Every kernel of the corpus is printed and compiled for sm_90; registers and spills are listed. Without Triton the
// compilation is skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "build/triton_compiler.h"
#include "codegen/triton/job.h"
#include "loop/text.h"
#include "schedule/schedule.h"
#include "triton_corpus.h"

namespace stax::test {
namespace {

codegen::TritonKernelText print(const TritonCase& c) {
  const loop::Program p = loop::parse_program(c.text);
  loop::verify(p);
  const auto& k = std::get<loop::Kernel>(p.items[0]);
  return codegen::emit_triton(p, k, schedule::schedule_triton(k, p));
}

std::string text_of(const std::string& name) { return print(triton_case(name)).text; }
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(TritonText, CorpusCompilesForHopper) {
  std::vector<build::TritonJob> jobs;
  for (const TritonCase& c : triton_corpus()) {
    SCOPED_TRACE(c.name);
    const auto kernel = print(c);
    if (const char* keep = std::getenv("STAX_TEST_KEEP"))
      std::ofstream(fmt::format("{}/{}.py", keep, c.name)) << kernel.text;
    jobs.push_back(codegen::job_of(kernel));
    jobs.back().name = c.name;
  }
  build::TritonCompiler compiler({.python = STAX_SOURCE_DIR "/.venv/bin/python3", .jobs = 2});
  std::vector<build::TritonBinary> binaries;
  try {
    binaries = compiler.compile_all(jobs);
  } catch (const UserError& e) {
    GTEST_SKIP() << e.what();
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const build::TritonBinary& b = binaries[i];
    fmt::print("{:20} {:4} registers {:4} bytes spilled {:6} bytes shared {:3} warps\n", jobs[i].name, b.registers,
               b.spills, b.shared, b.warps);
    EXPECT_EQ(b.spills, 0) << jobs[i].name;
    EXPECT_GT(b.registers, 0);
    EXPECT_EQ(b.function, jobs[i].function);
    EXPECT_EQ(b.scratch, 0);
  }
}

// All threads hold a number that one of them then overwrites: a barrier apart, in code that compiles.
TEST(TritonText, OverwrittenNumbersAreLoadedByAllBefore) {
  const codegen::TritonKernelText kernel = print({.name = "overwritten", .text = R"(program p
buffer b0: f32[] input 0 written
buffer b1: f32[5000] output
kernel k {
  phase {
    %0 = load.f32 b0[0]
    %1 = add.f32 %0 %0
    store b0[0] %1
  }
  phase (r0 < 5000) {
    store b1[r0] %0
  }
}
return b0 [] strides ()
return b1 [5000] strides (1)
)"});
  const std::size_t load = kernel.text.find("tl.load(b0"), store = kernel.text.find("tl.store(b0");
  ASSERT_LT(load, store) << kernel.text;
  EXPECT_NE(kernel.text.substr(load, store - load).find("tl.debug_barrier()"), std::string::npos) << kernel.text;
  build::TritonCompiler compiler({.python = STAX_SOURCE_DIR "/.venv/bin/python3", .jobs = 1});
  try {
    EXPECT_GT(compiler.compile(codegen::job_of(kernel)).registers, 0);
  } catch (const UserError& e) {
    GTEST_SKIP() << e.what();
  }
}

// A block in the layout of the row's value makes every lane compute the whole row: hundreds of kilobytes of code.
TEST(TritonText, DrawnRowsAreComputedOnce) {
  build::TritonCompiler compiler({.python = STAX_SOURCE_DIR "/.venv/bin/python3", .jobs = 2});
  std::vector<build::TritonJob> jobs;
  for (const char* name : {"drawn", "drawn_dynamic"}) jobs.push_back(codegen::job_of(print(triton_case(name))));
  try {
    for (const build::TritonBinary& b : compiler.compile_all(jobs))
      EXPECT_LT(b.cubin.size(), 100'000U) << b.cubin.size();
  } catch (const UserError& e) {
    GTEST_SKIP() << e.what();
  }
}

// Each row is read once and written once.
TEST(TritonText, SoftmaxReadsItsRowOnce) {
  const std::string text = text_of("softmax");
  EXPECT_EQ(text.find("tl.load"), text.rfind("tl.load"));
  EXPECT_TRUE(contains(text, "rmask0 = rindex0 < rlength0"));
  EXPECT_FALSE(contains(text, "for roffset"));
}

TEST(TritonText, MasksOnlyWhereNotProven) {
  EXPECT_FALSE(contains(text_of("rows_large"), "mask"));
  EXPECT_TRUE(contains(text_of("rows_dynamic"), "mask"));
}

TEST(TritonText, TransposedInputsGiveTiles) {
  const std::string text = text_of("transposed_large");
  EXPECT_TRUE(contains(text, "YBLOCK: tl.constexpr, XBLOCK: tl.constexpr"));
  EXPECT_FALSE(contains(text, "mask"));
}

TEST(TritonText, IndicesAreCheckedThroughTheErrorWord) {
  const std::string text = text_of("embedding");
  EXPECT_TRUE(contains(text, "stax_raise(error, "));
  EXPECT_FALSE(contains(text_of("rows"), "error"));
}

TEST(TritonText, SchedulesReadBack) {
  for (const TritonCase& c : triton_corpus()) {
    const loop::Program p = loop::parse_program(c.text);
    const auto& k = std::get<loop::Kernel>(p.items[0]);
    const auto s = schedule::schedule_triton(k, p);
    const std::string text = loop::to_text(s, k, p);
    EXPECT_EQ(loop::parse_triton_schedule(text, k, p), s) << text;
  }
}

TEST(TritonText, SchedulesThatDoNotFitAreRefused) {
  const loop::Program p = loop::parse_program(triton_case("softmax_dynamic").text);
  const auto& k = std::get<loop::Kernel>(p.items[0]);
  auto check = [&](const std::string& text) { loop::verify(loop::parse_triton_schedule(text, k, p), k, p); };
  EXPECT_NO_THROW(check("schedule triton { x i0 / 1; phase 0: looped 256; phase 1: looped 256 }"));
  EXPECT_THROW(check("schedule triton { x i0 / 1; phase 0: persistent 256; phase 1: looped 256 }"), InternalError);
  EXPECT_NO_THROW(
      check("schedule triton { x i0 / 1; phase 0: persistent 256; phase 1: looped 256; promise s1 <= 256 }"));
  EXPECT_THROW(check("schedule triton { x i0 / 1; index 32; phase 0: looped 256; phase 1: looped 256 }"),
               InternalError);
  EXPECT_THROW(check("schedule triton { x i0 / 3; phase 0: looped 256; phase 1: looped 256 }"), InternalError);
  EXPECT_THROW(check("schedule triton { phase 0: looped 256; phase 1: looped 256 }"), InternalError);
  EXPECT_THROW(check("schedule triton { x i7 / 1 }"), UserError);
}

}  // namespace
}  // namespace stax::test
