#include "deft/solvers/horizon/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/core/index.hpp"

namespace deft::solvers::horizon {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

constexpr double kToBoundary = 0.995;  // share of the way to the boundary
constexpr int kPatience = 4;           // steps without progress: a cycle
constexpr double kProgress = 0.7;      // of the least complementarity
constexpr double kAlone = 100;         // complementarity over the other residuals: it alone is left
constexpr double kCentred = 0.2;       // of the complementarity: a step out of a cycle aims at that or less
constexpr double kRegularized = 1e-7;  // ε of the least violation, in stiffnesses

Eigen::Map<const ArrayXd> view(const std::vector<double>& v) { return {v.data(), static_cast<Index>(v.size())}; }

double largest(const ArrayXd& values) { return values.size() == 0 ? 0 : values.abs().maxCoeff(); }

}  // namespace

void HorizonInteriorPoint::begin(HorizonIterate& at) {
  least_violation_ = false;
  count_ = at.program.count();
  c_.setZero(count_);
  place(at);
}

void HorizonInteriorPoint::begin_violation(HorizonIterate& at) {
  least_violation_ = true;
  count_ = at.program.hard();
  stiffness_ = view(at.program.stiffness()).head(count_);
  c_ = 1 / stiffness_;
  inputs_ = kRegularized * stiffness_.minCoeff();
  reference_ = at.z;
  place(at);
}

/// Slacks at their gaps, where these are not too small, and multipliers of one product with them.
void HorizonInteriorPoint::place(HorizonIterate& at) {
  least_ = std::numeric_limits<double>::infinity();
  without_progress_ = 0;
  hard_ = at.program.hard();
  d_ = view(at.program.d()).head(count_);
  stiffness_ = view(at.program.stiffness()).head(count_);
  rho_ = view(at.program.rho()).segment(hard_, count_ - hard_);
  g_.resize(at.z.size());
  y_.assign(at.program.count(), 0.0);
  weight_.assign(y_.size(), 0.0);
  at.program.apply(at.z, Gz_);
  s_ = (d_ - view(Gz_).head(count_)).max(0.01 * (1e-6 + d_.abs()));
  cost_gradient(at);
  scale_ = at.program.reduced(g_);
  double input = 0;
  for (int t = 0; t < at.program.steps(); ++t) {
    const auto& stage = at.program.stage(t);
    for (std::size_t i = 0; i < stage.R.size(); ++i) input = std::max(input, stage.R[i] + stage.S[i]);
  }
  scale_ = std::max(scale_, 1e-3 * input);
  double product = 0.01 * scale_;
  if (least_violation_) {
    const ArrayXd excess = (view(Gz_).head(count_) - d_).max(0.0);
    product = std::max(1e-300, 0.1 * (excess.square() * stiffness_).maxCoeff());
    scale_ = std::max(1e-300, (excess * stiffness_).maxCoeff());
  }
  l_ = product / s_;
  const Index soft = count_ - hard_;
  l_.tail(soft) = l_.tail(soft).min(0.5 * rho_);
  nu_ = rho_ - l_.tail(soft);
  e_ = product / nu_;
}

void HorizonInteriorPoint::cost_gradient(HorizonIterate& at) {
  if (!least_violation_) {
    at.program.gradient(at.z, g_);
    return;
  }
  std::fill(g_.begin(), g_.end(), 0.0);
  for (int t = 0; t < at.program.steps(); ++t) {
    const auto& stage = at.program.stage(t);
    for (int i = stage.at; i < stage.at + stage.nu; ++i) {
      const auto k = to_size(i);
      g_[k] = inputs_ * (at.z[k] - reference_[k]);
    }
  }
}

double HorizonInteriorPoint::mean_product() const {
  const Index products = count_ + (count_ - hard_);
  return products == 0 ? 0 : ((l_ * s_).sum() + (nu_ * e_).sum()) / static_cast<double>(products);
}

double HorizonInteriorPoint::measure(HorizonIterate& at) {
  const Index soft = count_ - hard_;
  at.program.apply(at.z, Gz_);
  nu_ = rho_ - l_.tail(soft);
  residual_ = d_ - view(Gz_).head(count_) - s_ + c_ * l_;
  residual_.tail(soft) += e_;
  cost_gradient(at);
  std::copy(l_.begin(), l_.end(), y_.begin());
  at.program.add_transposed(y_, g_);
  const double scale = scale_ + largest(l_);
  gradient_ = at.program.reduced(g_) / scale;
  violation_ = count_ == 0 ? 0 : (residual_.abs() / (d_.abs() + view(Gz_).head(count_).abs() + s_)).maxCoeff();
  complementarity_ = mean_product() / scale;
  const double result = std::max({gradient_, violation_, complementarity_});
  return std::isfinite(gradient_ + violation_ + complementarity_) ? result : std::numeric_limits<double>::infinity();
}

