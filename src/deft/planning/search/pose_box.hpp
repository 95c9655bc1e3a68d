#pragma once
// Random poses to search towards.

#include <Eigen/Core>

#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/random_stream.hpp"

namespace deft::planning {

/// Poses of what the goal names, uniform in a box (settings.sample_lower, sample_upper) in the order of the goal's
/// error; rotations of free bodies as roll, pitch, yaw. Without a box: from the start of the scene to the goal, every
/// entry of the way at its own share between −0.2 and 1.2.
class PoseBox {
 public:
  /// @throws InputError for a box of the wrong size, or with lower > upper.
  PoseBox(const scene::Scene& scene, const Goal& goal);
  /// A configuration with such a pose; what the goal does not name is as in the goal's configuration.
  Eigen::VectorXd draw(RandomStream& draw) const;

 private:
  const scene::Scene* scene_;
  const Goal* goal_;
  Eigen::VectorXd q_start_, lower_, upper_;  // lower_ is empty without a box
};

}  // namespace deft::planning
