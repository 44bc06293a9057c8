// What benchmark programs share: timing of repeated calls, rows of results, figures of peers.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Microseconds a call: the median of the faster half of repeated calls, at least 5 and for about `seconds`.
double time_us(const std::function<void()>& call, double seconds = 1.0);

struct Row {
  std::string row;
  int threads = 1;
  double stax_us = 0;
  std::map<std::string, double> peers;  // name → µs
  std::optional<double> goal;           // of ratio; of stax_us where there is no peer
  std::optional<double> ceiling_share;  // of the bandwidth measured beside the row
  std::string note;
};

// Rows go to standard output and, with --out FILE, to a file: one JSON object a line with `ratio` (best peer / Stax),
// date and versions. --peers FILE names the output of the peers' program on the same machine in the same session;
// --only TEXT runs matching rows.
class Recorder {
 public:
  Recorder(int argc, char** argv);
  bool wants(const std::string& row) const;
  // Peers' figures of a row of the peers' file: {"inductor": µs, …}.
  std::map<std::string, double> peers_of(const std::string& peers_row) const;
  void add(Row row);
  ~Recorder();

 private:
  std::string out_, only_, text_;
  std::map<std::string, std::map<std::string, double>> peers_;
};

int threads();

// The machine's memory bandwidth in bytes a second on warm pages, measured now: reading, and reading one array while
// writing another past the caches.
struct Ceilings {
  double read, copy;
};
Ceilings measure_ceilings();

}  // namespace bench
