#include "build/kernel_store.h"

#include "build/build_id.h"
#include "cache/store.h"
#include "runtime/device_runtime.h"

namespace stax::build {

namespace {

std::shared_ptr<runtime::Module> load(const CppJob& job, std::string bytes, const std::string& isa) {
  return runtime::runtime_for(Device{}).load_module({job.name, std::move(bytes), isa});
}

}  // namespace

base::Digest KernelStore::key(const CppJob& job) const {
  base::KeyBuilder key;
  key.add("kind", "cpu kernel object").add("stax", build_id()).add("compiler", compiler_.identity());
  key.add("isa", compiler_.target().isa).add("vector", compiler_.target().vector_bytes);
  for (const std::string& f : compiler_.flags()) key.add("flag", f);
  key.add("source", job.source);
  return key.finish();
}

std::shared_ptr<runtime::Module> KernelStore::build_or_load(const CppJob& job) {
  return build_or_load_all(std::span(&job, 1)).front();
}

std::shared_ptr<runtime::Module> KernelStore::find(const base::Digest& key, const CppJob& job, KernelStoreStats& mine) {
  {
    const std::lock_guard lock(mutex_);
    if (auto it = live_.find(key); it != live_.end())
      if (auto module = it->second.lock()) {
        ++stats_.live_hits;
        ++mine.live_hits;
        return module;
      }
  }
  if (!disk_) return nullptr;
  const auto entry = disk_->get(key);
  const auto object = entry ? entry->find("object") : std::nullopt;
  if (!object) return nullptr;
  auto module = load(job, std::string(*object), compiler_.target().isa);
  const std::lock_guard lock(mutex_);
  ++stats_.disk_hits;
  ++mine.disk_hits;
  live_[key] = module;
  return module;
}

std::vector<std::shared_ptr<runtime::Module>> KernelStore::build_or_load_all(std::span<const CppJob> jobs,
                                                                             KernelStoreStats* mine) {
  KernelStoreStats unused;
  KernelStoreStats& counts = mine ? *mine : unused;
  std::vector<base::Digest> keys;
  std::map<base::Digest, std::shared_ptr<runtime::Module>> found;
  std::vector<CppJob> missing;
  std::vector<base::Digest> missing_keys;
  for (const CppJob& job : jobs) {
    const base::Digest k = keys.emplace_back(key(job));
    const auto [it, first] = found.try_emplace(k);
    if (!first) continue;
    it->second = find(k, job, counts);
    if (it->second) continue;
    missing.push_back(job);
    missing_keys.push_back(k);
  }
  const std::vector<std::string> objects = compiler_.compile_all(missing);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (disk_) {
      const cache::Blob blob{"object", objects[i]};
      disk_->put(missing_keys[i], std::span(&blob, 1));
    }
    auto module = load(missing[i], objects[i], compiler_.target().isa);
    found[missing_keys[i]] = module;
    const std::lock_guard lock(mutex_);
    ++stats_.built;
    ++counts.built;
    live_[missing_keys[i]] = module;
  }
  std::vector<std::shared_ptr<runtime::Module>> modules;
  for (const base::Digest& k : keys) modules.push_back(found.at(k));
  return modules;
}

std::string KernelStore::object_of(const CppJob& job) {
  const base::Digest k = key(job);
  if (disk_)
    if (const auto entry = disk_->get(k))
      if (const auto object = entry->find("object")) return std::string(*object);
  std::string object = compiler_.compile(job);
  if (disk_) {
    const cache::Blob blob{"object", object};
    disk_->put(k, std::span(&blob, 1));
  }
  const std::lock_guard lock(mutex_);
  ++stats_.built;
  return object;
}

KernelStoreStats KernelStore::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace stax::build
