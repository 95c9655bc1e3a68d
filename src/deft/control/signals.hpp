#pragma once
// Disturbed sensors and actuators, period by period. No allocation after construction.

#include <Eigen/Core>
#include <vector>

#include "deft/plant/disturbance.hpp"
#include "deft/scene/scene.hpp"

namespace deft::control {

/// Poses of objects as they are measured: late, with noise, sometimes not at all. Joints of robots are measured at once
/// and exactly, poses of frozen objects without noise or gaps.
class Sensor {
 public:
  /// @param scene  must outlive this object. @param period  [s] > 0, between calls.
  Sensor(const scene::Scene& scene, const plant::Disturbance& disturbance, double period);
  /// How many periods late poses are.
  int delay() const { return delay_; }
  /// The measurement of this period. @param q  true, size nq. @param measured  joints of now, objects of `delay`
  /// periods ago (of the first period before that). @returns false if there is no pose this time; objects of `measured`
  /// are NaN then.
  bool measure(const Eigen::VectorXd& q, Eigen::VectorXd& measured);

 private:
  const scene::Scene* scene_;
  plant::Disturbance disturbance_;
  int delay_, period_ = 0;
  std::vector<Eigen::VectorXd> past_;  // ring of delay + 1
  Eigen::VectorXd noise_;
};

/// Commands as they arrive at the springs: some periods late, with play.
class Actuator {
 public:
  /// @param u  the command in force before the first period, size nu [rad, m].
  Actuator(const scene::Scene& scene, const plant::Disturbance& disturbance, const Eigen::VectorXd& u);
  /// Takes the command of this period, size nu. @returns the joint targets that arrive at the springs, valid until the
  /// next call.
  const Eigen::VectorXd& act(const Eigen::VectorXd& u);

 private:
  std::vector<Eigen::VectorXd> past_;  // ring of lag + 1
  std::size_t period_ = 0;
  Eigen::VectorXd half_play_, arrived_;
};

}  // namespace deft::control
