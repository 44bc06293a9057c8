// What tests ask of the stand-in for the CUDA driver. Resolve the symbols in the opened library.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {

// Of every later query and call.
struct FakeCudaSettings {
  int driver_version = 13000;
  int devices = 1;
  int capability_major = 9, capability_minor = 0;
  int init_result = 0;
  std::size_t memory_bytes = std::size_t{256} << 20;  // of the card
  int shared_bytes = 227 << 10;
  int function_threads = 1024;  // most threads of any function
  int function_static_shared = 0;
  const char* fail_function = "";  // name of the driver function that fails next
  int fail_result = 0;
};
// Queued work is done only when somebody waits for it, as late as the driver allows.
struct FakeCudaCounts {
  std::uint64_t allocations, frees, launches, host_allocations, waits, set_currents, matmuls, heuristics;
  std::size_t bytes_in_use;
  std::uint64_t queued;  // operations that have not been done yet
};
// One launch, as the kernel sees it when it runs: `parameters` holds 8 bytes of each parameter, or one block.
struct FakeCudaLaunch {
  const char* name;
  unsigned grid[3], block[3], shared;
  const std::uint64_t* parameters;
  int count;
};
using FakeCudaKernel = void (*)(const FakeCudaLaunch& launch);

FakeCudaSettings* fake_cuda_settings();
FakeCudaCounts fake_cuda_counts();
// Modules are texts "fake NAME…"; launching NAME runs the function on `count` parameters.
void fake_cuda_kernel(const char* name, int count, FakeCudaKernel kernel);
void fake_cuda_reset();  // settings and counts
}
