#include "tensor/npy_dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace stax::io {
namespace {

struct Spelling {
  std::string_view descr;
  Dtype dtype;
};

constexpr Spelling kSpellings[] = {
    {"|b1", Dtype::boolean},
    {"|u1", Dtype::u8},
    {"|i1", Dtype::i8},
    {"<i2", Dtype::i16},
    {"<i4", Dtype::i32},
    {"<i8", Dtype::i64},
    {"<f2", Dtype::f16},
    {"<f4", Dtype::f32},
    {"<f8", Dtype::f64},
    {"bfloat16", Dtype::bf16},
    {"float8_e4m3fn", Dtype::f8e4m3},
    {"float8_e5m2", Dtype::f8e5m2},
};
static_assert(std::size(kSpellings) == kDtypeCount);

std::optional<Dtype> find(std::string_view descr) {
  const auto* found =
      std::find_if(std::begin(kSpellings), std::end(kSpellings), [&](const Spelling& s) { return s.descr == descr; });
  if (found == std::end(kSpellings)) return std::nullopt;
  return found->dtype;
}

}  // namespace

std::string_view npy_spelling(Dtype dtype) {
  for (const Spelling& spelling : kSpellings)
    if (spelling.dtype == dtype) return spelling.descr;
  throw InternalError("a dtype without npy spelling");
}

Dtype parse_npy_dtype(std::string_view descr, const DataFile& file) {
  if (const auto dtype = find(descr)) return *dtype;
  const std::string_view kind = descr.substr(std::min<std::size_t>(descr.find_first_not_of("<>|="), descr.size()));
  if (kind.starts_with('O'))
    file.fail("holds pickled Python objects", "Save an array of numbers: numpy.save(path, array, allow_pickle=False).");
  // Single bytes have no order.
  if (const auto dtype = find(fmt::format("|{}", kind)); dtype && descr.size() == kind.size() + 1) return *dtype;
  if (descr.starts_with('>') && find(fmt::format("<{}", kind)))
    file.fail(fmt::format("is big-endian (dtype '{}')", descr),
              "Save it little-endian: array.astype('<" + std::string(kind) + "').");
  std::string known;
  for (const Spelling& spelling : kSpellings) known += fmt::format("{}'{}'", known.empty() ? "" : ", ", spelling.descr);
  file.fail(fmt::format("has dtype {}, which Stax does not have", excerpt(descr)), "Valid are " + known + ".");
}

}  // namespace stax::io
