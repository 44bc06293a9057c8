// One cache entry: named blobs in a file that carries the digest of its own content.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace stax::cache {

struct Blob {
  std::string name;
  std::string bytes;
};

// A verified entry, held in memory: what was checked is what is used. Views live as long as the entry.
class Entry {
 public:
  struct File {
    std::string_view name;
    std::string_view bytes;
  };
  const std::vector<File>& files() const { return files_; }
  std::optional<std::string_view> find(std::string_view name) const;
  std::string_view at(std::string_view name) const;  // InternalError when there is no such blob

  Entry(Entry&&) = default;
  Entry& operator=(Entry&&) = default;

 private:
  friend std::optional<Entry> decode_entry(const base::Digest&, std::vector<char>, std::string&);
  Entry() = default;
  std::vector<char> content_;  // a vector: moving it keeps the views valid
  std::vector<File> files_;
};

// magic (8 bytes), key (32), SHA-256 of the rest (32); then the number of blobs, for each the lengths of name and
// bytes, and the names and bytes one after the other. Integers are 64-bit little-endian.
std::string encode_entry(const base::Digest& key, std::span<const Blob> blobs);

// Nothing, and the reason in `problem`, when the content is not exactly an entry of this key.
std::optional<Entry> decode_entry(const base::Digest& key, std::vector<char> content, std::string& problem);

}  // namespace stax::cache
