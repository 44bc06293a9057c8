#include "tensor/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace stax::io {
namespace {

using Json = nlohmann::json;

struct Spelling {
  std::string_view text;
  Dtype dtype;
};
constexpr Spelling kSpellings[] = {
    {"BOOL", Dtype::boolean}, {"U8", Dtype::u8},   {"I8", Dtype::i8},          {"I16", Dtype::i16},
    {"I32", Dtype::i32},      {"I64", Dtype::i64}, {"F16", Dtype::f16},        {"BF16", Dtype::bf16},
    {"F32", Dtype::f32},      {"F64", Dtype::f64}, {"F8_E4M3", Dtype::f8e4m3}, {"F8_E5M2", Dtype::f8e5m2},
};
static_assert(std::size(kSpellings) == kDtypeCount);

// The format's own limit for the JSON text.
constexpr std::size_t kMaxHeader = 100'000'000;

// Parses the JSON text; refuses names that occur twice, which nlohmann's parser lets pass.
Json parse_json(std::string_view text, const DataFile& file) {
  std::vector<std::set<std::string>> open;  // the keys so far of each object around the current place
  auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > 3) file.fail("nests its header deeper than a tensor's shape");
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      file.fail(fmt::format("has the name {} twice in its header", excerpt(parsed.get<std::string>())));
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check);
  } catch (const Json::exception& e) {
    file.fail(fmt::format("has a header that is not JSON: {}", e.what()));
  }
}

// One tensor's JSON object.
class EntryParser {
 public:
  EntryParser(const std::string& name, const Json& json, const DataFile& file) : json_(json), file_(file) {
    entry_.name = name;
  }

  // `data_begin` and `data_size`: the section of the file that the offsets count in.
  SafetensorsEntry parse(std::size_t data_begin, std::size_t data_size) {
    if (!json_.is_object()) fail("is no JSON object");
    for (const auto& [key, value] : json_.items())
      if (key != "dtype" && key != "shape" && key != "data_offsets")
        fail(fmt::format("has the unknown key {}", excerpt(key)));
    entry_.dtype = dtype();
    entry_.shape = shape();
    const Json& offsets = array("data_offsets");
    if (offsets.size() != 2) fail(fmt::format("has {} data_offsets, not 2", offsets.size()));
    const std::int64_t begin = number(offsets[0], "data_offsets"), end = number(offsets[1], "data_offsets");
    if (begin > end) fail(fmt::format("begins at {}, after its end at {}", begin, end));
    if (static_cast<std::uint64_t>(end) > data_size)
      fail(fmt::format("ends at byte {} of the data, which has {}", end, data_size));
    check_bytes(end - begin);
    entry_.begin = data_begin + static_cast<std::size_t>(begin);
    entry_.end = data_begin + static_cast<std::size_t>(end);
    return std::move(entry_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    file_.fail(fmt::format("is malformed: tensor {} {}", excerpt(entry_.name), problem));
  }

  const Json& field(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(fmt::format("has no '{}'", key));
    return *found;
  }

  const Json& array(const char* key) const {
    const Json& value = field(key);
    if (!value.is_array()) fail(fmt::format("has a '{}' that is no list", key));
    return value;
  }

  std::int64_t number(const Json& value, const char* what) const {
    if (value.is_number_unsigned()) {
      const auto number = value.get<std::uint64_t>();
      if (number <= INT64_MAX) return static_cast<std::int64_t>(number);
      fail(fmt::format("has {} in '{}', which does not fit 63 bits", number, what));
    }
    if (value.is_number_integer())
      fail(fmt::format("has the negative number {} in '{}'", value.get<std::int64_t>(), what));
    fail(fmt::format("has {} in '{}', which is no whole number of 64 bits", excerpt(value.dump()), what));
  }

  Dtype dtype() const {
    const Json& value = field("dtype");
    if (!value.is_string()) fail("has a 'dtype' that is no string");
    const auto& text = value.get_ref<const std::string&>();
    std::string known;
    for (const Spelling& spelling : kSpellings) {
      if (spelling.text == text) return spelling.dtype;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", spelling.text);
    }
    fail(fmt::format("has the dtype {}; valid are {}", excerpt(text), known));
  }

  Dims shape() const {
    const Json& sizes = array("shape");
    if (sizes.size() > kMaxRank) fail(fmt::format("has {} dimensions; Stax has at most {}", sizes.size(), kMaxRank));
    Dims shape;
    for (const Json& size : sizes) shape.push_back(number(size, "shape"));
    return shape;
  }

  void check_bytes(std::int64_t held) const {
    const std::span<const std::int64_t> shape(entry_.shape.data(), entry_.shape.size());
    const auto needed = bytes_of_shape(shape, entry_.dtype);
    if (!needed) fail(fmt::format("has shape {}, whose size does not fit 64 bits", to_string(shape)));
    if (*needed != held)
      fail(fmt::format("has {} bytes, but shape {} of {} needs {}", held, to_string(shape), to_text(entry_.dtype),
                       *needed));
  }

  const Json& json_;
  const DataFile& file_;
  SafetensorsEntry entry_;
};

// Sorted entries must follow one another from the begin to the end of the data.
void check_coverage(const std::vector<SafetensorsEntry>& entries, std::size_t data_begin, const DataFile& file) {
  std::size_t at = data_begin;
  const std::string* previous = nullptr;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin < at)
      file.fail(fmt::format("is malformed: tensors {} and {} overlap", excerpt(*previous), excerpt(entry.name)));
    if (entry.begin > at)
      file.fail(fmt::format("is malformed: no tensor owns the bytes {} to {} of the data", at - data_begin,
                            entry.begin - data_begin));
    at = entry.end;
    previous = &entry.name;
  }
  if (at != file.text().size())
    file.fail(fmt::format("is malformed: no tensor owns the last {} bytes", file.text().size() - at));
}

void check_metadata(const Json& metadata, const DataFile& file) {
  if (!metadata.is_object()) file.fail("is malformed: '__metadata__' is no JSON object");
  for (const auto& [key, value] : metadata.items())
    if (!value.is_string()) file.fail(fmt::format("is malformed: metadata {} is no string", excerpt(key)));
}

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(const DataFile& file) {
  const std::string_view text = file.text();
  constexpr std::size_t kLengthBytes = 8;
  if (text.size() < kLengthBytes)
    file.fail(fmt::format("is truncated: it has {} bytes, not even a header", text.size()));
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  if (length > text.size() - kLengthBytes)
    file.fail(fmt::format("is truncated or malformed: it announces a header of {} bytes, but has {} after the length",
                          length, text.size() - kLengthBytes));
  if (length > kMaxHeader)
    file.fail(fmt::format("has a header of {} bytes; at most {} are allowed", length, kMaxHeader));
  const Json json = parse_json(text.substr(kLengthBytes, length), file);
  if (!json.is_object()) file.fail("has a header that is no JSON object");

  const std::size_t data_begin = kLengthBytes + length;
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, value] : json.items()) {
    if (name == "__metadata__") {
      check_metadata(value, file);
    } else {
      entries.push_back(EntryParser(name, value, file).parse(data_begin, text.size() - data_begin));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_coverage(entries, data_begin, file);
  return entries;
}

}  // namespace stax::io
