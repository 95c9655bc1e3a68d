#pragma once
// Resistance to rolling in other simulators: the law of dynamics/rolling_friction as torques that are applied to them.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/contact/contact_problem.hpp"
#include "deft/dynamics/energy_terms.hpp"
#include "deft/dynamics/rolling_friction.hpp"
#include "deft/scene/scene.hpp"

namespace deft::plant {

/// The torques of one inner step, from the normal forces of the step before. One object per plant: it keeps scratch.
class RollingTorques {
 public:
  /// @param joint_damping  per command, of the plant.
  RollingTorques(const scene::Scene& scene, Eigen::VectorXd joint_damping);
  bool none() const { return rolling_.none(); }                     // no pair of the scene resists rolling
  std::vector<dynamics::LoadedContact>& loads() { return loads_; }  // of the step before; to be filled by the plant
  /// No step was before.
  void forget() {
    loads_.clear();
    rolling_.forget();
  }
  /// Whether the pair resists rolling.
  bool acts_on(int geometry_a, int geometry_b) const { return rolling_.acts_on(geometry_a, geometry_b); }
  /// The torques at a state, one per body of each contact that moves; valid until the next call. @param state  updated
  /// at q.
  /// @param v  size nv. @param u  size nu. @param h  [s].
  std::span<const dynamics::BodyTorque> at(scene::SceneState& state, const Eigen::VectorXd& v, const Eigen::VectorXd& u,
                                           double h);
  /// tau += their generalised forces.
  void add_generalized(const scene::SceneState& state, Eigen::VectorXd& tau) {
    rolling_.add_generalized(torques_, state, tau);
  }

 private:
  const scene::Scene* scene_;
  Eigen::VectorXd joint_damping_;
  dynamics::RollingFriction rolling_;
  dynamics::EnergyLayout layout_;
  dynamics::TermScratch scratch_;
  contact::ContactProblem energy_;  // Q alone is of use
  BlockDiagonal M_;
  std::vector<dynamics::LoadedContact> loads_;
  std::vector<dynamics::BodyTorque> torques_;
};

}  // namespace deft::plant
