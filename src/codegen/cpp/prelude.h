// The text of the functions that a generated C++ kernel may call. A kernel includes nothing: it starts with this text.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace stax::codegen {

// One unit of the prelude, prelude/<name>.inc, embedded at build time.
struct PreludeSnippet {
  std::string_view name, text;
};

// All snippets, by name.
std::span<const PreludeSnippet> prelude_snippets();

// The wanted snippets and all that they need, each once, needs first, for vectors of float32 that are vector_bytes wide
// (16, 32 or 64). Throws InternalError on another width or an unknown name.
std::string prelude_text(std::span<const std::string_view> wanted, int vector_bytes);

// SHA-256 of all snippets in hexadecimal: part of the key of every compiled kernel.
std::string_view prelude_hash();

}  // namespace stax::codegen
