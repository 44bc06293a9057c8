// Prints the public declarations of the operators from their schemas.
//
//   gen_api header | source | methods        to standard output
//
// The results are committed as include/stax/frontend/ops.h, src/frontend/ops.cpp and
// include/stax/frontend/tensor_methods.inc; a test compares them.
#include <fmt/format.h>

#include <cstdio>

#include "graph/op_def.h"
#include "ops/ops.h"

namespace {

using stax::graph::Attribute;
using stax::graph::OpDef;
using stax::graph::Param;
using stax::graph::ParamKind;

std::string default_text(const Param& p) {
  const Attribute& a = *p.default_value;
  if (std::holds_alternative<std::monostate>(a))
    return p.kind == ParamKind::optional_dim || p.kind == ParamKind::optional_dtype ? "std::nullopt" : "{}";
  if (const auto* b = std::get_if<bool>(&a)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&a)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&a)) return fmt::format("{}", *d);
  if (const auto* s = std::get_if<std::string>(&a)) return fmt::format("\"{}\"", *s);
  if (const auto* t = std::get_if<stax::Dtype>(&a)) return std::string(stax::to_text(*t));
  return "{}";
}

std::string type_text(const Param& p) {
  switch (p.kind) {
    case ParamKind::tensor:
    case ParamKind::optional_tensor:
      return "const Tensor&";
    case ParamKind::tensor_list:
      return "const std::vector<Tensor>&";
    case ParamKind::operand:
      return "const Operand&";
    case ParamKind::boolean:
      return "bool";
    case ParamKind::integer:
      return "std::int64_t";
    case ParamKind::floating:
      return "double";
    case ParamKind::string:
      return "const std::string&";
    case ParamKind::dtype:
      return "Dtype";
    case ParamKind::optional_dtype:
      return "std::optional<Dtype>";
    case ParamKind::dim:
      return "const Dim&";
    case ParamKind::optional_dim:
      return "const std::optional<Dim>&";
    case ParamKind::dims:
      return "const Shape&";
    case ParamKind::axis:
      return "int";
    case ParamKind::axes:
    case ParamKind::optional_axes:
      return "const Axes&";
  }
  __builtin_unreachable();
}

bool is_operand(const Param& p) { return p.kind <= ParamKind::operand; }

// C++ wants parameters with defaults last.
std::vector<const Param*> ordered(const OpDef& op) {
  std::vector<const Param*> list;
  for (const Param& p : op.params)
    if (!p.default_value) list.push_back(&p);
  for (const Param& p : op.params)
    if (p.default_value) list.push_back(&p);
  return list;
}

std::string parameters(const OpDef& op, bool defaults, bool method) {
  std::string text;
  bool first = true;
  for (const Param* p : ordered(op)) {
    if (method && p == &op.params[0]) continue;
    text += fmt::format("{}{} {}", first ? "" : ", ", type_text(*p), p->name);
    if (defaults && p->default_value) text += " = " + default_text(*p);
    first = false;
  }
  return text + fmt::format("{}std::source_location where{}", first ? "" : ", ",
                            defaults ? " = std::source_location::current()" : "");
}

std::string result_type(const OpDef& op) {
  if (op.results.size() == 1) return "Tensor";
  std::string list;
  for (std::size_t i = 0; i < op.results.size(); ++i) list += i ? ", Tensor" : "Tensor";
  return "std::tuple<" + list + ">";
}

std::string doc(const OpDef& op, const std::string& indent) {
  std::string text = indent + "// " + op.doc + "\n";
  for (const Param& p : op.params)
    if (!p.doc.empty()) text += fmt::format("{}//   {}: {}\n", indent, p.name, p.doc);
  return text;
}

std::string call_arguments(const OpDef& op) {
  std::string text;
  for (const Param* p : ordered(op)) text += p->name + ", ";
  return text + "where";
}

std::string definition(const OpDef& op) {
  std::string operands, attributes;
  bool list = false;
  for (const Param& p : op.params) {
    if (p.kind == ParamKind::tensor_list) {
      list = true;
      operands = p.name;
    } else if (is_operand(p)) {
      operands += (operands.empty() ? "" : ", ") + p.name;
    } else {
      std::string value = p.kind == ParamKind::axis ? fmt::format("std::int64_t{{{}}}", p.name) : p.name;
      switch (p.kind) {
        case ParamKind::dim:
        case ParamKind::optional_dim:
        case ParamKind::dims:
        case ParamKind::axes:
        case ParamKind::optional_axes:
        case ParamKind::optional_dtype:
          value = fmt::format("attribute({}, where)", p.name);
          break;
        default:
          break;
      }
      attributes += fmt::format("{}{{\"{}\", {}}}", attributes.empty() ? "" : ", ", p.name, value);
    }
  }
  const std::string operand_list =
      list ? fmt::format("std::vector<Operand>({0}.begin(), {0}.end())", operands) : "{" + operands + "}";
  std::string text = fmt::format("{} {}({}) {{\n", result_type(op), op.name, parameters(op, false, false));
  const std::string call = fmt::format("(\"{}\", {}, {{{}}}, where)", op.name, operand_list, attributes);
  if (op.results.size() == 1) {
    text += "  return apply_one" + call + ";\n";
  } else {
    text += "  const std::vector<Tensor> results = apply" + call + ";\n  return {";
    for (std::size_t i = 0; i < op.results.size(); ++i) text += fmt::format("{}results[{}]", i ? ", " : "", i);
    text += "};\n";
  }
  text += "}\n";
  if (op.method)
    text += fmt::format("{} Tensor::{}({}) const {{ return stax::{}(*this, {}); }}\n", result_type(op), op.name,
                        parameters(op, false, true), op.name, call_arguments(op).substr(op.params[0].name.size() + 2));
  return text;
}

constexpr const char* kGenerated = "// Generated by tools/gen_api from the operators' schemas; do not edit.\n";

}  // namespace

int main(int argc, char** argv) {
  stax::ops::register_all();
  const std::string what = argc == 2 ? argv[1] : "";
  std::string out = kGenerated;
  if (what == "header") {
    out +=
        "#pragma once\n#include <stax/frontend/tensor.h>\n\n#include <optional>\n#include <string>\n#include "
        "<tuple>\n#include <vector>\n\nnamespace stax {\n\n";
    for (const OpDef* op : stax::graph::all_ops())
      if (!op->internal && !op->handwritten)
        out += doc(*op, "") + fmt::format("{} {}({});\n\n", result_type(*op), op->name, parameters(*op, true, false));
    out += "}  // namespace stax\n";
  } else if (what == "methods") {
    out += "// Members of Tensor; the functions of the same names in stax/frontend/ops.h say what they do.\n";
    for (const OpDef* op : stax::graph::all_ops())
      if (op->method && !op->internal && !op->handwritten)
        out += fmt::format("{} {}({}) const;\n", result_type(*op), op->name, parameters(*op, true, true));
  } else if (what == "source") {
    out +=
        "#include <stax/frontend/ops.h>\n\n#include \"frontend/dispatch.h\"\n\nnamespace stax {\n\nusing "
        "frontend::apply;\nusing frontend::apply_one;\nusing frontend::attribute;\n\n";
    for (const OpDef* op : stax::graph::all_ops())
      if (!op->internal && !op->handwritten) out += definition(*op) + "\n";
    out += "}  // namespace stax\n";
  } else {
    std::fprintf(stderr, "usage: gen_api header | source | methods\n");
    return 1;
  }
  std::fputs(out.c_str(), stdout);
  return 0;
}
