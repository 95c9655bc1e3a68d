// Derivatives refuse what they do not know instead of answering wrongly.

#include <gtest/gtest.h>

#include "deft/dynamics/step_derivative.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::SphereSpec;

/// A cart with a finger's stiffness before a free ball.
scene::SceneSpec cart_and_ball() {
  return test::scene_spec({test::body("cart", multibody::JointKind::kAxes, {test::slide("x", Vector3d::UnitX())},
                                      SphereSpec{0.1}, 1, 0.01, 0.5),
                           test::free_body("ball", SphereSpec{0.1}, 1, 0.004, 0.5, test::at(0.2, 0, 0))},
                          {{"cart", 100}});
}

/// What linearizing one step says, empty if it works.
std::string refusal(const scene::SceneSpec& spec) {
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  StepResult result;
  const VectorXd q = scene.initial_configuration(), u = VectorXd::Constant(1, 0.5);
  model->step(q, u, result);
  StepDifferentiator differentiator(scene);
  try {
    differentiator.linearize(q, u, result);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(StepDerivative, RefusesWhatItDoesNotKnow) {
  scene::SceneSpec spec = cart_and_ball();
  EXPECT_EQ(refusal(spec), "");
  spec.wrenches = {{.body = "ball", .force_W = {0, 0.1, 0}}};
  EXPECT_EQ(refusal(spec), "") << "a force at the origin of a free body does not turn with it";
  spec.wrenches[0].body = "cart";
  EXPECT_NE(refusal(spec).find("not available yet: derivatives of wrenches on bodies with joints"), std::string::npos);
  spec = cart_and_ball();
  spec.step.model = scene::ModelKind::kConvexSecondOrder;
  EXPECT_NE(refusal(spec).find("derivatives of models of second order"), std::string::npos);
  spec = cart_and_ball();
  spec.friction.ellipsoid = std::array{1.0, 1.0, 0.01};
  EXPECT_NE(refusal(spec).find("derivatives of patch friction"), std::string::npos);
  spec = cart_and_ball();
  spec.step.effort_limits = true;
  spec.robots[0].effort_limit.all = 1;
  EXPECT_NE(refusal(spec).find("derivatives of springs that saturate"), std::string::npos);
}

}  // namespace
}  // namespace deft::dynamics
