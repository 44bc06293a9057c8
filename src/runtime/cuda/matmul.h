// Matrix products by cuBLASLt.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/cpu/lru_map.h"
#include "runtime/cuda/cublas.h"
#include "runtime/cuda/device_allocator.h"
#include "runtime/cuda/matmul_plan.h"
#include "runtime/cuda/strided_copy.h"

namespace stax::runtime {

// A block of device memory for work that is being queued: it may be released as soon as the work is.
class DeviceScratch {
 public:
  DeviceScratch() = default;
  DeviceScratch(Allocator& allocator, std::size_t bytes)
      : allocator_(&allocator), data_(allocator.allocate(bytes)), bytes_(bytes) {}
  DeviceScratch(const DeviceScratch&) = delete;
  DeviceScratch& operator=(DeviceScratch&& o) noexcept {
    std::swap(allocator_, o.allocator_), std::swap(data_, o.data_), std::swap(bytes_, o.bytes_);
    return *this;
  }
  ~DeviceScratch() {
    if (data_) allocator_->release(data_, bytes_);
  }
  void* data() const { return data_; }

 private:
  Allocator* allocator_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Transposes, leading dimensions, batch strides (0 broadcasts) and the epilogues that the library has cost no copy;
// operands that it cannot address are copied first. f32 is computed in f32 (TF32 when allowed), half types accumulate
// in f32 and are rounded once. Descriptors and algorithms are kept by problem. Thread-safe.
class CudaMatmul {
 public:
  // `library` gives the library or throws why it is not there.
  using Library = const CublasLt& (*)();
  CudaMatmul(const CudaContext& context, DeviceAllocator& allocator, CudaStridedCopy& copies, Library library);
  ~CudaMatmul();

  void run(const MatmulArgs& args, cu::StreamHandle stream);

  void allow_tf32(bool allow);  // at first: STAX_TF32
  bool tf32() const;
  struct Stats {
    std::uint64_t calls = 0, searches = 0, copies = 0;  // searches: problems that were new; copies: of operands
    std::size_t kept = 0;
  };
  Stats stats() const;

 private:
  struct Call;
  struct Entry;
  class Queue;

  Entry& entry_for(const LtKey& key);
  std::unique_ptr<Entry> search(const LtKey& key);
  void check(lt::Status status, const char* what) const;

  const CudaContext& context_;
  DeviceAllocator& allocator_;
  CudaStridedCopy& copies_;
  Library library_;
  mutable std::mutex mutex_;
  const CublasLt* lt_ = nullptr;
  lt::Handle handle_ = nullptr;
  DeviceScratch workspace_;
  LruMap<LtKey, std::unique_ptr<Entry>, LtKeyHash> entries_;
  bool tf32_ = false;
  Stats stats_;
};

}  // namespace stax::runtime
