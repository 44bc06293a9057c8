#include "common/inputs.h"

#include <fmt/format.h>
#include <stax/tensor/io.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/philox.h"
#include "base/text.h"
#include "symbolic/analysis.h"

namespace stax::tools {

std::vector<InputSpec> input_specs(const graph::Graph& g) {
  std::vector<InputSpec> specs;
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const graph::TensorType& t = g.inputs[i].type();
    specs.push_back({g.input_names[i], t.dtype, t.scalar, t.sizes, t.strides});
  }
  return specs;
}

std::vector<InputSpec> input_specs(const loop::Program& p) {
  std::vector<InputSpec> specs;
  for (const loop::Buffer& b : p.buffers) {
    if (b.kind != loop::BufferKind::input) continue;
    specs.resize(std::max(specs.size(), static_cast<std::size_t>(b.input) + 1));
    specs[static_cast<std::size_t>(b.input)] = {b.name, b.dtype, false, b.sizes, b.strides};
  }
  for (const loop::ScalarInput& s : p.scalars)
    if (!s.value) specs.push_back({s.name, s.dtype, true, {}, {}});
  return specs;
}

namespace {

struct Assignment {
  std::string name, value;
};

Assignment split(const std::string& text, const char* option, const char* example) {
  const std::size_t at = text.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == text.size())
    throw UserError(fmt::format("{}: '{}' is not of the form {}", option, text, example));
  return {text.substr(0, at), text.substr(at + 1)};
}

template <class T>
T number(const Assignment& a, const char* option) {
  T value{};
  const auto [end, error] = std::from_chars(a.value.data(), a.value.data() + a.value.size(), value);
  if (error != std::errc() || end != a.value.data() + a.value.size())
    throw UserError(fmt::format("{} {}: '{}' is not a number", option, a.name, a.value));
  return value;
}

class Gatherer {
 public:
  Gatherer(std::vector<InputSpec> specs, std::vector<Expr> symbols, const InputOptions& options)
      : options_(options), symbols_(std::move(symbols)) {
    in_.specs = std::move(specs);
    in_.arrays.resize(in_.specs.size());
    in_.made.resize(in_.specs.size());
  }

  Inputs run() {
    read_files();
    read_dims();
    read_scalars();
    take_hints();
    check_files();
    make_missing();
    for (std::size_t i = 0; i < in_.arrays.size(); ++i) lay_out(i);
    return std::move(in_);
  }

 private:
  std::string names(bool scalars) const {
    std::vector<std::string> list;
    for (const InputSpec& s : in_.specs)
      if (s.scalar == scalars) list.push_back(s.name);
    return list.empty() ? "none" : base::joined(list);
  }

  std::size_t find(const std::string& name, bool scalar) const {
    for (std::size_t i = 0; i < in_.specs.size(); ++i)
      if (in_.specs[i].name == name && in_.specs[i].scalar == scalar) return i;
    return in_.specs.size();
  }

  void read_files() {
    std::size_t next = 0;
    for (const std::string& text : options_.files) {
      const std::size_t equals = text.find('=');
      std::string path = text;
      std::size_t i = equals == std::string::npos ? in_.specs.size() : find(text.substr(0, equals), false);
      if (i < in_.specs.size()) {
        path = text.substr(equals + 1);
      } else {
        if (equals != std::string::npos && !std::filesystem::exists(text))
          throw UserError(fmt::format("--input {}: there is no tensor input '{}' (inputs: {})", text,
                                      text.substr(0, equals), names(false)));
        while (next < in_.specs.size() && (in_.specs[next].scalar || in_.arrays[next].defined())) ++next;
        if (next == in_.specs.size())
          throw UserError(
              fmt::format("--input {}: every tensor input has a file already (inputs: {})", text, names(false)));
        i = next;
      }
      const InputSpec& s = in_.specs[i];
      in_.arrays[i] = io::load_npy(path);
      paths_[i] = path;
      const Array& a = in_.arrays[i];
      if (a.dtype() != s.dtype)
        throw UserError(fmt::format("input {}: {} holds {}, the text says {}", s.name, path, to_string(a.dtype()),
                                    to_string(s.dtype)),
                        {}, "Convert the file with numpy's astype");
      if (a.rank() != static_cast<int>(s.sizes.size()))
        throw UserError(
            fmt::format("input {}: {} has rank {}, the text says {}", s.name, path, a.rank(), s.sizes.size()));
      for (int d = 0; d < a.rank(); ++d)
        if (const Expr e = s.sizes[static_cast<std::size_t>(d)]; e.is_symbol())
          in_.sizes.try_emplace(std::string(e.name()), a.size(d));
    }
  }

