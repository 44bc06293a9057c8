// Facts read off the arguments of a call.
#pragma once
#include "plan/executable.h"

namespace stax::plan {

// The ranks have been checked.
inline std::int64_t read_fact(const Fact& f, const CallArgs& args) {
  const auto input = static_cast<std::size_t>(f.input);
  const auto axis = static_cast<std::size_t>(f.axis);
  switch (f.kind) {
    case Fact::Kind::size:
      return args.tensors[input]->sizes()[axis];
    case Fact::Kind::stride:
      return args.tensors[input]->strides()[axis];
    case Fact::Kind::offset:
      return args.tensors[input]->offset();
    case Fact::Kind::scalar:
      return static_cast<std::int64_t>(args.scalars[input].bits);
  }
  return 0;
}

// Whether the first element lies at a multiple of `bytes`. A device without memory counts as if its storages began at
// 0.
inline bool is_aligned(const Array& x, std::int64_t bytes) {
  const std::uintptr_t base = reinterpret_cast<std::uintptr_t>(x.storage()->data());
  return (base + static_cast<std::uintptr_t>(x.offset() * byte_size(x.dtype()))) % static_cast<std::uintptr_t>(bytes) ==
         0;
}

}  // namespace stax::plan
