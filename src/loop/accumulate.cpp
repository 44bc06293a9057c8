#include "loop/accumulate.h"

#include <algorithm>

#include "loop/scalar_math.h"

namespace stax::loop {
namespace {

// The wider type in which a sum or product runs.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double,
                                std::conditional_t<std::is_same_v<T, double>, long double, std::uint64_t>>;

template <class T>
Wide<T> widen(T v) {
  if constexpr (kIsFloat<T>)
    return v;
  else
    return wide(v);
}

template <class T, bool product>
struct Sum {
  using In = T;
  Wide<T> total = product ? 1 : 0;
  void step(const In* const* x, std::size_t i) {
    if constexpr (product)
      total *= widen(x[0][i]);
    else
      total += widen(x[0][i]);
  }
  T part0() const { return static_cast<T>(total); }
};

template <class T, bool is_max>
struct Extremum {
  using In = T;
  T best = is_max ? lowest_of<T>() : highest_of<T>();
  void step(const In* const* x, std::size_t i) { best = is_max ? max_of(best, x[0][i]) : min_of(best, x[0][i]); }
  T part0() const { return best; }
};

template <bool is_any>
struct Logical {
  using In = bool;
  bool state = !is_any;
  void step(const In* const* x, std::size_t i) { state = is_any ? state || x[0][i] : state && x[0][i]; }
  bool part0() const { return state; }
};

// Operands: value, index.
template <class T, bool is_max>
struct ArgExtremum {
  using In = T;
  T best = is_max ? lowest_of<T>() : highest_of<T>();
  std::int64_t index = std::numeric_limits<std::int64_t>::max();
  void step(const In* const* x, std::size_t i) {
    const T v = x[0][i];
    const std::int64_t at = reinterpret_cast<const std::int64_t*>(x[1])[i];
    if (wins(v, at)) best = v, index = at;
  }
  bool wins(T v, std::int64_t at) const {
    if constexpr (kIsFloat<T>) {
      if (std::isnan(best)) return std::isnan(v) && at < index;
      if (std::isnan(v)) return true;
    }
    if (v == best) return at < index;
    return is_max ? best < v : v < best;
  }
  T part0() const { return best; }
  std::int64_t part1() const { return index; }
};

// Chan's merge of (mean, sum of squared differences, count); one operand is (x, 0, 1). The mean of infinities of one
// sign is that infinity.
template <class T, bool merges>
struct Welford {
  using In = T;
  using W = Wide<T>;
  W mean = 0, m2 = 0, count = 0;
  void step(const In* const* x, std::size_t i) {
    const W other_mean = x[0][i], other_count = merges ? W(x[2][i]) : W(1);
    if (other_count == 0) return;
    const W total = count + other_count, delta = other_mean - mean;
    if (count == 0)
      mean = other_mean;
    else
      mean += std::isfinite(delta) ? delta * (other_count / total) : other_mean;
    // An infinite element gives NaN, as its difference from the mean does.
    if constexpr (merges) {
      m2 = count == 0 ? W(x[1][i]) : m2 + W(x[1][i]) + delta * delta * (count * other_count / total);
    } else {
      m2 += delta * (other_mean - mean);
    }
    count = total;
  }
  T part0() const { return static_cast<T>(mean); }
  T part1() const { return static_cast<T>(m2); }
  T part2() const { return static_cast<T>(count); }
};

// (m, d) with d = sum of e^(x - m). Elements that are -inf weigh nothing, so that a part of a row may be all -inf.
template <class T, bool merges>
struct OnlineSoftmax {
  using In = T;
  using W = Wide<T>;
  W m = -std::numeric_limits<W>::infinity(), d = 0;
  void step(const In* const* x, std::size_t i) {
    const W other = x[0][i], weight = merges ? W(x[1][i]) : W(other == -std::numeric_limits<W>::infinity() ? 0 : 1);
    const W next = max_of<W>(m, other);
    d = scaled(d, m, next) + scaled(weight, other, next);
    m = next;
  }
  static W scaled(W weight, W from, W to) { return weight == 0 ? W(0) : weight * std::exp(from - to); }
  T part0() const { return static_cast<T>(m); }
  T part1() const { return static_cast<T>(d); }
};

template <class State>
class Lanes final : public Accumulator {
 public:
  void reset(std::size_t lanes) override { states_.assign(lanes, State{}); }
  void step(std::size_t lanes, const void* const* operands) override {
    const typename State::In* x[3];
    for (int i = 0; i < 3; ++i) x[i] = static_cast<const typename State::In*>(operands[i]);
    for (std::size_t i = 0; i < lanes; ++i) states_[i].step(x, i);
  }
  void read(std::size_t lanes, int part, void* out) const override {
    if constexpr (requires(const State& s) { s.part2(); })
      if (part == 2) return fill(lanes, out, [](const State& s) { return s.part2(); });
    if constexpr (requires(const State& s) { s.part1(); })
      if (part == 1) return fill(lanes, out, [](const State& s) { return s.part1(); });
    fill(lanes, out, [](const State& s) { return s.part0(); });
  }

 private:
  template <class F>
  void fill(std::size_t lanes, void* out, F&& f) const {
    auto* o = static_cast<decltype(f(states_[0]))*>(out);
    for (std::size_t i = 0; i < lanes; ++i) o[i] = f(states_[i]);
  }
  std::vector<State> states_;
};

template <class T>
std::unique_ptr<Accumulator> make_typed(const Value& v) {
  const bool merges = v.args[1] != kNoValue;
  switch (v.combine) {
    case CombineOp::max:
      return std::make_unique<Lanes<Extremum<T, true>>>();
    case CombineOp::min:
      return std::make_unique<Lanes<Extremum<T, false>>>();
    case CombineOp::argmax:
      return std::make_unique<Lanes<ArgExtremum<T, true>>>();
    case CombineOp::argmin:
      return std::make_unique<Lanes<ArgExtremum<T, false>>>();
    case CombineOp::any:
      return std::make_unique<Lanes<Logical<true>>>();
    case CombineOp::all:
      return std::make_unique<Lanes<Logical<false>>>();
    default:
      break;
  }
  if constexpr (!kIsBool<T>) {
    if (v.combine == CombineOp::sum) return std::make_unique<Lanes<Sum<T, false>>>();
    if (v.combine == CombineOp::prod) return std::make_unique<Lanes<Sum<T, true>>>();
  }
  if constexpr (kIsFloat<T>) {
    if (v.combine == CombineOp::welford && merges) return std::make_unique<Lanes<Welford<T, true>>>();
    if (v.combine == CombineOp::welford) return std::make_unique<Lanes<Welford<T, false>>>();
    if (v.combine == CombineOp::online_softmax && merges) return std::make_unique<Lanes<OnlineSoftmax<T, true>>>();
    if (v.combine == CombineOp::online_softmax) return std::make_unique<Lanes<OnlineSoftmax<T, false>>>();
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Accumulator> make_accumulator(const Value& value) {
  auto result = visit_dtype(value.dtype, [&](auto zero) -> std::unique_ptr<Accumulator> {
    if constexpr (std::is_class_v<decltype(zero)>)
      return nullptr;
    else
      return make_typed<decltype(zero)>(value);
  });
  STAX_CHECK(result, std::string(info_of(value.combine).name) + " does not take " + to_string(value.dtype));
  return result;
}

}  // namespace stax::loop
