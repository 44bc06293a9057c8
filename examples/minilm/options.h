// The command line of minilm.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace minilm {

struct Options {
  std::string model;           // folder with vocab.txt and model.safetensors
  std::string in;              // sentences, one a line; empty: the program's own
  std::string out;             // npy file for the embeddings; empty: none
  std::optional<int> threads;  // nothing: as many as there are cores
  bool bench = false;          // measure instead of embedding sentences
  std::string device = "cpu";  // "cpu" or "cuda"
  std::string dtype = "f32";   // of the weights and the arithmetic between kernels: "f32" or "bf16"
};

// Reads the arguments, without the program's name. Throws stax::UserError for whatever is unknown, missing or out of
// range. Gives nothing for --help, whose text is then in `*help`.
std::optional<Options> parse_options(const std::vector<std::string>& arguments, std::string* help);

}  // namespace minilm
