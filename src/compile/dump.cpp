#include "compile/dump.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "graph/interpret.h"

namespace stax::compiler {

namespace fs = std::filesystem;

namespace {

std::atomic<int> next_dump{0};

fs::path fresh_path(const fs::path& directory, const std::string& name) {
  return directory / fmt::format("{}-{}-{}", name, ::getpid(), next_dump++);
}

void make_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw UserError(fmt::format("STAX_DUMP_DIR: cannot make the directory '{}': {}", path.string(), error.message()),
                    {}, "Choose a directory that you may write to");
}

}  // namespace

Observer dumping(const graph::Graph& g, const Observer& next) {
  const auto directory = base::env_text("STAX_DUMP_DIR");
  if (!directory) return next;
  const fs::path path = fresh_path(*directory, g.name);
  make_directory(path);
  base::write_file_atomic(path / "00-graph.stax", graph::to_text(g));
  base::log(base::LogLevel::info, fmt::format("the stages of {} are written to {}", g.name, path.string()));
  const char* source = device_of(g).kind == DeviceKind::cpu ? "cpp" : "py";
  return [next, path, source, count = 1](std::string_view stage, const std::function<std::string()>& text) mutable {
    if (const std::string content = text(); !content.empty())
      base::write_file_atomic(path / fmt::format("{:02}-{}.{}", count++, stage, stage == "emit" ? source : "stax"),
                              content);
    if (next) next(stage, text);
  };
}

void report_fault(const graph::Graph& g, const InternalError& fault) {
  std::string path;
  bool on_gpu = false;
  try {
    on_gpu = device_of(g).kind != DeviceKind::cpu;
    const auto wanted = base::env_text("STAX_DUMP_DIR");
    const fs::path directory = wanted ? fs::path(*wanted) : fs::temp_directory_path();
    if (wanted) make_directory(directory);
    path = fresh_path(directory, "stax-fault-" + g.name).string() + ".stax";
    base::write_file_atomic(path, graph::to_text(g), 0600);
  } catch (const std::exception& e) {
    throw InternalError(fmt::format("{}\nThe graph could not be written for a report: {}", fault.what(), e.what()));
  }
  throw InternalError(fmt::format("{}\nThis is a fault of Stax. The graph is in {}; to reproduce: stax-opt {} {}",
                                  fault.what(), path, path, on_gpu ? "--plan" : "--run cpu"));
}

}  // namespace stax::compiler
