#include "base/hash.h"

#include <openssl/evp.h>
#include <stax/base/error.h>

#include <bit>

namespace stax::base {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string little_endian(std::uint64_t value) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

}  // namespace

std::string Digest::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<Digest> Digest::from_hex(std::string_view text) {
  Digest digest;
  if (text.size() != 2 * digest.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return digest;
}

Digest sha256(std::string_view data) {
  // Fetched once: an implicit fetch at every call costs more than a short hash.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  Digest digest;
  unsigned size = 0;
  const int done = EVP_Digest(data.data(), data.size(), digest.bytes.data(), &size, algorithm, nullptr);
  STAX_CHECK(done == 1 && size == digest.bytes.size(), "SHA-256 of OpenSSL failed");
  return digest;
}

KeyBuilder& KeyBuilder::field(std::string_view name, char type, std::string_view value) {
  bytes_ += little_endian(name.size());
  bytes_ += name;
  bytes_ += type;
  bytes_ += little_endian(value.size());
  bytes_ += value;
  return *this;
}

KeyBuilder& KeyBuilder::add(std::string_view name, std::int64_t value) {
  return field(name, 'i', little_endian(static_cast<std::uint64_t>(value)));
}

KeyBuilder& KeyBuilder::add(std::string_view name, double value) {
  return field(name, 'f', little_endian(std::bit_cast<std::uint64_t>(value)));
}

KeyBuilder& KeyBuilder::add(std::string_view name, const Digest& value) {
  return field(name, 'd', {reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()});
}

namespace {
// Finaliser of MurmurHash3: every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t h) {
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdULL;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53ULL;
  return h ^ h >> 33;
}
}  // namespace

std::uint64_t stable_hash(std::string_view data) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : data) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix(h);
}

std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) {
  return mix(seed + 0x9e3779b97f4a7c15ULL + mix(value));
}

}  // namespace stax::base
