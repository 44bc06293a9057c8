// The parser of the text form: declarations in parse.cpp, kernels in parse_kernel.cpp.
#pragma once
#include "base/scanner.h"
#include "loop/text.h"

namespace stax::loop {

class ProgramParser {
 public:
  ProgramParser(std::string_view text, std::string_view file) : scan_(text, std::string(file)) {
    program_.context = std::make_shared<symbolic::Context>();
  }
  Program run();

 private:
  symbolic::Context& context() { return *program_.context; }
  // Offset of the next token, for errors.
  std::size_t here() {
    scan_.rest();
    return scan_.offset();
  }
  std::string name(std::string_view what);
  Expr expr();
  symbolic::Bool condition();
  std::vector<Expr> exprs(std::string_view close);
  std::int64_t bound(std::int64_t infinite);
  Expr symbol_of(std::string_view name);

  void sizes();
  void facts();
  void buffer();
  void scalar();
  void origin();
  void kernel();
  void call();
  View view();

  std::vector<Axis> axes(char letter);
  void phase(Kernel& k);
  void value(Kernel& k);
  void payload(Value& v);
  void finish_dtype(const Kernel& k, Value& v, std::size_t at);
  void operands(Value& v, int count);
  ValueId operand();
  std::uint64_t literal(Dtype dtype);
  BufferId buffer_ref();
  int scalar_ref();
  std::vector<Expr> row_major(const std::vector<Expr>& sizes);

  base::Scanner scan_;
  Program program_;
  std::unordered_map<std::string, BufferId> buffers_;
  std::unordered_map<std::string, Expr> scope_;        // axes and bounded symbols of the kernel, by their written name
  std::unordered_map<std::int64_t, ValueId> numbers_;  // written number of a value → id
  int inputs_ = 0;
};

}  // namespace stax::loop
