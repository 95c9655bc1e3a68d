#include "deft/dynamics/force_uniqueness.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace deft::dynamics {
namespace {

constexpr double kClosed = 1e-9;   // scaled slack below which a row may carry force (as the forces of least norm)
constexpr double kSliding = 1e-6;  // scaled slide above which a contact slides
constexpr double kSame = 1e-9;     // rays that a slide is against by as much
constexpr double kDependent = 1e-10;

}  // namespace

bool forces_are_unique(const solvers::ContactProgram& program, const solvers::ContactSolution& solution,
                       solvers::Certifier& certifier) {
  solvers::RowScales w;
  certifier.row_scales(program, w);
  const double root = std::sqrt(w.E0_J);
  std::vector<Eigen::VectorXd> rows;
  for (int i = 0; i < program.J.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const solvers::ContactLaw& law = program.contacts[at];
    const auto J = program.J.block(i);
    const auto cols = program.J.cols(i);
    const double gap = solution.gap[at] / (w.contacts[at] * root);
    if (gap > kClosed && solution.force[at][0] * w.contacts[at] / root <= gap) continue;
    const auto row = [&](double n, double t1, double t2) {
      Eigen::VectorXd x = Eigen::VectorXd::Zero(program.nv);
      for (std::size_t c = 0; c < cols.size(); ++c) {
        const auto k = static_cast<Eigen::Index>(c);
        x(cols[c]) = n * J(0, k) + (t1 != 0 ? t1 * J(1, k) : 0.0) + (t2 != 0 ? t2 * J(2, k) : 0.0);
      }
      return x;
    };
    if (law.frictionless || J.rows() == 1 || law.mu == 0) {
      rows.push_back(row(1, 0, 0));
      continue;
    }
    const double s1 = row(0, 1, 0).dot(solution.delta), s2 = J.rows() > 2 ? row(0, 0, 1).dot(solution.delta) : 0.0;
    const double slide = std::hypot(s1, s2);
    if (slide <= kSliding * w.contacts[at] * root) {
      for (int r = 0; r < J.rows(); ++r) rows.push_back(row(r == 0, r == 1, r == 2));
      continue;
    }
    const int rays = J.rows() == 2 ? 2 : program.rays;
    const auto along = [&](int k, double& c, double& s) {
      c = std::cos(2 * std::numbers::pi * k / rays), s = rays > 2 ? std::sin(2 * std::numbers::pi * k / rays) : 0.0;
      return c * s1 + s * s2;
    };
    double most = 0, c = 0, s = 0;
    for (int k = 0; k < rays; ++k) most = std::max(most, -along(k, c, s));
    for (int k = 0; k < rays; ++k)
      if (-along(k, c, s) >= most - kSame * slide) rows.push_back(row(1, law.mu * c, law.mu * s));
  }
  for (int v = 0; v < static_cast<int>(solution.bound_multipliers.size()); ++v) {
    if (program.lower(v) == program.upper(v)) continue;
    const double nearest = std::min(solution.delta(v) - program.lower(v), program.upper(v) - solution.delta(v));
    if (nearest > kClosed * w.bounds[static_cast<std::size_t>(v)] * root) continue;
    rows.push_back(Eigen::VectorXd::Unit(program.nv, v));
  }
  if (rows.empty()) return true;
  Eigen::MatrixXd A(program.nv, static_cast<Eigen::Index>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) A.col(static_cast<Eigen::Index>(k)) = rows[k];
  int held = 0;
  for (int v = 0; v < program.nv; ++v) {
    const bool is_held = program.lower.size() > 0 && program.lower(v) == program.upper(v);
    A.row(v) *= is_held ? 0.0 : w.bounds[static_cast<std::size_t>(v)];
    held += is_held;
  }
  if (A.cols() > program.nv - held) return false;
  for (Eigen::Index k = 0; k < A.cols(); ++k) A.col(k).normalize();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(A);
  qr.setThreshold(kDependent);
  return qr.rank() == A.cols();
}

}  // namespace deft::dynamics
