#include "base/env.h"

namespace stax::base {
namespace {

// Sorted by name.
constexpr EnvVariable kVariables[] = {
    {"STAX_CACHE", EnvKind::flag, "", "1", "use the disk cache"},
    {"STAX_CACHE_DIR", EnvKind::text, "a directory", "$XDG_CACHE_HOME/stax or ~/.cache/stax",
     "where the disk cache lies"},
    {"STAX_CACHE_LIMIT_MB", EnvKind::integer, "1..16777216", "2048",
     "size at which the disk cache drops its oldest entries"},
    {"STAX_CHECKS", EnvKind::flag, "", "1", "check tensor indices in compiled code"},
    {"STAX_COMPILE_BUDGET", EnvKind::integer, "1..86400", "", "seconds that all compilations of one function may take"},
    {"STAX_COMPILE_JOBS", EnvKind::integer, "1..1024", "usable cores", "compiler processes that run at the same time"},
    {"STAX_CPU_MEMORY_LIMIT", EnvKind::integer, "1..16777216", "", "MiB that the CPU's caching allocator may hold"},
    {"STAX_CUBLASLT", EnvKind::text, "a shared library", "", "cuBLASLt, when the loader does not find it by itself"},
    {"STAX_CUDA_DRIVER", EnvKind::text, "a shared library", "libcuda.so.1", "the CUDA driver"},
    {"STAX_CUDA_MEMORY_LIMIT", EnvKind::integer, "1..16777216", "",
     "MiB that the caching allocator of a CUDA device may hold"},
    {"STAX_CXX", EnvKind::text, "a C++ compiler", "g++", "compiler of the CPU kernels"},
    {"STAX_DEVICE", EnvKind::choice, "cpu|cuda|cuda:N|null", "cpu", "device of new tensors"},
    {"STAX_DUMP_DIR", EnvKind::text, "a directory", "", "write every stage's text and every kernel's source there"},
    {"STAX_DYNAMIC", EnvKind::choice, "no|yes|automatic", "no", "which sizes compile() keeps symbolic"},
    {"STAX_EAGER", EnvKind::choice, "compiled|reference", "compiled", "how operators run outside a compiled function"},
    {"STAX_FULLGRAPH", EnvKind::flag, "", "0", "a function that cannot be compiled as a whole is an error"},
    {"STAX_FUZZ_SEED", EnvKind::integer, "0..9223372036854775807", "", "seed of the fuzz tests"},
    {"STAX_KERNEL_SANITIZE", EnvKind::choice, "none|address|thread|undefined", "none",
     "sanitizer built into CPU kernels"},
    {"STAX_LOG", EnvKind::choice, "trace|debug|info|warn|error|off", "warn", "least severe log lines that are written"},
    {"STAX_MAX_ARTIFACTS", EnvKind::integer, "1..1000000", "8", "artifacts that one compiled function keeps"},
    {"STAX_MAX_COMPILES", EnvKind::integer, "1..1000000", "64", "compilations that one compiled function may cause"},
    {"STAX_MODE", EnvKind::choice, "balanced|max_autotune|reduce_overhead", "balanced",
     "what compile() optimises for (today: the same artifacts)"},
    {"STAX_NUMERICS", EnvKind::choice, "fused|strict", "fused", "rounding of half types inside kernels"},
    {"STAX_PYTHON", EnvKind::text, "a Python interpreter", "", "interpreter of the Triton workers"},
    {"STAX_STRICT_NATIVE", EnvKind::flag, "", "0", "an operator without generated code is an error"},
    {"STAX_TEST_ALL", EnvKind::flag, "", "0", "tests take their long form"},
    {"STAX_TF32", EnvKind::flag, "", "0", "f32 matrix products on CUDA may round their factors to TF32"},
    {"STAX_THREADS", EnvKind::integer, "1..4096", "physical cores", "threads of the CPU kernels"},
    {"STAX_VECTOR_BYTES", EnvKind::choice, "16|32|64", "the machine's widest", "vector width of the CPU kernels"},
};

}  // namespace

std::span<const EnvVariable> env_variables() { return kVariables; }

}  // namespace stax::base
