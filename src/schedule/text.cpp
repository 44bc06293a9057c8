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

// Either kind: the word after `schedule` tells.
KernelSchedule parse_schedule(base::Scanner& in, const loop::Kernel& k, const loop::Program& p) {
  const std::size_t start = in.offset();
  const bool triton = in.accept("schedule") && in.peek("triton");
  in.reset(start);
  if (triton) return loop::parse_triton_schedule(in, k, p);
  return loop::parse_cpu_schedule(in, k);
}

}  // namespace

KernelSchedule schedule_kernel(const loop::Kernel& k, const loop::Program& p, const Target& target) {
  if (const auto* gpu = std::get_if<GpuTarget>(&target)) return schedule_triton(k, p, *gpu);
  return schedule_cpu(k, p, std::get<CpuTarget>(target));
}

std::string to_text(const KernelSchedule& s, const loop::Kernel& k, const loop::Program& p) {
  if (const auto* triton = std::get_if<loop::TritonSchedule>(&s)) return loop::to_text(*triton, k, p);
  return loop::to_text(std::get<loop::CpuSchedule>(s), k);
}

std::string to_text(const loop::Program& p, const std::vector<KernelSchedule>& schedules) {
  std::string text;
  std::size_t next = 0;
  for (const loop::Item& item : p.items)
    if (const auto* k = std::get_if<loop::Kernel>(&item))
      text += fmt::format("for {} {}\n", k->name, to_text(schedules.at(next++), *k, p));
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
    result.schedules->push_back(parse_schedule(in, *k, result.program));
  }
  if (!in.at_end()) in.fail_expected("the end of the schedules");
  return result;
}

}  // namespace stax::schedule
