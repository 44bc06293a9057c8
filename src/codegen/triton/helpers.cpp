#include "codegen/triton/helpers.h"

#include <cctype>
#include <set>
#include <span>

#include "codegen/triton/helper_text.h"

namespace stax::codegen {
namespace {

// The names that begin with stax_ in a text.
std::set<std::string_view> mentioned(std::string_view text) {
  std::set<std::string_view> names;
  for (std::size_t at = text.find("stax_"); at != std::string_view::npos; at = text.find("stax_", at)) {
    std::size_t end = at;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    names.insert(text.substr(at, end - at));
    at = end;
  }
  return names;
}

void add(const TritonHelper& helper, std::set<std::string_view>& done, std::string& text) {
  if (!done.insert(helper.name).second) return;
  const auto needs = mentioned(helper.text);
  for (const TritonHelper& h : triton_helpers())
    if (needs.contains(h.name)) add(h, done, text);
  text += "\n\n@triton.jit";
  text += helper.text;
}

}  // namespace

std::string triton_helpers_for(std::string_view body) {
  const auto names = mentioned(body);
  std::set<std::string_view> done;
  std::string text;
  for (const TritonHelper& h : triton_helpers())
    if (names.contains(h.name)) add(h, done, text);
  return text;
}

}  // namespace stax::codegen
