// Loop-level IR: what is computed, for which indices, nothing about how.
//
// A program is a list of buffers and a list of items (kernels and library calls) in an order that respects their
// dependencies. A kernel has outer axes (independent units) and phases that run in order for each unit. A phase runs
// over its inner axes. A lowered operator is a kernel of its own (a pointwise one has one phase without inner axes; a
// reduction has a phase with the combine and a phase that stores the result); fusion merges kernels into kernels of the
// same form.
//
//   buffer b0: f32[s0, s1] strides (s1, 1) input        buffer b2: f32[s0] strides (1) output
//   kernel red_sum outer (i0 < s0) {
//     phase (r0 < s1) {
//       %0 = load.f32 b0[s1*i0 + r0]
//       %1 = combine.f32 sum %0
//     }
//     phase {
//       store b2[i0] %1
//     }
//   }
//
// Meaning: every load reads the flat element index relative to the first element of its buffer (offsets of views are
// folded in). Values of a phase without inner axes and combine results are values of the unit, visible in later phases;
// other values are visible in their own phase only. Units are independent: no store of a kernel is read by another unit
// of it; a unit may read what it stored itself in an earlier phase. Loads are in bounds for every index of the domain;
// indirect indices are `bounded` values.
#pragma once
#include <stax/base/error.h>
#include <stax/tensor/device.h>
#include <stax/tensor/dtype.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "loop/scalar_ops.h"
#include "symbolic/shape_env.h"

namespace stax::loop {

using symbolic::Expr;
using BufferId = int;
using ValueId = int;
inline constexpr ValueId kNoValue = -1;

enum class BufferKind : std::uint8_t { input, output, temporary };  // an input may also be stored to (in-place writes)

struct Buffer {
  std::string name;  // "b0"
  Dtype dtype = Dtype::f32;
  std::vector<Expr> sizes, strides;  // in elements; index 0 of the flat address is the first element
  BufferKind kind = BufferKind::temporary;
  int input = -1;  // position among the tensor inputs of the region
  bool written_input = false;
};

struct Axis {
  Expr var;  // a symbol with range [0, extent)
  Expr extent;
};

struct Value {
  ScalarOp op = ScalarOp::constant;
  Dtype dtype = Dtype::f32;  // compute dtype
  std::array<ValueId, 3> args{kNoValue, kNoValue, kNoValue};
  // Payload, by operation:
  std::uint64_t bits = 0;  // constant: the literal's bits (f32 in the low half, integers sign-extended, boolean 0/1)
  Expr index;              // index: the expression; load: flat address; bounded: exclusive bound; random: element index
  Expr symbol;             // bounded: the symbol that stands for this value in index expressions
  BufferId buffer = -1;    // load
  int scalar = -1;         // scalar: position among the scalar inputs of the region; random: scalar holding the seed
  CombineOp combine = CombineOp::sum;  // combine, scan
  int part = 0;                        // part: which result; random: 0 uniform, 1 normal
  Dtype half = Dtype::f32;             // round_to: the half type
  bool wraps_negative = false;         // bounded: an index in [-bound, 0) counts from the end
  bool checked = true;                 // bounded: false when proven or switched off
  bool reverse = false;                // scan: from the last element to the first
  int origin = -1;                     // into Program::origins: the operator that it came from
};

struct Store {
  BufferId buffer = -1;
  Expr index;                // flat address
  ValueId value = kNoValue;  // converted to the buffer's dtype: rounded to nearest even for half types
};

struct Phase {
  std::vector<Axis> inner;
  ValueId begin = 0, end = 0;  // values [begin, end) of the kernel, in SSA order
  std::vector<Store> stores;
};

struct Kernel {
  std::string name;  // form and contents: "red_add_relu_mul_sum"
  std::vector<Axis> outer;
  std::vector<Value> values;
  std::vector<Phase> phases;
};

// A strided view of a buffer, as a library call or an output sees it. `offset` is relative to the buffer's first
// element.
struct View {
  BufferId buffer = -1;
  std::vector<Expr> sizes, strides;
  Expr offset;
};

// out = epilogue(a · b + bias) [+ residual]. a [batch…, m, k], b [batch…, k, n], out [batch…, m, n]; batch dimensions
// broadcast by stride 0. Any strides. K = 0 gives the epilogue of zero.
enum class Activation : std::uint8_t { none, relu, gelu_erf, gelu_tanh, silu, sigmoid, tanh };
std::string_view to_text(Activation a);
std::optional<Activation> parse_activation(std::string_view text);

struct LibraryCall {
  std::string name;  // "matmul", "matmul_bias_gelu"
  View a, b, out;
  std::optional<View> bias;  // broadcast to out by stride 0
  Activation activation = Activation::none;
  std::optional<View> residual;  // added last, sizes of out
  double scale = 1.0;            // of the product a·b, before the bias
  bool b_is_weight =
      false;  // b is an input that does not change from call to call as far as tracing can tell: worth packing
  int origin = -1;
};

using Item = std::variant<Kernel, LibraryCall>;

struct Origin {
  std::string op;  // "add"
  SourceLoc where;
};

// A host scalar of the region: an argument (Scalar) or a size expression used as a number.
struct ScalarInput {
  std::string name;
  Dtype dtype = Dtype::f64;  // f64, i64 or boolean as passed by the host
  Expr value;                // derived: a number over sizes that the caller does not pass; null: passed
};

struct Program {
  std::string name;
  std::shared_ptr<symbolic::Context> context;
  symbolic::Facts facts;    // what the guards established about the size symbols
  std::vector<Expr> sizes;  // the size symbols, in order
  std::vector<Buffer> buffers;
  std::vector<ScalarInput> scalars;
  std::vector<Item> items;
  std::vector<View> outputs;  // in the order of the graph's outputs; may view inputs
  std::vector<Origin> origins;
  int next_axis = 0;      // for fresh axis names, unique in the program
  int next_indirect = 0;  // for fresh symbols of bounded values

  Expr fresh_axis(Expr extent, char letter);  // 'i' outer, 'r' inner
  Expr fresh_indirect(Expr bound);
};

// Reads and writes of an item, as buffers.
struct Access {
  BufferId buffer;
  Expr index;
  int phase;
};
std::vector<Access> reads_of(const Kernel& k);
std::vector<Access> writes_of(const Kernel& k);
std::vector<BufferId> buffers_read(const Item& item);
std::vector<BufferId> buffers_written(const Item& item);

// Whether a phase without inner axes stores to a buffer that the kernel loads, there or before: then every thread of a
// team must have loaded before one of them stores.
bool overwrites_what_it_loads(const Kernel& k, int phase);

bool is_pointwise(const Kernel& k);  // one phase, no inner axes
// An index that raises when it is out of range: done even where no address depends on it (a table of one row).
bool is_check(const Value& v);

// Dtype of a part of a combine or scan: i64 for the index of argmax and argmin, else that of the tuple.
Dtype part_dtype(const Value& tuple, int which);
// A combine or a part of one: a value of the unit once its phase is over.
bool is_combined(const Kernel& k, ValueId v);
// The phase that computes a value.
int phase_of(const Kernel& k, ValueId v);
// The index expression of a value or store, if it has one, replaced by f(expression).
template <class F>
void map_indices(Kernel& k, F&& f) {
  for (Value& v : k.values)
    if (v.index) v.index = f(v.index);
  for (Phase& p : k.phases)
    for (Store& s : p.stores) s.index = f(s.index);
}

}  // namespace stax::loop
