#include "loop/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace stax::loop {
namespace {

using Values = std::vector<std::int64_t>;

Values values_of(const RunState& s, const std::vector<Expr>& exprs) {
  Values result;
  for (Expr e : exprs) result.push_back(s.value_of(e));
  return result;
}

// Lowest and highest flat address of a strided extent; {0, -1} when empty.
std::pair<std::int64_t, std::int64_t> span_of(const Values& sizes, const Values& strides) {
  std::int64_t lo = 0, hi = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] <= 0) return {0, -1};
    const std::int64_t reach = (sizes[d] - 1) * strides[d];
    (reach < 0 ? lo : hi) += reach;
  }
  return {lo, hi};
}

// Uninitialised memory that shows: NaN or an unlikely integer, true for booleans.
void poison(char* data, std::size_t bytes, Dtype dtype) {
  std::memset(data, dtype == Dtype::boolean ? 1 : is_floating(dtype) ? 0xff : 0xa5, bytes);
}

struct Placed {
  std::shared_ptr<Storage> storage;
  std::int64_t offset = 0;  // of flat address 0 in the storage, in elements
};

class Run {
 public:
  Run(const Program& p, const Bindings& b) : state_{p, b, {}, {}} {
    STAX_CHECK(b.sizes.size() == p.sizes.size(),
               fmt::format("{} sizes are bound, the program has {}", b.sizes.size(), p.sizes.size()));
    for (std::size_t i = 0; i < p.scalars.size(); ++i) {
      const std::size_t bound = is_floating(p.scalars[i].dtype) ? b.scalars_f64.size() : b.scalars_i64.size();
      STAX_CHECK(p.scalars[i].value || i < bound, fmt::format("scalar {} is not bound", i));
    }
    for (std::size_t i = 0; i < p.sizes.size(); ++i) state_.sizes[p.sizes[i]] = b.sizes[i];
    for (const Buffer& buffer : p.buffers) place(buffer);
  }

  std::vector<Array> operator()() {
    const Program& p = state_.program;
    for (const Item& item : p.items) {
      if (const auto* k = std::get_if<Kernel>(&item))
        run_kernel(state_, *k);
      else
        run_call(state_, std::get<LibraryCall>(item));
    }
    std::vector<Array> outputs;
    for (const View& v : p.outputs) {
      const auto b = static_cast<std::size_t>(v.buffer);
      const Values sizes = values_of(state_, v.sizes), strides = values_of(state_, v.strides);
      Layout layout{Dims(sizes.begin(), sizes.end()), Dims(strides.begin(), strides.end()),
                    placed_[b].offset + (v.offset ? state_.value_of(v.offset) : 0)};
      outputs.emplace_back(placed_[b].storage, p.buffers[b].dtype, std::move(layout));
    }
    return outputs;
  }

 private:
  void place(const Buffer& b) {
    const auto [lo, hi] = span_of(values_of(state_, b.sizes), values_of(state_, b.strides));
    Memory m{nullptr, b.dtype, lo, hi};
    Placed at;
    if (b.kind == BufferKind::input) {
      STAX_CHECK(b.input >= 0 && b.input < static_cast<int>(state_.bindings.inputs.size()),
                 fmt::format("input {} is not bound", b.input));
      const Array& a = state_.bindings.inputs[static_cast<std::size_t>(b.input)];
      STAX_CHECK(a.dtype() == b.dtype,
                 fmt::format("input {} is {}, not {}", b.input, stax::to_text(a.dtype()), stax::to_text(b.dtype)));
      const auto elements = static_cast<std::int64_t>(a.storage()->bytes()) / byte_size(b.dtype);
      STAX_CHECK(hi < lo || (a.offset() + lo >= 0 && a.offset() + hi < elements),
                 fmt::format("input {} has {} elements, its buffer reaches from {} to {}", b.input, elements,
                             a.offset() + lo, a.offset() + hi));
      at = {a.storage(), a.offset()};
    } else {
      const std::int64_t elements = hi - lo + 1;
      Array a = Array::empty({elements}, b.dtype);
      if (elements > 0) poison(a.data_as<char>(), static_cast<std::size_t>(elements * byte_size(b.dtype)), b.dtype);
      at = {a.storage(), -lo};
    }
    if (at.storage->data()) m.base = static_cast<char*>(at.storage->data()) + at.offset * byte_size(b.dtype);
    state_.memory.push_back(m);
    placed_.push_back(std::move(at));
  }

  RunState state_;
  std::vector<Placed> placed_;
};

}  // namespace

std::int64_t RunState::value_of(Expr e) const {
  const auto v = symbolic::evaluate(e, [this](Expr symbol) -> std::optional<std::int64_t> {
    const auto found = sizes.find(symbol);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  });
  STAX_CHECK(v.has_value(), symbolic::to_string(e) + " mentions symbols that are no sizes of the program");
  return *v;
}

OriginText origin_of(const Program& p, int origin, const std::string& otherwise) {
  if (origin < 0 || origin >= static_cast<int>(p.origins.size())) return {otherwise, {}};
  const Origin& o = p.origins[static_cast<std::size_t>(origin)];
  return {o.op, o.where};
}

std::vector<Array> interpret(const Program& p, const Bindings& bindings) { return Run(p, bindings)(); }

}  // namespace stax::loop
