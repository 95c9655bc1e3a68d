#include "deft/solvers/mcp/josephy_newton.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::solvers::mcp {
namespace {

constexpr double kProximal[] = {0, 1e-4, 1e-2, 1, 10, 100};  // weights, tried in turn
constexpr int kSearchHalvings = 8;
constexpr double kWork = 2e8;  // multiplications of one linear problem: enough for pivoting, not for proofs

}  // namespace

bool McpJosephyNewton::solve(ScaledMcp& problem, const double* start, double target, const McpBudget& budget) {
  problem_ = &problem;
  n_ = problem.size();
  iterations_ = 0;
  if (n_ > kLargest) return false;
  now_.resize(n_);
  trial_.resize(n_);
  step_.resize(n_);
  program_.free.clear();
  for (int i = 0; i < n_; ++i)
    if (problem.is_free(i)) program_.free.push_back(i);
  std::copy_n(start, n_, now_.y.begin());
  if (!problem.evaluate(now_, true)) return false;
  merits_.fill(now_.merit);
  linear_.forget();
  while (!(now_.residual <= target)) {
    if (iterations_ >= budget.iterations || budget.out_of_time() || !advance(budget)) return false;
    merits_[iterations_ % kMemory] = now_.merit;
  }
  return true;
}

bool McpJosephyNewton::advance(const McpBudget& budget) {
  const double reference = *std::max_element(merits_.begin(), merits_.end());
  for (const double proximal : kProximal) {
    ++iterations_;
    if (!linearised(proximal, budget)) continue;
    double length = 1;
    for (int k = 0; k <= kSearchHalvings; ++k, length *= 0.5) {
      for (std::size_t i = 0; i < to_size(n_); ++i) trial_.y[i] = now_.y[i] + length * step_[i];
      if (!problem_->evaluate(trial_, true) || !(trial_.merit <= (1 - kArmijo * length) * reference)) continue;
      std::swap(now_, trial_);
      return true;
    }
  }
  return false;
}

// The problem linearised at y, which may have negative entries: only its solution must not.
bool McpJosephyNewton::linearised(double proximal, const McpBudget& budget) {
  program_.M = Eigen::MatrixXd::Zero(n_, n_);
  if (now_.J.dense()) {
    for (int i = 0; i < n_; ++i) program_.M.row(i) = Eigen::Map<const Eigen::RowVectorXd>(now_.J.row(i), n_);
  } else {
    for (const McpJacobian::Entry& entry : now_.J.entries()) program_.M(entry.row, entry.column) += entry.value;
  }
  program_.M.diagonal().array() += proximal;
  const Eigen::Map<const Eigen::VectorXd> y(now_.y.data(), n_), f(now_.f.data(), n_);
  program_.q = f - program_.M * y;
  if (!program_.M.allFinite() || !program_.q.allFinite()) return false;
  linear_.settings().max_modes = 0;
  linear_.settings().max_work = kWork;
  if (budget.clock != nullptr) linear_.settings().time_limit_s = budget.time_limit_s - budget.clock->seconds();
  const lcp::ComplementarityResult& result = linear_.solve(program_);
  if (!usable(result.status)) return false;
  for (int i = 0; i < n_; ++i) step_[i] = result.solution.z[i] - now_.y[i];
  return true;
}

}  // namespace deft::solvers::mcp
