#pragma once
// A linear complementarity system from a scene: the step of Stewart and Trinkle
// (dynamics/complementarity/stewart_trinkle.hpp), linearised at (q̄, v̄, ū). State x = (p, v), v of the scene; p_i is the
// coordinate of a joint of one axis itself and elsewhere (rotations of free bodies and ball joints) the displacement
// e_i from q̄ = 0. Pairs per contact and per joint limit that can close:
//
//   v⁺ = d(q, v, u) + W Rᵀγ⁺,   p⁺ = p + h v⁺,   W = (M + h D + h²K)⁻¹,   γ = (c_n, β_1 … β_r, λ) [N s, N s, m/s],
//   0 ≤ c_n ⟂ φ + J_n(p⁺ − p̄) + (R_c/h) c_n ≥ 0,   0 ≤ β_j ⟂ λ + d_jᵀJ_t v⁺ ≥ 0,   0 ≤ λ ⟂ μ c_n − Σβ_j ≥ 0,
//   0 ≤ c ⟂ ±(p⁺ − limit) ≥ 0,
//
// d the velocity without contacts, of which the first derivatives count; W, gaps' gradients and rows are those at q̄. So
// the step from (q̄, v̄) with ū is that of the model, and for scenes whose equations are linear (slides between
// half-spaces) every step is.

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "deft/dynamics/step_model.hpp"
#include "deft/dynamics/trajectory.hpp"
#include "deft/solvers/lcs/lcs_program.hpp"

namespace deft::control {

/// The system of this file's head, and what its rows are.
struct SceneLcs {
  solvers::lcs::LinearComplementaritySystem system;  // nx = 2 nv, nu, one row of γ per pair
  Eigen::VectorXd x;                                 // of (q̄, v̄), size 2 nv
  std::vector<dynamics::HorizonPair> pairs;          // contact by contact, then limits
};

/// Which contacts and limits a system has: those that can close within the horizon.
struct PairSelection {
  /// Bounds of |v_i| that hold in every step, size nv; infinity: none. A contact with gap φ is left out when the motion
  /// they allow cannot close it: φ > time Σ|J_n,i| speed_i. With one infinite entry where J_n is not zero it stays.
  Eigen::VectorXd speed;
  double time = kInfinity;            // [s], of the horizon
  double contact_margin = kInfinity;  // [m], pairs further apart are left out in any case
};

/// Builds systems of a scene. Keeps scratch; one object per thread.
class SceneLinearizer {
 public:
  /// @param scene  must outlive this object. @throws InputError unless the scene's step.model is stewart-trinkle, and
  /// as that model does.
  explicit SceneLinearizer(const scene::Scene& scene);
  ~SceneLinearizer();
  SceneLinearizer(SceneLinearizer&&) noexcept;
  SceneLinearizer& operator=(SceneLinearizer&&) noexcept;

  /// The system at `at` (q̄, v̄, t) and the command ū, size nu. External wrenches count as they act in the step from t,
  /// conditions (`when`) as they are at (q̄, v̄).
  /// @throws std::invalid_argument for wrong sizes; std::runtime_error if the inertia is not positive definite.
  void linearize(const dynamics::State& at, const Eigen::VectorXd& u, const PairSelection& selection, SceneLcs& out);
  /// x = (p, v), size 2 nv, of a configuration and velocity in the coordinates of a system at q̄.
  Eigen::VectorXd state(const Eigen::VectorXd& q_bar, const Eigen::VectorXd& q, const Eigen::VectorXd& v) const;
  /// Length of the step [s].
  double h() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Names of the entries of x, size 2 nv: "disc/x", "ball/wx angle" … of positions, "disc/x rate", "ball/vx" … of
/// velocities.
std::vector<std::string> state_names(const scene::Scene& scene);

}  // namespace deft::control
