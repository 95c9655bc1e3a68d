#include "deft/control/signals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/core/index.hpp"
#include "deft/math/random.hpp"

namespace deft::control {
namespace {

enum SignalItem : std::uint64_t { kDropout = 3, kFirstNoise = 1000 };

}  // namespace

Sensor::Sensor(const scene::Scene& scene, const plant::Disturbance& disturbance, double period)
    : scene_(&scene),
      disturbance_(disturbance),
      delay_(static_cast<int>(std::lround(disturbance.spec.delay_s / period))),
      past_(to_size(delay_) + 1),
      noise_(Eigen::VectorXd::Zero(scene.nv())) {}

bool Sensor::measure(const Eigen::VectorXd& q, Eigen::VectorXd& measured) {
  const auto now = static_cast<std::uint64_t>(period_);
  if (period_ == 0) std::fill(past_.begin(), past_.end(), q);
  past_[to_size(period_) % past_.size()] = q;
  ++period_;
  const Eigen::VectorXd& then = past_[to_size(period_) % past_.size()];  // the oldest
  const scene::DisturbanceSpec& spec = disturbance_.spec;
  const bool is_measured = random_uniform(disturbance_.seed, kDropout, static_cast<std::uint32_t>(now)) >= spec.dropout;
  std::uint32_t index = 0;
  for (const scene::Object& object : scene_->objects()) {
    for (int i = object.first_v; i < object.first_v + object.nv; ++i) {
      const bool turns = scene_->model().velocities()[i].unit == "rad";
      const double sigma = object.frozen ? 0 : turns ? spec.noise_rad : spec.noise_m;
      noise_(i) = sigma > 0 ? sigma * random_normal(disturbance_.seed, kFirstNoise + now, index) : 0;
      ++index;
    }
  }
  scene_->model().integrate(then, noise_, measured);
  for (const int i : scene_->command_coordinates()) measured(i) = q(i);
  if (is_measured) return true;
  for (const scene::Object& object : scene_->objects())
    if (!object.frozen)
      measured.segment(object.first_q, object.nq).setConstant(std::numeric_limits<double>::quiet_NaN());
  return false;
}

Actuator::Actuator(const scene::Scene& scene, const plant::Disturbance& disturbance, const Eigen::VectorXd& u)
    : past_(to_size(disturbance.spec.lag_periods) + 1, u), half_play_(scene.nu()), arrived_(u) {
  for (int i = 0; i < scene.nu(); ++i) {
    const auto velocity = to_size(scene.actuated()[i]);
    const bool turns = scene.model().velocities()[velocity].unit == "rad";
    half_play_(i) = 0.5 * (turns ? disturbance.spec.backlash_rad : disturbance.spec.backlash_m);
  }
}

const Eigen::VectorXd& Actuator::act(const Eigen::VectorXd& u) {
  past_[period_ % past_.size()] = u;
  ++period_;
  const Eigen::VectorXd& then = past_[period_ % past_.size()];  // the oldest
  // Play: what arrives rests until the command has crossed it, then is dragged along.
  for (Eigen::Index i = 0; i < arrived_.size(); ++i)
    arrived_(i) = std::clamp(arrived_(i), then(i) - half_play_(i), then(i) + half_play_(i));
  return arrived_;
}

}  // namespace deft::control
