#pragma once

#include <chrono>

namespace deft {

/// Wall time since construction or the last `restart`, in seconds or microseconds.
class Stopwatch {
 public:
  Stopwatch() : start_(Clock::now()) {}
  void restart() { start_ = Clock::now(); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double microseconds() const { return 1e6 * seconds(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
};

}  // namespace deft
