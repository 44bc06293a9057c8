#include "examples.h"

namespace stax::golden {

namespace {

Graph rows() {
  const auto f = [](Tensor x, Tensor y) { return sum(relu(x + y) * 2, -1); };
  return make_graph(f)(zeros({64, 128}), zeros({64, 128}));
}

Graph transposed() {
  const auto f = [](Tensor x, Tensor y) { return x.t() + y; };
  return make_graph(f)(zeros({512, 256}), zeros({256, 512}));
}

Graph squares() {
  const auto f = [](Tensor x) { return sum(x * x, -1); };
  return make_graph(f)(zeros({64, 16384}));
}

Graph softmax_rows() {
  const auto f = [](Tensor x) { return softmax(x, -1); };
  return make_graph(f)(zeros({256, 1000}));
}

Graph dynamic_branch() {
  const auto f = [](Tensor x, Tensor y) { return x.size(0) > 4 ? x + y : x * 2; };
  return make_graph(f, {.tracing = Tracing::symbolic})(zeros({7, 5}), zeros({7, 5}));
}

}  // namespace

const std::vector<Example>& examples() {
  static const std::vector<std::string> kSplit{"graph", "lowered", "fused", "schedule", "cpp", "plan", "split"};
  static const std::vector<Example> list{
      {"e1_1", "E1.1: sum(relu(x + y) * 2, -1), 64x128: one kernel", rows, 1e-5},
      {"e6_1", "E6.1: x.t() + y, 256x512: the view is an address, the schedule tiles it", transposed},
      {"e6_2",
       "E6.2: sum(x * x, -1), 64x16384: one kernel on the CPU, 64x2 partial sums on a GPU",
       squares,
       1e-5,
       {{}},
       kSplit},
      {"e9_5", "E9.5: softmax(x, -1), 256x1000: one kernel, each row read once", softmax_rows, 1e-5},
      {"e10_4", "E10.4: a branch on a size is a guard", dynamic_branch, 0, {{}, {"s0=5", "s1=2"}, {"s0=100", "s1=33"}}},
  };
  return list;
}

}  // namespace stax::golden
