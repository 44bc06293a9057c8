// Kernels of several phases: rows that stay in the cache, kept values, teams, streaming stores.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/cpp/emit.h"
#include "run_kernels.h"

namespace stax::test {
namespace {

const std::vector<std::vector<std::int64_t>> kSizes = {{0, 5},  {5, 0},  {1, 1},   {3, 10},   {40, 10}, {200, 10},
                                                       {2, 16}, {3, 17}, {3, 100}, {2, 1000}, {2, 5000}};

// `across`: the reduced axis is the first of [s1, s0], not the last of [s0, s1].
std::string address(bool across, std::string_view r) {
  return across ? fmt::format("i0 + s0*{}", r) : fmt::format("s1*i0 + {}", r);
}

std::string softmax(bool online, bool across, bool log = false) {
  std::string text = fmt::format(
      "program p\nsizes s0 in [0, 1000000], s1 in [0, 1000000]\nbuffer b0: f32[{0}] input\nbuffer b1: f32[{0}] output\n"
      "kernel k outer (i0 < s0) {{\n",
      across ? "s1, s0" : "s0, s1");
  if (online) {
    text += fmt::format(
        "phase (r0 < s1) {{ %0 = load.f32 b0[{}] %1 = combine.f32 online_softmax %0 %2 = part.f32 %1 1 }}\n",
        address(across, "r0"));
    text += fmt::format(
        "phase (r1 < s1) {{ %3 = load.f32 b0[{0}] %4 = sub.f32 %3 %1 %5 = {2} %6 = {3} store b1[{0}] %6 }}\n",
        address(across, "r1"), 0, log ? "log.f32 %2" : "exp.f32 %4", log ? "sub.f32 %4 %5" : "div.f32 %5 %2");
  } else {
    text += fmt::format("phase (r0 < s1) {{ %0 = load.f32 b0[{}] %1 = combine.f32 max %0 }}\n", address(across, "r0"));
    text += fmt::format(
        "phase (r1 < s1) {{ %2 = load.f32 b0[{}] %3 = sub.f32 %2 %1 %4 = exp.f32 %3 %5 = combine.f32 sum %4 }}\n",
        address(across, "r1"));
    text += fmt::format(
        "phase (r2 < s1) {{ %6 = load.f32 b0[{0}] %7 = sub.f32 %6 %1 %8 = exp.f32 %7 %9 = div.f32 %8 %5 store b1[{0}] "
        "%9 }}\n",
        address(across, "r2"));
  }
  return text +
         fmt::format("}}\nreturn b1 [{}] strides ({})\n", across ? "s1, s0" : "s0, s1", across ? "s0, 1" : "s1, 1");
}

// Residual sum and its layer norm; the sum is stored as well, in bfloat16.
const char* kResidualNorm = R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: bf16[s0, s1] input
buffer b1: f32[s0, s1] input
buffer b2: f32[s1] input
buffer b3: bf16[s0, s1] output
buffer b4: f32[s0, s1] output
kernel k outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = load.f32 b1[s1*i0 + r0]
    %2 = add.f32 %0 %1
    %3 = tanh.f32 %2
    %4 = round_to.f32 bf16 %3
    %5 = combine.f32 welford %4
    %6 = part.f32 %5 1
    %7 = part.f32 %5 2
    store b3[s1*i0 + r0] %4
  }
  phase {
    %8 = div.f32 %6 %7
    %9 = constant.f32 1e-5
    %10 = add.f32 %8 %9
    %11 = rsqrt.f32 %10
  }
  phase (r1 < s1) {
    %12 = load.f32 b0[s1*i0 + r1]
    %13 = load.f32 b1[s1*i0 + r1]
    %14 = add.f32 %12 %13
    %15 = tanh.f32 %14
    %16 = round_to.f32 bf16 %15
    %17 = sub.f32 %16 %5
    %18 = mul.f32 %17 %11
    %19 = load.f32 b2[r1]
    %20 = mul.f32 %18 %19
    store b4[s1*i0 + r1] %20
  }
}
return b3 [s0, s1] strides (s1, 1)
return b4 [s0, s1] strides (s1, 1)
)";

// A unit reads what it stored in an earlier phase.
const char* kStoredRow = R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: f32[s0, s1] input
buffer b1: f32[s0, s1] output
buffer b2: f32[s0, s1] output
kernel k outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = scan.f32 max %0
    store b1[s1*i0 + r0] %1
  }
  phase (r1 < s1) {
    %2 = load.f32 b1[s1*i0 + s1 - 1 - r1]
    store b2[s1*i0 + r1] %2
  }
}
return b2 [s0, s1] strides (s1, 1)
)";

