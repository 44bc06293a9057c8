#include "build/gpu_kernel_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/device_runtime.h"

namespace stax::build {

namespace {

std::shared_ptr<runtime::Module> load(const TritonJob& job, TritonBinary binary, Device device) {
  STAX_CHECK(binary.scratch == 0,
             fmt::format("kernel {} asks for {} bytes of global memory a program", job.name, binary.scratch));
  runtime::DeviceRuntime& runtime = runtime::runtime_for(device);
  const bool reports =
      std::ranges::any_of(job.parameters, [](const TritonJob::Parameter& p) { return p.name == "error"; });
  return runtime.load_module({job.name,
                              std::move(binary.cubin),
                              runtime.isa(),
                              {{binary.function, 32 * binary.warps, binary.shared, reports}}});
}

int number_of(Device d) { return static_cast<int>(d.kind) * 1000 + d.index; }

}  // namespace

std::vector<std::shared_ptr<runtime::Module>> GpuKernelStore::build_or_load_all(std::span<const TritonJob> jobs,
                                                                                Device device, KernelStoreStats* mine) {
  KernelStoreStats counts;
  std::vector<std::shared_ptr<runtime::Module>> modules(jobs.size());
  std::vector<base::Digest> keys;
  std::vector<TritonJob> missing;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const base::Digest& key = keys.emplace_back(compiler_.key(jobs[i]));
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = live_.find({key, number_of(device)}); it != live_.end()) modules[i] = it->second.lock();
    }
    if (modules[i]) {
      ++counts.live_hits;
      continue;
    }
    missing.push_back(jobs[i]);
    positions.push_back(i);
  }
  TritonStats compiled;
  std::vector<TritonBinary> binaries = compiler_.compile_all(missing, &compiled);
  counts.built += compiled.built;
  counts.disk_hits += compiled.disk_hits;
  for (std::size_t m = 0; m < missing.size(); ++m) {
    const std::pair key{keys[positions[m]], number_of(device)};
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = live_.find(key); it != live_.end()) modules[positions[m]] = it->second.lock();
    }
    if (modules[positions[m]]) continue;  // an equal job, or another thread
    modules[positions[m]] = load(missing[m], std::move(binaries[m]), device);
    const std::lock_guard lock(mutex_);
    live_[key] = modules[positions[m]];
  }
  const std::lock_guard lock(mutex_);
  stats_.built += counts.built, stats_.disk_hits += counts.disk_hits, stats_.live_hits += counts.live_hits;
  if (mine) *mine = counts;
  return modules;
}

void GpuKernelStore::warm_up() {
  std::call_once(warmed_up_, [this] { compiler_.warm_up(); });
}

KernelStoreStats GpuKernelStore::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace stax::build
