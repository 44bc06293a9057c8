// The four structures of the DLPack ABI, version 0.8, for programs that do not have DLPack's own header. Include one of
// the two.
#pragma once
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#include <cstdint>

extern "C" {

enum DLDeviceType { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };

struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};

enum DLDataTypeCode { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };

// `bits` counts one lane; scalars have one lane.
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

// Strides in elements; null means row-major. The first element is at data + byte_offset.
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

}  // extern "C"
#endif  // DLPACK_DLPACK_H_
