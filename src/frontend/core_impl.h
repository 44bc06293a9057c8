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
  int promises = 0;        // guards that another artifact might do without; more make faster code
  bool row_bounds = true;  // rows that stay short may be among them
  // Whether nothing better will be made for calls that it serves.
  mutable std::atomic<bool> settled{false};

  // The call meets what the code could count on and does not.
  bool could_be_better(const plan::CallArgs& args) const {
    return artifact->wishes && !settled.load(std::memory_order_relaxed) && artifact->wishes->met_by(args);
  }
};

// Why no artifact serves a call.
struct Misses {
  std::vector<std::string> texts;
  bool promise_failed = false;  // one would serve it, but for what its kernels count on
  const Entry* slow = nullptr;  // one serves it, without counting on what the call meets
};

// All artifacts of calls with equal constants, dtypes, ranks and devices.
struct Group {
  // In the order in which they are asked, after `hot`: by number of promises, new ones first.
  std::vector<std::shared_ptr<const Entry>> entries;
  std::atomic<std::size_t> hot{0};  // of those with most promises, the one that served last: asked first
  int variants = 0;                 // entries that were made for calls that others serve, or would but for a promise
  std::vector<std::vector<bool>> dynamic;  // Dynamic::automatic: axes seen to change, by tensor argument
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
  // An entry that counts on more than `entry`, which serves the call; `entry` when there can be none.
  std::shared_ptr<const Entry> improved(const std::string& key, const Leaves& leaves, const Runner& runner,
                                        std::shared_ptr<const Entry> entry);
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
