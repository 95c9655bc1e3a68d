#include "support/horizon_forms.hpp"

#include <cmath>

#include "deft/core/index.hpp"

namespace deft::benchmarks {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using solvers::horizon::HorizonQp;
using solvers::horizon::HorizonStage;

constexpr double kCurvature = 1e-7;  // of a violation, whose price is of the order of 1

std::vector<double> plain(const MatrixXd& m) { return {m.data(), m.data() + m.size()}; }

int soft_rows(const HorizonQp& qp) {
  int count = 0;
  for (const HorizonStage& s : qp.stages) count += static_cast<int>(s.rho.array().isFinite().count());
  return count;
}

/// States as affine functions of the inputs: x_t = G u + g.
struct Affine {
  MatrixXd G;
  VectorXd g;
};

}  // namespace

DenseProgram condensed(const HorizonQp& qp) {
  const int T = static_cast<int>(qp.stages.size()) - 1, nu = static_cast<int>(qp.u_before.size()), inputs = T * nu,
            soft = soft_rows(qp);
  const int n = inputs + soft;
  MatrixXd Q = MatrixXd::Zero(n, n);
  VectorXd b = VectorXd::Zero(n);
  std::vector<VectorXd> rows;  // Ax ≥ low
  std::vector<double> low;
  Affine x{MatrixXd::Zero(qp.x_start.size(), inputs), qp.x_start};
  int violation = inputs;
  for (int t = 0; t <= T; ++t) {
    const HorizonStage& s = qp.stages[to_size(t)];
    Q.topLeftCorner(inputs, inputs) += x.G.transpose() * s.Q * x.G;
    b.head(inputs) += x.G.transpose() * (s.Q * x.g + s.q);
    const int u = t * nu;
    if (t < T) {
      Q.diagonal().segment(u, nu) += s.S;
      b.segment(u, nu) += s.s;
      for (int i = 0; i < nu; ++i)
        for (const double sign : {1.0, -1.0}) {
          rows.push_back(sign * VectorXd::Unit(n, u + i));
          low.push_back(sign > 0 ? s.lower(i) : -s.upper(i));
        }
    }
    for (int r = 0; r < s.d.size(); ++r) {
      VectorXd row = VectorXd::Zero(n);
      row.head(inputs) = -x.G.transpose() * s.X.row(r).transpose();
      if (t < T) row.segment(u, nu) -= s.U.row(r).transpose();
      if (std::isfinite(s.rho(r))) {
        row(violation) = 1;
        Q(violation, violation) = kCurvature;
        b(violation) = s.rho(r);
        rows.push_back(VectorXd::Unit(n, violation++));
        low.push_back(0);
      }
      rows.push_back(row);
      low.push_back(s.X.row(r).dot(x.g) - s.d(r));
    }
    if (t == T) break;
    x.G = s.A * x.G;
    x.G.middleCols(u, nu) += s.B;
    x.g = s.A * x.g + s.c;
  }
  MatrixXd A(rows.size(), n);
  for (std::size_t r = 0; r < rows.size(); ++r) A.row(static_cast<int>(r)) = rows[r];
  return {n, static_cast<int>(rows.size()), plain(Q), plain(b), plain(A.transpose()), plain(A), low, {}};
}

StageProgram staged(const HorizonQp& qp) {
  StageProgram program{static_cast<int>(qp.x_start.size()), static_cast<int>(qp.u_before.size()), {}};
  for (std::size_t t = 0; t < qp.stages.size(); ++t) {
    const HorizonStage& s = qp.stages[t];
    const bool first = t == 0, last = t + 1 == qp.stages.size();
    Stage stage;
    stage.rho = plain(s.rho);
    stage.d = plain(first ? VectorXd(s.d - s.X * qp.x_start) : s.d);
    if (!first) {
      stage.Q = plain(s.Q);
      stage.q = plain(s.q);
      stage.X = plain(s.X);
    }
    if (!last) {
      if (!first) stage.A = plain(s.A);
      stage.B = plain(s.B);
      stage.c = plain(first ? VectorXd(s.A * qp.x_start + s.c) : s.c);
      stage.R = plain(MatrixXd(s.S.asDiagonal()));
      stage.r = plain(s.s);
      stage.lower = plain(s.lower);
      stage.upper = plain(s.upper);
      stage.U = plain(s.U);
    }
    program.stages.push_back(std::move(stage));
  }
  return program;
}

}  // namespace deft::benchmarks
