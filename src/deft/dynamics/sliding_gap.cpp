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

/// The gap of a pyramid that slides by (x, y), over the directions of its rays.
void open_pyramid(int rays, double mu, double x, double y, double smoothing_m, Slide& slide) {
  double most = 0, sum = 0;
  Eigen::Vector2d steepest = Eigen::Vector2d::Zero(), mean = steepest;
  const auto visit = [&](const auto& take) {
    for (int k = 0; k < rays; ++k) {
      const double angle = 2 * std::numbers::pi * k / rays;
      const Eigen::Vector2d d(std::cos(angle), std::sin(angle));
      take(d, d.x() * x + d.y() * y);
    }
  };
  visit([&](const Eigen::Vector2d& d, double along) {
    if (along > most) most = along, steepest = d;
  });
  slide.gap = mu * most;
  if (smoothing_m > 0) {
    visit([&](const Eigen::Vector2d& d, double along) {
      const double weight = std::exp(mu * (along - most) / smoothing_m);
      sum += weight;
      mean += weight * d;
    });
    slide.gap += smoothing_m * std::log(sum / rays);
    steepest = mean / sum;
  }
  slide.rate << 0, mu * steepest, 0;
}

}  // namespace

Slide slide_of(const solvers::contact::ContactProgram& program, int i, const Eigen::VectorXd& delta,
               double smoothing_m) {
  const solvers::contact::ContactLaw& law = program.contacts[i];
  const auto J = program.J.block(i);
  std::array<double, 3> s{};
  for (Eigen::Index row = 1; row < J.rows(); ++row) {
    double& slip = s[row - 1];
    slip = row_times(program.J, i, row, delta) + law.offset[row - 1];
    if (law.cone) slip *= law.ellipsoid[row - 1];
  }
  Slide slide{.distance = std::hypot(s[0], s[1], s[2])};
  if (law.frictionless || slide.distance == 0) return slide;
  slide.gap = law.mu * slide.distance;
  if (J.rows() != 3 || solvers::contact::is_cone(program, i)) {
    for (Eigen::Index row = 1; row < J.rows(); ++row)
      slide.rate(row) = law.mu * (law.cone ? law.ellipsoid[row - 1] : 1.0) * s[row - 1] / slide.distance;
    if (smoothing_m > 0) {
      const double length = std::hypot(slide.gap, smoothing_m);
      slide.rate *= slide.gap / length;
      slide.gap = length - smoothing_m;
    }
    return slide;
  }
  open_pyramid(program.rays, law.mu, s[0], s[1], smoothing_m, slide);
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
