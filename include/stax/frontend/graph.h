// Traced graphs as values: text, parsing, interpretation.
#pragma once
#include <stax/frontend/compile.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stax {

namespace graph {
class Graph;
}

enum class Tracing : std::uint8_t {
  concrete,  // sizes are numbers
  symbolic,  // sizes of tensor arguments are symbols
};
struct GraphOptions {
  Tracing tracing = Tracing::concrete;
};

// An operator graph. Cheap to copy; immutable.
class Graph {
 public:
  Graph() = default;
  explicit Graph(std::shared_ptr<const graph::Graph> impl) : impl_(std::move(impl)) {}
  const graph::Graph& impl() const { return *impl_; }
  bool defined() const { return impl_ != nullptr; }

 private:
  std::shared_ptr<const graph::Graph> impl_;
};

std::string to_text(const Graph& g);
// UserError with line and column.
Graph parse_graph(std::string_view text);
// Runs the graph operator by operator by reference evaluation on the CPU; one tensor per input of the graph. Tensors of
// other devices are copied there and back.
std::vector<Tensor> interpret(const Graph& g, const std::vector<Tensor>& inputs);

namespace frontend {
Graph trace_graph(const Leaves& leaves, const Runner& runner, const GraphOptions& options);
}

// A callable that, given example arguments, returns the graph of `f`.
template <class F>
auto make_graph(F f, GraphOptions options = {}) {
  using Signature = typename frontend::SignatureOf<std::decay_t<F>>::type;
  return [f = std::move(f), options]<class... A>(const A&... args) {
    return [&]<class R, class... P>(R (*)(P...)) {
      const std::tuple<std::decay_t<P>...> typed(args...);
      frontend::Leaves leaves;
      frontend::LeafCollector collector{leaves};
      std::apply([&](const auto&... items) { (frontend::visit_leaves(collector, items), ...); }, typed);
      const auto runner = [&](const std::vector<Tensor>& tensors, const std::vector<Scalar>& scalars) {
        auto copy = typed;
        frontend::LeafReplacer replacer{tensors, &scalars};
        std::apply([&](auto&... items) { (frontend::visit_leaves(replacer, items), ...); }, copy);
        auto result = std::apply([&](auto&... items) { return f(static_cast<P>(items)...); }, copy);
        frontend::TracedCall traced;
        frontend::ResultCollector results{traced.results};
        frontend::visit_leaves(results, result);
        return traced;
      };
      return frontend::trace_graph(leaves, runner, options);
    }(static_cast<Signature*>(nullptr));
  };
}

}  // namespace stax
