// The equivalent-contact-point step against closed forms, invariants and differences.

#include "deft/dynamics/patch/equivalent_contact_point.hpp"
#include "deft/core/index.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>
#include <functional>
#include <limits>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace equivalent_contact_point_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::at;

constexpr double kGravity = 9.8;

/// A free body of this inertia about its centre, with the plane z = 0 or a wide box below it.
scene::SceneSpec on_ground(const multibody::ShapeSpec& shape, double mass, const Vector3d& inertia, double height,
                           double mu, std::array<double, 3> ellipsoid, double h, bool box = false) {
  multibody::ModelSpec body = test::free_body("body", shape, mass, 1, mu, at(0, 0, height));
  body.links[0].inertial->I_Com_L = inertia.asDiagonal();
  const multibody::ShapeSpec ground = box ? multibody::ShapeSpec(multibody::BoxSpec{{40, 40, 1}})
                                          : multibody::ShapeSpec(multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0});
  scene::SceneSpec spec = test::scene_spec({body, test::fixed_body("ground", ground, mu, at(0, 0, box ? -0.5 : 0))});
  spec.gravity_W = {0, 0, -kGravity};
  spec.friction.ellipsoid = ellipsoid;
  spec.step.model = scene::ModelKind::kEquivalentContactPoint;
  spec.step.h = h;
  return spec;
}

State moving(const scene::Scene& scene, const Vector3d& omega, const Vector3d& v) {
  State start{.q = scene.initial_configuration(), .v = VectorXd(6)};
  start.v << omega, v;
  return start;
}

/// Steps on; every step must be solved and certified, without penetration.
void advance(EquivalentContactPoint& model, State& state, int steps, StepResult& result) {
  for (int k = 0; k < steps; ++k) {
    model.step(state, VectorXd(0), result);
    ASSERT_EQ(result.status, solvers::Status::kSolved) << "step " << k;
    ASSERT_LE(result.certificate.max_scaled(), 1e-9) << "step " << k;
    ASSERT_LE(result.certificate.primal_m, 1e-10) << "step " << k;
    state = {.q = result.q_next, .v = result.v_next, .t = state.t + model.h()};
  }
}

const multibody::BoxSpec kBrick{{0.4, 0.3, 0.2}};
const Vector3d kBrickInertia = Vector3d(0.13, 0.2, 0.25) * 2 / 12;  // of 2 kg

TEST(EquivalentContactPoint, ASlidingBoxLosesMuGAndPressesAheadOfItsCentre) {
  for (const bool box : {false, true}) {
    for (const double h : {0.001, 0.02}) {
      const double mu = 0.25, angle = 0.7;
      const scene::Scene scene = test::build(on_ground(kBrick, 2, kBrickInertia, 0.1, mu, {1, 1, 1}, h, box));
      EquivalentContactPoint model(scene);
      const Vector3d along(std::cos(angle), std::sin(angle), 0);
      State state = moving(scene, Vector3d::Zero(), 3 * along);
      StepResult result;
      advance(model, state, 20, result);
      EXPECT_LE((state.v.tail<3>() - (3 - 20 * h * mu * kGravity) * along).norm(), 1e-10);
      EXPECT_LE(state.v.head<3>().norm(), 1e-10);
      ASSERT_EQ(result.patch()->contacts.size(), 1u);
      EXPECT_LE(
          (result.patch()->contacts[0].point_W - (state.q.tail<3>() + mu * 0.1 * along - Vector3d(0, 0, 0.1))).norm(),
          1e-9);
      EXPECT_NEAR(result.patch()->contacts[0].p_n, 2 * kGravity * h, 1e-10);
    }
  }
}

