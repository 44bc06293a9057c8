// can_emit_triton agrees with the printer in both directions, and what is printed compiles: the programs of
// triton_operations() hold every operation that is allowed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "build/triton_compiler.h"
#include "codegen/triton/job.h"
#include "loop/text.h"
#include "schedule/schedule.h"
#include "triton_corpus.h"

namespace stax::test {
namespace {

std::string program_of(const std::string& body, const std::string& in, const std::string& out) {
  return fmt::format(
      "program p\nbuffer b0: {0}[8] input\nbuffer b1: {1}[8] output\nkernel k outer (i0 < 8) {{\n  phase {{\n"
      "    %0 = load.{2} b0[i0]\n{3}  }}\n}}\nreturn b1 [8] strides (1)\n",
      in, out, in.starts_with("f8") ? "f32" : in, body);
}

struct Refused {
  std::string text, reason;
};

TEST(TritonCanEmit, RefusesWithAReasonWhatThePrinterRefuses) {
  const Refused refused[] = {
      {program_of("    store b1[i0] %0\n", "f8e4m3", "f32"), "Triton kernels do not read float8"},
      {program_of("    store b1[i0] %0\n", "f32", "f8e5m2"), "Triton kernels do not write float8"},
      {program_of("    %1 = round_to.f32 f8e4m3 %0\n    store b1[i0] %1\n", "f32", "f32"),
       "Triton kernels have no rounding to f8e4m3"},
  };
  for (const Refused& r : refused) {
    SCOPED_TRACE(r.text);
    const loop::Program p = loop::parse_program(r.text);
    const auto& k = std::get<loop::Kernel>(p.items[0]);
    EXPECT_EQ(codegen::can_emit_triton(p, k).reason(), r.reason);
    EXPECT_THROW(codegen::emit_triton(p, k, schedule::schedule_triton(k, p)), InternalError);
  }
}

TEST(TritonCanEmit, EveryOperationOfEveryDtypeIsPrintedAndCompiles) {
  std::vector<build::TritonJob> jobs;
  for (const TritonCase& c : triton_operations()) {
    SCOPED_TRACE(c.name);
    const loop::Program p = loop::parse_program(c.text);
    loop::verify(p);
    const auto& k = std::get<loop::Kernel>(p.items[0]);
    EXPECT_EQ(codegen::can_emit_triton(p, k).reason(), "");
    const bool scan = c.name.starts_with("scan") || c.name.starts_with("back");
    const auto job = codegen::job_of(codegen::emit_triton(p, k, schedule::schedule_triton(k, p)));
    if (scan && !std::getenv("STAX_TEST_ALL")) continue;  // slow to compile
    jobs.push_back(job);
    jobs.back().name = c.name;
  }
  if (!std::filesystem::exists(STAX_SOURCE_DIR "/.venv/triton.installed"))
    GTEST_SKIP() << "Triton is not installed (make triton)";
  build::TritonCompiler compiler({.python = STAX_SOURCE_DIR "/.venv/bin/python3", .jobs = 2});
  const auto binaries = compiler.compile_all(jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    fmt::print("{:20} {:4} registers {:4} bytes spilled\n", jobs[i].name, binaries[i].registers, binaries[i].spills);
}

}  // namespace
}  // namespace stax::test
