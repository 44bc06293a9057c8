// Size classes of small blocks: multiples of 64 up to 512, then eight a doubling up to 64 KiB.
#pragma once
#include <array>
#include <bit>
#include <cstddef>

namespace stax::runtime {

inline constexpr std::size_t kSmallLimit = 64 * 1024;
inline constexpr int kSizeClasses = 64;

// 1 <= bytes <= kSmallLimit.
constexpr int size_class_of(std::size_t bytes) {
  if (bytes <= 512) return static_cast<int>((bytes - 1) / 64);
  const int exponent = std::bit_width(bytes - 1) - 1;  // 2^exponent < bytes <= 2^(exponent+1), 9 <= exponent
  const int step = static_cast<int>((bytes - 1) >> (exponent - 3)) - 8;
  return 8 + (exponent - 9) * 8 + step;
}

constexpr std::size_t class_bytes(int c) {
  if (c < 8) return static_cast<std::size_t>(c + 1) * 64;
  const int exponent = 9 + (c - 8) / 8;
  return (std::size_t{1} << exponent) + (static_cast<std::size_t>((c - 8) % 8 + 1) << (exponent - 3));
}

}  // namespace stax::runtime
