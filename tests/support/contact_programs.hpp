#pragma once
// Small contact programs written by hand, for the tests of the solvers.

#include <initializer_list>
#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::testing {

/// A program with diagonal Q and no constraints.
inline solvers::contact::ContactProgram diagonal_program(std::initializer_list<double> Q,
                                                         std::initializer_list<double> b) {
  solvers::contact::ContactProgram p;
  p.nv = static_cast<int>(Q.size());
  int i = 0;
  for (double q : Q) p.Q.append(i++, 1)(0, 0) = q;
  p.b = Eigen::Map<const Eigen::VectorXd>(b.begin(), p.nv);
  return p;
}

inline std::vector<int> all_columns(int nv) {
  std::vector<int> cols(nv);
  for (int i = 0; i < nv; ++i) cols[i] = i;
  return cols;
}

/// Adds a contact whose rows (n, t1, t2, spin) are dense.
inline void add_contact(solvers::contact::ContactProgram& p, const Eigen::MatrixXd& rows,
                        const solvers::contact::ContactLaw& law) {
  p.J.append(static_cast<int>(rows.rows()), all_columns(p.nv)) = rows;
  p.contacts.push_back(law);
}

inline void add_linear(solvers::contact::LinearRows& rows, const Eigen::RowVectorXd& row, double rhs) {
  rows.rows.append(1, all_columns(static_cast<int>(row.size()))) = row;
  rows.rhs.push_back(rhs);
}

/// A point mass (mass/h² = 1) on the plane z = 0, pulled by `force`.
inline solvers::contact::ContactProgram point_on_plane(const Eigen::Vector3d& force, double gap, double mu,
                                                       solvers::contact::FrictionModel model) {
  solvers::contact::ContactProgram p = diagonal_program({1, 1, 1}, {-force.x(), -force.y(), -force.z()});
  Eigen::Matrix3d rows;
  rows << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  add_contact(p, rows, {.gap = gap, .mu = mu});
  p.model = model;
  return p;
}

}  // namespace deft::testing
