#include "loop/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace stax::loop {
namespace {

const std::string& axis_name(const Kernel& k, int axis) { return k.outer[static_cast<std::size_t>(axis)].var.name(); }

int outer_axis_by_name(base::Scanner& in, const Kernel& k) {
  const std::size_t start = in.offset();
  const std::string_view name = in.expect_identifier("an outer axis");
  for (std::size_t i = 0; i < k.outer.size(); ++i)
    if (k.outer[i].var.name() == name) return static_cast<int>(i);
  in.fail_at(start, fmt::format("'{}' is no outer axis of kernel {}", name, k.name));
}

int inner_axis_by_name(base::Scanner& in, const Phase& p) {
  const std::size_t start = in.offset();
  const std::string_view name = in.expect_identifier("an inner axis");
  for (std::size_t i = 0; i < p.inner.size(); ++i)
    if (p.inner[i].var.name() == name) return static_cast<int>(i);
  in.fail_at(start, fmt::format("'{}' is no inner axis of the phase", name));
}

std::string phase_text(const CpuPhaseSchedule& p, const Phase& phase, std::size_t i) {
  std::vector<std::string> options;
  if (p.vector >= 0) options.push_back("vector " + phase.inner[static_cast<std::size_t>(p.vector)].var.name());
  if (p.unroll != 1) options.push_back(fmt::format("unroll {}", p.unroll));
  if (p.ahead > 0) options.push_back(fmt::format("ahead {}", p.ahead));
  if (p.stream) options.emplace_back("stream");
  return fmt::format("phase {}{}{}", i, options.empty() ? "" : ": ", fmt::join(options, ", "));
}

void parse_units(base::Scanner& in, const Kernel& k, CpuSchedule& s) {
  while (in.peek_identifier() && !in.peek("grain")) {
    const int axis = outer_axis_by_name(in, k);
    s.order.push_back(axis);
    if (in.accept("/")) s.chunk = in.expect_integer("a chunk length");
    if (!in.accept(",")) break;
  }
  if (in.accept("grain")) s.grain = in.expect_integer("elements per thread");
}

void parse_phase(base::Scanner& in, const Kernel& k, CpuSchedule& s) {
  const std::size_t start = in.offset();
  const std::int64_t i = in.expect_integer("a phase number");
  if (i < 0 || i >= static_cast<std::int64_t>(s.phases.size()))
    in.fail_at(start, fmt::format("phase {} does not exist: the kernel has {}", i, s.phases.size()));
  CpuPhaseSchedule& p = s.phases[static_cast<std::size_t>(i)];
  if (!in.accept(":")) return;
  do {
    if (in.accept("unroll"))
      p.unroll = static_cast<int>(in.expect_integer("a number of vectors"));
    else if (in.accept("ahead"))
      p.ahead = static_cast<int>(in.expect_integer("a number of units"));
    else if (in.accept("stream"))
      p.stream = true;
    else if (in.accept("vector"))
      p.vector = inner_axis_by_name(in, k.phases[static_cast<std::size_t>(i)]);
    else
      in.fail_expected("'vector', 'unroll', 'ahead' or 'stream'");
  } while (in.accept(","));
}

void parse_item(base::Scanner& in, const Kernel& k, CpuSchedule& s) {
  if (in.accept("units")) {
    parse_units(in, k, s);
  } else if (in.accept("vector")) {
    s.vector_axis = in.accept("inner") ? -1 : outer_axis_by_name(in, k);
  } else if (in.accept("tile")) {
    s.tile_axis = outer_axis_by_name(in, k);
    s.tile = in.expect_integer("a tile length");
  } else if (in.accept("split")) {
    in.expect("inner");
    s.split = static_cast<int>(in.expect_integer("an inner axis"));
  } else if (in.accept("cache")) {
    s.stream_bytes = in.expect_integer("bytes");
  } else if (in.accept("phase")) {
    parse_phase(in, k, s);
  } else if (in.accept("keep")) {
    in.expect("%");
    KeptValue kept;
    kept.value = static_cast<ValueId>(in.expect_integer("a value"));
    in.expect("up");
    in.expect("to");
    kept.limit = in.expect_integer("a row length");
    s.keep.push_back(kept);
  } else {
    in.fail_expected("'units', 'vector', 'tile', 'split', 'cache', 'phase', 'keep' or '}'");
  }
}

}  // namespace

