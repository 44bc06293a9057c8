#include <fmt/format.h>
#include <stax/base/error.h>

#include <algorithm>

#include "symbolic/node.h"
#include "symbolic/node_facts.h"
#include "symbolic/samples.h"

namespace stax::symbolic {

namespace {
std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

std::uint64_t address(const Node* n) { return reinterpret_cast<std::uintptr_t>(n) >> 4; }

std::uint64_t hash_of(Op op, std::span<const Node* const> operands, std::int64_t value) {
  std::uint64_t h = mix(static_cast<std::uint64_t>(op) + 1, static_cast<std::uint64_t>(value));
  for (const Node* n : operands) h = mix(h, address(n));
  return h;
}

bool same(const Node& n, Op op, std::span<const Node* const> operands, std::int64_t value) {
  return n.op == op && n.value == value && std::ranges::equal(n.operands(), operands);
}
}  // namespace

void* Arena::allocate(std::size_t bytes) {
  bytes = (bytes + 15) & ~std::size_t{15};
  if (static_cast<std::size_t>(end_ - next_) < bytes) {
    std::size_t size =
        std::max<std::size_t>(bytes, std::min<std::size_t>(std::size_t{1} << 20, 8192 << blocks_.size()));
    blocks_.push_back(std::make_unique<std::byte[]>(size));
    next_ = blocks_.back().get();
    end_ = next_ + size;
  }
  void* p = next_;
  next_ += bytes;
  return p;
}

Memo::Memo() : entries_(256) {}

std::size_t Memo::slot(Op op, const Node* a, const Node* b) const {
  std::size_t mask = entries_.size() - 1;
  std::size_t i = mix(mix(static_cast<std::uint64_t>(op) + 1, address(a)), address(b)) & mask;
  while (entries_[i].result && !(entries_[i].op == op && entries_[i].a == a && entries_[i].b == b)) i = (i + 1) & mask;
  return i;
}

const Node* Memo::find(Op op, const Node* a, const Node* b) const { return entries_[slot(op, a, b)].result; }

void Memo::insert(Op op, const Node* a, const Node* b, const Node* result) {
  if (2 * (used_ + 1) > entries_.size()) {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& e : old) {
      if (e.result) entries_[slot(e.op, e.a, e.b)] = e;
    }
  }
  std::size_t i = slot(op, a, b);
  if (!entries_[i].result) ++used_;
  entries_[i] = {a, b, result, op};
}

Context::Impl::Impl(Context& context) : owner(context), table_(1024) {
  small_constants_.resize(static_cast<std::size_t>(kSmallMax - kSmallMin + 1));
  false_node_ = intern(Op::boolean, {}, 0);
  true_node_ = intern(Op::boolean, {}, 1);
}

const Node* Context::Impl::constant(std::int64_t value) {
  if (value < kSmallMin || kSmallMax < value) return intern(Op::constant, {}, value);
  const Node*& known = small_constants_[static_cast<std::size_t>(value - kSmallMin)];
  if (!known) known = intern(Op::constant, {}, value);
  return known;
}

void Context::Impl::grow() {
  std::vector<const Node*> bigger(table_.size() * 2);
  for (const Node* n : table_) {
    if (!n) continue;
    std::size_t i = hash_of(n->op, n->operands(), n->value) & (bigger.size() - 1);
    while (bigger[i]) i = (i + 1) & (bigger.size() - 1);
    bigger[i] = n;
  }
  table_.swap(bigger);
}

const Node* Context::Impl::intern(Op op, std::span<const Node* const> operands, std::int64_t value) {
  if (2 * (used_ + 1) > table_.size()) grow();
  std::size_t mask = table_.size() - 1, i = hash_of(op, operands, value) & mask;
  while (table_[i]) {
    if (same(*table_[i], op, operands, value)) return table_[i];
    i = (i + 1) & mask;
  }
  Node* node = allocate(op, operands, value);
  table_[i] = node;
  ++used_;
  derive(*node);  // may intern the monomial: `i` is not used after it
  return node;
}

Node* Context::Impl::allocate(Op op, std::span<const Node* const> operands, std::int64_t value) {
  auto* node = new (arena_.allocate(sizeof(Node))) Node;
  node->op = op;
  node->value = value;
  node->context = &owner;
  node->self = node;
  if (!operands.empty()) {
    auto** copy = static_cast<const Node**>(arena_.allocate(operands.size() * sizeof(const Node*)));
    std::ranges::copy(operands, copy);
    node->operand = copy;
    node->count = static_cast<std::uint32_t>(operands.size());
  }
  return node;
}

void Context::Impl::derive(Node& node) {
  bool spreads = node.op == Op::add || node.op == Op::mul;
  for (const Node* n : node.operands()) {
    node.symbols |= n->symbols;
    node.height = std::max(node.height, n->height + (spreads ? 0 : 1));
  }
  node.has_division = node.op == Op::floordiv || node.op == Op::ceildiv;
  node.has_modulo = node.op == Op::floormod;
  for (const Node* n : node.operands()) {
    node.has_division |= spreads && n->has_division;
    node.has_modulo |= spreads && n->has_modulo;
  }
  if (node.op >= Op::boolean) return;
  if (node.op != Op::constant && node.op != Op::add) {
    node.degree = static_cast<std::uint32_t>(node.factors().size());
    node.monomial = &node;
    if (node.op == Op::mul && node.value != 1) {
      auto factors = node.factors();
      node.monomial = factors.size() == 1 ? factors[0] : intern(Op::mul, factors);
    }
  }
  if (node.op == Op::symbol) return;  // its maker fills in what is declared
  derive_samples(node);
  node.range = declared_range(node);
  node.multiple = declared_multiple(node);
}

const Node* Context::Impl::symbol(std::string_view name, const SymbolInfo& info) {
  if (auto found = symbols.find(name); found != symbols.end()) {
    const SymbolInfo& known = found->second->symbol->info;
    STAX_CHECK(info == SymbolInfo{} || info == known,
               fmt::format("symbol {} is declared twice with different facts", name));
    return found->second;
  }
  STAX_CHECK(info.multiple_of >= 1, fmt::format("symbol {}: multiple_of must be at least 1", name));
  std::size_t index = symbol_data_.size();
  SymbolData& data = symbol_data_.emplace_back(SymbolData{std::string(name), info});
  Node* node = allocate(Op::symbol, {}, 1);
  node->symbol = &data;
  node->degree = 1;
  node->height = 1;
  node->monomial = node;
  node->symbols = std::uint64_t{1} << (index % 64);
  node->multiple = info.multiple_of;
  node->range = tighten_to_multiples(info.range, info.multiple_of);
  if (info.below) {
    STAX_CHECK(&info.below.context() == &owner, fmt::format("the bound of symbol {} lives in another context", name));
    node->symbols |= info.below.node()->symbols;
    node->height = info.below.node()->height + 1;
    Range below = info.below.node()->range;
    if (below.hi != kMaxInf)
      node->range = intersect(node->range, clamp_range(-(Int128{1} << 100), Int128{below.hi} - 1));
  }
  choose_samples(*node, index);
  symbols.emplace(data.name, node);
  return node;
}

}  // namespace stax::symbolic
