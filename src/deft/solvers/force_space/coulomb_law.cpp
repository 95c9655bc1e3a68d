#include "deft/solvers/force_space/coulomb_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deft::solvers::force_space {
namespace {

using Eigen::VectorXd;

constexpr double kWork = 1.2e6;      // factorisations times contacts of one solve: seconds
constexpr double kNewtonAim = 1e-3;  // of the tolerance: the last step costs little
constexpr int kNewtonSteps = 60, kNewtonCost = 5, kFixedPointSteps = 40;
constexpr int kInfeasibilitySteps = 500;
constexpr int kManySweeps = 1000, kRounds = 12;
// Of all work, the most that each method in turn may spend.
constexpr double kFirstShare = 0.2, kSweepsShare = 0.4, kFixedPointShare = 0.1, kProximalShare = 0.15;
constexpr int kExtrapolateEvery = 20, kSweepsPerFactor = 4;  // sweeps that cost as much as a factorisation
// Weights of the proximal points: they fall while the law is solved, slowly after it was not.
constexpr double kFirstWeight = 1e-2, kHeaviest = 100, kFall = 0.1, kSlowFall = 0.7, kRise = 3;
constexpr double kInexact = 0.03, kLooseMove = 1e-3;  // of the last move: accuracy asked of a proximal point
constexpr int kProximalPoints = 80, kProximalNewton = 20, kProximalFixedPoint = 8;

}  // namespace

bool CoulombLaw::take(const VectorXd& r) { return best_.offer(*space_, tolerance_, r); }

bool CoulombLaw::fixed_point(const VectorXd* from) {
  VectorXd r = from ? *from : best_.r;
  fixed_point_.solve(from != nullptr, tolerance_, kFixedPointSteps, *budget_, r);
  return take(r);
}

bool CoulombLaw::newton(const VectorXd& from) {
  VectorXd r = from;
  budget_->iterations += kNewtonCost * newton_.solve(*space_, kNewtonAim * tolerance_, kNewtonSteps, r).steps;
  return take(r);
}

bool CoulombLaw::sweeps(int count, VectorXd& r) {
  VectorXd before;
  int done = 0;
  for (int k = 1; k <= count && !budget_->over(); ++k) {
    const bool extrapolates = k % kExtrapolateEvery == 0;
    if (extrapolates) before = r;
    double change = sweeps_.sweep(*space_, r);
    ++done;
    if (extrapolates) done += sweeps_.extrapolate(*space_, before, change, r);
    if (change < 0.1 * tolerance_) break;
  }
  budget_->iterations += done / kSweepsPerFactor;
  return take(r);
}

// Proximal points c ← solution with W + α and q − αc: a large α makes the fixed point contract.
bool CoulombLaw::proximal_points(VectorXd centre) {
  ForceSpace near = *space_;
  CoulombFixedPoint fixed_point;
  double weight = kFirstWeight, fall = kFall, last_move = 0;
  for (int k = 0; k < kProximalPoints && !budget_->over() && !best_.solved && weight < kHeaviest; ++k) {
    near.W = space_->W;
    for (Eigen::Index i = 0; i < near.q.size(); ++i) near.W.coeffRef(i, i) += weight;
    near.q = space_->q - weight * centre;
    VectorXd r = centre;
    const auto good = [&](double error) {
      return error <= std::max(reachable(tolerance_, r), kInexact * weight * (r - centre).lpNorm<Eigen::Infinity>());
    };
    budget_->iterations += kNewtonCost * newton_.solve(near, kNewtonAim * tolerance_, kProximalNewton, r).steps;
    bool reached = good(near.coulomb_residual(r));
    if (!reached) {
      r = centre;
      fixed_point.start(near);
      const double enough = std::max(tolerance_, kLooseMove * weight * last_move);
      reached = good(fixed_point.solve(true, enough, kProximalFixedPoint, *budget_, r));
    }
    if (reached) {
      last_move = (r - centre).lpNorm<Eigen::Infinity>();
      centre = r;
      take(r);
      weight *= fall;
      fall = std::max(kFall, fall * fall);
    } else {
      weight *= kRise;
      fall = kSlowFall;
    }
  }
  return best_.solved;
}

// Each method has a share of the work. Sweeps find other neighbourhoods for the methods that converge fast, and
// different ones from the associated law's forces and from none at all.
void CoulombLaw::search() {
  const int all = budget_->limit;
  const auto spend = [&](double share) {
    budget_->limit = std::min(all, budget_->iterations + static_cast<int>(share * all));
  };
  spend(kFirstShare);
  if (fixed_point(nullptr)) return;
  VectorXd swept = best_.r, from_nothing = VectorXd::Zero(best_.r.size());
  spend(kSweepsShare);
  for (int k = 0; k < kRounds && !budget_->over(); ++k) {
    if (sweeps_and_newton(swept) || sweeps_and_newton(from_nothing)) return;
  }
  spend(kFixedPointShare);
  if (fixed_point(&swept)) return;
  spend(kFixedPointShare);
  if (fixed_point(&from_nothing)) return;
  spend(kProximalShare);
  if (proximal_points(best_.r)) return;
  budget_->limit = all;
  if (sweeps(kManySweeps, from_nothing) || fixed_point(&from_nothing) || newton(from_nothing)) return;
  proximal_points(from_nothing);
}

Status CoulombLaw::solve(const ForceSpace& space, double tolerance, AssociatedLaw::Budget& budget, VectorXd& r) {
  space_ = &space;
  budget_ = &budget;
  tolerance_ = tolerance;
  const int contacts = static_cast<int>(space.contacts.size());
  budget.limit = std::min(budget.limit, static_cast<int>(kWork / contacts));
  fixed_point_.start(space);
  sweeps_.start(space);
  best_.start(VectorXd::Zero(space.q.size()));
  if (!take(best_.r)) search();
  r = best_.r;
  if (best_.solved || best_.error <= kAcceptedResidual) return Status::kSolved;
  if (proves_infeasible(budget)) return Status::kInfeasible;
  return budget.out_of_time() ? Status::kTimeLimit : Status::kIterationLimit;
}

// Coulomb's law needs u_n ≥ 0. @returns whether a ray of normal forces alone proves that no u has that.
bool CoulombLaw::proves_infeasible(const AssociatedLaw::Budget& budget) const {
  ForceSpace normal;
  std::vector<int> rows;
  for (const ForceSpace::Contact& c : space_->contacts) {
    ForceSpace::Contact& copy = normal.contacts.emplace_back(c);
    copy.first = static_cast<int>(rows.size());
    copy.rows = 1;
    rows.push_back(c.first);
  }
  const auto n = static_cast<Eigen::Index>(rows.size());
  Eigen::SparseMatrix<double> pick(space_->q.size(), n);
  for (Eigen::Index k = 0; k < n; ++k) pick.insert(rows[k], k) = 1;
  normal.W = pick.transpose() * space_->W * pick;
  normal.q = pick.transpose() * space_->q;
  AssociatedLaw::Budget rest;
  rest.time_limit_s = budget.time_limit_s;
  rest.limit = kInfeasibilitySteps;
  AssociatedLaw law;
  law.start(normal);
  return law.solve(false, tolerance_, rest) == Status::kInfeasible;
}

}  // namespace deft::solvers::force_space
