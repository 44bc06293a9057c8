// Every tests/golden/loop/*.stax: the text reads back to itself, verifies, and computes what its comments say:
//   # run SIZES   # in NUMBERS (an input, row-major)   # out NUMBERS (an output)
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support.h"

namespace stax::loop {
namespace {

struct Golden {
  std::string text;  // without the comments
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<float>> inputs, outputs;
};

std::vector<float> numbers(std::istringstream& in) {
  std::vector<float> result;
  for (std::string word; in >> word;) result.push_back(std::strtof(word.c_str(), nullptr));
  return result;
}

Golden read(const std::filesystem::path& path) {
  Golden g;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("#")) {
      g.text += line + "\n";
      continue;
    }
    std::istringstream in(line.substr(1));
    std::string kind;
    in >> kind;
    if (kind == "in") g.inputs.push_back(numbers(in));
    if (kind == "out") g.outputs.push_back(numbers(in));
    if (kind == "run")
      for (std::int64_t s = 0; in >> s;) g.sizes.push_back(s);
  }
  return g;
}

// The numbers as the input's dtype and sizes.
Array input_of(const Program& p, const Buffer& b, const Golden& g) {
  Dims sizes;
  for (Expr e : b.sizes)
    sizes.push_back(*symbolic::evaluate(e, [&](Expr s) -> std::optional<std::int64_t> {
      return g.sizes.at(static_cast<std::size_t>(std::find(p.sizes.begin(), p.sizes.end(), s) - p.sizes.begin()));
    }));
  const auto& values = g.inputs.at(static_cast<std::size_t>(b.input));
  const Array floats = array_of({static_cast<std::int64_t>(values.size())}, values);
  return cast_copy(floats, b.dtype).with_layout(contiguous_layout(std::span(sizes.data(), sizes.size())));
}

TEST(LoopGolden, FilesReadBackAndCompute) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STAX_SOURCE_DIR "/tests/golden/loop")) {
    if (entry.path().extension() != ".stax") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++files;
    const Golden g = read(entry.path());
    Program p = parse_program(g.text, entry.path().filename().string());
    EXPECT_EQ(to_text(p), g.text);
    verify(p);
    std::vector<Array> inputs(g.inputs.size());
    for (const Buffer& b : p.buffers)
      if (b.kind == BufferKind::input) inputs.at(static_cast<std::size_t>(b.input)) = input_of(p, b, g);
    for (const bool transformed : {false, true}) {
      if (transformed)
        for (Item& item : p.items)
          if (auto* k = std::get_if<Kernel>(&item)) {
            reorder_outer_axes(p, *k);
            merge_axes(p, *k);
            eliminate_common_values(*k);
          }
      verify(p);
      const auto outputs = run(p, g.sizes, inputs);
      ASSERT_EQ(outputs.size(), g.outputs.size());
      for (std::size_t i = 0; i < outputs.size(); ++i) expect_same(values_of(outputs[i]), g.outputs[i]);
    }
  }
  EXPECT_GE(files, 5);
}

}  // namespace
}  // namespace stax::loop
