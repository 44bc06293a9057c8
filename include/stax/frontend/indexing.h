// What Tensor::index takes.
#pragma once
#include <stax/frontend/dim.h>

#include <optional>
#include <variant>

namespace stax {

struct NoneType {};
inline constexpr NoneType None{};  // in a Slice: an open bound; in an index: a new axis of size 1
struct EllipsisType {};
inline constexpr EllipsisType Ellipsis{};  // as many whole axes as are left

// A bound of a slice: a size or None.
class Bound {
 public:
  Bound(NoneType) {}                // NOLINT(google-explicit-constructor)
  Bound(const Dim& d) : dim_(d) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  requires std::is_integral_v<T> Bound(T v) : dim_(Dim(v)) {}  // NOLINT(google-explicit-constructor)
  const std::optional<Dim>& dim() const { return dim_; }

 private:
  std::optional<Dim> dim_;
};

// start, start + step, … before stop. Negative bounds count from the end; a negative step runs backwards.
struct Slice {
  Slice() = default;
  Slice(Bound start, Bound stop, std::int64_t step = 1) : start(start), stop(stop), step(step) {}
  Slice(Bound start, Bound stop, NoneType) : start(start), stop(stop) {}
  explicit Slice(Bound stop) : stop(stop) {}
  Bound start = None, stop = None;
  std::int64_t step = 1;
};

class Tensor;
class Index {
 public:
  Index(Slice s) : item(s) {}         // NOLINT(google-explicit-constructor)
  Index(NoneType n) : item(n) {}      // NOLINT(google-explicit-constructor)
  Index(EllipsisType e) : item(e) {}  // NOLINT(google-explicit-constructor)
  Index(const Dim& d) : item(d) {}    // NOLINT(google-explicit-constructor)
  template <class T>
  requires std::is_integral_v<T> Index(T v) : item(Dim(v)) {}  // NOLINT(google-explicit-constructor)
  std::variant<Slice, NoneType, EllipsisType, Dim> item;
};

}  // namespace stax
