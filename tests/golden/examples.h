// The functions whose texts at every stage are fixed by tests/golden/examples/*.txt.
#pragma once
#include <stax/stax.h>

#include <functional>
#include <string>
#include <vector>

namespace stax::golden {

struct Example {
  std::string name;   // of the file
  std::string title;  // its first line
  std::function<Graph()> trace;
  double tolerance = 0;                               // of compiled code against the reference, relative to 1 + |value|
  std::vector<std::vector<std::string>> runs = {{}};  // sizes of the numerical runs, as --dim takes them
  std::vector<std::string> stages = {"graph", "lowered", "fused", "schedule", "cpp", "plan"};
};

const std::vector<Example>& examples();

}  // namespace stax::golden
