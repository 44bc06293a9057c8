#include "codegen/cpp/prelude.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <algorithm>
#include <set>

namespace stax::codegen {
namespace {

const PreludeSnippet& find(std::string_view name) {
  const auto all = prelude_snippets();
  const auto it = std::ranges::find(all, name, &PreludeSnippet::name);
  STAX_CHECK(it != all.end(), fmt::format("the prelude has no snippet '{}'", name));
  return *it;
}

// The first line of a snippet is "// needs: a b c".
void add(std::string_view name, std::set<std::string_view>& done, std::string& text) {
  if (!done.insert(name).second) return;
  const PreludeSnippet& snippet = find(name);
  constexpr std::string_view kNeeds = "// needs:";
  const auto end = snippet.text.find('\n');
  std::string_view line = snippet.text.substr(0, end);
  STAX_CHECK(line.starts_with(kNeeds), fmt::format("snippet '{}' does not start with '{}'", name, kNeeds));
  line.remove_prefix(kNeeds.size());
  while (!line.empty()) {
    const auto start = line.find_first_not_of(' ');
    if (start == std::string_view::npos) break;
    const auto stop = std::min(line.find(' ', start), line.size());
    add(line.substr(start, stop - start), done, text);
    line.remove_prefix(stop);
  }
  text += snippet.text.substr(end + 1);
}

}  // namespace

std::string prelude_text(std::span<const std::string_view> wanted, int vector_bytes) {
  STAX_CHECK(vector_bytes == 16 || vector_bytes == 32 || vector_bytes == 64,
             fmt::format("vectors of {} bytes are not supported", vector_bytes));
  std::string text = fmt::format("#define STAX_VB {}\n", vector_bytes);
  std::set<std::string_view> done;
  add("types", done, text);
  for (const auto name : wanted) add(name, done, text);
  return text;
}

}  // namespace stax::codegen