TEST(Phases, Rows) {
  for (int width : {16, 64})
    check_all({{.text = softmax(true, false), .sizes = kSizes, .tolerance = 1e-6},
               {.text = softmax(true, false), .sizes = kSizes, .tolerance = 1e-6, .special = true},
               {.text = softmax(false, false), .sizes = kSizes, .tolerance = 1e-6},
               {.text = softmax(false, false), .sizes = kSizes, .tolerance = 1e-6, .special = true},
               {.text = softmax(true, false, true), .sizes = kSizes, .tolerance = 1e-5},
               {.text = kResidualNorm, .sizes = kSizes, .tolerance = 2e-2},
               {.text = kStoredRow, .sizes = kSizes}},
              width);
}

TEST(Phases, Columns) {
  for (int width : {16, 64})
    check_all({{.text = softmax(true, true), .sizes = kSizes, .tolerance = 1e-6},
               {.text = softmax(true, true), .sizes = kSizes, .tolerance = 1e-6, .special = true},
               {.text = softmax(false, true), .sizes = kSizes, .tolerance = 1e-6},
               {.text = softmax(true, true, true), .sizes = kSizes, .tolerance = 1e-5}},
              width);
}

TEST(Phases, RowsAcrossLanes) {  // lanes are rows: short rows, addresses with a stride
  const std::string schedule = "schedule cpu { units i0 / 64 grain 1; vector i0 }";
  check_all({{.text = softmax(true, false), .sizes = kSizes, .tolerance = 1e-6, .schedule = schedule},
             {.text = kResidualNorm, .sizes = kSizes, .tolerance = 2e-2, .schedule = schedule},
             {.text = kStoredRow, .sizes = kSizes, .schedule = schedule}});
}

TEST(Phases, TeamOfThreads) {
  const std::string inner = "schedule cpu { units i0 grain 1; vector inner; split inner 0; phase 0: unroll 2 }";
  const std::string outer = "schedule cpu { units i0 / 64 grain 1; vector i0; split inner 0 }";
  check_all({{.text = softmax(true, false), .sizes = kSizes, .tolerance = 1e-6, .schedule = inner},
             {.text = softmax(false, false), .sizes = kSizes, .tolerance = 1e-6, .schedule = inner},
             {.text = kResidualNorm, .sizes = kSizes, .tolerance = 2e-2, .schedule = inner},
             {.text = softmax(true, true), .sizes = kSizes, .tolerance = 1e-6, .schedule = outer},
             {.text = softmax(false, true), .sizes = kSizes, .tolerance = 1e-6, .schedule = outer}},
            64, 3);
}

TEST(Phases, StreamingStores) {
  const std::string rows =
      "schedule cpu { units i0 grain 1; vector inner; cache 0; phase 0: unroll 4; phase 1: unroll 2, stream; keep %1 "
      "up to 4096 }";
  const std::string columns = "schedule cpu { units i0 / 2048 grain 1; vector i0; cache 0; phase 0: unroll 2, stream }";
  std::vector<Check> checks;
  for (int width : {16, 32, 64}) {
    check_all({{.text = softmax(true, false), .sizes = kSizes, .tolerance = 1e-6, .schedule = rows},
               {.text = R"(
program p
sizes s0 in [0, 1000000]
buffer b0: f32[s0] input
buffer b1: f32[s0] output
buffer b2: bf16[s0] output
kernel k outer (i0 < s0) {
  phase {
    %0 = load.f32 b0[i0]
    %1 = neg.f32 %0
    store b1[i0] %1
    store b2[i0] %1
  }
}
return b1 [s0] strides (1)
return b2 [s0] strides (1)
)",
                .sizes = {{0}, {1}, {17}, {1000}, {5001}},
                .schedule = columns}},
              width);
  }
}

TEST(Phases, RowsFetchedAhead) {
  const std::string schedule =
      "schedule cpu { units i0 grain 1; vector inner; phase 0: unroll 4, ahead 2; phase 1: ahead 1 }";
  for (int width : {16, 64})
    check_all({{.text = softmax(true, false), .sizes = kSizes, .tolerance = 1e-6, .schedule = schedule},
               {.text = softmax(false, false), .sizes = kSizes, .tolerance = 1e-6, .schedule = schedule},
               {.text = kResidualNorm, .sizes = kSizes, .tolerance = 2e-2, .schedule = schedule}},
              width);
}

