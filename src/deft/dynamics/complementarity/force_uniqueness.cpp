#include "deft/dynamics/complementarity/force_uniqueness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "deft/core/index.hpp"
#include "deft/math/row_products.hpp"

namespace deft::dynamics {
namespace {

constexpr double kClosed = 1e-9;      // scaled slack below which a row may carry force (as the forces of least norm)
constexpr double kSliding = 1e-6;     // scaled slide above which a contact slides
constexpr double kSame = 1e-9;        // rays that a slide is against by as much
constexpr double kDependent = 1e-10;  // share of a row that others do not span, below which they do

}  // namespace

bool ForceUniqueness::add_row() {
  const double length = row_.norm();
  if (length == 0) return false;
  const Eigen::Index n = row_.size();
  const auto count = static_cast<Eigen::Index>(basis_.size()) / n;
  for (int twice = 0; twice < 2; ++twice) {
    for (Eigen::Index k = 0; k < count; ++k) {
      const Eigen::Map<const Eigen::VectorXd> other(basis_.data() + k * n, n);
      row_ -= other.dot(row_) * other;
    }
  }
  const double left = row_.norm();
  if (left <= kDependent * length) return false;
  for (const double value : row_) basis_.push_back(value / left);
  return true;
}

bool ForceUniqueness::add(const solvers::contact::ContactProgram& program, int contact, double n, double t1,
                          double t2) {
  const auto J = program.J.block(contact);
  const auto cols = program.J.cols(contact);
  const std::array<double, 3> weights{n, t1, t2};
  row_.setZero();
  for (std::size_t c = 0; c < cols.size(); ++c) {
    if (prescribed_[cols[c]]) continue;
    double value = 0;
    for (Eigen::Index r = 0; r < J.rows(); ++r) value += weights[r] * J(r, static_cast<Eigen::Index>(c));
    row_(cols[c]) = value * scales_.bounds[cols[c]];
  }
  return add_row();
}

bool ForceUniqueness::forces_unique(const solvers::contact::ContactProgram& program,
                                    const solvers::contact::ContactSolution& solution,
                                    solvers::contact::Certifier& certifier) {
  certifier.row_scales(program, scales_);
  const double root = std::sqrt(scales_.E0_J);
  const bool bounded = program.lower.size() > 0;
  prescribed_.assign(program.nv, 0);
  for (int v = 0; bounded && v < program.nv; ++v) prescribed_[v] = program.lower(v) == program.upper(v);
  row_.resize(program.nv);
  basis_.clear();
  for (int i = 0; i < program.J.size(); ++i) {
    const auto at = to_size(i);
    const solvers::contact::ContactLaw& law = program.contacts[at];
    const auto J = program.J.block(i);
    const double w = scales_.contacts[at], gap = solution.gap[at] / (w * root);
    if (gap > kClosed && solution.force[at][0] * w / root <= gap) continue;
    if (law.frictionless || J.rows() == 1 || law.mu == 0) {
      if (!add(program, i, 1, 0, 0)) return false;
      continue;
    }
    std::array<double, 2> s{};
    for (Eigen::Index r = 1; r < J.rows(); ++r) s[r - 1] = row_times(program.J, i, r, solution.delta);
    const double slide = std::hypot(s[0], s[1]);
    if (slide <= kSliding * w * root) {
      for (Eigen::Index r = 0; r < J.rows(); ++r)
        if (!add(program, i, r == 0, r == 1, r == 2)) return false;
      continue;
    }
    const int rays = J.rows() == 2 ? 2 : program.rays;
    const auto ray = [&](int k) {
      const double angle = 2 * std::numbers::pi * k / rays;
      return std::array{std::cos(angle), rays > 2 ? std::sin(angle) : 0.0};
    };
    const auto against = [&](int k) { return -(ray(k)[0] * s[0] + ray(k)[1] * s[1]); };
    double most = 0;
    for (int k = 0; k < rays; ++k) most = std::max(most, against(k));
    for (int k = 0; k < rays; ++k) {
      if (against(k) < most - kSame * slide) continue;
      if (!add(program, i, 1, law.mu * ray(k)[0], law.mu * ray(k)[1])) return false;
    }
  }
  for (int v = 0; v < static_cast<int>(solution.bound_multipliers.size()); ++v) {
    const auto at = to_size(v);
    if (prescribed_[at]) continue;
    const double nearest = std::min(solution.delta(v) - program.lower(v), program.upper(v) - solution.delta(v));
    if (nearest > kClosed * scales_.bounds[at] * root) continue;
    row_.setZero();
    row_(v) = 1;
    if (!add_row()) return false;
  }
  return true;
}

}  // namespace deft::dynamics
