#pragma once
// How the trees of a search for plans that hold differ.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace deft::planning {

/// How one tree of a search for plans that hold grows (README.md).
struct Attempt {
  double regrasp_weight = 0;  ///< what a regrasp counts in choices of nodes [m]
  double stall = 0;           ///< it ends after so many tries, and a quarter of all its tries, that came no nearer
  double step_share = 1;      ///< of plan.step_norm, in plans of one world: forces are known for short steps only
  int relinearize = 0;        ///< step.relinearize of them: they slide as far as finer worlds do
  double speed_share = 1;     ///< of their speed while objects move
  int nodes = 0;              ///< roll-outs that such a plan may take
};

/// The k-th tree, k from 0: three kinds in turn, the later the more patient.
inline Attempt attempt_of(std::uint64_t k) {
  constexpr double kWeights[] = {0.05, 0.01, 0.15}, kShares[] = {0.15, 0.3, 0.15}, kSpeeds[] = {0.4, 1, 0.4};
  constexpr int kRelinearize[] = {1, 0, 1};
  constexpr double kStall = 20, kGrowth = 1.5, kMostGrowth = 10;
  constexpr int kNodes = 60;
  const double growth = std::min(std::pow(kGrowth, static_cast<double>(k / 3)), kMostGrowth);
  return {.regrasp_weight = kWeights[k % 3],
          .stall = kStall * growth,
          .step_share = kShares[k % 3],
          .relinearize = kRelinearize[k % 3],
          .speed_share = kSpeeds[k % 3],
          .nodes = static_cast<int>(kNodes * growth)};
}

}  // namespace deft::planning
