#include "compile/dump.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
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

namespace {

// Where a fault is described: a file that stays. Its path.
std::string write_report(const std::string& name, const char* extension, const std::string& text) {
  const auto wanted = base::env_text("STAX_DUMP_DIR");
  const fs::path directory = wanted ? fs::path(*wanted) : fs::temp_directory_path();
  if (wanted) make_directory(directory);
  const std::string path = fresh_path(directory, "stax-fault-" + name).string() + extension;
  base::write_file_atomic(path, text, 0600);
  return path;
}

std::string operator_text(const loop::Origin& o) {
  return o.where.known() ? fmt::format("{} at {}", o.op, to_string(o.where)) : o.op;
}

// The value that a statement defines: 12 of "v12 = …".
std::optional<std::size_t> value_of(const std::string& statement) {
  std::size_t at = 1, value = 0;
  if (statement.empty() || statement[0] != 'v') return std::nullopt;
  for (; at < statement.size() && std::isdigit(static_cast<unsigned char>(statement[at])) && at < 8; ++at)
    value = 10 * value + static_cast<std::size_t>(statement[at] - '0');
  return at > 1 ? std::optional(value) : std::nullopt;
}

// The operator behind a statement, else all of the kernel.
std::string operators_text(const build::TritonRefusal& refusal, const std::vector<loop::Origin>& operators) {
  if (const auto v = value_of(refusal.statement()); v && *v < operators.size() && !operators[*v].op.empty())
    return operator_text(operators[*v]);
  return compiler::operators_text(operators);
}

}  // namespace

std::string operators_text(const std::vector<loop::Origin>& operators) {
  std::vector<std::string> all;
  for (const loop::Origin& o : operators)
    if (const std::string text = operator_text(o); !text.empty() && std::ranges::find(all, text) == all.end())
      all.push_back(text);
  return fmt::format("{}", fmt::join(all, ", "));
}

void report_refusal(const build::TritonRefusal& refusal, const std::vector<loop::Origin>& operators,
                    const std::string& python) {
  const std::string from = operators_text(refusal, operators);
  std::string text = fmt::format("Triton refused kernel {}{}: {}", refusal.job().name,
                                 from.empty() ? "" : fmt::format(", which computes {}", from), refusal.problem());
  if (!refusal.statement().empty()) text += "\n  " + refusal.statement();
  try {
    const std::string path = write_report(refusal.job().name, ".py", build::triton_program(refusal.job()));
    text += fmt::format("\nThe kernel with its signature is in {}; to reproduce: {} {}", path, python, path);
  } catch (const Error& e) {
    text += fmt::format("\nThe kernel could not be written for a report: {}", e.what());
  }
  throw InternalError(text);
}

void report_fault(const graph::Graph& g, const InternalError& fault) {
  std::string path;
  bool on_gpu = false;
  try {
    on_gpu = device_of(g).kind != DeviceKind::cpu;
    path = write_report(g.name, ".stax", graph::to_text(g));
  } catch (const std::exception& e) {
    throw InternalError(fmt::format("{}\nThe graph could not be written for a report: {}", fault.what(), e.what()));
  }
  throw InternalError(fmt::format("{}\nThis is a fault of Stax. The graph is in {}; to reproduce: stax-opt {} {}",
                                  fault.what(), path, path, on_gpu ? "--plan" : "--run cpu"));
}

}  // namespace stax::compiler
