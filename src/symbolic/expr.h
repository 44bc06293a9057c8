// Hash-consed integer and boolean expressions over symbols: sizes, strides, offsets, loop indices.
//
// Every integer expression is kept in canonical form: a sum of products, fully expanded, terms sorted; so two
// expressions that are equal as polynomials are the same node and `==` is pointer equality. Non-polynomial parts
// (divisions, min, max) are atoms of the polynomial and are simplified at construction by rules that hold for all
// integers or follow from the declared ranges of the symbols. Arithmetic is exact: a constant that leaves 64 bits
// throws UserError.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stax::symbolic {

class Context;
struct Node;

enum class Op : std::uint8_t {
  // integer valued
  constant,
  symbol,
  add,
  mul,
  floordiv,
  floormod,
  ceildiv,
  truncdiv,
  truncmod,
  min,
  max,
  // truth valued
  boolean,
  eq,
  ne,
  lt,
  le,
  logical_and,
  logical_or,
  logical_not,
};

// Closed interval; kMinInf / kMaxInf stand for an open end.
inline constexpr std::int64_t kMinInf = INT64_MIN;
inline constexpr std::int64_t kMaxInf = INT64_MAX;
struct Range {
  std::int64_t lo = kMinInf, hi = kMaxInf;
  bool contains(std::int64_t v) const { return lo <= v && v <= hi; }
  bool operator==(const Range&) const = default;
};

struct SymbolInfo;

// Handle to an immutable integer node of a Context. Null only when default constructed.
class Expr {
 public:
  Expr() = default;
  explicit Expr(const Node* node) : node_(node) {}
  const Node* node() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  Op op() const;
  std::span<const Node* const> operands() const;
  Expr operand(std::size_t i) const;
  std::optional<std::int64_t> constant() const;  // its value when it is a constant
  bool is_constant(std::int64_t v) const {
    auto c = constant();
    return c && *c == v;
  }
  bool is_symbol() const { return op() == Op::symbol; }
  const std::string& name() const;  // of a symbol
  const SymbolInfo& info() const;   // of a symbol
  Context& context() const;
  bool operator==(const Expr&) const = default;

 private:
  const Node* node_ = nullptr;
};

// What is declared of a symbol; it holds for every value the symbol takes.
struct SymbolInfo {
  Range range;
  std::int64_t multiple_of = 1;
  std::optional<std::int64_t> hint;  // a sample value; a symbol may have none
  Expr below;                        // exclusive symbolic upper bound, e.g. a loop index below its extent; null: none
  bool operator==(const SymbolInfo&) const = default;
};

// Handle to an immutable truth-valued node. Comparisons are canonical: gt/ge are turned round, sides are moved so that
// the right side is a constant part or zero wherever that keeps the meaning.
class Bool {
 public:
  Bool() = default;
  explicit Bool(const Node* node) : node_(node) {}
  const Node* node() const { return node_; }
  explicit operator bool() const = delete;  // ask `prove` or ShapeEnv::decide
  Op op() const;
  std::span<const Node* const> operands() const;
  std::optional<bool> constant() const;
  Context& context() const;
  bool operator==(const Bool&) const = default;

 private:
  const Node* node_ = nullptr;
};

// Arena and interner. Not thread-safe: one per compilation.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  Expr constant(std::int64_t value);
  // Finds or makes the symbol. Giving other info for a known name is an InternalError; default info only looks it up.
  Expr symbol(std::string_view name, const SymbolInfo& info = {});
  std::optional<Expr> find_symbol(std::string_view name) const;
  Bool boolean(bool value);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator+(Expr a, std::int64_t b);
Expr operator-(Expr a, std::int64_t b);
Expr operator*(Expr a, std::int64_t b);
Expr operator+(std::int64_t a, Expr b);
Expr operator-(std::int64_t a, Expr b);
Expr operator*(std::int64_t a, Expr b);
// Division by zero: by a constant zero throws UserError; otherwise undefined in proofs and an error in `evaluate`.
Expr floordiv(Expr a, Expr b);
Expr floormod(Expr a, Expr b);
Expr ceildiv(Expr a, Expr b);
Expr truncdiv(Expr a, Expr b);
Expr truncmod(Expr a, Expr b);
Expr floordiv(Expr a, std::int64_t b);
Expr floormod(Expr a, std::int64_t b);
Expr ceildiv(Expr a, std::int64_t b);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Bool eq(Expr a, Expr b);
Bool ne(Expr a, Expr b);
Bool lt(Expr a, Expr b);
Bool le(Expr a, Expr b);
Bool gt(Expr a, Expr b);
Bool ge(Expr a, Expr b);
Bool eq(Expr a, std::int64_t b);
Bool ne(Expr a, std::int64_t b);
Bool lt(Expr a, std::int64_t b);
Bool le(Expr a, std::int64_t b);
Bool gt(Expr a, std::int64_t b);
Bool ge(Expr a, std::int64_t b);
Bool operator&&(Bool a, Bool b);
Bool operator||(Bool a, Bool b);
Bool operator!(Bool a);

Expr product(Context& context, std::span<const Expr> factors);  // 1 when empty

std::string to_string(Expr e);
std::string to_string(Bool b);
std::uint64_t stable_hash(Expr e);  // of the text: the same in every process

}  // namespace stax::symbolic

template <>
struct std::hash<stax::symbolic::Expr> {
  std::size_t operator()(stax::symbolic::Expr e) const noexcept { return std::hash<const void*>()(e.node()); }
};
