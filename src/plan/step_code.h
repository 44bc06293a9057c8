// A plan's steps with every expression replaced by the register that holds its value.
#pragma once
#include <variant>
#include <vector>

#include "plan/expr_code.h"
#include "plan/plan.h"
#include "runtime/module.h"

namespace stax::plan {

// Registers of sizes and strides (rank each, in one run of the list), and of the offset.
struct ViewCode {
  int buffer = -1;
  int rank = 0;
  int first = 0;  // sizes at registers_of[first …], then strides
  int offset = 0;
};

struct AllocCode {
  int buffer, bytes;
};
struct FreeCode {
  int buffer;
};
struct LaunchCode {
  void* function;
  int first_buffer, buffers, first_int, ints, first_scalar, scalars;  // runs of the index list
  int step;                                                           // of the plan
  int grid[3];                                                        // registers; -1: 1
  int report;  // position of its error slot; -1: it takes the word of the call
};
struct MatmulCode {
  Dtype dtype;
  ViewCode a, b, out, bias, residual;
  bool has_bias, has_residual;
  runtime::Activation activation;
  double scale;
  int weight_input;  // -1: b is not packed
};
struct CopyCode {
  Dtype from_dtype, to_dtype;
  ViewCode from, to;
};
using StepCode = std::variant<AllocCode, FreeCode, LaunchCode, MatmulCode, CopyCode>;

struct OutputCode {
  Dtype dtype;
  ViewCode view;
  int input;  // whose storage it shares; -1: that of the buffer
};

struct DerivedCode {
  Dtype dtype;
  int value;
};

struct PlanCode {
  PlanCode(const Plan& plan, const std::vector<std::shared_ptr<runtime::Module>>& modules);

  ExprCode expressions;
  std::vector<int> list;  // registers, buffers and scalar positions that the steps index
  std::vector<DerivedCode> derived;
  std::vector<StepCode> steps;
  std::size_t first_step = 0;  // of the plan; those before it allocate outputs
  std::vector<int> reports;    // by error slot: the step of the plan
  std::vector<OutputCode> outputs;
  int most_buffers = 0, most_ints = 0, most_scalars = 0;  // of one launch

 private:
  int put(const symbolic::Expr& e) {
    list.push_back(expressions.add(e));
    return static_cast<int>(list.size()) - 1;
  }
  ViewCode view(const View& v);
  void alloc_missing(const Plan& plan);
  StepCode code(const Plan& plan, const AllocStep& s);
  StepCode code(const Plan& plan, const FreeStep& s);
  StepCode code(const Plan& plan, const LaunchStep& s);
  StepCode code(const Plan& plan, const MatmulStep& s);
  StepCode code(const Plan& plan, const CopyStep& s);
  std::vector<void*> functions_;
  int next_step_ = 0;
};

}  // namespace stax::plan
