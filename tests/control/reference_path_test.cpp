// Plans as paths: when knots are due, what lies between them, and which point is near.

#include "deft/control/reference_path.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "deft/core/index.hpp"
#include "deft/math/rotation.hpp"
#include "support/scene_builder.hpp"

namespace deft::control {
namespace reference_path_test {

using Eigen::VectorXd;
using multibody::JointKind;
using multibody::SphereSpec;

/// A free ball, a puck with an angle, and a finger of two slides.
scene::Scene world() {
  return test::build(test::scene_spec(
      {test::free_body("ball", SphereSpec{0.1}, 1, 0.01, 0.5, test::at(0, 0, 5)),
       test::body("puck", JointKind::kAxes,
                  {test::slide("y", {0, 1, 0}), test::slide("z", {0, 0, 1}), test::turn("theta", {1, 0, 0})},
                  SphereSpec{0.1}, 1, 0.01, 0.5),
       test::body("finger", JointKind::kAxes, {test::slide("x", {1, 0, 0}), test::slide("z", {0, 0, 1})},
                  SphereSpec{0.1}, 1, 0.01, 0.5, test::at(-9, 0, 0))},
      {{"finger", 100}}));
}

/// Three steps: the finger moves 0.02, 0.4 and 0 m at most; the ball turns by 1 rad about x in the second.
TrackedPlan plan(const scene::Scene& scene) {
  TrackedPlan plan{.h = 0.1, .q = {}, .u = {}, .u_start = Eigen::Vector2d(0, 0)};
  plan.u = {Eigen::Vector2d(0.02, 0), Eigen::Vector2d(0.02, -0.4), Eigen::Vector2d(0.02, -0.4)};
  VectorXd q = scene.initial_configuration();
  plan.q.push_back(q);
  for (int k = 0; k < 3; ++k) {
    VectorXd delta = VectorXd::Zero(scene.nv());
    if (k == 1) delta(0) = 1;
    if (k == 1) delta(5) = -0.2;
    delta.tail(2) = plan.u[k] - (k == 0 ? plan.u_start : plan.u[to_size(k) - 1]);
    scene.model().integrate(plan.q.back(), delta, q);
    plan.q.push_back(q);
  }
  return plan;
}

TEST(ReferencePath, TakesTheTimeThatJointTargetsNeed) {
  const scene::Scene scene = world();
  const ReferencePath path(scene, plan(scene), 0.5);
  // 0.02 m at 0.5 m/s would take 0.04 s, less than h; 0.4 m take 0.8 s; what stands takes h.
  EXPECT_NEAR(path.time_at(1), 0.1, 1e-15);
  EXPECT_NEAR(path.time_at(2), 0.9, 1e-15);
  EXPECT_NEAR(path.duration(), 1.0, 1e-15);
  for (double t = 0; t <= 1.0; t += 0.01) EXPECT_NEAR(path.time_at(path.knot_at(t)), t, 1e-12);
  EXPECT_EQ(path.knot_at(-1), 0);
  EXPECT_EQ(path.knot_at(9), 3);
  EXPECT_NEAR(ReferencePath(scene, plan(scene), kInfinity).duration(), 0.3, 1e-15) << "as it was planned";
}

TEST(ReferencePath, GoesAlongTheRotationBetweenKnots) {
  const scene::Scene scene = world();
  const ReferencePath path(scene, plan(scene), 0.5);
  VectorXd q, u;
  path.configuration(1.25, q);
  const Eigen::Matrix3d R = rotation_from_quat_wxyz(q.head<4>());
  EXPECT_TRUE(R.isApprox(exp_so3({0.25, 0, 0}), 1e-12)) << "a quarter of a turn by 1 rad about x";
  EXPECT_NEAR(q(6), 5 - 0.25 * 0.2, 1e-12);
  path.command(1.25, u);
  EXPECT_TRUE(u.isApprox(Eigen::Vector2d(0.02, -0.1), 1e-12));
  path.command(0.5, u);
  EXPECT_TRUE(u.isApprox(Eigen::Vector2d(0.01, 0), 1e-12)) << "from the springs' start";
  path.configuration(77, q);
  EXPECT_EQ(q, path.plan().q.back());
}

TEST(ReferencePath, FindsTheNearestKnot) {
  const scene::Scene scene = world();
  const ReferencePath path(scene, plan(scene), 0.5);
  VectorXd q;
  for (const double knot : {0.3, 1.0, 1.7, 2.0}) {
    path.configuration(knot, q);
    EXPECT_NEAR(path.nearest(q, 0, 3), knot, 1e-9);
  }
  path.configuration(0.2, q);
  EXPECT_NEAR(path.nearest(q, 1.2, 1.8), 1.2, 1e-9) << "no further back than asked";
  // Off to the side: by brute force over the metric that the header states.
  path.configuration(1.4, q);
  q(4) += 0.05, q(6) += 0.03;
  double best = 0, least = 1e9;
  VectorXd at;
  for (int i = 0; i <= 30000; ++i) {
    path.configuration(1e-4 * i, at);
    const VectorXd d = scene.model().difference(at, q);
    const double distance = d.segment<3>(3).squaredNorm() + 0.01 * d.head<3>().squaredNorm() +
                            d.segment<2>(6).squaredNorm() + 0.01 * d(8) * d(8) + 1e-4 * d.tail<2>().squaredNorm();
    if (distance < least) least = distance, best = 1e-4 * i;
  }
  EXPECT_NEAR(path.nearest(q, 0, 3), best, 2e-3);
}

TEST(ReferencePath, SaysWhatIsWrongWithAPlan) {
  const scene::Scene scene = world();
  TrackedPlan nothing{.h = 0.1, .q = {scene.initial_configuration()}, .u = {}, .u_start = Eigen::Vector2d(0, 0)};
  EXPECT_THROW(ReferencePath(scene, nothing, 1), std::invalid_argument);
  TrackedPlan infinite = plan(scene);
  infinite.u[1](0) = std::nan("");
  EXPECT_THROW(ReferencePath(scene, infinite, 1), std::invalid_argument);
  TrackedPlan shorter = plan(scene);
  shorter.q.pop_back();
  EXPECT_THROW(ReferencePath(scene, shorter, 1), std::invalid_argument);
  EXPECT_THROW(ReferencePath(scene, plan(scene), 0), std::invalid_argument);
}

TEST(ObjectError, IsTheLargestOverTheObjects) {
  const scene::Scene scene = world();
  const VectorXd q = scene.initial_configuration();
  VectorXd delta = VectorXd::Zero(scene.nv()), moved;
  delta << 0.3, 0.4, 0, 0.003, 0, 0.004, 0.02, 0, 0.1, 5, 5;  // ball turns by 0.5, shifts by 5 mm; puck 2 cm, 0.1 rad;
                                                              // finger: does not count
  scene.model().integrate(q, delta, moved);
  const ObjectError error = object_error(scene, moved, q);
  EXPECT_NEAR(error.position_m, 0.02, 1e-12);
  EXPECT_NEAR(error.rotation_rad, 0.5, 1e-12);

  const ObjectError named = object_error(scene, moved, q, std::vector{3, 8});
  EXPECT_NEAR(named.position_m, 0.003, 1e-12);
  EXPECT_NEAR(named.rotation_rad, 0.1, 1e-12);
}

TEST(ReferencePath, LeadsObjectsToWhereTheyShouldEnd) {
  const scene::Scene scene = world();
  const TrackedPlan given = plan(scene);
  TrackedPlan led = given;
  VectorXd missing = VectorXd::Zero(scene.nv());
  missing << 0.01, -0.02, 0.03, 0.001, 0.002, -0.003, 0.004, 0.005, -0.02, 0.3, 0.4;
  VectorXd q_end;
  scene.model().integrate(given.q.back(), missing, q_end);
  lead_objects_to(scene, q_end, led);
  missing.tail(2).setZero();  // the finger's
  for (std::size_t k = 0; k < led.q.size(); ++k)
    EXPECT_LT((scene.model().difference(given.q[k], led.q[k]) - double(k) / 3 * missing).norm(), 1e-12) << k;
  EXPECT_EQ(led.u, given.u);

  TrackedPlan partly = given;  // what does not count stays as it was planned
  lead_objects_to(scene, q_end, partly, std::vector{8});
  VectorXd counted = VectorXd::Zero(scene.nv());
  counted(8) = missing(8);
  EXPECT_LT((scene.model().difference(given.q.back(), partly.q.back()) - counted).norm(), 1e-12);

  // Where angles wrap a whole turn is nothing to be made up for.
  const scene::Scene wrapping = scene.with([](scene::SceneSettings& settings) { settings.plan.wrap_angles = true; });
  TrackedPlan turned = given;
  VectorXd whole_turn = missing;
  whole_turn(8) += 2 * std::numbers::pi;
  wrapping.model().integrate(given.q.back(), whole_turn, q_end);
  lead_objects_to(wrapping, q_end, turned);
  for (std::size_t k = 0; k < led.q.size(); ++k) EXPECT_LT((led.q[k] - turned.q[k]).norm(), 1e-12) << k;
}

}  // namespace reference_path_test
}  // namespace deft::control
