// Buffers share memory only with proof of size and of dead readers.
#include "schedule/slots.h"

#include <gtest/gtest.h>

#include "loop/text.h"

namespace stax::test {
namespace {

using schedule::assign_slots;

// A chain b0 → b1 → b2 → b3 → b4 of pointwise kernels; temporaries b1, b2, b3.
loop::Program chain(std::string_view b1, std::string_view b2, std::string_view b3) {
  auto kernel = [](int n) {
    const std::string in = "b" + std::to_string(n), out = "b" + std::to_string(n + 1);
    return "kernel k" + std::to_string(n) + " { phase { %0 = load.f32 " + in + "[0] store " + out + "[0] %0 } }\n";
  };
  std::string text = "program p\nsizes s0 in [1, 1000], s1 in [1, 1000]\nbuffer b0: f32[s0] input\n";
  int n = 1;
  for (std::string_view sizes : {b1, b2, b3})
    text += "buffer b" + std::to_string(n++) + ": f32[" + std::string(sizes) + "]\n";
  text +=
      "buffer b4: f32[s0] output\n" + kernel(0) + kernel(1) + kernel(2) + kernel(3) + "return b4 [s0] strides (1)\n";
  return loop::parse_program(text);
}

TEST(Slots, EqualSizesAreReusedAfterTheLastReader) {
  const auto p = chain("s0", "s0", "s0");
  const auto slots = assign_slots(p);
  ASSERT_EQ(slots.slots.size(), 2U);
  EXPECT_EQ(slots.slot_of, (std::vector<int>{-1, 0, 1, 0, -1}));
  EXPECT_EQ(slots.slots[0].first_item, 0);
  EXPECT_EQ(slots.slots[0].last_item, 3);
  EXPECT_EQ(symbolic::to_string(slots.slots[0].bytes), "4*s0");
  EXPECT_EQ(slots.free_after[2], std::vector<int>{1});
}

TEST(Slots, ASmallerBufferTakesALargerSlot) {
  EXPECT_EQ(assign_slots(chain("s0*s1", "s0", "s1")).slot_of, (std::vector<int>{-1, 0, 1, 0, -1}));
}

TEST(Slots, UnknownOrderOfSizesIsNotReused) {
  EXPECT_EQ(assign_slots(chain("s0", "s0", "s1")).slot_of, (std::vector<int>{-1, 0, 1, 2, -1}));
  EXPECT_EQ(assign_slots(chain("s0", "s0", "s0*s1")).slot_of, (std::vector<int>{-1, 0, 1, 2, -1}));
}

TEST(Slots, ABufferThatAnOutputViewsHasNoSlot) {
  auto p = chain("s0", "s0", "s0");
  p.outputs.push_back({1, {p.sizes[0]}, {p.context->constant(1)}, p.context->constant(0)});
  EXPECT_EQ(assign_slots(p).slot_of, (std::vector<int>{-1, -1, 0, 1, -1}));
}

TEST(Slots, SpanOfAStridedBuffer) {
  const auto p =
      loop::parse_program("program p\nsizes s0 in [1, 10], s1 in [1, 10]\nbuffer b0: i64[s0, s1] strides (1, s0)\n");
  EXPECT_EQ(symbolic::to_string(schedule::byte_span(p, p.buffers[0])), "8*s0*s1");
}

}  // namespace
}  // namespace stax::test
