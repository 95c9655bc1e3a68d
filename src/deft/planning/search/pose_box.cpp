#include "deft/planning/search/pose_box.hpp"

#include <fmt/core.h>

#include "deft/math/rotation.hpp"

namespace deft::planning {
namespace {

constexpr double kBefore = -0.2, kBeyond = 1.2;  // shares of the way from the start to the goal

Eigen::VectorXd corner(const scene::Scene& scene, const char* name, const std::vector<double>& values, int size) {
  if (!values.empty() && static_cast<int>(values.size()) != size)
    throw InputError({scene.spec().file, 0, 0},
                     fmt::format("plan.{}: the goal has {} coordinates, got {}", name, size, values.size()));
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

}  // namespace

PoseBox::PoseBox(const scene::Scene& scene, const Goal& goal)
    : scene_(&scene),
      goal_(&goal),
      q_start_(scene.initial_configuration()),
      lower_(corner(scene, "sample_lower", scene.settings().plan.sample_lower, goal.size())),
      upper_(corner(scene, "sample_upper", scene.settings().plan.sample_upper, goal.size())) {
  if (lower_.size() != upper_.size())
    throw InputError({scene.spec().file, 0, 0}, "plan: sample_lower and sample_upper belong together");
  for (Eigen::Index i = 0; i < lower_.size(); ++i) {
    if (lower_(i) > upper_(i))
      throw InputError({scene.spec().file, 0, 0}, fmt::format("plan.sample_lower: entry {} is {}, above {} of "
                                                              "plan.sample_upper",
                                                              i, lower_(i), upper_(i)));
  }
}

Eigen::VectorXd PoseBox::draw(RandomStream& draw) const {
  const multibody::Model& model = scene_->model();
  if (lower_.size() == 0) {
    Eigen::VectorXd way = model.difference(q_start_, goal_->q()), q;
    for (const int row : goal_->rows()) way(row) *= draw.uniform(kBefore, kBeyond);
    model.integrate(q_start_, way, q);
    return q;
  }
  Eigen::VectorXd q = goal_->q(), pose(goal_->size());
  for (int i = 0; i < goal_->size(); ++i) {
    pose(i) = draw.uniform(lower_(i), upper_(i));
    const int entry = model.velocities()[goal_->rows()[i]].q_index;
    if (entry >= 0) q(entry) = pose(i);
  }
  for (const Goal::FreeRotation& rotation : goal_->free_rotations())
    q.segment<4>(rotation.quaternion) = quat_wxyz_from_rotation(rotation_from_rpy(pose.segment<3>(rotation.entry)));
  return q;
}

}  // namespace deft::planning
