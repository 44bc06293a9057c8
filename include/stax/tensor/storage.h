// A block of memory with its version.
#pragma once
#include <stax/tensor/device.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace stax {

// Gives and takes back memory of one device. Thread-safe.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual void* allocate(std::size_t bytes) = 0;  // 64-byte aligned; DeviceError when it cannot
  virtual void release(void* data, std::size_t bytes) noexcept = 0;
};

// Reference counted by std::shared_ptr. The version counts writes: what is derived from the contents (packed weights)
// is valid for one version. Memory handed out for writing has no trustworthy version.
class Storage {
 public:
  Storage(Allocator& allocator, std::size_t bytes, Device device)
      : data_(bytes ? allocator.allocate(bytes) : nullptr), bytes_(bytes), device_(device), allocator_(&allocator) {}
  // Memory of somebody else; `release` runs once when the last user is gone.
  Storage(void* data, std::size_t bytes, Device device, std::function<void()> release, bool read_only = false)
      : data_(data), bytes_(bytes), device_(device), release_(std::move(release)), read_only_(read_only) {}
  ~Storage() {
    if (watched_.load(std::memory_order_acquire)) death_hook_.load()(id_);
    if (allocator_ && data_) allocator_->release(data_, bytes_);
    if (release_) release_();
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  bool read_only() const { return read_only_; }  // a mapped file: writing is a UserError
  std::uint64_t id() const { return id_; }       // unique in the process, never reused
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  void bump_version() { version_.fetch_add(1, std::memory_order_acq_rel); }
  // From now on nobody can know when the contents change.
  void escape() { escaped_.store(true, std::memory_order_release); }
  bool version_trusted() const {
    return !escaped_.load(std::memory_order_acquire) || constant_.load(std::memory_order_acquire);
  }
  // From now on the process's death hook is told when this storage ends (by what keeps things derived from its
  // contents).
  void watch() { watched_.store(true, std::memory_order_release); }
  // Set once, before the first watch(). The hook must not throw.
  static void set_death_hook(void (*hook)(std::uint64_t id)) { death_hook_.store(hook); }
  void declare_constant() { constant_.store(true, std::memory_order_release); }

 private:
  static std::uint64_t next_id();
  void* data_;
  std::size_t bytes_;
  Device device_;
  Allocator* allocator_ = nullptr;
  std::function<void()> release_;
  bool read_only_ = false;
  std::uint64_t id_ = next_id();
  std::atomic<std::uint64_t> version_{0};
  std::atomic<bool> escaped_{false}, constant_{false}, watched_{false};
  static inline std::atomic<void (*)(std::uint64_t)> death_hook_{nullptr};
};

// The process's allocator of a device; the CPU's is the caching allocator once the runtime is loaded (set_allocator),
// malloc before.
Allocator& allocator_for(Device device);
void set_allocator(Device device, Allocator& allocator);

}  // namespace stax
