#pragma once
// A plan that is what exact steps make of commands, and the smallest world to follow it in.

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "deft/control/reference_path.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "support/scene_builder.hpp"

namespace deft::control {

/// What exact steps make of commands that go linearly from those in force at rest, `rate` per step [rad].
inline TrackedPlan roll_out(const scene::Scene& scene, const Eigen::VectorXd& rate, int steps) {
  const auto model = dynamics::make_step_model(scene);
  TrackedPlan plan{
      .h = model->h(), .q = {scene.initial_configuration()}, .u = {}, .u_start = Eigen::VectorXd(scene.nu())};
  for (Eigen::Index i = 0; i < plan.u_start.size(); ++i) plan.u_start(i) = plan.q[0](scene.command_coordinates()[i]);
  dynamics::StepResult result;
  for (int k = 0; k < steps; ++k) {
    plan.u.push_back(plan.u_start + (k + 1) * rate);
    model->step(plan.q.back(), plan.u.back(), result);
    EXPECT_TRUE(solvers::usable(result.status));
    plan.q.push_back(result.q_next);
  }
  return plan;
}

/// A finger on a slide pushes a box along it: mass 1 kg, K = 100 N/m, h = 0.1 s, so that both move by half of u − q.
inline scene::SceneSpec pusher(const std::function<void(scene::SceneSpec&)>& change = {}) {
  const auto on_slide = [](const char* name, const multibody::ShapeSpec& shape) {
    return test::body(name, multibody::JointKind::kAxes, {test::slide("x", {1, 0, 0})}, shape, 1, 1, 0.5);
  };
  std::vector<multibody::ModelSpec> models{on_slide("finger", multibody::SphereSpec{0.05}),
                                           on_slide("box", multibody::BoxSpec{{0.1, 0.1, 0.1}})};
  scene::SceneSpec spec = test::scene_spec(std::move(models), {{"finger", 100}});
  scene::ConfigurationSpec start;
  start.name = "start";
  start.models["finger"].joints.list = {0};
  start.models["box"].joints.list = {0.1};
  spec.configurations = {start};
  spec.initial = "start";
  spec.track.horizon = 5;
  spec.track.kappa = 1e6;
  spec.track.command_weight = 0.1;
  spec.track.speed = kInfinity;
  if (change) change(spec);
  return spec;
}

}  // namespace deft::control
