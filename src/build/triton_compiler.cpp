#include "build/triton_compiler.h"

#include <fmt/format.h>
#include <stax/base/error.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/env.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "build/build_id.h"
#include "cache/store.h"

namespace stax::build {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr const char* kInstall =
    "Run `make triton`, or install Python 3 with Triton (pip install triton==3.6.0) and name it in STAX_PYTHON.";

std::string find_python(const std::string& wanted) {
  const std::string named = !wanted.empty() ? wanted : base::env_text("STAX_PYTHON").value_or("");
  if (!named.empty()) return base::find_program(named).value_or("");
  std::error_code error;
  if (const fs::path venv = fs::absolute(".venv/bin/python3", error); !error && fs::exists(venv, error))
    return venv.string();
  return base::find_program("python3").value_or("");
}

// What the files say: the interpreter's, and the name of the installed Triton where it lies beside it.
std::string identity_of(const std::string& python) {
  struct stat s {};
  std::error_code error;
  std::string text = python;
  const fs::path real = fs::canonical(python, error);
  if (!error && stat(real.c_str(), &s) == 0)
    text = fmt::format("{} {} {}.{}", real.string(), s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
  const fs::path lib = fs::path(python).parent_path().parent_path() / "lib";
  for (fs::directory_iterator it(lib, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with("python3")) continue;
    std::error_code none;
    for (fs::directory_iterator package(it->path() / "site-packages", none), last; !none && package != last;
         package.increment(none)) {
      const std::string name = package->path().filename().string();
      if (name.starts_with("triton-")) text += " " + name;
    }
  }
  return text;
}

std::string metadata_of(const TritonBinary& b) {
  return Json{
      {"function", b.function},           {"warps", b.warps},         {"shared", b.shared}, {"scratch", b.scratch},
      {"scratch_align", b.scratch_align}, {"registers", b.registers}, {"spills", b.spills}, {"stack", b.stack}}
      .dump();
}

std::optional<TritonBinary> read_metadata(std::string_view text, std::string_view cubin) {
  const Json j = Json::parse(text, nullptr, false);
  if (!j.is_object()) return std::nullopt;
  try {
    TritonBinary b;
    b.cubin = std::string(cubin);
    b.function = j.at("function");
    b.warps = j.at("warps");
    b.shared = j.at("shared");
    b.scratch = j.at("scratch");
    b.scratch_align = j.at("scratch_align");
    b.registers = j.at("registers");
    b.spills = j.at("spills");
    b.stack = j.at("stack");
    return b;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

// The comment of a statement names the operator.
std::string operator_of(const std::string& statement) {
  const std::size_t at = statement.rfind("# ");
  return at == std::string::npos ? "" : statement.substr(at + 2);
}

std::string refusal_text(const TritonJob& job, const std::string& problem, const std::string& statement) {
  const std::string from = operator_of(statement);
  std::string text = fmt::format("Triton refused kernel {}{}: {}", job.name,
                                 from.empty() ? "" : fmt::format(" at operator '{}'", from), problem);
  return statement.empty() ? text : text + "\n  " + statement;
}

}  // namespace

TritonRefusal::TritonRefusal(TritonJob job, std::string problem, std::string statement)
    : InternalError(refusal_text(job, problem, statement)),
      job_(std::move(job)),
      problem_(std::move(problem)),
      statement_(std::move(statement)),
      from_(operator_of(statement_)) {}

TritonCompiler::TritonCompiler(TritonOptions options, cache::Store* disk) : options_(std::move(options)), disk_(disk) {
  if (options_.script.empty()) options_.script = triton_worker_script();
  if (options_.jobs <= 0)
    options_.jobs = static_cast<int>(base::env_integer("STAX_COMPILE_JOBS").value_or(base::usable_cores()));
  const std::string path = find_python(options_.python);
  if (!path.empty()) {
    options_.python = path;
    identity_ = identity_of(path);
  }
}

TritonCompiler::~TritonCompiler() {
  for (std::thread& t : warming_) t.join();
}

std::string TritonCompiler::python() const {
  if (!identity_.empty()) return options_.python;
  const std::string named = !options_.python.empty() ? options_.python : base::env_text("STAX_PYTHON").value_or("");
  throw UserError(named.empty() ? "there is no python3 in PATH, which compiles the GPU kernels"
                                : fmt::format("the Python interpreter '{}' does not exist or cannot be run", named),
                  {}, kInstall);
}

base::Digest TritonCompiler::key(const TritonJob& job) const {
  base::KeyBuilder key;
  key.add("kind", "triton kernel").add("stax", build_id()).add("python", identity_).add("arch", "sm_90a");
  key.add("script", options_.script).add("function", job.function).add("text", job.text);
  key.add("warps", job.warps).add("stages", job.stages);
  for (const auto& q : job.parameters) key.add("parameter", q.name).add("type", q.type).add("multiple", q.multiple_of);
  for (const auto& [name, value] : job.constants) key.add("constant", name).add("value", value);
  return key.finish();
}

std::unique_ptr<TritonWorker> TritonCompiler::take_worker() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return !workers_.empty() || busy_ < options_.jobs; });
  ++busy_;
  if (!workers_.empty()) {
    auto worker = std::move(workers_.back());
    workers_.pop_back();
    return worker;
  }
  ++stats_.started;
  lock.unlock();
  try {
    return std::make_unique<TritonWorker>(python(), options_.script);
  } catch (...) {
    return_worker(nullptr);
    throw;
  }
}

