// Prints one kernel. The frame (parameters, units, threads) is the same for all forms:
//   inner form  a unit is one row; the last inner axis of each phase is vectorised, results are scalars
//   outer form  a unit is a chunk of the vectorised outer axis; lanes are units, results live in arrays over the chunk
//   tiled form  outer form of a pointwise kernel whose loads along another axis are transposed in registers
#pragma once
#include <functional>
#include <set>

#include "base/text.h"
#include "codegen/common/expr_text.h"
#include "codegen/common/levels.h"
#include "codegen/cpp/emit.h"
#include "codegen/cpp/types.h"

namespace stax::codegen {

using loop::CombineOp;
using loop::Expr;
using loop::Kernel;
using loop::kNoValue;
using loop::Phase;
using loop::Program;
using loop::ScalarOp;
using loop::Store;
using loop::Value;
using loop::ValueId;

class KernelEmitter {
 public:
  KernelEmitter(const CppKernel& in, int vector_bytes);
  std::string text();
  const std::set<std::string_view>& needs() const { return needs_; }

 private:
  // How the results of a combine are accumulated in the inner form.
  enum class Form : std::uint8_t {
    lanes,  // one vector, folded at the end: sum, prod, max, min, any, all
    arg,    // value and index vectors
    block,  // a block of operands is buffered, then reduced in a second pass: welford, online_softmax
    tuple,  // vectors of partial tuples merged lane by lane
  };
  // The loops of the phase being printed.
  struct Site {
    const Phase* phase = nullptr;
    int number = 0;
    std::vector<loop::Axis> loops;  // outermost first; the last is vectorised
    std::vector<std::string> lo, hi;
    const Levels* levels = nullptr;
    Expr axis;             // the vectorised one; null in a scalar phase
    bool reverse = false;  // a scan from the end
    int depth() const { return static_cast<int>(loops.size()); }
  };
  // One copy of the vector body.
  struct Copy {
    int number = 0;        // which set of accumulators
    bool partial = false;  // only the first n lanes are active
    bool stream = false;
  };

  // frame.cpp
  void name_symbols();
  void find_crossing_values();
  void emit_sizes();
  void emit_parameters();
  void emit_units_function();
  void emit_unit_loop(const std::function<void()>& body);
  void emit_empty_checks();
  void emit_entry();
  void emit_team(const std::string& stream);
  std::string unit_count() const;
  std::string work_text() const;
  std::string stream_text() const;  // bytes stored by the streaming phases
  bool is_chunked(int axis) const;
  bool is_split() const { return s_.split >= 0; }
  bool is_outer() const { return s_.vector_axis >= 0; }

  // unit.cpp
  void emit_unit();
  void emit_phase(int number);
  void emit_phase_loops(const Site& site);
  void find_kept_rows();
  void keep_row_value(const Site& site, ValueId id);
  bool keeps_weights(ValueId combine) const;
  std::string block_in_memory(const Site& site, const loop::Value& combine) const;
  Site site_of(int number) const;
  void emit_scalar_phase(const Site& site);
  void emit_loops(const Site& site, int depth);
  void emit_vector_loop(const Site& site, int unroll, const std::function<void(const Copy&)>& body);
  void emit_scan_loop(const Site& site, const std::function<void(const Copy&)>& body);
  void emit_body(const Site& site, const Copy& copy);
  std::string guard_of(const Site& site) const;
  bool streams(const Site& site) const;
  bool is_scan(const Phase& p) const;
  std::string aligned_stores(const Site& site, std::string_view at) const;

  // fetch.cpp
  void fetch_shared_lines();
  ValueId index_load(ValueId bounded) const;
  void fetch_indirect_rows();

  // outer.cpp
  void declare_array(const std::string& name, std::string_view type, std::int64_t length);
  std::string element(const Site& site, const std::string& array) const;
  void initialise_arrays(const Site& site);
  void count_step(const Site& site);
  bool is_long_sum(const Value& v) const;
  void flush_sums(const Site& site, bool last);
  void merge_team_arrays(const Site& site);
  std::string merge_text(const Value& v, std::string_view a0, std::string_view a1, std::string_view a2,
                         std::string_view x0, std::string_view x1, std::string_view x2) const;
  void update_array(const Site& site, ValueId id);
  void load_unit_values(const Site& site);
  void keep_unit_value(const Site& site, ValueId id);