TEST(EquivalentContactPoint, FrictionIsAsTheEllipsoidSays) {
  const double h = 0.01, mu = 0.4;
  const std::array<double, 3> e{1, 0.5, 0.06};
  const scene::Scene scene =
      test::build(on_ground(multibody::CylinderSpec{0.3, 0.1}, 5, {0.2, 0.2, 0.225}, 0.05, mu, e, h));
  EquivalentContactPoint model(scene);
  StepResult result;
  for (int axis = 0; axis < 2; ++axis) {
    model.reset();
    State state = moving(scene, Vector3d::Zero(), 2 * Vector3d::Unit(axis));
    advance(model, state, 10, result);
    EXPECT_NEAR(state.v(3 + axis), 2 - 10 * h * mu * e[axis] * kGravity, 1e-10);
  }
  model.reset();
  State state = moving(scene, {0, 0, 4}, Vector3d::Zero());
  advance(model, state, 10, result);
  EXPECT_NEAR(state.v(2), 4 - 10 * h * mu * e[2] * 5 * kGravity / 0.225, 1e-10);
  EXPECT_NEAR(result.patch()->contacts[0].p_f(2), -mu * e[2] * 5 * kGravity * h, 1e-10);
  advance(model, state, 200, result);
  EXPECT_LE(state.v.norm(), 1e-12) << "spun down and at rest";
}

TEST(EquivalentContactPoint, ASphereThatSlidesEndsRollingWithFiveSevenths) {
  const scene::Scene scene = test::build(
      on_ground(multibody::SphereSpec{0.2}, 3, Vector3d::Constant(0.4 * 3 * 0.04), 0.2, 0.3, {1, 1, 0.01}, 0.005));
  EquivalentContactPoint model(scene);
  State state = moving(scene, Vector3d::Zero(), {1.4, 0, 0});
  StepResult result;
  advance(model, state, 20, result);
  EXPECT_NEAR(state.v(3), 1.4 - 20 * 0.005 * 0.3 * kGravity, 1e-10) << "slides";
  advance(model, state, 200, result);
  EXPECT_NEAR(state.v(3), 1.0, 1e-8);
  EXPECT_NEAR(state.v(1), 1.0 / 0.2, 1e-8);
  EXPECT_LE(result.patch()->contacts[0].slip.norm(), 1e-10);
}

TEST(EquivalentContactPoint, WhatRestsStaysWhereItIs) {
  const scene::Scene scene = test::build(on_ground(kBrick, 2, kBrickInertia, 0.1, 0.5, {1, 1, 1}, 0.01));
  EquivalentContactPoint model(scene);
  State state = moving(scene, {0.3, -0.2, 0.1}, {0.5, 0.2, -0.1});
  StepResult result;
  advance(model, state, 300, result);
  const VectorXd q = state.q;
  advance(model, state, 1000, result);
  EXPECT_LE((state.q - q).norm(), 1e-12);
  EXPECT_LE(state.v.norm(), 1e-12);
}

TEST(EquivalentContactPoint, IsAsGoodFarFromTheWorldsOrigin) {
  const auto end = [](double away) {
    const scene::Scene scene = test::build(
        on_ground(multibody::CylinderSpec{0.05, 0.02}, 0.3, {3e-4, 3e-4, 4e-4}, 0.01, 0.3, {1, 0.8, 0.01}, 1e-3));
    EquivalentContactPoint model(scene);
    State state = moving(scene, {1, 2, 9}, {0.5, -0.3, 0});
    state.q(4) += away;
    state.q(6) += 0.05;
    StepResult result;
    advance(model, state, 600, result);
    state.q(4) -= away;
    return state;
  };
  const State here = end(0), there = end(1 << 17);  // 131 km: a coordinate is good to 1.5e-11 m
  EXPECT_LE((here.q - there.q).norm(), 1e-6);
  EXPECT_LE((here.v - there.v).norm(), 1e-5);
}

