// What the verifier refuses, by message.
#include "support.h"

namespace stax::loop {
namespace {

void expect_refused(std::string_view text, std::string_view message) {
  const Program p = parse_program(text);
  try {
    verify(p);
    FAIL() << "accepted, wanted: " << message;
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

std::string with_buffers(std::string_view kernel) {
  return R"(
    sizes n in [2, inf], m in [2, inf]
    buffer x: f32[n, m] input
    buffer h: bf16[n] input
    buffer i: i64[n] input
    buffer y: f32[n, m] output
    buffer z: f32[n] output
    scalar c0: f64
  )" + std::string(kernel);
}

TEST(LoopVerify, Operations) {
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load i[a] %1 = exp.i64 %0 store z[a] %1 } }"),
                 "kernel k, %1: exp does not take i64");
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load i[a] %1 = load h[a] %2 = add %0 %1 } }"),
                 "operands i64 and f32 differ");
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load h[a] %1 = neg.f64 %0 } }"),
                 "neg of f32 gives f32, not f64");
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load.bf16 h[a] } }"), "bf16 is no compute dtype");
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load h[a] %1 = select %0 %0 %0 } }"),
                 "the condition of a select is not boolean");
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load h[a] %1 = round_to f32 %0 } }"),
                 "round_to is from f32 to a half type");
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load i[a] store z[a] %0 } }"),
                 "%0 is i64, a store to f32 takes f32");
}

TEST(LoopVerify, Visibility) {
  expect_refused(with_buffers(R"(kernel k outer (a < n) {
    phase (r < m) { %0 = load x[m*a + r] %1 = combine sum %0 }
    phase { store z[a] %0 }
  })"),
                 "%0 is not visible here");
  expect_refused(with_buffers(R"(kernel k outer (a < n) {
    phase (r < m) { %0 = load x[m*a + r] %1 = combine sum %0 %2 = sub %0 %1 store y[m*a + r] %2 }
  })"),
                 "combine %1 is used in its own phase");
  expect_refused(with_buffers(R"(kernel k outer (a < n) {
    phase (r < m) { %0 = load x[m*a + r] store y[m*a + r] %0 }
    phase (q < m) { %1 = load x[m*a + r] store y[m*a + q] %1 }
  })"),
                 "mentions r, which is not visible here");
  expect_refused(with_buffers("kernel k outer (a < n, a < m) { phase { %0 = load h[a] store z[a] %0 } }"),
                 "axis a is not unique");
  expect_refused(with_buffers("kernel k outer (a < n, b < a) { phase { %0 = load h[a] store z[a] %0 } }"),
                 "the extent of b: a mentions a");
}

TEST(LoopVerify, Reductions) {
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load h[a] %1 = combine sum %0 } }"),
                 "a combine needs inner axes");
  expect_refused(with_buffers(R"(kernel k {
    phase (r < n, q < m) { %0 = load x[m*r + q] %1 = scan sum %0 store y[m*r + q] %1 } })"),
                 "a scan needs exactly one inner axis");
  expect_refused(with_buffers("kernel k { phase (r < n) { %0 = load h[r] %1 = combine argmax %0 } }"),
                 "argmax takes 2 operands, or 2 that merge tuples, not 1");
  expect_refused(with_buffers("kernel k { phase (r < n) { %0 = load h[r] %1 = combine argmax %0 %0 } }"),
                 "operand 1 of argmax is f32, not i64");
  expect_refused(with_buffers("kernel k { phase (r < n) { %0 = load h[r] %1 = combine any %0 } }"),
                 "any is of booleans");
  expect_refused(with_buffers("kernel k { phase (r < n) { %0 = load h[r] %1 = combine sum %0 %2 = part %1 1 } }"),
                 "sum has no part 1");
}

TEST(LoopVerify, UnitsAreIndependent) {
  expect_refused(with_buffers("kernel k outer (a < n, b < m) { phase { %0 = load x[m*a + b] store z[a] %0 } }"),
                 "every unit along b writes the same element");
  expect_refused(with_buffers(R"(kernel k outer (a < n) {
    phase (r < m) { %0 = load x[m*a + r] store y[m*a + r] %0 }
    phase (q < m) { %1 = load y[m*a + m - 1 - q] store y[m*a + q] %1 }
  })"),
                 "the phase stores this buffer at");
  expect_refused(with_buffers(R"(kernel k outer (a < n) {
    phase (r < m) { %0 = load x[m*a + r] store y[m*a + r] %0 }
    phase { %1 = load y[m*n - 1 - m*a] store z[a] %1 }
  })"),
                 "another unit may store it");
  expect_refused(with_buffers("kernel k outer (a < n, b < n) { phase { %0 = load h[a] store z[a + b] %0 } }"),
                 "units along a and b write the same element");
  expect_refused(with_buffers("kernel k outer (a < 2, b < 5) { phase { %0 = load h[a] store y[4*a + b] %0 } }"),
                 "units along a and b write the same element");
  EXPECT_NO_THROW(
      program_of(with_buffers("kernel k outer (a < n, b < 2) { phase { %0 = load h[a] store y[m*a + b] %0 } }")));
  // Its own row, in another order of elements, is fine.
  EXPECT_NO_THROW(program_of(with_buffers(R"(kernel k outer (a < n) {
    phase (r < m) { %0 = load x[m*a + r] store y[m*a + r] %0 }
    phase { %1 = load y[m*a + m - 1] store z[a] %1 }
  })")));
  // So is an element of its own column that it overwrites later: 6a = a + 5r at r = a.
  EXPECT_NO_THROW(program_of(with_buffers(R"(kernel k outer (a < 5) {
    phase { %0 = load y[6*a] store z[a] %0 }
    phase (r < 5) { %1 = load x[r] store y[a + 5*r] %1 }
  })")));
  expect_refused(with_buffers(R"(kernel k outer (a < 5) {
    phase { %0 = load y[6*a + 5] store z[a] %0 }
    phase (r < 5) { %1 = load x[r] store y[a + 5*r] %1 }
  })"),
                 "another unit may store it");
  // One unit does everything, and the first row is among those that it overwrites; the stride is not known.
  const std::string strided = R"(
    sizes n in [2, 1024], m in [2, 1024], t in [-4096, 4096]
    buffer x: f32[n, m] strides (t, 1) input written
  )";
  EXPECT_NO_THROW(program_of(strided + R"(kernel k {
    phase { %0 = load x[0] }
    phase (r < n, q < m) { store x[t*r + q] %0 }
  })"));
  EXPECT_NO_THROW(program_of(strided + R"(kernel k outer (a < m) {
    phase { %0 = load x[a] }
    phase (r < n) { store x[t*r + a] %0 }
  })"));
  expect_refused(strided + R"(kernel k outer (a < m) {
    phase { %0 = load x[0] }
    phase (r < n) { store x[t*r + a] %0 }
  })",
                 "another unit may store it");
}

TEST(LoopVerify, AddressesInBounds) {
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load h[a + 1] store z[a] %0 } }"),
                 "goes up to n, the last element is n - 1");
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load h[a - 1] store z[a] %0 } }"),
                 "goes down to -1, below the buffer");
  expect_refused(with_buffers("kernel k outer (a < n) { phase { %0 = load h[a] store x[m*a] %0 } }"),
                 "the input is not marked as written");
}

TEST(LoopVerify, LibraryCallSizes) {
  expect_refused(with_buffers("call matmul { a x b x out y }"), "sizes of a, b and out do not fit");
}

}  // namespace
}  // namespace stax::loop
