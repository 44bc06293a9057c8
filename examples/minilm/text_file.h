// Whole text files.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace minilm {

// The bytes of a file. Throws stax::UserError when it is missing, no regular file, or cannot be read; the message calls
// it `what`, `remedy` says what to do.
std::string read_text_file(const std::string& path, std::string_view what, const std::string& remedy = {});

// The sentences of a file, one a line. Line ends may be LF or CRLF, a byte order mark at the start is ignored, lines
// that are empty or only spaces and tabs are left out. Throws stax::UserError with line and byte offset when the text
// is not UTF-8, and when there is no sentence.
std::vector<std::string> read_sentences(const std::string& path);

}  // namespace minilm
