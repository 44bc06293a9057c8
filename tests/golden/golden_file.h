// The file of one example: a title, then "== STAGE" sections. A section holds the stage's whole text, or, after
// "== STAGE check", lines that must occur in the text in this order: spaces at their ends do not count, `…` stands for
// anything.
#pragma once
#include <string>
#include <vector>

namespace stax::golden {

struct Section {
  std::string stage;
  bool check = false;
  std::string text;
};

std::vector<Section> read_sections(const std::string& path);
void write_sections(const std::string& path, const std::string& title, const std::vector<Section>& sections);
// The first line of `check` that does not follow in `text`, or nothing when all do.
std::string missing_line(const std::string& check, const std::string& text);

}  // namespace stax::golden
