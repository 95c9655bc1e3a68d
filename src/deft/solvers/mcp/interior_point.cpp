#include "deft/solvers/mcp/interior_point.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::solvers::mcp {
namespace {

constexpr double kBoundary = 0.99;  // share of the way to the boundary
constexpr int kHalvings = 20;
constexpr double kCentring = 0.1;                 // κ over the mean of y_i s_i after a long step
constexpr double kBehind = 10;                    // κ stays while the residual of the equations exceeds so many √κ
constexpr double kShortStep = 0.3, kLost = 1e-5;  // lengths: of a step after which κ falls less, of one that ends it
constexpr double kDamping = 1e-6;                 // of damped steps, at least κ

}  // namespace

bool McpInteriorPoint::start(ScaledMcp& problem, const double* y, double lift) {
  problem_ = &problem;
  n_ = problem.size();
  iterations_ = 0;
  length_ = 1;
  now_.resize(n_);
  trial_.resize(n_);
  for (auto* list : {&s_, &trial_s_, &a_, &b_, &rhs_, &dy_, &ds_, &g_, &weighted_})
    list->assign(kernels::padded(n_), 0.0);
  pairs_ = 0;
  for (int i = 0; i < n_; ++i) {
    now_.y[i] = problem.is_free(i) ? y[i] : std::max(y[i], lift);
    pairs_ += !problem.is_free(i);
  }
  if (!problem.evaluate(now_, true)) return false;
  for (int i = 0; i < n_; ++i) s_[i] = problem.is_free(i) ? 0 : std::max(now_.f[i], lift);
  measure();
  return true;
}

void McpInteriorPoint::measure() {
  mean_ = largest_ = infeasible_ = 0;
  for (int i = 0; i < n_; ++i) {
    const auto k = to_size(i);
    infeasible_ = std::max(infeasible_, std::abs(now_.f[k] - s_[k]));
    if (problem_->is_free(i)) continue;
    mean_ += now_.y[k] * s_[k] / pairs_;
    largest_ = std::max(largest_, now_.y[k] * s_[k]);
  }
}

double McpInteriorPoint::merit(const McpPoint& point, const std::vector<double>& s, double kappa) const {
  double total = 0;
  for (int i = 0; i < n_; ++i) {
    const auto k = to_size(i);
    const double equation = point.f[k] - s[k], product = problem_->is_free(i) ? 0 : point.y[k] * s[k] - kappa;
    total += equation * equation + product * product;
  }
  return total;
}

bool McpInteriorPoint::follow(double kappa, const McpBudget& budget) {
  while (largest_ > kappa || infeasible_ > std::sqrt(kappa)) {
    if (iterations_ >= budget.iterations || budget.out_of_time()) return false;
    ++iterations_;
    const double centring = length_ < kShortStep ? 0.5 : kCentring;
    const double target = infeasible_ > kBehind * std::sqrt(mean_) ? mean_ : centring * mean_;
    if (!step(std::max(target, 0.1 * kappa))) return false;
  }
  return true;
}

void McpInteriorPoint::direction(double kappa) {
  for (int i = 0; i < n_; ++i) {
    const auto k = to_size(i);
    const double sum = problem_->is_free(i) ? 1 : now_.y[k] + s_[k];
    a_[k] = s_[k] / sum;
    b_[k] = problem_->is_free(i) ? 1 : now_.y[k] / sum;
    dy_[k] = rhs_[k] = problem_->is_free(i) ? -now_.f[k] : (kappa - now_.y[k] * now_.f[k]) / sum;
  }
  if (!linear_.factor(now_.J, a_.data(), b_.data()) || !linear_.solve(now_.J, a_.data(), b_.data(), dy_.data())) {
    for (std::size_t i = 0; i < to_size(n_); ++i) weighted_[i] = b_[i] * rhs_[i];
    now_.J.multiply_transposed(weighted_.data(), g_.data());
    for (std::size_t i = 0; i < to_size(n_); ++i) g_[i] = -(g_[i] + a_[i] * rhs_[i]);
    linear_.damped(now_.J, a_.data(), b_.data(), std::max(kDamping, kappa), g_.data(), dy_.data());
  }
  for (int i = 0; i < n_; ++i) {
    const auto k = to_size(i);
    ds_[k] = problem_->is_free(i) ? 0 : (kappa - now_.y[k] * s_[k] - s_[k] * dy_[k]) / now_.y[k];
  }
}

bool McpInteriorPoint::step(double kappa) {
  direction(kappa);
  double length = 1;
  for (int i = 0; i < n_; ++i) {
    const auto k = to_size(i);
    if (problem_->is_free(i)) continue;
    if (dy_[k] < 0) length = std::min(length, -kBoundary * now_.y[k] / dy_[k]);
    if (ds_[k] < 0) length = std::min(length, -kBoundary * s_[k] / ds_[k]);
  }
  const double before = merit(now_, s_, kappa);
  for (int half = 0; half <= kHalvings; ++half, length *= 0.5) {
    for (std::size_t i = 0; i < to_size(n_); ++i) {
      trial_.y[i] = now_.y[i] + length * dy_[i];
      trial_s_[i] = s_[i] + length * ds_[i];
    }
    if (!problem_->evaluate(trial_, true)) continue;
    if (!(merit(trial_, trial_s_, kappa) <= (1 - kArmijo * length) * before)) continue;
    std::swap(now_, trial_);
    std::swap(s_, trial_s_);
    length_ = length;
    measure();
    return length_ > kLost;
  }
  return false;
}

}  // namespace deft::solvers::mcp