TEST(Phases, StreamingStoresOfUnlikeAlignment) {
  check_all({{.text = R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: f32[s0, s1] input
buffer b1: f32[s0, s1] strides (s1 + 3, 1) output
buffer b2: f32[s0, s1] output
kernel k outer (i0 < s0, i1 < s1) {
  phase {
    %0 = load.f32 b0[s1*i0 + i1]
    %1 = neg.f32 %0
    store b1[(s1 + 3)*i0 + i1] %1
    store b2[s1*i0 + i1] %0
  }
}
return b1 [s0, s1] strides (s1 + 3, 1)
return b2 [s0, s1] strides (s1, 1)
)",
              .sizes = {{3, 7}, {5, 64}, {7, 333}},
              .schedule = "schedule cpu { units i0, i1 grain 1; vector i1; cache 0; phase 0: unroll 2, stream }"}});
}

TEST(Phases, StreamingStoresAreFenced) {
  const loop::Program p = loop::parse_program(softmax(true, false));
  const auto& k = std::get<loop::Kernel>(p.items[0]);
  const loop::CpuSchedule s =
      loop::parse_cpu_schedule("schedule cpu { units i0 grain 1; vector inner; cache 0; phase 1: stream }", k);
  const codegen::CppKernel kernel{"k", &p, &k, &s};
  EXPECT_NE(codegen::emit_cpp({&kernel, 1}, 64).find("if (stream) v::fence_stream();\n}"), std::string::npos);
}

// The line that a row of any length shares with the next one is asked for early, by kernels that stream alone.
TEST(Phases, SharedLinesOfStreamedRowsAreFetched) {
  const loop::Program p = loop::parse_program(softmax(true, false));
  const auto& k = std::get<loop::Kernel>(p.items[0]);
  for (const auto& [schedule, fetches] :
       {std::pair{"schedule cpu { units i0 grain 1; vector inner; cache 0; phase 1: stream }", true},
        {"schedule cpu { units i0 grain 1; vector inner; cache 0 }", false},
        {"schedule cpu { units i0 grain 1; vector inner; cache 0; split inner 0; phase 1: stream }", false}}) {
    const loop::CpuSchedule s = loop::parse_cpu_schedule(schedule, k);
    const codegen::CppKernel kernel{"k", &p, &k, &s};
    EXPECT_EQ(codegen::emit_cpp({&kernel, 1}, 64).find("if (stream) v::fetch_shared_line(") != std::string::npos,
              fetches)
        << schedule;
  }
}

// e^(x - m) has no large argument when m is the maximum of the same x, and may have one of any other.
TEST(Phases, WeightsBelowTheMaximum) {
  for (const char* buffer : {"b0", "b1"}) {
    const loop::Program p = loop::parse_program(fmt::format(R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: f32[s0, s1] input
buffer b1: f32[s0, s1] input
buffer b2: f32[s0, s1] output
kernel k outer (i0 < s0) {{
  phase (r1 < s1) {{
    %0 = load.f32 b0[s1*i0 + r1]
    %1 = combine.f32 max %0
  }}
  phase (r2 < s1) {{
    %2 = load.f32 {}[s1*i0 + r2]
    %3 = sub.f32 %2 %1
    %4 = exp.f32 %3
    store b2[s1*i0 + r2] %4
  }}
}}
return b2 [s0, s1] strides (s1, 1)
)",
                                                            buffer));
    const auto& k = std::get<loop::Kernel>(p.items[0]);
    const loop::CpuSchedule s = loop::parse_cpu_schedule("schedule cpu { units i0 grain 1; vector inner }", k);
    const codegen::CppKernel kernel{"k", &p, &k, &s};
    const std::string text = codegen::emit_cpp({&kernel, 1}, 64);
    EXPECT_EQ(text.find("= v::exp_weight(") != std::string::npos, buffer == std::string("b0"));
    EXPECT_EQ(text.find("= v::exp(") != std::string::npos, buffer == std::string("b1"));
  }
}

