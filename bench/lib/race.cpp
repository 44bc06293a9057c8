#include "lib/race.h"

#include <algorithm>
#include <chrono>

namespace bench {

using Clock = std::chrono::steady_clock;

void Race::add_call(const std::string& name, std::function<void()> call, int repeat) {
  add(name, [call = std::move(call), repeat](double seconds) {
    std::vector<double> times;
    call();
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (times.size() < 2 || Clock::now() < end) {
      const auto begin = Clock::now();
      for (int i = 0; i < repeat; ++i) call();
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / repeat);
    }
    return times;
  });
}

std::map<std::string, double> Race::run(int rounds, double seconds) {
  for (int round = 0; round < rounds; ++round)
    for (Entrant& e : entrants_) {
      const std::vector<double> times = e.burst(seconds);
      e.times.insert(e.times.end(), times.begin(), times.end());
    }
  std::map<std::string, double> result;
  for (Entrant& e : entrants_) {
    std::sort(e.times.begin(), e.times.end());
    result[e.name] = e.times[e.times.size() / 4];
  }
  return result;
}

}  // namespace bench