void HorizonInteriorPoint::factor(HorizonIterate& at) {
  const Index soft = count_ - hard_;
  w_ = s_ / l_.max(1e-300) + c_;
  w_.tail(soft) += e_ / nu_;
  w_ = 1 / w_;
  std::copy(w_.begin(), w_.end(), weight_.begin());
  at.program.form_weights(weight_, form_weight_);
  at.riccati.factor(at.program, form_weight_, least_violation_ ? HorizonCost::kInputs : HorizonCost::kProgram, inputs_);
  ++at.factorizations;
}

/// Newton's step to λs = m1, (ρ − λ)e = m2:  dλ = w(G dz + r),  r = −residual + m1/λ − s − m2/ν + e.
void HorizonInteriorPoint::direction(HorizonIterate& at) {
  const Index soft = count_ - hard_;
  r_ = m1_ / l_ - residual_ - s_;
  r_.tail(soft) -= m2_ / nu_ - e_;
  cost_gradient(at);
  Eigen::Map<ArrayXd>(y_.data(), count_) = l_ + w_ * r_;
  at.program.add_transposed(y_, g_);
  at.riccati.solve(at.program, g_, false, dz_);
  at.program.apply(dz_, Gz_);
  dl_ = w_ * (view(Gz_).head(count_) + r_);
  de_ = m2_ / nu_ - e_ + e_ / nu_ * dl_.tail(soft);
  ds_ = m1_ / l_ - s_ - s_ / l_ * dl_;
}

/// The longest step, up to 1 / kToBoundary, that leaves everything positive.
double HorizonInteriorPoint::longest_step() const {
  double step = 1 / kToBoundary;
  for (Index i = 0; i < count_; ++i) {
    if (s_(i) + step * ds_(i) < 0) step = -s_(i) / ds_(i);
    if (l_(i) + step * dl_(i) < 0) step = -l_(i) / dl_(i);
  }
  for (Index k = 0; k < e_.size(); ++k) {
    if (e_(k) + step * de_(k) < 0) step = -e_(k) / de_(k);
    if (nu_(k) - step * dl_(hard_ + k) < 0) step = nu_(k) / dl_(hard_ + k);
  }
  return step;
}

double HorizonInteriorPoint::product_after(double step) const {
  const Index soft = count_ - hard_;
  const double a = std::min(1.0, step);
  if (count_ == 0) return 0;
  return (((l_ + a * dl_) * (s_ + a * ds_)).sum() + ((nu_ - a * dl_.tail(soft)) * (e_ + a * de_)).sum()) /
         static_cast<double>(count_ + soft);
}

/// Whether complementarity alone has been left for several steps and has not become smaller: Mehrotra's steps may
/// return to where they began. Once noticed it stays.
bool HorizonInteriorPoint::notice_cycle() {
  if (without_progress_ >= kPatience) return true;
  if (complementarity_ > kAlone * std::max(gradient_, violation_)) ++without_progress_;
  if (complementarity_ < kProgress * least_) {
    least_ = complementarity_;
    without_progress_ = 0;
  }
  return without_progress_ >= kPatience;
}

double HorizonInteriorPoint::step(HorizonIterate& at) {
  const Index soft = count_ - hard_;
  factor(at);
  // Predictor: straight to τ = 0; the product that it leaves decides what to aim at.
  const double tau = mean_product();
  m1_.setZero(count_);
  m2_.setZero(soft);
  direction(at);
  const double after = product_after(longest_step());
  const double aim = tau > 0 ? tau * std::pow(after / tau, 3) : 0;
  if (notice_cycle()) {
    // Without the predictor's products, which lead back.
    const double centred = std::min(aim, kCentred * tau);
    m1_.setConstant(centred);
    m2_.setConstant(centred);
  } else {
    // Corrector: to the aim, with the predictor's products.
    m1_ = aim - ds_ * dl_;
    m2_ = aim + dl_.tail(soft) * de_;
  }
  direction(at);
  const double length = std::min(1.0, kToBoundary * longest_step());
  for (std::size_t k = 0; k < at.z.size(); ++k) at.z[k] += length * dz_[k];
  s_ += length * ds_;
  l_ += length * dl_;
  e_ += length * de_;
  ++at.iterations;
  return length;
}

}  // namespace deft::solvers::horizon
