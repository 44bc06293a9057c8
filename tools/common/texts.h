// Text files that the tools read.
#pragma once
#include <string>

namespace stax::tools {

enum class TextKind { graph, program, plan };

struct TextFile {
  std::string path, text;
  TextKind kind = TextKind::graph;
};

// The kind is told by the first word: graph, program or plan. UserError with line and column for another word.
TextFile read_text(const std::string& path);

}  // namespace stax::tools
