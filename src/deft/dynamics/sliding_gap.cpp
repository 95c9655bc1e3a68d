#include "deft/dynamics/sliding_gap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "deft/math/dense.hpp"
#include "deft/math/row_products.hpp"

namespace deft::dynamics {
namespace {

constexpr std::size_t kMemory = 6;  // differences of iterates that the extrapolation uses
constexpr double kLost = 10;  // error over the least error so far above which the extrapolation restarts with a half
                              // step

/// J_tδ + o of a contact [m, m, rad]; cones: times the ellipsoid.
std::array<double, 3> slip_of(const solvers::contact::ContactProgram& program, int i, const Eigen::VectorXd& delta) {
  const solvers::contact::ContactLaw& law = program.contacts[i];
  std::array<double, 3> s{};
  for (int row = 1; row < program.J.rows(i); ++row) {
    double& slip = s[row - 1];
    slip = row_times(program.J, i, row, delta) + law.offset[row - 1];
    if (law.cone) slip *= law.ellipsoid[row - 1];
  }
  return s;
}

/// Whether friction is a cone's: ‖s‖ alone counts, as for the two rays in a plane too.
bool is_round(const solvers::contact::ContactProgram& program, int i) {
  return program.J.rows(i) != 3 || solvers::contact::is_cone(program, i);
}

/// Calls take(d) for the directions of the rays of a pyramid.
template <typename Take>
void for_each_ray(int rays, const Take& take) {
  for (int k = 0; k < rays; ++k) {
    const double angle = 2 * std::numbers::pi * k / rays;
    take(Eigen::Vector2d(std::cos(angle), std::sin(angle)));
  }
}

/// The gap of a pyramid that slides by s, over the directions of its rays.
void open_pyramid(int rays, double mu, const Eigen::Vector2d& s, Slide& slide) {
  double most = 0;
  Eigen::Vector2d steepest = Eigen::Vector2d::Zero();
  for_each_ray(rays, [&](const Eigen::Vector2d& d) {
    if (d.dot(s) > most) most = d.dot(s), steepest = d;
  });
  slide.gap = mu * most;
  slide.rate << 0, mu * steepest, 0;
}

/// H of `correction_of`, by the slack of the normal row, and by the tangential rows and the spin.
struct HarmonicMean {
  double value = 0, by_slack = 1;
  Eigen::Vector3d by_slip = Eigen::Vector3d::Zero();
};

HarmonicMean harmonic_mean(const solvers::contact::ContactProgram& program, int i, const std::array<double, 3>& s,
                           double slack) {
  const solvers::contact::ContactLaw& law = program.contacts[i];
  HarmonicMean mean;
  if (is_round(program, i)) {
    const double slide = law.mu * std::hypot(s[0], s[1], s[2]), share = slide / slack;
    mean.value = slack - slide * share;
    mean.by_slack = 1 + share * share;
    for (int k = 0; k < 3; ++k)
      mean.by_slip(k) = -2 * law.mu * law.mu * (law.cone ? law.ellipsoid[k] : 1.0) * s[k] / slack;
    return mean;
  }
  double sum = 0, squares = 0;
  Eigen::Vector2d along = Eigen::Vector2d::Zero();
  for_each_ray(program.rays, [&](const Eigen::Vector2d& d) {
    const double inverse = 1 / (slack + law.mu * (d.x() * s[0] + d.y() * s[1]));
    sum += inverse;
    squares += inverse * inverse;
    along += inverse * inverse * law.mu * d;
  });
  const double scale = program.rays / (sum * sum);
  mean.value = program.rays / sum;
  mean.by_slack = scale * squares;
  mean.by_slip.head<2>() = scale * along;
  return mean;
}

}  // namespace

Slide slide_of(const solvers::contact::ContactProgram& program, int i, const Eigen::VectorXd& delta) {
  const solvers::contact::ContactLaw& law = program.contacts[i];
  const std::array<double, 3> s = slip_of(program, i, delta);
  Slide slide{.distance = std::hypot(s[0], s[1], s[2])};
  if (law.frictionless || slide.distance == 0) return slide;
  if (!is_round(program, i)) {
    open_pyramid(program.rays, law.mu, {s[0], s[1]}, slide);
    return slide;
  }
  slide.gap = law.mu * slide.distance;
  for (int row = 1; row < program.J.rows(i); ++row)
    slide.rate(row) = law.mu * (law.cone ? law.ellipsoid[row - 1] : 1.0) * s[row - 1] / slide.distance;
  return slide;
}

Slide correction_of(const solvers::contact::ContactProgram& program, int i, const Eigen::VectorXd& delta, double x) {
  if (std::isinf(program.kappa)) return slide_of(program, i, delta);
  const solvers::contact::ContactLaw& law = program.contacts[i];
  const std::array<double, 3> s = slip_of(program, i, delta);
  Slide slide{.distance = std::hypot(s[0], s[1], s[2])};
  if (law.frictionless || slide.distance == 0) return slide;
  const double slack = law.gap + row_times(program.J, i, 0, delta);
  const HarmonicMean mean = harmonic_mean(program, i, s, slack);
  // dg = by_slack (dg + dx) + by_slipᵀds.
  slide.gap = x + (slack - x - mean.value) / mean.by_slack;
  slide.rate << (1 - mean.by_slack) / mean.by_slack, -mean.by_slip / mean.by_slack;
  return slide;
}

void AndersonIteration::start() {
  changes_f_.clear();
  changes_g_.clear();
  f_.resize(0);
  least_ = std::numeric_limits<double>::infinity();
}

Eigen::VectorXd AndersonIteration::next(const Eigen::VectorXd& x, const Eigen::VectorXd& g) {
  const Eigen::VectorXd f = g - x;
  const bool lost = f.norm() > kLost * least_;
  least_ = std::min(least_, f.norm());
  if (lost) {
    changes_f_.clear();
    changes_g_.clear();
  } else if (f_.size() == f.size()) {
    changes_f_.push_back(f - f_);
    changes_g_.push_back(g - g_);
    if (changes_f_.size() > kMemory) {
      changes_f_.erase(changes_f_.begin());
      changes_g_.erase(changes_g_.begin());
    }
  }
  f_ = f;
  g_ = g;
  if (lost) return x + 0.5 * f;
  if (changes_f_.empty()) return g;
  Eigen::MatrixXd F(f.size(), static_cast<Eigen::Index>(changes_f_.size())), G(F.rows(), F.cols());
  for (std::size_t k = 0; k < changes_f_.size(); ++k) {
    F.col(static_cast<Eigen::Index>(k)) = changes_f_[k];
    G.col(static_cast<Eigen::Index>(k)) = changes_g_[k];
  }
  const Eigen::VectorXd weights = LeastSquares(F).solve(f);
  const Eigen::VectorXd x_next = (g - G * weights).cwiseMax(0.0);
  return x_next.allFinite() ? x_next : g;
}

}  // namespace deft::dynamics
