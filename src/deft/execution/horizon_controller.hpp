#pragma once
// The controller of a scene in a roll-out, and what it says about itself.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/scene/scene.hpp"
#include "deft/solvers/lcs/lcs_program.hpp"

namespace deft::execution {

/// The controller of a scene's `control:` as RolloutOptions::controller wants it: it records what it plans in
/// Trajectory::horizons.
class HorizonController {
 public:
  /// @param scene  must outlive this object.  @throws InputError if the scene has no usable `control:`.
  explicit HorizonController(const scene::Scene& scene);
  ~HorizonController();
  /// Sets what a Trajectory needs before the first step: names and the horizon.
  void announce(dynamics::Trajectory& motion) const;
  /// Plans from `state`, sets the command u (size nu) of the period and appends a record to motion.horizons; the first
  /// period without a plan, which gets the safe command, is logged as a warning.
  void operator()(const dynamics::State& state, Eigen::VectorXd& u, dynamics::Trajectory& motion);
  /// The program of the last period; there must have been one. Valid until the next period.
  const solvers::lcs::LcsMpcProgram& program() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What the periods of a controlled run were like.
struct HorizonStatistics {
  std::size_t periods = 0;                                // of control
  int proven = 0, fallbacks = 0;                          // periods with a proven optimum; with the safe command
  double time_p50_s = 0, time_p95_s = 0, time_max_s = 0;  // wall time of a period; not a number without periods
  double gap_max = 0;                   // largest relative gap of those with a plan; NaN without periods
  std::int64_t nodes = 0;               // of branch and bound, all periods together
  std::map<std::string, int> statuses;  // periods by the word of their status
};
/// Of the records in motion.horizons.
HorizonStatistics statistics_of(const dynamics::Trajectory& motion);

}  // namespace deft::execution
