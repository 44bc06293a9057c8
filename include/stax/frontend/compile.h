// compile(): a function becomes one that runs compiled.
#pragma once
#include <stax/frontend/compiled.h>
#include <stax/frontend/tree.h>

#include <type_traits>

namespace stax {

namespace frontend {

// Leaves of arguments, without copies.
struct LeafCollector {
  Leaves& out;
  int depth = 0;
  void tensor(const Tensor& t) {
    out.tensors.push_back(&t);
    out.nested.push_back(depth > 0);
  }
  void scalar(const Scalar& s) { out.scalars.push_back(&s); }
  void dim(const Dim& d) {
    const std::int64_t v = d.value(std::source_location{});
    constant(&v, sizeof(v));
  }
  void constant(const void* data, std::size_t bytes) { out.key.append(static_cast<const char*>(data), bytes); }
  void count(std::size_t n) { constant(&n, sizeof(n)); }
  void enter() { ++depth; }
  void leave() { --depth; }
};

// Puts tensors and scalars in the places of the leaves.
struct LeafReplacer {
  const std::vector<Tensor>& tensors;
  const std::vector<Scalar>* scalars;
  std::size_t next_tensor = 0, next_scalar = 0;
  void tensor(Tensor& t) { t = tensors.at(next_tensor++); }
  void scalar(Scalar& s) {
    if (scalars) s = scalars->at(next_scalar++);
  }
  void dim(Dim&) {}
  void constant(const void*, std::size_t) {}
  void count(std::size_t) {}
  void enter() {}
  void leave() {}
};

// Tensors of a result; a traced number in it is read (and so guarded).
struct ResultCollector {
  std::vector<Tensor>& out;
  void tensor(Tensor& t) { out.push_back(t); }
  void scalar(Scalar& s) {
    if (s.kind() == Scalar::Kind::traced || s.kind() == Scalar::Kind::dim)
      s = s.is_floating() ? Scalar(s.to_double()) : Scalar(s.to_int());
  }
  void dim(Dim& d) { d = Dim(d.value(std::source_location{})); }
  void constant(const void*, std::size_t) {}
  void count(std::size_t) {}
  void enter() {}
  void leave() {}
};

template <class F>
struct SignatureOf : SignatureOf<decltype(&F::operator())> {};
template <class R, class... A>
struct SignatureOf<R(A...)> {
  using type = R(A...);
};
template <class R, class... A>
struct SignatureOf<R (*)(A...)> {
  using type = R(A...);
};
template <class C, class R, class... A>
struct SignatureOf<R (C::*)(A...)> {
  using type = R(A...);
};
template <class C, class R, class... A>
struct SignatureOf<R (C::*)(A...) const> {
  using type = R(A...);
};
template <class C, class R, class... A>
struct SignatureOf<R (C::*)(A...) noexcept> {
  using type = R(A...);
};
template <class C, class R, class... A>
struct SignatureOf<R (C::*)(A...) const noexcept> {
  using type = R(A...);
};

}  // namespace frontend

template <class Signature>
class Compiled;

// A compiled function: called like the one it was made of, by any number of threads. Copies share artifacts. The first
// call with a new structure of arguments (dtypes, ranks, plain numbers) or with sizes that no artifact serves traces
// and compiles.
template <class R, class... A>
class Compiled<R(A...)> {
 public:
  using Result = std::decay_t<R>;
  Compiled(std::function<R(A...)> f, CompileOptions options, std::string name)
      : function_(std::make_shared<std::function<R(A...)>>(std::move(f))),
        core_(std::make_shared<frontend::Core>(std::move(options), std::move(name))) {}

  Result operator()(const std::decay_t<A>&... args) const {
    frontend::Leaves leaves;
    frontend::LeafCollector collector{leaves};
    (frontend::visit_leaves(collector, args), ...);
    const auto runner = [&](const std::vector<Tensor>& tensors, const std::vector<Scalar>& scalars) {
      std::tuple<std::decay_t<A>...> copy(args...);
      frontend::LeafReplacer replacer{tensors, &scalars};
      std::apply([&](auto&... items) { (frontend::visit_leaves(replacer, items), ...); }, copy);
      auto result = std::make_shared<Result>(
          std::apply([&](auto&... items) { return (*function_)(static_cast<A>(items)...); }, copy));
      frontend::TracedCall traced;
      frontend::ResultCollector results{traced.results};
      frontend::visit_leaves(results, *result);
      traced.prototype = std::move(result);
      return traced;
    };
    std::vector<Tensor> outputs;
    const std::shared_ptr<const void> prototype = core_->call(leaves, runner, outputs);
    if (!prototype)
      return std::apply([&](auto&&... items) -> Result { return (*function_)(static_cast<A>(items)...); },
                        std::tuple<std::decay_t<A>...>(args...));
    if constexpr (std::is_same_v<Result, Tensor>) {
      return std::move(outputs[0]);
    } else {
      Result result = *static_cast<const Result*>(prototype.get());
      frontend::LeafReplacer replacer{outputs, nullptr};
      frontend::visit_leaves(replacer, result);
      return result;
    }
  }

  CompiledStats stats() const { return core_->stats(); }
  std::vector<ArtifactInfo> artifacts() const { return core_->artifacts(); }
  // What was compiled for these arguments: guards, kernels with their loops and source, library calls, refused fusions,
  // times. Compiles if need be.
  std::string explain(const std::decay_t<A>&... args) const {
    (void)(*this)(args...);
    return core_->explain();
  }
  // For every compile after the first: which artifact was tried and which guard failed, with the values.
  std::string why_recompiled() const { return core_->why_recompiled(); }

 private:
  std::shared_ptr<std::function<R(A...)>> function_;
  std::shared_ptr<frontend::Core> core_;
};

// `f`: any callable with one call operator whose parameters have named types. Arguments and results are tensors,
// numbers, strings, vectors, arrays, maps, tuples, optionals and plain aggregates of these. Tensors that `f` captures
// become inputs, held by identity.
template <class F>
auto compile(F f, CompileOptions options = {}) {
  using Signature = typename frontend::SignatureOf<std::decay_t<F>>::type;
  return Compiled<Signature>(std::function<Signature>(std::move(f)), std::move(options), "fn");
}

}  // namespace stax
