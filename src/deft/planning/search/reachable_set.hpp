#pragma once
// Where the next command brings the objects, to first order: the ellipsoids behind the metric, to be looked at.

#include <Eigen/Core>
#include <vector>

#include "deft/planning/feasibility/plan.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"

namespace deft::planning {

/// Where one command brings a body, to first order. With c and B = ∂c/∂u of the step smoothed at κ about (q, ū), and J
/// the Jacobian of the body at c, rows [ω_W; velocity of its centre of mass], a command u = ū + δu moves it by
///   [turn; shift] = T δu,  T = J B (6 × nu),
/// so that ‖δu‖ ≤ ε reaches two ellipsoids, the shadows of the one in six dimensions: the positions
///   { p_c + T_v δu } = { p : (p − p_c)ᵀ (ε² T_v T_vᵀ)⁻¹ (p − p_c) ≤ 1 },
/// and likewise the rotation vectors T_ω δu. The semi-axes of each are ε √λ_i v_i, λ_i and v_i the eigenpairs of T Tᵀ.
/// Limits of joints are left out. Source: Pang, Suh, Yang and Tedrake, IEEE T-RO 2023, section on the contact planner;
/// its metric's ρ, which makes flat ellipsoids invertible, is left out too: flat ones are drawn flat.
struct ReachableSet {
  Eigen::Vector3d com_W;         // of the centre of mass at q [m]
  Eigen::Vector3d center_W;      // p_c [m]
  Eigen::Matrix3d shift_axes_W;  // columns: semi-axes of the positions, longest first [m]
  Eigen::Matrix3d turn_axes_W;   // columns: semi-axes of the rotation vectors, longest first [rad]
};

/// Reachable sets of a scene's objects. One per thread.
class ReachableSetFinder {
 public:
  /// @param scene  of planning_scene; must outlive this object. @throws InputError as PlanningSteps.
  explicit ReachableSetFinder(const scene::Scene& scene);

  /// The bodies of objects that can move and have a geometry, one for each group that is welded together.
  const std::vector<int>& bodies() const { return bodies_; }
  /// One set per body, of the linearisation that the search makes at q: about `u`, the last command, or with the
  /// single-step search about the joints as they stand; κ and ε = step_norm are those of `plan:`. Depends on nothing
  /// that was asked before. @param q, u  sizes nq, nu. @returns false if the smoothed step failed.
  bool find(const Eigen::VectorXd& q, const Eigen::VectorXd& u, std::vector<ReachableSet>& sets);

 private:
  const scene::Scene* scene_;
  PlanningSteps steps_;
  std::vector<int> bodies_;
  std::vector<Eigen::Vector3d> p_BCom_;  // of each body [m]
  scene::SceneState state_;
  Eigen::VectorXd c_;
  Eigen::MatrixXd B_;
};

/// The sets at all frames of a plan and at up to `most_nodes` nodes: first those on the plan and their ancestors, then
/// the earliest. Rows come by frame, then by node; where the smoothed step fails there is none. The same for any number
/// of threads. @param threads  0: one per core.
ReachableSets reachable_sets(const scene::Scene& planning_scene, const Plan& plan, const std::vector<Node>& nodes,
                             int most_nodes, int threads);

}  // namespace deft::planning