TEST(EquivalentContactPoint, AFastSpinKeepsItsAngularMomentumAndGainsNoEnergy) {
  const Eigen::Matrix3d I = Vector3d(0.001, 0.02, 0.021).asDiagonal();
  for (const double h : {0.001, 0.01, 0.1}) {
    for (const double speed : {0.1, 3.0, 30.0, 300.0}) {
      const Vector3d omega = speed * Vector3d(0.8, 0.5, -0.3);
      const Spin spin = free_spin(I, omega, h);
      const Vector3d kick = -h * I.inverse() * omega.cross(I * omega);
      if (kick.dot(I * kick) <= 0.009 * omega.dot(I * omega)) {
        EXPECT_EQ(spin.omega, omega + kick);
      }
      if (!spin.implicit) continue;
      EXPECT_LE((turn(spin.omega, h) * I * spin.omega - I * omega).norm(), 1e-12 * (I * omega).norm())
          << h << " " << speed;
      EXPECT_LE(spin.omega.dot(I * spin.omega), (1 + 1e-12) * omega.dot(I * omega));
    }
  }
}

TEST(EquivalentContactPoint, TellsPointsLinesAndSurfaces) {
  const auto kind_of = [](const multibody::ShapeSpec& shape, const Eigen::Vector4d& quat_wxyz, double height) {
    const scene::Scene scene = test::build(on_ground(shape, 1, {0.1, 0.1, 0.1}, height, 0.5, {1, 1, 0.1}, 1e-3));
    EquivalentContactPoint model(scene);
    State state = moving(scene, Vector3d::Zero(), Vector3d::Zero());
    state.q.head<4>() = quat_wxyz;
    StepResult result;
    model.step(state, VectorXd(0), result);
    EXPECT_EQ(result.patch()->contacts.size(), 1u);
    std::vector<PatchState> end;
    read_states(scene, model.world(), result.q_next, result.v_next, end);
    return contact_kind(model.world(), end, result.patch()->contacts.at(0));
  };
  const Eigen::Vector4d upright(1, 0, 0, 0), lying(std::sqrt(0.5), 0, std::sqrt(0.5), 0),
      edge(std::cos(EIGEN_PI / 8), std::sin(EIGEN_PI / 8), 0, 0), tilted(std::cos(0.2), std::sin(0.2), 0, 0);
  EXPECT_EQ(kind_of(multibody::BoxSpec{{1, 1, 1}}, upright, 0.5), ContactKind::kSurface);
  EXPECT_EQ(kind_of(multibody::BoxSpec{{1, 1, 1}}, edge, std::sqrt(0.5)), ContactKind::kLine);
  const double half = 0.5 * std::atan(std::sqrt(2.0));
  EXPECT_EQ(kind_of(multibody::BoxSpec{{1, 1, 1}},
                    {std::cos(half), std::sin(half) / std::sqrt(2.0), -std::sin(half) / std::sqrt(2.0), 0},
                    std::sqrt(3.0) / 2),
            ContactKind::kPoint);
  EXPECT_EQ(kind_of(multibody::CylinderSpec{0.3, 1}, upright, 0.5), ContactKind::kSurface);
  EXPECT_EQ(kind_of(multibody::CylinderSpec{0.3, 1}, lying, 0.3), ContactKind::kLine);
  EXPECT_EQ(kind_of(multibody::CylinderSpec{0.3, 1}, tilted, 0.3 * std::sin(0.4) + 0.5 * std::cos(0.4)),
            ContactKind::kPoint);
  EXPECT_EQ(kind_of(multibody::EllipsoidSpec{{0.3, 0.4, 0.5}}, upright, 0.5), ContactKind::kPoint);
}

