#include "deft/solvers/horizon_qp.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/solvers/horizon_riccati.hpp"
#include "deft/solvers/horizon_rows.hpp"

namespace deft::solvers {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::VectorXd;

void check(const HorizonQp& qp) {
  const Index nx = qp.x_start.size(), nu = qp.u_before.size();
  if (qp.stages.size() < 2) throw std::invalid_argument("horizon program: needs at least one step (two stages)");
  for (std::size_t t = 0; t < qp.stages.size(); ++t) {
    const HorizonStage& s = qp.stages[t];
    const bool last = t + 1 == qp.stages.size();
    const auto require = [t](bool ok, const char* what) {
      if (!ok) throw std::invalid_argument(fmt::format("horizon program: stage {}: {}", t, what));
    };
    require(s.Q.rows() == nx && s.Q.cols() == nx && s.q.size() == nx, "Q must be nx × nx and q of size nx");
    const Index m = s.d.size();
    require(s.X.rows() == m && s.P.rows() == m && s.rho.size() == m, "X, P, d and rho must have the same rows");
    require(m == 0 || (s.X.cols() == nx && s.P.cols() == nu), "X must have nx columns and P nu");
    require((s.rho.array() > 0).all(), "rho must be positive (infinity: hard)");
    if (last) continue;
    require(s.A.rows() == nx && s.A.cols() == nx && s.B.rows() == nx && s.B.cols() == nu && s.c.size() == nx,
            "A must be nx × nx, B nx × nu and c of size nx");
    require(s.R.size() == nu && s.lower.size() == nu && s.upper.size() == nu && s.change.size() == nu,
            "R, lower, upper and change must be of size nu");
    require((s.R.array() > 0).all() && (s.change.array() > 0).all(), "R and change must be positive");
    require((s.lower.array() < s.upper.array()).all(), "lower must be below upper");
    require(s.U.rows() == m && (m == 0 || s.U.cols() == nu), "U must have the rows of X and nu columns");
  }
}

double largest(const ArrayXd& values) { return values.size() == 0 ? 0 : values.abs().maxCoeff(); }

}  // namespace

/// The iteration. Its points fulfil the dynamics; slacks s of the rows and violations e of the soft ones are positive:
///   G z + s = d + e,   λ s = τ,   (ρ − λ) e = τ,   ∇_u(cost + λᵀG z) = 0 along the dynamics,   τ → 0.
struct HorizonQpSolver::Work {
  void solve(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& out) {
    qp_ = &qp;
    T_ = qp.stages.size() - 1;
    rows_.assign(qp);
    start();
    out.status = HorizonStatus::kIterationLimit;
    for (out.iterations = 0; out.iterations < options.iterations; ++out.iterations) {
      measure(out);
      if (std::max({out.gradient, out.violation, out.complementarity}) <= options.tolerance) {
        out.status = HorizonStatus::kSolved;
        break;
      }
      if (!factor()) {
        out.status = HorizonStatus::kBreakdown;
        break;
      }
      // Predictor: straight to τ = 0; it tells how far to aim.
      const double tau = mean_product();
      direction(ArrayXd::Zero(rows_.size()), ArrayXd::Zero(rows_.size()));
      const double after = product_after(longest_step());
      const double aim = tau > 0 ? tau * std::pow(after / tau, 3) : 0;
      // Corrector: to the aim, with the predictor's products.
      const ArrayXd m1 = bounded_ * (aim - ds_ * dl_), m2 = soft_ * (aim + dl_ * de_);
      direction(m1, m2);
      advance(std::min(1.0, 0.995 * longest_step()));
    }
    finish(out);
  }

