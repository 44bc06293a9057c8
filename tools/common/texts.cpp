#include "common/texts.h"

#include "base/file.h"
#include "base/scanner.h"

namespace stax::tools {

TextFile read_text(const std::string& path) {
  TextFile file{path, base::read_file(path), TextKind::graph};
  base::Scanner in(file.text, path);
  if (in.peek("graph"))
    file.kind = TextKind::graph;
  else if (in.peek("program"))
    file.kind = TextKind::program;
  else if (in.peek("plan"))
    file.kind = TextKind::plan;
  else
    in.fail_expected("'graph', 'program' or 'plan'");
  return file;
}

}  // namespace stax::tools