TEST(EquivalentContactPoint, TheCertificateSeesEveryMistake) {
  const scene::Scene scene = test::build(on_ground(kBrick, 2, kBrickInertia, 0.1, 0.5, {1, 0.8, 0.1}, 0.01));
  PatchStepper stepper(make_patch_world(scene));
  std::vector<PatchState> start(1);
  start[0].p_WC = {0, 0, 0.1};
  start[0].v_WC = {1, 0.4, 0};
  start[0].omega_W = {0, 0, 2};
  PatchResult step;
  stepper.step(start, std::vector<PatchImpulse>(1), step);
  ASSERT_EQ(step.status, solvers::Status::kSolved);
  ASSERT_LE(step.certificate.max_scaled(), 1e-10);
  const std::vector<PatchImpulse> none(1);
  PatchCertifier certifier;
  const auto residual = [&](const std::vector<PatchState>& end, const std::vector<PatchContact>& contacts) {
    const PatchCertificate c = certifier.certify(stepper.world(), start, none, end, contacts);
    return std::max(c.max_scaled(), c.penetration_m);
  };
  ASSERT_LE(residual(step.end, step.contacts), 1e-10);
  const auto spoiled = [&](auto change) {
    std::vector<PatchContact> contacts = step.contacts;
    change(contacts[0]);
    return residual(step.end, contacts);
  };
  EXPECT_GE(spoiled([](PatchContact& c) { c.p_n *= 1.001; }), 1e-4);
  EXPECT_GE(spoiled([](PatchContact& c) { c.p_f *= 1.001; }), 1e-5);
  EXPECT_GE(spoiled([](PatchContact& c) { c.p_f(2) = -c.p_f(2); }), 1e-3);
  EXPECT_GE(spoiled([](PatchContact& c) { c.point_W.x() += 1e-3; }), 1e-4);
  EXPECT_GE(spoiled([](PatchContact& c) { c.point_W.z() += 1e-3; }), 1e-4);
  EXPECT_GE(spoiled([](PatchContact& c) { c.gap = 1e-3; }), 1e-4);
  EXPECT_GE(spoiled([](PatchContact& c) { c.l_a[0] += 1e-3; }), 1e-4);
  EXPECT_GE(spoiled([](PatchContact& c) { c.n_W = Vector3d(1e-3, 0, 1).normalized(); }), 1e-4);
  const Eigen::AngleAxisd turned(0.3, Vector3d::UnitZ());
  EXPECT_GE(spoiled([&](PatchContact& c) { c.t_W = turned * c.t_W, c.o_W = turned * c.o_W; }), 1e-2)
      << "other axes of the ellipsoid";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& change : std::vector<std::function<void(PatchContact&)>>{
           [&](PatchContact& c) { c.p_n = nan; }, [&](PatchContact& c) { c.p_f(2) = nan; },
           [&](PatchContact& c) { c.point_W.x() = nan; }, [&](PatchContact& c) { c.gap = nan; },
           [&](PatchContact& c) { c.l_a[1] = nan; }})
    EXPECT_EQ(spoiled(change), std::numeric_limits<double>::infinity());
  std::vector<PatchState> end = step.end;
  end[0].v_WC.x() += 1e-3;
  EXPECT_GE(residual(end, step.contacts), 1e-4);
  end = step.end;
  end[0].p_WC.z() -= 1e-3;
  EXPECT_GE(residual(end, step.contacts), 1e-4);
  end = step.end;
  end[0].omega_W.y() = nan;
  EXPECT_EQ(residual(end, step.contacts), std::numeric_limits<double>::infinity());
  std::vector<PatchImpulse> pushed(1);
  pushed[0].linear_W.x() = 1e-3;
  EXPECT_GE(certifier.certify(stepper.world(), start, pushed, step.end, step.contacts).newton_euler, 1e-4);
}

TEST(EquivalentContactPoint, AStackAtRestTakesFewIterationsFromWhatItWas) {
  // Ten turned boxes: in free motion only the lowest runs into something.
  const int n = 10;
  std::vector<multibody::ModelSpec> models{
      test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.5)};
  for (int i = 0; i < n; ++i) {
    RigidTransform X = at(0.01 * (i % 3), 0, 0.1 + 0.2 * i);
    X.linear() = Eigen::AngleAxisd(0.2 * i, Vector3d::UnitZ()).toRotationMatrix();
    models.push_back(
        test::free_body("box" + std::to_string(i), multibody::BoxSpec{{0.2, 0.2, 0.2}}, 1, 0.04 / 6, 0.5, X));
  }
  scene::SceneSpec spec = test::scene_spec(models);
  spec.gravity_W = {0, 0, -kGravity};
  spec.friction.ellipsoid = std::array<double, 3>{1, 1, 0.05};
  spec.step.model = scene::ModelKind::kEquivalentContactPoint;
  spec.step.h = 0.01;
  const scene::Scene scene = test::build(spec);
  EquivalentContactPoint model(scene);
  State state{.q = scene.initial_configuration(), .v = VectorXd::Zero(scene.nv())};
  StepResult result;
  advance(model, state, 2, result);
  const VectorXd q = state.q;
  for (int k = 0; k < 20; ++k) {
    advance(model, state, 1, result);
    EXPECT_LE(result.iterations, 5);
  }
  ASSERT_EQ(result.patch()->contacts.size(), to_size(n));
  double lowest = 0;
  for (const PatchContact& contact : result.patch()->contacts) lowest = std::max(lowest, contact.p_n);
  EXPECT_NEAR(lowest, n * kGravity * 0.01, 1e-9);
  EXPECT_LE((state.q - q).norm(), 1e-9);
}

