// The catalogue of operators, with the ones that the graph itself needs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "graph/op_def.h"

namespace stax::graph {

namespace {

struct Registry {
  std::shared_mutex mutex;
  std::map<std::string, OpDef, std::less<>> ops;

  Registry() {
    auto no_infer = [](InferContext& c) -> std::vector<TensorType> { c.error("is made by the graph only"); };
    ops["input"] = OpDef{.name = "input",
                         .doc = "An input of the graph.",
                         .params = {{"index", ParamKind::integer, {}, "position"}},
                         .internal = true,
                         .infer = no_infer};
    ops["literal"] = OpDef{.name = "literal",
                           .doc = "A host scalar that is known.",
                           .params = {{"value", ParamKind::floating, {}, "the number"}},
                           .internal = true,
                           .infer = no_infer};
    ops["size"] = OpDef{.name = "size",
                        .doc = "A size used as a number.",
                        .params = {{"value", ParamKind::dim, {}, "the expression"}},
                        .internal = true,
                        .infer = no_infer};
  }
};

Registry& registry() {
  static Registry r;
  return r;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t up = row[j];
      row[j] = std::min({up + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = up;
    }
  }
  return row.back();
}

}  // namespace

void register_op(OpDef def) {
  std::unique_lock lock(registry().mutex);
  STAX_CHECK(!registry().ops.contains(def.name), "operator defined twice: " + def.name);
  std::string name = def.name;
  registry().ops.emplace(std::move(name), std::move(def));
}

const OpDef* find_op(std::string_view name) {
  std::shared_lock lock(registry().mutex);
  auto it = registry().ops.find(name);
  return it == registry().ops.end() ? nullptr : &it->second;
}

const OpDef& op(std::string_view name) {
  if (const OpDef* found = find_op(name)) return *found;
  std::string near;
  for (const OpDef* o : all_ops()) {
    if (edit_distance(o->name, name) <= 2) near += (near.empty() ? "" : ", ") + o->name;
  }
  throw UserError(fmt::format("unknown operator '{}'", name), {},
                  near.empty() ? "`stax ops` lists the operators" : fmt::format("Did you mean: {}?", near));
}

std::vector<const OpDef*> all_ops() {
  std::shared_lock lock(registry().mutex);
  std::vector<const OpDef*> result;
  for (const auto& [name, def] : registry().ops) result.push_back(&def);
  return result;
}

const Param* OpDef::find_param(std::string_view param) const {
  auto it = std::find_if(params.begin(), params.end(), [&](const Param& p) { return p.name == param; });
  return it == params.end() ? nullptr : &*it;
}

}  // namespace stax::graph
