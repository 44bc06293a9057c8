#include "build/cpp_compiler.h"

#include <fmt/format.h>
#include <stax/base/error.h>
#include <sys/stat.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/thread_pool.h"
#include "build/cpp_flags.h"

namespace stax::build {

namespace fs = std::filesystem;

namespace {

constexpr const char* kInstall = "Install one (apt install g++) or name it in STAX_CXX";

std::string find_compiler(const std::string& wanted) {
  const std::string named = !wanted.empty() ? wanted : base::env_text("STAX_CXX").value_or("");
  if (!named.empty()) {
    if (auto path = base::find_program(named)) return *path;
    throw CompilerError(fmt::format("the C++ compiler '{}' does not exist or cannot be run", named), {}, kInstall);
  }
  for (const char* name : {"g++", "c++"})
    if (auto path = base::find_program(name)) return *path;
  throw CompilerError("there is no C++ compiler (looked for g++ and c++ in PATH), which CPU kernels need", {},
                      kInstall);
}

std::string file_identity(const fs::path& path) {
  struct stat s {};
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error || stat(real.c_str(), &s) != 0) return path.string();
  return fmt::format("{} {} {}.{}", real.string(), s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string run_version(const std::string& path) {
  base::ProcessOptions options;
  options.argv = {path, "--version"};
  options.timeout = std::chrono::seconds(20);
  const base::ProcessResult result = base::run_process(options);
  if (!result.ok())
    throw CompilerError(fmt::format("the C++ compiler {} does not work: {}", path, result.describe()), {}, kInstall);
  return first_line(result.out);
}

// The driver's own file, without starting it; behind ccache or another wrapper, what it says of itself.
std::string identity_of(const std::string& path) {
  std::error_code error;
  const std::string name = fs::canonical(path, error).filename().string();
  const bool compiler = name.find("g++") != std::string::npos || name.find("gcc") != std::string::npos ||
                        name.find("clang") != std::string::npos;
  return compiler ? file_identity(path) : file_identity(path) + " " + run_version(path);
}

// A name that is harmless in a path.
std::string file_stem(const std::string& name) {
  std::string stem;
  for (const char c : name.substr(0, 80)) stem += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return stem.empty() ? "kernel" : stem;
}

std::string first_diagnostics(const std::string& err) {
  std::string text;
  std::size_t at = 0;
  for (int lines = 0; lines < 12 && at < err.size(); ++lines) {
    const std::size_t end = err.find('\n', at);
    text += "  " + err.substr(at, end - at).substr(0, 300) + "\n";
    at = end == std::string::npos ? err.size() : end + 1;
  }
  return text;
}

// Where a source that does not compile stays, for the report.
std::string keep_source(const CppJob& job) {
  try {
    std::string folder = (fs::temp_directory_path() / "stax-failed-XXXXXX").string();
    if (!mkdtemp(folder.data())) return "(could not be kept)";
    const fs::path path = fs::path(folder) / (file_stem(job.name) + ".cpp");
    base::write_file_atomic(path, job.source);
    return path.string();
  } catch (const std::exception&) {
    return "(could not be kept)";
  }
}

// What stopped the compiler when it was not the source: the machine, or a compiler that is none.
std::string outside_cause(const base::ProcessResult& result) {
  if (result.signal != 0) return "was ended by " + result.describe();
  for (const char* words : {"No space left on device", "signal terminated program", "virtual memory exhausted",
                            "annot allocate memory", "cannot execute", "not found"}) {
    const std::size_t at = result.err.find(words);
    if (at == std::string::npos) continue;
    const std::size_t begin = result.err.rfind('\n', at) + 1;  // 0 where there is none
    return "failed: " + result.err.substr(begin, result.err.find('\n', at) - begin);
  }
  return {};
}

constexpr int kOldestGnu = 12;

// The GNU version that the compiler says it has, 0 for others (clang claims one too).
int gnu_version(const std::string& path) {
  base::ProcessOptions options;
  options.argv = {path, "-dM", "-E", "-x", "c++", "/dev/null"};
  options.timeout = std::chrono::seconds(20);
  const base::ProcessResult result = base::run_process(options);
  constexpr std::string_view kMacro = "#define __GNUC__ ";
  const std::size_t at = result.out.find(kMacro);
  if (!result.ok() || at == std::string::npos || result.out.find("__clang__") != std::string::npos) return 0;
  return std::atoi(result.out.c_str() + at + kMacro.size());
}

// Throws CompilerError unless a kernel failed to compile by its own fault.
void blame(const std::string& path, const base::ProcessResult& result, const std::string& kernel) {
  if (const std::string cause = outside_cause(result); !cause.empty())
    throw CompilerError(fmt::format("the C++ compiler {} on kernel {}", cause, kernel), {},
                        "Free memory, or space in the directory of temporary files (TMPDIR)");
  if (gnu_version(path) < kOldestGnu)
    throw CompilerError(
        fmt::format("the C++ compiler {} ({}) is not GNU C++ {} or newer, for which CPU kernels are written", path,
                    run_version(path), kOldestGnu),
        {}, kInstall);
}

const char* const kLeast = "extern \"C\" int stax_least() { return 0; }\n";

}  // namespace

CppCompiler::CppCompiler(CppOptions options) : options_(std::move(options)) {
  if (options_.target.isa.empty()) options_.target = runtime::host_target();
  if (options_.sanitize.empty()) options_.sanitize = base::env_choice("STAX_KERNEL_SANITIZE").value_or("none");
  if (options_.jobs <= 0)
    options_.jobs = static_cast<int>(base::env_integer("STAX_COMPILE_JOBS").value_or(base::usable_cores()));
  flags_ = cpp_flags(options_.target, options_.sanitize);
  path_ = find_compiler(options_.compiler);
  identity_ = identity_of(path_);
}

std::string CppCompiler::version() const { return run_version(path_); }

base::ProcessResult CppCompiler::run(const fs::path& folder, const fs::path& source, const fs::path& object) const {
  base::ProcessOptions process;
  process.argv = {path_};
  process.argv.insert(process.argv.end(), flags_.begin(), flags_.end());
  for (const char* a : {"-o", object.c_str(), source.c_str(), "-lgomp", "-lm", "-lgcc"}) process.argv.emplace_back(a);
  process.set_env = {{"LC_ALL", "C"}, {"TMPDIR", folder.string()}};
  process.directory = folder.string();
  process.timeout = options_.timeout;
  try {
    return base::run_process(process);
  } catch (const UserError& e) {  // it was there when this object was made
    throw CompilerError(fmt::format("the C++ compiler {} does not work: {}", path_, e.problem()), {}, kInstall);
  }
}

std::string CppCompiler::compile(const CppJob& job) const {
  const base::TempDir folder("stax-build");
  const fs::path source = folder.path() / (file_stem(job.name) + ".cpp"), object = folder.path() / "kernel.so";
  base::write_file_atomic(source, job.source);
  const base::ProcessResult result = run(folder.path(), source, object);
  if (base::log_enabled(base::LogLevel::debug))
    base::log(base::LogLevel::debug, fmt::format("compiled {} in {:.0f} ms", job.name, result.seconds * 1e3));
  if (result.timed_out)
    throw CompilerError(fmt::format("the C++ compiler {} on kernel {}", result.describe(), job.name), {},
                        "The machine may be overloaded; set STAX_COMPILE_JOBS to a smaller number.");
  if (!result.ok()) {
    blame(path_, result, job.name);
    // A kernel is at fault only where another source compiles.
    base::write_file_atomic(source, kLeast);
    if (const base::ProcessResult least = run(folder.path(), source, object); !least.ok())
      throw CompilerError(fmt::format("the C++ compiler {} does not work: {}, whatever it is given: {}", path_,
                                      least.describe(), first_line(least.err)),
                          {}, kInstall);
    throw CppRefusal(job, fmt::format("the C++ compiler refused kernel {} ({}):\n{}The source is kept in {}", job.name,
                                      result.describe(), first_diagnostics(result.err), keep_source(job)));
  }
  if (!fs::exists(object))
    throw CompilerError(fmt::format("the C++ compiler {} ended well but wrote no object file", path_), {}, kInstall);
  return base::read_file(object);
}

std::vector<std::string> CppCompiler::compile_all(std::span<const CppJob> jobs) const {
  std::vector<std::string> objects;
  if (jobs.size() == 1) {
    objects.push_back(compile(jobs[0]));
    return objects;
  }
  if (jobs.empty()) return objects;
  base::ThreadPool pool(std::min(options_.jobs, static_cast<int>(jobs.size())));
  std::vector<std::future<std::string>> running;
  for (const CppJob& job : jobs) running.push_back(pool.submit([this, &job] { return compile(job); }));
  for (auto& r : running) r.wait();
  for (auto& r : running) objects.push_back(r.get());
  return objects;
}

}  // namespace stax::build
