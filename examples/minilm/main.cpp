// minilm: sentences to vectors by a transformer that Stax compiles.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "bench.h"
#include "embedder.h"
#include "memory.h"
#include "options.h"
#include "pairs.h"
#include "sample_sentences.h"
#include "text_file.h"

namespace minilm {
namespace {

constexpr size_t kPairs = 8;

void print_result(const std::vector<std::string>& sentences, const std::vector<float>& vectors, double milliseconds,
                  const Embedder& embedder) {
  fmt::print("Closest pairs:\n{}", describe_pairs(closest_pairs(vectors, kHidden, kPairs), sentences));
  constexpr double kMegabyte = 1e6;
  fmt::print("{} sentences in {:.1f} ms, {} artifacts, {:.0f} MB of memory at most above the mapped weights\n",
             sentences.size(), milliseconds, embedder.artifacts(),
             static_cast<double>(peak_memory() - resident_of_file(embedder.weights_path())) / kMegabyte);
}

void run(const Options& options) {
  // Before the first use of Stax, which reads it once.
  if (options.threads) setenv("STAX_THREADS", std::to_string(*options.threads).c_str(), 1);
  const std::vector<std::string> sentences = options.in.empty() ? sample_sentences() : read_sentences(options.in);
  Embedder embedder(options.model, options.device == "cuda" ? stax::cuda(0) : stax::Device(stax::cpu),
                    options.dtype == "bf16" ? stax::bf16 : stax::f32);
  if (options.bench) return run_bench(&embedder, sentences);

  const auto begin = std::chrono::steady_clock::now();
  const std::vector<float> vectors = embedder.embed(sentences);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  if (!options.out.empty())
    stax::save_npy(options.out, stax::from_vector(vectors, {static_cast<int64_t>(sentences.size()), kHidden}));
  print_result(sentences, vectors, time.count(), embedder);
}

}  // namespace
}  // namespace minilm

int main(int argc, char** argv) {
  try {
    std::string help;
    const auto options = minilm::parse_options({argv + 1, argv + argc}, &help);
    if (options) {
      minilm::run(*options);
    } else {
      fmt::print("{}", help);
    }
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "minilm: {}\n", e.what());
    return 1;
  }
}
