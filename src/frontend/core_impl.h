// The state behind a compiled function.
#pragma once
#include <stax/frontend/compiled.h>

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "compile/pipeline.h"
#include "frontend/trace.h"

namespace stax::frontend {

// One artifact of one structure of arguments.
struct Entry {
  std::shared_ptr<const compiler::Artifact> artifact;
  std::shared_ptr<const graph::Graph> graph;
  std::shared_ptr<const void> prototype;
  std::vector<Tensor> captured;  // inputs after the arguments
  std::size_t outputs = 0;
  bool last_resort = false;  // counts on nothing that could fail; slower than those that do
};

// Why no artifact serves a call.
struct Misses {
  std::vector<std::string> texts;
  bool promise_failed = false;  // one would serve it, but for what its kernels count on
};

// All artifacts of calls with equal constants, dtypes, ranks and devices.
struct Group {
  std::vector<std::shared_ptr<const Entry>> entries;  // in the order in which they are asked, after `hot`
  std::atomic<std::size_t> hot{0};                    // the one that served the last call: asked first
  std::vector<std::vector<bool>> dynamic;             // Dynamic::automatic: axes seen to change, by tensor argument
  std::vector<std::vector<std::int64_t>> first_sizes;
  std::string eager_reason;  // not empty: this structure runs uncompiled, and why
};

struct Core::Impl {
  CompileOptions options;
  std::string name;
  compiler::Settings settings;

  mutable std::shared_mutex mutex;  // of the table and the statistics' slow part
  std::map<std::string, Group, std::less<>> groups;
  std::vector<std::shared_ptr<const Entry>> entries;  // all, in the order of their compiles
  std::vector<std::string> recompiles;                // texts for why_recompiled
  double compile_seconds = 0;
  std::mutex compile_mutex;  // one compile at a time

  std::atomic<std::uint64_t> calls{0}, compiles{0}, kernels_built{0}, cache_hits{0}, guard_misses{0}, fallbacks{0};

  static void group_key(const Leaves& leaves, std::string& key);
  std::shared_ptr<const Entry> find(const std::string& key, const Leaves& leaves, Misses* misses,
                                    std::string& eager_reason);
  std::shared_ptr<const Entry> make(const std::string& key, const Leaves& leaves, const Runner& runner,
                                    const Misses& misses);
  bool run(const Entry& entry, const Leaves& leaves, std::vector<Tensor>& outputs) const;
  // The reason why no further artifact may be made, or empty.
  std::string limit_reached(const Group& group) const;
};

// Traces `runner` on stand-ins. Axes of top-level tensors marked dynamic become symbols.
struct TraceResult {
  std::unique_ptr<Trace> trace;
  TracedCall call;
};
TraceResult trace_call(const Leaves& leaves, const Runner& runner, const std::vector<std::vector<bool>>& dynamic,
                       bool fullgraph, const std::string& name);

// The call's tensors and scalars as the plan takes them.
struct FlatArgs {
  boost::container::small_vector<const Array*, 16> tensors;
  boost::container::small_vector<plan::ScalarValue, 4> scalars;
  FlatArgs(const Leaves& leaves, const std::vector<Tensor>& captured);
  plan::CallArgs view() const { return {{tensors.data(), tensors.size()}, {scalars.data(), scalars.size()}}; }
};

}  // namespace stax::frontend
