// Derivatives of steps whose contacts are linearised again: chains of programs against differences of whole steps.

#include "derivative_bench.hpp"

namespace deft::dynamics {
namespace step_derivative_relinearized_test {

using namespace collision::reference;

TEST(RelinearizedDerivative, FollowsDifferencesForPairsOfShapes) {
  const std::vector<collision::reference::Body> shapes = {sphere(0.05),           capsule(0.03, 0.12),
                                                          box({0.12, 0.1, 0.08}), prism(5, 0.06, 0.1),
                                                          cylinder(0.05, 0.1),    ellipsoid({0.04, 0.06, 0.08})};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t j = 0; j < shapes.size(); ++j) {
      int checked = 0;
      for (int trial = 0; trial < 6; ++trial) {
        Random random(100 * i + 10 * j + trial);
        scene::SceneSpec spec = arm_and_body(shapes[i], shapes[j], uniform(random, 1e-3, 4e-3), random);
        spec.step.cone = trial % 2 == 0 ? scene::Cone::kPyramid : scene::Cone::kCone;
        spec.step.relinearize = 1 + trial % 2;
        Bench bench(spec);
        if (!bench.take_derivative() || bench.differentiator.is_nonsmooth()) continue;
        const auto by_q = bench.errors(Bench::By::kQ), by_u = bench.errors(Bench::By::kU);
        if (!by_q || !by_u) continue;
        ++checked;
        EXPECT_EQ(static_cast<int>(bench.result.linearizations.size()), spec.step.relinearize);
        EXPECT_LT(std::max(by_q->largest(), by_u->largest()), kTolerance)
            << fmt::format("{} – {} trial {}: A {:.1e}, ∂f/∂q {:.1e}, B {:.1e}, ∂f/∂u {:.1e}", shapes[i].name,
                           shapes[j].name, trial, by_q->motion, by_q->force, by_u->motion, by_u->force);
      }
      EXPECT_GE(checked, 1) << shapes[i].name << " – " << shapes[j].name;
    }
  }
}

TEST(RelinearizedDerivative, FollowsDifferencesForJointsMidpointForcesAndPatches) {
  for (const char* joints : {"shh", "hsh", "sss"}) {
    Random random(7);
    scene::SceneSpec spec = arm_and_body(box({0.12, 0.1, 0.08}), ellipsoid({0.04, 0.06, 0.08}), 2e-3, random, joints);
    spec.step.relinearize = 1;
    Bench(spec).check(joints);
    spec.step.midpoint_forces = true;
    Bench(spec).check(fmt::format("{}, midpoint", joints));
    spec.friction.ellipsoid = std::array{1.0, 0.6, 0.02};
    Bench(spec).check(fmt::format("{}, patch", joints));
  }
}

TEST(RelinearizedDerivative, FollowsDifferencesOfSecondOrder) {
  for (const double kappa : {300.0, kInfinity}) {
    Random random(5);
    scene::SceneSpec spec = arm_and_body(sphere(0.05), capsule(0.03, 0.12), 1e-3, random);
    spec.step.model = scene::ModelKind::kConvexSecondOrder;
    spec.step.kappa = kappa;
    spec.step.cone = scene::Cone::kCone;
    spec.step.relinearize = 1;
    spec.step.h = 0.05;
    Bench bench(spec);
    bench.v = VectorXd::LinSpaced(bench.scene.nv(), 0.8, -0.7);
    bench.check(fmt::format("kappa {}", kappa));
  }
}

TEST(RelinearizedDerivative, OfAnExactStepWhoseForcesAreNotUniqueFollowsDifferences) {
  // A box on the four corners of its face on a turntable.
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    scene::SceneSpec spec = test::scene_spec(
        {test::free_body("box", multibody::BoxSpec{{0.06, 0.06, 0.04}}, 0.5, 3e-4, 1.0, test::at(0.3, 0, 0.07)),
         test::body("table", JointKind::kAxes, {test::turn("turn", Vector3d::UnitZ())}, multibody::BoxSpec{{1, 1, 0.1}},
                    5, 1, 1.0)},
        {{"table", 1e3}});
    spec.gravity_W = {0, 0, -10};
    spec.step.contact_margin = 0.02;
    spec.step.cone = cone;
    spec.step.relinearize = 1;
    Bench bench(spec);
    bench.u = VectorXd::Constant(1, 0.1);
    ASSERT_NO_FATAL_FAILURE(bench.differentiate());
    EXPECT_FALSE(bench.differentiator.is_smoothed()) << static_cast<int>(cone);
    const auto by_u = bench.errors(Bench::By::kU);
    ASSERT_TRUE(by_u) << static_cast<int>(cone);
    EXPECT_LT(by_u->motion, kTolerance) << static_cast<int>(cone);
  }
}

TEST(RelinearizedDerivative, ProductsAreThoseOfTheJacobians) {
  Random random(4);
  scene::SceneSpec spec = arm_and_body(sphere(0.05), box({0.12, 0.1, 0.08}), 2e-3, random);
  spec.step.relinearize = 1;
  Bench bench(spec);
  ASSERT_NO_FATAL_FAILURE(bench.differentiate());
  const StepDerivative& d = bench.derivative;
  const VectorXd dq = VectorXd::LinSpaced(bench.scene.nv(), -1, 2), du = VectorXd::LinSpaced(bench.scene.nu(), 1, -1);
  const VectorXd w_force = VectorXd::LinSpaced(d.dforce_du.rows(), -2, 3);
  VectorXd dforce, q_bar, u_bar;
  EXPECT_LT((bench.differentiator.forward(dq, du, &dforce) - d.A * dq - d.B * du).norm(), 1e-12);
  EXPECT_LT((dforce - d.dforce_dq * dq - d.dforce_du * du).norm(), 1e-9);
  bench.differentiator.backward(dq, w_force, q_bar, u_bar);
  EXPECT_LT((q_bar - d.A.transpose() * dq - d.dforce_dq.transpose() * w_force).norm(), 1e-9);
  EXPECT_LT((u_bar - d.B.transpose() * dq - d.dforce_du.transpose() * w_force).norm(), 1e-9);
  const Parameter parameter{.kind = Parameter::Kind::kStepLength};
  MatrixXd by_parameter, force_by_parameter;
  EXPECT_THROW(bench.differentiator.parameters({&parameter, 1}, by_parameter, force_by_parameter), InputError);
}

}  // namespace step_derivative_relinearized_test
}  // namespace deft::dynamics
