// SHA-256 digests, keys built of named fields, and a 64-bit hash that is stable between processes and versions.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace stax::base {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  std::string hex() const;  // 64 lower-case digits
  static std::optional<Digest> from_hex(std::string_view text);
  auto operator<=>(const Digest&) const = default;
};

Digest sha256(std::string_view data);

// A key over named, typed fields. Each name and value is length-prefixed, so that no two field lists give the same
// bytes.
class KeyBuilder {
 public:
  KeyBuilder& add(std::string_view name, std::string_view value) { return field(name, 's', value); }
  KeyBuilder& add(std::string_view name, const char* value) { return field(name, 's', value); }
  KeyBuilder& add(std::string_view name, std::int64_t value);
  KeyBuilder& add(std::string_view name, int value) { return add(name, std::int64_t{value}); }
  KeyBuilder& add(std::string_view name, bool value) { return field(name, 'b', value ? "1" : "0"); }
  KeyBuilder& add(std::string_view name, double value);  // by its bits
  KeyBuilder& add(std::string_view name, const Digest& value);
  Digest finish() const { return sha256(bytes_); }

 private:
  KeyBuilder& field(std::string_view name, char type, std::string_view value);
  std::string bytes_;
};

// FNV-1a over the bytes followed by a finalising mix. For tables and names, not for trust.
std::uint64_t stable_hash(std::string_view data);
std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value);

}  // namespace stax::base

template <>
struct std::hash<stax::base::Digest> {
  std::size_t operator()(const stax::base::Digest& digest) const noexcept {
    std::size_t value;
    std::memcpy(&value, digest.bytes.data(), sizeof value);
    return value;
  }
};