  // tile.cpp
  void emit_tiles();
  bool is_turned(const Site& site, const Value& v) const;
  void emit_square(const Site& site, ValueId id, bool whole, const std::vector<ValueId>& fetched);
  enum class Rows : std::uint8_t { part, whole, aligned };  // aligned: whole, and all of them are streamed
  void emit_square_rows(const Site& site, Rows rows);
  void emit_whole_square(const Site& site, const std::vector<ValueId>& turned, const std::vector<ValueId>& fetched,
                         Rows rows);
  std::string aligned_square(const Site& site) const;
  void emit_pace(ValueId turned, const std::vector<ValueId>& fetched);
  void fetch_next_line(const Site& site, ValueId id);
  void fetch_next_square(const Site& site, ValueId id);
  bool is_fetched(const Site& site, ValueId id) const;

  // inner.cpp
  Form form_of(const Value& v) const;
  bool is_blocked(const Site& site) const;
  std::int64_t block_length(const Site& site) const;
  void declare_totals(const Site& site);
  void declare_accumulators(const Site& site);
  void update_accumulator(const Site& site, ValueId v, const Copy& copy);
  void fold_accumulators(const Site& site);
  void finish_totals(const Site& site);
  void publish_totals(const Site& site);
  void merge_team_totals(const Site& site);
  std::vector<ValueId> combines_of(const Phase& p) const;
  std::string combine_text(CombineOp op, Dtype t, std::string_view a, std::string_view b) const;
  static bool is_flagged(const Value& v);
  std::string lanes_text(const Value& v, std::string_view a, std::string_view b) const;
  std::string scalar_combine_text(CombineOp op, Dtype t, std::string_view a, std::string_view b) const;
  std::uint64_t identity_bits(CombineOp op, Dtype t) const;
  std::string identity_vector(CombineOp op, Dtype t) const;
  bool is_row_index(const Site& site, ValueId v) const;

  // scan.cpp
  void declare_carries(const Site& site);
  void emit_scan(const Site& site, ValueId v, const Copy& copy);

  // values.cpp
  void emit_level(const Site& site, int level, const Copy& copy);
  void emit_value(const Site& site, ValueId v, const Copy& copy);
  void emit_load(const Site& site, ValueId id, const Copy& copy);
  void fetch_ahead(const Site& site, ValueId id);
  void emit_index(const Site& site, ValueId id, const Copy& copy);
  void emit_bounded(const Site& site, ValueId id, const Copy& copy);
  void emit_random(const Site& site, ValueId id);
  void emit_operation(const Site& site, ValueId id, const Copy& copy);
  std::string operation_text(const Value& v, bool vector);
  std::string cast_text(std::string_view x, Dtype from, Dtype to, bool vector);
  std::string extremum_text(const Value& v);  // with one constant operand; "" otherwise
  void emit_store(const Site& site, std::size_t index, const Copy& copy);
  void emit_pointer(const Site& site, const std::string& name, int buffer, Expr address, bool writes);
  std::string ref(ValueId v, bool vector) const;
  std::string declare(Dtype t, bool vector) const;
  bool is_vector(ValueId v) const { return vector_[static_cast<std::size_t>(v)]; }
  const Value& value(ValueId v) const { return k_.values[static_cast<std::size_t>(v)]; }
  std::string text_of(Expr e) const { return expr_(e, names_); }
  std::string bare(Expr e) const { return expr_.bare(e, names_); }
  std::string lane_text(const Site& site, Expr e) const;  // for lane l of a loop over lanes
  std::string position(const Site& site) const;           // the axis variable: index of lane 0
  struct Address {
    enum Kind : std::uint8_t { uniform, unit, strided, lanes } kind = uniform;
    Expr rest, coefficient;
    int level = 0;  // where `rest` is known
  };
  Address address_of(const Site& site, Expr index) const;
  std::string raise(int code, int origin, std::string_view index, std::string_view bound) const;

  const Program& p_;
  const Kernel& k_;
  const loop::CpuSchedule& s_;
  const std::string symbol_;
  const int lanes_;
  const int vector_bytes_;
  symbolic::Facts facts_;
  ExprText expr_;
  SymbolNames names_;
  base::TextWriter out_;
  std::set<std::string_view> needs_;
  std::vector<char> vector_;   // value → printed as a vector in the current phase
  std::vector<char> array_;    // outer form: value of the unit that lives in an array over the chunk
  std::vector<char> crosses_;  // value → used in a later phase
  std::vector<std::string> arrays_;
  std::string array_declarations_;
  int split_slots_ = 0;                        // partial results that a part publishes
  std::unordered_map<Expr, ValueId> bounded_;  // symbol → value
  struct Kept {
    std::string row;  // the array
    Expr extent;
    std::int64_t limit = 0;
    std::vector<ValueId> readers;
  };
  std::unordered_map<ValueId, Kept> rows_;           // value → the row that keeps it
  std::unordered_map<ValueId, std::string> kept_;    // value of the current phase → the row to read it from
  std::unordered_map<ValueId, std::string> turned_;  // value → its transposed vector
  bool any_stream_ = false;
};

}  // namespace stax::codegen
