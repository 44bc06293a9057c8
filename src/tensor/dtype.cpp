#include <fmt/format.h>
#include <stax/base/error.h>
#include <stax/tensor/device.h>
#include <stax/tensor/dtype.h>

#include <charconv>

namespace stax {

std::string_view to_text(Dtype t) {
  switch (t) {
#define X(name, type, bytes, kind) \
  case Dtype::name:                \
    return #name;
    STAX_DTYPES(X)
#undef X
  }
  __builtin_unreachable();
}

std::string to_string(Dtype t) { return std::string(to_text(t)); }

std::optional<Dtype> parse_dtype(std::string_view text) {
#define X(name, type, bytes, kind) \
  if (text == #name) return Dtype::name;
  STAX_DTYPES(X)
#undef X
  return std::nullopt;
}

int byte_size(Dtype t) {
  switch (t) {
#define X(name, type, bytes, kind) \
  case Dtype::name:                \
    return bytes;
    STAX_DTYPES(X)
#undef X
  }
  __builtin_unreachable();
}

DtypeKind kind_of(Dtype t) {
  constexpr auto b = DtypeKind::boolean, u = DtypeKind::unsigned_integer, i = DtypeKind::signed_integer,
                 f = DtypeKind::floating;
  switch (t) {
#define X(name, type, bytes, kind) \
  case Dtype::name:                \
    return kind;
    STAX_DTYPES(X)
#undef X
  }
  __builtin_unreachable();
}

Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  if (a == Dtype::boolean) return b;
  if (b == Dtype::boolean) return a;
  const bool fa = is_floating(a), fb = is_floating(b);
  if (fa != fb) return fa ? a : b;
  if (fa) {
    // Two unlike types of one width below f32 meet in f32: neither holds the other.
    if (byte_size(a) == byte_size(b)) return Dtype::f32;
    const Dtype wide = byte_size(a) > byte_size(b) ? a : b;
    return wide;
  }
  if (a == Dtype::u8 || b == Dtype::u8) {
    const Dtype other = a == Dtype::u8 ? b : a;
    return other == Dtype::i8 ? Dtype::i16 : other;
  }
  return byte_size(a) > byte_size(b) ? a : b;
}

std::string to_string(Device d) {
  switch (d.kind) {
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::cuda:
      return fmt::format("cuda:{}", d.index);
    case DeviceKind::null_gpu:
      return "null";
  }
  __builtin_unreachable();
}

Device parse_device(std::string_view text) {
  if (text == "cpu") return {DeviceKind::cpu, 0};
  if (text == "null") return {DeviceKind::null_gpu, 0};
  if (text == "cuda") return {DeviceKind::cuda, 0};
  if (text.starts_with("cuda:")) {
    int index = -1;
    const auto digits = text.substr(5);
    auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (status == std::errc() && end == digits.data() + digits.size() && index >= 0) return {DeviceKind::cuda, index};
  }
  throw UserError(fmt::format("unknown device '{}'", text), {}, "Valid devices: cpu, cuda, cuda:N, null");
}

}  // namespace stax
