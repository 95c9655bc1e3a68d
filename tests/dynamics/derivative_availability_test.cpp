// Derivatives refuse what they do not know instead of answering wrongly.

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace derivative_availability_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::SphereSpec;

/// A cart with a finger's stiffness before a ball that moves in the plane xz.
scene::SceneSpec cart_and_ball() {
  scene::SceneSpec spec =
      test::scene_spec({test::body("cart", multibody::JointKind::kAxes, {test::slide("x", Vector3d::UnitX())},
                                   SphereSpec{0.1}, 1, 0.01, 0.5),
                        test::body("ball", multibody::JointKind::kAxes,
                                   {test::slide("x", Vector3d::UnitX()), test::slide("z", Vector3d::UnitZ())},
                                   SphereSpec{0.1}, 1, 0.004, 0.5, test::at(0.2, 0, 0.02))},
                       {{"cart", 100}});
  spec.plane = scene::Plane::kXZ;
  return spec;
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
  spec.friction.ellipsoid = std::array{1.0, 1.0, 0.01};
  EXPECT_EQ(refusal(spec), "") << "a disc stays a disc when the plane of contact turns";
  spec.friction.ellipsoid = std::array{1.0, 0.5, 0.01};
  EXPECT_NE(refusal(spec).find("not available yet: derivatives of an ellipsoid"), std::string::npos);
  spec = cart_and_ball();
  spec.step.friction_arm = 0.6;
  EXPECT_NE(refusal(spec).find("not available yet: derivatives with step.friction_arm 0.6"), std::string::npos);
}

/// What linearizing the second of two steps of a ball on a floor says, by everything and by commands alone.
std::array<std::string, 2> refusals_on_a_floor(scene::SceneSpec spec, double depth) {
  spec.step.model = scene::ModelKind::kConvexSecondOrder;
  spec.step.h = 0.01;
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(scene.nv())};
  start.q(start.q.size() - 1) -= depth;
  start.v(0) = 1;  // it turns
  StepResult result;
  model->step(start, VectorXd(0), result);
  start = {.q = result.q_next, .v = result.v_next, .t = 0.01};
  model->step(start, VectorXd(0), result);
  StepDifferentiator differentiator(scene);
  std::array<std::string, 2> messages;
  for (const bool configuration : {true, false}) try {
      differentiator.linearize(start, VectorXd(0), result, {.configuration = configuration});
    } catch (const InputError& error) {
      messages[configuration ? 0 : 1] = error.what();
    }
  return messages;
}

TEST(StepDerivative, RefusesStepsOfWhichItLeavesSomethingOut) {
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 1, 0.004, 0.5, test::at(0, 0, 0.1)),
                        test::fixed_body("floor", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 0.5)});
  spec.gravity_W = {0, 0, -10};
  const std::array<std::string, 2> none{};
  EXPECT_EQ(refusals_on_a_floor(spec, 0), none);
  spec.step.recovery_speed = 0.1;
  EXPECT_EQ(refusals_on_a_floor(spec, 0), none) << "it is not reached";
  const auto deep = refusals_on_a_floor(spec, 0.01);
  EXPECT_NE(deep[0].find("of a step with step.recovery_speed, which it reached"), std::string::npos) << deep[0];
  EXPECT_EQ(deep[1], "");
  spec.step.recovery_speed = kInfinity;
  spec.friction.rolling = 1e-3;
  const auto rolling = refusals_on_a_floor(spec, 0);
  EXPECT_NE(rolling[0].find("of a step with rolling friction, which acted in it"), std::string::npos) << rolling[0];
  EXPECT_EQ(rolling[1], "");
}

TEST(StepDerivative, RefusesTheModelThatHasADerivativeOfItsOwn) {
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("box", multibody::BoxSpec{{0.2, 0.2, 0.2}}, 1, 0.01, 0.5, test::at(0, 0, 0.1)),
                        test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.5)});
  spec.gravity_W = {0, 0, -9.8};
  spec.friction.ellipsoid = std::array{1.0, 1.0, 0.01};
  spec.step.model = scene::ModelKind::kEquivalentContactPoint;
  spec.step.h = 0.01;
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  const State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(scene.nv())};
  StepResult result;
  model->step(start, VectorXd(0), result);
  StepDifferentiator differentiator(scene);
  try {
    differentiator.linearize(start, VectorXd(0), result);
    FAIL() << "no error";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("equivalent-contact-point"), std::string::npos) << message;
    EXPECT_NE(message.find("StepModel::differentiate"), std::string::npos) << message;
  }
  StepDerivative derivative;
  EXPECT_NO_THROW(model->differentiate(start, VectorXd(0), result, {}, derivative));
}

TEST(StepDerivative, RefusesParametersThatItDoesNotKnow) {
  const auto parameter = [](const scene::SceneSpec& spec, Parameter::Kind kind) {
    const scene::Scene scene = test::build(spec);
    const auto model = make_step_model(scene);
    StepResult result;
    const VectorXd q = scene.initial_configuration(), u = VectorXd::Constant(1, 0.5);
    model->step(q, u, result);
    StepDifferentiator differentiator(scene);
    differentiator.linearize(q, u, result);
    const Parameter one{kind};
    Eigen::MatrixXd dq_next, dforce;
    differentiator.parameters({&one, 1}, dq_next, dforce);
  };
  scene::SceneSpec spec = cart_and_ball();
  spec.step.kappa = 100;
  EXPECT_NO_THROW(parameter(spec, Parameter::Kind::kKappa));
  spec.step.compliance = 1e-4;
  EXPECT_THROW(parameter(spec, Parameter::Kind::kKappa), std::invalid_argument);
}

}  // namespace derivative_availability_test
}  // namespace deft::dynamics