TEST(EquivalentContactPoint, PressesBelowTheCentreOfMassWhereverTheShapeIsOnItsBody) {
  scene::SceneSpec spec = on_ground(kBrick, 2, kBrickInertia, 0, 0.5, {1, 1, 0.1}, 0.01);
  multibody::LinkSpec& link = spec.world.models[0].links[0];
  link.collisions[0].X_LG = make_transform(Eigen::AngleAxisd(EIGEN_PI / 2, Vector3d::UnitX()).toRotationMatrix(),
                                           {0.3, -0.2, 0.5});  // 0.3 m high now
  link.inertial->p_LCom = {0.4, -0.15, 0.45};
  const scene::Scene scene = test::build(spec);
  EquivalentContactPoint model(scene);
  State state = moving(scene, Vector3d::Zero(), Vector3d::Zero());
  state.q.head<4>() << std::cos(0.4), 0, 0, std::sin(0.4);
  state.q.tail<3>() << 1, 2, 0.15 - 0.5;
  const Eigen::Matrix3d R = rotation_from_quat_wxyz(state.q.head<4>());
  const Vector3d origin = state.q.tail<3>(), below = origin + R * link.inertial->p_LCom;
  StepResult result;
  advance(model, state, 50, result);
  EXPECT_LE((state.q.tail<3>() - origin).norm(), 1e-12);
  ASSERT_EQ(result.patch()->contacts.size(), 1u);
  EXPECT_LE((result.patch()->contacts[0].point_W - Vector3d(below.x(), below.y(), 0)).norm(), 1e-9);
}

TEST(EquivalentContactPoint, TwoShapesOfABodyShareItsWeightByTheirLevers) {
  scene::SceneSpec spec = on_ground(multibody::SphereSpec{0.1}, 3, {0.1, 0.1, 0.1}, 0.1, 0.5, {1, 1, 0.1}, 0.01);
  multibody::LinkSpec& link = spec.world.models[0].links[0];
  link.collisions.push_back(link.collisions[0]);
  link.collisions[0].X_LG = at(0.2, 0, 0);
  link.collisions[1].X_LG = at(-0.6, 0, 0);
  link.collisions[1].name = "other";
  const scene::Scene scene = test::build(spec);
  EquivalentContactPoint model(scene);
  State state = moving(scene, Vector3d::Zero(), Vector3d::Zero());
  StepResult result;
  advance(model, state, 20, result);
  ASSERT_EQ(result.patch()->contacts.size(), 2u);
  for (const PatchContact& contact : result.patch()->contacts) {
    const double x = contact.point_W.x(), share = x > 0 ? 0.75 : 0.25;
    EXPECT_NEAR(x, x > 0 ? 0.2 : -0.6, 1e-9);
    EXPECT_NEAR(contact.p_n, share * 3 * kGravity * 0.01, 1e-9);
  }
}

