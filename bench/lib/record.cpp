#include "lib/record.h"

#include <stax/base/error.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "build/cpp_compiler.h"
#include "runtime/cpu/threads.h"

namespace bench {

using nlohmann::json;

int threads() { return stax::runtime::num_threads(); }

Recorder::Recorder(int argc, char** argv) {
  std::string peers;
  const std::map<std::string, std::string*> options{{"--out", &out_}, {"--only", &only_}, {"--peers", &peers}};
  for (int i = 1; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc)
      throw stax::UserError(std::string("unknown option or missing value: ") + argv[i], {},
                            "use --peers COMMAND, --only TEXT or --out FILE");
    *option->second = argv[i + 1];
  }
  peers_ = std::make_unique<Peers>(peers);
}

bool Recorder::wants(const std::string& row) const { return only_.empty() || row.find(only_) != std::string::npos; }

namespace {
double rounded(double x, double digits) { return std::round(x * digits) / digits; }
}  // namespace

void Recorder::add(const Row& row) {
  nlohmann::ordered_json j{{"row", row.row}, {"threads", threads()}, {"stax_us", rounded(row.stax_us, 100)}};
  j["peers"] = json::object();
  double best = INFINITY;
  for (const auto& [name, us] : row.peers) j["peers"][name] = rounded(us, 10), best = std::min(best, us);
  if (!row.peers.empty()) j["ratio"] = rounded(best / row.stax_us, 1000);
  if (row.goal) j["goal"] = *row.goal;
  if (row.static_us) j["static_us"] = rounded(*row.static_us, 100);
  if (row.ceiling_share) j["ceiling_share"] = rounded(*row.ceiling_share, 1000);
  if (!row.note.empty()) j["note"] = row.note;
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::localtime(&now));
  j["date"] = date;
  j["versions"] = peers_->versions();
  j["versions"]["compiler"] = stax::build::CppCompiler().version();
  const std::string line = j.dump() + "\n";
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
  text_ += line;
}

Recorder::~Recorder() {
  if (!out_.empty()) stax::base::write_file_atomic(out_, text_);
}

std::map<std::string, double> peers_in(std::map<std::string, double> figures, const std::vector<std::string>& ours) {
  for (const std::string& name : ours) figures.erase(name);
  return figures;
}

}  // namespace bench
