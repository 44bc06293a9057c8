#include "lib/record.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "build/cpp_compiler.h"
#include "runtime/cpu/threads.h"

namespace bench {

using nlohmann::json;

double time_us(const std::function<void()>& call, double seconds) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < 3; ++i) call();
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end || times.size() < 5) {
    const auto begin = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 4];
}

int threads() { return stax::runtime::num_threads(); }

Recorder::Recorder(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--out") out_ = argv[i + 1];
    if (option == "--only") only_ = argv[i + 1];
    if (option == "--peers") {
      std::ifstream in(argv[i + 1]);
      for (std::string line; std::getline(in, line);) {
        const json row = json::parse(line);
        if (!row.contains("row")) continue;
        for (const auto& [key, value] : row.items())
          if (key.ends_with("_us")) peers_[row["row"]][key.substr(0, key.size() - 3)] = value;
      }
    }
  }
}

bool Recorder::wants(const std::string& row) const { return only_.empty() || row.find(only_) != std::string::npos; }

std::map<std::string, double> Recorder::peers_of(const std::string& row) const {
  auto it = peers_.find(row);
  return it == peers_.end() ? std::map<std::string, double>{} : it->second;
}

void Recorder::add(Row row) {
  json j{{"row", row.row}, {"threads", row.threads}, {"stax_us", std::round(row.stax_us * 100) / 100}};
  j["peers"] = row.peers;
  if (!row.peers.empty()) {
    const double best = std::min_element(row.peers.begin(), row.peers.end(), [](const auto& a, const auto& b) {
                          return a.second < b.second;
                        })->second;
    j["ratio"] = std::round(best / row.stax_us * 1000) / 1000;
  }
  if (row.goal) j["goal"] = *row.goal;
  if (row.ceiling_share) j["ceiling_share"] = std::round(*row.ceiling_share * 1000) / 1000;
  if (!row.note.empty()) j["note"] = row.note;
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::localtime(&now));
  j["date"] = date;
  j["versions"] = {{"compiler", stax::build::CppCompiler().version()}};
  const std::string line = j.dump() + "\n";
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
  text_ += line;
}

Recorder::~Recorder() {
  if (!out_.empty()) stax::base::write_file_atomic(out_, text_);
}

}  // namespace bench
