#include <fmt/format.h>

#include <bit>

#include "base/text.h"
#include "plan/names.h"
#include "plan/plan.h"

namespace stax::plan {

namespace {
constexpr std::string_view kKeywords[] = {"where", "scalar", "aligned", "disjoint", "same"};
constexpr std::string_view kComparisons[] = {"==", "!=", "<", "<=", ">", ">="};
}  // namespace

std::string name_text(std::string_view name) {
  bool plain = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (const char c : name)
    plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
  for (const std::string_view k : kKeywords) plain = plain && name != k;
  return plain ? std::string(name) : base::quote(name);
}

std::string_view to_text(Guard::Comparison c) { return kComparisons[static_cast<std::size_t>(c)]; }

std::string scalar_text(Dtype dtype, std::uint64_t bits) {
  if (dtype == Dtype::f64) return base::float_text(std::bit_cast<double>(bits));
  if (dtype == Dtype::boolean) return bits ? "true" : "false";
  return std::to_string(static_cast<std::int64_t>(bits));
}

std::string to_text(const Fact& fact, const Plan& plan) {
  const auto input = static_cast<std::size_t>(fact.input);
  if (fact.kind == Fact::Kind::scalar) return name_text(plan.scalars.at(input).name);
  const std::string name = name_text(plan.inputs.at(input).name);
  switch (fact.kind) {
    case Fact::Kind::size:
      return fmt::format("{}.size({})", name, fact.axis);
    case Fact::Kind::stride:
      return fmt::format("{}.stride({})", name, fact.axis);
    default:
      return name + ".offset";
  }
}

std::string to_text(const Guard& g, const Plan& plan) {
  auto input = [&](int i) { return name_text(plan.inputs.at(static_cast<std::size_t>(i)).name); };
  switch (g.kind) {
    case Guard::Kind::fact:
      return to_text(g.fact, plan) + " == " + to_string(g.value);
    case Guard::Kind::condition:
      return "where " + to_string(g.condition);
    case Guard::Kind::scalar: {
      const ScalarInput& s = plan.scalars.at(static_cast<std::size_t>(g.fact.input));
      return fmt::format("scalar {} {} {}", name_text(s.name), to_text(g.comparison), scalar_text(s.dtype, g.bits));
    }
    case Guard::Kind::aligned:
      return fmt::format("aligned {} {}", input(g.a), g.bytes);
    case Guard::Kind::disjoint:
      return fmt::format("disjoint {} {}", input(g.a), input(g.b));
    case Guard::Kind::same:
      return fmt::format("same {} {}", input(g.a), input(g.b));
  }
  return {};
}

}  // namespace stax::plan
