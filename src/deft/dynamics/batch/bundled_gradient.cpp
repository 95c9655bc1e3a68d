#include "deft/dynamics/batch/bundled_gradient.hpp"
#include "deft/core/index.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <stdexcept>

#include "deft/math/random.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd spread(const char* what, const VectorXd& sigma, int size) {
  if ((sigma.size() != 1 && sigma.size() != size) || !(sigma.array() > 0).all() || !sigma.allFinite())
    throw std::invalid_argument(fmt::format("bundle: {} needs 1 or {} positive entries", what, size));
  return sigma.size() == 1 ? VectorXd::Constant(size, sigma(0)) : sigma;
}

/// The noise of all samples, a column each: first of q (if any), then of u.
MatrixXd draw(const scene::Scene& scene, const BundleOptions& options) {
  VectorXd sigma = spread("sigma_u", options.sigma_u, scene.nu());
  if (options.sigma_q.size() > 0) {
    VectorXd both(scene.nv() + scene.nu());
    both << spread("sigma_q", options.sigma_q, scene.nv()), sigma;
    sigma = both;
  }
  MatrixXd noise(sigma.size(), options.samples);
  for (int i = 0; i < options.samples; ++i) {
    const bool mirrored = options.antithetic && i % 2 == 1;
    for (Index k = 0; k < noise.rows(); ++k) {
      const auto item = static_cast<std::uint64_t>(mirrored ? i - 1 : i);
      const double x = sigma(k) * random_normal(options.seed, item, static_cast<std::uint32_t>(k));
      noise(k, i) = mirrored ? -x : x;
    }
  }
  return noise;
}

BatchInput disturb(const scene::Scene& scene, const State& start, const VectorXd& u, const MatrixXd& noise) {
  BatchInput input{.q = start.q, .v = start.v, .u = noise.bottomRows(scene.nu()).colwise() + u, .t = start.t};
  if (noise.rows() == scene.nu()) return input;
  input.q.resize(scene.nq(), noise.cols());
  VectorXd q;
  for (Index i = 0; i < noise.cols(); ++i) {
    scene.model().integrate(start.q, noise.col(i).head(scene.nv()), q);
    input.q.col(i) = q;
  }
  return input;
}

/// What valid samples say: one column per sample, or per antithetic pair.
struct Observations {
  MatrixXd noise;  // zero order: of the sample, or of the first of the pair
  MatrixXd value;  // first order: the Jacobian by columns; zero order: y, or half the difference of the pair
  MatrixXd y;      // y, or the mean of the pair
};

/// Mean of the columns and its standard error.
void average(const MatrixXd& columns, VectorXd& mean, VectorXd& standard_error) {
  const auto count = static_cast<double>(columns.cols());
  mean = columns.rowwise().mean();
  standard_error = ((columns.colwise() - mean).rowwise().squaredNorm() / (count * (count - 1))).cwiseSqrt();
}

/// value ≈ c + G noise, with c where samples stand alone (in pairs it cancels).
///   G = V Xᵀ(X Xᵀ)⁻¹,  Var G_kj = n/(n − p) Σ_i (e_ki P_ji)²,  P = (X Xᵀ)⁻¹X  (White 1980, with HC1's factor).
void fit(Observations& seen, bool paired, MatrixXd& gradient, MatrixXd& standard_error) {
  MatrixXd X = seen.noise, V = seen.value;
  if (!paired) {
    X.colwise() -= VectorXd(X.rowwise().mean());
    V.colwise() -= VectorXd(V.rowwise().mean());
  }
  const MatrixXd P = (X * X.transpose()).llt().solve(X);
  gradient = V * P.transpose();
  const MatrixXd e = V - gradient * X;
  const auto count = static_cast<double>(X.cols()), unknowns = static_cast<double>(X.rows() + (paired ? 0 : 1));
  standard_error = (count / (count - unknowns) * e.cwiseAbs2() * P.cwiseAbs2().transpose()).cwiseSqrt();
}

/// The samples of one bundle, read where they are valid.
class Samples {
 public:
  Samples(const scene::Scene& scene, const BatchResult& batch, const MatrixXd& noise, const VectorXd& q_next)
      : scene_(scene), batch_(batch), noise_(noise), rotations_(rotation_blocks(scene.model())) {
    y_.resize(scene.nv(), noise.cols());
    for (int i = 0; i < batch.size(); ++i)
      if (valid(i)) y_.col(i) = scene.model().difference(q_next, batch.q_next.col(i));
  }

  bool valid(int i) const { return batch_.state[i] == ItemState::kDone; }
  Observations observe(const BundleOptions& options) const;

 private:
  /// ∂y/∂(ξ, w) by columns. Tangents at the sample become tangents at q and q⁺: dy = J_l(y)⁻¹ A J_l(ξ) dξ.
  VectorXd jacobian(int i) const;

  const scene::Scene& scene_;
  const BatchResult& batch_;
  const MatrixXd& noise_;
  std::vector<int> rotations_;
  MatrixXd y_;
};

