#include "runtime/transfer.h"

#include <algorithm>
#include <vector>

#include "runtime/device_runtime.h"

namespace stax::runtime {

namespace {

// Every element once, without gaps, in whichever order of the axes.
bool fills_a_block(const Layout& layout) {
  boost::container::small_vector<std::pair<std::int64_t, std::int64_t>, 6> axes;  // stride, size
  for (std::size_t i = 0; i < layout.sizes.size(); ++i)
    if (layout.sizes[i] != 1) axes.emplace_back(layout.strides[i], layout.sizes[i]);
  std::sort(axes.begin(), axes.end());
  std::int64_t expected = 1;
  for (const auto& [stride, size] : axes) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

void move_bytes(const Array& from, const Array& to, std::size_t bytes) {
  const bool from_host = from.device().kind == DeviceKind::cpu, to_host = to.device().kind == DeviceKind::cpu;
  if (from_host) return runtime_for(to.device()).upload(to.data(), from.data(), bytes);
  if (to_host) return runtime_for(from.device()).download(to.data(), from.data(), bytes);
  std::vector<char> between(bytes);
  runtime_for(from.device()).download(between.data(), from.data(), bytes);
  runtime_for(to.device()).upload(to.data(), between.data(), bytes);
}

}  // namespace

void copy_on_device(const Array& from, const Array& to) {
  STAX_CHECK(from.device() == to.device() && from.dtype() == to.dtype() && from.sizes() == to.sizes(),
             "copy_on_device: unlike arrays");
  CopyArgs args;
  args.from = from.data(), args.to = to.data();
  args.from_dtype = args.to_dtype = from.dtype();
  args.sizes = {to.sizes().data(), to.sizes().size()};
  args.from_strides = {from.strides().data(), from.strides().size()};
  args.to_strides = {to.strides().data(), to.strides().size()};
  if (to.numel() > 0) runtime_for(to.device()).copy(args);
}

Array moved_to(const Array& a, Device device) {
  if (a.device() == device) return a;
  if (a.numel() > 0 && !runtime_for(a.device()).executes())
    throw DeviceError("the null device holds no values: nothing can be read from it");
  const std::span<const std::int64_t> sizes(a.sizes().data(), a.sizes().size());
  Array block = a;
  if (!fills_a_block(a.layout())) {
    block = Array::empty(sizes, a.dtype(), a.device());
    copy_on_device(a, block);
  }
  const Array target = Array::empty(sizes, a.dtype(), device).with_layout(Layout{block.sizes(), block.strides(), 0});
  move_bytes(block, target, static_cast<std::size_t>(a.numel()) * static_cast<std::size_t>(byte_size(a.dtype())));
  return target;
}

}  // namespace stax::runtime
