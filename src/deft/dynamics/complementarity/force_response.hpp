#pragma once
// How the bodies of one step respond to contact forces, in plain matrices: all that a model of exact Coulomb friction
// adds to its contacts.
//
//   δ = drift + F Fᵀ Jᵀf   on velocities with springs, inertia or supports (F Fᵀ their mobility, which may be 0),
//   0 = J_fᵀf − load       on the others, the free ones, whose δ is unknown.

#include <Eigen/Core>
#include <vector>

#include "deft/contact/contact_problem.hpp"

namespace deft::dynamics {

/// The response of this file's head.
struct ForceResponse {
  BlockDiagonal factor;   // F [√(m/N), …], upper triangular blocks; velocities in no block have no mobility
  Eigen::VectorXd drift;  // δ without contact forces [rad, m], size nv; 0 on free velocities
  std::vector<int> free;  // ascending
  Eigen::VectorXd load;   // that contact forces must balance [N, N·m], size nv; only entries of free velocities count

  /// That of the energy ½δᵀQδ + bᵀδ:  F Fᵀ = Q⁻¹ and drift = −Q⁻¹b in the blocks of Q; free, with load b, elsewhere.
  /// @returns false if a block of Q is not positive definite.  No allocation once grown.
  bool from_energy(const contact::ContactProblem& problem);
  /// Prescribes the displacement `delta` [rad, m] of one velocity, whatever the forces: its mobility becomes 0.
  /// @pre it is free, or the other velocities of its block are prescribed too.
  void prescribe(int velocity, double delta);
  /// x ← F Fᵀ x, the displacement under generalised forces x; 0 where there is no mobility.
  void apply_mobility(Eigen::VectorXd& x) const;
};

}  // namespace deft::dynamics
