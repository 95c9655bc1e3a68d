#pragma once

#include <chrono>

namespace deft {

/// Wall time by the steady clock since construction or the last `restart`.
class Stopwatch {
 public:
  Stopwatch() : start_(Clock::now()) {}
  void restart() { start_ = Clock::now(); }                                                        // from zero again
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }  // elapsed [s]
  double microseconds() const { return 1e6 * seconds(); }                                          // elapsed [µs]

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
};

}  // namespace deft
