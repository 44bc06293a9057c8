// The posix_spawn underneath run_process and WorkerProcess.
#pragma once
#include <utility>
#include <vector>

#include "base/subprocess.h"

namespace stax::base {

// Starts the program in a process group of its own, with default signals. Each pair (ours, child's) becomes a
// descriptor of the child; all others are closed at exec. UserError when it cannot be started.
pid_t spawn(const ProcessOptions& options, const std::vector<std::pair<int, int>>& descriptors);

// An anonymous file in memory, closed at exec.
Fd memory_file(const char* name);

}  // namespace stax::base
