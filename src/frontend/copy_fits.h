// Whether the source of a copy broadcasts to its target.
#pragma once
#include <fmt/format.h>
#include <stax/base/error.h>

#include <vector>

namespace stax::frontend {

// Every axis of the source, from the last one, has the target's size or 1. Throws UserError with both shapes. Sizes are
// numbers or expressions: `fits` decides about one of the source and one of the target.
template <class Size, class Fits, class ShapeText, class SizeText>
void check_copy_fits(const std::vector<Size>& source, const std::vector<Size>& target, Fits fits, ShapeText shape_text,
                     SizeText size_text, const SourceLoc& where) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("copy_: a source of shape {} does not fit a target of shape {}: {}", shape_text(source),
                                shape_text(target), why),
                    where, "Sizes must be equal, or 1 in the source");
  };
  if (source.size() > target.size()) refuse(fmt::format("it has {} axes, the target {}", source.size(), target.size()));
  for (std::size_t d = 1; d <= source.size(); ++d) {
    const Size &from = source[source.size() - d], &to = target[target.size() - d];
    if (!fits(from, to)) refuse(fmt::format("{} against {} at axis -{}", size_text(from), size_text(to), d));
  }
}

}  // namespace stax::frontend
