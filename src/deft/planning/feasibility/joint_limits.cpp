#include "deft/planning/feasibility/joint_limits.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/dynamics/energy_step.hpp"
#include "deft/planning/feasibility/fingers.hpp"

namespace deft::planning {
using scene::stated_limits;

DriveLimits::DriveLimits(const scene::Scene& scene)
    : scene_(&scene),
      limit_(stated_limits(scene, &scene::Robot::effort_limit)),
      stiffness_(scene.nu()),
      damping_(dynamics::joint_damping(scene)),
      weight_(Eigen::VectorXd::Zero(scene.nu())),
      any_stated_(!limit_.array().isInf().all()),
      carries_(any_stated_ && !scene.settings().step.robot_gravity && !scene.spec().gravity_W.isZero(0)),
      state_(scene.make_state()) {
  for (const scene::Robot& robot : scene.robots()) stiffness_.segment(robot.first_u, robot.nu) = robot.stiffness;
}

void DriveLimits::weigh(const Eigen::VectorXd& q) {
  if (!carries_) return;
  scene_->update(q, state_);
  scene_->model().gravity_force(state_.kinematics, scene_->spec().gravity_W, gravity_);
  weight_.setZero();
  const auto shares = scene_->command_shares();
  for (std::size_t v = 0; v < shares.size(); ++v)
    if (shares[v].command >= 0) weight_(shares[v].command) -= shares[v].ratio * gravity_(static_cast<Eigen::Index>(v));
}

void DriveLimits::narrow(const Eigen::VectorXd& q, Eigen::VectorXd& lower, Eigen::VectorXd& upper) {
  if (!any_stated_) return;
  weigh(q);
  const Eigen::VectorXd joints = joint_positions(*scene_, q);
  for (int i = 0; i < scene_->nu(); ++i) {
    if (std::isinf(limit_(i)) || !(stiffness_(i) > 0)) continue;
    const double least = joints(i) - (limit_(i) + weight_(i)) / stiffness_(i),
                 most = joints(i) + (limit_(i) - weight_(i)) / stiffness_(i);
    const double low = lower(i), high = upper(i);
    lower(i) = std::clamp(least, low, high);
    upper(i) = std::clamp(most, low, high);
  }
}

double DriveLimits::share(const Eigen::VectorXd& q_before, const Eigen::VectorXd& q, const Eigen::VectorXd& u,
                          double h) {
  if (!any_stated_) return 0;
  weigh(q);
  const Eigen::VectorXd joints = joint_positions(*scene_, q), v = (joints - joint_positions(*scene_, q_before)) / h;
  const Eigen::VectorXd effort = stiffness_.cwiseProduct(u - joints) - damping_.cwiseProduct(v) + weight_;
  return effort.cwiseAbs().cwiseQuotient(limit_).maxCoeff();
}

void DriveLimits::require_weight_is_carried(const Eigen::VectorXd& q) {
  if (!carries_) return;
  weigh(q);
  for (int i = 0; i < scene_->nu(); ++i) {
    if (std::abs(weight_(i)) <= limit_(i)) continue;
    const multibody::VelocityInfo& joint = scene_->model().velocities()[scene_->actuated()[i]];
    throw InputError({scene_->spec().file, 0, 0},
                     fmt::format("joint '{}' cannot carry the robot's own weight at the start: that takes {:.4g} {}, "
                                 "its effort limit is {:.4g}; valid: a larger `robots: [{{effort_limit: …}}]`, or .inf",
                                 joint.name, std::abs(weight_(i)), joint.unit == "m" ? "N" : "N·m", limit_(i)));
  }
}

}  // namespace deft::planning
