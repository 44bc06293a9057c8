#include <fmt/format.h>
#include <stax/base/error.h>
#include <stax/tensor/storage.h>

#include <array>
#include <cstdlib>

#include "base/text.h"

namespace stax {

std::uint64_t Storage::next_id() {
  static std::atomic<std::uint64_t> counter{1};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

namespace {

class MallocAllocator final : public Allocator {
 public:
  void* allocate(std::size_t bytes) override {
    void* p = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p)
      throw OutOfMemory(fmt::format("out of memory on cpu: asked for {}", base::bytes_text(bytes)),
                        "The system gave no more", "Use smaller tensors", {bytes, 0, 0});
    return p;
  }
  void release(void* data, std::size_t) noexcept override { std::free(data); }
};

constexpr int kMaxDevices = 16;
std::atomic<Allocator*>& slot(Device d) {
  static std::array<std::array<std::atomic<Allocator*>, kMaxDevices>, 3> table{};
  if (d.index < 0 || d.index >= kMaxDevices)
    throw DeviceError(
        fmt::format("there is no device {}: Stax uses the devices 0 to {}", to_string(d), kMaxDevices - 1));
  return table[static_cast<std::size_t>(d.kind)][static_cast<std::size_t>(d.index)];
}

}  // namespace

Allocator& allocator_for(Device device) {
  if (Allocator* a = slot(device).load(std::memory_order_acquire)) return *a;
  if (device.kind == DeviceKind::cpu) {
    static MallocAllocator malloc_allocator;
    return malloc_allocator;
  }
  throw DeviceError(fmt::format("no allocator for device {}", to_string(device)));
}

void set_allocator(Device device, Allocator& allocator) { slot(device).store(&allocator, std::memory_order_release); }

}  // namespace stax
