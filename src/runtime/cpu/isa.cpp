#include "runtime/cpu/isa.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <array>

#include "base/env.h"

namespace stax::runtime {

// clang has no names for the levels; one extension of each stands for it there.
#ifdef __clang__
#define STAX_SUPPORTS(level, extension) (__builtin_cpu_supports(extension) != 0)
#else
#define STAX_SUPPORTS(level, extension) (__builtin_cpu_supports(level) != 0)
#endif

namespace {

struct IsaRow {
  std::string_view name, march;
  int vector_bytes;
  bool (*supported)();
};

// Widest first. The checks cover every extension of the architecture level that GCC may use (they ask the operating
// system about the registers too).
constexpr std::array<IsaRow, 3> kIsas{{
    {"avx512", "x86-64-v4", 64, [] { return STAX_SUPPORTS("x86-64-v4", "avx512vl"); }},
    {"avx2", "x86-64-v3", 32, [] { return STAX_SUPPORTS("x86-64-v3", "avx2"); }},
    {"sse2", "x86-64", 16, [] { return STAX_SUPPORTS("sse2", "sse2"); }},
}};

const IsaRow* find(std::string_view isa) {
  for (const IsaRow& row : kIsas)
    if (row.name == isa) return &row;
  return nullptr;
}

}  // namespace

bool cpu_supports(std::string_view isa) {
  const IsaRow* row = find(isa);
  return row && row->supported();
}

std::string_view march_of(std::string_view isa) {
  const IsaRow* row = find(isa);
  STAX_CHECK(row, fmt::format("unknown instruction set '{}'", isa));
  return row->march;
}

CpuTarget host_target() {
  const std::optional<std::string> forced = base::env_choice("STAX_VECTOR_BYTES");
  for (const IsaRow& row : kIsas) {
    if (forced && std::to_string(row.vector_bytes) != *forced) continue;
    if (row.supported()) return {std::string(row.name), row.vector_bytes};
    if (forced)
      throw UserError(fmt::format("STAX_VECTOR_BYTES={} needs {}, which this CPU does not have", *forced, row.name), {},
                      "Unset it or choose a smaller value.");
  }
  throw DeviceError("this CPU has no SSE2");
}

}  // namespace stax::runtime
