#include "plan/guard_check.h"

#include <fmt/format.h>

#include <cstring>

#include "plan/facts.h"
#include "plan/names.h"
#include "plan/thread_scratch.h"
#include "symbolic/analysis.h"

namespace stax::plan {

std::vector<symbolic::Expr> bound_symbols(const Plan& plan) {
  std::vector<symbolic::Expr> symbols;
  for (const Binding& b : plan.bindings) symbols.push_back(b.symbol);
  return symbols;
}

GuardCheck::GuardCheck(const Plan& plan) : plan_(plan), code_(bound_symbols(plan)) {
  for (std::size_t i = 0; i < plan.guards.size(); ++i) {
    const Guard& g = plan.guards[i];
    Test t{g.kind, g.comparison, g.fact, 0, -1, code_.size(), 0, g.a, g.b, static_cast<int>(i)};
    switch (g.kind) {
      case Guard::Kind::fact:
        if (auto c = g.value.constant())
          t.value = *c;
        else
          t.reg = code_.add(g.value);
        break;
      case Guard::Kind::condition:
        t.reg = code_.add(g.condition);
        break;
      case Guard::Kind::scalar:
        t.value = static_cast<std::int64_t>(g.bits);
        break;
      case Guard::Kind::aligned:
        t.value = g.bytes;
        break;
      case Guard::Kind::disjoint:
      case Guard::Kind::same:
        break;
    }
    t.code_end = code_.size();
    tests_.push_back(t);
  }
}

namespace {

template <class T>
bool compare(Guard::Comparison c, T a, T b) {
  switch (c) {
    case Guard::Comparison::eq:
      return a == b;
    case Guard::Comparison::ne:
      return a != b;
    case Guard::Comparison::lt:
      return a < b;
    case Guard::Comparison::le:
      return a <= b;
    case Guard::Comparison::gt:
      return a > b;
    case Guard::Comparison::ge:
      return a >= b;
  }
  return false;
}

bool disjoint(const Array& a, const Array& b) {
  auto span = [](const Array& x) {
    const auto [lo, hi] = extent_of(x.layout());
    const auto base = reinterpret_cast<std::intptr_t>(x.storage()->data());
    return std::pair(base + lo * byte_size(x.dtype()), base + (hi + 1) * byte_size(x.dtype()));
  };
  const auto [a0, a1] = span(a);
  const auto [b0, b1] = span(b);
  return a0 >= a1 || b0 >= b1 || a1 <= b0 || b1 <= a0;
}

std::string place(const std::string& reason, const SourceLoc& where) {
  if (reason.empty() && !where.known()) return {};
  if (reason.empty()) return fmt::format(" ({})", to_string(where));
  return where.known() ? fmt::format(" ({}, {})", reason, to_string(where)) : fmt::format(" ({})", reason);
}

}  // namespace

bool GuardCheck::passes(const Test& t, const CallArgs& args, std::int64_t* registers) const {
  if (t.code_begin != t.code_end && !code_.run(registers, t.code_begin, t.code_end)) return false;
  const auto a = static_cast<std::size_t>(t.a), b = static_cast<std::size_t>(t.b);
  switch (t.kind) {
    case Guard::Kind::fact:
      return read_fact(t.fact, args) == (t.reg < 0 ? t.value : registers[t.reg]);
    case Guard::Kind::condition:
      return registers[t.reg] != 0;
    case Guard::Kind::scalar: {
      const ScalarValue& s = args.scalars[static_cast<std::size_t>(t.fact.input)];
      const auto limit = static_cast<std::uint64_t>(t.value);
      if (s.dtype == Dtype::f64)
        return compare(t.comparison, std::bit_cast<double>(s.bits), std::bit_cast<double>(limit));
      return compare(t.comparison, static_cast<std::int64_t>(s.bits), t.value);
    }
    case Guard::Kind::aligned:
      return is_aligned(*args.tensors[a], t.value);
    case Guard::Kind::disjoint:
      return disjoint(*args.tensors[a], *args.tensors[b]);
    case Guard::Kind::same:
      return args.tensors[a]->storage() == args.tensors[b]->storage() &&
             args.tensors[a]->offset() == args.tensors[b]->offset();
  }
  return false;
}

bool GuardCheck::inputs_fit(const CallArgs& args, GuardFailure* why) const {
  auto fail = [&](std::string text) {
    *why = {-1, std::move(text)};
    return false;
  };
  if (args.tensors.size() != plan_.inputs.size() || args.scalars.size() != plan_.scalars.size())
    return why ? fail(fmt::format("the call has {} tensors and {} scalars, not {} and {}", args.tensors.size(),
                                  args.scalars.size(), plan_.inputs.size(), plan_.scalars.size()))
               : false;
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    const TensorInput& in = plan_.inputs[i];
    const Array& x = *args.tensors[i];
    if (x.rank() == in.rank && x.dtype() == in.dtype && x.device() == in.device) continue;
    if (!why) return false;
    if (x.dtype() != in.dtype)
      return fail(fmt::format("{}.dtype is {}, not {}", in.name, to_text(x.dtype()), to_text(in.dtype)));
    if (x.rank() != in.rank) return fail(fmt::format("{} has rank {}, not {}", in.name, x.rank(), in.rank));
    return fail(fmt::format("{}.device is {}, not {}", in.name, to_string(x.device()), to_string(in.device)));
  }
  for (std::size_t i = 0; i < plan_.scalars.size(); ++i) {
    if (args.scalars[i].dtype == plan_.scalars[i].dtype) continue;
    return why ? fail(fmt::format("{} is passed as {}, not {}", plan_.scalars[i].name, to_text(args.scalars[i].dtype),
                                  to_text(plan_.scalars[i].dtype)))
               : false;
  }
  return true;
}

