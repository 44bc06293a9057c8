#include "schedule/text.h"

#include <fmt/format.h>

#include "loop/text.h"

namespace stax::schedule {

namespace {

// Where the first line that begins with `for` starts, or the end.
std::size_t schedules_begin(std::string_view text) {
  if (text.starts_with("for ")) return 0;
  const std::size_t at = text.find("\nfor ");
  return at == std::string_view::npos ? text.size() : at + 1;
}

}  // namespace

std::string to_text(const loop::Program& p, const std::vector<loop::CpuSchedule>& schedules) {
  std::string text;
  std::size_t next = 0;
  for (const loop::Item& item : p.items)
    if (const auto* k = std::get_if<loop::Kernel>(&item))
      text += fmt::format("for {} {}\n", k->name, loop::to_text(schedules.at(next++), *k));
  return text;
}

ScheduledProgram parse_scheduled(std::string_view text, const std::string& file) {
  const std::size_t begin = schedules_begin(text);
  ScheduledProgram result{loop::parse_program(text.substr(0, begin), file), std::nullopt};
  if (begin == text.size()) return result;
  base::Scanner in(text, file);
  in.reset(begin);
  result.schedules.emplace();
  for (const loop::Item& item : result.program.items) {
    const auto* k = std::get_if<loop::Kernel>(&item);
    if (!k) continue;
    in.expect("for");
    in.expect(k->name);
    result.schedules->push_back(loop::parse_cpu_schedule(in, *k));
  }
  if (!in.at_end()) in.fail_expected("the end of the schedules");
  return result;
}

}  // namespace stax::schedule