  /// The inputs as before the horizon, moved into their bounds, with the states that follow.
  void start() {
    const Index nx = qp_->x_start.size(), nu = qp_->u_before.size();
    z_.resize(T_ + 1);
    z_[0].x = qp_->x_start;
    z_[0].p = qp_->u_before;
    for (std::size_t t = 0; t < T_; ++t) {
      const HorizonStage& stage = qp_->stages[t];
      z_[t].u = z_[t].p.cwiseMax(stage.lower).cwiseMin(stage.upper);
      z_[t + 1].x = stage.A * z_[t].x + stage.B * z_[t].u + stage.c;
      z_[t + 1].p = z_[t].u;
    }
    z_[T_].u.setZero(nu);
    g_.assign(T_ + 1, {VectorXd::Zero(nx), VectorXd::Zero(nu), VectorXd::Zero(nu)});

    // Slacks at their gaps, where these are not too small, and multipliers of one product with them.
    const ArrayXd infinity = ArrayXd::Constant(rows_.size(), kInfinity_);
    bounded_ = (rows_.d() < infinity).cast<double>();
    soft_ = bounded_ * (rows_.rho() < infinity).cast<double>();
    d_ = (bounded_ > 0).select(rows_.d(), 0);
    rho_ = (soft_ > 0).select(rows_.rho(), 1);
    rows_.apply(z_, Gz_);
    s_ = (bounded_ > 0).select((d_ - Gz_).max(0.01 * (1 + d_.abs())), 1);
    l_.setZero(rows_.size());
    cost_gradient();
    gradient_scale_ = reduced_gradient();
    for (std::size_t t = 0; t < T_; ++t) gradient_scale_ = std::max(gradient_scale_, 1e-3 * qp_->stages[t].R.maxCoeff());
    const double product = 0.01 * gradient_scale_;
    l_ = bounded_ * product / s_;
    l_ = (soft_ > 0).select(l_.min(0.5 * rho_), l_);
    e_ = soft_ * product / nu_of_soft();
  }

  /// ρ − λ of soft rows, 1 elsewhere.
  ArrayXd nu_of_soft() const { return (soft_ > 0).select(rho_ - l_, 1); }

  /// g ← ∇ of the cost in z.
  void cost_gradient() {
    for (std::size_t t = 0; t <= T_; ++t) {
      const HorizonStage& stage = qp_->stages[t];
      g_[t].x = stage.q;
      g_[t].x.noalias() += stage.Q * z_[t].x;
      if (t == T_) {
        g_[t].p.setZero();
      } else {
        g_[t].u = stage.R.cwiseProduct(z_[t].u - z_[t].p);
        g_[t].p = -g_[t].u;
      }
    }
  }

  /// The largest entry of the gradient g in the inputs alone, the states following them.
  double reduced_gradient() const {
    VectorXd vx = g_[T_].x, vp = g_[T_].p;
    double result = 0;
    for (std::size_t t = T_; t-- > 0;) {
      result = std::max(result, (g_[t].u + qp_->stages[t].B.transpose() * vx + vp).cwiseAbs().maxCoeff());
      vx = (g_[t].x + qp_->stages[t].A.transpose() * vx).eval();
      vp = g_[t].p;
    }
    return result;
  }

  double mean_product() const {
    const double count = bounded_.sum() + soft_.sum();
    return count == 0 ? 0 : ((bounded_ * l_ * s_).sum() + (soft_ * nu_of_soft() * e_).sum()) / count;
  }

  void measure(HorizonSolution& out) {
    rows_.apply(z_, Gz_);
    residual_ = bounded_ * (d_ - Gz_ + e_ - s_);
    cost_gradient();
    rows_.add_transposed(l_, g_);
    const double scale = gradient_scale_ + largest(l_);
    out.gradient = reduced_gradient() / scale;
    out.violation = largest(residual_ / (1 + d_.abs()));
    out.complementarity = mean_product() / scale;
  }

  bool factor() {
    weight_ = bounded_ / (s_ / l_.max(1e-300) + soft_ * e_ / nu_of_soft());
    weight_ = (bounded_ > 0).select(weight_, 0);
    const Index nx = qp_->x_start.size(), nu = qp_->u_before.size();
    H_.resize(T_ + 1);
    for (std::size_t t = 0; t <= T_; ++t) {
      StageForm& H = H_[t];
      H.xx = qp_->stages[t].Q;
      H.xp.setZero(nx, nu);
      H.pp.setZero(nu, nu);
      if (t == T_) continue;
      H.xu.setZero(nx, nu);
      H.pp.diagonal() = qp_->stages[t].R;
      H.uu = H.pp;
      H.pu = -H.pp;
    }
    rows_.add_form(weight_, H_);
    return riccati_.factor(*qp_, H_);
  }

