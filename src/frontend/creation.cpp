#include <fmt/format.h>
#include <stax/frontend/creation.h>
#include <stax/tensor/io.h>

#include <cstring>
#include <mutex>

#include "base/env.h"
#include "frontend/dispatch.h"
#include "frontend/placed.h"
#include "runtime/device_runtime.h"
#include "runtime/transfer.h"

namespace stax {

using frontend::apply_one;
using frontend::attribute;
using frontend::placed;

namespace {
std::mutex device_mutex;
std::optional<Device> chosen_device;
}  // namespace

Device default_device() {
  std::lock_guard lock(device_mutex);
  if (!chosen_device) {
    const char* text = std::getenv("STAX_DEVICE");
    chosen_device = text && *text ? parse_device(text) : Device{};
  }
  return *chosen_device;
}

void set_default_device(Device device) {
  std::lock_guard lock(device_mutex);
  chosen_device = device;
}
void synchronize(Device device) { runtime::runtime_for(device).synchronize(); }

namespace {
graph::Attributes with_device(graph::Attributes a) {
  a["device"] = to_string(default_device());
  return a;
}
}  // namespace

Tensor full(const Shape& shape, const Scalar& value, Dtype dtype, Where where) {
  return apply_one("full", {value}, with_device({{"sizes", attribute(shape, where)}, {"dtype", dtype}}), where);
}
Tensor full(const Shape& shape, const Scalar& value, Where where) {
  const Dtype t = value.is_floating()                                                                    ? f32
                  : value.kind() == Scalar::Kind::boolean || value.value_kind() == Scalar::Kind::boolean ? boolean
                                                                                                         : i64;
  return full(shape, value, t, where);
}
Tensor zeros(const Shape& shape, Dtype dtype, Where where) { return full(shape, 0, dtype, where); }
Tensor ones(const Shape& shape, Dtype dtype, Where where) { return full(shape, 1, dtype, where); }
Tensor arange(const Dim& end, Dtype dtype, Where where) { return arange(Dim(0), end, 1, dtype, where); }
Tensor arange(const Dim& start, const Dim& end, std::int64_t step, Dtype dtype, Where where) {
  return apply_one(
      "arange", {},
      with_device(
          {{"start", attribute(start, where)}, {"end", attribute(end, where)}, {"step", step}, {"dtype", dtype}}),
      where);
}
Tensor randn(const Shape& shape, const Scalar& seed, Dtype dtype, Where where) {
  return apply_one("randn", {seed}, with_device({{"sizes", attribute(shape, where)}, {"dtype", dtype}}), where);
}
Tensor rand(const Shape& shape, const Scalar& seed, Dtype dtype, Where where) {
  return apply_one("rand", {seed}, with_device({{"sizes", attribute(shape, where)}, {"dtype", dtype}}), where);
}

Tensor linspace(double start, double end, const Dim& count, Dtype dtype, Where where) {
  const bool one = count <= 1;
  const Tensor position = arange(Dim(0), count, 1, f64, where);
  const Scalar step = one ? Scalar(0.0) : Scalar((end - start) / static_cast<double>((count - 1).value(where)));
  const Tensor values = apply_one("add", {apply_one("mul", {position, step}, {}, where), Scalar(start)}, {}, where);
  return apply_one("cast", {values}, {{"dtype", dtype}}, where);
}

Tensor eye(const Dim& rows, const Dim& columns, Dtype dtype, Where where) {
  const Tensor r = apply_one("unsqueeze", {arange(rows, i64, where)}, {{"axis", std::int64_t{1}}}, where);
  return apply_one("cast", {apply_one("eq", {r, arange(columns, i64, where)}, {}, where)}, {{"dtype", dtype}}, where);
}
Tensor eye(const Dim& size, Dtype dtype, Where where) { return eye(size, size, dtype, where); }

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, const Scalar& seed, Dtype dtype, Where where) {
  if (high <= low || high - low > (std::int64_t{1} << 24))
    throw UserError(fmt::format("randint: the range [{}, {}) is empty or holds more than 2^24 numbers", low, high),
                    where, "Use a range of 1 to 16777216 numbers");
  const Tensor u = apply_one("cast", {rand(shape, seed, f32, where)}, {{"dtype", f64}}, where);
  const Tensor n =
      apply_one("floor", {apply_one("mul", {u, Scalar(static_cast<double>(high - low))}, {}, where)}, {}, where);
  return apply_one("cast", {apply_one("add", {n, Scalar(static_cast<double>(low))}, {}, where)}, {{"dtype", dtype}},
                   where);
}

DLManagedTensor* to_dlpack(const Tensor& t, Where where) {
  const Array a = t.array(where);
  DLManagedTensor* managed = to_dlpack(a, where);
  if (a.device() != Device{}) synchronize(a.device());  // the receiver reads on a stream of its own
  return managed;
}
Tensor tensor_from_dlpack(DLManagedTensor* managed, Where where) { return Tensor(from_dlpack(managed, where)); }

namespace {

std::vector<std::int64_t> numbers(const Shape& shape, const char* what, const SourceLoc& where) {
  std::vector<std::int64_t> sizes;
  for (const Dim& d : shape) {
    if (d.is_symbolic()) throw UserError(fmt::format("{}: a symbolic size cannot shape host memory", what), where);
    sizes.push_back(d.number());
  }
  return sizes;
}

}  // namespace

Tensor frontend::from_memory(const void* data, std::size_t count, Dtype dtype, const Shape& shape, Where where) {
  const std::vector<std::int64_t> sizes = numbers(shape, "from_vector", where);
  Array a = placed("from_vector", where, [&] { return Array::empty(std::span<const std::int64_t>(sizes), dtype); });
  if (static_cast<std::size_t>(a.numel()) != count)
    throw UserError(
        fmt::format("from_vector: {} values for shape {} of {} elements", count, to_string(shape), a.numel()), where,
        "The element counts must be equal");
  if (count) std::memcpy(a.data(), data, count * static_cast<std::size_t>(byte_size(dtype)));
  return placed("from_vector", where, [&] { return Tensor(runtime::moved_to(a, default_device())); });
}

Tensor from_blob(void* data, const Shape& shape, Dtype dtype) {
  const std::vector<std::int64_t> sizes = numbers(shape, "from_blob", {});
  Layout layout = contiguous_layout(sizes);
  if (data == nullptr && layout.numel() > 0)
    throw UserError(fmt::format("from_blob: the address of {} elements is null", layout.numel()));
  auto storage = std::make_shared<Storage>(data, static_cast<std::size_t>(layout.numel() * byte_size(dtype)), Device{},
                                           std::function<void()>{});
  storage->escape();
  return Tensor(Array(std::move(storage), dtype, std::move(layout)));
}

Tensor load_npy(const std::string& path, Where where) {
  return placed("load_npy", where,
                [&] { return Tensor(runtime::moved_to(io::load_npy(path, where), default_device())); });
}
void save_npy(const std::string& path, const Tensor& t, Where where) {
  io::save_npy(path, runtime::on_host(t.array(where)), where);
}
std::map<std::string, Tensor> load_safetensors(const std::string& path, Where where) {
  std::map<std::string, Tensor> result;
  const Device device = default_device();
  for (const auto& [name, array] : io::load_safetensors(path, where))
    result.emplace(name, placed("load_safetensors", where, [&] { return Tensor(runtime::moved_to(array, device)); }));
  return result;
}

}  // namespace stax
