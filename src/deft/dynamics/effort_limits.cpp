#include "deft/dynamics/effort_limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace deft::dynamics {
namespace {

constexpr double kRounding = 1e-9;  // relative overload that does not count

void append_diagonal(BlockDiagonal& matrix, int at, double value) { matrix.append(at, 1)(0, 0) = value; }

void add_to_diagonal(BlockDiagonal& matrix, int index, double value) {
  for (int k = 0; k < matrix.num_blocks(); ++k) {
    const int i = index - matrix.start(k);
    if (i >= 0 && i < matrix.size(k)) matrix.block(k)(i, i) += value;
  }
}

/// Where Q has become zero the metric keeps the spring: `masses` in ascending order.
void insert_mass(BlockDiagonal& masses, int index, double value) {
  BlockDiagonal sorted;
  bool placed = false;
  for (int k = 0; k < masses.num_blocks(); ++k) {
    if (!placed && masses.start(k) > index) {
      append_diagonal(sorted, index, value);
      placed = true;
    }
    sorted.append(masses.start(k), masses.size(k)) = masses.block(k);
  }
  if (!placed) append_diagonal(sorted, index, value);
  masses = std::move(sorted);
}

double diagonal(const BlockDiagonal& matrix, int index) {
  for (int k = 0; k < matrix.num_blocks(); ++k) {
    const int i = index - matrix.start(k);
    if (i >= 0 && i < matrix.size(k)) return matrix.block(k)(i, i);
  }
  return 0;
}

}  // namespace

double spring_energy(double stiffness, double effort_limit, double deflection) {
  const double size = std::abs(deflection), knee = effort_limit / stiffness;
  return size <= knee ? 0.5 * stiffness * size * size : effort_limit * (size - 0.5 * knee);
}

EffortLimits::EffortLimits(const scene::Scene& scene) {
  if (!scene.settings().step.effort_limits) return;
  for (const scene::Robot& robot : scene.robots()) {
    for (int i = 0; i < robot.nu; ++i) {
      if (!std::isfinite(robot.effort_limit(i))) continue;
      joints_.push_back({robot.q(i), robot.v(i), robot.first_u + i, robot.stiffness(i), robot.effort_limit(i)});
    }
  }
}

void EffortLimits::extend(const Eigen::VectorXd& q, const Eigen::VectorXd& u,
                          solvers::contact::ContactProgram& program) const {
  const bool smoothed = std::isfinite(program.kappa);
  const auto add_variable = [&](double Q, double b) {
    const int y = program.nv++;
    append_diagonal(Q > 0 ? program.Q : program.masses, y, Q > 0 ? Q : -Q);
    program.b.conservativeResize(program.nv);
    program.b[y] = b;
    return y;
  };
  const auto add_row = [&](std::vector<int> cols, const std::vector<double>& values) {
    auto row = program.linear.rows.append(1, cols);
    for (std::size_t k = 0; k < values.size(); ++k) row(0, static_cast<Eigen::Index>(k)) = values[k];
    program.linear.rhs.push_back(0.0);
  };
  for (const Joint& joint : joints_) {
    if (!smoothed && joint.side == 0) continue;
    const double K = joint.stiffness, e = u[joint.u] - q[joint.q], sigma = smoothed ? 1.0 : joint.side;
    // ½K(e − y)² + τ̄σ(y − δ_a) instead of ½K(e − δ_a)².
    add_to_diagonal(program.Q, joint.v, -K);
    program.b[joint.v] += K * e - sigma * joint.limit;
    if (!(diagonal(program.Q, joint.v) > 0)) insert_mass(program.masses, joint.v, K);
    const int y = add_variable(K, -K * e + sigma * joint.limit);
    if (!smoothed) {
      add_row({joint.v, y}, {-sigma, sigma});
      continue;
    }
    // Both sides: y − δ_a = p⁺ − p⁻ with p⁺ = y − δ_a + p⁻ ≥ 0 and p⁻ ≥ 0, at the cost τ̄(p⁺ + p⁻).
    const int minus = add_variable(-K, 2 * joint.limit);
    add_row({joint.v, y, minus}, {-1, 1, 1});
    add_row({minus}, {1});
  }
  for (auto* bound : {&program.lower, &program.upper}) {
    const Eigen::Index size = bound->size();
    if (size == 0) continue;
    bound->conservativeResize(program.nv);
    bound->tail(program.nv - size).setConstant(bound == &program.lower ? -kInfinity : kInfinity);
  }
}

bool EffortLimits::add_overloaded(const Eigen::VectorXd& q, const Eigen::VectorXd& u, const Eigen::VectorXd& delta) {
  bool overloaded = false;
  for (Joint& joint : joints_) {
    const double pull = joint.stiffness * (u[joint.u] - q[joint.q] - delta[joint.v]);
    const int side = pull > 0 ? 1 : -1;
    if (side == joint.side || std::abs(pull) <= joint.limit * (1 + kRounding)) continue;
    joint.side = side;
    overloaded = true;
  }
  return overloaded;
}

void EffortLimits::drop_unused(const Eigen::VectorXd& q, const Eigen::VectorXd& u, const Eigen::VectorXd& delta) {
  for (Joint& joint : joints_) {
    const double pull = joint.stiffness * (u[joint.u] - q[joint.q] - delta[joint.v]);
    if (joint.side * pull < joint.limit * (1 - kRounding)) joint.side = 0;
  }
}

void EffortLimits::forget() {
  for (Joint& joint : joints_) joint.side = 0;
}

}  // namespace deft::dynamics
