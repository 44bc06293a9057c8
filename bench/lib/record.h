// What benchmark programs share: options and rows of results.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/peers.h"

namespace bench {

struct Row {
  std::string row;
  double stax_us = 0;
  std::map<std::string, double> peers = {};  // name → µs
  std::optional<double> goal = {};           // of ratio; of stax_us where there is no peer
  std::optional<double> ceiling_share = {};  // of the bandwidth measured between the calls
  std::optional<double> static_us = {};      // of a dynamic row: the same with fixed sizes, measured in turn
  std::string note = {};
};

//   --peers "PYTHON bench/peers.py MODEL_DIR"   measure peers too, in turn with the rows
//   --only TEXT                                 only rows whose name has the text
//   --out FILE                                  write the rows there too
// Rows go to standard output, one JSON object a line with `ratio` (best peer / Stax), date and versions.
class Recorder {
 public:
  Recorder(int argc, char** argv);
  bool wants(const std::string& row) const;
  Peers& peers() { return *peers_; }
  void add(const Row& row);
  ~Recorder();

 private:
  std::string out_, only_, text_;
  std::unique_ptr<Peers> peers_;
};

int threads();

// All figures of a race but the named ones: those of the peers.
std::map<std::string, double> peers_in(std::map<std::string, double> figures, const std::vector<std::string>& ours);

}  // namespace bench
