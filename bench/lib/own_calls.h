// Host time of what a chain of pointwise kernels and products cannot do without: the driver's and cuBLASLt's own calls.
#pragma once
#include <functional>
#include <memory>

namespace bench {

// So many times the driver's launch of an empty kernel with the parameters of x + b, then cuBLASLt's product of 64x128
// by 128x128 in f32, on Stax's stream; everything is prepared.
class OwnCalls {
 public:
  explicit OwnCalls(int kernels);
  ~OwnCalls();
  void run() const;

 private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
  int kernels_;
};

// Microseconds of the host a call and of what it is held against. A second call may find the machine slower than the
// first, so they take turns: batches of 10 of the one and of the other, each behind a wait for the device, in 100
// pairs; the median of the pairs' differences is one figure, of which there are 15.
struct HostTime {
  static constexpr int kFigures = 15;
  double call, beside;         // medians
  double beyond, least, most;  // of call - beside: median, smallest and largest figure
};
HostTime host_time(const std::function<void()>& call, const std::function<void()>& beside);

}  // namespace bench
