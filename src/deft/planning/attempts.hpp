#pragma once
// How the trees of a search for plans that hold differ, and the plans of one world that they grow by.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace deft::planning {

/// A way to make plans of one world (README.md).
struct Manner {
  double step_share = 1;   ///< of plan.step_norm: forces are known for short steps only
  int relinearize = 0;     ///< step.relinearize: with it objects slide as far as in finer worlds
  double speed_share = 1;  ///< of their speed while objects move
};

/// The manners that a tree draws from: none is best everywhere, and what each is worth shows in all worlds.
inline constexpr Manner kManners[] = {{0.15, 1, 0.4}, {0.15, 1, 1}, {0.3, 0, 1}};

/// How one tree grows.
struct Attempt {
  double regrasp_weight = 0;  ///< what a regrasp counts in choices of nodes [m]
  double stall = 0;           ///< it ends after so many tries, and a quarter of all its tries, that came no nearer
  int nodes = 0;              ///< roll-outs that a plan of one world may take
};

/// The k-th tree, k from 0: three weights in turn, the later the more patient.
inline Attempt attempt_of(std::uint64_t k) {
  constexpr double kWeights[] = {0.05, 0.01, 0.15};
  constexpr double kStall = 20, kGrowth = 1.5, kMostGrowth = 10;
  constexpr int kNodes = 60;
  const std::uint64_t round = k / std::size(kWeights);
  const double growth = std::min(std::pow(kGrowth, static_cast<double>(round)), kMostGrowth);
  return {.regrasp_weight = kWeights[k % std::size(kWeights)],
          .stall = kStall * growth,
          .nodes = static_cast<int>(kNodes * growth)};
}

}  // namespace deft::planning
