#include "runtime/cuda/matmul_plan.h"

#include <algorithm>

namespace stax::runtime {

std::optional<LtMatrix> lt_matrix(void* data, std::int64_t first_stride, std::int64_t second_stride, std::int64_t first,
                                  std::int64_t second) {
  LtMatrix x;
  x.data = data;
  // A dimension of one element has any stride.
  auto fits = [](std::int64_t own, std::int64_t size, std::int64_t other, std::int64_t other_size,
                 std::int64_t& leading) {
    if (size != 1 && own != 1) return false;
    leading = other_size == 1 ? std::max<std::int64_t>(1, size) : other;
    return leading >= std::max<std::int64_t>(1, size);
  };
  if (fits(first_stride, first, second_stride, second, x.leading)) return x;
  x.transposed = true;
  if (fits(second_stride, second, first_stride, first, x.leading)) return x;
  return std::nullopt;
}

std::size_t LtKeyHash::operator()(const LtKey& key) const {
  std::uint64_t words[sizeof(LtKey) / 8];
  static_assert(sizeof(words) == sizeof(LtKey));
  std::memcpy(words, &key, sizeof(words));
  std::uint64_t h = 0x9e3779b97f4a7c15;
  for (const std::uint64_t w : words) {
    h = (h ^ w) * 0xff51afd7ed558ccd;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace stax::runtime
