#include "deft/solvers/lcp/complementarity_newton.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::lcp {
namespace {

constexpr double kDone = 1e-12, kNear = 1e-8;  // |Φ|∞ at which it ends, at once or after kStill steps without progress
constexpr int kStill = 6;
constexpr double kArmijo = 1e-4;             // of the predicted descent: what a step must reach
constexpr double kDescent = 1e-8;            // cosine below which a Newton step is refused
constexpr int kHalvings = 25;                // of a step
constexpr double kSingularJacobian = 1e-14;  // smaller pivots: no Newton step
constexpr double kLargestDamping = 1e-2;     // weight of a Levenberg–Marquardt step, at most
constexpr double kLeastPivot = 1e-300;       // of its matrix, which is positive definite

}  // namespace

bool ComplementarityNewton::solve(const ScaledComplementarity& problem, std::span<double> z, int max_iterations,
                                  const Stopwatch* clock, double time_s) {
  const auto n = to_size(problem.n);
  z_.assign(problem.ld, 0.0);
  std::copy(z.begin(), z.end(), z_.begin());
  trial_ = z_;
  for (auto* list : {&w_, &phi_, &weight_z_, &weight_w_, &gradient_, &step_}) list->assign(problem.ld, 0.0);
  iterations_ = 0;
  double merit = evaluate(problem, z_), best = largest_;
  merits_.fill(merit);
  int still = 0;
  bool done = largest_ < kDone;
  while (!done && iterations_ < max_iterations && !(clock && clock->seconds() > time_s)) {
    // The gradient of ½|Φ|²: Jᵀ Φ with J = diag(a) + diag(b) M.
    std::fill(gradient_.begin(), gradient_.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) step_[i] = weight_w_[i] * phi_[i];
    kernels::dense_kernels().multiply_transposed(problem.n, problem.ld, problem.M.data(), step_.data(),
                                                 gradient_.data());
    for (std::size_t i = 0; i < n; ++i) gradient_[i] += weight_z_[i] * phi_[i];
    if (!newton_step(problem) && !damped_step(problem)) break;
    ++iterations_;

    double slope = 0;
    for (std::size_t i = 0; i < n; ++i) slope += gradient_[i] * step_[i];
    const double reference = *std::max_element(merits_.begin(), merits_.end());
    double length = 1;
    bool moved = false;
    for (int k = 0; k < kHalvings && !moved; ++k, length *= 0.5) {
      for (std::size_t i = 0; i < n; ++i) trial_[i] = z_[i] + length * step_[i];
      const double value = evaluate(problem, trial_);
      if (!(value <= reference + kArmijo * length * slope)) continue;
      merit = value;
      moved = true;
    }
    if (!moved) {
      evaluate(problem, z_);
      break;
    }
    std::swap(z_, trial_);
    merits_[iterations_ % kMemory] = merit;
    still = largest_ < 0.5 * best ? 0 : still + 1;
    best = std::min(best, largest_);
    done = largest_ < kDone || (best < kNear && still >= kStill);
  }
  std::copy_n(z_.begin(), n, z.begin());
  basic_.resize(n);
  for (std::size_t i = 0; i < n; ++i) basic_[i] = problem.free[i] || z_[i] > w_[i];
  return done;
}

// Φ, its weights and |Φ|∞. @returns ½|Φ|².
double ComplementarityNewton::evaluate(const ScaledComplementarity& problem, const std::vector<double>& z) {
  kernels::dense_kernels().multiply(problem.n, problem.ld, problem.M.data(), z.data(), w_.data());
  double merit = 0;
  largest_ = 0;
  for (std::size_t i = 0; i < to_size(problem.n); ++i) {
    w_[i] += problem.q[i];
    if (problem.free[i]) {
      phi_[i] = w_[i];
      weight_z_[i] = 0;
      weight_w_[i] = 1;
    } else {
      const double norm = std::hypot(z[i], w_[i]);
      // z + w − √(z² + w²) = 2zw/(z + w + √…) where both are positive: no cancellation.
      phi_[i] = z[i] > 0 && w_[i] > 0 ? 2 * z[i] * (w_[i] / (z[i] + w_[i] + norm)) : z[i] + w_[i] - norm;
      weight_z_[i] = norm > 0 ? 1 - z[i] / norm : 1 - std::sqrt(0.5);
      weight_w_[i] = norm > 0 ? 1 - w_[i] / norm : 1 - std::sqrt(0.5);
    }
    merit += 0.5 * phi_[i] * phi_[i];
    largest_ = std::max(largest_, std::abs(phi_[i]));
  }
  return std::isfinite(merit) ? merit : std::numeric_limits<double>::infinity();
}

bool ComplementarityNewton::newton_step(const ScaledComplementarity& problem) {
  lu_.resize(problem.n);
  double norm_step = 0, norm_gradient = 0, slope = 0;
  for (int i = 0; i < problem.n; ++i) {
    const auto k = to_size(i);
    double* to = lu_.row(i);
    const double* from = problem.M_row(i);
    for (int j = 0; j < problem.n; ++j) to[j] = weight_w_[k] * from[j];
    to[i] += weight_z_[k];
    step_[k] = -phi_[k];
  }
  if (!lu_.factor(kSingularJacobian)) return false;
  lu_.solve(step_.data());
  for (std::size_t i = 0; i < to_size(problem.n); ++i) {
    slope += step_[i] * gradient_[i];
    norm_step += step_[i] * step_[i];
    norm_gradient += gradient_[i] * gradient_[i];
  }
  return std::isfinite(norm_step) && slope <= -kDescent * std::sqrt(norm_step * norm_gradient);
}

// (JᵀJ + σ) p = −JᵀΦ.
bool ComplementarityNewton::damped_step(const ScaledComplementarity& problem) {
  lu_.resize(problem.n);
  double norm = 0;
  for (std::size_t i = 0; i < to_size(problem.n); ++i) norm += phi_[i] * phi_[i];
  for (int i = 0; i < problem.n; ++i) {
    // Row i of J, put into the columns it touches.
    const auto k = to_size(i);
    std::copy_n(problem.M_row(i), problem.n, trial_.begin());
    for (int j = 0; j < problem.n; ++j) trial_[j] *= weight_w_[k];
    trial_[k] += weight_z_[k];
    for (int r = 0; r < problem.n; ++r) {
      const double factor = trial_[r];
      if (factor == 0) continue;
      double* to = lu_.row(r);
      for (int j = 0; j < problem.n; ++j) to[j] += factor * trial_[j];
    }
  }
  const double damping = std::min(kLargestDamping, std::sqrt(norm));
  for (int i = 0; i < problem.n; ++i) {
    lu_.row(i)[i] += damping;
    step_[i] = -gradient_[i];
  }
  if (!lu_.factor(kLeastPivot)) return false;
  lu_.solve(step_.data());
  double norm_step = 0;
  for (std::size_t i = 0; i < to_size(problem.n); ++i) norm_step += step_[i] * step_[i];
  return std::isfinite(norm_step);
}

}  // namespace deft::solvers::lcp
