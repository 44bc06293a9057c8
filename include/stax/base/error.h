// The three kinds of error: the user's (UserError), a device's (DeviceError), and ours (InternalError).
#pragma once
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stax {

// A place in the user's source. An empty file means that the place is unknown.
struct SourceLoc {
  std::string file;
  int line = 0;

  SourceLoc() = default;
  SourceLoc(std::string f, int l) : file(std::move(f)), line(l) {}
  SourceLoc(const std::source_location& l) : file(l.file_name()), line(static_cast<int>(l.line())) {}  // NOLINT
  bool known() const { return !file.empty(); }
  bool operator==(const SourceLoc&) const = default;
};

// "dir/main.cpp:12", or "" when unknown.
std::string to_string(const SourceLoc& where);

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bad input. what() reads "<what> at <file>:<line>. <remedy>"; the parts stay available.
class UserError : public Error {
 public:
  explicit UserError(std::string what, SourceLoc where = {}, std::string remedy = {});
  const std::string& problem() const { return problem_; }
  const SourceLoc& where() const { return where_; }
  const std::string& remedy() const { return remedy_; }

 private:
  std::string problem_, remedy_;
  SourceLoc where_;
};

// A device refused or failed: out of memory, launch failure, no driver.
class DeviceError : public Error {
 public:
  using Error::Error;
};

// A device has no memory left. what() reads "<problem> at <file>:<line>. <holders>. <remedy>".
class OutOfMemory : public DeviceError {
 public:
  struct Bytes {
    std::uint64_t asked = 0, in_use = 0,
                  cached = 0;  // in_use: all of Stax; cached: got from the system, used by nobody
  };
  OutOfMemory(std::string problem, std::string holders, std::string remedy, Bytes bytes, SourceLoc where = {});
  const std::string& problem() const { return problem_; }  // "out of memory on cuda:0: asked for 2.00 GiB"
  const std::string& holders() const { return holders_; }  // what holds the memory
  const std::string& remedy() const { return remedy_; }
  const Bytes& bytes() const { return bytes_; }
  const SourceLoc& where() const { return where_; }

 private:
  std::string problem_, holders_, remedy_;
  Bytes bytes_;
  SourceLoc where_;
};

// A fault of Stax itself.
class InternalError : public Error {
 public:
  using Error::Error;
};

namespace base {
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& message);
}
}  // namespace stax

// Throws InternalError when the condition is false; the message is only built on failure.
#define STAX_CHECK(condition, message)                                     \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::stax::base::check_failed(#condition, __FILE__, __LINE__, message); \
  } while (false)
