#include "recipe.h"

#include <algorithm>

#include "steps.h"

namespace stax::fuzz {

namespace {

constexpr std::int64_t kSizes[] = {2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 19, 31, 32, 33};
constexpr std::int64_t kLargeSizes[] = {40, 64, 65, 127, 128, 130};

std::vector<std::int64_t> draw_sizes(Random& r, bool large, std::size_t count) {
  std::vector<std::int64_t> sizes;
  while (sizes.size() < count) {
    const std::int64_t n = large && sizes.size() < 2 ? r.pick(kLargeSizes) : r.pick(kSizes);
    if (std::find(sizes.begin(), sizes.end(), n) == sizes.end()) sizes.push_back(n);
  }
  return sizes;
}

Dtype draw_dtype(Random& r, bool halves) {
  static constexpr Dtype kCommon[] = {Dtype::f32, Dtype::f32,     Dtype::f32, Dtype::f32, Dtype::i64, Dtype::i32,
                                      Dtype::f64, Dtype::boolean, Dtype::u8,  Dtype::i8,  Dtype::i16};
  static constexpr Dtype kHalf[] = {Dtype::f16, Dtype::bf16};
  return halves && r.chance(40) ? r.pick(kHalf) : r.pick(kCommon);
}

InputSpec draw_input(Random& r, const Recipe& recipe, bool halves) {
  InputSpec in;
  in.seed = r.next();
  if (r.chance(8)) {
    static constexpr Dtype kScalars[] = {Dtype::f64, Dtype::i64, Dtype::boolean};
    in.scalar = true;
    in.dtype = r.pick(kScalars);
    return in;
  }
  in.dtype = draw_dtype(r, halves);
  static constexpr int kRanks[] = {0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4};
  const int rank = r.pick(kRanks);
  std::int64_t elements = 1;
  for (int d = 0; d < rank; ++d) {
    Dim dim;
    if (r.chance(88)) {
      const int s = static_cast<int>(r.below(static_cast<std::int64_t>(recipe.sizes.size())));
      if (elements * recipe.sizes[static_cast<std::size_t>(s)] <= 20000) {
        dim.symbol = s;
        elements *= recipe.sizes[static_cast<std::size_t>(s)];
      }
    } else if (r.chance(20)) {
      dim.number = 0;
    } else if (r.chance(40)) {
      dim.number = r.between(2, 9);
      elements *= dim.number;
    }
    in.dims.push_back(dim);
  }
  in.layout = r.chance(45) ? Layout::dense : static_cast<Layout>(r.below(kLayouts));
  in.symbolic_strides = r.chance(30);
  in.fill = r.chance(60) ? Fill::whole : r.chance(75) ? Fill::small : Fill::special;
  return in;
}

int draw_operand(Random& r, int values) {
  // Mostly recent values, so that chains grow deep.
  if (r.chance(60)) return std::max(0, values - 1 - static_cast<int>(r.below(4)));
  return static_cast<int>(r.below(values));
}

}  // namespace

Recipe draw_recipe(std::uint64_t seed) {
  Random r(seed * 0x2545f4914f6cdd1du + 1);
  Recipe recipe;
  recipe.seed = seed;
  recipe.dynamic = r.chance(50);
  const bool halves = r.chance(25), large = r.chance(4);
  recipe.strict = halves || r.chance(50);
  const auto count = static_cast<std::size_t>(large ? 2 : r.between(2, 4));
  recipe.sizes = draw_sizes(r, large, count);
  if (recipe.dynamic)
    for (int i = 0; i < 5; ++i) recipe.other_sizes.push_back(draw_sizes(r, false, count));
  const int inputs = static_cast<int>(r.between(1, 5));
  for (int i = 0; i < inputs; ++i) recipe.inputs.push_back(draw_input(r, recipe, halves));
  if (recipe.inputs[0].scalar)
    recipe.inputs[0] = InputSpec{Dtype::f32, false, {Dim{0, 1}}, Layout::dense, false, Fill::whole, 1};
  const int steps = static_cast<int>(r.between(8, 40));
  for (int i = 0; i < steps; ++i) {
    Step s;
    s.kind = draw_step_kind(r);
    const int values = inputs + i;
    s.a = draw_operand(r, values), s.b = draw_operand(r, values), s.c = draw_operand(r, values);
    s.p = r.next();
    recipe.steps.push_back(s);
  }
  const int values = inputs + steps;
  recipe.outputs.push_back(values - 1);
  for (std::int64_t extra = r.between(0, 4); extra > 0; --extra)
    recipe.outputs.push_back(r.chance(10) ? static_cast<int>(r.below(inputs)) : draw_operand(r, values));
  if (r.chance(25))
    for (int i = 0; i < inputs; ++i)
      if (r.chance(50)) recipe.writes.push_back({i, draw_operand(r, values), r.chance(40)});
  return recipe;
}

std::vector<Recipe> simpler(const Recipe& r) {
  std::vector<Recipe> list;
  auto add = [&](auto&& change) {
    list.push_back(r);
    change(list.back());
  };
  const std::size_t n = r.outputs.size();
  if (n + r.writes.size() > 1) {
    if (!r.writes.empty() && n > 0) add([](Recipe& s) { s.writes.clear(); });
    for (std::size_t i = 0; i < n; ++i)
      if (n > 1) add([i](Recipe& s) { s.outputs = {s.outputs[i]}; });
    for (std::size_t i = 0; i < n; ++i)
      add([i](Recipe& s) { s.outputs.erase(s.outputs.begin() + static_cast<std::ptrdiff_t>(i)); });
    for (std::size_t i = 0; i < r.writes.size(); ++i)
      add([i](Recipe& s) { s.writes.erase(s.writes.begin() + static_cast<std::ptrdiff_t>(i)); });
  }
  if (!r.other_sizes.empty()) add([](Recipe& s) { s.other_sizes.clear(); });
  for (std::size_t i = 0; i < r.other_sizes.size() && r.other_sizes.size() > 1; ++i)
    add([i](Recipe& s) { s.other_sizes = {s.other_sizes[i]}; });
  if (r.dynamic && r.other_sizes.empty()) add([](Recipe& s) { s.dynamic = false; });
  // An output may be what its step was made of.
  const int inputs = static_cast<int>(r.inputs.size());
  for (std::size_t i = 0; i < n; ++i)
    if (r.outputs[i] >= inputs)
      for (int which = 0; which < 2; ++which)
        add([=](Recipe& s) {
          const Step& step = s.steps[static_cast<std::size_t>(s.outputs[i] - inputs)];
          s.outputs[i] = which ? step.b : step.a;
        });
  const std::vector<bool> live = live_values(r);
  for (std::size_t i = r.steps.size(); i-- > 0;)
    if (live[r.inputs.size() + i] && !r.steps[i].bypassed) add([i](Recipe& s) { s.steps[i].bypassed = true; });
  for (std::size_t i = 0; i < r.inputs.size(); ++i) {
    if (!live[i]) continue;
    if (r.inputs[i].layout != Layout::dense) add([i](Recipe& s) { s.inputs[i].layout = Layout::dense; });
    if (r.inputs[i].fill == Fill::special) add([i](Recipe& s) { s.inputs[i].fill = Fill::small; });
    if (r.inputs[i].fill == Fill::small) add([i](Recipe& s) { s.inputs[i].fill = Fill::whole; });
    for (std::size_t d = 0; d < r.inputs[i].dims.size(); ++d)
      add([=](Recipe& s) { s.inputs[i].dims.erase(s.inputs[i].dims.begin() + static_cast<std::ptrdiff_t>(d)); });
  }
  for (std::size_t i = 0; i < r.sizes.size(); ++i)
    for (std::int64_t smaller : {std::int64_t{2}, std::int64_t{3}, r.sizes[i] / 2, r.sizes[i] - 1})
      if (smaller >= 2 && smaller < r.sizes[i] && std::find(r.sizes.begin(), r.sizes.end(), smaller) == r.sizes.end())
        add([=](Recipe& s) { s.sizes[i] = smaller; });
  return list;
}

}  // namespace stax::fuzz
