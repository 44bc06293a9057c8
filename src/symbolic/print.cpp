#include <fmt/format.h>

#include "symbolic/node.h"

namespace stax::symbolic {

namespace {
std::string_view name_of(Op op) {
  switch (op) {
    case Op::floordiv:
      return "floordiv";
    case Op::floormod:
      return "floormod";
    case Op::ceildiv:
      return "ceildiv";
    case Op::truncdiv:
      return "truncdiv";
    case Op::truncmod:
      return "truncmod";
    case Op::min:
      return "min";
    case Op::max:
      return "max";
    case Op::eq:
      return " == ";
    case Op::ne:
      return " != ";
    case Op::lt:
      return " < ";
    case Op::le:
      return " <= ";
    case Op::logical_and:
      return " && ";
    case Op::logical_or:
      return " || ";
    default:
      return "";
  }
}

void print(std::string& out, const Node* n);

void print_factors(std::string& out, std::span<const Node* const> factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i > 0) out += '*';
    print(out, factors[i]);
  }
}

// The term without its sign: |c|·monomial.
void print_unsigned(std::string& out, const Node* term) {
  std::uint64_t magnitude =
      term->value < 0 ? -static_cast<std::uint64_t>(term->value) : static_cast<std::uint64_t>(term->value);
  if (term->is_constant()) {
    out += std::to_string(magnitude);
    return;
  }
  if (magnitude != 1) out += std::to_string(magnitude) + "*";
  print_factors(out, term->factors());
}

void print_sum(std::string& out, std::span<const Node* const> terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    bool negative = terms[i]->value < 0;
    if (i > 0) {
      out += negative ? " - " : " + ";
    } else if (negative) {
      out += '-';
    }
    print_unsigned(out, terms[i]);
  }
}

void print_truth(std::string& out, const Node* n) {
  if (n->op == Op::boolean) {
    out += n->value ? "true" : "false";
    return;
  }
  if (n->op == Op::logical_not) {
    out += "!(";
    print(out, n->operand[0]);
    out += ')';
    return;
  }
  for (std::size_t i = 0; i < n->count; ++i) {
    if (i > 0) out += name_of(n->op);
    bool nested = n->op == Op::logical_and && n->operand[i]->op == Op::logical_or;
    if (nested) out += '(';
    print(out, n->operand[i]);
    if (nested) out += ')';
  }
}

void print(std::string& out, const Node* n) {
  if (n->op >= Op::boolean) return print_truth(out, n);
  if (n->op == Op::symbol) {
    out += n->symbol->name;
  } else if (n->op == Op::constant || n->op == Op::add || n->op == Op::mul) {
    print_sum(out, n->terms());
  } else {
    out += name_of(n->op);
    out += '(';
    print(out, n->operand[0]);
    out += ", ";
    print(out, n->operand[1]);
    out += ')';
  }
}

std::string text_of(const Node* n) {
  if (!n) return "<null>";
  std::string out;
  print(out, n);
  return out;
}
}  // namespace

std::string to_string(Expr e) { return text_of(e.node()); }
std::string to_string(Bool b) { return text_of(b.node()); }

std::uint64_t stable_hash(Expr e) {
  std::uint64_t h = 0xcbf29ce484222325ull;  // FNV-1a
  for (char c : to_string(e)) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

}  // namespace stax::symbolic
