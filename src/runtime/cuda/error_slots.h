// Words in page-locked memory that kernels report to while the host goes on.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cuda/context.h"

namespace stax::runtime {

// Thread-safe. Outlives its slots.
class CudaErrorSlots {
 public:
  explicit CudaErrorSlots(CudaContext& context) : context_(context) {}
  ~CudaErrorSlots();

  std::shared_ptr<ErrorSlot> make(RaiseError raise);
  // Waits for the stream and raises the first report, of a live slot or of one that has gone; it is cleared.
  void wait_and_raise(cu::StreamHandle stream);
  // For whoever has waited for the work that may have reported.
  void raise_reported();

  struct Stats {
    std::size_t live = 0, waiting = 0, pages = 0;  // waiting: of dead owners, until the stream has passed them
  };
  Stats stats() const;

 private:
  struct Word {
    ErrorWord* host = nullptr;
    ErrorWord* device = nullptr;
  };
  // Of a slot that has gone while its kernels may still run or have reported.
  struct Left {
    Word word;
    RaiseError raise;
  };
  class Slot;

  Word take();
  void add_page();

  CudaContext& context_;
  mutable std::mutex mutex_;
  std::list<Slot*> live_;
  std::vector<Word> free_;
  std::vector<Left> waiting_;
  std::vector<void*> pages_;
};

}  // namespace stax::runtime
