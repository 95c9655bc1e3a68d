#include "support/dense_program.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"

namespace deft::benchmarks {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using solvers::contact::ContactLaw;
using solvers::contact::ContactProgram;

void require_contacts_alone(const ContactProgram& program) {
  const auto is_plain = [](const ContactLaw& law) {
    return law.compliance == 0 && law.ellipsoid == std::array{1.0, 1.0, 1.0} && law.offset == std::array{0.0, 0.0, 0.0};
  };
  bool plain = program.kappa == kInfinity && program.lower.size() == 0 && program.upper.size() == 0 &&
               program.linear.rhs.empty() && program.equality.rhs.empty();
  for (const ContactLaw& law : program.contacts) plain = plain && is_plain(law);
  if (!plain) throw std::invalid_argument("dense_program: the program holds more than contacts");
}

/// Rows of contact i, over all columns.
MatrixXd rows_of(const ContactProgram& program, int i) {
  MatrixXd rows = MatrixXd::Zero(program.J.rows(i), program.nv);
  const auto block = program.J.block(i);
  const auto cols = program.J.cols(i);
  for (std::size_t c = 0; c < cols.size(); ++c) rows.col(cols[c]) = block.col(static_cast<Eigen::Index>(c));
  return rows;
}

}  // namespace

DenseProgram dense_program(const ContactProgram& program) {
  require_contacts_alone(program);
  std::vector<VectorXd> rows;
  DenseProgram dense;
  dense.n = program.nv;
  for (int i = 0; i < program.J.size(); ++i) {
    const MatrixXd J = rows_of(program, i);
    const ContactLaw& law = program.contacts[i];
    const auto tangents = law.frictionless ? 0 : J.rows() - 1;
    if (is_cone(program, i)) {
      rows.emplace_back(J.row(0));
      dense.low.push_back(-law.gap);
      for (Eigen::Index t = 1; t <= tangents; ++t) {
        rows.emplace_back(law.mu * J.row(t));
        dense.low.push_back(0);
      }
      dense.cones.push_back(static_cast<int>(1 + tangents));
      continue;
    }
    const int rays = tangents == 0 ? 1 : tangents == 1 ? 2 : program.rays;
    for (int k = 0; k < rays; ++k) {
      const double angle = 2 * std::numbers::pi * k / rays;
      VectorXd row = J.row(0);
      if (tangents > 0) row += law.mu * std::cos(angle) * J.row(1);
      if (tangents > 1) row += law.mu * std::sin(angle) * J.row(2);
      rows.push_back(std::move(row));
      dense.low.push_back(-law.gap);
    }
  }
  dense.m = static_cast<int>(rows.size());
  MatrixXd Q = MatrixXd::Zero(dense.n, dense.n);
  for (int k = 0; k < program.Q.num_blocks(); ++k)
    Q.block(program.Q.start(k), program.Q.start(k), program.Q.size(k), program.Q.size(k)) = program.Q.block(k);
  dense.Q.assign(Q.data(), Q.data() + Q.size());
  dense.b.assign(program.b.data(), program.b.data() + program.b.size());
  MatrixXd A(dense.m, dense.n);
  for (int r = 0; r < dense.m; ++r) A.row(r) = rows[to_size(r)];
  dense.A_col.assign(A.data(), A.data() + A.size());
  A.transposeInPlace();  // its columns are the rows
  dense.A.assign(A.data(), A.data() + A.size());
  return dense;
}

}  // namespace deft::benchmarks
