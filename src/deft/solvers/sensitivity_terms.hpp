#pragma once
// What each row of a program contributes to the derivative of its solution. Private to src/deft/solvers.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/program.hpp"

namespace deft::solvers {

/// Column c of a contact's rows, with zeros for rows that it does not have.
inline Eigen::Vector4d column(const RowBlocks::ConstBlock& block, std::size_t c) {
  Eigen::Vector4d v = Eigen::Vector4d::Zero();
  for (Eigen::Index r = 0; r < block.rows(); ++r) v(r) = block(r, static_cast<Eigen::Index>(c));
  return v;
}

/// f = −C s + Eᵀλ for small changes of a contact's rows s; E is an orthonormal basis of the rows that are held. Rows
/// that the contact does not have are zero.
struct ContactTerm {
  int first_row = 0, rows = 0;
  Eigen::Matrix4d C = Eigen::Matrix4d::Zero(), E = C;
  int num_held = 0;     // rows of E
  bool acts = false;    // C or E is not zero
  bool bends = false;   // a sliding cone: C depends on its force
  int first_held = -1;  // of E, among the held rows of its island
};

/// A bound or a linear row: stiffnesses of its barriers, or held.
struct RowTerm {
  int index = 0;  // velocity, linear row or equality row
  double lower_stiffness = 0, upper_stiffness = 0;
  bool is_held = false, holds_upper = false;
  int held = -1;  // among the held rows of its island
};

/// A row eᵀs of zero slack and zero multiplier: no kink while held rows imply it and it moves with them.
struct ImpliedRow {
  int contact = 0;
  Eigen::Vector4d e;
};

/// The terms of all rows at a solution.
struct SensitivityTerms {
  std::vector<ContactTerm> contacts;
  std::vector<RowTerm> bounds, linear, equality;
  std::vector<ImpliedRow> implied;
  std::vector<double> metric;               // diagonal of Q̃
  std::vector<Eigen::Vector2d> directions;  // of a pyramid's rays
  int num_rows = 0;
  bool kink = false;

  /// Fills everything. No allocation once grown.
  void classify(const ContactProgram& program, const ContactSolution& solution, double energy_J, double residual);
};

}  // namespace deft::solvers
