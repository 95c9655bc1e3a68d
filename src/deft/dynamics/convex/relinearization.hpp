#pragma once
// A second linearisation of contacts within a step (`step.relinearize`). A step that turns bodies by an angle θ moves
// the points in which they touch along chords, ½θ²·lever beside the arcs that they would go along; a grip that sticks
// along chords creeps. About a motion δ₀, the solution of the linearisation before, gaps and slips are
//
//   φ(q ⊕ δ) ≈ φ(q₁) + J_n′(δ − δ₀),   σ(q ⊕ δ) ≈ σ(δ₀) + J_t′(δ − δ₀),   J′ = J(q₁) Γ(δ₀),   q₁ = q ⊕ δ₀,
//
// σ = −½(R_A + R_B)(c_A − c_B) the way of the material points that meet in the contact at q₁ and were at c_A, c_B at q,
// as the bodies see it, which have turned by R_A and R_B: along the tangents at q₁. The turn of one against the other,
// log(R_A R_Bᵀ), makes the spin; Γ(δ₀) = ∂(q ⊕ δ)/∂δ. What is left is of the order of (δ − δ₀)², where bodies roll of
// the order of the cube of their turn.

#include <Eigen/Core>
#include <vector>

#include "deft/contact/assemble.hpp"
#include "deft/contact/contact_problem.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/contact_finder.hpp"
#include "deft/dynamics/step_model.hpp"

namespace deft::dynamics {

/// Contacts of a scene about a motion. One object per thread: it keeps scratch; no allocation once it has grown.
class Relinearization {
 public:
  explicit Relinearization(const scene::Scene& scene);  // must outlive this object
  /// Replaces contacts and rows of `problem` by those of this file's head: gaps φ(q₁) − J_n′δ₀, offsets
  /// σ(δ₀) − J_t′δ₀ (spins likewise), points and frames at q₁; Q and b stay.
  /// @param start  where the step starts, with its contacts.  @param delta  δ₀ [rad, m], size nv.
  void about(const scene::SceneState& start, const Eigen::VectorXd& delta, contact::ContactProblem& problem);
  /// Takes the points of these contacts back to where they are at the start of the step, as StepResult holds them.
  /// @pre nothing but the solution of the problem came between it and `about`.
  void to_start(contact::ContactProblem& problem) const;

 private:
  const BodyWay& way(int body) const { return contacts_.ways()[to_size(body)]; }
  void move_columns(const Eigen::VectorXd& delta, contact::ContactProblem& problem);
  Eigen::Vector4d slip_of(const contact::Contact& contact) const;

  const scene::Scene* scene_;
  contact::Assembler assembler_;
  scene::SceneState end_;                // at q₁
  std::vector<int> rotations_;           // first velocity of each rotation
  std::vector<int> rotation_;            // per velocity: which of them it belongs to, −1: none
  std::vector<Eigen::Matrix3d> gammas_;  // Γ(δ₀) of each rotation
  ContactsAfter contacts_;               // at q₁
  Eigen::VectorXd q_;
};

}  // namespace deft::dynamics
