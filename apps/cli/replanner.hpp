#pragma once
// New plans for `deft track`, from where things are to where the first plan ends.

#include <cstdint>
#include <optional>

#include "deft/control/reference_path.hpp"
#include "deft/scene/scene.hpp"

namespace deft::cli {

/// The planner as a tracking loop calls it.
class Replanner {
 public:
  /// @param scene  of the plan; must outlive this object.  @param q_end  where its objects should be.
  Replanner(const scene::Scene& scene, const Eigen::VectorXd& q_end, std::uint64_t seed, int threads);
  /// A plan from q, or none: nothing was found within the limits of `plan:`, or q cannot be planned from.
  std::optional<control::TrackedPlan> operator()(const Eigen::VectorXd& q, const Eigen::VectorXd& u,
                                                 std::uint64_t number) const;
  /// Time spent in the planner so far [s], in all calls.
  double seconds() const { return seconds_; }

 private:
  const scene::Scene* scene_;
  Eigen::VectorXd q_end_;
  scene::GoalSpec goal_;
  std::uint64_t seed_;
  int threads_;
  mutable double seconds_ = 0;
};

}  // namespace deft::cli
