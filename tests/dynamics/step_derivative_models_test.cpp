// Derivatives of what the convex models add: momentum, patches, springs that saturate, wrenches.

#include "derivative_bench.hpp"
#include "parameter_differences.hpp"

namespace deft::dynamics {
namespace step_derivative_models_test {

TEST(SecondOrderDerivative, FollowsDifferencesByPositionVelocityAndCommand) {
  for (const double kappa : {300.0, 1e4, kInfinity}) {
    for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
      scene::SceneSpec spec = leaning(kappa);
      spec.step.model = scene::ModelKind::kConvexSecondOrder;
      spec.step.cone = cone;
      spec.step.h = 0.02;
      spec.step.robot_gravity = true;
      spec.step.joint_damping.all = 3;
      spec.step.object_damping.all = 6;
      Bench bench(spec);
      bench.v = VectorXd::LinSpaced(bench.scene.nv(), 0.8, -0.7);
      bench.check(fmt::format("kappa {} cone {}", kappa, static_cast<int>(cone)));
      EXPECT_GT(bench.result.problem.contacts.size(), 4u);
    }
  }
  // Without contacts, an object that is a chain with a ball joint.
  scene::SceneSpec chain = derivative_scene(
      {arm("chain", "hbs", multibody::SphereSpec{0.05}), arm("arm", "hh", multibody::SphereSpec{0.05})}, {{"arm", 80}});
  chain.step.model = scene::ModelKind::kConvexSecondOrder;
  weld(chain, "chain", pose({0.3, 0.1, -0.2}, {2, 0, 0}));
  weld(chain, "arm", pose({0.3, 0.1, -0.2}, {0, 0, 0}));
  chain.step.object_damping.by_name["chain"] = 40;
  Bench bench(chain);
  bench.v = VectorXd::LinSpaced(bench.scene.nv(), 0.8, -0.7);
  bench.check("chain");
}

TEST(PatchDerivative, FollowsDifferences) {
  for (const double kappa : {300.0, 1e4, kInfinity}) {
    for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
      scene::SceneSpec spec = leaning(kappa);
      spec.step.cone = cone;
      spec.friction.pairs = {{.between = {"arm::*", "brick"}, .mu = 0.7, .ellipsoid = std::array{1.0, 0.6, 0.04}},
                             {.between = {"ground", "brick"}, .mu = 0.4, .ellipsoid = std::array{0.8, 1.0, 0.02}}};
      spec.friction.ellipsoid_axis = Vector3d(0.9, 0.3, 0.2).normalized();
      Bench bench(spec);
      bench.check(fmt::format("kappa {} cone {}", kappa, static_cast<int>(cone)));
      ASSERT_FALSE(bench.result.problem.contacts.empty());
      EXPECT_EQ(bench.result.program.J.rows(0), 4);
    }
  }
}

TEST(SaturatingSpringDerivative, FollowsDifferencesAndItsTranspose) {
  for (const double kappa : {300.0, 1e4, kInfinity}) {
    scene::SceneSpec spec = leaning(kappa);
    spec.step.effort_limits = true;
    auto& joints = spec.world.models[0].joints;
    joints[1].axes[0].effort_limit = 1;   // the weight of two links is more
    joints[2].axes[0].effort_limit = 60;  // never reached
    spec.step.robot_gravity = true;
    spec.step.joint_damping.all = 20;
    Bench bench(spec);
    bench.u << 0.3, -0.1, 0.15;
    bench.check(fmt::format("kappa {}", kappa));
    EXPECT_GT(bench.result.program.nv, bench.scene.nv());
    const int nv = bench.scene.nv();
    const VectorXd w = VectorXd::LinSpaced(nv, 2, -1);
    VectorXd q_bar, u_bar;
    bench.differentiator.backward(w, VectorXd(), q_bar, u_bar);
    EXPECT_LT(test::relative_error(q_bar, bench.derivative.A.transpose() * w), 1e-11) << kappa;
    EXPECT_LT(test::relative_error(u_bar, bench.derivative.B.transpose() * w), 1e-11) << kappa;
  }
}

TEST(WrenchDerivative, FollowsDifferencesOnFreeBodiesAndOnChains) {
  scene::SceneSpec spec = leaning(300);
  spec.wrenches = {{.body = "brick", .force_W = {1, -2, 3}, .torque_W = {0.2, 0.1, -0.3}, .from = 0, .to = 1},
                   {.body = "arm::link2", .force_W = {3, 1, -2}, .torque_W = {0.3, -0.5, 0.2}, .from = 0, .to = 1}};
  Bench(spec).check("wrenches");
  // Conditions: what is not true has no derivative, what is true that of a wrench without condition.
  spec.wrenches[0].when = scene::WhenSpec{"qw >= 0 && t < 1", {}};
  spec.wrenches[1].when = scene::WhenSpec{"t > 1", {}};
  Bench(spec).check("wrenches with conditions");
}

TEST(WrenchDerivative, ByTheLengthOfTheStepFollowsDifferences) {
  for (const bool second_order : {false, true}) {
    scene::SceneSpec spec = leaning(300);
    if (second_order) spec.step.model = scene::ModelKind::kConvexSecondOrder;
    if (second_order) spec.step.object_damping.all = 5;
    // One that outlasts the step, one that ends within it, one at an instant.
    spec.wrenches = {
        {.body = "brick", .force_W = {1, -2, 3}, .torque_W = {0.2, 0.1, -0.3}, .from = 0.03, .to = 1},
        {.body = "arm::link2", .force_W = {3, 1, -2}, .torque_W = {0.3, -0.5, 0.2}, .from = 0, .to = 0.04},
        {.body = "brick", .force_W = {0.1, 0.2, -0.1}, .torque_W = Vector3d::Zero(), .from = 0, .impulse = true}};
    Bench bench(spec);
    if (second_order) bench.v = VectorXd::Constant(bench.scene.nv(), 0.02);
    ASSERT_NO_FATAL_FAILURE(bench.differentiate());
    const ParameterCase by_h{
        "h", {Parameter::Kind::kStepLength}, 1e-5, [](scene::SceneSpec& changed, double e) { *changed.step.h += e; }};
    MatrixXd dq_next, dforce;
    bench.differentiator.parameters({&by_h.parameter, 1}, dq_next, dforce);
    const auto expected = parameter_differences(by_h, spec, bench);
    ASSERT_TRUE(expected);
    EXPECT_LT(test::relative_error(dq_next, expected->head(bench.scene.nv())), kTolerance) << second_order;
    EXPECT_LT(test::relative_error(dforce, expected->tail(dforce.rows())), kTolerance) << second_order;
  }
}

}  // namespace step_derivative_models_test
}  // namespace deft::dynamics
