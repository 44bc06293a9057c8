#include "golden_file.h"

#include <fstream>
#include <sstream>

#include "base/file.h"

namespace stax::golden {

namespace {

std::string trimmed(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(' '), end = line.find_last_not_of(' ');
  return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
}

// Whether `line` is `pattern`, whose `…` stand for anything.
bool matches(std::string_view line, std::string_view pattern) {
  constexpr std::string_view kAnything = "…";
  const std::size_t at = pattern.find(kAnything);
  if (at == std::string_view::npos) return line == pattern;
  if (!line.starts_with(pattern.substr(0, at))) return false;
  pattern.remove_prefix(at + kAnything.size());
  for (std::size_t skip = at; skip <= line.size(); ++skip)
    if (matches(line.substr(skip), pattern)) return true;
  return false;
}

}  // namespace

std::vector<Section> read_sections(const std::string& path) {
  std::vector<Section> sections;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      std::istringstream words(line.substr(3));
      std::string stage, kind;
      words >> stage >> kind;
      sections.push_back({stage, kind == "check", ""});
    } else if (!sections.empty()) {
      sections.back().text += line + "\n";
    }
  }
  return sections;
}

void write_sections(const std::string& path, const std::string& title, const std::vector<Section>& sections) {
  std::string text = "# " + title + "\n";
  for (const Section& s : sections) text += "== " + s.stage + (s.check ? " check" : "") + "\n" + s.text;
  base::write_file_atomic(path, text);
}

std::string missing_line(const std::string& check, const std::string& text) {
  std::istringstream wanted(check), have(text);
  std::string line, candidate;
  while (std::getline(wanted, line)) {
    if (trimmed(line).empty()) continue;
    bool found = false;
    while (!found && std::getline(have, candidate)) found = matches(trimmed(candidate), trimmed(line));
    if (!found) return trimmed(line);
  }
  return "";
}

}  // namespace stax::golden
