#pragma once
// Random numbers of one piece of work.

#include <cstdint>

#include "deft/math/random.hpp"

namespace deft::planning {

/// The random numbers of one piece of work, by counter: the same whichever thread does it, and when.
class RandomStream {
 public:
  /// Streams of the same seed and item draw the same numbers.
  RandomStream(std::uint64_t seed, std::uint64_t item) : seed_(seed), item_(item) {}
  /// In (0, 1).
  double uniform() { return random_uniform(seed_, item_, next_++); }
  /// Between `lower` and `upper`.
  double uniform(double lower, double upper) { return lower + (upper - lower) * uniform(); }
  /// One of 0 … count − 1. @pre count > 0.
  int index(int count) { return static_cast<int>(uniform() * count); }
  /// True with this probability.
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::uint64_t seed_, item_;
  std::uint32_t next_ = 0;
};

}  // namespace deft::planning
