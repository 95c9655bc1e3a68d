// Wrenches with conditions: what they may name, where they act, what is refused.

#include "deft/scene/wrench_table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "deft/math/rotation.hpp"
#include "support/allocation_counter.hpp"
#include "support/scene_builder.hpp"

namespace deft::scene {
namespace wrench_table_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::SphereSpec;

/// A ball in the air and a body on two turning axes and a slide.
SceneSpec ball_and_arm() {
  return test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 2, 0.008, 0.5, test::at(1, 2, 3)),
                           test::body("arm", multibody::JointKind::kAxes,
                                      {test::turn("yaw", Vector3d::UnitZ()), test::turn("roll", Vector3d::UnitX()),
                                       test::slide("reach", Vector3d::UnitY())},
                                      SphereSpec{0.1}, 1, 0.01, 0.5, test::at(-3, 0.2, 0.1))});
}

TEST(BodyState, IsWhatDifferencesOfPosesSay) {
  const Scene scene = test::build(ball_and_arm());
  SceneState start = scene.make_state(), end = scene.make_state(), before = scene.make_state();
  const VectorXd q0 = scene.initial_configuration();
  VectorXd moved(scene.nv()), v(scene.nv()), q, q_end, q_before;
  moved << 0.3, -0.5, 0.2, 1, -1, 0.5, 0.7, -0.4, 0.6;
  v << 0.9, 0.2, -0.7, 0.3, -0.1, 0.8, 1.1, -0.6, 0.4;
  scene.model().integrate(q0, moved, q);
  const double step = 1e-5;
  scene.model().integrate(q, step * v, q_end);
  scene.model().integrate(q, -step * v, q_before);
  scene.update(q, start);
  scene.update(q_end, end);
  scene.update(q_before, before);
  for (const int body : {scene.model().find_body("ball"), scene.model().find_body("arm")}) {
    const BodyState at = body_state(scene.model(), start.kinematics, v, body);
    const RigidTransform &X = start.X_WB()[body], &X_end = end.X_WB()[body], &X_before = before.X_WB()[body];
    EXPECT_EQ(at.p_WB, Vector3d(X.translation()));
    EXPECT_LT((rotation_from_quat_wxyz(at.quat_wxyz) - X.linear()).norm(), 1e-14);
    // Central differences: exact to step² and rounding/step.
    EXPECT_LT((at.v_W - (X_end.translation() - X_before.translation()) / (2 * step)).norm(), 1e-9) << body;
    const Eigen::Matrix3d turn = (X_end.linear() - X_before.linear()) / (2 * step) * X.linear().transpose();
    EXPECT_LT((at.omega_W - Vector3d(turn(2, 1), turn(0, 2), turn(1, 0))).norm(), 1e-9) << body;
    const BodyState resting = body_state(scene.model(), start.kinematics, {}, body);
    EXPECT_TRUE(resting.v_W.isZero(0) && resting.omega_W.isZero(0));
  }
}

Wrench wrench_of(SceneSpec spec, WrenchSpec wrench) {
  spec.step.model = ModelKind::kConvexSecondOrder;
  wrench.body = "ball";
  spec.wrenches = {wrench};
  return test::build(spec).wrenches()[0];
}

const BodyState kAt{{1, 2, 3}, {0.5, 0.5, -0.5, 0.5}, {0.1, 0.2, 1e-7}, {-1, 0, 4}};

TEST(WrenchCondition, SeesTimeAndEachCoordinateOfItsBody) {
  const char* const texts[] = {
      "t == 0.25", "x == 1",         "y == 2",         "z == 3",          "qw == 0.5",
      "qx == 0.5", "qy == -0.5",     "qz == 0.5",      "v_x == -1",       "v_y == 0",
      "v_z == 4",  "omega_x == 0.1", "omega_y == 0.2", "omega_z == 1e-7", "abs(omega_z) < 1e-6 and not v_z < 3"};
  for (const char* text : texts) {
    const Wrench wrench = wrench_of(ball_and_arm(), {.when = WhenSpec{text, {}}});
    EXPECT_EQ(wrench.share(0.25, 0.125, kAt), 1) << text;
    const Wrench never = wrench_of(ball_and_arm(), {.when = WhenSpec{std::string("!(") + text + ")", {}}});
    EXPECT_EQ(never.share(0.25, 0.125, kAt), 0) << text;
  }
}

