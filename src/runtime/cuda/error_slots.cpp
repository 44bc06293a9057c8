#include "runtime/cuda/error_slots.h"

#include <stax/base/error.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

namespace stax::runtime {

namespace {

constexpr std::size_t kPage = 4096;

bool reported(const ErrorWord& word) {
  return std::atomic_ref(const_cast<std::int64_t&>(word.code)).load(std::memory_order_acquire) != 0;
}
// The rest of a report is written after its code: the kernel must have ended. From the moment that the code is 0 the
// next kernel may report.
ErrorWord take_report(ErrorWord& word) {
  const ErrorWord copy = word;
  word.origin = word.index = word.bound = 0;
  std::atomic_ref(word.code).store(0, std::memory_order_release);
  return copy;
}

}  // namespace

class CudaErrorSlots::Slot final : public ErrorSlot {
 public:
  Slot(CudaErrorSlots& owner, Word word, RaiseError raise) : owner_(owner), word_(word), raise_(std::move(raise)) {
    const std::lock_guard lock(owner_.mutex_);
    at_ = owner_.live_.insert(owner_.live_.end(), this);
  }
  ~Slot() override {
    const std::lock_guard lock(owner_.mutex_);
    owner_.live_.erase(at_);
    owner_.waiting_.push_back({word_, std::move(raise_)});
  }
  ErrorWord* word() override { return word_.device; }

  void raise_if_reported() override {
    if (!reported(*word_.host)) [[likely]]
      return;
    owner_.context_.refuse_in_capture("a kernel has reported an error, which cannot be read");
    owner_.context_.wait(owner_.context_.stream());
    std::optional<ErrorWord> report;
    {
      const std::lock_guard lock(owner_.mutex_);
      if (reported(*word_.host)) report = take_report(*word_.host);  // else another thread has raised it
    }
    if (report) raise(*report);
  }

  ErrorWord* host_word() const { return word_.host; }
  const RaiseError& raise_function() const { return raise_; }
  static void call(const RaiseError& raise, const ErrorWord& report) {
    raise(report);
    throw InternalError("a kernel reported an error that nobody explained");
  }

 private:
  void raise(const ErrorWord& report) const { call(raise_, report); }

  CudaErrorSlots& owner_;
  Word word_;
  RaiseError raise_;
  std::list<Slot*>::iterator at_;
};

CudaErrorSlots::~CudaErrorSlots() {
  for (void* page : pages_) context_.driver().host_free(page);
}

void CudaErrorSlots::add_page() {
  context_.refuse_in_capture("a place for errors cannot be made");
  context_.make_current();
  void* page = nullptr;
  context_.check(context_.driver().host_allocate(&page, kPage, cu::kHostPortable | cu::kHostDeviceMap),
                 "page-locked memory for error reports");
  std::memset(page, 0, kPage);
  cu::Address device = 0;
  context_.check(context_.driver().host_device_address(&device, page, 0), "device address of error reports");
  pages_.push_back(page);
  const std::size_t count = kPage / sizeof(ErrorWord);
  for (std::size_t i = count; i-- > 0;)
    free_.push_back({static_cast<ErrorWord*>(page) + i, reinterpret_cast<ErrorWord*>(device) + i});
}

CudaErrorSlots::Word CudaErrorSlots::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) add_page();
  const Word word = free_.back();
  free_.pop_back();
  *word.host = {};
  return word;
}

std::shared_ptr<ErrorSlot> CudaErrorSlots::make(RaiseError raise) {
  return std::make_shared<Slot>(*this, take(), std::move(raise));
}

void CudaErrorSlots::raise_reported() {
  struct Found {
    ErrorWord* word;
    const RaiseError* raise;
  };
  auto any = [this]() -> std::optional<Found> {
    for (const Slot* s : live_)
      if (reported(*s->host_word())) return Found{s->host_word(), &s->raise_function()};
    for (const Left& left : waiting_)
      if (reported(*left.word.host)) return Found{left.word.host, &left.raise};
    return std::nullopt;
  };
  {
    const std::lock_guard lock(mutex_);
    if (!any()) return;
  }
  // Of work that was queued meanwhile by another thread, perhaps.
  context_.wait(context_.stream());
  RaiseError raise;
  ErrorWord report;
  {
    const std::lock_guard lock(mutex_);
    const auto found = any();
    if (!found) return;  // another thread has raised it
    report = take_report(*found->word);
    raise = *found->raise;
  }
  Slot::call(raise, report);
}

void CudaErrorSlots::wait_and_raise(cu::StreamHandle stream) {
  std::vector<Left> passed;
  if (stream == context_.stream()) {
    const std::lock_guard lock(mutex_);
    passed.swap(waiting_);
  }
  // A word is free when its kernels have ended and nothing is left to raise.
  auto put_back = [&](bool ended) {
    const std::lock_guard lock(mutex_);
    for (Left& left : passed)
      if (ended && !reported(*left.word.host))
        free_.push_back(left.word);
      else
        waiting_.push_back(std::move(left));
  };
  try {
    context_.wait(stream);
  } catch (...) {
    put_back(false);
    throw;
  }
  if (!passed.empty()) put_back(true);
  raise_reported();
}

CudaErrorSlots::Stats CudaErrorSlots::stats() const {
  const std::lock_guard lock(mutex_);
  return {live_.size(), waiting_.size(), pages_.size()};
}

}  // namespace stax::runtime
