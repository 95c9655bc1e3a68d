#include "deft/solvers/contact/interior/semismooth_newton.hpp"

#include <algorithm>
#include <cmath>

namespace deft::solvers::contact {
namespace {

// Proximal weight ρ on the multipliers (scaled): redundant rows stay solvable and keep the multipliers they had; the
// error it leaves in the rows shrinks by about 1e3 ρ per step. Along a sequence a smaller one is worth its rounding.
constexpr double kRegularisation = 1e-8, kWarmRegularisation = 1e-9;
// Close to the solution of a pile the rows, many more than its motions, disagree by rounding, which 1/ρ magnifies.
constexpr double kNearRegularisation = 1e-4;
constexpr int kNearFactors = 6;  // mostly one is enough
constexpr int kStallSteps = 3;
constexpr double kRounding = 1e-10;  // below it a refinement step must gain a factor of ten, or rounding has the word
constexpr double kRefinementGain = 0.1;
constexpr double kSettled = 1e-9;   // below it a factor is kept as long as the pattern holds, cones included
constexpr double kHopeless = 0.03;  // above it an error that grows tenfold ends the attempt of a warm start
constexpr double kHopelessGrowth = 10;
constexpr int kHopelessSteps = 1;  // allowed when polishing

// Eigenvalue p of the projection's derivative: (1 − p + pR) dλ = r − p E J dv.
double denominator(double p, double R) { return 1 - p + p * R; }

}  // namespace

// Fills q and, where the pattern changed (or a cone bends, unless the iterate is `settled`), D, C. @returns true if the
// factor must be renewed.
bool SemismoothNewton::linearise(const PackedProgram& program, const Iterate& x, bool settled) {
  bool changed = false;
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const PackedBlock& block = program.blocks[i];
    const int first = block.first_slack;
    const double* lambda = x.lambda.data() + first;
    const double* s = state_.slack.data() + first;
    double* q = q_.data() + first;
    if (block.law == Law::kEquality) {
      changed = changed || curvature_[i].zero;
      curvature_[i].zero = false;
      curvature_[i].C[0] = 1 / (rho_ + block.compliance);
      q[0] = -s[0] * curvature_[i].C[0];
      continue;
    }
    if (block.law == Law::kCone) {
      double u[linear::kMaxConeRows] = {}, projected[linear::kMaxConeRows] = {};
      for (int k = 0; k < block.rows; ++k) u[k] = lambda[k] - s[k];
      linear::SpectralConeOperator derivative;
      const linear::Pattern pattern = linear::project_on_cone(block.rows, u, projected, derivative);
      const bool renew = active_[first] != pattern || (pattern == linear::kBoundary && !settled);
      active_[first] = pattern;
      for (int k = 0; k < block.rows; ++k) projected[k] -= lambda[k];
      if (renew) {
        changed = true;
        const double R = rho_ + block.compliance;
        inverse_[i] = derivative.map([&](double p) { return 1 / denominator(p, R); });
        projection_[i] = derivative.map([&](double p) { return p / denominator(p, R); });
        curvature_[i].zero = pattern == linear::kInactive;
        projection_[i].to_matrix(block.rows, curvature_[i].C);
      }
      inverse_[i].apply(block.rows, projected, q);
      continue;
    }
    bool block_changed = false;
    for (int k = 0; k < block.slacks; ++k) {
      const linear::Pattern pattern =
          (first_ ? lambda[k] > 0 : lambda[k] * weight_ > s[k]) ? linear::kActive : linear::kInactive;
      block_changed = block_changed || active_[first + k] != pattern;
      active_[first + k] = pattern;
      D_[first + k] = pattern == linear::kActive ? 1 / (rho_ + block.compliance) : 0.0;
      q[k] = pattern == linear::kActive ? -s[k] * D_[first + k] : -lambda[k];
    }
    if (block_changed) curvature_of_rays(program, block, D_.data() + first, curvature_[i]);
    changed = changed || block_changed;
  }
  return changed;
}

