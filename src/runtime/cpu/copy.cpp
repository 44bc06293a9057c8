#include "runtime/cpu/copy.h"

#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <cstring>

#include "runtime/cpu/openmp.h"
#include "runtime/cpu/threads.h"

namespace stax::runtime {

namespace {

struct Axis {
  std::int64_t size, dst, src;  // strides in bytes
};
using Axes = boost::container::static_vector<Axis, kMaxRank>;

// Drops unit axes, orders by destination stride (largest first) and merges axes that run on.
Axes normalised(std::span<const std::int64_t> sizes, std::span<const std::int64_t> dst,
                std::span<const std::int64_t> src, int bytes) {
  Axes axes;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1) axes.push_back({sizes[i], dst[i] * bytes, src[i] * bytes});
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.dst) > std::abs(b.dst); });
  Axes merged;
  for (const Axis& a : axes) {
    if (!merged.empty() && merged.back().dst == a.dst * a.size && merged.back().src == a.src * a.size)
      merged.back() = {merged.back().size * a.size, a.dst, a.src};
    else
      merged.push_back(a);
  }
  return merged;
}

template <int Bytes>
void copy_row(char* dst, std::int64_t dst_step, const char* src, std::int64_t src_step, std::int64_t n) {
  if (dst_step == Bytes && src_step == Bytes) {
    std::memcpy(dst, src, static_cast<std::size_t>(n) * Bytes);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(dst + i * dst_step, src + i * src_step, Bytes);
}

// A plane whose fastest axes differ on the two sides, in square tiles that stay in the first-level cache.
template <int Bytes>
void copy_plane(char* dst, const char* src, const Axis& outer, const Axis& inner) {
  constexpr std::int64_t kTile = 32;
  for (std::int64_t j0 = 0; j0 < inner.size; j0 += kTile)
    for (std::int64_t i0 = 0; i0 < outer.size; i0 += kTile) {
      const std::int64_t i1 = std::min(i0 + kTile, outer.size), n = std::min(kTile, inner.size - j0);
      for (std::int64_t i = i0; i < i1; ++i)
        copy_row<Bytes>(dst + i * outer.dst + j0 * inner.dst, inner.dst, src + i * outer.src + j0 * inner.src,
                        inner.src, n);
    }
}

template <int Bytes>
void copy_axes(char* dst, const char* src, std::span<const Axis> axes) {
  if (axes.empty()) {
    std::memcpy(dst, src, Bytes);
  } else if (axes.size() == 1) {
    copy_row<Bytes>(dst, axes[0].dst, src, axes[0].src, axes[0].size);
  } else if (axes.size() == 2) {
    copy_plane<Bytes>(dst, src, axes[0], axes[1]);
  } else {
    for (std::int64_t i = 0; i < axes[0].size; ++i)
      copy_axes<Bytes>(dst + i * axes[0].dst, src + i * axes[0].src, axes.subspan(1));
  }
}

template <int Bytes>
void copy_parallel(char* dst, const char* src, Axes axes) {
  std::int64_t total = Bytes;
  for (const Axis& a : axes) total *= a.size;
  const int threads = num_threads();
  if (total < 256 * 1024 || threads == 1 || axes.empty()) return copy_axes<Bytes>(dst, src, axes);
  // Chunks along the longest axis.
  const auto longest =
      std::max_element(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.size < b.size; });
  const std::int64_t n = longest->size;
  const std::size_t at = static_cast<std::size_t>(longest - axes.begin());
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t team = omp_get_num_threads(), me = omp_get_thread_num();
    const std::int64_t begin = n * me / team, end = n * (me + 1) / team;
    Axes mine = axes;
    mine[at].size = end - begin;
    if (end > begin) copy_axes<Bytes>(dst + begin * mine[at].dst, src + begin * mine[at].src, mine);
  }
}

}  // namespace

void strided_copy(void* dst, std::span<const std::int64_t> dst_strides, const void* src,
                  std::span<const std::int64_t> src_strides, std::span<const std::int64_t> sizes, int bytes) {
  for (const std::int64_t s : sizes)
    if (s == 0) return;
  const Axes axes = normalised(sizes, dst_strides, src_strides, bytes);
  auto* d = static_cast<char*>(dst);
  const auto* s = static_cast<const char*>(src);
  switch (bytes) {
    case 1:
      return copy_parallel<1>(d, s, axes);
    case 2:
      return copy_parallel<2>(d, s, axes);
    case 4:
      return copy_parallel<4>(d, s, axes);
    default:
      return copy_parallel<8>(d, s, axes);
  }
}

void cpu_copy(const CopyArgs& args) {
  if (args.from_dtype == args.to_dtype)
    return strided_copy(args.to, args.to_strides, args.from, args.from_strides, args.sizes, byte_size(args.to_dtype));
  auto view = [&](void* data, Dtype dtype, std::span<const std::int64_t> strides) {
    return Array(std::make_shared<Storage>(data, 0, Device{}, nullptr), dtype,
                 Layout{Dims(args.sizes.begin(), args.sizes.end()), Dims(strides.begin(), strides.end()), 0});
  };
  copy_elements(view(const_cast<void*>(args.from), args.from_dtype, args.from_strides),
                view(args.to, args.to_dtype, args.to_strides));
}

}  // namespace stax::runtime
