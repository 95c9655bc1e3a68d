#pragma once
// --controller of `sim`: the controller in the loop, and its statistics.

#include <memory>
#include <string>

#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/scene/scene.hpp"
#include "deft/solvers/lcs/lcs_program.hpp"
#include "json.hpp"

namespace deft::cli {

/// The controller of a scene as a roll-out wants it: it records what it plans in Trajectory::horizons.
class ControlRun {
 public:
  /// @throws InputError if the scene has no usable `control:`.
  explicit ControlRun(const scene::Scene& scene);
  ~ControlRun();
  /// What Trajectory needs before the first step: names and the horizon.
  void announce(dynamics::Trajectory& motion) const;
  /// Plans from `state`, sets the command u of the period and appends a record to motion.horizons; the first period
  /// without a plan, which gets the safe command, is logged as a warning.
  void operator()(const dynamics::State& state, Eigen::VectorXd& u, dynamics::Trajectory& motion);
  /// The program of the last period; there must have been one. Valid until the next period.
  const solvers::lcs::LcsMpcProgram& program() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// {"periods", "proven", "fallbacks", "time_s": {"p50", "p95", "max"}, "gap_max", "nodes", "statuses": {word: count}};
/// gap_max of those with a plan.
Json control_summary(const dynamics::Trajectory& motion);
/// The same in lines.
void print_control(const Json& summary);

}  // namespace deft::cli
