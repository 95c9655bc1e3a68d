#pragma once
// An oracle for steps with exact Coulomb friction in the plane: every contact opens, sticks or slides one way or the
// other; each combination is a linear system with inequalities, whose corners are listed. Knows nothing of
// complementarity solvers.

#include <Eigen/LU>
#include <functional>
#include <vector>

#include "deft/dynamics/step_model.hpp"

namespace deft::test {

/// The corners x of {x : Ax = b, Cx ≥ 0, |Ny| ≤ far}, N the kernel of A; empty if there are none. @pre a kernel of few
/// dimensions.
inline std::vector<Eigen::VectorXd> corners(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                                            const Eigen::MatrixXd& C, double tolerance) {
  constexpr double kFar = 100;
  Eigen::FullPivLU<Eigen::MatrixXd> lu(A);
  lu.setThreshold(1e-10);
  const Eigen::VectorXd x = lu.solve(b);
  if (!((A * x - b).lpNorm<Eigen::Infinity>() <= tolerance * (1 + b.lpNorm<Eigen::Infinity>()))) return {};
  const auto holds = [&](const Eigen::VectorXd& point) { return (C * point).minCoeff() >= -tolerance; };
  const Eigen::Index k = lu.dimensionOfKernel();
  if (k == 0) return holds(x) ? std::vector<Eigen::VectorXd>{x} : std::vector<Eigen::VectorXd>{};

  // In y with x + Ny: every choice of k rows that cuts out a point.
  const Eigen::MatrixXd N = lu.kernel();
  Eigen::MatrixXd rows(C.rows() + 2 * k, k);
  rows << C * N, Eigen::MatrixXd::Identity(k, k), -Eigen::MatrixXd::Identity(k, k);
  Eigen::VectorXd limit(rows.rows());
  limit << -(C * x), Eigen::VectorXd::Constant(2 * k, -kFar);
  std::vector<Eigen::VectorXd> found;
  std::vector<Eigen::Index> chosen;
  const std::function<void(Eigen::Index)> choose = [&](Eigen::Index from) {
    if (static_cast<Eigen::Index>(chosen.size()) == k) {
      Eigen::MatrixXd square(k, k);
      Eigen::VectorXd right(k);
      for (Eigen::Index i = 0; i < k; ++i) {
        square.row(i) = rows.row(chosen[i]);
        right(i) = limit(chosen[i]);
      }
      const Eigen::FullPivLU<Eigen::MatrixXd> cut(square);
      if (!cut.isInvertible()) return;
      const Eigen::VectorXd y = cut.solve(right);
      if ((rows * y - limit).minCoeff() >= -tolerance) found.push_back(x + N * y);
      return;
    }
    for (Eigen::Index r = from; r < rows.rows(); ++r) {
      chosen.push_back(r);
      choose(r + 1);
      chosen.pop_back();
    }
  };
  choose(0);
  return found;
}

/// Motions δ that combinations of modes allow, up to `tolerance`: the corners of each, every motion once. Velocities
/// with lower = upper in the result's program are given. @pre few contacts.
inline std::vector<Eigen::VectorXd> motions_by_modes(const dynamics::StepResult& result, double tolerance = 1e-9) {
  const contact::ContactProblem& problem = result.problem;
  const int nv = problem.nv, n = static_cast<int>(problem.contacts.size());
  enum Mode { kOpen, kStick, kSlideForward, kSlideBack, kModes };
  Eigen::MatrixXd Q = Eigen::MatrixXd::Zero(nv, nv), J = Eigen::MatrixXd::Zero(2 * n, nv);
  for (int k = 0; k < problem.Q.num_blocks(); ++k)
    Q.block(problem.Q.start(k), problem.Q.start(k), problem.Q.size(k), problem.Q.size(k)) = problem.Q.block(k);
  for (int i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < problem.J.cols(i).size(); ++c)
      J.block(2 * i, problem.J.cols(i)[c], 2, 1) = problem.J.block(i).block(0, static_cast<Eigen::Index>(c), 2, 1);
  }

  std::vector<Eigen::VectorXd> found;
  int combinations = 1;
  for (int i = 0; i < n; ++i) combinations *= kModes;
  for (int code = 0; code < combinations; ++code) {
    // Unknown: δ, (f_n, f_t) per contact, and 1, which carries what is constant.
    const int size = nv + 2 * n + 1, one = size - 1;
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(size, size), C = Eigen::MatrixXd::Zero(4 * n + 1, size);
    for (int v = 0; v < nv; ++v) {
      const bool given = result.program.lower.size() > 0 && result.program.lower(v) == result.program.upper(v);
      if (given) {
        A(v, v) = 1;
        A(v, one) = -result.program.lower(v);
      } else {
        A.block(v, 0, 1, nv) = Q.row(v);
        A.block(v, nv, 1, 2 * n) = -J.col(v).transpose();
        A(v, one) = problem.b(v);
      }
    }
    for (int i = 0, rest = code; i < n; ++i, rest /= kModes) {
      const int mode = rest % kModes, f_n = nv + 2 * i, f_t = f_n + 1, row = 4 * i;
      const contact::Contact& contact = problem.contacts[i];
      if (mode == kOpen) {
        A(f_n, f_n) = A(f_t, f_t) = 1;
      } else {
        A.block(f_n, 0, 1, nv) = J.row(2 * i);
        A(f_n, one) = contact.gap;
        if (mode == kStick) {
          A.block(f_t, 0, 1, nv) = J.row(2 * i + 1);
        } else {
          A(f_t, f_t) = 1;
          A(f_t, f_n) = mode == kSlideForward ? contact.mu : -contact.mu;
        }
      }
      C.block(row, 0, 1, nv) = J.row(2 * i);
      C(row, one) = contact.gap;
      C(row + 1, f_n) = C(row + 2, f_n) = contact.mu;
      C(row + 1, f_t) = 1;
      C(row + 2, f_t) = -1;
      if (mode == kSlideForward) C.block(row + 3, 0, 1, nv) = J.row(2 * i + 1);
      if (mode == kSlideBack) C.block(row + 3, 0, 1, nv) = -J.row(2 * i + 1);
      if (contact.mu == 0) C(row + 1, f_n) = 1;
    }
    Eigen::VectorXd b = Eigen::VectorXd::Zero(size);
    A(one, one) = b(one) = 1;
    for (const Eigen::VectorXd& x : corners(A, b, C, tolerance)) {
      bool known = false;
      for (const Eigen::VectorXd& other : found) known = known || (other - x.head(nv)).lpNorm<Eigen::Infinity>() < 1e-7;
      if (!known) found.push_back(x.head(nv));
    }
  }
  return found;
}

}  // namespace deft::test
