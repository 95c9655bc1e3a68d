#pragma once
// Programs of mixed-integer contact control for tests: the point contact model of the published note, systems at
// random, and an oracle that tries all modes one by one with another solver of convex programs.

#include <cmath>
#include <limits>
#include <random>

#include "deft/solvers/contact/contact_solver.hpp"
#include "deft/solvers/lcs/lcs_program.hpp"

namespace deft::testing {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;
using solvers::lcs::LcsMpcProgram;

/// All of the program in δ = (u_0, γ_1, u_1, γ_2, …).
struct Condensed {
  MatrixXd H;  // ½δᵀHδ + fᵀδ + constant
  VectorXd f;
  double constant = 0;
  MatrixXd slack, state;  // s = slack δ + slack0, x_1…x_N = state δ + state0
  VectorXd slack0, state0;
};

inline Condensed condense(const LcsMpcProgram& p) {
  const auto& s = p.system;
  const int nx = s.nx(), nu = s.nu(), ng = s.pairs(), nb = nu + ng, n = p.N * nb;
  Condensed c{MatrixXd::Zero(n, n), VectorXd::Zero(n), 0, MatrixXd::Zero(p.N * ng, n), MatrixXd::Zero(p.N * nx, n),
              VectorXd(p.N * ng),   VectorXd(p.N * nx)};
  const VectorXd e0 = p.x0 - p.x_goal.col(0);
  c.constant = e0.dot(p.Q * e0);
  MatrixXd before = MatrixXd::Zero(nx, n);
  VectorXd before0 = p.x0;
  for (int k = 0; k < p.N; ++k) {
    MatrixXd now = s.A * before;
    now.middleCols(k * nb, nu) += s.B;
    now.middleCols(k * nb + nu, ng) += s.C;
    const VectorXd now0 = s.A * before0 + s.F;
    c.slack.middleRows(k * ng, ng) = s.D0 * before + s.D * now;
    c.slack.block(k * ng, k * nb, ng, nu) += s.H;
    c.slack.block(k * ng, k * nb + nu, ng, ng) += s.E;
    c.slack0.segment(k * ng, ng) = s.D0 * before0 + s.D * now0 + s.alpha;
    c.state.middleRows(k * nx, nx) = now;
    c.state0.segment(k * nx, nx) = now0;
    const MatrixXd& Q = k + 1 < p.N ? p.Q : p.Qf;
    const VectorXd e = now0 - p.x_goal.col(k + 1);
    c.H += 2 * now.transpose() * Q * now;
    c.f += 2 * now.transpose() * Q * e;
    c.constant += e.dot(Q * e);
    c.H.block(k * nb, k * nb, nu, nu) += 2 * p.R;
    before = now;
    before0 = now0;
  }
  c.H = 0.5 * (c.H + c.H.transpose()).eval();
  return c;
}

inline void add_row(solvers::contact::LinearRows& rows, const Eigen::RowVectorXd& row, double rhs) {
  std::vector<int> cols;
  for (int j = 0; j < row.size(); ++j) cols.push_back(j);
  rows.rows.append(1, cols) = row;
  rows.rhs.push_back(rhs);
}

/// A disc of radius 0.6 m and unit mass that forces drive (|u| ≤ 1 N, 0.1 s), between the bevel y = x, the floor y = −5
/// and the wall x = 5 (μ = 0.8), with |q| ≤ 5, |v| ≤ 1; cost |x − goal|² + 10|u|², goal (3, −5, 0, 0).
inline LcsMpcProgram disc_program(int N, const Eigen::Vector4d& start) {
  const double h = 0.1, mu = 0.8, r = std::sqrt(0.5);
  const Vector2d normals[] = {{r, -r}, {0, 1}, {-1, 0}}, tangents[] = {{r, r}, {1, 0}, {0, 1}};
  const double offsets[] = {-0.6, 4.4, 4.4};
  LcsMpcProgram p;
  auto& s = p.system;
  s.A = MatrixXd::Identity(4, 4);
  s.A(0, 2) = s.A(1, 3) = h;
  s.B = MatrixXd::Zero(4, 2);
  s.B(0, 0) = s.B(1, 1) = h * h;
  s.B(2, 0) = s.B(3, 1) = h;
  s.C = MatrixXd::Zero(4, 12);
  s.F = VectorXd::Zero(4);
  s.D0 = s.D = MatrixXd::Zero(12, 4);
  s.E = MatrixXd::Zero(12, 12);
  s.H = MatrixXd::Zero(12, 2);
  s.alpha = VectorXd::Zero(12);
  const auto impulse = [&](int column, const Vector2d& direction) {
    s.C.block<2, 1>(0, column) = h * direction;
    s.C.block<2, 1>(2, column) = direction;
  };
  for (int i = 0; i < 3; ++i) {
    impulse(i, normals[i]);
    s.D.block<1, 2>(i, 0) = normals[i].transpose();
    s.alpha(i) = offsets[i];
    s.E(9 + i, i) = mu;
    for (int j = 0; j < 2; ++j) {
      const int beta = 3 + 2 * i + j;
      const Vector2d d = (j == 0 ? 1 : -1) * tangents[i];
      impulse(beta, d);
      s.D.block<1, 2>(beta, 2) = d.transpose();
      s.E(beta, 9 + i) = 1;
      s.E(9 + i, beta) = -1;
    }
  }
  p.N = N;
  p.Q = p.Qf = MatrixXd::Identity(4, 4);
  p.R = 10 * MatrixXd::Identity(2, 2);
  p.x0 = start;
  p.x_goal = Eigen::Vector4d(3, -5, 0, 0).replicate(1, N + 1);
  p.x_max = Eigen::Vector4d(5, 5, 1, 1);
  p.x_min = -p.x_max;
  p.u_max = MatrixXd::Ones(2, N);
  p.u_min = -p.u_max;
  return p;
}

/// A random program of at most `pairs` complementarity pairs; some have no feasible trajectory.
inline LcsMpcProgram random_lcs_program(std::uint64_t seed, int pairs) {
  std::mt19937_64 draw(seed);
  std::normal_distribution<double> normal;
  const auto pick = [&](int lo, int hi) {
    return lo + static_cast<int>(draw() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  const auto random = [&](int rows, int cols, double zeros = 0.3) {
    MatrixXd m(rows, cols);
    for (double& v : m.reshaped()) v = pick(0, 99) < 100 * zeros ? 0.0 : normal(draw);
    return m;
  };
  const int nx = pick(1, 4), nu = pick(1, 2), ng = pick(1, 3), N = pick(1, std::max(1, pairs / ng));
  LcsMpcProgram p;
  auto& s = p.system;
  s.A = MatrixXd::Identity(nx, nx) + 0.3 * random(nx, nx);
  s.B = random(nx, nu);
  s.C = random(nx, ng);
  s.F = 0.2 * random(nx, 1);
  s.D0 = pick(0, 2) == 0 ? random(ng, nx) : MatrixXd::Zero(ng, nx);
  s.D = random(ng, nx);
  s.H = pick(0, 2) == 0 ? random(ng, nu) : MatrixXd::Zero(ng, nu);
  const MatrixXd half = random(ng, ng), skew = random(ng, ng);
  s.E = 0.5 * (skew - skew.transpose());
  switch (pick(0, 3)) {
    case 0:
      s.E += half * half.transpose();
      break;
    case 1:
      s.E += 0.1 * MatrixXd::Identity(ng, ng) - s.D * s.C + (s.D * s.C).cwiseAbs();
      break;
    case 2:
      s.C = s.D.transpose();  // as normals of contacts do
      break;
    default:
      break;  // only skew: as friction
  }
  s.alpha = random(ng, 1);
  p.N = N;
  const MatrixXd q = random(nx, nx), r = random(nu, nu);
  p.Q = q * q.transpose();
  p.Qf = pick(0, 1) ? p.Q : MatrixXd(3 * MatrixXd::Identity(nx, nx));
  p.R = pick(0, 4) == 0 ? MatrixXd(r * r.transpose()) : MatrixXd(MatrixXd::Identity(nu, nu) * std::exp(normal(draw)));
  p.x0 = random(nx, 1);
  p.x_goal = 2 * random(nx, 1).replicate(1, N + 1);
  if (pick(0, 1)) {
    p.u_max = MatrixXd::Constant(nu, N, 0.5 + std::abs(normal(draw)));
    p.u_min = -p.u_max;
  }
  if (pick(0, 2) == 0) {
    p.x_max = VectorXd::Constant(nx, 1 + 2 * std::abs(normal(draw)));
    p.x_min = -p.x_max;
    if (pick(0, 2) == 0) p.x_price = VectorXd::Constant(nx, 1 + 5 * std::abs(normal(draw)));
  }
  if (pick(0, 3) == 0) p.gamma_max = VectorXd::Constant(ng, 1 + 3 * std::abs(normal(draw)));
  return p;
}

/// What trying all modes finds.
struct AllModes {
  double cost = std::numeric_limits<double>::infinity();  // infinity: no trajectory
  int failures = 0;                                       // convex programs without a status
  VectorXd best;                                          // (u_0, γ_1, u_1, …) of that cost; empty: none
};

/// The least cost over all complete mode assignments that agree with `modes` (−1 open, 0: γ = 0, 1: s = 0; empty: all
/// open).
inline AllModes try_all_modes(const LcsMpcProgram& p, const std::vector<int>& modes = {}) {
  const int nx = p.system.nx(), nu = p.system.nu(), ng = p.system.pairs(), nb = nu + ng, pairs = p.N * ng;
  const Condensed c = condense(p);
  const bool soft = p.x_price.size() > 0;
  const int n = p.N * nb, size = n + (soft ? p.N * nx : 0);  // violations of soft bounds at the end
  AllModes out;
  solvers::contact::ContactProgram program;
  program.nv = size;
  MatrixXd H = MatrixXd::Zero(size, size);
  H.topLeftCorner(n, n) = c.H;
  program.Q.append(0, size) = H;
  program.b = VectorXd::Zero(size);
  program.b.head(n) = c.f;
  const bool bounded = p.x_max.size() > 0;
  const solvers::contact::ContactProgram plain = program;
  solvers::contact::ContactSolver solver;
  solvers::contact::ContactSolution solution;
  const solvers::contact::SolverSettings settings;
  for (long number = 0; number < (1L << pairs); ++number) {
    bool wanted = true;
    for (int i = 0; i < pairs && wanted && !modes.empty(); ++i)
      wanted = modes[i] < 0 || modes[i] == ((number >> i) & 1);
    if (!wanted) continue;
    program = plain;
    program.lower = VectorXd::Constant(size, -std::numeric_limits<double>::infinity());
    program.upper = VectorXd::Constant(size, std::numeric_limits<double>::infinity());
    if (soft) program.lower.tail(p.N * nx).setZero();
    for (int k = 0; k < p.N; ++k) {
      for (int j = 0; j < nu && p.u_max.size() > 0; ++j) {
        program.lower(k * nb + j) = p.u_min(j, k);
        program.upper(k * nb + j) = p.u_max(j, k);
      }
      for (int i = 0; i < ng; ++i) {
        const int pair = k * ng + i;
        Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(size);
        row.head(n) = c.slack.row(pair);
        const bool slack_zero = ((number >> pair) & 1) != 0;
        program.lower(k * nb + nu + i) = 0;
        program.upper(k * nb + nu + i) =
            slack_zero ? (p.gamma_max.size() > 0 ? p.gamma_max(i) : std::numeric_limits<double>::infinity()) : 0.0;
        add_row(slack_zero ? program.equality : program.linear, row, -c.slack0(pair));
      }
      for (int i = 0; i < nx && bounded; ++i) {
        Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(size);
        row.head(n) = c.state.row(k * nx + i);
        for (const double sign : {1.0, -1.0}) {
          Eigen::RowVectorXd signed_row = sign * row;
          if (soft) signed_row(n + k * nx + i) = 1;
          add_row(program.linear, signed_row,
                  sign > 0 ? p.x_min(i) - c.state0(k * nx + i) : c.state0(k * nx + i) - p.x_max(i));
        }
        if (soft) program.b(n + k * nx + i) = p.x_price(i);
      }
    }
    const solvers::Status status = solver.solve(program, settings, solution).status;
    if (solvers::usable(status)) {
      const VectorXd& d = solution.delta;
      const double cost = 0.5 * d.dot(H * d) + program.b.dot(d) + c.constant;
      if (cost < out.cost) {
        out.cost = cost;
        out.best = d.head(n);
      }
    } else if (status != solvers::Status::kInfeasible) {
      ++out.failures;
    }
  }
  return out;
}

/// The trajectory of δ = (u_0, γ_1, u_1, γ_2, …).
inline solvers::lcs::LcsTrajectory unroll(const LcsMpcProgram& p, const VectorXd& delta) {
  const auto& s = p.system;
  const int nu = s.nu(), ng = s.pairs(), nb = nu + ng;
  solvers::lcs::LcsTrajectory t{MatrixXd(s.nx(), p.N + 1), MatrixXd(nu, p.N), MatrixXd(ng, p.N)};
  t.x.col(0) = p.x0;
  for (int k = 0; k < p.N; ++k) {
    t.u.col(k) = delta.segment(k * nb, nu);
    t.gamma.col(k) = delta.segment(k * nb + nu, ng);
    t.x.col(k + 1) = s.A * t.x.col(k) + s.B * t.u.col(k) + s.C * t.gamma.col(k) + s.F;
  }
  return t;
}

}  // namespace deft::testing
