#include "runtime/cpu/threads.h"

#include <fmt/format.h>
#include <sched.h>
#include <stax/base/error.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <set>
#include <utility>

#include "base/env.h"
#include "runtime/cpu/openmp.h"

namespace stax::runtime {

namespace {

std::atomic<int> g_threads{0};  // 0: not decided yet

int read_topology(int cpu, const char* what) {
  std::ifstream in(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", cpu, what));
  int id = -1;
  in >> id;
  return in ? id : -1;
}

int decide() {
  const int usual = std::getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : physical_cores();
  const int n = static_cast<int>(base::env_integer("STAX_THREADS").value_or(usual));
  int expected = 0;
  return g_threads.compare_exchange_strong(expected, n) ? n : expected;
}

}  // namespace

int physical_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  std::set<std::pair<int, int>> cores;
  int unknown = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask)) continue;
    const int package = read_topology(cpu, "physical_package_id"), core = read_topology(cpu, "core_id");
    if (core < 0)
      ++unknown;
    else
      cores.emplace(package, core);
  }
  return std::max(1, static_cast<int>(cores.size()) + unknown);
}

int num_threads() {
  const int n = g_threads.load(std::memory_order_relaxed);
  return n ? n : decide();
}

void set_num_threads(int threads) {
  if (threads < 1 || threads > 4096)
    throw UserError(fmt::format("the number of threads must be 1 to 4096, got {}", threads));
  g_threads.store(threads, std::memory_order_relaxed);
}

int apply_num_threads() {
  thread_local int applied = 0;
  const int n = num_threads();
  if (applied != n) {
    omp_set_num_threads(n);
    applied = n;
  }
  return n;
}

}  // namespace stax::runtime
