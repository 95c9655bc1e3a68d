#pragma once
// What sensors tell and actuators do, period by period. No allocation after construction.

#include <Eigen/Core>
#include <vector>

#include "deft/control/disturbance.hpp"
#include "deft/scene/scene.hpp"

namespace deft::control {

/// Poses of objects as they are told: late, with noise, sometimes not at all. Joints of robots are told at once and
/// exactly, and so is where frozen objects stand.
class Sensor {
 public:
  /// @param period  [s] between calls.
  Sensor(const scene::Scene& scene, const Disturbance& disturbance, double period);
  /// How many periods late poses are.
  int delay() const { return delay_; }
  /// The measurement of this period. @param q  true. @param measured  joints of now, objects of `delay` periods ago (of
  /// the first period before that). @returns false if there is no pose this time; objects of `measured` are NaN then.
  bool measure(const Eigen::VectorXd& q, Eigen::VectorXd& measured);

 private:
  const scene::Scene* scene_;
  Disturbance disturbance_;
  int delay_, period_ = 0;
  std::vector<Eigen::VectorXd> past_;  // ring of delay + 1
  Eigen::VectorXd noise_;
};

/// Commands as they arrive at the springs: some periods late, with play.
class Actuator {
 public:
  Actuator(const scene::Scene& scene, const Disturbance& disturbance, const Eigen::VectorXd& u);
  /// Takes the command of this period. @returns what arrives.
  const Eigen::VectorXd& act(const Eigen::VectorXd& u);

 private:
  std::vector<Eigen::VectorXd> past_;  // ring of lag + 1
  std::size_t period_ = 0;
  Eigen::VectorXd half_play_, arrived_;
};

}  // namespace deft::control