bool GuardCheck::bind(const CallArgs& args, std::int64_t* registers, GuardFailure* why) const {
  for (std::size_t i = 0; i < plan_.bindings.size(); ++i) {
    const Binding& b = plan_.bindings[i];
    const symbolic::SymbolInfo& info = b.symbol.info();
    const std::int64_t v = read_fact(b.from, args);
    registers[i] = v;
    if (info.range.contains(v) && (info.multiple_of <= 1 || v % info.multiple_of == 0)) continue;
    if (!why) return false;
    const std::string what = to_text(b.from, plan_);
    const std::string tail = fmt::format(" failed: {} is {}{}", what, v, place(b.reason, b.where));
    if (v < info.range.lo)
      *why = {-1, fmt::format("{} >= {}", what, info.range.lo) + tail};
    else if (v > info.range.hi)
      *why = {-1, fmt::format("{} <= {}", what, info.range.hi) + tail};
    else
      *why = {-1, fmt::format("{} % {} == 0", what, info.multiple_of) + tail};
    return false;
  }
  return true;
}

std::string GuardCheck::describe(const Test& t, const CallArgs& args, const std::int64_t* registers) const {
  const Guard& g = plan_.guards[static_cast<std::size_t>(t.guard)];
  std::string values;
  auto say = [&](const std::string& what) { values += (values.empty() ? "" : ", ") + what; };
  auto say_symbols = [&](const std::vector<symbolic::Expr>& symbols) {
    for (const symbolic::Expr s : symbols)
      for (std::size_t i = 0; i < plan_.bindings.size(); ++i)
        if (plan_.bindings[i].symbol == s) say(fmt::format("{} is {}", s.name(), registers[i]));
  };
  switch (g.kind) {
    case Guard::Kind::fact:
      say(fmt::format("{} is {}", to_text(g.fact, plan_), read_fact(g.fact, args)));
      say_symbols(symbols_of(g.value));
      break;
    case Guard::Kind::condition:
      say_symbols(symbols_of(g.condition));
      break;
    case Guard::Kind::scalar: {
      const auto& s = args.scalars[static_cast<std::size_t>(g.fact.input)];
      say(fmt::format("{} is {}", plan_.scalars[static_cast<std::size_t>(g.fact.input)].name,
                      scalar_text(s.dtype, s.bits)));
      break;
    }
    case Guard::Kind::aligned:
      say(fmt::format("its address is {}", fmt::ptr(args.tensors[static_cast<std::size_t>(t.a)]->data())));
      break;
    case Guard::Kind::disjoint:
      say("they share memory");
      break;
    case Guard::Kind::same:
      say("they start at unlike places");
      break;
  }
  std::string text = to_text(g, plan_);
  if (text.starts_with("where ")) text.erase(0, 6);
  return fmt::format("{} failed{}{}{}", text, values.empty() ? "" : ": ", values, place(g.reason, g.where));
}

bool GuardCheck::run(const CallArgs& args, GuardFailure* why) const {
  if (!inputs_fit(args, why)) return false;
  const std::size_t bytes = code_.initial().size() * sizeof(std::int64_t);
  ThreadScratch scratch(bytes);
  auto* registers = static_cast<std::int64_t*>(scratch.data());
  if (bytes) std::memcpy(registers, code_.initial().data(), bytes);
  if (!bind(args, registers, why)) return false;
  for (const Test& t : tests_) {
    if (passes(t, args, registers)) continue;
    if (why) *why = {t.guard, describe(t, args, registers)};
    return false;
  }
  return true;
}

}  // namespace stax::plan
