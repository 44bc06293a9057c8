#include <fmt/format.h>
#include <stax/base/error.h>

namespace stax {

std::string to_string(const SourceLoc& where) {
  return where.known() ? fmt::format("{}:{}", where.file, where.line) : std::string();
}

namespace {
std::string compose(const std::string& what, const SourceLoc& where, const std::string& remedy) {
  std::string text = what;
  if (where.known()) text += " at " + to_string(where);
  if (!remedy.empty()) text += ". " + remedy;
  return text;
}
}  // namespace

UserError::UserError(std::string what, SourceLoc where, std::string remedy)
    : Error(compose(what, where, remedy)),
      problem_(std::move(what)),
      remedy_(std::move(remedy)),
      where_(std::move(where)) {}

OutOfMemory::OutOfMemory(std::string problem, std::string holders, std::string remedy, Bytes bytes, SourceLoc where)
    : DeviceError(compose(problem, where, holders + ". " + remedy)),
      problem_(std::move(problem)),
      holders_(std::move(holders)),
      remedy_(std::move(remedy)),
      bytes_(bytes),
      where_(std::move(where)) {}

namespace base {
void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(fmt::format("{}:{}: {} (check failed: {})", file, line, message, condition));
}
}  // namespace base
}  // namespace stax
