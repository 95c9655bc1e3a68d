// Passive springs of joints, of robots and of objects.

#include "derivative_bench.hpp"
#include "parameter_differences.hpp"

namespace deft::dynamics {
namespace joint_springs_test {

/// A door on a hinge with a spring, which a finger on a slide holds open.
scene::SceneSpec door(scene::ModelKind kind) {
  multibody::ModelSpec leaf = test::body("door", JointKind::kAxes, {test::turn("hinge", Vector3d::UnitZ())},
                                         multibody::BoxSpec{{0.4, 0.02, 0.3}}, 2.0, 0.03, 0.4);
  leaf.joints[0].axes[0].spring_stiffness = 5;
  leaf.joints[0].axes[0].spring_reference = 0.4;
  scene::SceneSpec spec = test::scene_spec({leaf});
  spec.step.model = kind;
  spec.step.h = 0.05;
  return spec;
}

TEST(JointSprings, PullAnObjectToTheirReference) {
  const scene::Scene scene = test::build(door(scene::ModelKind::kConvex));
  const auto model = make_step_model(scene);
  State state{.q = scene.initial_configuration()};
  StepResult result;
  for (int k = 0; k < 400; ++k) {
    model->step(state, VectorXd(), result);
    ASSERT_EQ(result.status, solvers::Status::kSolved);
    state.q = result.q_next;
  }
  EXPECT_NEAR(state.q(0), 0.4, 1e-6);
}

/// ½Iω² + ½k(q − q₀)²: the period of the swing is that of a torsion pendulum.
TEST(JointSprings, SwingWithTheirPeriod) {
  scene::SceneSpec spec = door(scene::ModelKind::kConvexSecondOrder);
  spec.step.h = 1e-3;
  const scene::Scene scene = test::build(std::move(spec));
  const auto model = make_step_model(scene);
  scene::SceneState at = scene.make_state();
  scene.update(scene.initial_configuration(), at);
  MatrixXd M;
  scene.model().mass_matrix(at.kinematics, M);
  const double half_period = M_PI * std::sqrt(M(0, 0) / 5);
  State state{.q = scene.initial_configuration(), .v = VectorXd::Zero(1)};
  StepResult result;
  double turned = 0;
  for (int k = 0; turned == 0 && k < 100000; ++k) {
    model->step(state, VectorXd(), result);
    state.q = result.q_next;
    if (k > 0 && result.v_next(0) < 0) turned = k * 1e-3;
    state.v = result.v_next;
  }
  EXPECT_NEAR(turned, half_period, 2e-3 + 0.01 * half_period);
}

TEST(JointSprings, AreDifferentiated) {
  for (const scene::ModelKind kind : {scene::ModelKind::kConvex, scene::ModelKind::kConvexSecondOrder}) {
    Bench bench(door(kind));
    if (kind == scene::ModelKind::kConvexSecondOrder) bench.v = VectorXd::Constant(1, 0.7);
    bench.check(std::string(scene::to_string(kind)));
  }
}

TEST(JointSprings, ModelsWithoutAPlaceForThemSaySo) {
  scene::SceneSpec spec = door(scene::ModelKind::kConvex);
  spec.step.dynamics = scene::Dynamics::kQuasistatic;
  Diagnostics diagnostics;
  const scene::Scene scene = scene::Scene::build(std::move(spec), diagnostics);
  EXPECT_TRUE(scene.springs().empty());
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_NE(diagnostics.all()[0].message.find("has joints that have springs; not available"), std::string::npos);
}

}  // namespace joint_springs_test
}  // namespace deft::dynamics