  void read_dims() {
    for (const std::string& text : options_.dims) {
      const Assignment a = split(text, "--dim", "s0=17");
      const auto value = number<std::int64_t>(a, "--dim");
      std::vector<std::string> known;
      for (Expr s : symbols_) known.emplace_back(s.name());
      if (std::find(known.begin(), known.end(), a.name) == known.end())
        throw UserError(fmt::format("--dim {}: there is no size of this name", a.name), {},
                        "Sizes: " + (known.empty() ? "none" : base::joined(known)));
      const auto [it, fresh] = in_.sizes.try_emplace(a.name, value);
      if (it->second != value)
        throw UserError(fmt::format("--dim {}={}: the input files say {}", a.name, value, it->second));
    }
  }

  void read_scalars() {
    for (const std::string& text : options_.scalars) {
      const Assignment a = split(text, "--scalar", "c0=2.5");
      const std::size_t i = find(a.name, true);
      if (i == in_.specs.size())
        throw UserError(fmt::format("--scalar {}: no such scalar input", a.name), {}, "Scalar inputs: " + names(true));
      Array value = Array::empty({}, in_.specs[i].dtype);
      if (value.dtype() == Dtype::f64)
        *value.data_as<double>() = number<double>(a, "--scalar");
      else if (value.dtype() == Dtype::boolean)
        *value.data_as<bool>() = number<std::int64_t>(a, "--scalar") != 0;
      else
        *value.data_as<std::int64_t>() = number<std::int64_t>(a, "--scalar");
      in_.arrays[i] = std::move(value);
    }
    for (std::size_t i = 0; i < in_.specs.size(); ++i)
      if (in_.specs[i].scalar && !in_.arrays[i].defined())
        throw UserError(fmt::format("the scalar input {} has no value", in_.specs[i].name), {},
                        fmt::format("Give --scalar {}=NUMBER", in_.specs[i].name));
  }

  void take_hints() {
    for (Expr s : symbols_)
      if (const auto hint = symbolic::hint_of(s)) in_.sizes.try_emplace(std::string(s.name()), *hint);
  }

  void check_files() const {
    for (const auto& [i, path] : paths_)
      for (std::size_t d = 0; d < in_.specs[i].sizes.size(); ++d)
        if (const Expr size = in_.specs[i].sizes[d]; in_.value_of(size) != in_.arrays[i].sizes()[d])
          throw UserError(fmt::format("input {}: size {} of axis {} of {} does not fit {}{}", in_.specs[i].name,
                                      in_.arrays[i].sizes()[d], d, path,
                                      size.constant() ? "" : symbolic::to_string(size) + " = ", in_.value_of(size)));
  }

  void make_missing() {
    for (std::size_t i = 0; i < in_.specs.size(); ++i) {
      if (in_.arrays[i].defined()) continue;
      in_.made[i] = true;
      Dims sizes;
      for (Expr e : in_.specs[i].sizes) sizes.push_back(in_.value_of(e));
      Array a = Array::empty(std::span<const std::int64_t>(sizes.data(), sizes.size()), in_.specs[i].dtype);
      visit_dtype(a.dtype(), [&](auto zero) {
        using T = decltype(zero);
        for (std::int64_t e = 0; e < a.numel(); ++e) {
          T& element = a.data_as<T>()[e];
          const auto seed = static_cast<std::uint64_t>(i) + 1;
          if constexpr (std::is_same_v<T, bool>)
            element = base::random_uniform(seed, static_cast<std::uint64_t>(e)) < 0.5f;
          else if constexpr (std::is_integral_v<T>)
            element =
                static_cast<T>(1 + static_cast<int>(3 * base::random_uniform(seed, static_cast<std::uint64_t>(e))));
          else
            element = static_cast<T>(base::random_normal(seed, static_cast<std::uint64_t>(e)));
        }
      });
      in_.arrays[i] = std::move(a);
    }
  }

