// What Stax finds on this machine.
#include <fmt/format.h>
#include <stax/base/error.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "build/cpp_compiler.h"
#include "build/triton_compiler.h"
#include "cache/store.h"
#include "commands.h"
#include "runtime/cpu/library_versions.h"
#include "runtime/cpu/threads.h"
#include "runtime/cuda/cuda_runtime.h"

namespace stax::tools {

namespace {

class Doctor {
 public:
  int run() {
    attempt("compiler", [this] { compiler(); });
    attempt("vectors", [] {
      const runtime::CpuTarget t = runtime::host_target();
      return ok("vectors", fmt::format("{} bytes, instruction set {} (-march={})", t.vector_bytes, t.isa,
                                       runtime::march_of(t.isa)));
    });
    attempt("threads", [] {
      return ok("threads", fmt::format("{} of {} physical cores, OpenMP {}", runtime::num_threads(),
                                       runtime::physical_cores(), runtime::openmp_version()));
    });
    ok("oneDNN", runtime::onednn_version());
    attempt("cache", [this] { cache(); });
    attempt("temporary", [] {
      const base::TempDir dir("stax-doctor");
      base::write_file_atomic(dir.path() / "probe", std::string(1 << 20, 'x'));  // about what a large kernel needs
      ok("temporary", "files can be written to " + dir.path().parent_path().string());
    });
    gpu();
    environment();
    if (faults_)
      fmt::print("\n{} of the things that Stax needs {} missing or wrong\n", faults_, faults_ == 1 ? "is" : "are");
    else
      fmt::print("\nnothing is missing\n");
    return faults_ ? 1 : 0;
  }

 private:
  static void line(const char* mark, std::string_view what, std::string_view text) {
    fmt::print("{:<5} {:<10} {}\n", mark, what, text);
  }
  static void ok(std::string_view what, std::string_view text) { line("ok", what, text); }
  static void none(std::string_view what, std::string_view text) { line("none", what, text); }
  void fault(std::string_view what, std::string_view text) {
    ++faults_;
    line("FAULT", what, text);
  }
  template <class F>
  void attempt(std::string_view what, F&& f) {
    try {
      f();
    } catch (const std::exception& e) {
      fault(what, e.what());
    }
  }

  void compiler() {
    const build::CppCompiler compiler;
    const std::string version = compiler.version();
    (void)compiler.compile({"doctor", "extern \"C\" double stax_doctor(double x) { return x + 1; }\n"});
    ok("compiler", fmt::format("{} ({})", compiler.path(), version));
  }

  static void cache() {
    const std::filesystem::path directory = cache::default_directory();
    if (directory.empty()) return none("cache", "off: every process compiles its kernels");
    const base::LogCapture quiet;
    cache::Store store(directory, cache::default_limit_bytes());
    const base::Digest key = base::sha256("stax doctor");
    const cache::Blob probe{"probe", "probe"};
    if (store.usable() && store.put(key, {&probe, 1}))
      return ok("cache", fmt::format("{}, {} entries", directory.string(), store.stats().entries));
    std::string reason = quiet.text();
    if (!reason.empty() && reason.back() == '\n') reason.pop_back();
    none("cache", fmt::format("{} cannot be used: every process compiles its kernels. {}", directory.string(), reason));
  }

  // What is missing is a fault only where tensors are to lie on a GPU, or half of what one needs is there.
  void gpu() {
    const char* device = std::getenv("STAX_DEVICE");
    const bool wanted = device && std::string_view(device).starts_with("cuda");
    bool found = false;
    try {
      const runtime::CudaDriver& driver = runtime::cuda_driver();
      ok("CUDA", fmt::format("driver for CUDA {}, {} device{}", runtime::cuda_version_text(driver.version()),
                             driver.devices(), driver.devices() == 1 ? "" : "s"));
      for (int i = 0; i < driver.devices(); ++i) found |= card(i);
    } catch (const DeviceError& e) {
      wanted ? fault("CUDA", e.what()) : none("CUDA", e.what());
    }
    if (found)
      attempt("cuBLASLt", [] { ok("cuBLASLt", runtime::cublas_lt().version_text()); });
    else
      none("cuBLASLt", "used on CUDA devices only");
    try {
      triton();
    } catch (const Error& e) {
      wanted || found ? fault("Triton", e.what()) : none("Triton", e.what());
    }
  }

  bool card(int index) {
    const std::string name = fmt::format("cuda:{}", index);
    try {
      const runtime::DeviceProperties p = runtime::cuda_runtime(index).properties();
      ok(name, fmt::format("{}, capability {}.{}, {:.1f} GiB, {} multiprocessors", p.name, p.capability / 10,
                           p.capability % 10, static_cast<double>(p.memory_bytes) / (1 << 30), p.multiprocessors));
      return true;
    } catch (const DeviceError& e) {
      none(name, e.what());
      return false;
    }
  }

  static void triton() {
    build::TritonCompiler compiler;
    base::ProcessOptions options;
    options.argv = {compiler.python(), "-c", "import triton; print(triton.__version__)"};
    std::string version = base::run_process(options).out;
    if (!version.empty() && version.back() == '\n') version.pop_back();
    build::TritonJob job;
    job.name = "doctor", job.function = "doctor";
    job.text = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef doctor(b0):\n    tl.store(b0, 1.0)\n";
    job.parameters = {{"b0", "*fp32", 16}};
    job.warps = 1;
    (void)compiler.compile(job);
    ok("Triton", fmt::format("{} of {}", version, compiler.python()));
  }

  // Every variable with its value, default and meaning; values that are not valid and names that are not known.
  void environment() {
    fmt::print("\nenvironment\n");
    for (const base::EnvVariable& v : base::env_variables()) {
      const char* set = std::getenv(std::string(v.name).c_str());
      const bool given = set && *set;
      fmt::print("{} {:<22} {:<28} {}{}\n", given ? "*" : " ", v.name,
                 given                    ? std::string(set)
                 : v.default_text.empty() ? "-"
                                          : "(" + std::string(v.default_text) + ")",
                 v.doc, v.values.empty() ? "" : fmt::format(" [{}]", v.values));
      try {
        switch (v.kind) {
          case base::EnvKind::text:
            (void)base::env_text(v.name);
            break;
          case base::EnvKind::flag:
            (void)base::env_flag(v.name);
            break;
          case base::EnvKind::integer:
            (void)base::env_integer(v.name);
            break;
          case base::EnvKind::choice:
            (void)base::env_choice(v.name);
            break;
        }
      } catch (const UserError& e) {
        fault("variable", e.what());
      }
    }
    for (char** entry = environ; entry && *entry; ++entry) {
      const std::string_view text(*entry), name = text.substr(0, text.find('='));
      const auto known = base::env_variables();
      if (name.starts_with("STAX_") && std::ranges::none_of(known, [&](const auto& v) { return v.name == name; }))
        fault("variable", fmt::format("{} is not known to Stax. Unset it", name));
    }
  }

  int faults_ = 0;
};

}  // namespace

Command add_doctor(CLI::App& app) {
  app.add_subcommand("doctor", "what Stax finds on this machine, and what is missing");
  return [] { return Doctor().run(); };
}

}  // namespace stax::tools
