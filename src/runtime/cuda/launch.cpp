#include <fmt/format.h>
#include <stax/base/error.h>

#include <limits>
#include <vector>

#include "runtime/cuda/cuda_module.h"

namespace stax::runtime {

namespace {

constexpr std::size_t kOnStack = 64;
constexpr std::size_t kMostParameters = 4096 / 8;

// The driver takes an array of addresses, one a parameter; it copies what they point to, as many bytes as the kernel
// says, before the launch returns. So parameters need not lie in one block: a tensor map (128 bytes at a multiple of
// 64, as the driver's encoder writes it) is one address more, of where the map is kept, instead of one of a slot.
void pack(const LaunchArgs& args, bool reports, std::uint64_t* slots, void** parameters) {
  std::size_t n = 0;
  for (void* b : args.buffers) slots[n++] = reinterpret_cast<std::uint64_t>(b);
  if (reports) slots[n++] = reinterpret_cast<std::uint64_t>(args.error);
  for (const std::int64_t v : args.ints) slots[n++] = static_cast<std::uint64_t>(v);
  for (const std::uint64_t v : args.scalars) slots[n++] = v;
  slots[n++] = 0;  // scratch addresses
  slots[n++] = 0;
  for (std::size_t i = 0; i < n; ++i) parameters[i] = &slots[i];
}

void queue(const CudaContext& context, const CudaFunction& f, const unsigned grid[3], void** parameters,
           cu::StreamHandle stream) {
  context.make_current();
  context.launched(f.name);
  const cu::Result r = context.driver().launch(f.handle, grid[0], grid[1], grid[2], f.threads, 1, 1, f.shared_bytes,
                                               stream, parameters, nullptr);
  if (r != cu::kSuccess) [[unlikely]]
    context.fail(r, fmt::format("launch of kernel {} (grid {}x{}x{}, {} threads, {} bytes shared)", f.name, grid[0],
                                grid[1], grid[2], f.threads, f.shared_bytes));
}

}  // namespace

void launch_cuda_kernel(const CudaContext& context, const LaunchArgs& args, cu::StreamHandle stream) {
  const CudaFunction& f = *static_cast<const CudaFunction*>(args.function);
  constexpr std::int64_t kMostX = std::numeric_limits<std::int32_t>::max(), kMostYZ = 65535;
  unsigned grid[3];
  for (int d = 0; d < 3; ++d) {
    const std::int64_t n = args.grid[d];
    if (n == 0) return;
    if (n < 0 || n > (d == 0 ? kMostX : kMostYZ))
      throw InternalError(fmt::format("kernel {}: grid {}x{}x{}", f.name, args.grid[0], args.grid[1], args.grid[2]));
    grid[d] = static_cast<unsigned>(n);
  }
  STAX_CHECK(!f.reports || args.error, fmt::format("kernel {} needs an error word", f.name));
  const std::size_t count = args.buffers.size() + args.ints.size() + args.scalars.size() + (f.reports ? 3 : 2);
  if (count <= kOnStack) [[likely]] {
    std::uint64_t slots[kOnStack];
    void* parameters[kOnStack];
    pack(args, f.reports, slots, parameters);
    return queue(context, f, grid, parameters, stream);
  }
  if (count > kMostParameters)
    throw InternalError(fmt::format("kernel {} has {} parameters, more than {}", f.name, count, kMostParameters));
  std::vector<std::uint64_t> slots(count);
  std::vector<void*> parameters(count);
  pack(args, f.reports, slots.data(), parameters.data());
  queue(context, f, grid, parameters.data(), stream);
}

}  // namespace stax::runtime
