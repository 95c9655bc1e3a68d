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

/// f = −C s + Eᵀλ for small changes of a contact's rows s [m, m, m, rad]. E is an orthonormal basis of the active rows
/// (then E s = 0), or of a stiff barrier the root of its stiffness (then E s + λ = 0). Rows that the contact does not
/// have are zero.
struct ContactTerm {
  int first_row = 0, rows = 0;                         // among the rows of all contacts; their number, 1 to 4
  Eigen::Matrix4d C = Eigen::Matrix4d::Zero(), E = C;  // as above; E has num_active rows
  int num_active = 0;                                  // rows of E
  bool stiff = false;                                  // they are compliant: E s + λ = 0
  bool acts = false;                                   // C or E is not zero
  bool slides = false;                                 // a rigid exact cone on its boundary
  bool bends = false;                                  // such a cone in space: C depends on its force
  int first_active = -1;                               // of E, among the active rows of its island
};

/// A bound, a linear row or an equality: active, or with the stiffness of its barriers.
struct RowTerm {
  int index = 0;               // velocity, linear row or equality row
  double lower_stiffness = 0;  // of the barrier of a linear row or lower bound [N/m, N·m/rad]
  double upper_stiffness = 0;  // of the barrier of an upper bound
  bool is_active = false;      // a multiplier keeps its slack at zero
  bool at_upper = false;       // of a bound: the upper one is the active one
  int active_row = -1;         // among the active rows of its island, if it is active and has columns
};

/// A row eᵀs of zero slack and zero multiplier: no nonsmooth point while the active rows imply it and it moves with
/// them. Its contact has columns: a row that nothing moves is inactive.
struct RedundantRow {
  int contact = 0;    // in the program
  Eigen::Vector4d e;  // over the raw rows of the contact
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
  std::vector<ContactTerm> contacts;        // one per contact of the program
  std::vector<RowTerm> bounds;              // active bounds, or all finite ones where they have barriers
  std::vector<RowTerm> linear;              // the same of the linear rows
  std::vector<RowTerm> equality;            // all equalities
  std::vector<RedundantRow> redundant;      // weakly active rows, to be checked against the active ones
  std::vector<double> metric;               // diagonal of Q̃, nv [kg/s², kg·m²/s²]
  std::vector<Eigen::Vector2d> directions;  // of a pyramid's rays
  std::vector<char> ray_active;             // in the order of ContactSolution::ray_multipliers
  std::vector<Eigen::Vector4d> resisting;   // scratch
  int num_rows = 0;                         // Σ rows of the contacts
  bool nonsmooth = false;                   // some row is between active and inactive and not redundant

  /// Computes the terms at `solution`. Allocates until its vectors have grown.
  /// @param energy_J  natural energy E0 > 0, the scale of slacks and multipliers.
  /// @param residual  scaled residual of the solution: slacks and multipliers below max(1e-7, 3√residual) are zero.
  void classify(const ContactProgram& program, const ContactSolution& solution, double energy_J, double residual);
  /// Ray j of contact i as a row over its raw rows. @pre `classify` has been called for a program with as many rays.
  Eigen::Vector4d ray(const ContactProgram& program, int i, int j) const;
};

}  // namespace deft::solvers::contact
