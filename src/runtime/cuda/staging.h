// Copies between pageable host memory and the device, in pieces through page-locked memory.
#pragma once
#include <deque>
#include <mutex>

#include "runtime/cuda/context.h"

namespace stax::runtime {

// Thread-safe; one copy at a time.
class CudaStaging {
 public:
  explicit CudaStaging(const CudaContext& context) : context_(context) {}
  ~CudaStaging();

  // `from` may change when it returns; the device reads the staged bytes in the order of the stream.
  void upload(void* to, const void* from, std::size_t bytes, cu::StreamHandle stream);
  // Returns when `to` is filled.
  void download(void* to, const void* from, std::size_t bytes, cu::StreamHandle stream);

  static constexpr std::size_t kSmall = std::size_t{64} << 10, kLarge = std::size_t{4} << 20;

 private:
  struct Chunk {
    Chunk(const CudaContext& context, char* memory) : memory(memory), done(context, false) {}
    char* memory;
    CudaEvent done;
    bool busy = false;
  };
  // Chunks of one size, used in turn. The memory is got when first needed.
  struct Ring {
    std::size_t chunk_bytes, count;
    std::deque<Chunk> chunks;
    std::size_t next = 0;
    char* memory = nullptr;
  };

  Ring& ring_for(std::size_t bytes);
  Chunk& free_chunk(Ring& ring);

  const CudaContext& context_;
  std::mutex mutex_;
  Ring small_{kSmall, 16, {}, 0, nullptr}, large_{kLarge, 4, {}, 0, nullptr};
};

}  // namespace stax::runtime
