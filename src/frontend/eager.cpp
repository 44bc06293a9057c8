// Operators outside a trace.
#include <fmt/format.h>
#include <stax/frontend/compile.h>

#include <limits>
#include <map>
#include <mutex>

#include "base/env.h"
#include "frontend/core_impl.h"
#include "frontend/dispatch.h"
#include "frontend/placed.h"
#include "graph/interpret.h"
#include "runtime/device_runtime.h"
#include "runtime/transfer.h"

namespace stax::frontend {

namespace {

// From this many elements on an operator is worth a compile.
constexpr std::int64_t kReferenceElements = 64 * 1024;

bool always_reference() {
  static const bool value = base::env_choice("STAX_EAGER") == "reference";
  return value;
}

std::string attribute_key(const graph::Attributes& attributes) {
  std::string key;
  for (const auto& [name, a] : attributes) {
    key += name + "=";
    if (const auto* b = std::get_if<bool>(&a))
      key += *b ? "true" : "false";
    else if (const auto* i = std::get_if<std::int64_t>(&a))
      key += std::to_string(*i);
    else if (const auto* d = std::get_if<double>(&a))
      key += fmt::format("{:a}", *d);
    else if (const auto* s = std::get_if<std::string>(&a))
      key += *s;
    else if (const auto* t = std::get_if<Dtype>(&a))
      key += to_text(*t);
    else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a))
      key += fmt::format("[{}]", fmt::join(*list, ","));
    key += ";";
  }
  return key;
}

// The compiled form of one operator with one set of attributes; sizes are symbols.
Core& core_of(const std::string& key, const std::string& name) {
  static std::mutex mutex;
  static auto* cores = new std::map<std::string, std::unique_ptr<Core>>;
  std::lock_guard lock(mutex);
  auto& slot = (*cores)[key];
  if (!slot)
    slot =
        std::make_unique<Core>(CompileOptions{.dynamic = Dynamic::yes, .max_artifacts = 64, .max_compiles = 256}, name);
  return *slot;
}

// On the host; what is elsewhere is copied there and back. Views are metadata, whatever the device.
std::vector<Tensor> run_reference(const graph::OpDef& op, const std::vector<Operand>& operands,
                                  const graph::Attributes& attributes, Device device, const SourceLoc& where) {
  std::vector<Array> arrays;
  std::vector<bool> scalars;
  for (const Operand& o : operands) {
    if (o.is_tensor)
      arrays.push_back(op.is_view() ? o.tensor.array() : runtime::on_host(o.tensor.array()));
    else
      arrays.push_back(o.given ? scalar_array(o.scalar, where) : Array{});
    scalars.push_back(!o.is_tensor && o.given);
  }
  std::vector<Tensor> results;
  for (const Array& a : graph::evaluate_op(op, arrays, scalars, attributes, where))
    results.emplace_back(runtime::moved_to(a, device));
  return results;
}

// Where the result lies: with the operands, which must agree, or where the attribute says.
Device device_of(const graph::OpDef& op, const std::vector<Operand>& operands, const graph::Attributes& attributes,
                 const SourceLoc& where) {
  std::optional<Device> found;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].is_tensor) continue;
    const Device d = operands[i].tensor.device();
    if (found && d != *found)
      throw UserError(
          fmt::format("{}: argument {} is on {}, the others are on {}", op.name, i, to_string(d), to_string(*found)),
          where, "Move it with .to(device)");
    found = d;
  }
  if (found) return *found;
  const auto it = attributes.find("device");
  const auto* text = it == attributes.end() ? nullptr : std::get_if<std::string>(&it->second);
  return text ? parse_device(*text) : Device{};
}

std::int64_t result_elements(const graph::OpDef& op, const graph::Attributes& attributes) {
  auto it = attributes.find("sizes");
  const auto* list =
      it == attributes.end() || op.is_view() ? nullptr : std::get_if<std::vector<std::int64_t>>(&it->second);
  if (!list) return 0;
  std::int64_t n = 1;
  bool too_many = false;  // the operator says so; whether it is a small one is clear
  for (std::int64_t s : *list) {
    if (s <= 0) return 0;
    too_many |= __builtin_mul_overflow(n, s, &n);
  }
  return too_many ? std::numeric_limits<std::int64_t>::max() : n;
}

std::vector<Tensor> run(const graph::OpDef& op, const std::vector<Operand>& operands,
                        const graph::Attributes& attributes, const SourceLoc& where) {
  std::int64_t elements = result_elements(op, attributes);
  bool has_tensors = false;
  for (const Operand& o : operands) {
    if (!o.is_tensor) continue;
    if (const std::uint64_t trace = o.tensor.impl()->trace) (void)Trace::expect(trace, "tensor", where);
    elements = std::max(elements, o.tensor.array(std::source_location{}).numel());
    has_tensors = true;
  }
  const Device device = device_of(op, operands, attributes, where);
  // New small tensors are made on the host, for every device: their kernels would be built for one shape each.
  const bool on_host = device.kind == DeviceKind::cpu || !has_tensors;
  if (op.is_view() || (on_host && elements < kReferenceElements) || always_reference())
    return run_reference(op, operands, attributes, device, where);

  Leaves leaves;
  std::vector<Scalar> scalars;
  for (const Operand& o : operands) {
    if (o.is_tensor)
      leaves.tensors.push_back(&o.tensor), leaves.nested.push_back(false);
    else if (o.given)
      leaves.scalars.push_back(&o.scalar);
    leaves.key += o.is_tensor ? 't' : o.given ? 's' : '-';
  }
  const Runner runner = [&](const std::vector<Tensor>& tensors, const std::vector<Scalar>& numbers) {
    std::vector<Operand> inner;
    std::size_t t = 0, s = 0;
    for (const Operand& o : operands)
      inner.push_back(o.is_tensor ? Operand(tensors[t++]) : o.given ? Operand(numbers[s++]) : Operand());
    return TracedCall{apply(op.name, std::move(inner), attributes, where), std::make_shared<int>(0)};
  };
  std::vector<Tensor> outputs;
  if (!core_of(op.name + ";" + attribute_key(attributes), op.name).call(leaves, runner, outputs))
    return run_reference(op, operands, attributes, device, where);
  return outputs;
}

}  // namespace

std::vector<Tensor> run_eager(const graph::OpDef& op, const std::vector<Operand>& operands,
                              const graph::Attributes& attributes, const SourceLoc& where) {
  return placed_operator(op.name, where, [&] { return run(op, operands, attributes, where); });
}

}  // namespace stax::frontend
