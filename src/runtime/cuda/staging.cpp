#include "runtime/cuda/staging.h"

#include <algorithm>
#include <cstring>

namespace stax::runtime {

CudaStaging::~CudaStaging() {
  for (Ring* r : {&small_, &large_}) {
    r->chunks.clear();
    if (r->memory) context_.driver().host_free(r->memory);
  }
}

CudaStaging::Ring& CudaStaging::ring_for(std::size_t bytes) {
  Ring& ring = bytes <= kSmall ? small_ : large_;
  if (ring.chunks.empty()) {
    void* memory = nullptr;
    context_.check(context_.driver().host_allocate(&memory, ring.chunk_bytes * ring.count, cu::kHostPortable),
                   "page-locked host memory");
    ring.memory = static_cast<char*>(memory);
    for (std::size_t i = 0; i < ring.count; ++i) ring.chunks.emplace_back(context_, ring.memory + i * ring.chunk_bytes);
  }
  return ring;
}

CudaStaging::Chunk& CudaStaging::free_chunk(Ring& ring) {
  Chunk& chunk = ring.chunks[ring.next++ % ring.count];
  if (chunk.busy) chunk.done.wait();
  chunk.busy = false;
  return chunk;
}

void CudaStaging::upload(void* to, const void* from, std::size_t bytes, cu::StreamHandle stream) {
  if (bytes == 0) return;
  context_.make_current();
  const std::lock_guard lock(mutex_);
  Ring& ring = ring_for(bytes);
  for (std::size_t at = 0; at < bytes; at += ring.chunk_bytes) {
    const std::size_t n = std::min(ring.chunk_bytes, bytes - at);
    Chunk& chunk = free_chunk(ring);
    std::memcpy(chunk.memory, static_cast<const char*>(from) + at, n);
    context_.check(context_.driver().copy_to_device(reinterpret_cast<cu::Address>(to) + at, chunk.memory, n, stream),
                   "copying to the device");
    chunk.done.record({stream});
    chunk.busy = true;
  }
}

void CudaStaging::download(void* to, const void* from, std::size_t bytes, cu::StreamHandle stream) {
  if (bytes == 0) return;
  context_.make_current();
  const std::lock_guard lock(mutex_);
  Ring& ring = ring_for(bytes);
  const std::size_t pieces = (bytes + ring.chunk_bytes - 1) / ring.chunk_bytes;
  const std::size_t first = ring.next;
  auto size_of = [&](std::size_t i) { return std::min(ring.chunk_bytes, bytes - i * ring.chunk_bytes); };
  auto drain = [&](std::size_t i) {
    Chunk& chunk = ring.chunks[(first + i) % ring.count];
    chunk.done.wait();
    chunk.busy = false;
    std::memcpy(static_cast<char*>(to) + i * ring.chunk_bytes, chunk.memory, size_of(i));
  };
  // All chunks but one are under way while one is emptied.
  std::size_t drained = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    if (i - drained >= ring.count) drain(drained++);
    Chunk& chunk = free_chunk(ring);
    context_.check(context_.driver().copy_to_host(
                       chunk.memory, reinterpret_cast<cu::Address>(from) + i * ring.chunk_bytes, size_of(i), stream),
                   "copying from the device");
    chunk.done.record({stream});
    chunk.busy = true;
  }
  while (drained < pieces) drain(drained++);
}

}  // namespace stax::runtime
