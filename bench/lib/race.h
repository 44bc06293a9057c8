// Calls measured in turn: short bursts of every entrant, round after round, so that all of them see the same machine
// while its speed drifts.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench {

class Race {
 public:
  // Runs calls for about so many seconds, at least two; their times in µs.
  using Burst = std::function<std::vector<double>(double seconds)>;

  void add(const std::string& name, Burst burst) { entrants_.push_back({name, std::move(burst), {}}); }
  // A call in this process; `repeat` calls are timed as one where a call is not much longer than reading the clock.
  void add_call(const std::string& name, std::function<void()> call, int repeat = 1);
  // Name → µs a call: the median of the faster half.
  std::map<std::string, double> run(int rounds = 8, double seconds = 0.12);

 private:
  struct Entrant {
    std::string name;
    Burst burst;
    std::vector<double> times;
  };
  std::vector<Entrant> entrants_;
};

}  // namespace bench
