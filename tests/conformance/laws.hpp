#pragma once
// What every step of every model must satisfy, recomputed from its result.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "deft/dynamics/step_model.hpp"

namespace deft::test {

/// Rows (n, t₁, t₂, spin) of contact i times δ.
inline Eigen::Vector4d contact_motion(const dynamics::StepResult& result, int i) {
  const auto J = result.program.J.block(i);
  const auto cols = result.program.J.cols(i);
  Eigen::Vector4d motion = Eigen::Vector4d::Zero();
  for (Eigen::Index r = 0; r < J.rows(); ++r) {
    for (std::size_t c = 0; c < cols.size(); ++c)
      motion[r] += J(r, static_cast<Eigen::Index>(c)) * result.solution.delta(cols[c]);
  }
  return motion;
}

/// The gap that sliding by `motion` asks for: μ‖E s‖ (cones), μ max_j d_jᵀs (pyramids), 0 (frictionless).
inline double boundary_gap(const solvers::contact::ContactProgram& program, int i, const Eigen::Vector4d& motion) {
  const solvers::contact::ContactLaw& law = program.contacts[i];
  if (law.frictionless) return 0;
  if (solvers::contact::is_cone(program, i)) {
    return law.mu *
           Eigen::Vector3d(law.ellipsoid[0] * motion[1], law.ellipsoid[1] * motion[2], law.ellipsoid[2] * motion[3])
               .norm();
  }
  const int rays = program.J.rows(i) == 2 ? 2 : program.rays;
  double most = 0;
  for (int k = 0; k < rays; ++k) {
    const double angle = 2 * std::numbers::pi * k / rays;
    most = std::max(most, std::cos(angle) * motion[1] + (rays > 2 ? std::sin(angle) * motion[2] : 0.0));
  }
  return law.mu * most;
}

/// Certified; no penetration beyond the linearisation; forces in their cones; no other admissible force would take more
/// from the motion. @param exact  no smoothing.
inline void expect_contact_laws(const dynamics::StepResult& result, bool exact) {
  ASSERT_TRUE(solvers::usable(result.status)) << solvers::to_string(result.status);
  ASSERT_LE(result.certificate.max_scaled(), solvers::contact::kCertified);
  double force_scale = 1e-9, length_scale = 1e-9;
  for (const auto& f : result.solution.force) force_scale = std::max(force_scale, f[0]);
  for (const double gap : result.solution.gap) length_scale = std::max(length_scale, std::abs(gap));
  const double force_tolerance = 1e-7 * force_scale + 1e-12, length_tolerance = 1e-8 * length_scale + 1e-10;
  // Where all gaps are closed what is left is rounding, which goes with the energy of the step.
  const double energy_tolerance = 1e-7 * force_scale * length_scale + 1e-10 + 1e-9 * result.certificate.E0_J;
  for (int i = 0; i < result.program.J.size(); ++i) {
    const solvers::contact::ContactLaw& law = result.program.contacts[i];
    const auto& f = result.solution.force[i];
    const Eigen::Vector4d motion = contact_motion(result, i);
    const double gap = law.gap + motion[0], layer = boundary_gap(result.program, i, motion);
    EXPECT_NEAR(gap, result.solution.gap[i], length_tolerance);
    const bool rigid = law.compliance == 0;
    EXPECT_TRUE(!rigid || gap >= layer - length_tolerance) << "contact " << i << ": " << gap << " < " << layer;

    EXPECT_GE(f[0], -force_tolerance) << "contact " << i;
    double used = 0;
    for (int r = 1; r < 4; ++r) {
      const double limit = law.frictionless || r >= result.program.J.rows(i) ? 0 : law.mu * law.ellipsoid[r - 1];
      if (limit > 0) used += f[r] * f[r] / (limit * limit);
      EXPECT_TRUE(limit > 0 || std::abs(f[r]) <= force_tolerance) << "contact " << i;
    }
    EXPECT_LE(std::sqrt(used), f[0] + force_tolerance) << "contact " << i;
    if (!exact) continue;
    // Complementarity is maximum dissipation: −f_tᵀs = f_n μ‖E s‖, and no force at a distance.
    const double power = f[1] * motion[1] + f[2] * motion[2] + f[3] * motion[3];
    EXPECT_NEAR(-power, f[0] * layer, energy_tolerance) << "contact " << i;
    EXPECT_NEAR(f[0] * (gap - layer), 0, energy_tolerance) << "contact " << i;
  }
}

/// The same for models of exact Coulomb friction with polygons, whose bodies do not separate when they slide: the gap
/// itself is complementary to f_n, and f_t is, of all forces in the polygon μ f_n conv(d_j), one that takes the most
/// from the motion.
inline void expect_coulomb_laws(const dynamics::StepResult& result) {
  ASSERT_TRUE(solvers::usable(result.status)) << solvers::to_string(result.status);
  ASSERT_LE(result.certificate.max_scaled(), solvers::contact::kCertified);
  double force_scale = 1e-9, length_scale = 1e-9;
  for (const auto& f : result.solution.force) force_scale = std::max(force_scale, f[0]);
  for (const double gap : result.solution.gap) length_scale = std::max(length_scale, std::abs(gap));
  length_scale = std::max(length_scale, result.delta.lpNorm<Eigen::Infinity>());
  const double force_tolerance = 1e-7 * force_scale + 1e-12, length_tolerance = 1e-8 * length_scale + 1e-10;
  // Where all gaps are closed what is left is rounding, which goes with the energy of the step.
  const double energy_tolerance = 1e-7 * force_scale * length_scale + 1e-10 + 1e-9 * result.certificate.E0_J;
  for (int i = 0; i < result.program.J.size(); ++i) {
    const auto& f = result.solution.force[i];
    const contact::Contact& contact = result.problem.contacts[i];
    const Eigen::Vector4d motion = contact_motion(result, i);
    const double gap = contact.gap + motion[0], layer = boundary_gap(result.program, i, motion);
    EXPECT_NEAR(gap, result.solution.gap[i], length_tolerance) << "contact " << i;
    EXPECT_GE(gap, -length_tolerance) << "contact " << i;
    EXPECT_GE(f[0], -force_tolerance) << "contact " << i;
    const double mu = contact.frictionless ? 0 : contact.mu;
    // f_t lies in the polygon: |f_t·m| ≤ μ f_n cos(π/n) for all normals m of its edges.
    const int rays = result.program.J.rows(i) == 2 ? 2 : result.program.rays;
    for (int k = 0; k < rays; ++k) {
      const double angle = rays == 2 ? std::numbers::pi * k : 2 * std::numbers::pi * (k + 0.5) / rays;
      const double reach = rays == 2 ? 1 : std::cos(std::numbers::pi / rays);
      EXPECT_LE(std::cos(angle) * f[1] + std::sin(angle) * f[2], mu * reach * f[0] + force_tolerance)
          << "contact " << i;
    }
    const double power = f[1] * motion[1] + f[2] * motion[2];
    EXPECT_NEAR(-power, f[0] * layer, energy_tolerance) << "contact " << i;
    EXPECT_NEAR(f[0] * gap, 0, 1e-7 * force_scale * length_scale + 1e-10) << "contact " << i;
  }
}

}  // namespace deft::test
