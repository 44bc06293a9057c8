// Exchange of arrays with other libraries through DLPack (ABI of version 0.8).
#pragma once
#include <stax/tensor/array.h>

// Complete in <stax/tensor/dlpack_abi.h>, or in DLPack's own header.
extern "C" {
struct DLManagedTensor;
}

namespace stax {

// The array's memory, shared, not copied: the result keeps it alive until its deleter runs, which the receiver must
// call once, from any thread. From then on the contents may change unseen (Storage::escape). Throws UserError for
// read-only memory, dtypes that DLPack 0.8 lacks (f8) and devices without memory.
DLManagedTensor* to_dlpack(const Array& array, const SourceLoc& where = {});

// Takes the tensor over without a copy: its deleter runs once, when the last array on the memory is gone. When the
// tensor is refused with a UserError (dtype, device, lanes, rank, sizes, alignment), it still belongs to the caller.
// Accepts CPU, pinned and CUDA memory, and any strides; no strides means row-major.
Array from_dlpack(DLManagedTensor* managed, const SourceLoc& where = {});

}  // namespace stax
