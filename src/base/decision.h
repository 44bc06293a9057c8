// The answer to "may we?": yes, or no with a reason that a person can read.
#pragma once
#include <string>
#include <utility>

namespace stax::base {

class [[nodiscard]] Decision {
 public:
  static Decision yes() { return Decision(true, {}); }
  static Decision no(std::string reason) { return Decision(false, std::move(reason)); }

  explicit operator bool() const { return yes_; }
  const std::string& reason() const { return reason_; }  // empty for yes

 private:
  Decision(bool yes, std::string reason) : yes_(yes), reason_(std::move(reason)) {}
  bool yes_;
  std::string reason_;
};

}  // namespace stax::base
