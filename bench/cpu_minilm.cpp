// MiniLM in dense batches, and its compile times.
//   bench_cpu_minilm [--peers FILE] [--out FILE]     the model from .models/minilm or $MINILM_DIR
#include <stax/stax.h>

#include <chrono>
#include <cstdlib>

#include "base/file.h"
#include "encoder.h"
#include "lib/record.h"
#include "weights.h"

using namespace stax;
using Clock = std::chrono::steady_clock;
using Encode = std::function<Tensor(Tensor, Tensor)>;

int main(int argc, char** argv) {
  bench::Recorder recorder(argc, argv);
  const char* folder = std::getenv("MINILM_DIR");
  const minilm::Weights weights =
      minilm::load_weights(std::string(folder ? folder : ".models/minilm") + "/model.safetensors", cpu);
  const Encode encode = [&](Tensor ids, Tensor mask) { return minilm::encode(weights, ids, mask); };
  auto input = [](std::int64_t batch, std::int64_t length) {
    return std::pair{full({batch, length}, 2000, i64), full({batch, length}, 1.0f, f32)};
  };

  const base::TempDir cache;
  for (const char* state : {"cold compile to first result", "warm cache, compile to first result"}) {
    const auto [ids, mask] = input(2, 17);
    const auto begin = Clock::now();
    const auto fresh = compile(encode, {.dynamic = Dynamic::yes, .cache_dir = cache.path()});
    (void)fresh(ids, mask);
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    const bool cold = state[0] == 'c';
    recorder.add({std::string("MiniLM ") + state,
                  bench::threads(),
                  us,
                  {},
                  cold ? 1.5e6 : 0.1e6,
                  {},
                  std::to_string(fresh.stats().kernels_built) + " kernels built; goal in us"});
  }

  const auto compiled = compile(encode, {.dynamic = Dynamic::yes});
  struct Shape {
    std::int64_t batch, length;
    double goal;
  };
  for (const Shape s : {Shape{1, 16, 1.6}, Shape{1, 128, 1.1}, Shape{8, 128, 1.05}, Shape{32, 64, 1.0}}) {
    const auto [ids, mask] = input(s.batch, s.length);
    const auto all =
        recorder.peers_of("minilm B=" + std::to_string(s.batch) + " S=" + std::to_string(s.length) + " f32");
    recorder.add({"MiniLM " + std::to_string(s.batch) + "x" + std::to_string(s.length),
                  bench::threads(),
                  bench::time_us([&, ids = ids, mask = mask] { (void)compiled(ids, mask); }, 2.0),
                  all,
                  s.goal,
                  {},
                  ""});
  }
  return 0;
}
