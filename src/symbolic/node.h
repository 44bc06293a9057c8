// Layout of the interned nodes and the interner behind a Context. Private to the room.
#pragma once
#include <deque>
#include <span>

#include "symbolic/checked.h"
#include "symbolic/expr.h"
#include "symbolic/small_vector.h"

namespace stax::symbolic {

struct SymbolData {
  std::string name;
  SymbolInfo info;
};

inline constexpr int kSamples = 5, kHintSample = 4;  // see samples.h

// A term is any integer node but a sum: coefficient · monomial, where the monomial is a sorted product of factors and a
// factor is a symbol or an atom (division, min, max). A sum lists its terms in order, a constant last.
struct Node {
  Op op = Op::constant;
  bool has_division = false;  // a factor of one of its terms is a floordiv or ceildiv
  bool has_modulo = false;    // … a floormod
  std::uint32_t degree = 0;   // factors of the monomial
  std::uint32_t height = 0;   // above constants; a symbol stands above its `below`
  std::uint32_t count = 0;    // operands
  std::int64_t value = 1;     // coefficient of a term; value of a constant (a boolean: 0 or 1)
  std::uint64_t symbols = 0;  // one bit for each symbol (index mod 64), those of `below` included
  Range range;                // from declared infos alone
  std::int64_t multiple = 1;  // likewise; 0 for the constant 0
  std::int64_t sample[kSamples] = {};
  std::uint8_t sampled = 0;  // bit k: sample[k] is defined
  Context* context = nullptr;
  const Node* self = nullptr;
  const Node* monomial = nullptr;  // the term without its coefficient; null for constants, sums and truth values
  const SymbolData* symbol = nullptr;
  const Node* const* operand = nullptr;

  std::span<const Node* const> operands() const { return {operand, count}; }
  // Terms of a sum, or the node itself.
  std::span<const Node* const> terms() const {
    return op == Op::add ? operands() : std::span<const Node* const>(&self, 1);
  }
  // Factors of a term's monomial; empty for a constant.
  std::span<const Node* const> factors() const {
    if (op == Op::constant) return {};
    if (op != Op::mul) return {&self, 1};
    return operands().subspan(value == 1 ? 0 : 1);
  }
  bool is_constant() const { return op == Op::constant; }
};

// Bump allocator; frees everything at once.
class Arena {
 public:
  void* allocate(std::size_t bytes);

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
};

// Results of binary constructors: (operation, a, b) → node.
class Memo {
 public:
  Memo();
  const Node* find(Op op, const Node* a, const Node* b) const;
  void insert(Op op, const Node* a, const Node* b, const Node* result);

 private:
  struct Entry {
    const Node* a = nullptr;
    const Node* b = nullptr;
    const Node* result = nullptr;
    Op op = Op::constant;
  };
  std::size_t slot(Op op, const Node* a, const Node* b) const;
  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

struct Context::Impl {
  explicit Impl(Context& context);
  // The one node with this operation, operands and value; computes its derived fields when it is new.
  const Node* intern(Op op, std::span<const Node* const> operands, std::int64_t value = 1);
  const Node* constant(std::int64_t value);
  const Node* boolean(bool value) { return value ? true_node_ : false_node_; }
  const Node* symbol(std::string_view name, const SymbolInfo& info);

  Context& owner;
  Memo memo;
  std::unordered_map<std::string_view, const Node*> symbols;

 private:
  Node* allocate(Op op, std::span<const Node* const> operands, std::int64_t value);
  void derive(Node& node);
  void grow();

  Arena arena_;
  std::vector<const Node*> table_;
  std::size_t used_ = 0;
  std::deque<SymbolData> symbol_data_;
  static constexpr std::int64_t kSmallMin = -16, kSmallMax = 128;
  std::vector<const Node*> small_constants_;  // made when first asked for
  const Node* true_node_ = nullptr;
  const Node* false_node_ = nullptr;
};

inline Context::Impl& impl_of(const Node* node) { return node->context->impl(); }

// Runs a speculative construction; null when a constant leaves 64 bits on the way.
template <class F>
auto attempt(F&& construct) -> decltype(construct());

}  // namespace stax::symbolic

#include <stax/base/error.h>
template <class F>
auto stax::symbolic::attempt(F&& construct) -> decltype(construct()) {
  try {
    return construct();
  } catch (const UserError&) {
    return {};
  }
}
