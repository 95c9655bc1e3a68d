#pragma once
// Gradients of a step averaged over noise, which smooths contact by sampling:
//
//   B̂ = E[∂y/∂u (q ⊕ ξ, u + w)],  Â = E[∂y/∂q (q ⊕ ξ, u + w)],   w ~ N(0, σ_u²),  ξ ~ N(0, σ_q²) per coordinate,
//
// y = q⁺(q ⊕ ξ, u + w) ⊖ q⁺(q, u) in world tangents. First order averages the samples' Jacobians; zero order fits
// y ≈ c + Â ξ + B̂ w by least squares, which has the same expectation (Stein's lemma) and sees jumps too.
// Source: H. J. T. Suh, T. Pang, R. Tedrake, Bundled gradients through contact via randomized smoothing, RA-L 2022.

#include <array>
#include <cstdint>

#include "deft/dynamics/batch/batch.hpp"

namespace deft::dynamics {

/// What a bundle averages: the samples' Jacobians (first order), or their motions by a fit (zero order).
enum class BundleOrder { kFirst, kZero };

/// How a bundle is sampled. Sample i depends on (seed, i) only.
struct BundleOptions {
  BundleOrder order = BundleOrder::kFirst;  // zero order also counts jumps of the step
  Eigen::VectorXd sigma_u;                  // [rad, m] > 0, size nu, or 1 for all
  Eigen::VectorXd sigma_q{};      // [rad, m] > 0 along world tangents, size nv, 1, or empty: no noise on q, no Â
  int samples = 100;              // ≥ 1
  bool antithetic = false;        // samples 2i and 2i + 1 are w and −w; a pair counts if both are valid
  std::uint64_t seed = 0;         // of the random numbers
  std::optional<double> kappa{};  // [1/J] instead of step.kappa
  double mu_gradient = 0;         // as in DerivativeOptions [J]
  int threads = 0;                // 0: one per core; the result does not depend on it
  std::stop_token stop{};         // as in BatchOptions
  std::function<void(int, int)> on_progress{};  // as in BatchOptions
};

/// kFailed: the step without noise has no result. kTooFew: not more samples were valid than there are unknowns
/// (first order: two). kStopped: by the stop token. All three leave the matrices empty.
enum class BundleOutcome { kDone, kFailed, kTooFew, kStopped };

/// A bundled gradient with standard errors of its entries: of the mean, or of the fit (robust against noise that
/// depends on w).
struct BundleResult {
  BundleOutcome outcome = BundleOutcome::kFailed;               // whether there is a gradient
  solvers::Status status = solvers::Status::kNumericalFailure;  // of the step without noise
  Eigen::VectorXd q_next;                                       // q⁺(q, u)
  Eigen::MatrixXd B, B_standard_error;                          // nv × nu
  Eigen::MatrixXd A, A_standard_error;                          // nv × nv, with sigma_q only
  Eigen::VectorXd mean, mean_standard_error;                    // E[y], size nv [rad, m]
  int used = 0;                                                 // number of valid samples
  std::array<int, solvers::kNumStatuses> invalid{};             // samples by the status with which they failed
  int errors = 0;                                               // samples that could not be computed
  std::string first_error;                                      // the reason of the first of them
};

/// The bundled gradient at `start` under u. @param batch  of the scene; runs all samples.
/// @throws std::invalid_argument on wrong sizes and options out of range.
void bundle_gradient(const scene::Scene& scene, Batch& batch, const State& start, const Eigen::VectorXd& u,
                     const BundleOptions& options, BundleResult& result);

}  // namespace deft::dynamics
