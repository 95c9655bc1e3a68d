// The planar limit-surface step: closed forms and the theorems of its source.

#include "deft/dynamics/complementarity/planar_limit_surface.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "deft/math/random.hpp"
#include "limit_surface_scenes.hpp"

namespace deft::dynamics {
namespace planar_limit_surface_test {

using namespace limit_surface_scenes;

TEST(PlanarLimitSurface, AFingerPushesADiscThroughItsCentre) {
  for (const double c : {0.0, 1e-8, 1e-3, 0.5}) {
    const double a = 2, gap = 0.01, u = 0.7;
    Builder builder;
    builder.object(planar_body("disc", CylinderSpec{1, 0.1}, 1), {0, 0, 0.3}, Vector3d(a, a, 5).asDiagonal())
        .finger(tip("tip"), {-1 - gap, 0})
        .gain(c);
    const StepResult result = step_once(builder, {u, 0});
    expect_solved(result);
    const double impulse = (kH * u - gap) / (a + c);
    EXPECT_NEAR(result.delta(0), a * impulse, 1e-12) << c;
    EXPECT_NEAR(result.delta(3), kH * u - c * impulse, 1e-12);
    EXPECT_NEAR(result.solution.force[0][0], impulse / kH, 1e-9);
    EXPECT_NEAR(result.solution.gap[0], 0, 1e-12);
  }
}

TEST(PlanarLimitSurface, TheSupportTurnsWithItsObject) {
  Matrix3d A;
  A << 2, 0.4, 0.1, 0.4, 1, -0.2, 0.1, -0.2, 3;
  const double theta = 0.8, gap = 0.002, u = 0.5, c = 0.1, x = 0.3;
  // A frictionless finger pushes the side x = −1 of a turned square, off its middle.
  Builder builder;
  const Eigen::Rotation2Dd R(theta);
  const Vector2d p = R * Vector2d(-1 - gap, x), push = R * Vector2d(u, 0);
  builder.object(planar_body("square", BoxSpec{{2, 2, 0.1}}, 0), {0.4, -0.7, theta}, A)
      .finger(tip("tip", 0), {0.4 + p.x(), -0.7 + p.y()})
      .gain(c);
  const StepResult result = step_once(builder, {push.x(), push.y()});
  expect_solved(result);
  const Vector3d F(1, 0, -x);  // body frame, per unit of the impulse along +x at (−1, x)
  const double impulse = (kH * u - gap) / (F.dot(A * F) + c);
  const Vector3d V = A * F * impulse;
  const Vector2d v = R * V.head<2>();
  EXPECT_LT((result.delta.head<3>() - Vector3d(v.x(), v.y(), V(2))).norm(), 1e-13);
}

TEST(PlanarLimitSurface, TheSameInEveryPlane) {
  Matrix3d A;
  A << 2, 0.4, 0.1, 0.4, 1, -0.2, 0.1, -0.2, 3;
  const auto motion = [&](int a, int b, scene::Plane plane) {
    const Vector3d x = Vector3d::Unit(a), y = Vector3d::Unit(b), n = Vector3d::Unit(3 - a - b);
    // The box has its thin side along the plane's normal.
    Vector3d size(2, 2, 2);
    size(3 - a - b) = 0.1;
    Builder builder;
    builder
        .object(body("box", multibody::JointKind::kAxes, {slide("x", x), slide("y", y), turn("theta", n)},
                     BoxSpec{size}, 0, 0, 0.5),
                {0, 0, 0.2}, A)
        .finger(body("tip", multibody::JointKind::kAxes, {slide("x", x), slide("y", y)}, SphereSpec{0.1}, 0, 0, 0.5),
                {-1.2, plane == scene::Plane::kXZ ? -0.3 : 0.3})
        .gain(0.05);
    builder.spec.plane = plane;
    return step_once(builder, {1.5, 0.4}).delta;
  };
  const VectorXd xy = motion(0, 1, scene::Plane::kXY), yz = motion(1, 2, scene::Plane::kYZ);
  EXPECT_GT(xy.head<3>().norm(), 1e-3);
  EXPECT_LT((xy - yz).norm(), 1e-13);
  // In xz θ turns about +y, from z to x: the mirror image of the plane, where y → −y.
  Matrix3d mirror = Vector3d(1, -1, 1).asDiagonal();
  const auto mirrored = [&] {
    A = mirror * A * mirror;
    Builder builder;
    builder
        .object(body("box", multibody::JointKind::kAxes,
                     {slide("x", Vector3d::UnitX()), slide("z", Vector3d::UnitZ()), turn("theta", Vector3d::UnitY())},
                     BoxSpec{{2, 0.1, 2}}, 0, 0, 0.5),
                {0, 0, 0.2}, A)
        .finger(body("tip", multibody::JointKind::kAxes, {slide("x", Vector3d::UnitX()), slide("z", Vector3d::UnitZ())},
                     SphereSpec{0.1}, 0, 0, 0.5),
                {-1.2, -0.3})
        .gain(0.05);
    builder.spec.plane = scene::Plane::kXZ;
    return step_once(builder, {1.5, -0.4}).delta;
  }();
  EXPECT_LT((mirrored.head<3>() - Vector3d(xy(0), -xy(1), xy(2))).norm(), 1e-13);
}

TEST(PlanarLimitSurface, SqueezedFingersYieldAsTheirAdmittanceSays) {
  const auto squeeze = [](double c) {
    Builder builder;
    builder.object(planar_body("square", BoxSpec{{2, 2, 0.1}}, 1), {0, 0, 0})
        .finger(tip("west"), {-1, 0})
        .finger(tip("east"), {1, 0})
        .finger(tip("south"), {0, -1})
        .finger(tip("north"), {0, 1})
        .gain(c);
    builder.spec.step.uniqueness_check = true;
    return builder;
  };
  const StepResult perfect = step_once(squeeze(0), {1, 0, -1, 0, 0, 1, 0, -1});
  EXPECT_EQ(perfect.status, Status::kInfeasible);
  EXPECT_LE(perfect.certificate.infeasible, 1e-8);
  EXPECT_FALSE(perfect.offending_contacts.empty());
  double last = 1e9;
  for (const double c : {1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
    const StepResult result = step_once(squeeze(c), {1, 0, -1, 0, 0, 1, 0, -1});
    expect_solved(result);
    EXPECT_NE(result.complementarity()->uniqueness, solvers::lcp::Uniqueness::kNotUnique) << c;
    if (c >= 1e-6) {  // the search is as accurate
      EXPECT_EQ(result.complementarity()->uniqueness, solvers::lcp::Uniqueness::kUnique) << c;
    }
    EXPECT_LT(result.delta.norm(), 1e-9);
    for (const auto& force : result.solution.force) EXPECT_NEAR(force[0] * c, 1, 1e-9) << c;  // λ_N = 1/c
    // Theorem 3: what is left of cλ on the object vanishes.
    VectorXd F = VectorXd::Zero(result.delta.size());
    for (int i = 0; i < result.problem.J.size(); ++i) {
      const auto cols = result.problem.J.cols(i);
      for (std::size_t k = 0; k < cols.size(); ++k)
        for (int r = 0; r < 2; ++r)
          F(cols[k]) += c * result.problem.J.block(i)(r, static_cast<Eigen::Index>(k)) * result.solution.force[i][r];
    }
    EXPECT_LE(F.head<3>().norm(), std::max(last, 1e-12));
    last = F.head<3>().norm();
  }
}

TEST(PlanarLimitSurface, AnOffCentreSqueezeLeavesInternalForcesInTheLimit) {
  // Fingers that move at different speeds: cλ → a force that the object does not feel, linearly in c.
  std::vector<double> left;
  for (const double c : {1e-2, 1e-3, 1e-4}) {
    Builder builder;
    builder.object(planar_body("square", BoxSpec{{2, 2, 0.1}}, 0.5), {0, 0, 0.1}, Vector3d(1, 2, 0.5).asDiagonal());
    const Eigen::Rotation2Dd R(0.1);
    const Vector2d w = R * Vector2d(-1, 0.2), e = R * Vector2d(1, 0.1), v = R * Vector2d(1, 0);
    builder.finger(tip("west", 0.5), {w.x(), w.y()}, 2).finger(tip("east", 0.5), {e.x(), e.y()}).gain(c);
    const StepResult result = step_once(builder, {v.x(), v.y(), -0.4 * v.x(), -0.4 * v.y()});
    expect_solved(result);
    VectorXd F = VectorXd::Zero(result.delta.size());
    for (int i = 0; i < result.problem.J.size(); ++i) {
      const auto cols = result.problem.J.cols(i);
      for (std::size_t k = 0; k < cols.size(); ++k)
        for (int r = 0; r < 2; ++r)
          F(cols[k]) += c * result.problem.J.block(i)(r, static_cast<Eigen::Index>(k)) * result.solution.force[i][r];
    }
    EXPECT_GT(c * result.solution.force[0][0], 0.1);
    left.push_back(F.head<3>().norm());
  }
  EXPECT_NEAR(left[0] / left[1], 10, 0.5);
  EXPECT_NEAR(left[1] / left[2], 10, 0.05);
}

TEST(PlanarLimitSurface, GrazingFingersAllowSeveralMotionsUnlessTheyYield) {
  for (const double c : {0.0, 1e-3}) {
    Builder builder;
    builder.object(planar_body("square", BoxSpec{{2, 2, 0.1}}, 1), {0, 0, 0})
        .finger(tip("a"), {-1, 0.5})
        .finger(tip("b"), {1, 0.5})
        .finger(tip("c"), {-1, -0.5})
        .finger(tip("d"), {1, -0.5})
        .gain(c);
    builder.spec.step.uniqueness_check = true;
    const StepResult result = step_once(builder, {0, 1, 0, 1, 0, -1, 0, -1});
    EXPECT_LT(result.delta.head<3>().norm(), 1e-12);  // fewest contacts: it rests
    if (c > 0) {
      EXPECT_EQ(result.status, Status::kSolved);
      EXPECT_EQ(result.complementarity()->alternative_delta.size(), 0);
      continue;
    }
    ASSERT_EQ(result.status, Status::kNotUnique);
    EXPECT_GT(result.complementarity()->alternative_delta.head<3>().norm(), 1e-3);
    EXPECT_FALSE(result.offending_contacts.empty());
  }
}

TEST(PlanarLimitSurface, ArmsDeflectInTheirJoints) {
  // A link of 1 m on a hinge with a round tip touches a disc that is held at its centre line.
  multibody::ModelSpec arm =
      body("arm", multibody::JointKind::kAxes, {turn("theta", Vector3d::UnitZ())}, SphereSpec{0.1}, 1, 0.01, 0);
  arm.links[0].collisions[0].X_LG = test::at(1, 0, 0);
  const double B = 3, c = 0.2, a = 1.5, u = 0.8;
  Builder builder;
  builder.object(planar_body("disc", CylinderSpec{0.4, 0.1}, 0), {1, 0.5, 0}, Vector3d(a, a, 1).asDiagonal())
      .finger(arm, {0}, B)
      .gain(c);
  const StepResult result = step_once(builder, {u});
  expect_solved(result);
  // The tip moves along y by 1 m per rad.
  const double impulse = kH * u / (a + c * B);
  EXPECT_NEAR(result.delta(1), a * impulse, 1e-13);
  EXPECT_NEAR(result.delta(3), kH * u - c * B * impulse, 1e-13);
}

TEST(PlanarLimitSurface, JointLimitsStopFingers) {
  multibody::ModelSpec finger = tip("tip");
  finger.joints[0].axes[0].upper = -1.0;
  Builder builder;
  builder.object(planar_body("disc", CylinderSpec{1, 0.1}, 1), {0, 0, 0}).finger(finger, {-1.02, 0}).gain(0.1);
  const StepResult result = step_once(builder, {1, 0});
  expect_solved(result);
  EXPECT_NEAR(result.delta(3), 0.02, 1e-12);
  EXPECT_NEAR(result.delta(0), 0, 1e-12);
}

TEST(PlanarLimitSurface, ObjectsPushObjectsAndWallsHold) {
  Builder builder;
  builder.object(planar_body("a", CylinderSpec{1, 0.1}, 0.3), {0, 0, 0})
      .object(planar_body("b", CylinderSpec{1, 0.1}, 0.3), {2, 0, 0}, 2 * Matrix3d::Identity())
      .fixed(test::fixed_body("wall", multibody::HalfSpaceSpec{{-1, 0, 0}, -3.02}, 0.3))
      .finger(tip("tip"), {-1, 0})
      .gain(0.01);
  const StepResult result = step_once(builder, {1, 0});
  expect_solved(result);
  EXPECT_NEAR(result.delta(3), 0.02, 1e-12);  // to the wall
  EXPECT_NEAR(result.delta(0), 0.02, 1e-12);
  EXPECT_NEAR(kH - result.delta(6), 0.03, 1e-12);  // the finger stays behind
}

TEST(PlanarLimitSurface, FarContactsJoinWhenTheStepRunsIntoThem) {
  // A fast finger would pass through a thin plate that is 0.5 m away.
  Builder builder;
  builder.object(planar_body("plate", BoxSpec{{0.05, 1, 0.1}}, 1), {0.5, 0, 0}).finger(tip("tip"), {0, 0.1}).gain(1e-3);
  builder.spec.step.contact_margin = 0.01;
  const StepResult result = step_once(builder, {20, 0});
  expect_solved(result);
  ASSERT_EQ(result.solution.force.size(), 1u);
  EXPECT_GT(result.delta(0), 0.4);
  // One that passes beside it does not touch it, although the line of its edge is crossed.
  builder.place("tip", {0, 0.7});
  const StepResult beside = step_once(builder, {20, 0});
  EXPECT_EQ(beside.delta(0), 0);
  EXPECT_NEAR(beside.delta(3), 1, 1e-12);
}

TEST(PlanarLimitSurface, BothFormsAgreeWhereContactsTouch) {
  Builder builder;
  builder.object(planar_body("square", BoxSpec{{2, 2, 0.1}}, 0.4), {0, 0, 0}, Vector3d(1, 2, 3).asDiagonal())
      .finger(tip("a", 0.4), {-1, 0.3})
      .finger(tip("b", 0.4), {-1, -0.9})
      .gain(0.05);
  const StepResult stepping = step_once(builder, {1, 0.3, 0.7, -0.1});
  builder.spec.step.form = scene::LimitSurfaceForm::kVelocity;
  const StepResult velocity = step_once(builder, {1, 0.3, 0.7, -0.1});
  expect_solved(stepping);
  expect_solved(velocity);
  EXPECT_LT((stepping.delta - velocity.delta).norm(), 1e-13);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(stepping.solution.force[i][0], velocity.solution.force[i][0], 1e-11);
  // What does not touch does not count.
  builder.place("a", {-1.001, 0.3});
  const StepResult apart = step_once(builder, {1, 0.3, 0, 0});
  EXPECT_NEAR(apart.delta.head<3>().norm(), 0, 1e-14);
}

scene::SupportSpec square_support(double side) {
  const double s = side / 2;
  return {.polygon = {{-s, -s}, {s, -s}, {s, s}, {-s, s}}, .mu = 0.5, .force_N = 4};
}

TEST(PlanarLimitSurface, SupportsUnderUniformPressureMoveAlongTheirLimitSurface) {
  for (const double side : {2.0, 0.01}) {
    const UniformPressure support(square_support(side).polygon, 2);
    int worst = 0;
    for (std::uint64_t item = 0; item < 100; ++item) {
      const auto draw = [&](std::uint32_t k) { return 2 * random_uniform(11, item, k) - 1; };
      Builder builder;
      const double theta = 3 * draw(0);
      const Eigen::Rotation2Dd R(theta);
      const Vector2d p = R * Vector2d(-0.5 * side, 0.45 * side * draw(1)),
                     v = R * Vector2d(0.2 * side / kH, 0.2 * side / kH * draw(2));
      builder.object(planar_body("square", BoxSpec{{side, side, 0.1}}, 0.7), {0, 0, theta})
          .finger(tip("tip", 0.7), {p.x(), p.y()})
          .gain(1e-4);
      builder.spec.limit_surfaces["square"].support = square_support(side);
      const StepResult result = step_once(builder, {v.x(), v.y()});
      ASSERT_EQ(result.status, Status::kSolved) << item;
      EXPECT_LE(result.complementarity()->balance, 1e-9);
      worst = std::max(worst, result.iterations);
      // In the body's frame the load is that of the twist, up to the unknown factor.
      const auto& f = result.solution.force[0];
      const contact::Contact& contact = result.problem.contacts[0];
      const Vector2d force = -(f[0] * contact.n_W + f[1] * contact.t1_W).head<2>();  // on the square, if it is b
      const double sign = contact.body_a == 1 ? -1 : 1;
      const Vector2d F = R.inverse() * (sign * force), at = R.inverse() * contact.p_WB.head<2>();
      const Vector3d load(F.x(), F.y(), at.x() * F.y() - at.y() * F.x());
      const Vector2d moved = R.inverse() * result.delta.head<2>();
      const Vector3d wanted = support.load({moved.x(), moved.y(), result.delta(2)});
      const Vector3d unit(1, 1, 1 / side);
      const Vector3d l = load.cwiseProduct(unit).normalized(), w = wanted.cwiseProduct(unit).normalized();
      EXPECT_LT((l - w).norm(), 1e-8) << item;
    }
    EXPECT_LT(worst, 200);
  }
}

TEST(PlanarLimitSurface, RelinearisedStepsEndOnTheTrueGeometry) {
  // A finger turns a bar about its middle: the linearised side moves on a circle.
  Builder builder;
  builder.object(planar_body("bar", BoxSpec{{0.2, 2, 0.1}}, 0.3), {0, 0, 0}, Vector3d(0.1, 0.1, 3).asDiagonal())
      .finger(tip("tip", 0.3, 0.05), {-0.15, 0.9})
      .gain(1e-3);
  const auto true_gap = [&] {
    const scene::Scene scene = test::build(builder.spec);
    const StepResult result = step_once(builder, {6, 0});
    expect_solved(result);
    scene::SceneState state = scene.make_state();
    scene.update(result.q_next, state);
    scene.find_planar_contacts(kInfinity, state);
    return state.contacts[0].gap;
  };
  EXPECT_GT(std::abs(true_gap()), 1e-3);
  builder.spec.step.relinearize = scene::StepSettings::kUntilSettled;
  EXPECT_NEAR(true_gap(), 0, 1e-9);
}

}  // namespace planar_limit_surface_test
}  // namespace deft::dynamics
