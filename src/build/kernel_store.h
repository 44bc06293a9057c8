// Kernels by content: loaded already, on disk, or compiled now.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "build/cpp_compiler.h"
#include "runtime/module.h"

namespace stax::cache {
class Store;
}

namespace stax::build {

struct KernelStoreStats {
  std::uint64_t built = 0;      // compiler runs
  std::uint64_t disk_hits = 0;  // loaded from the disk cache
  std::uint64_t live_hits = 0;  // loaded already
};

// Which module a key has. Two sources of equal text are one module. Thread-safe.
class KernelStore {
 public:
  // `disk` may be null; it must outlive the store.
  KernelStore(const CppCompiler& compiler, cache::Store* disk) : compiler_(compiler), disk_(disk) {}

  // Over source, compiler, flags, instruction set and Stax's build.
  base::Digest key(const CppJob& job) const;
  std::shared_ptr<runtime::Module> build_or_load(const CppJob& job);
  // The missing ones are compiled in parallel, each text once.
  // `mine`, when given, is what this call added to the statistics.
  std::vector<std::shared_ptr<runtime::Module>> build_or_load_all(std::span<const CppJob> jobs,
                                                                  KernelStoreStats* mine = nullptr);
  // The bytes behind a module, for packages: from disk or compiled.
  std::string object_of(const CppJob& job);
  KernelStoreStats stats() const;

 private:
  // Loaded already or on disk; else null.
  std::shared_ptr<runtime::Module> find(const base::Digest& key, const CppJob& job, KernelStoreStats& mine);

  const CppCompiler& compiler_;
  cache::Store* disk_;
  mutable std::mutex mutex_;
  std::map<base::Digest, std::weak_ptr<runtime::Module>> live_;
  KernelStoreStats stats_;
};

}  // namespace stax::build
