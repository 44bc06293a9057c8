// A CUDA driver whose device is the host: device memory is host memory, and queued work is done when somebody waits.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

#include "state.h"

namespace fake {

State& state() {
  static auto* s = new State;
  return *s;
}

void enqueue(std::function<void()> work) {
  State& s = state();
  if (s.capture) {
    s.capture->work.push_back(std::move(work));
    return;
  }
  s.queue.emplace_back(s.next_ticket++, std::move(work));
}

void run_until(std::uint64_t ticket) {
  State& s = state();
  while (!s.queue.empty() && s.queue.front().first <= ticket) {
    const auto work = std::move(s.queue.front().second);
    s.queue.pop_front();
    work();
  }
}

bool fails(const char* name, cu::Result& result) {
  FakeCudaSettings& s = state().settings;
  if (std::strcmp(s.fail_function, name) != 0) return false;
  s.fail_function = "";
  result = s.fail_result;
  return true;
}

Function strided_copy(const std::string& name) {
  Function f{name, -1, 32 + 24 * 8, nullptr, {}};
  const std::size_t bytes = std::stoul(name.substr(name.find("_b") + 2)) / 8;
  f.own = [bytes](const std::vector<std::uint64_t>& p) {
    char *to = reinterpret_cast<char*>(p[0]), *from = reinterpret_cast<char*>(p[1]);
    for (std::uint64_t i = 0; i < p[2]; ++i) {
      std::int64_t rest = static_cast<std::int64_t>(i), a = 0, b = 0;
      for (std::size_t d = p[3]; d-- > 0;) {
        const auto size = static_cast<std::int64_t>(p[4 + 3 * d]);
        a += rest % size * static_cast<std::int64_t>(p[4 + 3 * d + 1]);
        b += rest % size * static_cast<std::int64_t>(p[4 + 3 * d + 2]);
        rest /= size;
      }
      std::memcpy(to + b, from + a, bytes);
    }
  };
  return f;
}

}  // namespace fake

using namespace fake;
using cu::Address;
using cu::Result;

