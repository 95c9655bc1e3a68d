// External forces, torques and impulses on bodies, with closed forms.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace wrench_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::SphereSpec;
using scene::WrenchSpec;

scene::SceneSpec ball(std::vector<WrenchSpec> wrenches) {
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 2, 0.008, 0.5, test::at(1, 2, 3))});
  spec.wrenches = std::move(wrenches);
  return spec;
}

StepResult step_at(const scene::SceneSpec& spec, double t, const VectorXd& u = {}) {
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  StepResult result;
  model->step(State{.q = scene.initial_configuration(), .t = t}, u, result);
  EXPECT_EQ(result.status, solvers::Status::kSolved);
  return result;
}

TEST(Wrenches, MoveABodyByForceAndTorqueOverInertia) {
  const StepResult result = step_at(
      ball({{.body = "ball", .force_W = {3, 0, 1}, .torque_W = {0, 0.02, 0}}, {.body = "ball", .force_W = {1, 0, 0}}}),
      0);
  EXPECT_LT((result.delta.tail<3>() - 0.01 / 2 * Vector3d(4, 0, 1)).norm(), 1e-14);
  EXPECT_LT((result.delta.head<3>() - 0.01 / 0.008 * Vector3d(0, 0.02, 0)).norm(), 1e-14);
}

TEST(Wrenches, ActWhileTheyLast) {
  const scene::SceneSpec spec = ball({{.body = "ball", .force_W = {1, 0, 0}, .from = 0.23, .to = 0.45}});
  const double full = 0.01 / 2;
  struct Row { double t, share; };
  for (const Row& row : {Row{0, 0}, Row{0.1, 0}, Row{0.2, 0.7}, Row{0.3, 1}, Row{0.4, 0.5}, Row{0.5, 0}}) {
    EXPECT_NEAR(step_at(spec, row.t).delta[3], row.share * full, 1e-14) << row.t;
  }
}

TEST(Wrenches, ImpulsesActOnceInTheStepThatStartsThen) {
  scene::SceneSpec spec =
      ball({{.body = "ball", .force_W = {0.6, 0, 0}, .torque_W = {0, 0, 0.004}, .from = 0.3, .impulse = true}});
  spec.step.model = scene::ModelKind::kConvexSecondOrder;
  for (int k = 0; k < 6; ++k) {
    const StepResult result = step_at(spec, k * 0.1);
    EXPECT_NEAR(result.v_next[3], k == 3 ? 0.6 / 2 : 0.0, 1e-14) << k;
    EXPECT_NEAR(result.v_next[2], k == 3 ? 0.004 / 0.008 : 0.0, 1e-13) << k;
  }
}

/// A puck on a floor, kicked whenever it rests; per step its velocity along x after it.
std::vector<double> kicked_puck(scene::ModelKind kind, const std::string& when, int steps) {
  scene::SceneSpec spec =
      test::scene_spec({test::body("puck", multibody::JointKind::kAxes,
                                   {test::slide("x", Vector3d::UnitX()), test::slide("z", Vector3d::UnitZ())},
                                   multibody::BoxSpec{{0.2, 0.2, 0.2}}, 2, 0.01, 0.4, test::at(0, 0, 0.1)),
                        test::fixed_body("floor", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.4)});
  spec.gravity_W = {0, 0, -10};
  spec.step.h = 0.01;
  spec.step.model = kind;
  spec.step.friction_law =
      kind == scene::ModelKind::kConvexSecondOrder ? scene::FrictionLaw::kCoulomb : scene::FrictionLaw::kAssociated;
  spec.wrenches = {
      {.body = "puck", .force_W = {0.5, 0, 0}, .from = 0.05, .impulse = true, .when = scene::WhenSpec{when, {}}}};
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  State state{.q = scene.initial_configuration(), .v = VectorXd::Zero(scene.nv())};
  StepResult result;
  std::vector<double> speeds;
  for (int k = 0; k < steps; ++k) {
    state.t = k * 0.01;
    model->step(state, {}, result);
    EXPECT_EQ(result.status, solvers::Status::kSolved) << k;
    state.q = result.q_next;
    state.v = result.v_next;
    speeds.push_back(state.v[0]);
  }
  return speeds;
}

TEST(Wrenches, WithAConditionKickABodyAgainWheneverItHasComeToRest) {
  // A kick of 0.5 N s gives 2 kg 0.25 m/s; friction takes μ g h = 0.04 m/s from it in each step, that of the kick
  // included: it rests after seven steps, in which the last takes what is left, and is kicked in the next.
  for (const scene::ModelKind kind : {scene::ModelKind::kConvexSecondOrder, scene::ModelKind::kStewartTrinkle}) {
    const std::vector<double> speeds = kicked_puck(kind, "abs(v_x) < 1e-6", 40);
    for (int k = 0; k < 40; ++k) {
      const double expected = k < 5 ? 0 : std::max(0.0, 0.25 - 0.04 * ((k - 5) % 7 + 1));
      EXPECT_NEAR(speeds[k], expected, 1e-9) << static_cast<int>(kind) << " step " << k;
    }
    for (const double speed : kicked_puck(kind, "abs(v_x) < 1e-6 and z > 1", 10)) EXPECT_NEAR(speed, 0, 1e-12);
  }
}

TEST(Wrenches, WithAConditionOnPositionsPushQuasistaticBodiesToo) {
  for (const auto& [when, share] :
       {std::pair("x < 1.5 && t >= 0", 1.0), std::pair("x > 1.5", 0.0), std::pair("z == 3", 1.0)}) {
    const StepResult result =
        step_at(ball({{.body = "ball", .force_W = {3, 0, 0}, .when = scene::WhenSpec{when, {}}}}), 0.1);
    EXPECT_NEAR(result.delta[3], share * 3 * 0.01 / 2, 1e-14) << when;
  }
}

TEST(Wrenches, DeflectTheSpringsOfARobotThroughItsJacobian) {
  multibody::ModelSpec arm = test::body("arm", multibody::JointKind::kAxes,
                                        {test::slide("x", Vector3d::UnitX()), test::turn("theta", Vector3d::UnitY())},
                                        SphereSpec{0.1}, 1, 0.01, 0.5);
  scene::SceneSpec spec = test::scene_spec({arm}, {{"arm", 40}});
  spec.wrenches = {{.body = "arm", .force_W = {2, 5, 0}, .torque_W = {1, 0.4, 0}}};
  const StepResult result = step_at(spec, 0, VectorXd::Zero(2));
  EXPECT_NEAR(result.delta[0], 2.0 / 40, 1e-13);
  EXPECT_NEAR(result.delta[1], 0.4 / 40, 1e-13);
}

TEST(Wrenches, WrongOnesAreReported) {
  scene::SceneSpec spec = ball({{.body = "bal"}, {.body = "wall"}, {.body = "ball", .from = 2, .to = 1}});
  spec.world.models.push_back(test::fixed_body("wall", SphereSpec{0.1}, 0.5));
  const std::string errors = test::build_errors(spec);
  for (const char* text : {"wrenches: there is no body 'bal'; did you mean 'ball'?",
                           "wrenches: body 'wall' cannot move", "wrenches: 'to' (1 s) comes before 'from' (2 s)"}) {
    EXPECT_NE(errors.find(text), std::string::npos) << text << "\n" << errors;
  }
  spec = ball({{.body = "ball"}});
  spec.objects.push_back({.name = "ball", .frozen = true});
  EXPECT_NE(test::build_errors(spec).find("belongs to the frozen object 'ball'"), std::string::npos);
}

}  // namespace wrench_test
}  // namespace deft::dynamics
