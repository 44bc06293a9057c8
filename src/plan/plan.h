// A compiled region as data: what a call checks, binds, allocates, launches and returns. Knows nothing of the compiler.
#pragma once
#include <stax/base/error.h>
#include <stax/tensor/device.h>
#include <stax/tensor/dtype.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/guard.h"
#include "runtime/matmul.h"
#include "symbolic/expr.h"

namespace stax::plan {

struct TensorInput {
  std::string name;
  Dtype dtype = Dtype::f32;
  int rank = 0;
  Device device;
  bool written = false;  // a step stores to it: read-only memory is a UserError, the version is bumped after the run
};

struct ScalarInput {
  std::string name;
  Dtype dtype = Dtype::f64;  // f64, i64 or boolean
};

// A size symbol and the fact that gives its value at a call. A value outside the symbol's declared range, or not a
// multiple of its declared divisor, is a guard failure.
struct Binding {
  Expr symbol;
  Fact from;
  std::string reason;
  SourceLoc where;
};

enum class BufferKind : std::uint8_t { input, temporary, output };

// A piece of memory that steps name by its position. An input buffer starts at the first element of the input (its
// offset is applied), the others at the start of their storage.
struct Buffer {
  std::string name;
  Dtype dtype = Dtype::f32;
  BufferKind kind = BufferKind::temporary;
  int input = -1;  // input: which
  Device device;
  Expr bytes;  // temporary, output
};

// A strided view; offset in elements from the buffer's start.
struct View {
  int buffer = -1;
  std::vector<Expr> sizes, strides;
  Expr offset;
};

// --- steps, in order
// ---------------------------------------------------------------------------------------------------

// Gives a temporary or an output its memory. Outputs not allocated by a step are allocated before the first step.
struct AllocStep {
  int buffer = -1;
};
// After the last use of a temporary; it may be allocated again later.
struct FreeStep {
  int buffer = -1;
};
struct LaunchStep {
  int kernel = -1;
  std::vector<int> buffers;
  std::vector<Expr> ints;
  std::vector<int> scalars;  // positions: scalar inputs first, then derived scalars
  std::vector<Expr> grid;    // at most 3; empty on the CPU. A grid of no programs is not launched
  // What the origins that the kernel reports are in Plan::origins; empty: they are the same numbers.
  std::vector<int> origins;
  int origin = -1;  // an operator of the kernel, for messages
  // What the code counts on, each covered by a guard: buffers that start at multiples of 16 bytes (those that the
  // allocator gives do), conditions on sizes.
  std::vector<int> aligned;
  std::vector<Bool> promises;
};
// Views as in runtime::MatmulArgs: equal ranks, batch dimensions broadcast by stride 0; sizes of `out` rule.
struct MatmulStep {
  std::string name;  // "matmul_bias_gelu"
  Dtype dtype = Dtype::f32;
  View a, b, out;
  std::optional<View> bias, residual;
  runtime::Activation activation = runtime::Activation::none;
  double scale = 1.0;
  bool b_is_weight = false;  // b is an input worth packing
  int origin = -1;
};
// Elementwise copy with conversion; sizes of `to` rule.
struct CopyStep {
  View from, to;
};
using Step = std::variant<AllocStep, FreeStep, LaunchStep, MatmulStep, CopyStep>;

// -----------------------------------------------------------------------------------------------------------------------

// A scalar that a kernel gets but the caller does not pass: a size used as a number (i64, or converted to f64).
struct DerivedScalar {
  std::string name;
  Dtype dtype = Dtype::i64;
  Expr value;
};

// An output of the region. A view of an input buffer shares the input's storage; `view.offset` counts from the input's
// first element. Outputs may share a buffer.
struct Output {
  std::string name;
  Dtype dtype = Dtype::f32;
  View view;
};

// One entry point of generated code. Kernels of equal source share a module.
struct Kernel {
  std::string name;      // "red_add_relu_mul_sum"
  std::string symbol;    // the function in the module
  int module = -1;       // position in the list of modules that the executor is given
  std::string source;    // text, for listings; not part of the plan's text
  bool reports = false;  // on a device with queued launches: takes an error word
};

// The operator behind a kernel's error report.
struct Origin {
  std::string op;
  SourceLoc where;
};

struct Plan {
  std::string name;
  std::shared_ptr<symbolic::Context> context;  // owns every expression below
  std::vector<TensorInput> inputs;
  std::vector<ScalarInput> scalars;
  std::vector<Binding> bindings;
  std::vector<Guard> guards;  // see order_guards
  std::vector<DerivedScalar> derived;
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<Origin> origins;
  std::vector<Step> steps;
  std::vector<Output> outputs;
};

// InternalError naming the first broken rule: references in range, expressions over bound symbols, temporaries used
// only between their allocation and their end, ranks that fit, scalars of a passable dtype.
void verify(const Plan& plan);

// Stable sort: facts with constants, pointer facts, facts with expressions, scalars, conditions, then the promises of
// kernels: one that fails says that everything else holds. Drops exact duplicates.
void order_guards(Plan& plan);

// Puts a FreeStep after the last use of every temporary (replacing those present), and an AllocStep before the first
// use of every temporary and output that has none.
void place_allocations(Plan& plan);

}  // namespace stax::plan
