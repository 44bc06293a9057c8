#include "lib/gpu_rows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "runtime/cuda/cublas.h"
#include "runtime/cuda/cuda_module.h"
#include "runtime/cuda/driver.h"
#include "runtime/device_runtime.h"

namespace bench {

using nlohmann::json;

stax::runtime::CudaRuntime& gpu() {
  return dynamic_cast<stax::runtime::CudaRuntime&>(stax::runtime::runtime_for({stax::DeviceKind::cuda, 0}));
}

namespace {

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

}  // namespace

double replay_us(const std::function<void()>& work, int calls) {
  auto& runtime = gpu();
  work();
  runtime.synchronize({});
  const auto graph = runtime.capture(work);
  graph->replay();
  runtime.synchronize({});
  // Replays are long against the microseconds between a wait and the next start.
  std::vector<double> times;
  stax::runtime::CudaEvent begin(runtime.context()), end(runtime.context());
  for (int i = 0; i < 7; ++i) {
    begin.record();
    graph->replay();
    end.record();
    runtime.synchronize({});
    times.push_back(1000 * end.milliseconds_since(begin) / calls);
  }
  return median(times);
}

constexpr int kHostRounds = 25;

double host_us(const std::function<void()>& call, int calls) {
  for (int i = 0; i < 50; ++i) call();
  gpu().synchronize({});
  double best = INFINITY;
  for (int round = 0; round < kHostRounds; ++round) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    best = std::min(best, microseconds_since(begin) / calls);
    gpu().synchronize({});
  }
  return best;
}

double driver_launch_us() {
  static constexpr const char* kEmpty =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty(.param .u64 a, .param .u64 b) { ret; }\n";
  auto& runtime = gpu();
  const auto module = runtime.load_module({"empty", kEmpty, "sm_90", {{"empty", 32, 0, false}}});
  const auto& f = *static_cast<const stax::runtime::CudaFunction*>(module->function("empty"));
  std::uint64_t slots[2] = {};
  void* parameters[2] = {&slots[0], &slots[1]};
  const auto& context = runtime.context();
  const double us = host_us([&] {
    (void)context.driver().launch(f.handle, 64, 1, 1, 32, 1, 1, 0, context.handle_of({}), parameters, nullptr);
  });
  return us;
}

double library_product_us() {
  using namespace stax::runtime;
  constexpr int kRows = 64, kWidth = 128;
  auto& runtime = gpu();
  const CublasLt& library = cublas_lt();
  lt::Handle handle = nullptr;
  lt::MatmulDesc product = nullptr;
  lt::Layout weight = nullptr, rows = nullptr;
  lt::Preference preference = nullptr;
  library.create(&handle);
  library.desc_create(&product, lt::kCompute32F, lt::kR32F);
  library.layout_create(&weight, lt::kR32F, kWidth, kWidth, kWidth);
  library.layout_create(&rows, lt::kR32F, kWidth, kRows, kWidth);
  library.preference_create(&preference);
  // What a plan's products ask for, so that the algorithm is theirs.
  constexpr std::uint64_t kWorkspace = 32 << 20;
  constexpr std::uint32_t kReduction = lt::kReduceInComputeType;
  library.preference_set(preference, lt::kMaxWorkspace, &kWorkspace, sizeof kWorkspace);
  library.preference_set(preference, lt::kReductionSchemes, &kReduction, sizeof kReduction);
  lt::Heuristic best{};
  int found = 0;
  library.heuristic(handle, product, weight, rows, rows, rows, preference, 1, &best, &found);
  const stax::Array w = stax::Array::empty({kWidth, kWidth}, stax::Dtype::f32, runtime.device());
  const stax::Array x = stax::Array::empty({kRows, kWidth}, stax::Dtype::f32, runtime.device());
  const stax::Array y = stax::Array::empty({kRows, kWidth}, stax::Dtype::f32, runtime.device());
  const stax::Array workspace =
      stax::Array::empty({static_cast<std::int64_t>(kWorkspace)}, stax::Dtype::u8, runtime.device());
  const float one = 1, zero = 0;
  const double us = host_us([&] {
    library.matmul(handle, product, &one, w.data(), weight, x.data(), rows, &zero, y.data(), rows, y.data(), rows,
                   &best.algorithm, workspace.data(), best.workspace, runtime.context().stream());
  });
  library.preference_destroy(preference);
  library.layout_destroy(rows);
  library.layout_destroy(weight);
  library.desc_destroy(product);
  library.destroy(handle);
  return us;
}

GpuRecorder::GpuRecorder(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--out") out_ = argv[i + 1];
    if (name == "--only") only_ = argv[i + 1];
    if (name != "--peers") continue;
    std::ifstream in(argv[i + 1]);
    for (std::string line; std::getline(in, line);) {
      const json row = json::parse(line, nullptr, false);
      if (!row.is_object() || !row.contains("row")) continue;
      if (row.contains("TBps")) copy_bandwidth(row["TBps"].get<double>() * 1e12);
      for (const auto& [key, value] : row.items())
        if (key.ends_with("_us")) peers_[row["row"]][key.substr(0, key.size() - 3)] = value;
      if (row.contains("versions")) versions_ = row["versions"].get<std::map<std::string, std::string>>();
    }
  }
  versions_["gpu"] = gpu().properties().name;
}

void GpuRecorder::copy_bandwidth(double bytes_per_second) { copy_ = std::max(copy_, bytes_per_second); }

void GpuRecorder::add(const GpuRow& row) {
  nlohmann::ordered_json j{{"row", row.row}, {"stax_us", std::round(row.stax_us * 100) / 100}};
  j["peers"] = json::object();
  // A dynamic row is compared with what the peers reach by dynamic code too, but its ratio is to their best.
  double best = INFINITY;
  if (const auto it = peers_.find(row.peers_row.empty() ? row.row : row.peers_row); it != peers_.end())
    for (const auto& [name, us] : it->second) j["peers"][name] = us, best = std::min(best, us);
  if (std::isfinite(best)) j["ratio"] = std::round(best / row.stax_us * 1000) / 1000;
  if (const auto it = j["peers"].find("torch_compile"); it != j["peers"].end())
    j["ratio_torch_compile"] = std::round(it->get<double>() / row.stax_us * 1000) / 1000;
  if (row.goal) j["goal"] = *row.goal;
  if (row.bytes) {
    const double rate = *row.bytes / row.stax_us * 1e6;
    j["TBps"] = std::round(rate / 1e9) / 1000;
    if (copy_ > 0) j["copy_share"] = std::round(rate / copy_ * 1000) / 1000;
  }
  if (!row.note.empty()) j["note"] = row.note;
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::localtime(&now));
  j["date"] = date;
  j["versions"] = versions_;
  const std::string line = j.dump() + "\n";
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
  text_ += line;
}

GpuRecorder::~GpuRecorder() {
  if (!out_.empty()) stax::base::write_file_atomic(out_, text_);
}

}  // namespace bench
