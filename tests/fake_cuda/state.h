// Shared by the parts of the stand-in.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "control.h"
#include "runtime/cuda/driver_api.h"

namespace fake {

namespace cu = stax::runtime::cu;

struct Event {
  std::uint64_t ticket = 0;  // of the stream's work before it
  double at_ms = 0;
};
struct Graph {
  std::vector<std::function<void()>> work;
};
struct Function {
  std::string name;
  int parameters = -1;  // -1: one block of `block_bytes`
  std::size_t block_bytes = 0;
  FakeCudaKernel kernel = nullptr;
  std::function<void(const std::vector<std::uint64_t>&)> own;
};
struct Module {
  std::map<std::string, Function> functions;
};

// All streams are one queue.
struct State {
  std::recursive_mutex mutex;
  FakeCudaSettings settings;
  FakeCudaCounts counts{};
  std::deque<std::pair<std::uint64_t, std::function<void()>>> queue;
  std::uint64_t next_ticket = 1;
  Graph* capture = nullptr;
  std::map<cu::Address, std::size_t> blocks;
  std::map<std::string, std::pair<int, FakeCudaKernel>> kernels;
};
State& state();
void enqueue(std::function<void()> work);
void run_until(std::uint64_t ticket);

// Whether the function of this name is to fail now; once.
bool fails(const char* name, cu::Result& result);

// The strided copy of src/runtime/cuda/strided_copy.cpp, on the host.
Function strided_copy(const std::string& name);

}  // namespace fake
