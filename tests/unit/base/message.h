// For tests of error messages.
#pragma once
#include <stax/base/error.h>

#include <string>

namespace stax::base {

// The text of the UserError that `action` throws, or "no error".
template <typename F>
std::string message_of(F&& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace stax::base
