// Graphs compiled for the null device, and tensors that lie on it.
#pragma once
#include <gtest/gtest.h>
#include <stax/tensor/array.h>

#include <fmt/format.h>

#include <cstdlib>
#include <regex>

#include "base/file.h"
#include "compile/explain.h"
#include "compile/pipeline.h"
#include "graph/interpret.h"
#include "ops/ops.h"
#include "runtime/null/null_runtime.h"

namespace stax::compiler::test {

inline constexpr Device kNull{DeviceKind::null_gpu, 0};

// A session over a cache directory of its own; the interpreter is that of the checkout, unless STAX_PYTHON names one.
inline Session& session() {
  static const base::TempDir* const directory = [] {
    ::setenv("STAX_PYTHON", STAX_SOURCE_DIR "/.venv/bin/python3", 0);
    return new base::TempDir("stax-compile");
  }();
  return Session::of(directory->path().string());
}

inline bool has_triton() {
  static const bool has = [] {
    (void)session();
    const char* python = std::getenv("STAX_PYTHON");
    const std::string command = std::string(python) + " -c 'import triton' 2>/dev/null";
    return std::system(command.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe)
  }();
  return has;
}
#define STAX_NEED_TRITON() \
  if (!has_triton()) GTEST_SKIP() << "no Triton: run `make deps`"

inline graph::Graph graph_of(std::string_view text) {
  ops::register_all();
  return graph::parse_graph(text);
}

// The same graph with every tensor on the null device.
inline graph::Graph null_graph(const std::string& text) {
  static const std::regex type(R"((: [a-z0-9]+\[[^\]]*\]( strides \([^)]*\))?))");
  return graph_of(std::regex_replace(text, type, "$1 device \"null\""));
}

inline Array null_tensor(std::vector<std::int64_t> sizes, Dtype dtype = Dtype::f32, std::int64_t offset = 0) {
  Layout layout;
  layout.sizes.assign(sizes.begin(), sizes.end());
  layout.strides.resize(sizes.size());
  std::int64_t n = 1;
  for (std::size_t i = sizes.size(); i-- > 0; n *= sizes[i]) layout.strides[i] = n;
  layout.offset = offset;
  auto storage = std::make_shared<Storage>(runtime::null_runtime().allocator(),
                                           static_cast<std::size_t>((n + offset) * byte_size(dtype)), kNull);
  return Array(std::move(storage), dtype, std::move(layout));
}

struct Call {
  std::vector<Array> tensors;
  std::vector<const Array*> pointers;
  explicit Call(std::vector<Array> t) : tensors(std::move(t)) {
    for (const Array& a : tensors) pointers.push_back(&a);
  }
  plan::CallArgs args() const { return {pointers, {}}; }
};

inline std::vector<Array> run(const Artifact& a, const Call& call) {
  plan::GuardFailure why;
  if (!a.executable.check(call.args(), &why)) throw UserError(why.text);
  std::vector<Array> outputs(a.executable.plan().outputs.size());
  a.executable.run(call.args(), outputs);
  return outputs;
}

inline std::string missed(const Artifact& a, const Call& call) {
  plan::GuardFailure why;
  return a.executable.check(call.args(), &why) ? "" : why.text;
}

}  // namespace stax::compiler::test
