#include "lib/peers.h"

#include <stax/base/error.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/subprocess.h"
#include "lib/record.h"

namespace bench {

using nlohmann::json;
using stax::base::WorkerProcess;

class Peers::Process {
 public:
  Process(const stax::base::ProcessOptions& options, std::string suffix)
      : suffix(std::move(suffix)), worker_(options) {}

  json ask(const json& request) {
    std::string answer;
    if (worker_.send(request.dump()) != WorkerProcess::Status::ok ||
        worker_.receive(answer, std::chrono::minutes(5)) != WorkerProcess::Status::ok)
      throw stax::UserError("the peers' program does not answer:\n" + worker_.log());
    return json::parse(answer);
  }

  const std::string suffix;  // of the names of its peers

 private:
  WorkerProcess worker_;
};

Peers::Peers(std::string command) : command_(std::move(command)) {}

void Peers::start() {
  if (command_.empty() || !processes_.empty()) return;
  stax::base::ProcessOptions options;
  std::istringstream words(command_);
  for (std::string word; words >> word;) options.argv.push_back(word);
  processes_.push_back(std::make_unique<Process>(options, ""));
  options.set_env = {
      {"MALLOC_MMAP_MAX_", "0"}, {"MALLOC_TRIM_THRESHOLD_", "17179869184"}, {"MALLOC_TOP_PAD_", "1073741824"}};
  processes_.push_back(std::make_unique<Process>(options, " warm"));
}

Peers::~Peers() = default;

void Peers::enter(Race& race, const std::string& row) {
  start();
  for (const auto& process : processes_) {
    const json answer = process->ask({{"op", "prepare"}, {"row", row}, {"threads", threads()}});
    for (const auto& [name, version] : answer["versions"].items()) versions_[name] = version;
    for (const std::string peer : answer["peers"])
      race.add(peer + process->suffix, [&process = *process, row, peer](double seconds) {
        const json burst = process.ask({{"op", "burst"}, {"row", row}, {"peer", peer}, {"seconds", seconds}});
        return burst["times"].get<std::vector<double>>();
      });
  }
}

void Peers::drop(const std::string& row) {
  for (const auto& process : processes_) process->ask({{"op", "drop"}, {"row", row}});
}

}  // namespace bench
