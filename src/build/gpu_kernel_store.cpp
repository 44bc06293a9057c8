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

GpuKernel GpuKernelStore::find_live(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(key);
  return it == live_.end() ? GpuKernel{} : GpuKernel{it->second.module.lock(), it->second.resources};
}

std::vector<GpuKernel> GpuKernelStore::build_or_load_all(std::span<const TritonJob> jobs, Device device,
                                                         KernelStoreStats* mine) {
  KernelStoreStats counts;
  std::vector<GpuKernel> kernels(jobs.size());
  std::vector<Key> keys;
  std::vector<TritonJob> missing;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    kernels[i] = find_live(keys.emplace_back(compiler_.key(jobs[i]), number_of(device)));
    if (kernels[i].module) {
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
    const Key& key = keys[positions[m]];
    GpuKernel& kernel = kernels[positions[m]];
    kernel = find_live(key);
    if (kernel.module) continue;  // an equal job, or another thread
    kernel.resources = binaries[m];
    kernel.module = load(missing[m], std::move(binaries[m]), device);
    const std::lock_guard lock(mutex_);
    live_[key] = {kernel.module, kernel.resources};
  }
  const std::lock_guard lock(mutex_);
  stats_.built += counts.built, stats_.disk_hits += counts.disk_hits, stats_.live_hits += counts.live_hits;
  if (mine) *mine = counts;
  return kernels;
}

void GpuKernelStore::warm_up() {
  std::call_once(warmed_up_, [this] { compiler_.warm_up(); });
}

KernelStoreStats GpuKernelStore::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace stax::build
