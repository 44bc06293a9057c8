// Random graphs in bulk: reference against loops, fused loops and compiled code.
//   fuzz_graphs [--first SEED] [--graphs N] [--processes N] [--compile-every N] [--batch N] [--failures N]
//               [--no-shrink] [--out FILE]
// Each process takes its share of the seeds. Writes one summary line and the reports of the failures.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "../fuzz/campaign.h"

namespace {

using stax::fuzz::Campaign;
using stax::fuzz::Totals;

struct Options {
  Campaign campaign{.first_seed = 1,
                    .graphs = 20000,
                    .compile_every = 1,
                    .batch = 60,
                    .units = 1,
                    .most_failures = 20,
                    .progress = true};
  int processes = 2;
  std::string out;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--no-shrink") {
      o.campaign.shrink = false;
      continue;
    }
    if (i + 1 == argc) std::exit((std::fprintf(stderr, "%s needs a value\n", a.c_str()), 2));
    const char* v = argv[++i];
    if (a == "--first")
      o.campaign.first_seed = std::strtoull(v, nullptr, 10);
    else if (a == "--graphs")
      o.campaign.graphs = std::atoll(v);
    else if (a == "--processes")
      o.processes = std::atoi(v);
    else if (a == "--compile-every")
      o.campaign.compile_every = std::atoll(v);
    else if (a == "--batch")
      o.campaign.batch = std::atoi(v);
    else if (a == "--failures")
      o.campaign.most_failures = std::atoi(v);
    else if (a == "--out")
      o.out = v;
    else
      std::exit((std::fprintf(stderr, "unknown option %s\n", a.c_str()), 2));
  }
  return o;
}

// A child's numbers in one line, then the reports.
std::string text_of(const Totals& t) {
  std::string text = fmt::format("{} {} {} {} {} {} {} {}\n", t.graphs, t.dynamic_graphs, t.operators, t.loop_calls,
                                 t.compiled_graphs, t.compiled_calls, t.kernels, t.failures.size());
  for (const auto& f : t.failures) text += f.report + "\n";
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  const auto start = std::chrono::steady_clock::now();
  std::vector<FILE*> results;
  std::vector<pid_t> children;
  const std::int64_t share = (o.campaign.graphs + o.processes - 1) / o.processes;
  for (int p = 0; p < o.processes; ++p) {
    results.push_back(std::tmpfile());
    const pid_t child = fork();
    if (child == 0) {
      Campaign c = o.campaign;
      c.first_seed += static_cast<std::uint64_t>(p * share);
      c.graphs = std::min<std::int64_t>(share, o.campaign.graphs - p * share);
      const std::string text = text_of(stax::fuzz::run(c));
      std::fwrite(text.data(), 1, text.size(), results.back());
      std::fflush(results.back());
      std::_Exit(0);
    }
    children.push_back(child);
  }
  long long sums[8] = {};
  std::string reports;
  bool crashed = false;
  for (std::size_t p = 0; p < children.size(); ++p) {
    int status = 0;
    waitpid(children[p], &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) crashed = true;
    std::rewind(results[p]);
    long long one[8] = {};
    for (long long& n : one)
      if (std::fscanf(results[p], "%lld", &n) != 1) crashed = true;
    for (int i = 0; i < 8; ++i) sums[i] += one[i];
    char buffer[4096];
    while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, results[p])) reports.append(buffer, n);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string summary = fmt::format(
      "seeds {}..{}: {} graphs ({} dynamic, {} operators), {} calls of loops, {} graphs compiled ({} kernels, {} "
      "calls), "
      "{} differences{}, {:.0f} s\n",
      o.campaign.first_seed, o.campaign.first_seed + static_cast<std::uint64_t>(o.campaign.graphs) - 1, sums[0],
      sums[1], sums[2], sums[3], sums[4], sums[6], sums[5], sums[7], crashed ? ", a process crashed" : "", seconds);
  std::fputs((reports + summary).c_str(), stdout);
  if (!o.out.empty()) std::ofstream(o.out) << summary << reports;
  return sums[7] || crashed ? 1 : 0;
}