void verify(const CpuSchedule& s, const Kernel& k) {
  const int axes = static_cast<int>(k.outer.size());
  auto fail = [&](const std::string& what) { throw InternalError("schedule of kernel " + k.name + ": " + what); };
  std::vector<int> sorted = s.order;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < axes || i < static_cast<int>(sorted.size()); ++i)
    if (i >= axes || i >= static_cast<int>(sorted.size()) || sorted[static_cast<std::size_t>(i)] != i)
      fail("units must name every outer axis once");
  if (s.vector_axis < -1 || s.vector_axis >= axes) fail("no such vector axis");
  if (s.tile_axis < -1 || s.tile_axis >= axes) fail("no such tile axis");
  if (s.tile_axis >= 0 && (s.vector_axis < 0 || s.tile_axis == s.vector_axis || s.tile < 1))
    fail("a tile needs an outer vector axis, another axis and a length");
  if (s.tile_axis >= 0 && !is_pointwise(k)) fail("a tile needs a pointwise kernel");
  if (s.chunk < 0 || s.grain < 1) fail("chunk and grain must be positive");
  if (s.phases.size() != k.phases.size()) fail("one entry for each phase");
  for (const CpuPhaseSchedule& p : s.phases)
    if (p.unroll < 1 || p.unroll > 16) fail("unroll must be 1 to 16");
  for (const CpuPhaseSchedule& p : s.phases)
    if (p.ahead < 0 || (p.ahead > 0 && s.vector_axis >= 0 && s.tile_axis < 0))
      fail("rows are fetched ahead in the inner and tiled forms only");
  for (std::size_t i = 0; i < k.phases.size(); ++i)
    if (s.phases[i].vector >= static_cast<int>(k.phases[i].inner.size())) fail("no such inner axis to vectorise");
  for (const Phase& p : k.phases)
    if (s.split >= 0 && !p.inner.empty() && s.split >= static_cast<int>(p.inner.size())) fail("no such axis to split");
  for (const KeptValue& kept : s.keep) {
    if (kept.value < 0 || kept.value >= static_cast<ValueId>(k.values.size())) fail("no such value to keep");
    if (s.vector_axis >= 0 || s.split >= 0) fail("values are kept in the unsplit inner form only");
  }
}

std::string to_text(const CpuSchedule& s, const Kernel& k) {
  std::string text = "schedule cpu { units";
  for (std::size_t i = 0; i < s.order.size(); ++i) {
    text += (i ? ", " : " ") + axis_name(k, s.order[i]);
    if (s.order[i] == s.vector_axis && s.chunk > 0) text += fmt::format(" / {}", s.chunk);
  }
  text += fmt::format(" grain {}; vector {}", s.grain, s.vector_axis < 0 ? "inner" : axis_name(k, s.vector_axis));
  if (s.tile_axis >= 0) text += fmt::format("; tile {} {}", axis_name(k, s.tile_axis), s.tile);
  if (s.split >= 0) text += fmt::format("; split inner {}", s.split);
  const bool streams = std::any_of(s.phases.begin(), s.phases.end(), [](const auto& p) { return p.stream; });
  if (streams) text += fmt::format("; cache {}", s.stream_bytes);
  for (std::size_t i = 0; i < s.phases.size(); ++i) text += "; " + phase_text(s.phases[i], k.phases[i], i);
  for (const KeptValue& kept : s.keep) text += fmt::format("; keep %{} up to {}", kept.value, kept.limit);
  return text + " }";
}

CpuSchedule parse_cpu_schedule(base::Scanner& in, const Kernel& k) {
  CpuSchedule s;
  s.phases.resize(k.phases.size());
  const std::size_t start = in.offset();
  in.expect("schedule");
  in.expect("cpu");
  in.expect("{");
  while (!in.accept("}")) {
    parse_item(in, k, s);
    if (!in.accept(";")) {
      in.expect("}");
      break;
    }
  }
  try {
    verify(s, k);
  } catch (const InternalError& e) {
    in.fail_at(start, e.what());
  }
  return s;
}

CpuSchedule parse_cpu_schedule(std::string_view text, const Kernel& k, std::string file) {
  base::Scanner in(text, std::move(file));
  CpuSchedule s = parse_cpu_schedule(in, k);
  if (!in.at_end()) in.fail_expected("the end of the schedule");
  return s;
}

}  // namespace stax::loop