VectorXd Samples::jacobian(int i) const {
  const Index nv = scene_.nv(), nu = scene_.nu(), first_u = noise_.rows() - nu;
  MatrixXd J(nv, noise_.rows());
  J.rightCols(nu) = batch_.B_of(i);
  if (first_u > 0) J.leftCols(nv) = batch_.A_of(i);
  for (const int r : rotations_) {
    const Eigen::Vector3d turn = y_.col(i).segment<3>(r);
    J.middleRows(r, 3) = left_jacobian_so3(turn).inverse() * J.middleRows(r, 3);
    if (first_u == 0) continue;
    const Eigen::Vector3d shift = noise_.col(i).segment<3>(r);
    J.middleCols(r, 3) = J.middleCols(r, 3) * left_jacobian_so3(shift);
  }
  return J.reshaped();
}

Observations Samples::observe(const BundleOptions& options) const {
  const bool first_order = options.order == BundleOrder::kFirst;
  const int together = options.antithetic ? 2 : 1;
  Observations seen{.noise = MatrixXd(noise_.rows(), noise_.cols()),
                    .value = MatrixXd(first_order ? scene_.nv() * noise_.rows() : scene_.nv(), noise_.cols()),
                    .y = y_};
  Index count = 0;
  for (int i = 0; i + together <= batch_.size(); i += together) {
    const int other = i + together - 1;
    if (!valid(i) || !valid(other)) continue;
    seen.noise.col(count) = noise_.col(i);
    seen.y.col(count) = 0.5 * (y_.col(i) + y_.col(other));
    if (first_order)
      seen.value.col(count) = together == 1 ? jacobian(i) : VectorXd(0.5 * (jacobian(i) + jacobian(other)));
    else
      seen.value.col(count) = together == 1 ? VectorXd(y_.col(i)) : VectorXd(0.5 * (y_.col(i) - y_.col(other)));
    ++count;
  }
  for (MatrixXd* columns : {&seen.noise, &seen.value, &seen.y}) columns->conservativeResize(Eigen::NoChange, count);
  return seen;
}

void count_invalid(const BatchResult& batch, BundleResult& result) {
  for (std::size_t i = 0; i < batch.state.size(); ++i) {
    if (batch.state[i] == ItemState::kFailed) ++result.invalid[to_size(batch.status[i])];
    if (batch.state[i] == ItemState::kError) ++result.errors;
  }
  if (!batch.errors.empty()) result.first_error = batch.errors.front().second;
}

/// Mean and gradient of what was seen, if that is enough.
void estimate(const scene::Scene& scene, const BundleOptions& options, Observations& seen, BundleResult& result) {
  const bool first_order = options.order == BundleOrder::kFirst;
  const Index unknowns = seen.noise.rows() + (options.antithetic ? 0 : 1), needed = first_order ? 2 : unknowns + 1;
  result.used = static_cast<int>(seen.y.cols()) * (options.antithetic ? 2 : 1);
  if (seen.y.cols() < needed) {
    result.outcome = BundleOutcome::kTooFew;
    return;
  }
  average(seen.y, result.mean, result.mean_standard_error);
  MatrixXd gradient, standard_error;
  if (first_order) {
    VectorXd mean, error;
    average(seen.value, mean, error);
    gradient = mean.reshaped(scene.nv(), seen.noise.rows());
    standard_error = error.reshaped(scene.nv(), seen.noise.rows());
  } else {
    fit(seen, options.antithetic, gradient, standard_error);
  }
  const Index first_u = seen.noise.rows() - scene.nu();
  result.B = gradient.rightCols(scene.nu());
  result.B_standard_error = standard_error.rightCols(scene.nu());
  result.A = gradient.leftCols(first_u);
  result.A_standard_error = standard_error.leftCols(first_u);
  result.outcome = BundleOutcome::kDone;
}

void check(const scene::Scene& scene, const State& start, const VectorXd& u, const BundleOptions& options) {
  if (start.q.size() != scene.nq() || u.size() != scene.nu())
    throw std::invalid_argument("bundle: q and u must be of this scene");
  if (options.samples < 1) throw std::invalid_argument("bundle: samples must be at least 1");
  if (options.antithetic && options.samples % 2 != 0)
    throw std::invalid_argument("bundle: antithetic samples come in pairs, samples must be even");
}

}  // namespace

void bundle_gradient(const scene::Scene& scene, Batch& batch, const State& start, const VectorXd& u,
                     const BundleOptions& options, BundleResult& result) {
  check(scene, start, u, options);
  const MatrixXd noise = draw(scene, options);
  result = BundleResult{};
  BatchResult steps;
  BatchOptions run{.mu_gradient = options.mu_gradient, .kappa = options.kappa, .threads = options.threads};

  // The step without noise: where tangents begin.
  batch.run({.q = start.q, .v = start.v, .u = u, .t = start.t}, run, steps);
  result.status = steps.status[0];
  if (steps.state[0] == ItemState::kError) throw std::invalid_argument("bundle: " + steps.errors[0].second);
  if (steps.state[0] != ItemState::kDone) return;
  result.q_next = steps.q_next.col(0);

  run.stop = options.stop;
  run.on_progress = options.on_progress;
  if (options.order == BundleOrder::kFirst)
    run.jacobians = options.sigma_q.size() > 0 ? BatchJacobians::kAB : BatchJacobians::kB;
  batch.run(disturb(scene, start, u, noise), run, steps);
  count_invalid(steps, result);
  if (!steps.completed()) {
    result.outcome = BundleOutcome::kStopped;
    return;
  }
  Observations seen = Samples(scene, steps, noise, result.q_next).observe(options);
  estimate(scene, options, seen, result);
}

}  // namespace deft::dynamics
