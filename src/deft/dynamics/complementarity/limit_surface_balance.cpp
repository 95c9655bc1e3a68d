#include "deft/dynamics/complementarity/limit_surface_balance.hpp"

#include <algorithm>
#include <cmath>

#include "deft/math/row_products.hpp"

namespace deft::dynamics {
namespace {

constexpr double kNoEnergy = 1e-6;  // of what moves the most slippery object as commanded: errors count against at
                                    // least that

}  // namespace

LimitSurfaceBalance balance_of(const scene::Scene& scene, const StepResult& result,
                               std::span<const SupportFriction> supports, const Eigen::VectorXd& drift,
                               const Eigen::VectorXd& admittance) {
  const solvers::contact::ContactProgram& program = result.program;
  const solvers::contact::ContactSolution& solution = result.solution;
  Eigen::VectorXd F = Eigen::VectorXd::Zero(scene.nv());
  double sum = 0, size = 0, pushed_out = 0;
  const auto add = [&](double term) {
    sum += term;
    size += std::abs(term);
  };
  for (int i = 0; i < program.J.size(); ++i) {
    const auto& f = solution.force[i];
    const solvers::contact::ContactLaw& law = program.contacts[i];
    add_transposed(program.J, i, f, F);
    const double slide = program.J.rows(i) > 1 ? row_times(program.J, i, 1, result.delta) : 0.0;
    if (!law.frictionless) add(law.mu * f[0] * std::abs(slide));
    const double gap = result.problem.contacts[i].gap;
    add(gap * f[0]);
    pushed_out += std::max(0.0, -gap) * f[0];
  }
  // Joint limits are rows ±1 with the distance to the limit as their gap. Prescribed joints (lower = upper) are the
  // robots' own.
  for (Eigen::Index v = 0; v < solution.bound_multipliers.size(); ++v) {
    const double f = solution.bound_multipliers(v);
    if (f == 0 || program.lower(v) == program.upper(v)) continue;
    F(v) += f;
    const double gap = f > 0 ? -program.lower(v) : program.upper(v);
    add(gap * std::abs(f));
    pushed_out += std::max(0.0, -gap) * std::abs(f);
  }
  for (const SupportFriction& support : supports) {
    const auto F_o = F.segment(support.first_v(), support.nv());
    add(F_o.dot(support.A() * F_o));
  }
  double F_m2 = 0, softest = kInfinity;
  const auto actuated = scene.actuated();
  for (int i = 0; i < scene.nu(); ++i) {
    const double f = F(actuated[i]);
    add(admittance(i) * f * f);
    add(drift(i) * f);
    F_m2 += f * f;
    softest = std::min(softest, admittance(i));
  }
  double slippery = supports.empty() ? 1.0 : kInfinity;
  for (const SupportFriction& support : supports) slippery = std::min(slippery, support.Q().diagonal().minCoeff());
  const double nothing = kNoEnergy * slippery * drift.squaredNorm();
  LimitSurfaceBalance balance;
  if (size > 0) balance.balance = std::abs(sum) / std::max(size, nothing);
  const double available = std::max(std::sqrt(F_m2) * drift.norm() + pushed_out, nothing);
  if (F_m2 > 0 && softest > 0) balance.bound = available > 0 ? softest * F_m2 / available : kInfinity;
  return balance;
}

}  // namespace deft::dynamics
