#pragma once
// An oracle for steps with exact Coulomb friction in the plane: every contact opens, sticks or slides one way or the other; each
// combination is a linear system. Knows nothing of complementarity solvers.

#include <Eigen/QR>
#include <vector>

#include "deft/dynamics/step_model.hpp"

namespace deft::test {

/// The motions δ that some combination of modes allows, up to `tolerance`, each once. Velocities with lower = upper in the
/// result's program are given. @pre few contacts, with forces that are unique in every mode, or the mode is left out.
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
    // Unknown: δ, then (f_n, f_t) per contact.
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(nv + 2 * n, nv + 2 * n);
    Eigen::VectorXd b = Eigen::VectorXd::Zero(nv + 2 * n);
    for (int v = 0; v < nv; ++v) {
      const bool given = result.program.lower.size() > 0 && result.program.lower(v) == result.program.upper(v);
      if (given) {
        A(v, v) = 1;
        b(v) = result.program.lower(v);
      } else {
        A.block(v, 0, 1, nv) = Q.row(v);
        A.block(v, nv, 1, 2 * n) = -J.col(v).transpose();
        b(v) = -problem.b(v);
      }
    }
    std::vector<int> modes;
    for (int i = 0, rest = code; i < n; ++i, rest /= kModes) {
      modes.push_back(rest % kModes);
      const int r = nv + 2 * i;
      const double mu = problem.contacts[static_cast<std::size_t>(i)].mu;
      if (modes[static_cast<std::size_t>(i)] == kOpen) {
        A(r, r) = A(r + 1, r + 1) = 1;
        continue;
      }
      A.block(r, 0, 1, nv) = J.row(2 * i);
      b(r) = -problem.contacts[static_cast<std::size_t>(i)].gap;
      if (modes[static_cast<std::size_t>(i)] == kStick) {
        A.block(r + 1, 0, 1, nv) = J.row(2 * i + 1);
      } else {
        A(r + 1, r + 1) = 1;
        A(r + 1, r) = modes[static_cast<std::size_t>(i)] == kSlideForward ? mu : -mu;
      }
    }
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(A);
    if (!qr.isInvertible()) continue;
    const Eigen::VectorXd x = qr.solve(b), delta = x.head(nv), s = J * delta;
    bool holds = x.allFinite();
    for (int i = 0; i < n && holds; ++i) {
      const double gap = problem.contacts[static_cast<std::size_t>(i)].gap + s(2 * i), slide = s(2 * i + 1);
      const double f_n = x(nv + 2 * i), f_t = x(nv + 2 * i + 1), mu = problem.contacts[static_cast<std::size_t>(i)].mu;
      holds = gap >= -tolerance && f_n >= -tolerance && std::abs(f_t) <= mu * f_n + tolerance;
      if (modes[static_cast<std::size_t>(i)] == kSlideForward) holds = holds && slide >= -tolerance;
      if (modes[static_cast<std::size_t>(i)] == kSlideBack) holds = holds && slide <= tolerance;
    }
    bool known = false;
    for (const Eigen::VectorXd& other : found) known = known || (other - delta).lpNorm<Eigen::Infinity>() < 1e-7;
    if (holds && !known) found.push_back(delta);
  }
  return found;
}

}  // namespace deft::test
