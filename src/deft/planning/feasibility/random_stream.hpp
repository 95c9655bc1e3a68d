#pragma once
// Random numbers of one piece of work.

#include <cstdint>

#include "deft/math/random.hpp"

namespace deft::planning {

/// The seed of the n-th of something that has a seed itself: none is that of another one's, whatever n (two rounds of
/// SplitMix64's finaliser).
inline std::uint64_t seed_of(std::uint64_t seed, std::uint64_t n) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  const auto mix = [](std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  };
  return mix(mix(seed + kGolden) + kGolden * (n + 1));
}

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
