#include "deft/solvers/force_space/coulomb_fixed_point.hpp"

#include "deft/math/dense.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deft::solvers::force_space {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr int kKrylov = 40;  // directions of one Newton step
constexpr double kKrylovAccuracy = 1e-6;
constexpr int kMostStalls = 4, kInnerNewtonSteps = 12;
constexpr double kPolished = 0.1;
constexpr double kNear = 1e-2;            // of f, below which Newton's method on the whole law is tried
constexpr double kInnerNewtonAim = 1e-3;  // of the tolerance
constexpr double kProgress = 0.95;        // of |f|, with which a trial is taken at once

}  // namespace

void CoulombFixedPoint::start(const ForceSpace& space) {
  space_ = &space;
  associated_.start(space);
  solves_ = 0;
}

// ‖u_t‖ of each contact.
VectorXd CoulombFixedPoint::sliding(const VectorXd& r) const {
  const VectorXd u = space_->W * r + space_->q;
  VectorXd out(static_cast<Index>(space_->contacts.size()));
  for (Index i = 0; i < out.size(); ++i) {
    const ForceSpace::Contact& c = space_->contacts[i];
    out[i] = linear::tail_norm(c.rows, u.data() + c.first);
  }
  return out;
}

// f(s); false where the associated law was not solved.
bool CoulombFixedPoint::evaluate(const VectorXd& s, bool warm, VectorXd& f) {
  for (Index i = 0; i < s.size(); ++i) associated_.de_saxce[space_->contacts[i].first] = s[i];
  const Status status = associated_.solve(warm, tolerance_, *budget_, kPolished);
  ++solves_;
  best_.offer(*space_, tolerance_, associated_.r);
  f = sliding(associated_.r) - s;
  return status == Status::kSolved;
}

// (1 − ∂g/∂s) ds = f.
VectorXd CoulombFixedPoint::newton_step(const VectorXd& f) {
  associated_.linearise();
  const VectorXd u = space_->W * associated_.r + space_->q;
  VectorXd x(u.size());
  const auto apply = [&](const VectorXd& v) {
    x.setZero();
    for (Index i = 0; i < v.size(); ++i) x[space_->contacts[i].first] = v[i];
    associated_.respond(x);
    const VectorXd du = space_->W * x;
    VectorXd out = v;
    for (Index i = 0; i < v.size(); ++i) {
      const ForceSpace::Contact& c = space_->contacts[i];
      double direction[linear::kMaxConeRows];
      if (!(linear::tail_direction(c.rows, u.data() + c.first, direction) > 0)) continue;
      for (int k = 1; k < c.rows; ++k) out[i] -= direction[k - 1] * du[c.first + k];
    }
    return out;
  };
  // GMRES.
  const int most = std::min(static_cast<int>(f.size()), kKrylov);
  const double size = f.norm();
  Eigen::MatrixXd V(f.size(), most + 1), H = Eigen::MatrixXd::Zero(most + 1, most);
  V.col(0) = f / size;
  VectorXd y;
  int k = 0;
  while (k < most) {
    VectorXd w = apply(V.col(k));
    for (int pass = 0; pass < 2; ++pass) {
      const VectorXd h = V.leftCols(k + 1).transpose() * w;
      w -= V.leftCols(k + 1) * h;
      H.col(k).head(k + 1) += h;
    }
    H(k + 1, k) = w.norm();
    ++k;
    VectorXd e = VectorXd::Zero(k + 1);
    e[0] = size;
    y = qr_solve(H.topLeftCorner(k + 1, k), e);
    const double rest = (e - H.topLeftCorner(k + 1, k) * y).norm();
    if (rest <= kKrylovAccuracy * size || H(k, k - 1) <= 1e-12) break;
    V.col(k) = w / H(k, k - 1);
  }
  return V.leftCols(k) * y;
}

// The best of a few points along the Newton step, and of a half step of the fixed point; each begins from forces
// predicted by the factor of newton_step. @returns |f| there.
double CoulombFixedPoint::search_along(const VectorXd& step, VectorXd& s, VectorXd& f) {
  constexpr double kLengths[] = {1.0, 0.5, 0.1, 0.0};
  const VectorXd from = associated_.r;
  std::vector<VectorXd> trials, predicted;
  for (const double alpha : kLengths) {
    trials.push_back((s + (alpha > 0 ? VectorXd(alpha * step) : VectorXd(0.5 * f))).cwiseMax(0.0));
    VectorXd response = VectorXd::Zero(from.size());
    for (Index i = 0; i < s.size(); ++i) response[space_->contacts[i].first] = trials.back()[i] - s[i];
    associated_.respond(response);
    predicted.push_back(from + response);
  }
  double least = std::numeric_limits<double>::infinity();
  const double size = f.norm();
  VectorXd best_s = s, best_f = f, best_r = from, trial_f;
  for (std::size_t k = 0; k < trials.size() && !budget_->over(); ++k) {
    if (!trials[k].allFinite() || !predicted[k].allFinite()) continue;
    associated_.r = predicted[k];
    const bool evaluated = evaluate(trials[k], true, trial_f);
    if (best_.solved) return 0;
    if (evaluated && trial_f.norm() < least) {
      least = trial_f.norm();
      best_s = trials[k], best_f = trial_f, best_r = associated_.r;
    }
    if (least <= kProgress * size) break;
  }
  // Only r goes back to the best trial. Where that was not the last one, so that no trial made progress, associated_.u
  // and associated_.de_saxce are still those of the last, and the next newton_step is linearised at r − u of the two
  // mixed: a step that is not Newton's, which the trials along it have to make good.
  s = best_s, f = best_f;
  associated_.r = best_r;
  return least;
}

double CoulombFixedPoint::solve(bool warm, double tolerance, int most, AssociatedLaw::Budget& budget, VectorXd& r) {
  budget_ = &budget;
  tolerance_ = tolerance;
  best_.start(r);
  VectorXd s = VectorXd::Zero(static_cast<Index>(space_->contacts.size())), f;
  if (warm) {
    associated_.r = r;
    s = sliding(r);
  }
  double best_size = std::numeric_limits<double>::infinity();
  const bool begun = evaluate(s, warm, f);
  for (int k = 0, stalled = 0; begun && k < most && !best_.solved && stalled < kMostStalls && !budget.over(); ++k) {
    const double size = search_along(newton_step(f), s, f);
    if (best_.solved || !std::isfinite(size)) break;
    stalled = size < 0.9 * best_size ? 0 : stalled + 1;
    best_size = std::min(best_size, size);
    if (size < kNear) {
      VectorXd x = associated_.r;
      budget.iterations += newton_.solve(*space_, kInnerNewtonAim * tolerance, kInnerNewtonSteps, x).steps;
      best_.offer(*space_, tolerance_, x);
    }
  }
  r = best_.r;
  return best_.error;
}

}  // namespace deft::solvers::force_space
