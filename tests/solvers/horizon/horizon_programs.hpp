#pragma once
// Random programs over a horizon, and the same programs in the inputs alone.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>

#include "deft/core/infinity.hpp"
#include "deft/math/random.hpp"
#include "deft/solvers/horizon/qp_solver.hpp"

namespace deft::solvers::horizon {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Random numbers of one problem.
struct Source {
  std::uint64_t seed;
  std::uint32_t next = 0;
  double normal() { return random_normal(seed, 0, next++); }
  MatrixXd matrix(int rows, int columns, double scale = 1) {
    MatrixXd m(rows, columns);
    for (double& entry : m.reshaped()) entry = scale * normal();
    return m;
  }
};

/// Unstable dynamics, costs on some states only, `rows` general rows per stage of which the odd ones are soft.
inline HorizonQp random_program(std::uint64_t seed, int steps, int nx, int nu, int rows, double bound) {
  Source draw{seed};
  HorizonQp qp{draw.matrix(nx, 1), draw.matrix(nu, 1, 0.1 * std::min(bound, 1.0)), {}};
  for (int t = 0; t <= steps; ++t) {
    HorizonStage s;
    const MatrixXd root = draw.matrix(nx / 2 + 1, nx);
    s.Q = root.transpose() * root;
    s.q = draw.matrix(nx, 1);
    s.A = MatrixXd::Identity(nx, nx) + draw.matrix(nx, nx, 0.1);
    s.B = draw.matrix(nx, nu, 0.5);
    s.c = draw.matrix(nx, 1, 0.05);
    s.R = VectorXd::Constant(nu, 0.1) + draw.matrix(nu, 1).cwiseAbs();
    s.lower = VectorXd::Constant(nu, -bound);
    s.upper = VectorXd::Constant(nu, bound);
    s.change = VectorXd::Constant(nu, 0.7 * bound);
    if (nu > 1) s.upper(1) = kInfinity;
    s.X = draw.matrix(rows, nx);
    s.P = draw.matrix(rows, nu, 0.3);
    s.U = draw.matrix(rows, nu, 0.3);
    s.d = VectorXd::Constant(rows, 1.0) + draw.matrix(rows, 1, 0.3);
    s.rho.setConstant(rows, kInfinity);
    for (int i = 0; i < rows; ++i) s.rho(i) = i % 2 == 0 ? 3.0 : 0.5;
    qp.stages.push_back(s);
  }
  return qp;
}

/// The same program in the inputs alone:  min ½vᵀHv + fᵀv,  G v ≤ d (+ e).
struct Dense {
  MatrixXd H, G;
  VectorXd f, d, rho, v, multiplier;

  /// The row gᵀv ≤ bound with its price and multiplier, unless it has no bound.
  void add_row(const VectorXd& g, double bound, double price, double l) {
    if (bound == kInfinity) {
      EXPECT_EQ(l, 0);
      return;
    }
    const auto k = d.size();
    G.conservativeResize(k + 1, g.size());
    G.row(k) = g.transpose();
    for (VectorXd* column : {&d, &rho, &multiplier}) column->conservativeResize(k + 1);
    d(k) = bound;
    rho(k) = price;
    multiplier(k) = l;
  }
};

/// Eliminates the states by the dynamics. `v` and `multiplier` are those of `solution`.
inline Dense condense(const HorizonQp& qp, const HorizonSolution& solution) {
  const int steps = static_cast<int>(qp.stages.size()) - 1, nx = static_cast<int>(qp.x_start.size()),
            nu = static_cast<int>(qp.u_before.size()), n = steps * nu;
  Dense dense{MatrixXd::Zero(n, n), MatrixXd(0, n), VectorXd::Zero(n), VectorXd(0), VectorXd(0), VectorXd(n), {}};
  const auto select = [&](int t) {  // u_t = S v
    MatrixXd S = MatrixXd::Zero(nu, n);
    if (t >= 0) S.middleCols(t * nu, nu).setIdentity();
    return S;
  };
  MatrixXd F = MatrixXd::Zero(nx, n);  // x_t = F v + g
  VectorXd g = qp.x_start;
  for (int t = 0; t <= steps; ++t) {
    const HorizonStage& s = qp.stages[t];
    const VectorXd& l = solution.multiplier[t];
    const MatrixXd S = select(t < steps ? t : -1), before = select(t - 1);
    const VectorXd u0 = t == 0 ? qp.u_before : VectorXd::Zero(nu);
    dense.H += F.transpose() * s.Q * F;
    dense.f += F.transpose() * (s.Q * g + s.q);
    const int offset = t < steps ? 4 * nu : 0;
    for (int i = 0; i < s.d.size(); ++i) {
      VectorXd row = (s.X.row(i) * F).transpose();
      double constant = s.X.row(i).dot(g);
      if (s.P.size() > 0) {
        row += (s.P.row(i) * before).transpose();
        constant += s.P.row(i).dot(u0);
      }
      if (t < steps) row += (s.U.row(i) * S).transpose();
      dense.add_row(row, s.d(i) - constant, s.rho(i), l(offset + i));
    }
    if (t == steps) break;
    const MatrixXd change = S - before;
    if (s.R.size() > 0) {
      dense.H += change.transpose() * s.R.asDiagonal() * change;
      dense.f -= change.transpose() * s.R.asDiagonal() * u0;
    }
    if (s.S.size() > 0) dense.H += S.transpose() * s.S.asDiagonal() * S;
    if (s.s.size() > 0) dense.f += S.transpose() * s.s;
    for (int i = 0; i < nu; ++i) {
      dense.add_row(S.row(i).transpose(), s.upper(i), kInfinity, l(i));
      dense.add_row(-S.row(i).transpose(), -s.lower(i), kInfinity, l(nu + i));
      if (s.change.size() == 0) continue;
      dense.add_row(change.row(i).transpose(), s.change(i) + u0(i), kInfinity, l(2 * nu + i));
      dense.add_row(-change.row(i).transpose(), s.change(i) - u0(i), kInfinity, l(3 * nu + i));
    }
    F = s.A * F + s.B * S;
    g = s.A * g + s.c;
    dense.v.segment(t * nu, nu) = solution.u[t];
  }
  return dense;
}

}  // namespace deft::solvers::horizon
