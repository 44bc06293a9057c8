// Schedules of typical kernels as text; text that does not fit.
#include <gtest/gtest.h>

#include "run_kernels.h"

namespace stax::test {
namespace {

using loop::Kernel;
using loop::Program;

const char* kRowSum = R"(
program p
sizes s0 in [0, 1000000] hint 64, s1 in [0, 1000000] hint 128
buffer b0: f32[s0, s1] input
buffer b1: f32[s0] output
kernel k outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = combine.f32 sum %0
  }
  phase {
    store b1[i0] %1
  }
}
return b1 [s0] strides (1)
)";

std::string chosen(const std::string& text, int threads = 2) {
  const Program p = loop::parse_program(text);
  const auto& k = std::get<Kernel>(p.items[0]);
  const loop::CpuSchedule s = schedule::schedule_cpu(k, p, {.threads = threads});
  const std::string printed = loop::to_text(s, k);
  EXPECT_EQ(loop::parse_cpu_schedule(printed, k), s) << printed;
  return printed;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(Schedules, RowReduction) {
  EXPECT_EQ(chosen(kRowSum), "schedule cpu { units i0 grain 48000; vector inner; phase 0: unroll 4; phase 1 }");
}

TEST(Schedules, ColumnReductionVectorisesTheOuterAxis) {
  EXPECT_EQ(chosen(replaced(replaced(kRowSum, "s1*i0 + r0", "i0 + s0*r0"), "b0: f32[s0, s1]", "b0: f32[s1, s0]")),
            "schedule cpu { units i0 / 64 grain 48000; vector i0; phase 0; phase 1: unroll 2 }");
}

TEST(Schedules, FewLongRowsAreSplit) {
  EXPECT_EQ(chosen(replaced(replaced(kRowSum, "hint 64", "hint 2"), "hint 128", "hint 4194304"), 4),
            "schedule cpu { units i0 grain 48000; vector inner; split inner 0; phase 0: unroll 4; phase 1 }");
}

// The mean of a row, then the row without it.
const char* kCentred = R"(
program p
sizes s0 in [0, 1000000] hint 16384, s1 in [0, 1000000] hint 1000
buffer b0: f32[s0, s1] input
buffer b1: f32[s0, s1] output
kernel k outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = combine.f32 welford %0
  }
  phase (r1 < s1) {
    %2 = load.f32 b0[s1*i0 + r1]
    %3 = sub.f32 %2 %1
    store b1[s1*i0 + r1] %3
  }
}
return b1 [s0, s1] strides (s1, 1)
)";

TEST(Schedules, RowsFromMemoryThatAreVisitedAgainAreFetchedAhead) {
  const auto ahead = [](const std::string& text) { return chosen(text).find("ahead 2") != std::string::npos; };
  EXPECT_TRUE(ahead(kCentred));
  EXPECT_FALSE(ahead(replaced(kCentred, "hint 16384", "hint 512")));   // all of it stays in the cache
  EXPECT_FALSE(ahead(replaced(kCentred, "hint 1000", "hint 100")));    // short rows
  EXPECT_FALSE(ahead(replaced(kCentred, "hint 1000", "hint 50000")));  // three rows exceed the first cache
}

TEST(Schedules, ContiguousInnerAxisIsVectorised) {
  EXPECT_EQ(chosen(R"(
program p
sizes s0 in [0, 1000000] hint 100, s1 in [0, 1000000] hint 100, s2 in [0, 100000] hint 50
buffer b0: f32[s2, s1, s0] input
buffer b1: f32[s2] output
kernel k outer (i0 < s2) {
  phase (r0 < s0, r1 < s1) {
    %0 = load.f32 b0[s0*s1*i0 + r0 + s0*r1]
    %1 = combine.f32 sum %0
  }
  phase {
    store b1[i0] %1
  }
}
return b1 [s2] strides (1)
)"),
            "schedule cpu { units i0 grain 48000; vector inner; phase 0: vector r0, unroll 4; phase 1 }");
}

TEST(Schedules, TextThatDoesNotFit) {
  const Program p = loop::parse_program(kRowSum);
  const auto& k = std::get<Kernel>(p.items[0]);
  auto message = [&](std::string_view text) -> std::string {
    try {
      loop::parse_cpu_schedule(text, k, "s.txt");
    } catch (const UserError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message("schedule cpu { units i7 }"), "s.txt: line 1, column 22: 'i7' is no outer axis of kernel k");
  EXPECT_EQ(message("schedule cpu { units i0; phase 5 }"),
            "s.txt: line 1, column 31: phase 5 does not exist: the kernel has 2");
  EXPECT_EQ(message("schedule cpu { units i0; fast }"),
            "s.txt: line 1, column 26: expected 'units', 'vector', 'tile', 'split', 'cache', 'phase', 'keep' or '}', "
            "found 'fast'");
  EXPECT_EQ(message("schedule cpu { vector inner }"),
            "s.txt: line 1, column 1: schedule of kernel k: units must name every outer axis once");
  EXPECT_EQ(message("schedule cpu { units i0; split inner 1 }"),
            "s.txt: line 1, column 1: schedule of kernel k: no such axis to split");
  EXPECT_EQ(message("schedule cpu { units i0; phase 0: unroll 99 }"),
            "s.txt: line 1, column 1: schedule of kernel k: unroll must be 1 to 16");
}

TEST(Schedules, InnerAxesInAnyOrder) {
  const std::string text = R"(
program p
sizes s0 in [0, 1000], s1 in [0, 1000]
buffer b0: f32[s1, s0] input
buffer b1: f32[] output
buffer b2: i64[] output
kernel k {
  phase (r0 < s0, r1 < s1) {
    %0 = load.f32 b0[r0 + s0*r1]
    %1 = combine.f32 sum %0
    %2 = index.i64 [s1*r0 + r1]
    %3 = combine.f32 argmax %0 %2
    %4 = part.i64 %3 1
  }
  phase {
    store b1[0] %1
    store b2[0] %4
  }
}
return b1 [] strides ()
return b2 [] strides ()
)";
  check_all(
      {{.text = text,
        .sizes = {{1, 1}, {17, 3}, {3, 17}, {40, 50}},
        .tolerance = 1e-5,
        .schedule = "schedule cpu { units grain 1; vector inner; phase 0: vector r0, unroll 2 }"},
       {.text = text,
        .sizes = {{1, 1}, {17, 3}, {3, 17}, {40, 50}},
        .tolerance = 1e-5,
        .schedule = "schedule cpu { units grain 1; vector inner; split inner 1; phase 0: vector r0, unroll 2 }"}});
}

}  // namespace
}  // namespace stax::test
