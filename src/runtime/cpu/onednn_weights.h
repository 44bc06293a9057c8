// Weights in the library's layout, kept under (storage, view) for one version. Includes dnnl: for onednn_*.cpp only.
#pragma once
#include <atomic>
#include <dnnl.hpp>
#include <memory>
#include <mutex>

#include "runtime/cpu/lru_map.h"
#include "runtime/cpu/matmul.h"
#include "runtime/cpu/onednn_primitive.h"

namespace stax::runtime::onednn {

struct PackedWeight {
  // A weight's bytes and sizes as three words that threads may write and read at once: a hint, of which parts may be of
  // different weights.
  struct Place {
    std::atomic<const void*> data = nullptr;
    std::atomic<std::int64_t> k = 0, n = 0;
    void set(const void* bytes, std::int64_t rows, std::int64_t columns) {
      data.store(bytes, std::memory_order_relaxed);
      k.store(rows, std::memory_order_relaxed);
      n.store(columns, std::memory_order_relaxed);
    }
  };

  Scratch bytes;
  dnnl::memory memory;
  std::size_t size = 0;
  std::uint64_t version = 0;
  bool panels = false;  // float32, the columns in panels of 64
  Place next;           // the weight that was used after this one
};

// Thread-safe.
class PackedWeights {
 public:
  static PackedWeights& instance();  // never destroyed

  // The packed form of p.b, whose storage is *p.weight; packs it when it is not kept for this version. Null when the
  // storage's version is not trusted or when the library has no layout of its own for it.
  std::shared_ptr<PackedWeight> get(const MatmulProblem& p);

  void forget(std::uint64_t storage_id);
  void clear();
  void set_limit(std::size_t bytes);
  void add_stats(MatmulStats& stats) const;

 private:
  struct Key {
    std::uint64_t storage;
    std::int64_t offset, k, n, rows, columns, dtype;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const noexcept;
  };
  PackedWeights();
  void shrink();

  mutable std::mutex mutex_;
  LruMap<Key, std::shared_ptr<PackedWeight>, Hash> weights_;
  std::size_t bytes_ = 0, limit_ = std::size_t{4} << 30;
  std::uint64_t packed_ = 0, hits_ = 0;
};

}  // namespace stax::runtime::onednn
