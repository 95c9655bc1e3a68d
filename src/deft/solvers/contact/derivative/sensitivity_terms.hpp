#pragma once
// What each row of a program contributes to the derivative of its solution. Private to src/deft/solvers.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::solvers::contact {

/// Column c of a contact's rows, with zeros for rows that it does not have.
inline Eigen::Vector4d column(const RowBlocks::ConstBlock& block, std::size_t c) {
  Eigen::Vector4d v = Eigen::Vector4d::Zero();
  for (Eigen::Index r = 0; r < block.rows(); ++r) v(r) = block(r, static_cast<Eigen::Index>(c));
  return v;
}

/// f = −C s + Eᵀλ for small changes of a contact's rows s; E is an orthonormal basis of the rows that are held, or of a
/// stiff barrier the root of its stiffness, λ = −E s. Rows that the contact does not have are zero.
struct ContactTerm {
  int first_row = 0, rows = 0;
  Eigen::Matrix4d C = Eigen::Matrix4d::Zero(), E = C;
  int num_active = 0;   // rows of E
  bool stiff = false;   // they give way: E s + λ = 0
  bool acts = false;    // C or E is not zero
  bool slides = false;  // a rigid exact cone on its boundary
  bool bends = false;   // such a cone in space: C depends on its force
  int first_held = -1;  // of E, among the held rows of its island
};

/// A bound or a linear row: stiffnesses of its barriers, or held.
struct RowTerm {
  int index = 0;  // velocity, linear row or equality row
  double lower_stiffness = 0, upper_stiffness = 0;
  bool is_held = false, holds_upper = false;
  int held = -1;  // among the held rows of its island
};

/// A row eᵀs of zero slack and zero multiplier: no nonsmooth point while held rows imply it and it moves with them.
struct RedundantRow {
  int contact = 0;
  Eigen::Vector4d e;
};

/// Number of multipliers of contact i in ContactSolution::ray_multipliers, if it is no cone.
int count_rays(const ContactProgram& program, int i);
/// Whether contact i obeys the law of a cone; otherwise that of rays, which a cone without tangential rows does too.
bool has_cone_law(const ContactProgram& program, int i);
/// Barrier weight w of each ray of contact i, slack · β = w/κ. A contact of one row that is not declared frictionless
/// has the weight of its whole friction constraint: 2 for a cone, `rays` for a pyramid. All other rays have 1.
double ray_weight(const ContactProgram& program, int i);

/// The terms of all rows at a solution.
struct SensitivityTerms {
  std::vector<ContactTerm> contacts;
  std::vector<RowTerm> bounds, linear, equality;
  std::vector<RedundantRow> redundant;
  std::vector<double> metric;               // diagonal of Q̃
  std::vector<Eigen::Vector2d> directions;  // of a pyramid's rays
  std::vector<char> ray_held;               // in the order of ContactSolution::ray_multipliers
  std::vector<Eigen::Vector4d> resisting;   // scratch
  int num_rows = 0;
  bool nonsmooth = false;

  /// Fills everything. No allocation once grown.
  void classify(const ContactProgram& program, const ContactSolution& solution, double energy_J, double residual);
  /// Ray j of contact i as a row over its raw rows.
  Eigen::Vector4d ray(const ContactProgram& program, int i, int j) const;
};

}  // namespace deft::solvers::contact
