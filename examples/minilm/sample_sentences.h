// Sentences to embed when the user gives none.
#pragma once
#include <string>
#include <vector>

namespace minilm {

std::vector<std::string> sample_sentences();

}  // namespace minilm
