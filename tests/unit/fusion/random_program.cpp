#include "random_program.h"

namespace stax::fusion::test {
namespace {

using enum loop::ScalarOp;

class Generator {
 public:
  Generator(std::uint32_t seed, bool dynamic, bool exact) : m_(dynamic), exact_(exact), random_(seed) {
    for (int i = 0; i < 3; ++i) sizes_.push_back(m_.size(1 + pick(6)));
  }

  RandomProgram run(std::uint32_t seed, int operators) {
    const int inputs = 2 + pick(2);
    for (int i = 0; i < inputs; ++i) inputs_.push_back(add(m_.input(shape(), type())));
    for (int i = 0; i < operators; ++i) step();
    const int outputs = 1 + pick(3);
    for (int i = 0; i < outputs; ++i) m_.output(tensors_[tensors_.size() - 1 - static_cast<std::size_t>(pick(4))]);
    if (pick(3) == 0) write();
    loop::Bindings b = m_.bindings(seed, exact_);
    return {m_.take(), std::move(b)};
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  Expr axis_size() { return pick(8) == 0 ? m_.number(1) : sizes_[static_cast<std::size_t>(pick(3))]; }
  std::vector<Expr> shape() {
    std::vector<Expr> s;
    for (int r = 1 + pick(3); r > 0; --r) s.push_back(axis_size());
    return s;
  }
  Dtype type() {
    switch (pick(6)) {
      case 0:
        return exact_ ? Dtype::i32 : Dtype::bf16;
      case 1:
        return exact_ ? Dtype::i64 : Dtype::f16;
      case 2:
        return Dtype::f64;
      default:
        return Dtype::f32;
    }
  }
  View add(View v) {
    tensors_.push_back(v);
    return v;
  }
  // Mostly a recent tensor, so that chains arise.
  View any() {
    const int n = static_cast<int>(tensors_.size());
    View v = tensors_[static_cast<std::size_t>(pick(2) ? n - 1 - pick(std::min(n, 3)) : pick(n))];
    const int rank = static_cast<int>(v.sizes.size());
    switch (pick(10)) {
      case 0:
        if (rank >= 2) v = m_.transpose(v, pick(rank), pick(rank));
        break;
      case 1:
        if (rank >= 1) v = m_.flip(v, pick(rank));
        break;
      case 2:
        if (rank < 3) v = m_.unsqueeze(v, pick(rank + 1));
        break;
      case 3:
        if (rank >= 2 && elements(v) <= 40) v = m_.merge(v);
        break;
      case 4:
        if (rank >= 1) v = cut(v, pick(rank));
        break;
      default:
        break;
    }
    return v;
  }
  static std::int64_t elements(const View& v) {
    std::int64_t n = 1;
    for (Expr s : v.sizes) n *= symbolic::hint_of(s).value_or(1);
    return n;
  }
  // Without its first or its last element, where there are two.
  View cut(const View& v, int axis) {
    const Expr n = v.sizes[static_cast<std::size_t>(axis)];
    if (symbolic::hint_of(n).value_or(0) < 2) return v;
    return m_.slice(v, axis, m_.number(pick(2)), n - 1);
  }
  bool numeric(const View& v) { return m_.dtype(v) != Dtype::boolean; }
  View any_numeric() {
    for (int i = 0; i < 20; ++i)
      if (View v = any(); numeric(v)) return v;
    return inputs_[0];
  }
  // A tensor that broadcasts with x and has its dtype, else x itself.
  View partner(const View& x) {
    for (int i = 0; i < 30; ++i) {
      View y = any();
      if (m_.dtype(y) != m_.dtype(x)) continue;
      bool fits = true;
      for (std::size_t d = 1; d <= std::min(x.sizes.size(), y.sizes.size()); ++d) {
        const Expr a = x.sizes[x.sizes.size() - d], b = y.sizes[y.sizes.size() - d];
        fits = fits && (a == b || a.is_constant(1) || b.is_constant(1));
      }
      if (fits && std::max(x.sizes.size(), y.sizes.size()) <= 3) return y;
    }
    return x;
  }

  void step() {
    const View x = any_numeric();
    const bool floats = is_floating(m_.dtype(x));
    const int rank = static_cast<int>(x.sizes.size());
    switch (pick(12)) {
      case 0:
      case 1:
        add(m_.unary(floats && !exact_ ? pick_of({exp, tanh, neg, sqrt, abs}) : pick_of({neg, abs, sign}), x));
        break;
      case 2:
      case 3:
      case 4:
      case 5:
        add(m_.binary(pick_of({loop::ScalarOp::add, sub, max, min}), x, partner(x)));
        break;
      case 6:
        add(m_.binary(exact_ && floats ? max : mul, x, partner(x)));
        break;
      case 7:
      case 8:
        reduce(x, rank, floats);
        break;
      case 9:
        if (!exact_ && floats)
          add(m_.cast(x, pick_of({Dtype::bf16, Dtype::f16, Dtype::f32})));
        else
          add(m_.cast(x, m_.dtype(x) == Dtype::i32 ? Dtype::i64 : Dtype::f64));
        break;
      case 10:
        if (pick(2) && rank >= 1)
          add(m_.scan(pick_of({CombineOp::sum, CombineOp::max}), x, pick(rank), pick(2) == 0));
        else
          compare_and_select(x);
        break;
      default:
        add(m_.add_number(x, 1));
        break;
    }
  }

  void reduce(const View& x, int rank, bool floats) {
    std::vector<int> axes;
    for (int a = 0; a < rank; ++a)
      if (pick(2)) axes.push_back(a);
    if (axes.empty()) axes.push_back(pick(rank));
    const bool keepdim = pick(2) || axes.size() == static_cast<std::size_t>(rank);
    if (floats && pick(5) == 0) {
      const CombineOp op =
          exact_ ? CombineOp::argmax : pick_of({CombineOp::welford, CombineOp::online_softmax, CombineOp::argmin});
      add(m_.reduce(op, x, axes, keepdim, pick(2)));
    } else {
      add(m_.reduce(pick_of({CombineOp::sum, CombineOp::max, CombineOp::min}), x, axes, keepdim));
    }
  }

  void compare_and_select(const View& x) {
    const View y = partner(x);
    const View c = m_.binary(pick_of({lt, eq, le}), x, y);
    if (x.sizes.size() >= y.sizes.size() && x.sizes == c.sizes) add(m_.select(c, x, partner_of_shape(x)));
  }
  View partner_of_shape(const View& x) {
    for (int i = 0; i < 10; ++i)
      if (const View y = any(); y.sizes == x.sizes && m_.dtype(y) == m_.dtype(x)) return y;
    return x;
  }

  // The last tensor with an input's shape and dtype is written to it.
  void write() {
    for (const View& in : inputs_)
      for (auto t = tensors_.rbegin(); t != tensors_.rend(); ++t)
        if (t->buffer != in.buffer && t->sizes == in.sizes && m_.dtype(*t) == m_.dtype(in) &&
            m_.program().buffers[static_cast<std::size_t>(t->buffer)].kind != loop::BufferKind::input) {
          m_.write(in, *t);
          return;
        }
  }

  template <class T>
  T pick_of(std::initializer_list<T> options) {
    return options.begin()[pick(static_cast<int>(options.size()))];
  }

  ProgramMaker m_;
  bool exact_;
  std::mt19937 random_;
  std::vector<Expr> sizes_;
  std::vector<View> inputs_, tensors_;
};

}  // namespace

RandomProgram random_program(std::uint32_t seed, int operators, bool dynamic, bool exact) {
  return Generator(seed, dynamic, exact).run(seed, operators);
}

}  // namespace stax::fusion::test
