#include "build/cpp_flags.h"

#include <fmt/format.h>
#include <stax/base/error.h>

namespace stax::build {

namespace {

// Each of these keeps IEEE values; what they give up is errno, exception flags and unwinding.
constexpr const char* kCode[] = {
    "-std=gnu++20",
    "-O3",
    "-fopenmp",
    "-ffp-contract=off",     // a·b + c rounds twice; a fused multiply-add is an operation of the IR
    "-fno-math-errno",       // sqrt is one instruction; values are the same
    "-fno-trapping-math",    // selects may be vectorised; only exception flags differ
    "-fwrapv",               // integers wrap
    "-fno-strict-aliasing",  // a reused buffer changes its type
    "-fno-exceptions",       // nothing throws
    "-fno-rtti",
    "-fno-asynchronous-unwind-tables",  // less to assemble, link and load
    "-fno-stack-protector",
    "-fcf-protection=none",
    "-fno-semantic-interposition",
    "-w",
};

constexpr const char* kLink[] = {
    "-shared", "-fPIC", "-Wl,--as-needed", "-Wl,--build-id=none", "-Wl,-z,norelro",
};

}  // namespace

std::vector<std::string> cpp_flags(const runtime::CpuTarget& target, const std::string& sanitize) {
  std::vector<std::string> flags(std::begin(kCode), std::end(kCode));
  flags.push_back("-march=" + std::string(runtime::march_of(target.isa)));
  flags.insert(flags.end(), std::begin(kLink), std::end(kLink));
  if (sanitize.empty() || sanitize == "none") {
    // No start files and no libc: what a kernel needs of them is in the process already. Halves the time of the link.
    flags.emplace_back("-nostdlib");
    return flags;
  }
  if (sanitize != "address" && sanitize != "thread" && sanitize != "undefined")
    throw UserError(fmt::format("'{}' is no sanitizer of kernels", sanitize), {},
                    "Valid values: none, address, thread, undefined.");
  for (const char* f : {"-g1", "-fno-omit-frame-pointer"}) flags.emplace_back(f);
  flags.push_back("-fsanitize=" + sanitize);
  if (sanitize == "undefined") flags.emplace_back("-fno-sanitize-recover=undefined");
  return flags;
}

}  // namespace stax::build
