#pragma once
// Whether the contact forces of a motion are the only ones.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::dynamics {

/// A rank test at solutions of exact, rigid programs of pyramids. Keeps scratch: no allocation once grown. One object
/// per thread.
class ForceUniqueness {
 public:
  /// True if the rows that may carry force at the motion of `solution` are linearly independent on the velocities that
  /// are not prescribed (prescribed: bounds with lower = upper): n, t₁, t₂ of closed contacts that stick, n + μ d_j of
  /// those that slide (the rays d_j that the sliding is against most), bounds that are reached. False means that the
  /// test does not show it.
  /// @pre program has both bounds or neither, as set_joint_limits leaves them.
  bool forces_unique(const solvers::contact::ContactProgram& program, const solvers::contact::ContactSolution& solution,
                     solvers::contact::Certifier& certifier);

 private:
  bool add(const solvers::contact::ContactProgram& program, int contact, double n, double t1, double t2);
  /// Of row_, orthogonalised against the rows before. @returns whether it is independent of them.
  bool add_row();

  solvers::contact::RowScales scales_;
  std::vector<char> prescribed_;  // per velocity
  Eigen::VectorXd row_;           // in the scaled velocities
  std::vector<double> basis_;     // orthonormal rows, one after the other
};

}  // namespace deft::dynamics
