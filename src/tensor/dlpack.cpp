#include <fmt/format.h>
#include <stax/tensor/dlpack.h>
#include <stax/tensor/dlpack_abi.h>

#include <optional>

#include "tensor/data_file.h"

namespace stax {
namespace {

static_assert(sizeof(DLDevice) == 8 && sizeof(DLDataType) == 4 && sizeof(DLTensor) == 48 &&
                  sizeof(DLManagedTensor) == 64,
              "the ABI of DLPack 0.8 on 64-bit machines");

constexpr std::uint8_t code_of(DtypeKind kind) {
  switch (kind) {
    case DtypeKind::boolean:
      return kDLBool;
    case DtypeKind::unsigned_integer:
      return kDLUInt;
    case DtypeKind::signed_integer:
      return kDLInt;
    case DtypeKind::floating:
      return kDLFloat;
  }
  return kDLFloat;
}

// Nothing for the 8-bit floats, which DLPack 0.8 lacks.
std::optional<DLDataType> to_dl(Dtype dtype) {
  if (is_floating(dtype) && byte_size(dtype) == 1) return std::nullopt;
  const std::uint8_t code = dtype == Dtype::bf16 ? std::uint8_t{kDLBfloat} : code_of(kind_of(dtype));
  return DLDataType{code, static_cast<std::uint8_t>(8 * byte_size(dtype)), 1};
}

std::optional<Dtype> from_dl(DLDataType type) {
  for (int i = 0; i < kDtypeCount; ++i) {
    const auto own = to_dl(static_cast<Dtype>(i));
    if (own && own->code == type.code && own->bits == type.bits && own->lanes == type.lanes)
      return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

std::optional<Device> from_dl(DLDevice device) {
  switch (static_cast<int>(device.device_type)) {
    case kDLCPU:
    case kDLCUDAHost:
      return Device{};
    case kDLCUDA:
      return Device{DeviceKind::cuda, device.device_id};
    default:
      return std::nullopt;
  }
}

// What an exported tensor owns: the memory, and the shape and strides that it points to.
struct Exported {
  DLManagedTensor managed{};
  std::shared_ptr<Storage> storage;
  Dims sizes, strides;
};

// Element range that the layout touches, relative to the first element; nothing when it does not fit 64 bits in bytes.
std::optional<std::pair<std::int64_t, std::int64_t>> checked_extent(const Layout& layout, std::int64_t element) {
  std::int64_t low = 0, high = 0, ignored = 0;
  for (int axis = 0; axis < layout.rank(); ++axis) {
    const std::int64_t size = layout.sizes[static_cast<std::size_t>(axis)];
    if (size == 0) return std::pair<std::int64_t, std::int64_t>{0, -1};
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(size - 1, layout.strides[static_cast<std::size_t>(axis)], &reach)) return std::nullopt;
    std::int64_t& bound = reach < 0 ? low : high;
    if (__builtin_add_overflow(bound, reach, &bound)) return std::nullopt;
  }
  std::int64_t span = 0;
  if (__builtin_sub_overflow(high, low, &span) || __builtin_add_overflow(span, 1, &span) ||
      __builtin_mul_overflow(span, element, &ignored) || __builtin_mul_overflow(low, element, &ignored))
    return std::nullopt;
  return std::pair(low, high);
}

[[noreturn]] void refuse(const std::string& problem, const SourceLoc& where, const std::string& remedy = {}) {
  throw UserError("the DLPack tensor " + problem, where, remedy);
}

Layout layout_of(const DLTensor& tensor, Dtype dtype, const SourceLoc& where) {
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank)
    refuse(fmt::format("has {} dimensions; Stax has 0 to {}", tensor.ndim, kMaxRank), where);
  if (tensor.ndim > 0 && tensor.shape == nullptr)
    refuse(fmt::format("has {} dimensions but no shape", tensor.ndim), where);
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  const std::span<const std::int64_t> sizes(tensor.shape, rank);
  if (!io::bytes_of_shape(sizes, dtype))
    refuse(fmt::format("has shape {}: negative, or too big for 64 bits", to_string(sizes)), where);
  Layout layout = contiguous_layout(sizes);
  if (tensor.strides != nullptr) layout.strides.assign(tensor.strides, tensor.strides + rank);
  return layout;
}

}  // namespace

DLManagedTensor* to_dlpack(const Array& array, const SourceLoc& where) {
  if (!array.defined()) throw UserError("an undefined tensor cannot be handed out through DLPack", where);
  const auto type = to_dl(array.dtype());
  if (!type)
    throw UserError(fmt::format("DLPack 0.8 has no {}", to_text(array.dtype())), where,
                    "Cast the tensor to f16 or f32 first.");
  if (array.device().kind == DeviceKind::null_gpu)
    throw UserError("a tensor of the null device has no memory to hand out through DLPack", where);
  if (array.storage()->read_only())
    throw UserError("a tensor of a mapped file is read-only and cannot be handed out through DLPack", where,
                    "Hand out a copy: x.clone().");
  auto exported = std::make_unique<Exported>();
  exported->storage = array.storage();
  exported->sizes = array.sizes();
  exported->strides = array.strides();
  DLTensor& tensor = exported->managed.dl_tensor;
  tensor.data = array.data();
  tensor.device =
      array.device().kind == DeviceKind::cuda ? DLDevice{kDLCUDA, array.device().index} : DLDevice{kDLCPU, 0};
  tensor.ndim = array.rank();
  tensor.dtype = *type;
  tensor.shape = exported->sizes.data();
  tensor.strides = exported->strides.data();
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* self) { delete static_cast<Exported*>(self->manager_ctx); };
  array.storage()->escape();
  return &exported.release()->managed;
}

Array from_dlpack(DLManagedTensor* managed, const SourceLoc& where) {
  if (managed == nullptr) throw UserError("no DLPack tensor: the pointer is null", where);
  const DLTensor& tensor = managed->dl_tensor;
  const auto dtype = from_dl(tensor.dtype);
  if (!dtype)
    refuse(fmt::format("has type code {}, {} bits, {} lanes, which Stax does not have", tensor.dtype.code,
                       tensor.dtype.bits, tensor.dtype.lanes),
           where);
  const auto device = from_dl(tensor.device);
  if (!device)
    refuse(fmt::format("is on device type {}", static_cast<int>(tensor.device.device_type)), where,
           "Valid are 1 (CPU), 2 (CUDA) and 3 (pinned).");
  Layout layout = layout_of(tensor, *dtype, where);
  const std::int64_t element = byte_size(*dtype);
  const auto extent = checked_extent(layout, element);
  if (!extent) refuse(fmt::format("has strides {}, which do not fit 64 bits", to_string(layout.strides)), where);
  const std::int64_t count = extent->second - extent->first + 1;
  char* first = static_cast<char*>(tensor.data);
  if (count > 0 && first == nullptr) refuse("has elements but no memory", where);
  if (first != nullptr) first += tensor.byte_offset;
  if (reinterpret_cast<std::uintptr_t>(first) % static_cast<std::uintptr_t>(element) != 0)
    refuse(fmt::format("is not aligned to its element size of {} bytes", element), where);
  layout.offset = -extent->first;
  auto release = [managed] {
    if (managed->deleter != nullptr) managed->deleter(managed);
  };
  auto storage = std::make_shared<Storage>(count > 0 ? first + extent->first * element : first,
                                           static_cast<std::size_t>(count * element), *device, std::move(release));
  storage->escape();
  return Array(std::move(storage), *dtype, std::move(layout));
}

}  // namespace stax
