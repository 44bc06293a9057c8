// Random numbers as a pure function of (seed, element): Philox 4x32-10 (Salmon et al., SC 2011). The same arithmetic as
// the kernel text codegen/cpp/prelude/random.inc, bit for bit: IEEE operations without fma.
#pragma once
#include <array>
#include <cstdint>

namespace stax::base {

// The block of four words of a 128-bit counter under a 64-bit key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// Uniform in [0, 1), a multiple of 2^-24.
float random_uniform(std::uint64_t seed, std::uint64_t element);

// Standard normal by Box and Muller.
float random_normal(std::uint64_t seed, std::uint64_t element);

}  // namespace stax::base