TEST(EquivalentContactPoint, WhatItRemembersDoesNotChangeTheMotion) {
  const scene::Scene scene = test::build(on_ground(kBrick, 2, kBrickInertia, 0.4, 0.4, {1, 0.8, 0.05}, 0.005));
  EquivalentContactPoint warm(scene), cold(scene);
  State state = moving(scene, {3, -5, 2}, {0.8, 0.3, 0});
  StepResult result, again;
  for (int k = 0; k < 400; ++k) {
    cold.reset();
    cold.step(state, VectorXd(0), again);
    ASSERT_EQ(again.status, solvers::Status::kSolved) << k;
    advance(warm, state, 1, result);
    EXPECT_LE((result.v_next - again.v_next).norm(), 1e-7) << k;
  }
}

TEST(EquivalentContactPoint, LeavesNothingOfAnotherModelInTheResult) {
  const scene::Scene scene = test::build(on_ground(kBrick, 2, kBrickInertia, 0.1, 0.5, {1, 1, 1}, 0.01));
  EquivalentContactPoint model(scene);
  StepResult result;  // as a model of contact points with Coulomb's law leaves it
  result.detail_of<ComplementarityDetail>();
  result.problem.contacts.resize(4);
  result.solution.force.resize(4);
  result.solution.gap.resize(4);
  result.de_saxce = {1e-3, 0, 0, 1e-3};
  result.offending_contacts = {0, 3};
  result.offending_limits = {1};
  model.step(moving(scene, Vector3d::Zero(), {1, 0, 0}), VectorXd(0), result);
  ASSERT_EQ(result.status, solvers::Status::kSolved);
  EXPECT_EQ(result.complementarity(), nullptr);
  EXPECT_NE(result.patch(), nullptr);
  EXPECT_TRUE(result.problem.contacts.empty());
  EXPECT_TRUE(result.solution.force.empty());
  EXPECT_TRUE(result.solution.gap.empty());
  EXPECT_TRUE(result.de_saxce.empty());
  EXPECT_TRUE(result.offending_contacts.empty());
  EXPECT_TRUE(result.offending_limits.empty());
}

TEST(EquivalentContactPoint, RefusesWhatItDoesNotKnow) {
  const auto refusal = [](const scene::SceneSpec& spec) -> std::string {
    const scene::Scene scene = test::build(spec);
    try {
      make_step_model(scene);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(on_ground(kBrick, 2, kBrickInertia, 0.1, 0.5, {1, 1, 1}, 0.01)), "");
  EXPECT_NE(
      refusal(on_ground(multibody::CapsuleSpec{0.1, 0.2}, 2, kBrickInertia, 0.1, 0.5, {1, 1, 1}, 0.01)).find("capsule"),
      std::string::npos);
  const auto refusal_of = [&](const std::function<void(scene::SceneSpec&)>& change) {
    scene::SceneSpec spec = on_ground(kBrick, 2, kBrickInertia, 0.1, 0.5, {1, 1, 1}, 0.01);
    change(spec);
    return refusal(spec);
  };
  EXPECT_NE(refusal_of([](auto& spec) { spec.step.kappa = 100; }).find("step.kappa is 100"), std::string::npos);
  EXPECT_NE(refusal_of([](auto& spec) { spec.step.friction_arm = 0.54; }).find("step.friction_arm is 0.54, valid: 1"),
            std::string::npos);
  EXPECT_NE(refusal_of([](auto& spec) { spec.step.relinearize = 1; }).find("step.relinearize must be 0"),
            std::string::npos);
  EXPECT_NE(
      refusal_of([](auto& spec) { spec.step.recovery_speed = 0.02; }).find("step.recovery_speed is 0.02, valid: inf"),
      std::string::npos);
  EXPECT_NE(refusal_of([](auto& spec) { spec.friction.rolling = 1e-3; }).find("friction.rolling must be 0"),
            std::string::npos);
  scene::SceneSpec planar = on_ground(kBrick, 2, kBrickInertia, 0.1, 0.5, {1, 1, 1}, 0.01);
  planar.world.models.push_back(
      test::body("slider", multibody::JointKind::kAxes, {test::slide("s", {1, 0, 0})}, kBrick, 1, 1, 0.5, at(3, 0, 1)));
  EXPECT_NE(refusal(planar).find("slider"), std::string::npos);
}

}  // namespace equivalent_contact_point_test
}  // namespace deft::dynamics
