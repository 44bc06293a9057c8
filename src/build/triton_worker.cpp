#include "build/triton_worker.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <nlohmann/json.hpp>

namespace stax::build {

using base::WorkerProcess;
using Json = nlohmann::json;
using Status = WorkerProcess::Status;

namespace {

base::ProcessOptions options_of(const std::string& python, const std::string& script) {
  base::ProcessOptions options;
  options.argv = {python, "-c", script};
  options.set_env = triton_worker_environment();
  options.unset_env = {"TRITON_INTERPRET", "PYTHONPATH", "PYTHONHOME"};
  return options;
}

std::string text_of(const TritonJob& job, const std::string& directory) {
  Json j;
  j["directory"] = directory;
  j["name"] = job.name;
  j["function"] = job.function;
  j["text"] = job.text;
  j["warps"] = job.warps;
  j["stages"] = job.stages;
  j["parameters"] = Json::array();
  for (const auto& q : job.parameters) j["parameters"].push_back(Json::array({q.name, q.type, q.multiple_of}));
  j["constants"] = Json::array();
  for (const auto& [name, value] : job.constants) j["constants"].push_back(Json::array({name, value}));
  return j.dump();
}

std::string tail(const std::string& text) { return text.size() > 2000 ? text.substr(text.size() - 2000) : text; }

}  // namespace

TritonWorker::TritonWorker(const std::string& python, const std::string& script)
    : python_(python), process_(options_of(python, script)) {}

TritonAnswer TritonWorker::lost(Status status, std::chrono::milliseconds timeout) const {
  TritonAnswer a;
  const std::string log = process_.log();
  switch (status) {
    case Status::timed_out:
      a.problem = fmt::format("gave no answer within {:.1f} s", static_cast<double>(timeout.count()) / 1000);
      break;
    case Status::garbage:
      a.problem = "sent an answer that is none";
      break;
    default:
      a.problem = "ended unexpectedly";
  }
  if (!log.empty()) a.problem += "; it wrote: " + tail(log);
  return a;
}

// The first message of the process.
void TritonWorker::greet(std::chrono::milliseconds timeout) {
  if (!version_.empty()) return;
  std::string message;
  if (const Status s = process_.receive(message, timeout, 1 << 20); s != Status::ok) {
    failed_start_ = lost(s, timeout);
    return;
  }
  const Json hello = Json::parse(message, nullptr, false);
  if (!hello.is_object() || !hello.contains("hello")) {
    failed_start_ = lost(Status::garbage, timeout);
    return;
  }
  if (!hello.value("hello", false))
    throw UserError(
        fmt::format("Python {} ({}) cannot import Triton, which compiles the GPU kernels: {}",
                    hello.value("python", ""), hello.value("executable", python_), hello.value("problem", "")),
        {}, "Run `make triton`, or install it (pip install triton==3.6.0) and name that Python in STAX_PYTHON.");
  version_ = hello.value("triton", "unknown");
}

TritonAnswer TritonWorker::compile(const TritonJob& job, std::chrono::milliseconds timeout) {
  greet(std::max<std::chrono::milliseconds>(timeout, std::chrono::seconds(60)));
  if (failed_start_) return *failed_start_;
  const base::TempDir directory("stax-build");  // of the assembler's files
  if (const Status s = process_.send(text_of(job, directory.path().string()), timeout); s != Status::ok)
    return lost(s, timeout);
  std::string message;
  if (const Status s = process_.receive(message, timeout); s != Status::ok) return lost(s, timeout);
  const Json reply = Json::parse(message, nullptr, false);
  if (!reply.is_object() || !reply.contains("ok") || !reply["ok"].is_boolean()) return lost(Status::garbage, timeout);
  TritonAnswer a;
  try {
    if (!reply["ok"].get<bool>()) {
      a.kind = TritonAnswer::Kind::refused;
      a.problem = fmt::format("{}: {}", reply.at("kind").get<std::string>(), reply.at("error").get<std::string>());
      a.statement = reply.at("statement").get<std::string>();
      return a;
    }
    a.binary.function = reply.at("function");
    a.binary.warps = reply.at("warps");
    a.binary.shared = reply.at("shared");
    a.binary.scratch = reply.at("scratch");
    a.binary.scratch_align = reply.at("scratch_align");
    a.binary.registers = reply.at("registers");
    a.binary.spills = reply.at("spills");
    a.binary.stack = reply.at("stack");
    if (const Status s = process_.receive(a.binary.cubin, timeout); s != Status::ok) return lost(s, timeout);
    if (a.binary.cubin.size() != reply.at("bytes").get<std::size_t>() || !a.binary.cubin.starts_with("\x7f"
                                                                                                     "ELF"))
      return lost(Status::garbage, timeout);
  } catch (const Json::exception&) {
    return lost(Status::garbage, timeout);
  }
  a.kind = TritonAnswer::Kind::compiled;
  return a;
}

}  // namespace stax::build