  // Gives the array the strides that the text asks for.
  void lay_out(std::size_t i) {
    const InputSpec& s = in_.specs[i];
    if (s.scalar) return;
    Layout layout{in_.arrays[i].sizes(), {}, 0};
    for (Expr e : s.strides) layout.strides.push_back(in_.value_of(e));
    if (layout.strides == in_.arrays[i].strides()) return;
    const auto [low, high] = extent_of(layout);
    layout.offset = -low;
    Array whole = Array::empty({std::max<std::int64_t>(high - low + 1, 0)}, s.dtype);
    const Array laid = whole.with_layout(layout);
    copy_elements(in_.arrays[i], laid);
    in_.arrays[i] = laid;
  }

  const InputOptions& options_;
  std::vector<Expr> symbols_;
  Inputs in_;
  std::map<std::size_t, std::string> paths_;
};

}  // namespace

std::vector<Array> Inputs::tensors() const {
  std::vector<Array> list;
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (!specs[i].scalar) list.push_back(arrays[i]);
  return list;
}

std::vector<plan::ScalarValue> Inputs::scalars() const {
  std::vector<plan::ScalarValue> list;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!specs[i].scalar) continue;
    const Array& a = arrays[i];
    list.push_back(a.dtype() == Dtype::f64       ? plan::ScalarValue::of(*a.data_as<double>())
                   : a.dtype() == Dtype::boolean ? plan::ScalarValue::of(*a.data_as<bool>())
                                                 : plan::ScalarValue::of(*a.data_as<std::int64_t>()));
  }
  return list;
}

std::int64_t Inputs::value_of(Expr e) const {
  std::string missing;
  const auto value = symbolic::evaluate(e, [&](Expr s) -> std::optional<std::int64_t> {
    if (auto it = sizes.find(std::string(s.name())); it != sizes.end()) return it->second;
    missing = s.name();
    return std::nullopt;
  });
  if (!value)
    throw UserError(fmt::format("the size {} has no value and no hint", missing), {},
                    fmt::format("Give --dim {}=NUMBER", missing));
  return *value;
}

loop::Bindings Inputs::bindings(const loop::Program& p) const {
  loop::Bindings b;
  for (Expr s : p.sizes) b.sizes.push_back(value_of(s));
  b.inputs = tensors();
  std::vector<plan::ScalarValue> given = scalars();
  std::size_t next = 0;
  for (const loop::ScalarInput& s : p.scalars) {
    const plan::ScalarValue v = !s.value                ? given.at(next++)
                                : s.dtype == Dtype::f64 ? plan::ScalarValue::of(static_cast<double>(value_of(s.value)))
                                                        : plan::ScalarValue::of(value_of(s.value));
    const bool floating = v.dtype == Dtype::f64;
    b.scalars_f64.push_back(floating ? std::bit_cast<double>(v.bits)
                                     : static_cast<double>(static_cast<std::int64_t>(v.bits)));
    b.scalars_i64.push_back(floating ? 0 : static_cast<std::int64_t>(v.bits));
  }
  return b;
}

Inputs gather_inputs(const graph::Graph& g, const InputOptions& options) {
  std::vector<Expr> symbols;
  for (const symbolic::SizeSymbol& s : g.env().symbols()) symbols.push_back(s.symbol);
  return Gatherer(input_specs(g), std::move(symbols), options).run();
}

Inputs gather_inputs(const loop::Program& p, const InputOptions& options) {
  return Gatherer(input_specs(p), p.sizes, options).run();
}

std::string describe(const Inputs& inputs) {
  std::string text;
  for (std::size_t i = 0; i < inputs.specs.size(); ++i)
    if (!inputs.specs[i].scalar)
      text += fmt::format(
          "input {}: {}{}{}\n", inputs.specs[i].name, to_string(inputs.specs[i].dtype),
          to_string(std::span<const std::int64_t>(inputs.arrays[i].sizes().data(), inputs.arrays[i].sizes().size())),
          inputs.made[i] ? ", made from a fixed seed" : "");
  return text;
}

}  // namespace stax::tools