  /// Newton's step to λs = m1, (ρ − λ)e = m2:  dλ = w(G dz + r),  r = −residual + m1/λ − s − m2/ν + e.
  void direction(const ArrayXd& m1, const ArrayXd& m2) {
    const ArrayXd nu = nu_of_soft(), l = (bounded_ > 0).select(l_, 1);
    const ArrayXd r = bounded_ * (m1 / l - residual_ - s_) - soft_ * (m2 / nu - e_);
    cost_gradient();
    rows_.add_transposed(l_ + weight_ * r, g_);
    riccati_.solve(*qp_, g_, dz_);
    rows_.apply(dz_, Gz_);
    dl_ = weight_ * (Gz_ + r);
    de_ = soft_ * (m2 / nu - e_ + e_ / nu * dl_);
    ds_ = bounded_ * (m1 / l - s_ - s_ / l * dl_);
  }

  /// The longest step, up to 1 / 0.995, that leaves everything positive.
  double longest_step() const {
    double step = 1 / 0.995;
    const ArrayXd nu = nu_of_soft();
    for (Index i = 0; i < rows_.size(); ++i) {
      if (bounded_(i) == 0) continue;
      if (ds_(i) < 0) step = std::min(step, -s_(i) / ds_(i));
      if (dl_(i) < 0) step = std::min(step, -l_(i) / dl_(i));
      if (soft_(i) == 0) continue;
      if (de_(i) < 0) step = std::min(step, -e_(i) / de_(i));
      if (dl_(i) > 0) step = std::min(step, nu(i) / dl_(i));
    }
    return step;
  }

  double product_after(double step) const {
    const double count = bounded_.sum() + soft_.sum(), a = std::min(1.0, step);
    if (count == 0) return 0;
    return ((bounded_ * (l_ + a * dl_) * (s_ + a * ds_)).sum() +
            (soft_ * (nu_of_soft() - a * dl_) * (e_ + a * de_)).sum()) /
           count;
  }

  void advance(double step) {
    for (std::size_t t = 0; t <= T_; ++t) {
      z_[t].x += step * dz_[t].x;
      z_[t].p += step * dz_[t].p;
      z_[t].u += step * dz_[t].u;
    }
    s_ += step * ds_;
    l_ += step * dl_;
    e_ += step * de_;
  }

  void finish(HorizonSolution& out) {
    out.x.resize(T_ + 1);
    out.u.resize(T_);
    out.multiplier.resize(T_ + 1);
    out.feedback.resize(T_);
    const bool has_gains = factor();
    for (std::size_t t = 0; t <= T_; ++t) {
      out.x[t] = z_[t].x;
      out.multiplier[t] = l_.segment(rows_.first(t), rows_.first(t + 1) - rows_.first(t));
      if (t == T_) continue;
      out.u[t] = z_[t].u;
      if (has_gains)
        out.feedback[t] = riccati_.feedback(static_cast<int>(t));
      else
        out.feedback[t].setZero(qp_->u_before.size(), qp_->x_start.size());
    }
  }

  static constexpr double kInfinity_ = std::numeric_limits<double>::infinity();
  const HorizonQp* qp_ = nullptr;
  std::size_t T_ = 0;
  HorizonRows rows_;
  HorizonRiccati riccati_;
  ArrayXd bounded_, soft_;  // 1 or 0: has a bound; may be violated
  ArrayXd d_, rho_;         // finite everywhere
  ArrayXd s_, l_, e_, ds_, dl_, de_;
  ArrayXd Gz_, residual_, weight_;
  std::vector<StageVector> z_, dz_, g_;
  std::vector<StageForm> H_;
  double gradient_scale_ = 1;
};

std::string_view name(HorizonStatus status) {
  switch (status) {
    case HorizonStatus::kSolved:
      return "Solved";
    case HorizonStatus::kIterationLimit:
      return "IterationLimit";
    case HorizonStatus::kBreakdown:
      return "Breakdown";
  }
  return "?";
}

HorizonQpSolver::HorizonQpSolver() : work_(std::make_unique<Work>()) {}
HorizonQpSolver::~HorizonQpSolver() = default;

void HorizonQpSolver::solve(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& solution) {
  check(qp);
  work_->solve(qp, options, solution);
}

}  // namespace deft::solvers