void SemismoothNewton::step(const PackedProgram& program, NewtonSystem& system, Iterate& x) {
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const PackedBlock& block = program.blocks[i];
    rows_of_slacks(program, block, q_.data() + block.first_slack, y_.data() + block.first_row);
  }
  for (int i = 0; i < program.nv; ++i) rhs_[i] = -state_.gradient[i];
  system.add_transposed(program, y_, rhs_);
  system.solve(program, rhs_);
  system.multiply(program, rhs_, z_);
  for (int i = 0; i < program.nv; ++i) x.v[i] += rhs_[i];
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const PackedBlock& block = program.blocks[i];
    const int first = block.first_slack;
    double* slack = slacks_.data() + first;
    slacks_of_rows(program, block, z_.data() + block.first_row, slack);
    if (block.law == Law::kCone) {
      double bent[linear::kMaxConeRows] = {};
      projection_[i].apply(block.rows, slack, bent);
      for (int k = 0; k < block.rows; ++k) x.lambda[first + k] += q_[first + k] - bent[k];
    } else if (block.law == Law::kEquality) {
      x.lambda[first] += q_[first] - slack[0] * curvature_[i].C[0];
    } else {
      for (int k = 0; k < block.slacks; ++k) x.lambda[first + k] += q_[first + k] - D_[first + k] * slack[k];
    }
  }
}

double SemismoothNewton::improve(const PackedProgram& program, NewtonSystem& system, double tolerance, int max_factors,
                                 bool trust_forces, Iterate& x) {
  rho_ = trust_forces ? kWarmRegularisation : kRegularisation;
  first_ = trust_forces;
  weight_ = 1;
  return run(program, system, tolerance, max_factors, trust_forces, x);
}

double SemismoothNewton::correct(const PackedProgram& program, NewtonSystem& system, double tolerance, Iterate& x) {
  rho_ = kNearRegularisation;
  first_ = false;
  weight_ = rho_;
  return run(program, system, tolerance, kNearFactors, true, x);
}

double SemismoothNewton::run(const PackedProgram& program, NewtonSystem& system, double tolerance, int max_factors,
                             bool impatient, Iterate& x) {
  curvature_.assign(program.blocks.size(), BlockCurvature{});
  projection_.assign(program.blocks.size(), linear::SpectralConeOperator{});
  inverse_.assign(program.blocks.size(), linear::SpectralConeOperator{1, 1, 1, {1, 0, 0}});  // of inactive cones
  D_.assign(program.num_slacks, 0.0);
  q_.resize(program.num_slacks);
  slacks_.resize(program.num_slacks);
  active_.assign(program.num_slacks, 0);
  y_.resize(program.num_rows);
  z_.resize(program.num_rows);
  rhs_.resize(program.nv);
  current_.v = x.v;
  current_.lambda = x.lambda;
  iterations_ = 0;
  int factors = 0, stalled = 0, hopeless = 0;
  bool first = true;
  state_.evaluate(program, system, current_);
  double best = state_.exact_error(program, current_), last = best;
  while (best > tolerance && stalled < kStallSteps) {
    const bool renew = linearise(program, current_, last <= kSettled) || first;
    if (renew && ++factors > max_factors) break;
    if (renew) system.factor(program, curvature_);
    stalled = renew ? 0 : stalled + 1;  // steps on one factor: refinement, as long as it helps
    first = false;
    first_ = false;
    step(program, system, current_);
    ++iterations_;
    state_.evaluate(program, system, current_);
    const double error = state_.exact_error(program, current_);
    hopeless = error > kHopeless && error > kHopelessGrowth * best ? hopeless + 1 : 0;
    if (!std::isfinite(error) || hopeless > (impatient ? 0 : kHopelessSteps)) break;
    last = error;
    const bool pays = error < kRefinementGain * best;
    if (error < best) {
      if (error < 0.5 * best) stalled = 0;
      best = error;
      x.v = current_.v;
      x.lambda = current_.lambda;
    }
    if (!renew && !pays && best <= kRounding) break;
  }
  return best;
}

}  // namespace deft::solvers::contact
