#include "inputs.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace stax::fuzz {

namespace {

double draw_special(Random& r) {
  static constexpr double kSpecial[] = {0.0,
                                        -0.0,
                                        1.0,
                                        -1.0,
                                        1e-40,
                                        -3e-5,
                                        65504,
                                        1e38,
                                        -1e38,
                                        0.5,
                                        std::numeric_limits<double>::infinity(),
                                        -std::numeric_limits<double>::infinity(),
                                        std::numeric_limits<double>::quiet_NaN()};
  return r.chance(40) ? r.pick(kSpecial) : static_cast<double>(r.between(-4000, 4000)) / 1024;
}

template <class T>
T draw_element(Random& r, Fill fill) {
  if constexpr (std::is_same_v<T, bool>) {
    return r.chance(50);
  } else if constexpr (std::is_integral_v<T>) {
    if (fill == Fill::special)
      return static_cast<T>(r.chance(20)
                                ? (r.chance(50) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max())
                                : static_cast<T>(r.next()));
    return static_cast<T>(std::is_signed_v<T> ? r.between(-4, 4) : r.between(0, 4));
  } else {
    const double v = fill == Fill::whole   ? static_cast<double>(r.between(-4, 4))
                     : fill == Fill::small ? static_cast<double>(r.between(-2000000, 2000000)) / 1048576
                                           : draw_special(r);
    if constexpr (std::is_same_v<T, double>)
      return v;
    else
      return static_cast<T>(static_cast<float>(v));
  }
}

}  // namespace

Array make_input(const InputSpec& in, const std::vector<std::int64_t>& sizes) {
  stax::Layout layout;
  std::vector<std::int64_t> numbers;
  for (const Dim& d : in.dims) numbers.push_back(d.symbol < 0 ? d.number : sizes[static_cast<std::size_t>(d.symbol)]);
  const std::vector<std::int64_t> strides = strides_of(in, numbers, std::int64_t{1});
  layout.sizes.assign(numbers.begin(), numbers.end());
  layout.strides.assign(strides.begin(), strides.end());
  const auto [lo, hi] = extent_of(layout);
  const std::int64_t before = in.layout == Layout::offset ? 5 : 0;
  layout.offset = before - std::min<std::int64_t>(lo, 0);
  const std::int64_t room = std::max<std::int64_t>(hi - std::min<std::int64_t>(lo, 0) + 1, 0) + before;
  Array flat = Array::empty({room}, in.dtype);
  Random r(in.seed);
  visit_dtype(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < room; ++i) flat.data_as<T>()[i] = draw_element<T>(r, in.fill);
  });
  return flat.with_layout(std::move(layout));
}

Array deep_copy(const Array& a) {
  const std::size_t bytes = a.storage()->bytes();
  auto storage = std::make_shared<Storage>(allocator_for(Device{}), bytes, Device{});
  if (bytes) std::memcpy(storage->data(), a.storage()->data(), bytes);
  return Array(std::move(storage), a.dtype(), a.layout());
}

}  // namespace stax::fuzz
