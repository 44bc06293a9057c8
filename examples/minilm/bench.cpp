#include "bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace minilm {
namespace {

// Microseconds of `call`, warm.
template <class Call>
double microseconds(Call call) {
  using Clock = std::chrono::steady_clock;
  constexpr int kWarmUp = 3;
  constexpr size_t kLeast = 5;
  for (int i = 0; i < kWarmUp; ++i) call();
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < end || times.size() < kLeast) {
    const auto begin = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 4];
}

// `sentences` token lists of `length` words each, all different.
std::vector<std::vector<int32_t>> dense(size_t sentences, size_t length, const Vocabulary& vocabulary) {
  constexpr int32_t kFirstWord = 1000;
  std::vector<std::vector<int32_t>> ids(sentences, std::vector<int32_t>(length, vocabulary.start()));
  int32_t next = kFirstWord;
  for (auto& one : ids) {
    for (size_t i = 1; i + 1 < length; ++i) one[i] = next++ % static_cast<int32_t>(vocabulary.size());
    one.back() = vocabulary.end();
  }
  return ids;
}

}  // namespace

void run_bench(Embedder* embedder, std::span<const std::string> sentences) {
  struct Row {
    size_t sentences, length;
  };
  double token_of_dense = 0;
  for (const auto& [count, length] : {Row{1, 16}, Row{1, 128}, Row{8, 128}, Row{32, 64}}) {
    const auto ids = dense(count, length, embedder->tokenizer().vocabulary());
    const double time = microseconds([&] { embedder->embed_ids(ids); });
    const double token = time / static_cast<double>(count * length);
    if (count == 8) token_of_dense = token;
    fmt::print("{:>3} x {:<4} {:>10.0f} us  {:>7.1f} us a token\n", count, length, time, token);
  }
  std::vector<std::vector<int32_t>> ids;
  size_t tokens = 0;
  for (const std::string& sentence : sentences) {
    ids.push_back(embedder->tokenizer().encode(sentence));
    tokens += ids.back().size();
  }
  const double time = microseconds([&] { embedder->embed_ids(ids); });
  const double token = time / static_cast<double>(tokens);
  fmt::print("{} sentences of {} tokens in one call {:.0f} us, {:.1f} us a token: {:.2f} times the 8 x 128 batch\n",
             sentences.size(), tokens, time, token, token / token_of_dense);
  fmt::print("{} artifacts\n", embedder->artifacts());
}

}  // namespace minilm