// A lost one is given back as null.
void TritonCompiler::return_worker(std::unique_ptr<TritonWorker> worker) {
  const std::lock_guard lock(mutex_);
  --busy_;
  if (worker) workers_.push_back(std::move(worker));
  idle_.notify_one();
}

void TritonCompiler::warm_up(int workers) {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < workers; ++i)
    warming_.emplace_back([this] {
      try {
        return_worker(take_worker());
      } catch (const std::exception&) {  // whoever needs a kernel gets the error
      }
    });
}

TritonBinary TritonCompiler::build(const TritonJob& job) {
  std::string problem;
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::unique_ptr<TritonWorker> worker = take_worker();
    TritonAnswer answer;
    try {
      answer = worker->compile(job, options_.timeout);
    } catch (...) {
      worker.reset();
      return_worker(nullptr);
      throw;
    }
    if (answer.kind == TritonAnswer::Kind::lost) worker.reset();
    return_worker(std::move(worker));
    if (answer.kind == TritonAnswer::Kind::compiled) return std::move(answer.binary);
    if (answer.kind == TritonAnswer::Kind::refused)
      throw TritonRefusal(job, std::move(answer.problem), std::move(answer.statement));
    problem = answer.problem;
    base::log(base::LogLevel::warn,
              fmt::format("the Triton worker for kernel {} was replaced: it {}", job.name, problem.substr(0, 300)));
    const std::lock_guard lock(mutex_);
    ++stats_.replaced;
  }
  throw UserError(
      fmt::format("the Triton worker could not compile kernel {}: it {}", job.name, problem), {},
      "The machine may be overloaded (STAX_COMPILE_JOBS limits the workers), or the Python of STAX_PYTHON is damaged.");
}

TritonBinary TritonCompiler::compile(const TritonJob& job) { return compile(job, nullptr); }

// `mine` is written under the lock.
TritonBinary TritonCompiler::compile(const TritonJob& job, TritonStats* mine) {
  const base::Digest digest = key(job);
  if (disk_)
    if (const auto entry = disk_->get(digest)) {
      const auto cubin = entry->find("cubin"), metadata = entry->find("metadata");
      if (cubin && metadata)
        if (auto binary = read_metadata(*metadata, *cubin)) {
          const std::lock_guard lock(mutex_);
          ++stats_.disk_hits;
          if (mine) ++mine->disk_hits;
          return *std::move(binary);
        }
    }
  TritonBinary binary = build(job);
  if (disk_) {
    const cache::Blob blobs[] = {{"cubin", binary.cubin}, {"metadata", metadata_of(binary)}};
    disk_->put(digest, blobs);
  }
  const std::lock_guard lock(mutex_);
  ++stats_.built;
  if (mine) ++mine->built;
  return binary;
}

std::vector<TritonBinary> TritonCompiler::compile_all(std::span<const TritonJob> jobs, TritonStats* mine) {
  std::vector<TritonBinary> binaries;
  if (jobs.size() == 1) binaries.push_back(compile(jobs[0], mine));
  if (jobs.size() <= 1) return binaries;
  std::map<base::Digest, std::shared_future<TritonBinary>> running;
  std::vector<base::Digest> keys;
  base::ThreadPool pool(std::min(options_.jobs, static_cast<int>(jobs.size())));
  for (const TritonJob& job : jobs) {
    const base::Digest k = keys.emplace_back(key(job));
    if (!running.contains(k))
      running.emplace(k, pool.submit([this, &job, mine] { return compile(job, mine); }).share());
  }
  for (auto& [k, r] : running) r.wait();
  for (const base::Digest& k : keys) binaries.push_back(running.at(k).get());
  return binaries;
}

TritonStats TritonCompiler::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace stax::build
