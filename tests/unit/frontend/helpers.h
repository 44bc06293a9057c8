#pragma once
#include <gtest/gtest.h>
#include <stax/stax.h>

namespace stax {

inline std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }
inline std::vector<std::int64_t> ints(const Tensor& t) { return t.to(i64).to_vector<std::int64_t>(); }

// The message of the UserError that `body` throws; empty when it throws none.
template <class Body>
std::string user_error(Body&& body) {
  try {
    body();
  } catch (const UserError& e) {
    return e.what();
  }
  return {};
}

}  // namespace stax
