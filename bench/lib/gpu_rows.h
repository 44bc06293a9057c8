// Rows of results on a GPU: options, peers' figures, timing of replayed graphs.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_runtime.h"

namespace bench {

// The first GPU; DeviceError without one.
stax::runtime::CudaRuntime& gpu();

double median(std::vector<double> v);

// Microseconds a call of work that queues `calls` equal calls: recorded as one graph, the median of 7 replays, by the
// device's clock.
double replay_us(const std::function<void()>& work, int calls);
// Microseconds of the host a call: the best of 25 runs of `calls`, whose launches the driver's queue of 1024 must hold.
double host_us(const std::function<void()>& call, int calls = 100);

struct GpuRow {
  std::string row;
  double stax_us = 0;
  std::map<std::string, double> goal = {};  // field of the row → at least (ratios, shares) or at most (the others)
  std::optional<double> bytes = {};  // inputs read once and outputs written once: gives the share of the copy bandwidth
  std::string peers_row = {};        // of the peers' file; empty: `row`
  std::optional<double> static_us = {};  // of a dynamic row: the same with fixed sizes; gives `of_static`
  std::optional<double> beyond_us = {};  // host time beyond the calls of the driver and the libraries
  std::string note = {};
};

// Rows go to standard output and, with --out FILE, to a file: one JSON object a line. --peers FILE holds the output of
// bench/peers_gpu.py from the same machine in the same session; --only TEXT runs matching rows.
class GpuRecorder {
 public:
  GpuRecorder(int argc, char** argv);
  ~GpuRecorder();
  bool wants(const std::string& row) const { return only_.empty() || row.find(only_) != std::string::npos; }
  // Bytes a second, read and written, of the best copy seen in this run.
  void copy_bandwidth(double bytes_per_second);
  void add(const GpuRow& row);

 private:
  std::string out_, only_, text_;
  double copy_ = 0;
  std::map<std::string, std::map<std::string, double>> peers_;
  std::map<std::string, std::string> versions_;
};

}  // namespace bench