TEST(WrenchCondition, GatesTheWindowOfAForceAndTheStepsOfAnImpulseFromItsTimeOn) {
  const WhenSpec yes{"x > 0", {}}, no{"x < 0", {}};
  const Wrench force = wrench_of(ball_and_arm(), {.from = 0.25, .to = 0.45, .when = yes});
  const double shares[] = {0, 0, 0.5, 1, 0.5, 0};
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(force.share(0.1 * k, 0.1, kAt), shares[k], 1e-12) << k;
  EXPECT_EQ(wrench_of(ball_and_arm(), {.from = 0.25, .to = 0.45, .when = no}).share(0.3, 0.1, kAt), 0);

  const Wrench always = wrench_of(ball_and_arm(), {.impulse = true, .when = yes});
  const Wrench later = wrench_of(ball_and_arm(), {.from = 0.3, .impulse = true, .when = yes});
  const Wrench between = wrench_of(ball_and_arm(), {.from = 0.25, .impulse = true, .when = yes});
  for (int k = 0; k < 6; ++k) {
    const double t = 0.1 * k;
    EXPECT_EQ(always.share(t, 0.1, kAt), 10) << k;
    EXPECT_EQ(later.share(t, 0.1, kAt), k >= 3 ? 10 : 0) << k;
    EXPECT_EQ(between.share(t, 0.1, kAt), k >= 2 ? 10 : 0) << k;
  }
  EXPECT_EQ(wrench_of(ball_and_arm(), {.impulse = true, .when = no}).share(0.3, 0.1, kAt), 0);
}

TEST(WrenchCondition, IsLookedAtWithoutAllocation) {
  SceneSpec spec = ball_and_arm();
  spec.step.model = ModelKind::kStewartTrinkle;
  spec.wrenches = {{.body = "arm", .force_W = {1, 0, 0}, .when = WhenSpec{"abs(v_x) < max(1, z) && t < 5", {}}}};
  const Scene scene = test::build(spec);
  SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  const VectorXd v = VectorXd::Zero(scene.nv());
  double share = 0;
  const auto look = [&] { share = wrench_share(scene.wrenches()[0], 1, 0.125, scene.model(), state.kinematics, v); };
  look();
  EXPECT_EQ(share, 1);
  if (!kCountsAllocations) return;
  EXPECT_EQ(testing_support::allocations_during(look), 0);
}

TEST(WrenchCondition, WrongOnesAreReported) {
  SceneSpec spec = ball_and_arm();
  spec.wrenches = {{.body = "ball", .when = WhenSpec{"abs(omega) < 1e-6", {"s.yaml", 7, 3}}},
                   {.body = "ball", .when = WhenSpec{"z", {}}},
                   {.body = "ball", .when = WhenSpec{"v_x < 1 && z > 0", {"s.yaml", 8, 3}}},
                   {.body = "ball", .when = WhenSpec{"qw > 0.5 and t < 1", {"s.yaml", 9, 3}}}};
  const std::string errors = test::build_errors(spec);
  for (const char* text :
       {"s.yaml:7:3: error: wrenches: 'when': formula 'abs(omega) < 1e-6': expected one of t, x, y, z, qw, qx, qy, qz, "
        "omega_x, omega_y, omega_z, v_x, v_y, v_z, pi, sin",
        "instead of 'omega' at column 5", "a condition, such as a < b, instead of a number at column 1",
        "s.yaml:8:3: error: wrenches: 'when' names v_x, but step.model: convex has no velocities; valid: t, x, y, z, "
        "qw, "
        "qx, qy, qz, or a model of second order"})
    EXPECT_NE(errors.find(text), std::string::npos) << text << "\n" << errors;
  EXPECT_EQ(errors.find("s.yaml:9"), std::string::npos) << errors;
  for (const ModelKind kind :
       {ModelKind::kStewartTrinkle, ModelKind::kConvexSecondOrder, ModelKind::kEquivalentContactPoint}) {
    spec.step.model = kind;
    spec.wrenches = {{.body = "ball", .when = WhenSpec{"v_x < 1 && z > 0", {}}}};
    EXPECT_EQ(test::build_errors(spec), "");
  }
}

}  // namespace wrench_table_test
}  // namespace deft::scene