#define ENTER(name)                                           \
  State& s = state();                                         \
  const std::lock_guard lock(s.mutex);                        \
  if (Result failed = 0; fails(#name, failed)) return failed; \
  (void)s

// NOLINTBEGIN(readability-identifier-naming): the names of the library
extern "C" {

FakeCudaSettings* fake_cuda_settings() { return &state().settings; }
FakeCudaCounts fake_cuda_counts() {
  FakeCudaCounts c = state().counts;
  c.queued = state().queue.size();
  return c;
}
void fake_cuda_kernel(const char* name, int count, FakeCudaKernel kernel) { state().kernels[name] = {count, kernel}; }
void fake_cuda_reset() {
  State& s = state();
  run_until(s.next_ticket);
  s.settings = {};
  const std::size_t in_use = s.counts.bytes_in_use;
  s.counts = {};
  s.counts.bytes_in_use = in_use;
}

Result cuInit(unsigned) {
  ENTER(cuInit);
  return s.settings.init_result;
}
Result cuDriverGetVersion(int* version) {
  ENTER(cuDriverGetVersion);
  *version = s.settings.driver_version;
  return 0;
}
Result cuGetErrorName(Result error, const char** text) {
  *text = error == cu::kOutOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == cu::kInvalidValue   ? "CUDA_ERROR_INVALID_VALUE"
          : error == cu::kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                         : nullptr;
  return *text ? 0 : cu::kInvalidValue;
}
Result cuGetErrorString(Result error, const char** text) {
  *text = error == cu::kOutOfMemory      ? "out of memory"
          : error == cu::kInvalidValue   ? "invalid argument"
          : error == cu::kIllegalAddress ? "an illegal memory access was encountered"
                                         : nullptr;
  return *text ? 0 : cu::kInvalidValue;
}
Result cuDeviceGetCount(int* count) {
  ENTER(cuDeviceGetCount);
  *count = s.settings.devices;
  return 0;
}
Result cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
Result cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake H200");
  return 0;
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = state().settings.memory_bytes;
  return 0;
}
Result cuDeviceGetAttribute(int* value, int attribute, int) {
  const FakeCudaSettings& t = state().settings;
  *value = attribute == cu::kMultiprocessorCount      ? 132
           : attribute == cu::kL2CacheSize            ? 60 << 20
           : attribute == cu::kCapabilityMajor        ? t.capability_major
           : attribute == cu::kCapabilityMinor        ? t.capability_minor
           : attribute == cu::kMaxSharedPerBlockOptIn ? t.shared_bytes
           : attribute == cu::kMaxThreadsPerBlock     ? 1024
                                                      : 0;
  return 0;
}
Result cuDevicePrimaryCtxRetain(cu::Context* context, int) {
  ENTER(cuDevicePrimaryCtxRetain);
  *context = reinterpret_cast<cu::Context>(std::uintptr_t{64});
  return 0;
}
Result cuDevicePrimaryCtxRelease_v2(int) { return 0; }
Result cuCtxSetCurrent(cu::Context) {
  ENTER(cuCtxSetCurrent);
  ++s.counts.set_currents;
  return 0;
}
Result cuStreamCreate(cu::StreamHandle* stream, unsigned) {
  ENTER(cuStreamCreate);
  *stream = reinterpret_cast<cu::StreamHandle>(std::uintptr_t{128});
  return 0;
}
Result cuStreamDestroy_v2(cu::StreamHandle) { return 0; }
Result cuStreamSynchronize(cu::StreamHandle) {
  ENTER(cuStreamSynchronize);
  ++s.counts.waits;
  run_until(s.next_ticket);
  return 0;
}
Result cuStreamBeginCapture_v2(cu::StreamHandle, int) {
  ENTER(cuStreamBeginCapture_v2);
  s.capture = new Graph;
  return 0;
}
Result cuStreamEndCapture(cu::StreamHandle, cu::GraphHandle* graph) {
  ENTER(cuStreamEndCapture);
  *graph = reinterpret_cast<cu::GraphHandle>(s.capture);
  s.capture = nullptr;
  return 0;
}
Result cuGraphInstantiateWithFlags(cu::GraphExec* exec, cu::GraphHandle graph, unsigned long long) {
  ENTER(cuGraphInstantiateWithFlags);
  *exec = reinterpret_cast<cu::GraphExec>(graph);
  return 0;
}
Result cuGraphLaunch(cu::GraphExec exec, cu::StreamHandle) {
  ENTER(cuGraphLaunch);
  for (const auto& work : reinterpret_cast<Graph*>(exec)->work) enqueue(work);
  return 0;
}
Result cuGraphExecDestroy(cu::GraphExec) { return 0; }
Result cuGraphDestroy(cu::GraphHandle graph) {
  delete reinterpret_cast<Graph*>(graph);
  return 0;
}
Result cuEventCreate(cu::EventHandle* event, unsigned) {
  ENTER(cuEventCreate);
  *event = reinterpret_cast<cu::EventHandle>(new Event);
  return 0;
}
Result cuEventDestroy_v2(cu::EventHandle event) {
  delete reinterpret_cast<Event*>(event);
  return 0;
}
Result cuEventRecord(cu::EventHandle event, cu::StreamHandle) {
  ENTER(cuEventRecord);
  auto* e = reinterpret_cast<Event*>(event);
  e->ticket = s.next_ticket - 1;
  e->at_ms = static_cast<double>(e->ticket);
  return 0;
}
Result cuEventSynchronize(cu::EventHandle event) {
  ENTER(cuEventSynchronize);
  run_until(reinterpret_cast<Event*>(event)->ticket);
  return 0;
}
Result cuEventQuery(cu::EventHandle event) {
  ENTER(cuEventQuery);
  return s.queue.empty() || s.queue.front().first > reinterpret_cast<Event*>(event)->ticket ? 0 : cu::kNotReady;
}
Result cuEventElapsedTime(float* ms, cu::EventHandle begin, cu::EventHandle end) {
  *ms = static_cast<float>(reinterpret_cast<Event*>(end)->at_ms - reinterpret_cast<Event*>(begin)->at_ms);
  return 0;
}
Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  ENTER(cuMemGetInfo_v2);
  *total = s.settings.memory_bytes;
  *free = s.settings.memory_bytes - std::min(s.settings.memory_bytes, s.counts.bytes_in_use);
  return 0;
}
Result cuMemAlloc_v2(Address* address, std::size_t bytes) {
  ENTER(cuMemAlloc_v2);
  if (s.counts.bytes_in_use + bytes > s.settings.memory_bytes) return cu::kOutOfMemory;
  *address = reinterpret_cast<Address>(std::aligned_alloc(512, bytes));
  s.blocks[*address] = bytes;
  s.counts.bytes_in_use += bytes;
  ++s.counts.allocations;
  return 0;
}
Result cuMemFree_v2(Address address) {
  ENTER(cuMemFree_v2);
  run_until(s.next_ticket);
  const auto it = s.blocks.find(address);
  if (it == s.blocks.end()) return cu::kInvalidValue;
  s.counts.bytes_in_use -= it->second;
  ++s.counts.frees;
  s.blocks.erase(it);
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
Result cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  ENTER(cuMemHostAlloc);
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  ++s.counts.host_allocations;
  return 0;
}
Result cuMemFreeHost(void* memory) {
  std::free(memory);
  return 0;
}
Result cuMemHostGetDevicePointer_v2(Address* address, void* memory, unsigned) {
  *address = reinterpret_cast<Address>(memory);
  return 0;
}
Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, cu::StreamHandle) {
  ENTER(cuMemcpyHtoDAsync_v2);
  enqueue([=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
  return 0;
}
Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, cu::StreamHandle) {
  ENTER(cuMemcpyDtoHAsync_v2);
  enqueue([=] { std::memcpy(to, reinterpret_cast<void*>(from), bytes); });
  return 0;
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, cu::StreamHandle) {
  ENTER(cuMemcpyDtoDAsync_v2);
  enqueue([=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); });
  return 0;
}
Result cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, cu::StreamHandle) {
  ENTER(cuMemsetD8Async);
  enqueue([=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
  return 0;
}

Result cuModuleLoadData(cu::ModuleHandle* module, const void* image) {
  ENTER(cuModuleLoadData);
  auto m = std::make_unique<Module>();
  const std::string text = static_cast<const char*>(image);
  if (text.starts_with("fake ")) {
    std::istringstream names(text.substr(5));
    for (std::string name; names >> name;) {
      const auto it = s.kernels.find(name);
      if (it == s.kernels.end()) return cu::kInvalidValue;
      m->functions[name] = {name, it->second.first, 0, it->second.second, {}};
    }
  } else if (text.starts_with(".version")) {
    for (std::size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos; ++at) {
      const std::string name = text.substr(at + 7, text.find('(', at) - at - 7);
      m->functions[name] = strided_copy(name);
    }
  } else {
    return cu::kInvalidValue;
  }
  *module = reinterpret_cast<cu::ModuleHandle>(m.release());
  return 0;
}
Result cuModuleUnload(cu::ModuleHandle module) {
  delete reinterpret_cast<Module*>(module);
  return 0;
}
Result cuModuleGetFunction(cu::FunctionHandle* function, cu::ModuleHandle module, const char* name) {
  ENTER(cuModuleGetFunction);
  auto& functions = reinterpret_cast<Module*>(module)->functions;
  const auto it = functions.find(name);
  if (it == functions.end()) return cu::kInvalidValue;
  *function = reinterpret_cast<cu::FunctionHandle>(&it->second);
  return 0;
}
Result cuFuncGetAttribute(int* value, int attribute, cu::FunctionHandle) {
  const FakeCudaSettings& t = state().settings;
  *value = attribute == cu::kFunctionMaxThreads ? t.function_threads : t.function_static_shared;
  return 0;
}
Result cuFuncSetAttribute(cu::FunctionHandle, int, int) {
  ENTER(cuFuncSetAttribute);
  return 0;
}
Result cuLaunchKernel(cu::FunctionHandle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz, unsigned shared, cu::StreamHandle, void** parameters, void**) {
  ENTER(cuLaunchKernel);
  ++s.counts.launches;
  const Function f = *reinterpret_cast<Function*>(function);
  std::vector<std::uint64_t> values;
  if (f.parameters < 0) {
    values.resize(f.block_bytes / 8);
    std::memcpy(values.data(), parameters[0], f.block_bytes);
  } else {
    for (int i = 0; i < f.parameters; ++i) {
      std::uint64_t v = 0;
      std::memcpy(&v, parameters[i], 8);
      values.push_back(v);
    }
  }
  enqueue([=] {
    if (f.own) return f.own(values);
    const FakeCudaLaunch launch{f.name.c_str(), {gx, gy, gz}, {bx, by, bz}, shared, values.data(), f.parameters};
    f.kernel(launch);
  });
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
