// What Stax uses of the CUDA driver's API, declared from its public description; the library is opened at run time.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stax::runtime::cu {

using Result = int;
using DeviceId = int;
using Address = std::uint64_t;  // in device memory
using Context = struct ContextOpaque*;
using StreamHandle = struct StreamOpaque*;
using EventHandle = struct EventOpaque*;
using ModuleHandle = struct ModuleOpaque*;
using FunctionHandle = struct FunctionOpaque*;
using GraphHandle = struct GraphOpaque*;
using GraphExec = struct GraphExecOpaque*;

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kDeinitialized = 4,
  kNoDevice = 100,
  kNotReady = 600,
  kIllegalAddress = 700,
};
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMultiprocessorCount = 16,
  kL2CacheSize = 38,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kMaxSharedPerBlockOptIn = 97,
};
enum FunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,  // static
  kFunctionMaxDynamicShared = 8,
};
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventTiming = 0, kEventNoTiming = 2;
inline constexpr unsigned kHostPortable = 1, kHostDeviceMap = 2;
inline constexpr int kCaptureThreadLocal = 1;

// X(member, symbol, parameters)
#define STAX_CUDA_FUNCTIONS(X)                                                                                       \
  X(init, cuInit, (unsigned flags))                                                                                  \
  X(driver_version, cuDriverGetVersion, (int* version))                                                              \
  X(error_name, cuGetErrorName, (Result error, const char** text))                                                   \
  X(error_string, cuGetErrorString, (Result error, const char** text))                                               \
  X(device_count, cuDeviceGetCount, (int* count))                                                                    \
  X(device_get, cuDeviceGet, (DeviceId * device, int index))                                                         \
  X(device_name, cuDeviceGetName, (char* name, int length, DeviceId device))                                         \
  X(device_memory, cuDeviceTotalMem_v2, (std::size_t * bytes, DeviceId device))                                      \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, DeviceId device))                            \
  X(primary_context_retain, cuDevicePrimaryCtxRetain, (Context * context, DeviceId device))                          \
  X(primary_context_release, cuDevicePrimaryCtxRelease_v2, (DeviceId device))                                        \
  X(context_set_current, cuCtxSetCurrent, (Context context))                                                         \
  X(stream_create, cuStreamCreate, (StreamHandle * stream, unsigned flags))                                          \
  X(stream_destroy, cuStreamDestroy_v2, (StreamHandle stream))                                                       \
  X(stream_synchronize, cuStreamSynchronize, (StreamHandle stream))                                                  \
  X(stream_begin_capture, cuStreamBeginCapture_v2, (StreamHandle stream, int mode))                                  \
  X(stream_end_capture, cuStreamEndCapture, (StreamHandle stream, GraphHandle * graph))                              \
  X(graph_instantiate, cuGraphInstantiateWithFlags, (GraphExec * exec, GraphHandle graph, unsigned long long flags)) \
  X(graph_launch, cuGraphLaunch, (GraphExec exec, StreamHandle stream))                                              \
  X(graph_exec_destroy, cuGraphExecDestroy, (GraphExec exec))                                                        \
  X(graph_destroy, cuGraphDestroy, (GraphHandle graph))                                                              \
  X(event_create, cuEventCreate, (EventHandle * event, unsigned flags))                                              \
  X(event_destroy, cuEventDestroy_v2, (EventHandle event))                                                           \
  X(event_record, cuEventRecord, (EventHandle event, StreamHandle stream))                                           \
  X(event_synchronize, cuEventSynchronize, (EventHandle event))                                                      \
  X(event_query, cuEventQuery, (EventHandle event))                                                                  \
  X(event_elapsed, cuEventElapsedTime, (float* milliseconds, EventHandle begin, EventHandle end))                    \
  X(memory_info, cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                         \
  X(memory_allocate, cuMemAlloc_v2, (Address * address, std::size_t bytes))                                          \
  X(memory_free, cuMemFree_v2, (Address address))                                                                    \
  X(host_allocate, cuMemHostAlloc, (void** memory, std::size_t bytes, unsigned flags))                               \
  X(host_free, cuMemFreeHost, (void* memory))                                                                        \
  X(host_device_address, cuMemHostGetDevicePointer_v2, (Address * address, void* memory, unsigned flags))            \
  X(copy_to_device, cuMemcpyHtoDAsync_v2, (Address to, const void* from, std::size_t bytes, StreamHandle stream))    \
  X(copy_to_host, cuMemcpyDtoHAsync_v2, (void* to, Address from, std::size_t bytes, StreamHandle stream))            \
  X(copy_on_device, cuMemcpyDtoDAsync_v2, (Address to, Address from, std::size_t bytes, StreamHandle stream))        \
  X(fill_bytes, cuMemsetD8Async, (Address to, unsigned char value, std::size_t bytes, StreamHandle stream))          \
  X(module_load, cuModuleLoadData, (ModuleHandle * module, const void* image))                                       \
  X(module_unload, cuModuleUnload, (ModuleHandle module))                                                            \
  X(module_function, cuModuleGetFunction, (FunctionHandle * function, ModuleHandle module, const char* name))        \
  X(function_attribute, cuFuncGetAttribute, (int* value, int attribute, FunctionHandle function))                    \
  X(function_set_attribute, cuFuncSetAttribute, (FunctionHandle function, int attribute, int value))                 \
  X(launch, cuLaunchKernel,                                                                                          \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, StreamHandle stream, void** parameters, void** extra))

struct Functions {
#define X(member, symbol, parameters) Result(*member) parameters = nullptr;
  STAX_CUDA_FUNCTIONS(X)
#undef X
};

}  // namespace stax::runtime::cu
