#include <fmt/format.h>

#include "base/text.h"
#include "commands.h"
#include "graph/op_def.h"

namespace stax::tools {

namespace {

using graph::OpDef;
using graph::Param;
using graph::ParamKind;

std::string_view kind_text(ParamKind kind) {
  switch (kind) {
    case ParamKind::tensor:
      return "tensor";
    case ParamKind::optional_tensor:
      return "tensor?";
    case ParamKind::tensor_list:
      return "tensors";
    case ParamKind::operand:
      return "tensor|number";
    case ParamKind::boolean:
      return "bool";
    case ParamKind::integer:
      return "int";
    case ParamKind::floating:
      return "float";
    case ParamKind::string:
      return "string";
    case ParamKind::dtype:
      return "dtype";
    case ParamKind::optional_dtype:
      return "dtype?";
    case ParamKind::dim:
      return "size";
    case ParamKind::optional_dim:
      return "size?";
    case ParamKind::dims:
      return "sizes";
    case ParamKind::axis:
      return "axis";
    case ParamKind::axes:
      return "axes";
    case ParamKind::optional_axes:
      return "axes?";
  }
  return "?";
}

std::string default_text(const graph::Attribute& a) {
  if (const auto* b = std::get_if<bool>(&a)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&a)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&a)) return base::float_text(*d);
  if (const auto* s = std::get_if<std::string>(&a)) return base::quote(*s);
  if (const auto* t = std::get_if<Dtype>(&a)) return to_string(*t);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a)) return fmt::format("[{}]", fmt::join(*list, ", "));
  return "none";
}

std::string signature(const OpDef& op) {
  std::string text = op.name + "(";
  for (const Param& p : op.params) {
    if (&p != &op.params.front()) text += ", ";
    text += fmt::format("{}: {}", p.name, kind_text(p.kind));
    if (p.default_value) text += " = " + default_text(*p.default_value);
  }
  return text + ") -> " + base::joined(op.results);
}

std::string kinds(const OpDef& op) {
  std::vector<std::string> list{op.is_view() ? "view" : op.decompose ? "composite" : "primitive"};
  if (op.method) list.emplace_back("method");
  if (op.internal) list.emplace_back("internal");
  return base::joined(list);
}

int run(const std::string& name) {
  if (name.empty()) {
    for (const OpDef* op : graph::all_ops()) fmt::print("{}  [{}]\n    {}\n", signature(*op), kinds(*op), op->doc);
    return 0;
  }
  const OpDef& op = graph::op(name);
  fmt::print("{}\n{}\nkind: {}\n", signature(op), op.doc, kinds(op));
  for (const Param& p : op.params)
    fmt::print("  {}: {}{}{}\n", p.name, kind_text(p.kind), p.doc.empty() ? "" : ", ", p.doc);
  if (op.samples) fmt::print("samples: {}\n", op.samples().size());
  return 0;
}

}  // namespace

Command add_ops(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("ops", "the operators: signature, meaning, kind");
  sub->add_option("NAME", *name, "one operator");
  return [name] { return run(*name); };
}

}  // namespace stax::tools
