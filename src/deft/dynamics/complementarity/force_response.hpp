#pragma once
// How one step yields to contact forces, in plain matrices: all that a model of exact Coulomb friction adds to its
// contacts.
//
//   δ = drift + F Fᵀ Jᵀf   on velocities that are held by springs, inertia or supports (F Fᵀ their mobility, which may
//   be 0), 0 = J_fᵀf − load       on the others, the free ones, whose δ is unknown.

#include <Eigen/Core>
#include <vector>

#include "deft/contact/contact_problem.hpp"

namespace deft::dynamics {

/// The response of this file's head.
struct ForceResponse {
  BlockDiagonal factor;   // F [√(m/N), …], upper triangular blocks; velocities in no block do not yield
  Eigen::VectorXd drift;  // δ without contact forces [rad, m], size nv; 0 on free velocities
  std::vector<int> free;  // ascending
  Eigen::VectorXd load;   // what contact forces must balance [N, N·m], size nv; only entries of free velocities count

  /// That of the energy ½δᵀQδ + bᵀδ:  F Fᵀ = Q⁻¹ and drift = −Q⁻¹b in the blocks of Q; free, with load b, elsewhere.
  /// @returns false if a block of Q is not positive definite.  No allocation once grown.
  bool from_energy(const contact::ContactProblem& problem);
  /// This velocity moves by `delta` whatever forces say. @pre it is a block of its own, or free.
  void hold(int velocity, double delta);
  /// x ← F Fᵀ x, 0 where nothing yields.
  void yield(Eigen::VectorXd& x) const;
};

}  // namespace deft::dynamics
