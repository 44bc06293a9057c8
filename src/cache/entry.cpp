#include "cache/entry.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <algorithm>

namespace stax::cache {
namespace {

constexpr std::string_view kMagic{"STAXC\0\0\1", 8};
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kHeaderBytes = 8 + 2 * kDigestBytes;

void append_number(std::string& text, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
}

void append_digest(std::string& text, const base::Digest& digest) {
  text.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
}

std::string_view digest_bytes(const base::Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

// Reads the payload, never beyond its end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::optional<std::string_view> take(std::uint64_t count) {
    if (count > rest_.size()) return std::nullopt;
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::optional<std::uint64_t> number() {
    const auto bytes = take(8);
    if (!bytes) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>((*bytes)[i])} << (8 * i);
    return value;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<std::vector<Entry::File>> read_payload(std::string_view payload) {
  Reader reader(payload);
  const auto count = reader.number();
  if (!count || *count > payload.size()) return std::nullopt;
  std::vector<Entry::File> files;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto name_size = reader.number(), size = reader.number();
    if (!name_size || !size) return std::nullopt;
    const auto name = reader.take(*name_size), bytes = reader.take(*size);
    if (!name || !bytes) return std::nullopt;
    files.push_back({*name, *bytes});
  }
  if (!reader.done()) return std::nullopt;
  return files;
}

}  // namespace

std::optional<std::string_view> Entry::find(std::string_view name) const {
  const auto found = std::ranges::find(files_, name, &File::name);
  return found == files_.end() ? std::nullopt : std::optional(found->bytes);
}

std::string_view Entry::at(std::string_view name) const {
  const auto bytes = find(name);
  STAX_CHECK(bytes.has_value(), fmt::format("a cache entry has no '{}'", name));
  return *bytes;
}

std::string encode_entry(const base::Digest& key, std::span<const Blob> blobs) {
  std::string payload;
  append_number(payload, blobs.size());
  for (const Blob& blob : blobs) {
    append_number(payload, blob.name.size());
    append_number(payload, blob.bytes.size());
    payload += blob.name;
    payload += blob.bytes;
  }
  std::string content(kMagic);
  append_digest(content, key);
  append_digest(content, base::sha256(payload));
  return content + payload;
}

std::optional<Entry> decode_entry(const base::Digest& key, std::vector<char> content, std::string& problem) {
  const std::string_view all(content.data(), content.size());
  const auto fail = [&](std::string_view why) {
    problem = why;
    return std::nullopt;
  };
  if (all.size() < kHeaderBytes) return fail("it is cut short");
  if (all.substr(0, 8) != kMagic) return fail("it does not start like an entry");
  if (all.substr(8, kDigestBytes) != digest_bytes(key)) return fail("it belongs to another key");
  const std::string_view payload = all.substr(kHeaderBytes);
  if (all.substr(8 + kDigestBytes, kDigestBytes) != digest_bytes(base::sha256(payload))) {
    return fail("its content does not match its digest");
  }
  auto files = read_payload(payload);
  if (!files) return fail("its list of files is malformed");
  Entry entry;
  entry.content_ = std::move(content);
  entry.files_ = std::move(*files);
  return entry;
}

}  // namespace stax::cache
