#include "lib/gpu_rows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "runtime/cuda/driver.h"
#include "runtime/device_runtime.h"

namespace bench {

using nlohmann::json;

stax::runtime::CudaRuntime& gpu() {
  return dynamic_cast<stax::runtime::CudaRuntime&>(stax::runtime::runtime_for({stax::DeviceKind::cuda, 0}));
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

namespace {

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
  if (!row.goal.empty()) j["goal"] = row.goal;
  if (row.static_us) j["of_static"] = std::round(row.stax_us / *row.static_us * 1000) / 1000;
  if (row.beyond_us) j["beyond_us"] = std::round(*row.beyond_us * 100) / 100;
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
