// The peers' program (bench/peers.py) as a process that is asked for bursts of calls. It runs twice: as it is, and
// with an allocator that keeps freed pages warm (names with " warm"), the fair opponent of a caching allocator.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "lib/race.h"

namespace bench {

class Peers {
 public:
  // `command` is split at spaces: "PYTHON bench/peers.py MODEL_DIR". Empty: no peers. Started by the
  // first row, so that it does not disturb what is measured before.
  explicit Peers(std::string command);
  ~Peers();
  // Adds all peers that do the row, until it is dropped.
  void enter(Race& race, const std::string& row);
  void drop(const std::string& row);
  // "torch" → version, of what ran until now.
  const std::map<std::string, std::string>& versions() const { return versions_; }

 private:
  void start();

  class Process;
  std::string command_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::map<std::string, std::string> versions_;
};

}  // namespace bench
