#include "runtime/cpu/onednn_weights.h"

#include "base/hash.h"

namespace stax::runtime::onednn {

std::size_t PackedWeights::Hash::operator()(const Key& k) const noexcept {
  std::uint64_t h = k.storage;
  for (const std::int64_t v : {k.offset, k.k, k.n, k.rows, k.columns, k.dtype})
    h = base::hash_combine(h, static_cast<std::uint64_t>(v));
  return h;
}

PackedWeights& PackedWeights::instance() {
  static auto* weights = new PackedWeights;
  return *weights;
}

PackedWeights::PackedWeights() {
  Storage::set_death_hook([](std::uint64_t id) { instance().forget(id); });
}

std::shared_ptr<PackedWeight> PackedWeights::get(const MatmulProblem& p) {
  Storage& storage = **p.weight;
  if (!storage.version_trusted()) return nullptr;
  const std::uint64_t version = storage.version();
  const Key key{storage.id(),
                static_cast<char*>(p.b.data) - static_cast<char*>(storage.data()),
                p.k,
                p.n,
                p.b.rows,
                p.b.columns,
                static_cast<std::int64_t>(p.dtype)};
  {
    const std::lock_guard lock(mutex_);
    if (auto* found = weights_.find(key); found && (*found)->version == version) {
      ++hits_;
      return *found;
    }
  }
  // Two threads may pack the same weight at once; the later one stays.
  const dnnl::memory::desc plain = plain_layout(p.dtype, p.k, p.n, p.b), layout = packed_layout(p.dtype, p.k, p.n);
  if (layout == plain) return nullptr;
  storage.watch();
  auto weight = std::make_shared<PackedWeight>();
  weight->version = version;
  weight->size = layout.get_size();
  weight->bytes = Scratch::huge(weight->size);
  weight->memory = dnnl::memory(layout, engine(), weight->bytes.data());
  weight->panels =
      layout == dnnl::memory::desc({p.k, p.n}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::BA16a64b);
  dnnl::memory from(plain, engine(), p.b.data);
  dnnl::reorder pack;
  {
    const std::lock_guard lock(creation_mutex());
    pack = dnnl::reorder(from, weight->memory);
  }
  pack.execute(stream(), from, weight->memory);
  stream().wait();

  const std::lock_guard lock(mutex_);
  if (auto* old = weights_.find(key)) bytes_ -= (*old)->size;
  weights_.insert(key, weight);
  bytes_ += weight->size;
  ++packed_;
  shrink();
  return weight;
}

void PackedWeights::shrink() {
  while (bytes_ > limit_ && weights_.size() > 1) {
    bytes_ -= weights_.oldest().second->size;
    weights_.erase(Key(weights_.oldest().first));
  }
}

void PackedWeights::forget(std::uint64_t storage_id) {
  const std::lock_guard lock(mutex_);
  weights_.erase_if([&](const Key& key, const auto& weight) {
    if (key.storage != storage_id) return false;
    bytes_ -= weight->size;
    return true;
  });
}

void PackedWeights::clear() {
  const std::lock_guard lock(mutex_);
  weights_.erase_if([](const auto&, const auto&) { return true; });
  bytes_ = 0;
}

void PackedWeights::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
  shrink();
}

void PackedWeights::add_stats(MatmulStats& stats) const {
  const std::lock_guard lock(mutex_);
  stats.packed = packed_;
  stats.packed_hits = hits_;
  stats.packed_bytes = bytes_;
  stats.packed_weights = weights_.size();
}

}  // namespace stax::runtime::onednn
