#include "deft/solvers/mcp/semismooth_newton.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::solvers::mcp {
namespace {

constexpr double kSufficient = 0.25;  // of ½|Φ|²: an active-set step that leaves more is not taken
constexpr double kDescent = 1e-8;     // cosine below which a Newton step is refused
constexpr int kNewtonHalvings = 10, kDampedHalvings = 30;
constexpr double kHeavy = 1e-2;  // largest weight of damped steps
constexpr int kPolish = 3;
constexpr double kExact = 1e-15;  // residual that no step improves
constexpr double kShort = 1e-4;   // of max(1, |y|): a longer polishing step may lead to another solution
constexpr double kNear = 1e-7;    // residual below which kStill iterations without halving it end the search
constexpr int kStill = 8;
constexpr int kCycling = 10;  // iterations without a lower |Φ|, after which it must fall below the last ones

/// The guard against stalls: counts iterations without progress of ½|Φ|² and of the residual.
class Progress {
 public:
  Progress(double merit, double residual) : lowest_(merit), halved_merit_(merit), halved_residual_(residual) {}

  void record(double merit, double residual) {
    since_halved_ = merit < 0.5 * halved_merit_ ? 0 : since_halved_ + 1;
    if (since_halved_ == 0) halved_merit_ = merit;
    since_lowest_ = merit < lowest_ ? 0 : since_lowest_ + 1;
    lowest_ = std::min(lowest_, merit);
    since_residual_ = residual < 0.5 * halved_residual_ ? 0 : since_residual_ + 1;
    if (since_residual_ == 0) halved_residual_ = residual;
  }
  /// Whether the search should end: ½|Φ|² has not halved for `patience` iterations, or the residual not near its end.
  bool stalled(int patience) const {
    return since_halved_ >= patience || (halved_residual_ < kNear && since_residual_ >= kStill);
  }
  /// Whether the non-monotone search has gone kCycling iterations without a lower |Φ|; counts again from there.
  bool take_cycle() {
    if (since_lowest_ < kCycling) return false;
    since_lowest_ = 0;
    return true;
  }

 private:
  double lowest_, halved_merit_, halved_residual_;  // of ½|Φ|²: the least, and when it last halved; of the residual
  int since_lowest_ = 0, since_halved_ = 0, since_residual_ = 0;
};

}  // namespace

McpSemismooth::End McpSemismooth::solve(ScaledMcp& problem, const double* start, double target,
                                        const McpBudget& budget) {
  problem_ = &problem;
  iterations_ = 0;
  if (n_ != problem.size() || now_.y.empty()) {
    n_ = problem.size();
    now_.resize(n_);
    trial_.resize(n_);
    for (auto* list : {&a_, &b_, &step_, &gradient_, &product_, &best_}) list->assign(kernels::padded(n_), 0.0);
  }
  std::copy_n(start, n_, now_.y.begin());
  best_ = now_.y;
  best_f_.clear();
  best_residual_ = std::numeric_limits<double>::infinity();
  if (!problem.evaluate(now_, true)) return End::kStalled;
  keep_best();
  merits_.fill(now_.merit);
  Progress progress(now_.merit, now_.residual);
  while (!(now_.residual <= target)) {
    if (iterations_ >= budget.iterations) return End::kIterations;
    if (budget.out_of_time()) return End::kTime;
    if (!advance()) return End::kStalled;
    keep_best();
    merits_[iterations_ % kMemory] = now_.merit;
    progress.record(now_.merit, now_.residual);
    if (progress.stalled(budget.patience)) return End::kStalled;
    if (progress.take_cycle()) merits_.fill(*std::min_element(merits_.begin(), merits_.end()));
  }
  polish();
  return End::kSolved;
}

void McpSemismooth::keep_best() {
  if (!(now_.residual < best_residual_)) return;
  best_residual_ = now_.residual;
  best_ = now_.y;
  best_f_ = now_.f;
}

bool McpSemismooth::advance() {
  ++iterations_;
  if (active_set_step()) return true;
  gradient();
  return newton_step() || damped_step();
}

// y_i > f_i: f_i = 0; otherwise y_i = 0.
void McpSemismooth::active_rows() {
  for (int i = 0; i < n_; ++i) {
    const auto k = to_size(i);
    const bool basic = problem_->is_free(i) || now_.y[k] > now_.f[k];
    a_[k] = basic ? 0 : 1;
    b_[k] = basic ? 1 : 0;
    step_[k] = basic ? -now_.f[k] : -now_.y[k];
  }
}

