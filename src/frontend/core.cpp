#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "build/cpp_compiler.h"
#include "frontend/core_impl.h"
#include "plan/facts.h"

namespace stax::frontend {

namespace {
// Artifacts of one structure of arguments that differ in what their kernels count on, beyond the first.
constexpr int kMostVariants = 3;
}  // namespace

FlatArgs::FlatArgs(const Leaves& leaves, const std::vector<Tensor>& captured) {
  for (const Tensor* t : leaves.tensors)
    if (t->defined()) tensors.push_back(&t->impl()->array);
  for (const Tensor& t : captured) tensors.push_back(&t.impl()->array);
  for (const Scalar* s : leaves.scalars) {
    if (s->kind() == Scalar::Kind::dim)
      scalars.push_back(plan::ScalarValue::of(s->dim().value(std::source_location{})));
    else if (s->kind() == Scalar::Kind::floating)
      scalars.push_back(plan::ScalarValue::of(s->floating()));
    else if (s->kind() == Scalar::Kind::boolean)
      scalars.push_back(plan::ScalarValue::of(s->integer() != 0));
    else
      scalars.push_back(plan::ScalarValue::of(s->integer()));
  }
}

// Constants, then what every plan takes for granted: dtype, rank, device of the tensors, kinds of the scalars.
void Core::Impl::group_key(const Leaves& leaves, std::string& key) {
  key = leaves.key;
  for (const Tensor* t : leaves.tensors) {
    if (!t->defined()) {
      key += '-';
      continue;
    }
    const Array& a = t->impl()->array;
    const Device d = a.device();
    const char bytes[] = {'t', static_cast<char>(a.dtype()), static_cast<char>(a.rank()), static_cast<char>(d.kind),
                          static_cast<char>(d.index)};
    key.append(bytes, sizeof(bytes));
  }
  for (const Scalar* s : leaves.scalars) {
    const char bytes[] = {'s', static_cast<char>(s->kind())};
    key.append(bytes, sizeof(bytes));
  }
}

std::shared_ptr<const Entry> Core::Impl::find(const std::string& key, const Leaves& leaves, Misses* misses,
                                              std::string& eager_reason) {
  std::shared_lock lock(mutex);
  auto it = groups.find(key);
  if (it == groups.end()) return nullptr;
  eager_reason = it->second.eager_reason;
  Group& group = it->second;
  const std::size_t hot = group.hot.load(std::memory_order_relaxed);
  for (std::size_t asked = 0; asked < group.entries.size(); ++asked) {
    const std::size_t i = asked == 0 ? hot : asked <= hot ? asked - 1 : asked;
    const std::shared_ptr<const Entry>& entry = group.entries[i];
    const FlatArgs args(leaves, entry->captured);
    plan::GuardFailure why;
    const plan::Executable& executable = entry->artifact->executable;
    if (executable.check(args.view(), misses ? &why : nullptr)) {
      if (i != hot && entry->promises == group.entries.front()->promises) group.hot.store(i, std::memory_order_relaxed);
      return entry;
    }
    ++guard_misses;
    if (!misses) continue;
    const auto number = std::ranges::find(entries, entry) - entries.begin();
    misses->texts.push_back(fmt::format("artifact {}: {}", number, why.text));
    if (why.guard >= 0) misses->promise_failed |= executable.plan().guards[static_cast<std::size_t>(why.guard)].promise;
  }
  return nullptr;
}

bool Core::Impl::run(const Entry& entry, const Leaves& leaves, std::vector<Tensor>& outputs) const {
  const FlatArgs args(leaves, entry.captured);
  boost::container::small_vector<Array, 4> arrays(entry.outputs);
  entry.artifact->executable.run(args.view(), {arrays.data(), arrays.size()});
  outputs.reserve(arrays.size());
  for (Array& a : arrays) outputs.emplace_back(std::move(a));
  return true;
}

std::string Core::Impl::limit_reached(const Group& group) const {
  if (static_cast<int>(group.entries.size()) >= options.max_artifacts)
    return fmt::format("{} artifacts exist for this structure of arguments: the limit max_artifacts = {} is reached",
                       group.entries.size(), options.max_artifacts);
  if (static_cast<int>(entries.size()) >= options.max_compiles)
    return fmt::format("{} compiles were made: the limit max_compiles = {} is reached", entries.size(),
                       options.max_compiles);
  if (options.compile_budget > 0 && compile_seconds >= options.compile_budget)
    return fmt::format("{:.2f} s were spent on compiles: the limit compile_budget = {} s is reached", compile_seconds,
                       options.compile_budget);
  return {};
}

namespace {

// Which axes of the arguments become symbols in the next compile.
std::vector<std::vector<bool>> dynamic_axes(const CompileOptions& options, Group& group, const Leaves& leaves) {
  std::vector<std::vector<bool>> axes(leaves.tensors.size());
  std::vector<std::vector<std::int64_t>> sizes(leaves.tensors.size());
  for (std::size_t i = 0; i < leaves.tensors.size(); ++i) {
    if (!leaves.tensors[i]->defined()) continue;
    const Array& a = leaves.tensors[i]->impl()->array;
    sizes[i].assign(a.sizes().begin(), a.sizes().end());
    axes[i].assign(a.sizes().size(), options.dynamic == Dynamic::yes && !leaves.nested[i]);
  }
  if (options.dynamic != Dynamic::automatic) return axes;
  if (group.first_sizes.empty()) {
    group.first_sizes = sizes;
    group.dynamic = axes;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::size_t d = 0; d < sizes[i].size(); ++d)
      if (sizes[i][d] != group.first_sizes[i][d]) group.dynamic[i][d] = true;
  return group.dynamic;
}

void check_device(const CompileOptions& options, const Leaves& leaves) {
  if (options.device.empty()) return;
  const Device wanted = parse_device(options.device);
  for (std::size_t i = 0; i < leaves.tensors.size(); ++i)
    if (leaves.tensors[i]->defined() && leaves.tensors[i]->device() != wanted)
      throw UserError(fmt::format("tensor argument {} is on {}, the compiled function takes {}", i,
                                  to_string(leaves.tensors[i]->device()), options.device),
                      {}, "Move it with .to(device)");
}

}  // namespace

namespace {

// Whether two arrays share a byte.
bool overlap(const Array& a, const Array& b) {
  if (a.numel() == 0 || b.numel() == 0) return false;
  auto bytes = [](const Array& x) {
    const auto [low, high] = extent_of(x.layout());
    const char* base = static_cast<const char*>(x.storage()->data());
    const std::int64_t size = byte_size(x.dtype());
    return std::pair{base + low * size, base + (high + 1) * size};
  };
  const auto [a_begin, a_end] = bytes(a);
  const auto [b_begin, b_end] = bytes(b);
  return a_begin < b_end && b_begin < a_end;
}

// A written input may share no memory with another: guards that say so. Returns the positions of two that do in this
// call.
std::optional<std::pair<int, int>> aliasing_guards(const graph::Graph& g, const FlatArgs& args,
                                                   std::vector<plan::Guard>& guards) {
  std::vector<int> tensor_position;  // by graph input; -1 for scalars
  int next = 0;
  for (const graph::Value& v : g.inputs) tensor_position.push_back(v.type().scalar ? -1 : next++);
  for (const graph::Mutation& m : g.mutations) {
    const int written = tensor_position[static_cast<std::size_t>(m.input)];
    for (int other = 0; other < next; ++other) {
      if (other == written) continue;
      if (overlap(*args.tensors[static_cast<std::size_t>(written)], *args.tensors[static_cast<std::size_t>(other)]))
        return std::pair{written, other};
      guards.push_back(plan::Guard::pointers(plan::Guard::Kind::disjoint, written, other,
                                             "the function writes to one of them", m.value.node->where));
    }
  }
  return std::nullopt;
}

std::vector<int> unaligned_tensors(const FlatArgs& args) {
  std::vector<int> unaligned;
  for (std::size_t i = 0; i < args.tensors.size(); ++i)
    if (!plan::is_aligned(*args.tensors[i], 16)) unaligned.push_back(static_cast<int>(i));
  return unaligned;
}

}  // namespace

std::shared_ptr<const Entry> Core::Impl::make(const std::string& key, const Leaves& leaves, const Runner& runner,
                                              const Misses& misses) {
  std::vector<std::vector<bool>> dynamic;
  bool may_promise = true;
  {
    std::unique_lock lock(mutex);
    Group& group = groups[key];
    // What fails once too often is not tried again, and the last artifact that the limit allows must serve all calls.
    may_promise = !(misses.promise_failed && group.variants >= kMostVariants) &&
                  static_cast<int>(group.entries.size()) + 1 < options.max_artifacts;
    if (std::string limit = limit_reached(group); !limit.empty()) {
      if (options.fullgraph)
        throw UserError("compile: " + limit, {},
                        "Raise the limit, use Dynamic::yes, or leave out fullgraph to run such calls uncompiled");
      if (base::log_enabled(base::LogLevel::info))
        base::log(base::LogLevel::info, limit + "; this call runs uncompiled");
      return nullptr;
    }
    dynamic = dynamic_axes(options, group, leaves);
  }
  compiler::Session& session = compiler::Session::of(settings.cache_dir);
  const auto begin = std::chrono::steady_clock::now();
  auto entry = std::make_shared<Entry>();
  try {
    TraceResult traced = trace_call(leaves, runner, dynamic, options.fullgraph, name);
    entry->graph = traced.trace->shared_graph();
    entry->prototype = traced.call.prototype;
    entry->captured = traced.trace->captured();
    entry->outputs = traced.call.results.size();
    std::vector<plan::Guard> extra = traced.trace->scalar_guards();
    if (const auto pair = aliasing_guards(*entry->graph, FlatArgs(leaves, entry->captured), extra)) {
      const std::string problem = fmt::format(
          "compile: the function writes to tensor {}, which shares memory with tensor {}", pair->first, pair->second);
      if (options.fullgraph)
        throw UserError(problem, {}, "Pass a clone(), or leave out fullgraph to run such calls uncompiled");
      if (base::log_enabled(base::LogLevel::info))
        base::log(base::LogLevel::info, problem + "; this call runs uncompiled");
      return nullptr;
    }
    const Device device = compiler::device_of(*entry->graph);
    compiler::CallFacts call{std::move(extra), {}};
    const FlatArgs args(leaves, entry->captured);
    if (device.kind != DeviceKind::cpu) call.unaligned = unaligned_tensors(args);
    compiler::Settings chosen = settings;
    chosen.promises = may_promise;
    chosen.row_bounds = entry->row_bounds = misses.slow ? misses.slow->row_bounds : !misses.promise_failed;
    entry->artifact = compiler::compile_graph(*entry->graph, chosen, session, call);
    for (const plan::Guard& g : entry->artifact->executable.plan().guards) entry->promises += g.promise;
    plan::GuardFailure why;
    if (device.kind != DeviceKind::cpu && !entry->artifact->executable.check(args.view(), &why))
      throw InternalError(
          fmt::format("{}: the artifact does not serve the call that it was made for: {}", name, why.text));
  } catch (const build::CompilerError& e) {
    if (options.strict_native || options.fullgraph) throw;
    session.warn_once(
        fmt::format("{}; what needs it runs uncompiled, unless strict_native or fullgraph forbids it", e.what()));
    std::unique_lock lock(mutex);
    groups[key].eager_reason = e.what();
    return nullptr;
  } catch (const GraphBreak& b) {
    std::unique_lock lock(mutex);
    groups[key].eager_reason = b.reason + (b.where.known() ? " at " + to_string(b.where) : "");
    return nullptr;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  ++compiles;
  kernels_built += entry->artifact->kernels_built;
  cache_hits += entry->artifact->cache_hits;
  std::unique_lock lock(mutex);
  compile_seconds += seconds.count();
  if (!misses.texts.empty())
    recompiles.push_back(fmt::format("compile {}: {}", entries.size() + 1, fmt::join(misses.texts, "; ")));
  entries.push_back(entry);
  Group& group = groups[key];
  group.variants += misses.promise_failed || misses.slow;
  const auto place = std::ranges::find_if(group.entries, [&](const auto& e) { return e->promises <= entry->promises; });
  const bool first = place == group.entries.begin();
  group.entries.insert(place, entry);
  if (first) group.hot = 0;
  return entry;
}

std::shared_ptr<const Entry> Core::Impl::improved(const std::string& key, const Leaves& leaves, const Runner& runner,
                                                  std::shared_ptr<const Entry> entry) {
  const std::unique_lock one_at_a_time(compile_mutex, std::try_to_lock);
  if (!one_at_a_time.owns_lock()) return entry;  // a thread compiles; this call is served
  Misses misses;
  misses.slow = entry.get();
  {
    std::shared_lock lock(mutex);
    const Group& group = groups.find(key)->second;
    for (const auto& other : group.entries) {  // made meanwhile
      const FlatArgs args(leaves, other->captured);
      if (other != entry && other->artifact->executable.check(args.view()) && !other->could_be_better(args.view()))
        return other;
    }
    // One artifact more may be needed, that serves everything.
    if (group.variants >= kMostVariants || static_cast<int>(group.entries.size()) + 2 > options.max_artifacts ||
        !limit_reached(group).empty()) {
      entry->settled.store(true, std::memory_order_relaxed);
      return entry;
    }
    const auto position = std::ranges::find(entries, entry) - entries.begin();
    const FlatArgs args(leaves, entry->captured);
    misses.texts.push_back(fmt::format("artifact {} serves the call, but its kernels do not count on {}", position,
                                       fmt::join(entry->artifact->wishes->texts_met_by(args.view()), ", ")));
  }
  std::shared_ptr<const Entry> better = make(key, leaves, runner, misses);
  return better ? better : entry;
}

Core::Core(CompileOptions options, std::string name) : impl_(std::make_unique<Impl>()) {
  impl_->options = with_environment(std::move(options));
  impl_->name = std::move(name);
  impl_->settings.strict_numerics = impl_->options.numerics == Numerics::strict;
  impl_->settings.index_checks = impl_->options.checks;
  impl_->settings.cache_dir = impl_->options.cache_dir;
}
Core::~Core() = default;

std::shared_ptr<const void> Core::call(const Leaves& leaves, const Runner& runner, std::vector<Tensor>& outputs) {
  Impl& s = *impl_;
  if (Trace::current()) return nullptr;  // inside another trace the function is inlined
  ++s.calls;
  check_device(s.options, leaves);
  thread_local std::string key;
  Impl::group_key(leaves, key);
  std::string eager_reason;
  std::shared_ptr<const Entry> entry = s.find(key, leaves, nullptr, eager_reason);
  if (entry && entry->could_be_better(FlatArgs(leaves, entry->captured).view())) [[unlikely]]
    entry = s.improved(std::string(key), leaves, runner, std::move(entry));
  if (!entry && eager_reason.empty()) {
    const std::string own_key = key;  // tracing may call other compiled functions
    std::lock_guard one_at_a_time(s.compile_mutex);
    Misses misses;
    entry = s.find(own_key, leaves, &misses, eager_reason);
    if (!entry && eager_reason.empty()) entry = s.make(own_key, leaves, runner, misses);
  }
  if (!entry) {
    ++s.fallbacks;
    return nullptr;
  }
  s.run(*entry, leaves, outputs);
  return entry->prototype;
}

CompiledStats Core::stats() const {
  const Impl& s = *impl_;
  return {s.calls, s.compiles, s.kernels_built, s.cache_hits, s.guard_misses, s.fallbacks};
}

}  // namespace stax::frontend
