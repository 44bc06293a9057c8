#include "runtime/cuda/strided_copy.h"

#include <fmt/format.h>
#include <stax/base/error.h>
#include <stax/tensor/array.h>

#include <algorithm>
#include <bit>

namespace stax::runtime {

namespace {

constexpr std::size_t kKernelDims = 8;

// As the kernel takes it; strides in bytes. Dimensions from the outermost.
struct Block {
  std::uint64_t to = 0, from = 0, count = 0, rank = 0;
  struct Dim {
    std::int64_t size = 1, from_stride = 0, to_stride = 0;
  } dims[kKernelDims];
};
static_assert(sizeof(Block) == 32 + 24 * kKernelDims);

// One thread takes elements `threads · programs` apart; its index is taken apart from the innermost dimension on.
constexpr std::string_view kKernel = R"(
.visible .entry stax_copy_b{bits}(.param .align 8 .b8 block[{block}])
{{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %a<20>;
  .reg .b{register} %v;
  ld.param.u64 %a0, [block];
  ld.param.u64 %a1, [block+8];
  ld.param.u64 %a2, [block+16];
  ld.param.u64 %a3, [block+24];
  cvta.to.global.u64 %a0, %a0;
  cvta.to.global.u64 %a1, %a1;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %a4, %r0, %r1;
  cvt.u64.u32 %a5, %r2;
  add.u64 %a4, %a4, %a5;
  mul.wide.u32 %a6, %r3, %r1;
  mov.b64 %a7, block;
NEXT:
  setp.ge.u64 %p0, %a4, %a2;
  @%p0 bra DONE;
  mov.u64 %a8, %a4;
  mov.u64 %a9, %a0;
  mov.u64 %a10, %a1;
  mov.u64 %a11, %a3;
DIMENSION:
  setp.eq.u64 %p1, %a11, 0;
  @%p1 bra MOVE;
  sub.u64 %a11, %a11, 1;
  mad.lo.u64 %a12, %a11, 24, %a7;
  ld.param.u64 %a13, [%a12+32];
  ld.param.u64 %a14, [%a12+40];
  ld.param.u64 %a15, [%a12+48];
  div.u64 %a16, %a8, %a13;
  mul.lo.u64 %a17, %a16, %a13;
  sub.u64 %a17, %a8, %a17;
  mad.lo.u64 %a10, %a17, %a14, %a10;
  mad.lo.u64 %a9, %a17, %a15, %a9;
  mov.u64 %a8, %a16;
  bra DIMENSION;
MOVE:
  ld.global.b{bits} %v, [%a10];
  st.global.b{bits} [%a9], %v;
  add.u64 %a4, %a4, %a6;
  bra NEXT;
DONE:
  ret;
}}
)";

std::string kernel_text() {
  std::string text = ".version 7.8\n.target sm_90\n.address_size 64\n";
  for (const int bits : {8, 16, 32, 64})
    text += fmt::format(fmt::runtime(kKernel), fmt::arg("bits", bits), fmt::arg("block", sizeof(Block)),
                        fmt::arg("register", std::max(bits, 16)));
  return text;
}

// Drops dimensions of size 1 and joins those that run on; the order becomes that of the target's strides.
boost::container::small_vector<Block::Dim, kMaxRank> joined(std::span<const std::int64_t> sizes,
                                                            std::span<const std::int64_t> from_strides,
                                                            std::span<const std::int64_t> to_strides) {
  boost::container::small_vector<Block::Dim, kMaxRank> dims;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1) dims.push_back({sizes[i], from_strides[i], to_strides[i]});
  std::stable_sort(dims.begin(), dims.end(), [](const Block::Dim& a, const Block::Dim& b) {
    return std::abs(a.to_stride) > std::abs(b.to_stride);
  });
  for (std::size_t i = dims.size(); i-- > 1;) {
    Block::Dim &outer = dims[i - 1], &inner = dims[i];
    if (outer.to_stride != inner.to_stride * inner.size || outer.from_stride != inner.from_stride * inner.size)
      continue;
    outer = {outer.size * inner.size, inner.from_stride, inner.to_stride};
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return dims;
}

}  // namespace

const CudaFunction& CudaStridedCopy::kernel(int bytes) {
  const std::lock_guard lock(mutex_);
  if (!module_) {
    ModuleImage image{.name = "strided copies", .bytes = kernel_text(), .isa = "sm_90"};
    for (const int bits : {8, 16, 32, 64})
      image.entries.push_back({.symbol = fmt::format("stax_copy_b{}", bits), .threads = 256});
    module_ = load_cuda_module(context_, image);
  }
  return *static_cast<const CudaFunction*>(module_->function(fmt::format("stax_copy_b{}", 8 * bytes)));
}

void CudaStridedCopy::run(void* to, std::span<const std::int64_t> to_strides, const void* from,
                          std::span<const std::int64_t> from_strides, std::span<const std::int64_t> sizes, int bytes,
                          cu::StreamHandle stream) {
  STAX_CHECK(std::has_single_bit(static_cast<unsigned>(bytes)) && bytes <= 8, "strided copy: bytes of an element");
  std::int64_t count = 1;
  for (const std::int64_t s : sizes) count *= s;
  if (count == 0) return;
  context_.make_current();
  auto dims = joined(sizes, from_strides, to_strides);
  if (dims.empty() || (dims.size() == 1 && dims[0].from_stride == 1 && dims[0].to_stride == 1))
    return context_.check(
        context_.driver().copy_on_device(reinterpret_cast<cu::Address>(to), reinterpret_cast<cu::Address>(from),
                                         static_cast<std::size_t>(count * bytes), stream),
        "copying on the device");
  // More dimensions than the kernel has: one launch for each index of the outermost.
  if (dims.size() > kKernelDims) {
    boost::container::small_vector<std::int64_t, kMaxRank> inner_sizes, inner_from, inner_to;
    for (std::size_t i = 1; i < dims.size(); ++i) {
      inner_sizes.push_back(dims[i].size);
      inner_from.push_back(dims[i].from_stride);
      inner_to.push_back(dims[i].to_stride);
    }
    for (std::int64_t i = 0; i < dims[0].size; ++i)
      run(static_cast<char*>(to) + i * dims[0].to_stride * bytes, inner_to,
          static_cast<const char*>(from) + i * dims[0].from_stride * bytes, inner_from, inner_sizes, bytes, stream);
    return;
  }
  Block block{reinterpret_cast<std::uint64_t>(to),
              reinterpret_cast<std::uint64_t>(from),
              static_cast<std::uint64_t>(count),
              dims.size(),
              {}};
  for (std::size_t i = 0; i < dims.size(); ++i)
    block.dims[i] = {dims[i].size, dims[i].from_stride * bytes, dims[i].to_stride * bytes};
  const CudaFunction& f = kernel(bytes);
  const std::int64_t programs =
      std::min<std::int64_t>((count + f.threads - 1) / f.threads, 32 * context_.properties().multiprocessors);
  void* parameters[] = {&block};
  context_.launched(f.name);
  context_.check(context_.driver().launch(f.handle, static_cast<unsigned>(programs), 1, 1, f.threads, 1, 1, 0, stream,
                                          parameters, nullptr),
                 fmt::format("launch of kernel {}", f.name));
}

}  // namespace stax::runtime