bool McpSemismooth::active_set_step() {
  active_rows();
  if (!linear_.factor(now_.J, a_.data(), b_.data()) || !linear_.solve(now_.J, a_.data(), b_.data(), step_.data()))
    return false;
  for (int i = 0; i < n_; ++i) trial_.y[i] = now_.y[i] + step_[i];
  if (!problem_->evaluate(trial_, true) || !(trial_.merit <= kSufficient * now_.merit)) return false;
  std::swap(now_, trial_);
  return true;
}

// The gradient of ½|Φ|²: AᵀΦ.
void McpSemismooth::gradient() {
  for (std::size_t i = 0; i < to_size(n_); ++i) product_[i] = now_.weight_f[i] * now_.phi[i];
  now_.J.multiply_transposed(product_.data(), gradient_.data());
  for (std::size_t i = 0; i < to_size(n_); ++i) gradient_[i] += now_.weight_y[i] * now_.phi[i];
}

double McpSemismooth::slope() const {
  double slope = 0;
  for (std::size_t i = 0; i < to_size(n_); ++i) slope += gradient_[i] * step_[i];
  return slope;
}

bool McpSemismooth::newton_step() {
  const double* a = now_.weight_y.data();
  const double* b = now_.weight_f.data();
  for (std::size_t i = 0; i < to_size(n_); ++i) step_[i] = -now_.phi[i];
  if (!linear_.factor(now_.J, a, b) || !linear_.solve(now_.J, a, b, step_.data())) return false;
  double norm_step = 0, norm_gradient = 0;
  for (std::size_t i = 0; i < to_size(n_); ++i) {
    norm_step += step_[i] * step_[i];
    norm_gradient += gradient_[i] * gradient_[i];
  }
  const double fall = slope();
  return fall <= -kDescent * std::sqrt(norm_step * norm_gradient) && search(kNewtonHalvings, fall);
}

bool McpSemismooth::damped_step() {
  const double damping = std::min(kHeavy, std::sqrt(2 * now_.merit));
  if (!linear_.damped(now_.J, now_.weight_y.data(), now_.weight_f.data(), damping, gradient_.data(), step_.data()))
    return false;
  const double fall = slope();
  return fall < 0 && search(kDampedHalvings, fall);
}

bool McpSemismooth::search(int halvings, double slope) {
  const double reference = *std::max_element(merits_.begin(), merits_.end());
  double length = 1;
  for (int k = 0; k <= halvings; ++k, length *= 0.5) {
    for (std::size_t i = 0; i < to_size(n_); ++i) trial_.y[i] = now_.y[i] + length * step_[i];
    const bool defined = problem_->evaluate(trial_, k == 0);
    if (!defined || !(trial_.merit <= reference + kArmijo * length * slope)) continue;
    if (k > 0 && !problem_->evaluate(trial_, true)) continue;
    std::swap(now_, trial_);
    return true;
  }
  return false;
}

// More steps while they improve, so that only rounding remains. Only short ones: where solutions are not isolated the
// iterate must not move to another one.
void McpSemismooth::polish() {
  for (int round = 0; round < kPolish && now_.residual > kExact; ++round) {
    active_rows();
    double length = std::numeric_limits<double>::infinity(), size = 1;
    const auto measure = [&] {
      length = 0;
      for (std::size_t i = 0; i < to_size(n_); ++i) {
        length = std::max(length, std::abs(step_[i]));
        size = std::max(size, std::abs(now_.y[i]));
      }
    };
    ++iterations_;
    if (linear_.factor(now_.J, a_.data(), b_.data()) && linear_.solve(now_.J, a_.data(), b_.data(), step_.data()))
      measure();
    if (!(length <= kShort * size)) {
      gradient();
      const double damping = std::min(kHeavy, std::sqrt(2 * now_.merit));
      if (!linear_.damped(now_.J, now_.weight_y.data(), now_.weight_f.data(), damping, gradient_.data(), step_.data()))
        return;
    }
    for (std::size_t i = 0; i < to_size(n_); ++i) trial_.y[i] = now_.y[i] + step_[i];
    if (!problem_->evaluate(trial_, true) || !(trial_.residual < now_.residual)) return;
    const bool more = trial_.residual < 0.1 * now_.residual;
    std::swap(now_, trial_);
    keep_best();
    if (!more) return;
  }
}

}  // namespace deft::solvers::mcp
