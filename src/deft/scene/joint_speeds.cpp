#include "deft/scene/joint_speeds.hpp"

#include <algorithm>
#include <cmath>

namespace deft::scene {

Eigen::VectorXd stated_limits(const Scene& scene, Eigen::VectorXd Robot::* of_robot) {
  Eigen::VectorXd limits(scene.nu());
  for (const Robot& robot : scene.robots()) limits.segment(robot.first_u, robot.nu) = robot.*of_robot;
  return (limits.array() > 0).select(limits, kInfinity);
}

JointSpeeds joint_speeds(const Scene& scene) {
  const PlanSettings& plan = scene.settings().plan;
  JointSpeeds speeds{.stated = stated_limits(scene, &Robot::velocity_limit),
                     .free = Eigen::VectorXd(scene.nu()),
                     .touching = Eigen::VectorXd(scene.nu())};
  for (int i = 0; i < scene.nu(); ++i) {
    const bool slides = scene.model().velocities()[scene.actuated()[i]].unit == "m";
    const double planned = slides ? plan.slide_speed : plan.joint_speed;
    speeds.free(i) = std::isinf(speeds.stated(i)) ? planned : speeds.stated(i);
    speeds.touching(i) = std::min(planned, speeds.stated(i));
  }
  return speeds;
}

double JointSpeeds::share(const Scene& scene, const Eigen::VectorXd& q_before, const Eigen::VectorXd& q,
                          double h) const {
  if (!any_stated()) return 0;
  double most = 0;
  for (int i = 0; i < scene.nu(); ++i) {
    const int at = scene.command_coordinates()[i];
    most = std::max(most, std::abs(q(at) - q_before(at)) / (h * stated(i)));
  }
  return most;
}

}  // namespace deft::scene
