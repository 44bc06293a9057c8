#include "base/philox.h"

#include <bit>
#include <cmath>

// No contraction into fma: the bits must not depend on the machine.
#pragma GCC optimize("fp-contract=off")

namespace stax::base {
namespace {

std::array<std::uint32_t, 4> block_of(std::uint64_t seed, std::uint64_t element) {
  return philox({static_cast<std::uint32_t>(element), static_cast<std::uint32_t>(element >> 32), 0, 0},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

// The top 24 bits of a word, exact in float.
float top24(std::uint32_t word) { return static_cast<float>(word >> 8); }

// log x of a positive normal x = 2^e (1 + f): a polynomial in f.
float log_of(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  const std::int32_t k = (bits - 0x3f3504f3) >> 23;
  const float f = std::bit_cast<float>(bits - k * 0x800000) - 1.0f, e = static_cast<float>(k);
  float q = f * -0x1.38c96ap-4f + 0x1.055eacp-3f;
  for (const float c :
       {-0x1.0d8246p-3f, 0x1.22d930p-3f, -0x1.54728ap-3f, 0x1.99a01cp-3f, -0x1.000226p-2f, 0x1.555554p-2f, -0.5f})
    q = q * f + c;
  return e * 0x1.62e430p-1f + (f + f * f * q);
}

// cos(2 pi t), 0 <= t < 1: the quarter turn n and the angle r within it.
float cos_of_turns(float t) {
  t *= 4.0f;
  const auto n = static_cast<std::int32_t>(t + 0.5f);
  const float r = (t - static_cast<float>(n)) * 0x1.921fb6p+0f, z = r * r;
  float y;
  if (n & 1) {
    float s = z * -0x1.9954a4p-13f + 0x1.11077ap-7f;
    s = s * z + -0x1.555546p-3f;
    y = s * z * r + r;
  } else {
    float c = z * 0x1.99e0eep-16f + -0x1.6c0c1ap-10f;
    for (const float next : {0x1.55554ap-5f, -0.5f, 1.0f}) c = c * z + next;
    y = c;
  }
  return (n + 1) & 2 ? -y : y;
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53} * c[0], b = std::uint64_t{0xcd9e8d57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return c;
}

float random_uniform(std::uint64_t seed, std::uint64_t element) { return top24(block_of(seed, element)[0]) * 0x1p-24f; }

float random_normal(std::uint64_t seed, std::uint64_t element) {
  const auto block = block_of(seed, element);
  return std::sqrt(log_of((top24(block[0]) + 1.0f) * 0x1p-24f) * -2.0f) * cos_of_turns(top24(block[1]) * 0x1p-24f);
}

}  // namespace stax::base