// Each row is normalised where it lies, and read again through the same buffer.
TEST(Phases, WrittenInputs) {
  check_all({{.text = R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: f32[s0, s1] input 0 written
buffer b1: f32[s0] output
kernel k outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = combine.f32 max %0
  }
  phase (r1 < s1) {
    %2 = load.f32 b0[s1*i0 + r1]
    %3 = sub.f32 %2 %1
    store b0[s1*i0 + r1] %3
  }
  phase (r2 < s1) {
    %4 = load.f32 b0[s1*i0 + r2]
    %5 = combine.f32 min %4
  }
  phase {
    store b1[i0] %5
  }
}
return b0 [s0, s1] strides (s1, 1)
return b1 [s0] strides (1)
)",
              .sizes = {{1, 1}, {3, 17}, {2, 100}}}});
}

// A number that fills a row and is overwritten: all threads of the team have it before one of them stores.
TEST(Phases, OverwrittenNumberOfATeam) {
  const std::string text = R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: f32[] input 0 written
buffer b1: f32[s1] output
kernel k {
  phase {
    %0 = load.f32 b0[0]
    %1 = add.f32 %0 %0
    store b0[0] %1
  }
  phase (r0 < s1) {
    store b1[r0] %0
  }
}
return b0 [] strides ()
return b1 [s1] strides (1)
)";
  const std::string schedule = "schedule cpu { units grain 1; vector inner; split inner 0 }";
  const loop::Program p = loop::parse_program(text);
  const auto& k = std::get<loop::Kernel>(p.items[0]);
  EXPECT_TRUE(loop::overwrites_what_it_loads(k, 0));
  EXPECT_FALSE(loop::overwrites_what_it_loads(k, 1));
  const loop::CpuSchedule s = loop::parse_cpu_schedule(schedule, k);
  const codegen::CppKernel kernel{"k", &p, &k, &s};
  const std::string source = codegen::emit_cpp({&kernel, 1}, 64);
  const std::size_t load = source.find("v::load1(buf0"), store = source.find("v::store1(buf0");
  ASSERT_LT(load, store);
  EXPECT_NE(source.substr(load, store - load).find("v::barrier(team);"), std::string::npos);
  check_all({{.text = text, .sizes = {{0, 1}, {0, 100}, {0, 5000}}, .schedule = schedule}}, 64, 4);
}

// Columns: none of the threads may store one that another has yet to load.
TEST(Phases, OverwrittenColumnsAreNotForATeam) {
  for (const bool overwritten : {true, false}) {
    const loop::Program p = loop::parse_program(fmt::format(R"(
program p
buffer b0: f32[100] input 0{}
buffer b1: f32[100000, 100] input 1
buffer b2: f32[100] output
buffer b3: f32[100] output
kernel k outer (i0 < 100) {{
  phase {{
    %0 = load.f32 b0[i0]
    %1 = add.f32 %0 %0
    store {}[i0] %1
  }}
  phase (r0 < 100000) {{
    %2 = load.f32 b1[100*r0 + i0]
    %3 = mul.f32 %2 %0
    %4 = combine.f32 sum %3
  }}
  phase {{
    store b3[i0] %4
  }}
}}
return {} [100] strides (1)
return b3 [100] strides (1)
)",
                                                            overwritten ? " written" : "", overwritten ? "b0" : "b2",
                                                            overwritten ? "b0" : "b2"));
    const auto& k = std::get<loop::Kernel>(p.items[0]);
    const loop::CpuSchedule chosen = schedule::schedule_cpu(k, p, {.threads = 4});
    EXPECT_GE(chosen.vector_axis, 0);
    EXPECT_EQ(chosen.split < 0, overwritten);
    const loop::CpuSchedule team =
        loop::parse_cpu_schedule("schedule cpu { units i0 / 128 grain 1; vector i0; split inner 0 }", k);
    const codegen::CppKernel kernel{"k", &p, &k, &team};
    if (overwritten)
      EXPECT_THROW((void)codegen::emit_cpp({&kernel, 1}, 64), InternalError);
    else
      EXPECT_NO_THROW((void)codegen::emit_cpp({&kernel, 1}, 64));
  }
}

TEST(Phases, WeightsOfSoftmaxAreKept) {
  const loop::Program p = loop::parse_program(softmax(true, false));
  const auto& k = std::get<loop::Kernel>(p.items[0]);
  const loop::CpuSchedule s = schedule::schedule_cpu(k, p, {.threads = 2});
  ASSERT_EQ(s.keep.size(), 1U);
  EXPECT_EQ(s.keep[0].value, 1);
}

}  // namespace
}  // namespace stax::test
