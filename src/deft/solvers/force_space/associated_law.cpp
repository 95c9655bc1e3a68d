#include "deft/solvers/force_space/associated_law.hpp"

#include <algorithm>
#include <cmath>

#include "deft/solvers/kernels/dense_kernels.hpp"

namespace deft::solvers::force_space {
namespace {

using Eigen::VectorXd;

constexpr double kNoise = 1e-15;     // pivots that are a smaller part of their diagonal entry are rounding
constexpr double kProximal = 1e-10;  // on the scaled forces in the polish: redundant contacts stay solvable
constexpr double kOutside = 1e4;  // stands for an infinite weight where the projection is flat: larger ones cost digits
                                  // in the other directions of a cone

// The search: starts, proximal problems, and when to polish.
constexpr double kStarts[] = {30, 1e3, 1, 1e5};  // scaled forces
constexpr double kProximalWeights[] = {1e-8, 1e-11, 1e-13};
constexpr double kLift = 1e-5, kWarmLift = 1e-3;  // complementarity of a point moved into the cones
constexpr double kLoose = 1e-8;                   // scaled complementarity at which the polish begins
constexpr double kTight = 1e-13;                  // the same where no polish follows
constexpr double kWorthPolishing = 1e-3;          // from residuals above it Newton's method would not converge

// The interior point.
constexpr int kInteriorSteps = 60;
constexpr double kNearTheEnd = 1e-5;    // below it rounding may be what stops the progress
constexpr double kMeritFall = 0.9;      // a residual that falls to less than this part of the best is progress
constexpr int kCentreAfter = 3;         // steps without progress, after which the next ones only centre
constexpr int kStopAfter = 4;           // the same, after which a solve near the end ends
constexpr double kBalance = 1e-3;       // part of the first complementarity per residual that is kept
constexpr double kLeastTarget = 1e-18;  // of complementarity
constexpr double kBackOff = 0.995;      // of the step to the boundary
constexpr double kMisled = 0.1;         // step length below which the second-order term was misleading
constexpr double kLeastStep = 1e-12;    // below it rounding has stopped the progress
constexpr double kShortStep = 0.1;      // shorter steps in succession show that a start was chosen badly
constexpr int kMostShortSteps = 5;
constexpr double kRay = 1e-8;  // √(rᵀWr) against −qᵀr of a ray that proves infeasibility

// The polish.
constexpr int kPolishSteps = 12;
constexpr int kRefinements = 3;  // of each linear solve

}  // namespace

// Tiles of whole contacts, and W in the factor.
void AssociatedLaw::start(const ForceSpace& space) {
  space_ = &space;
  scaling_.resize(space.contacts.size());
  weight_.resize(space.contacts.size());
  bar_.resize(space.W.rows());
  de_saxce.setZero(space.W.rows());
  r = u = space.q;
  std::vector<int> sizes;
  tile_of_row_.resize(space_->W.rows());
  for (const ForceSpace::Contact& c : space_->contacts) {
    if (sizes.empty() || sizes.back() + c.rows > kernels::kLane) sizes.push_back(0);
    sizes.back() += c.rows;
    for (int k = 0; k < c.rows; ++k) tile_of_row_[c.first + k] = static_cast<int>(sizes.size()) - 1;
  }
  std::vector<std::pair<int, int>> pairs;
  for (int k = 0; k < space_->W.outerSize(); ++k) {
    int last = -1;
    for (Eigen::SparseMatrix<double>::InnerIterator it(space_->W, k); it; ++it) {
      const int a = tile_of_row_[it.row()], b = tile_of_row_[k];
      if (a < b && a != last) pairs.emplace_back(a, b);
      last = a;
    }
  }
  factor_.start(sizes, pairs);
  for (int k = 0; k < space_->W.outerSize(); ++k) {
    for (Eigen::SparseMatrix<double>::InnerIterator it(space_->W, k); it; ++it) {
      if (it.row() > k) break;
      const int cols[2] = {static_cast<int>(it.row()), k};
      const double values[4] = {0, it.value(), 0, 0};
      if (it.row() == k) {
        factor_.add_diagonal(k, it.value());
      } else {
        factor_.add(2, cols, values, 2);
      }
    }
  }
  factor_.remember();
}

void AssociatedLaw::factor_with_weights(double proximal) {
  factor_.recall();
  for (std::size_t i = 0; i < space_->contacts.size(); ++i) {
    const ForceSpace::Contact& c = space_->contacts[i];
    double D[linear::kMaxConeRows * linear::kMaxConeRows];
    weight_[i].to_matrix(c.rows, D);
    int cols[linear::kMaxConeRows];
    for (int k = 0; k < c.rows; ++k) {
      cols[k] = c.first + k;
      D[k * (c.rows + 1)] += proximal;
    }
    factor_.add(c.rows, cols, D, c.rows);
  }
  ++budget_->iterations;
  factor_.factor(kNoise);
}

double AssociatedLaw::complementarity() const {
  double worst = 0;
  for (const ForceSpace::Contact& c : space_->contacts)
    worst = std::max(worst, std::abs(linear::dot(c.rows, r.data() + c.first, u.data() + c.first)) /
                                std::max(1.0, r.segment(c.first, c.rows).norm()));
  return worst;
}

// Forces and openings of `size`.
void AssociatedLaw::start_cold(double size) {
  r.setZero(space_->W.rows());
  u = q_;
  for (const ForceSpace::Contact& c : space_->contacts) {
    double* uc = u.data() + c.first;
    const double tail = linear::tail_norm(c.rows, uc);
    r[c.first] = size;
    uc[0] = std::max(uc[0], tail + size);
  }
}

// W⁻² dr_ + du_ = W⁻¹ (λ \ rc) with du_ = Ŵ dr_ + residual_.
void AssociatedLaw::direction(double target, bool corrector) {
  rhs_ = -residual_;
  for (std::size_t i = 0; i < space_->contacts.size(); ++i) {
    const ForceSpace::Contact& c = space_->contacts[i];
    double rc[linear::kMaxConeRows], p[linear::kMaxConeRows];
    const double* lambda = bar_.data() + c.first;
    const linear::SpectralConeOperator inverse = scaling_[i].map([](double x) { return 1 / x; });
    linear::jordan_product(c.rows, lambda, lambda, rc);
    for (int k = 0; k < c.rows; ++k) rc[k] = (k == 0 ? target : 0.0) - rc[k];
    if (corrector) {
      double a[linear::kMaxConeRows], b[linear::kMaxConeRows], second[linear::kMaxConeRows];
      inverse.apply(c.rows, dr_.data() + c.first, a);
      scaling_[i].apply(c.rows, du_.data() + c.first, b);
      linear::jordan_product(c.rows, a, b, second);
      for (int k = 0; k < c.rows; ++k) rc[k] -= second[k];
    }
    linear::jordan_divide(c.rows, lambda, rc, p);
    inverse.apply(c.rows, p, rc);
    for (int k = 0; k < c.rows; ++k) rhs_[c.first + k] += rc[k];
  }
  dr_ = rhs_;
  factor_.solve(dr_.data());
  du_ = space_->W * dr_ + epsilon_ * dr_ + residual_;
}

double AssociatedLaw::step_length(double limit_alpha) const {
  double alpha = limit_alpha;
  for (const ForceSpace::Contact& c : space_->contacts) {
    alpha = linear::cone_step(c.rows, r.data() + c.first, dr_.data() + c.first, alpha);
    alpha = linear::cone_step(c.rows, u.data() + c.first, du_.data() + c.first, alpha);
  }
  return alpha;
}

// r as a ray: with W = LLᵀ and u = Lv + q, u·r ≥ 0 asks v·Lᵀr ≥ −q·r, so that |v| would be 1e8 times the natural
// length.
bool AssociatedLaw::proves_infeasible() const {
  const double fall = -(space_->q + de_saxce).dot(r);
  return fall > 0 && std::sqrt(std::max(0.0, r.dot(space_->W * r))) <= kRay * fall;
}

// Nesterov–Todd scalings of r and u, and the factor of the Newton matrix.
void AssociatedLaw::scale_and_factor() {
  for (std::size_t i = 0; i < space_->contacts.size(); ++i) {
    const ForceSpace::Contact& c = space_->contacts[i];
    scaling_[i] = linear::nesterov_todd(c.rows, r.data() + c.first, u.data() + c.first);
    weight_[i] = scaling_[i].map([](double x) { return 1 / (x * x); });
    scaling_[i].apply(c.rows, u.data() + c.first, bar_.data() + c.first);
  }
  factor_with_weights(epsilon_);
}

// Mehrotra's predictor. @returns the share of r·u = `total` that a step without centring would leave.
double AssociatedLaw::affine_share(double total) {
  direction(0.0, false);
  const double affine = step_length(1.0);
  return std::max(0.0, (r + affine * dr_).dot(u + affine * du_) / total);
}

// Mehrotra's corrector, or plain centring where its second-order term misleads. @returns the step length.
double AssociatedLaw::correct(double target, double mu, bool stalls) {
  direction(target, true);
  const double alpha = std::min(1.0, kBackOff * step_length(2.0));
  if (!(alpha < kMisled) && !stalls) return alpha;
  direction(0.5 * mu, false);
  return std::min(1.0, kBackOff * step_length(2.0));
}

// Mehrotra's method from the current point to the scaled residuals `aim`; leaves the best point in r and u, its
// residual_ in `reached_`.
Status AssociatedLaw::interior(double aim) {
  const auto n = static_cast<double>(space_->contacts.size());
  VectorXd best_u;
  int unimproved = 0, short_steps = 0;
  double balance = 0;
  reached_ = std::numeric_limits<double>::infinity();
  const auto end = [&](Status status) {
    r = best_r_;
    u = best_u;
    return status;
  };
  for (int step = 0;; ++step) {
    residual_ = space_->W * r + epsilon_ * r + q_ - u;
    const double size = residual_.lpNorm<Eigen::Infinity>();
    const double mu = r.dot(u) / n, merit = std::max(complementarity(), size);
    if (!std::isfinite(merit + mu)) return end(Status::kNumericalFailure);
    if (merit < reached_) {
      unimproved = merit < kMeritFall * reached_ ? 0 : unimproved + 1;
      reached_ = merit;
      best_r_ = r;
      best_u = u;
    } else {
      ++unimproved;
    }
    if (merit <= aim) return Status::kSolved;
    if (proves_infeasible()) return Status::kInfeasible;
    if (budget_->iterations >= budget_->limit || step >= kInteriorSteps) return end(Status::kIterationLimit);
    if (budget_->out_of_time()) return end(Status::kTimeLimit);
    if (reached_ < kNearTheEnd && unimproved >= kStopAfter) return end(Status::kNumericalFailure);
    scale_and_factor();
    const double share = affine_share(n * mu);
    // Complementarity must not run ahead of feasibility.
    if (step == 0) balance = size > 0 ? kBalance * mu / size : 0.0;
    const double target = std::max({share * share * share * mu, balance * size, kLeastTarget});
    const double alpha = correct(target, mu, unimproved >= kCentreAfter);
    if (!(alpha > kLeastStep)) return end(Status::kNumericalFailure);
    short_steps = alpha < kShortStep ? short_steps + 1 : 0;
    if (epsilon_ > 0 && short_steps >= kMostShortSteps) return end(Status::kIterationLimit);
    r += alpha * dr_;
    u += alpha * du_;
  }
}

// x − P(x − u(x)) with u = Wx + q, which is zero at the solution; fills u and `out`. @returns its largest norm per
// contact.
double AssociatedLaw::natural_residual(const VectorXd& x, VectorXd& out) {
  u = space_->W * x + epsilon_ * x + q_;
  out.resize(x.size());
  double worst = 0;
  for (const ForceSpace::Contact& c : space_->contacts) {
    double z[linear::kMaxConeRows] = {}, projected[linear::kMaxConeRows];
    linear::SpectralConeOperator derivative;
    for (int k = 0; k < c.rows; ++k) z[k] = x[c.first + k] - u[c.first + k];
    linear::project_on_cone(c.rows, z, projected, derivative);
    for (int k = 0; k < c.rows; ++k) out[c.first + k] = x[c.first + k] - projected[k];
    const double error = out.segment(c.first, c.rows).norm();
    if (!(error <= worst)) worst = error;  // NaN stays
  }
  return worst;
}

// Near the point x: dr = P'(dr − du) in the form D dr = −du with D = (1 − p)/p in each direction, so that (W + D) dx =
// (1 + D)(P − x) is the Newton step.
void AssociatedLaw::weigh_projection(const VectorXd& x) {
  for (std::size_t i = 0; i < space_->contacts.size(); ++i) {
    const ForceSpace::Contact& c = space_->contacts[i];
    double z[linear::kMaxConeRows] = {}, projected[linear::kMaxConeRows];
    linear::SpectralConeOperator derivative;
    for (int k = 0; k < c.rows; ++k) z[k] = x[c.first + k] - u[c.first + k];
    linear::project_on_cone(c.rows, z, projected, derivative);
    weight_[i] = derivative.map([](double p) { return std::min((1 - p) / std::max(p, 1e-300), kOutside); });
  }
}

void AssociatedLaw::linearise() {
  weigh_projection(r);
  factor_with_weights(kProximal);
}

void AssociatedLaw::respond(VectorXd& x) {
  x = -x;
  factor_.solve(x.data());
}

// Newton's method on r = P(r − u). Keeps the best iterate in r. @returns its residual_.
double AssociatedLaw::polish(double aim) {
  VectorXd x = r;
  double best = natural_residual(x, residual_);
  best_r_ = x;
  int worse = 0;
  for (int step = 0;
       step < kPolishSteps && best > aim && budget_->iterations < budget_->limit && !budget_->out_of_time(); ++step) {
    weigh_projection(x);
    rhs_.resize(x.size());
    for (std::size_t i = 0; i < space_->contacts.size(); ++i) {
      const ForceSpace::Contact& c = space_->contacts[i];
      double away[linear::kMaxConeRows] = {}, out[linear::kMaxConeRows] = {};
      for (int k = 0; k < c.rows; ++k) away[k] = -residual_[c.first + k];
      weight_[i].apply(c.rows, away, out);
      for (int k = 0; k < c.rows; ++k) rhs_[c.first + k] = away[k] + out[k];
    }
    factor_with_weights(epsilon_ + kProximal);
    dr_ = rhs_;
    factor_.solve(dr_.data());
    for (int k = 0; k < kRefinements; ++k) {  // takes the proximal weight_ out again where rows are independent
      du_ = rhs_ - space_->W * dr_ - epsilon_ * dr_;
      for (std::size_t i = 0; i < space_->contacts.size(); ++i) {
        const ForceSpace::Contact& c = space_->contacts[i];
        double out[linear::kMaxConeRows];
        weight_[i].apply(c.rows, dr_.data() + c.first, out);
        for (int j = 0; j < c.rows; ++j) du_[c.first + j] -= out[j];
      }
      factor_.solve(du_.data());
      dr_ += du_;
    }
    x += dr_;
    const double error = natural_residual(x, residual_);
    if (!std::isfinite(error)) break;
    if (error < best) {
      worse = error < 0.5 * best ? 0 : worse + 1;
      best = error;
      best_r_ = x;
    } else {
      ++worse;
    }
    if (worse >= 4 || error > 1e3 * (1 + best)) break;
  }
  r = best_r_;
  return natural_residual(r, residual_);
}

// The problem becomes that of the proximal point of weight epsilon around r.
void AssociatedLaw::centre(double epsilon) {
  epsilon_ = epsilon;
  q_ = space_->q + de_saxce - epsilon * r;
}

// Moves r and u to where r ∘ u = mu e, r − u kept: into the cones, near the central path.
void AssociatedLaw::lift(double mu) {
  for (const ForceSpace::Contact& c : space_->contacts) {
    double z[linear::kMaxConeRows] = {}, axis[3];
    for (int k = 0; k < c.rows; ++k) z[k] = r[c.first + k] - u[c.first + k];
    const double tail = linear::tail_direction(c.rows, z, axis);
    const auto root = [mu](double x) {
      const double length = std::sqrt(x * x + 4 * mu);
      return x > 0 ? 0.5 * (x + length) : 2 * mu / (length - x);
    };
    const double plus = root(z[0] + tail), minus = root(z[0] - tail);
    r[c.first] = 0.5 * (plus + minus);
    for (int k = 1; k < c.rows; ++k) r[c.first + k] = 0.5 * (plus - minus) * axis[k - 1];
    for (int k = 0; k < c.rows; ++k) u[c.first + k] = r[c.first + k] - z[k];
    const double outside = linear::tail_norm(c.rows, u.data() + c.first);
    if (!(u[c.first] > outside)) u[c.first] = outside + 1e-3 * std::sqrt(mu);  // rounding
  }
}

// Remembers r where it is the best so far. @returns whether it is good enough.
bool AssociatedLaw::keep(double tolerance) {
  const double error = space_->residual(r, de_saxce);
  if (error < kept_) {
    kept_ = error;
    kept_r_ = r;
  }
  return error <= reachable(tolerance, r);
}

// Interior points of proximal problems of falling weight, so that forces stay small where they are not unique; then
// Newton's method without the weight.
bool AssociatedLaw::descend(double tolerance) {
  for (const double epsilon : kProximalWeights) {
    centre(epsilon);
    if (epsilon != kProximalWeights[0]) lift(kLift);
    interior(kLoose);
    if (reached_ > kWorthPolishing) return false;
    const bool good = keep(tolerance);
    const VectorXd before = r, u_before = u;
    centre(0);
    polish(polished_ * tolerance);
    if (keep(tolerance) || good) return true;
    r = before;
    u = u_before;
    if (budget_->over()) return false;
  }
  interior(kTight);
  return keep(tolerance);
}

Status AssociatedLaw::search(bool warm, double tolerance) {
  centre(0);
  if (warm) {
    polish(polished_ * tolerance);
    if (keep(tolerance)) return Status::kSolved;
    lift(kWarmLift);
    if (descend(tolerance)) return Status::kSolved;
  }
  // Without a proximal weight, which would stand in the way of a ray that proves that there is no solution, at last.
  Status status = Status::kIterationLimit;
  for (const bool proximal : {true, false}) {
    for (const double size : kStarts) {
      if (budget_->over()) return budget_->out_of_time() ? Status::kTimeLimit : Status::kIterationLimit;
      r.setZero(space_->W.rows());
      centre(0);
      start_cold(size);
      if (proximal ? descend(tolerance) : false) return Status::kSolved;
      if (proximal) continue;
      status = interior(kTight);
      if (status == Status::kInfeasible) return status;
      if (keep(tolerance)) return Status::kSolved;
    }
  }
  return status == Status::kSolved ? Status::kNumericalFailure : status;
}

Status AssociatedLaw::solve(bool warm, double tolerance, Budget& budget, double polished) {
  polished_ = polished;
  budget_ = &budget;
  kept_ = std::numeric_limits<double>::infinity();
  const Status status = search(warm, tolerance);
  if (status == Status::kInfeasible || kept_r_.size() != r.size()) return status;
  r = kept_r_;
  centre(0);
  natural_residual(r, residual_);  // sets u
  return kept_ <= std::max(kAcceptedResidual, tolerance) ? Status::kSolved : status;
}

}  // namespace deft::solvers::force_space
