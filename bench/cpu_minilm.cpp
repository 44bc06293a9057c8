// MiniLM: dense batches, sentences of unlike lengths, compile times, memory. The model from .models/minilm or
// $MINILM_DIR.
//   bench_cpu_minilm [--peers COMMAND] [--only TEXT] [--out FILE]
//   bench_cpu_minilm child CACHE_DIR       what it starts itself
#include <stax/stax.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "base/file.h"
#include "base/subprocess.h"
#include "embedder.h"
#include "lib/record.h"

using namespace stax;
using Clock = std::chrono::steady_clock;
using Encode = std::function<Tensor(Tensor, Tensor)>;

namespace {

// Tokens of 32 sentences of a text, one a sentence.
constexpr std::size_t kLengths[] = {4,  14, 14, 21, 11, 15, 13, 15, 16, 18, 11, 20, 15, 12, 8, 6,
                                    20, 33, 23, 28, 11, 11, 27, 4,  9,  25, 24, 22, 34, 3,  3, 256};

std::string model_folder() {
  const char* folder = std::getenv("MINILM_DIR");
  return folder ? folder : ".models/minilm";
}

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

std::int32_t some_word(std::size_t i) { return static_cast<std::int32_t>(1000 + i * 7919 % 29000); }

std::pair<Tensor, Tensor> batch_of(std::int64_t batch, std::int64_t length) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(batch * length));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = some_word(i);
  return {from_vector(ids, {batch, length}), full({batch, length}, 1.0f, f32)};
}

struct FirstResult {
  double us;
  std::int64_t built;  // kernels
};

FirstResult first_result(const minilm::Weights& weights, const std::string& cache) {
  const Encode encode = [&](Tensor ids, Tensor mask) { return minilm::encode(weights, ids, mask); };
  const auto [ids, mask] = batch_of(2, 17);
  const auto begin = Clock::now();
  const auto compiled = compile(encode, {.dynamic = Dynamic::yes, .cache_dir = cache});
  (void)compiled(ids, mask);
  return {us_since(begin), static_cast<std::int64_t>(compiled.stats().kernels_built)};
}

int child(const std::string& cache) {
  const auto weights = minilm::load_weights(model_folder() + "/model.safetensors", cpu);
  std::printf("%.1f\n", first_result(weights, cache).us);
  return 0;
}

void starts(bench::Recorder& recorder, const minilm::Weights& weights, const char* program) {
  const base::TempDir cache;
  const FirstResult cold = first_result(weights, cache.path());
  recorder.add({.row = "MiniLM cold compile to first result",
                .stax_us = cold.us,
                .goal = 1.5e6,
                .note = std::to_string(cold.built) + " kernels built; goal in us"});
  std::vector<std::pair<double, double>> times;
  for (int i = 0; i < 11; ++i) {
    const auto begin = Clock::now();
    const auto result = base::run_process({.argv = {program, "child", cache.path().string()}});
    times.emplace_back(std::stod(result.out), us_since(begin));
  }
  std::sort(times.begin(), times.end());
  const auto [inside, whole] = times[times.size() / 2];
  char note[128];
  std::snprintf(note, sizeof(note), "from compile() to the first result; the whole process %.0f us; goal in us", whole);
  recorder.add({.row = "MiniLM warm start of a new process", .stax_us = inside, .goal = 0.1e6, .note = note});
}

void dense(bench::Recorder& recorder, const minilm::Weights& weights) {
  const auto compiled = compile(Encode([&](Tensor ids, Tensor mask) { return minilm::encode(weights, ids, mask); }),
                                {.dynamic = Dynamic::yes});
  struct Shape {
    std::int64_t batch, length;
    double goal;
  };
  for (const Shape s : {Shape{1, 16, 1.6}, Shape{1, 128, 1.1}, Shape{8, 128, 1.05}, Shape{32, 64, 1.0}}) {
    const std::string row = "MiniLM " + std::to_string(s.batch) + "x" + std::to_string(s.length);
    const auto [ids, mask] = batch_of(s.batch, s.length);
    bench::Race race;
    race.add_call("stax", [&, ids = ids, mask = mask] { (void)compiled(ids, mask); });
    recorder.peers().enter(race, row);
    const auto figures = race.run(6, 0.3);
    recorder.peers().drop(row);
    recorder.add(
        {.row = row, .stax_us = figures.at("stax"), .peers = bench::peers_in(figures, {"stax"}), .goal = s.goal});
  }
}

// What padding costs: sentences of unlike lengths in one call, against a batch without padding.
void unlike_lengths(bench::Recorder& recorder) {
  minilm::Embedder embedder(model_folder(), cpu);
  auto sentences = [](std::span<const std::size_t> lengths) {
    std::vector<std::vector<std::int32_t>> all;
    for (const std::size_t n : lengths) {
      auto& ids = all.emplace_back(n);
      for (std::size_t i = 0; i < n; ++i) ids[i] = some_word(all.size() * 256 + i);
    }
    return all;
  };
  const std::vector<std::size_t> equal(8, 128);
  const auto mixed = sentences(kLengths), dense = sentences(equal);
  std::size_t tokens = 0;
  for (const std::size_t n : kLengths) tokens += n;
  bench::Race race;
  race.add_call("mixed", [&] { (void)embedder.embed_ids(mixed); });
  race.add_call("dense", [&] { (void)embedder.embed_ids(dense); });
  const auto figures = race.run(6, 0.3);
  const double token = figures.at("mixed") / static_cast<double>(tokens), of_dense = figures.at("dense") / (8 * 128);
  char note[160];
  std::snprintf(note, sizeof(note),
                "us a token, %zu tokens in one call; 8x128: %.2f us a token; goal: 1.25 times that; %zu artifacts",
                tokens, of_dense, embedder.artifacts());
  recorder.add({.row = "MiniLM 32 sentences of unlike lengths, a token",
                .stax_us = token,
                .goal = std::round(1.25 * of_dense * 100) / 100,
                .note = note});
}

// The example's own figure, of a process of its own.
void memory(bench::Recorder& recorder, const std::filesystem::path& folder) {
  const base::TempDir temporary;
  std::string text;
  for (const std::size_t n : kLengths) {
    for (std::size_t i = 2; i < n; ++i) text += i % 2 ? "tea " : "water ";
    text += "\n";
  }
  const std::string file = (temporary.path() / "sentences.txt").string();
  base::write_file_atomic(file, text);
  const auto result =
      base::run_process({.argv = {(folder / "minilm").string(), "--model", model_folder(), "--in", file}});
  const std::size_t end = result.out.find(" MB of memory");
  if (end == std::string::npos) throw std::runtime_error("minilm does not say what memory it took: " + result.err);
  const std::size_t begin = result.out.rfind(' ', end - 1);
  recorder.add({.row = "MiniLM peak memory above the mapped weights, MB",
                .stax_us = std::stod(result.out.substr(begin, end - begin)),
                .goal = 150,
                .note = "MB, not us; goal in MB"});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "child") return child(argv[2]);
  bench::Recorder recorder(argc, argv);
  const auto weights = minilm::load_weights(model_folder() + "/model.safetensors", cpu);
  if (recorder.wants("MiniLM start")) starts(recorder, weights, argv[0]);
  if (recorder.wants("MiniLM dense")) dense(recorder, weights);
  if (recorder.wants("MiniLM lengths")) unlike_lengths(recorder);
  if (recorder.wants("MiniLM memory")) memory(recorder, std::filesystem::path(argv[0]).parent_path());
  return 0;
}
