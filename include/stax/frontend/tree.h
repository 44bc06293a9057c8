// Values made of tensors: how arguments and results are taken apart and put together.
#pragma once
#include <stax/frontend/tensor.h>

#include <array>
#include <boost/pfr/core.hpp>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stax::frontend {

template <class T>
struct IsVector : std::false_type {};
template <class T, class A>
struct IsVector<std::vector<T, A>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class V, class C, class A>
struct IsMap<std::map<K, V, C, A>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct IsTuple<std::pair<A, B>> : std::true_type {};

// A class that the reflection cannot take apart (one with private members or bases; with g++ 12 also an aggregate with
// an array member, on which the compiler fails) offers `auto fields(T&)`, a std::tie of its members, in its namespace.
template <class T>
concept HasFields = requires(T& t) {
  fields(t);
};

// Calls visitor.tensor(Tensor&), .scalar(Scalar&), .constant(pointer, bytes) for every leaf in order, and
// .enter(nested) / .leave() around what is nested, .count(n) for sizes of containers. T may be const.
template <class Visitor, class T>
void visit_leaves(Visitor& v, T& value) {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, Tensor>) {
    v.tensor(value);
  } else if constexpr (std::is_same_v<U, Scalar>) {
    v.scalar(value);
  } else if constexpr (std::is_same_v<U, Dim>) {
    v.dim(value);
  } else if constexpr (std::is_arithmetic_v<U> || std::is_enum_v<U>) {
    v.constant(&value, sizeof(value));
  } else if constexpr (std::is_same_v<U, std::string>) {
    v.count(value.size());
    v.constant(value.data(), value.size());
  } else if constexpr (IsVector<U>::value || IsArray<U>::value) {
    v.count(value.size());
    v.enter();
    if constexpr (std::is_same_v<typename U::value_type, bool>) {
      for (const bool b : value) v.constant(&b, sizeof(b));
    } else {
      for (auto& item : value) visit_leaves(v, item);
    }
    v.leave();
  } else if constexpr (IsMap<U>::value) {
    v.count(value.size());
    v.enter();
    for (auto& [key, item] : value) {
      visit_leaves(v, key);
      visit_leaves(v, item);
    }
    v.leave();
  } else if constexpr (IsOptional<U>::value) {
    v.count(value.has_value());
    v.enter();
    if (value) visit_leaves(v, *value);
    v.leave();
  } else if constexpr (IsTuple<U>::value) {
    v.enter();
    std::apply([&](auto&... items) { (visit_leaves(v, items), ...); }, value);
    v.leave();
  } else if constexpr (HasFields<T>) {
    v.enter();
    std::apply([&](auto&... items) { (visit_leaves(v, items), ...); }, fields(value));
    v.leave();
  } else {
    static_assert(std::is_aggregate_v<U>,
                  "an argument or result of a compiled function is a tensor, number, string, container or plain "
                  "aggregate of these; offer fields(T&) for other classes");
    v.enter();
    boost::pfr::for_each_field(value, [&](auto& field) { visit_leaves(v, field); });
    v.leave();
  }
}

}  // namespace stax::frontend
