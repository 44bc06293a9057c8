// Rows on a GPU: kernels bound by memory, host time, first calls, the sentence encoder.
//   bench_gpu [--peers FILE] [--out FILE] [--only TEXT]
// Memory rows: calls back to back in a CUDA graph over rotating sets of tensors (8 GB in all, two sets at least), the
// median of 7 replays by the device's clock. The share is of the best copy of the run, Stax's or the peers'.
#include <fmt/format.h>
#include <stax/stax.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "encoder.h"
#include "lib/gpu_rows.h"
#include "lib/own_calls.h"
#include "runtime/cuda/driver.h"

using namespace stax;
using bench::GpuRecorder;
using bench::GpuRow;

namespace {

constexpr double kSetsBytes = 8e9;

using Sets = std::vector<std::vector<Tensor>>;

struct MemoryCase {
  std::string name;
  std::vector<Shape> shapes;
  Dtype dtype;
  double bytes;
  std::map<std::string, double> goal;
  Tensor (*call)(const std::vector<Tensor>&);
};

// Sets of random inputs on the GPU.
Sets make_sets(const MemoryCase& c) {
  double bytes = 0;
  for (const Shape& s : c.shapes) {
    double n = byte_size(c.dtype);
    for (const Dim& d : s) n *= static_cast<double>(d.number());
    bytes += n;
  }
  const int count = std::clamp(static_cast<int>(kSetsBytes / bytes), 2, 16);
  Sets sets;
  for (int i = 0; i < count; ++i) {
    sets.emplace_back();
    int seed = 10 * i;
    for (const Shape& s : c.shapes) sets.back().push_back(randn(s, ++seed, c.dtype));
  }
  return sets;
}

double memory_us(const MemoryCase& c, const Sets& sets, const CompileOptions& options) {
  const auto compiled = compile(std::function<Tensor(std::vector<Tensor>)>(c.call), options);
  std::vector<Tensor> kept(sets.size());
  return bench::replay_us(
      [&] {
        for (Tensor& t : kept) t = {};  // their memory serves again: a capture may not ask for more
        for (std::size_t i = 0; i < sets.size(); ++i) kept[i] = compiled(sets[i]);
      },
      static_cast<int>(sets.size()));
}

std::vector<MemoryCase> memory_cases() {
  const double f = 4, h = 2;
  const std::map<std::string, double> near_copy{{"copy_share", 0.9}};
  return {
      {"relu(x+y)*2 row sum 16384x8192 f32",
       {{16384, 8192}, {16384, 8192}},
       f32,
       2 * f * 16384 * 8192,
       near_copy,
       [](const std::vector<Tensor>& t) { return sum(relu(t[0] + t[1]) * 2, -1); }},
      {"x.T+y 8192x8192 f32",
       {{8192, 8192}, {8192, 8192}},
       f32,
       3 * f * 8192 * 8192,
       near_copy,
       [](const std::vector<Tensor>& t) { return t[0].t() + t[1]; }},
      {"softmax 32768x4096 bf16",
       {{32768, 4096}},
       bf16,
       2 * h * 32768 * 4096,
       {{"copy_share", 0.9}, {"ratio_torch_compile", 2.2}},
       [](const std::vector<Tensor>& t) { return softmax(t[0], -1); }},
      {"softmax 262144x1000 bf16",
       {{262144, 1000}},
       bf16,
       2 * h * 262144 * 1000,
       near_copy,
       [](const std::vector<Tensor>& t) { return softmax(t[0], -1); }},
      {"layernorm 16384x8192 bf16",
       {{16384, 8192}, {8192}, {8192}},
       bf16,
       2 * h * 16384 * 8192,
       near_copy,
       [](const std::vector<Tensor>& t) { return layer_norm(t[0], {t[0].size(1)}, t[1], t[2]); }},
      {"sum 2^27 f32",
       {{1 << 27}},
       f32,
       f * (1 << 27),
       near_copy,
       [](const std::vector<Tensor>& t) { return sum(t[0]); }},
      {"column sum 16384x8192 f32",
       {{16384, 8192}},
       f32,
       f * 16384 * 8192,
       {},
       [](const std::vector<Tensor>& t) { return sum(t[0], 0); }},
      {"gelu 2^26 f32",
       {{1 << 26}},
       f32,
       2 * f * (1 << 26),
       {},
       [](const std::vector<Tensor>& t) { return gelu(t[0]); }},
      {"softmax 4096x65536 bf16",
       {{4096, 65536}},
       bf16,
       2 * h * 4096 * 65536,
       {},
       [](const std::vector<Tensor>& t) { return softmax(t[0], -1); }},
  };
}

void memory_rows(GpuRecorder& recorder) {
  const MemoryCase copy{"copy 2^28 f32", {{1 << 28}}, f32,
                        8.0 * (1 << 28), {},          [](const std::vector<Tensor>& t) { return t[0] * 2; }};
  double copy_us = 0;
  {
    const Sets sets = make_sets(copy);
    copy_us = memory_us(copy, sets, {});
  }
  recorder.copy_bandwidth(copy.bytes / copy_us * 1e6);
  recorder.add({.row = "copy 2^28 f32", .stax_us = copy_us, .bytes = copy.bytes, .note = "x * 2"});
  for (const MemoryCase& c : memory_cases()) {
    if (!recorder.wants(c.name)) continue;
    const Sets sets = make_sets(c);
    const double fixed = memory_us(c, sets, {});
    const double dynamic = memory_us(c, sets, {.dynamic = Dynamic::yes});
    recorder.add({.row = c.name, .stax_us = fixed, .goal = c.goal, .bytes = c.bytes});
    recorder.add({.row = c.name + " dynamic",
                  .stax_us = dynamic,
                  .goal = {{"of_static", 1.1}},
                  .bytes = c.bytes,
                  .peers_row = c.name,
                  .static_us = fixed});
  }
}

// The driver's and the library's own calls are inside: they are measured in turn.
void host_rows(GpuRecorder& recorder) {
  const std::string name = "host time of 3 pointwise kernels and 3 products 64x128";
  if (recorder.wants(name)) {
    const auto chain = [](Tensor x, Tensor w, Tensor b) {
      for (int i = 0; i < 3; ++i) x = matmul(sin(x + b), w);
      return x;
    };
    const Tensor x = randn({64, 128}, 1), w = randn({128, 128}, 2), b = randn({128}, 3);
    const auto fixed = compile(chain), dynamic = compile(chain, {.dynamic = Dynamic::yes});
    const bench::OwnCalls own(3);
    for (const bool is_dynamic : {false, true}) {
      const auto& f = is_dynamic ? dynamic : fixed;
      const bench::HostTime t = bench::host_time([&] { (void)f(x, w, b); }, [&] { own.run(); });
      recorder.add({.row = name + (is_dynamic ? " dynamic" : ""),
                    .stax_us = t.call,
                    .goal = {{"beyond_us", 6}},
                    .peers_row = name,
                    .beyond_us = t.beyond,
                    .note = fmt::format("{:.2f} us are 3 of the driver's launches and 3 of cuBLASLt's calls, measured "
                                        "in turn; beyond them the median of {} figures from {:.2f} to {:.2f} us",
                                        t.beside, bench::HostTime::kFigures, t.least, t.most)});
    }
  }
  const std::string small = "host time of relu(x+y)*2 row sum 64x128";
  if (recorder.wants(small)) {
    const auto f = [](Tensor x, Tensor y) { return sum(relu(x + y) * 2, -1); };
    const Tensor x = randn({64, 128}, 1), y = randn({64, 128}, 2);
    const auto fixed = compile(f), dynamic = compile(f, {.dynamic = Dynamic::yes});
    for (const bool is_dynamic : {false, true}) {
      const auto& g = is_dynamic ? dynamic : fixed;
      recorder.add({.row = small + (is_dynamic ? " dynamic" : ""),
                    .stax_us = bench::host_us([&] { (void)g(x, y); }),
                    .peers_row = small});
    }
  }
}

double milliseconds(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// The first call of a process, its cache empty or filled before: run in children of this program.
int first_call(const std::string& folder) {
  const Tensor x = randn({64, 128}, 1), y = randn({64, 128}, 2);
  bench::gpu().synchronize({});
  const auto f = compile([](Tensor a, Tensor b) { return sum(relu(a + b) * 2, -1); }, {.cache_dir = folder});
  const double ms = milliseconds([&] { (void)f(x, y).to(cpu).to_vector<float>(); });
  std::printf("%.3f\n", ms);
  return 0;
}

void first_call_rows(GpuRecorder& recorder, const std::string& self) {
  const std::string name = "first call of E1.1 in a new process after the context exists";
  if (!recorder.wants(name)) return;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "stax-first-call";
  for (const char* state : {"cold cache", "warm cache"}) {
    if (std::string(state) == "cold cache") std::filesystem::remove_all(folder);
    std::vector<double> times;
    for (int i = 0; i < (std::string(state) == "cold cache" ? 1 : 5); ++i) {
      FILE* child = popen(fmt::format("{} --first-call {}", self, folder.string()).c_str(), "r");
      double ms = 0;
      if (!child || std::fscanf(child, "%lf", &ms) != 1 || pclose(child) != 0) std::exit(1);
      times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    const double goal_us = std::string(state) == "cold cache" ? 800'000 : 30'000;
    recorder.add({.row = fmt::format("{}, {}", name, state),
                  .stax_us = times[times.size() / 2] * 1000,
                  .goal = {{"stax_us", goal_us}}});
  }
}

// The encoder with weights as large as MiniLM-L6's: its time does not depend on their values.
minilm::Weights random_weights() {
  using namespace minilm;
  int seed = 100;
  const auto tensor = [&](const Shape& s) { return randn(s, ++seed, bf16) * 0.05; };
  const auto linear = [&](int out, int in) { return Linear{tensor({out, in}), tensor({out})}; };
  const auto norm = [&] { return Norm{ones({kHidden}, bf16), zeros({kHidden}, bf16)}; };
  Weights w{tensor({30522, kHidden}), tensor({512, kHidden}), tensor({kHidden}), norm(), {}};
  for (int i = 0; i < kLayers; ++i)
    w.layers.push_back({linear(3 * kHidden, kHidden), linear(kHidden, kHidden), norm(), linear(kIntermediate, kHidden),
                        linear(kHidden, kIntermediate), norm()});
  return w;
}

void minilm_rows(GpuRecorder& recorder) {
  if (!recorder.wants("MiniLM")) return;
  const minilm::Weights weights = random_weights();
  const auto encode = compile([&weights](Tensor ids, Tensor mask) { return minilm::encode(weights, ids, mask); },
                              {.dynamic = Dynamic::yes});
  for (const auto& [batch, length] : {std::pair{32, 128}, std::pair{1, 16}}) {
    const Tensor ids = randint(0, 30522, {batch, length}, 7, i32), mask = ones({batch, length}, f32);
    std::vector<double> times;
    for (int i = 0; i < 40; ++i) {
      const double ms = milliseconds([&] {
        (void)encode(ids, mask);
        bench::gpu().synchronize({});
      });
      if (i >= 10) times.push_back(ms * 1000);
    }
    std::sort(times.begin(), times.end());
    const std::string row = fmt::format("MiniLM bf16 {}x{}", batch, length);
    std::map<std::string, double> goal;
    if (batch == 32) goal["ratio_torch_compile"] = 1;
    recorder.add({.row = row,
                  .stax_us = times[times.size() / 2],
                  .goal = goal,
                  .note = "whole call with the wait for its end, sizes dynamic"});
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    set_default_device(cuda(0));
    if (argc == 3 && std::string(argv[1]) == "--first-call") return first_call(argv[2]);
    GpuRecorder recorder(argc, argv);
    memory_rows(recorder);
    host_rows(recorder);
    first_call_rows(recorder, argv[0]);
    minilm_rows(recorder);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench_gpu: {}\n", e.what());
    return 1;
  }
}
