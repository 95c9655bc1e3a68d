#pragma once
// When a search has to end: also in the middle of a batch, which may take seconds.

#include <atomic>
#include <functional>

#include "deft/planning/feasibility/run_clock.hpp"

namespace deft::planning {

/// Asked by all threads of a search before every step. Once it is due it stays due until it is set again, so that all
/// of them come back soon; what a thread returns then is void. Set between batches, by one thread; asked by any.
class Deadline {
 public:
  /// Due after `until_s` of the clock or when `stop`, if it is there, says so; both must outlive the batch.
  void set(const RunClock& clock, double until_s, const std::function<bool()>& stop) {
    clock_ = &clock;
    until_s_ = until_s;
    stop_ = &stop;
    due_ = false;
  }
  /// Never due, until it is set.
  void clear() {
    clock_ = nullptr;
    due_ = false;
  }
  /// Whether threads have to come back. Safe to call from many threads, if `stop` is.
  bool due() const {
    if (due_.load(std::memory_order_relaxed)) return true;
    if (clock_ == nullptr) return false;
    if (clock_->seconds() <= until_s_ && !(*stop_ && (*stop_)())) return false;
    due_ = true;
    return true;
  }
  /// Whether due() was true for any thread since it was set.
  bool was_due() const { return due_; }

 private:
  const RunClock* clock_ = nullptr;
  double until_s_ = 0;
  const std::function<bool()>* stop_ = nullptr;
  mutable std::atomic<bool> due_ = false;
};

}  // namespace deft::planning
