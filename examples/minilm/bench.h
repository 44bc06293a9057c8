// `minilm --bench`.
#pragma once
#include "embedder.h"

namespace minilm {

// Prints the time of dense batches of several shapes and of `sentences` in one call, and how much a token of the latter
// costs against the 8x128 batch. Times are medians of the faster half of repeated calls.
void run_bench(Embedder* embedder, std::span<const std::string> sentences);

}  // namespace minilm
