// Warnings of the store: each kind once a process.
#pragma once
#include <string>

namespace stax::cache {

enum class Warning { unusable, unwritable };
void warn_once(Warning kind, const std::string& message);

// Forgets that warnings were given. For tests.
void reset_warnings();

}  // namespace stax::cache
