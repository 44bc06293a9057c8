#include "symbolic/order.h"

namespace stax::symbolic {

namespace {
bool is_digit(char c) { return '0' <= c && c <= '9'; }

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  return digits;
}

template <class T>
int sign_of(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}
}  // namespace

int compare_names(std::string_view a, std::string_view b) {
  std::string_view x = a, y = b;
  while (!x.empty() && !y.empty()) {
    if (is_digit(x[0]) && is_digit(y[0])) {
      std::string_view dx = take_digits(x), dy = take_digits(y);
      if (dx.size() != dy.size()) return sign_of(dx.size(), dy.size());
      if (int c = dx.compare(dy)) return c;
    } else {
      if (x[0] != y[0]) return sign_of(x[0], y[0]);
      x.remove_prefix(1);
      y.remove_prefix(1);
    }
  }
  if (x.empty() != y.empty()) return x.empty() ? -1 : 1;
  return a.compare(b);  // only leading zeros differ
}

int compare_nodes(const Node* a, const Node* b) {
  if (a == b) return 0;
  if (a->op != b->op) return sign_of(a->op, b->op);
  switch (a->op) {
    case Op::constant:
    case Op::boolean:
      return sign_of(a->value, b->value);
    case Op::symbol:
      return compare_names(a->symbol->name, b->symbol->name);
    default:
      break;
  }
  if (a->count != b->count) return sign_of(a->count, b->count);
  for (std::size_t i = 0; i < a->count; ++i) {
    if (int c = compare_nodes(a->operand[i], b->operand[i])) return c;
  }
  return 0;
}

int compare_monomials(const Node* a, const Node* b) {
  if (a == b) return 0;
  if (a->degree != b->degree) return a->degree > b->degree ? -1 : 1;
  auto fa = a->factors(), fb = b->factors();
  for (std::size_t i = 0; i < fa.size(); ++i) {
    if (int c = compare_nodes(fa[i], fb[i])) return c;
  }
  return 0;
}

}  // namespace stax::symbolic
