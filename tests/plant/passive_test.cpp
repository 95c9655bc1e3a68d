// Motions with closed forms, the same on every plant of second order.

#include <gtest/gtest.h>

#include <cmath>

#include "plant/plant_worlds.hpp"

namespace deft::plant {

namespace passive_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::CapsuleSpec;
using multibody::JointKind;
using multibody::SphereSpec;
using testing::hold;
using testing::numbers;

class Passive : public ::testing::TestWithParam<PlantKind> {
 protected:
  void SetUp() override { DEFT_SKIP_WITHOUT_MUJOCO(GetParam()); }
  std::unique_ptr<Plant> plant(const scene::Scene& scene, const PlantOptions& options = {}) const {
    return make_plant(GetParam(), scene, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Plants, Passive, ::testing::ValuesIn(testing::second_order_plants()), testing::test_name);

TEST_P(Passive, FreeFallOfAFreeBodyAndOfOneOnAnAxis) {
  scene::SceneSpec spec = test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 2, 0.008, 0.5),
                                            test::body("lift", JointKind::kAxes, {test::slide("z", {0, 0, 1})},
                                                       SphereSpec{0.1}, 1, 0.004, 0.5, test::at(5, 0, 0))});
  spec.gravity_W = {0, 0, -9.81};
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene);
  hold(*world, VectorXd(0), 1);
  EXPECT_NEAR(world->state().q(6), -9.81 / 2, 0.01 * 9.81 / 2);
  EXPECT_NEAR(world->state().q(7), -9.81 / 2, 0.01 * 9.81 / 2);
  EXPECT_NEAR(world->state().v(5), -9.81, 1e-6);
  EXPECT_NEAR(world->state().t, 1, 1e-12);
}

TEST_P(Passive, ABodyWhoseCentreOfMassIsElsewhereTurnsAboutIt) {
  // Thrown with a spin: the centre of mass flies the parabola, the origin circles it.
  scene::SceneSpec spec = test::scene_spec({test::free_body("club", SphereSpec{0.05}, 2, 0.02, 0.5)});
  spec.world.models[0].links[0].inertial->p_LCom = {0.2, -0.1, 0.05};
  spec.gravity_W = {0, 0, -9.81};
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene, {.step = 0.0005});
  dynamics::State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(6)};
  const Vector3d c(0.2, -0.1, 0.05), omega(0, 0, 3), v_com(1, 0, 2);
  start.v << omega, v_com - omega.cross(c);
  world->reset(start, VectorXd(0));
  hold(*world, VectorXd(0), 0.5);
  const Eigen::Matrix3d R = exp_so3(0.5 * omega);
  const Vector3d com = c + 0.5 * v_com + 0.125 * Vector3d(0, 0, -9.81);
  EXPECT_LT((rotation_from_quat_wxyz(world->state().q.head<4>()) - R).norm(), 0.01);
  EXPECT_LT((world->state().q.tail<3>() - (com - R * c)).norm(), 0.01);
}

TEST_P(Passive, ASlidingBlockStopsAfterVSquaredOverTwoMuG) {
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("block", BoxSpec{{0.2, 0.2, 0.04}}, 2, 0.01, 0.5, test::at(0, 0, 0.02)),
                        test::fixed_body("floor", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 0.5)});
  spec.gravity_W = {0, 0, -9.81};
  spec.step.friction_law = scene::FrictionLaw::kCoulomb;
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene);
  dynamics::State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(6)};
  start.v(3) = 1;
  world->reset(start, VectorXd(0));
  // On the mean over 0.1 s: MuJoCo's block hops over the floor, by up to 1.6 h μ v.
  std::vector<dynamics::ContactRecord> contacts;
  Vector3d sum = Vector3d::Zero();
  for (int k = 0; k < 100; ++k) {
    hold(*world, VectorXd(0), 0.001, 0.001);
    world->contacts(contacts);
    for (const auto& contact : contacts) {
      if (Vector3d(contact.force_W.data()).norm() < 1e-6) continue;
      const double sign = scene.names_bodies()[contact.a] == "block" ? 1 : -1;
      sum += 0.01 * sign * Vector3d(contact.force_W.data());
      EXPECT_NEAR(sign * contact.normal_W[2], 1, 0.02) << "from b to a";
      EXPECT_EQ(contact.state, dynamics::ContactState::kSlide);
    }
  }
  // Forces are what changes the momentum, and friction is what the cone has.
  EXPECT_NEAR(sum.z(), 2 * (9.81 + world->state().v(5) / 0.1), 0.01 * 19.62);
  EXPECT_NEAR(sum.x(), 2 * (world->state().v(3) - 1) / 0.1, 0.01 * 19.62);
  EXPECT_NEAR(sum.x(), -0.5 * sum.z(), 0.01 * 19.62);
  hold(*world, VectorXd(0), 0.5);
  const double way = 1 / (2 * 0.5 * 9.81);
  EXPECT_NEAR(world->state().q(4), way, 0.012 * way);
  EXPECT_LT(world->state().v.norm(), 1e-3);
}

TEST_P(Passive, APendulumSwingsWithThePeriodOfTheEllipticIntegral) {
  // A point mass on a rod of 0.5 m, from 1 rad: T = 4 √(l/g) K(sin ½).
  scene::SceneSpec spec = test::scene_spec(
      {test::body("bob", JointKind::kAxes, {test::turn("theta", {0, 1, 0})}, SphereSpec{0.01}, 1, 1e-6, 0.5)});
  spec.world.models[0].links[0].inertial->p_LCom = {0, 0, -0.5};
  spec.gravity_W = {0, 0, -9.81};
  const scene::Scene scene = test::build(spec);
  double a = 1, b = std::cos(0.5);  // K(k) = π/(2 agm(1, k'))
  for (int i = 0; i < 20; ++i) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  const double period = 4 * std::sqrt(0.5 / 9.81) * M_PI / (2 * a);
  const auto world = plant(scene, {.step = 0.00025});
  world->reset({.q = numbers({1})}, VectorXd(0));
  int crossings = 0;
  double last = 1, first_time = 0, time = 0;
  while (crossings < 5 && world->state().t < 10) {
    ASSERT_EQ(world->advance(VectorXd(0), 0.001), PlantStatus::kOk);
    const double angle = world->state().q(0);
    if ((angle > 0) != (last > 0)) {
      time = world->state().t - 0.001 * std::abs(angle) / std::abs(angle - last);
      if (crossings++ == 0) first_time = time;
    }
    last = angle;
  }
  ASSERT_EQ(crossings, 5);
  EXPECT_NEAR((time - first_time) / 2, period, 0.01 * period);
}

TEST_P(Passive, AJointAnswersItsTargetAsASpringWithADamper) {
  // m q̈ + D q̇ + K (q − u) = 0 from rest, critically damped by the default: q = u (1 − (1 + ωt) e^{−ωt}).
  scene::SceneSpec spec = test::scene_spec(
      {test::body("slider", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, SphereSpec{0.05}, 4, 0.01, 0.5)},
      {{"slider", 100}});
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene, {.joint_lag = 0});
  world->reset({.q = scene.initial_configuration()}, numbers({0.3}));
  for (int k = 1; k <= 10; ++k) {
    hold(*world, numbers({0.3}), 0.1);
    const double wt = 5 * 0.1 * k;
    EXPECT_NEAR(world->state().q(0), 0.3 * (1 - (1 + wt) * std::exp(-wt)), 0.003) << k;
  }
  // Slower: the damper's lag, and a stated damping.
  spec.step.joint_damping.all = 5;  // ζ = 1/8
  const scene::Scene lively = test::build(spec);
  const auto other = plant(lively, {.step = 0.00025});
  other->reset({.q = lively.initial_configuration()}, numbers({0.3}));
  hold(*other, numbers({0.3}), 1);
  const double zeta = 0.125, wd = 5 * std::sqrt(1 - zeta * zeta);
  EXPECT_NEAR(other->state().q(0),
              0.3 * (1 - std::exp(-zeta * 5) * (std::cos(wd) + zeta / std::sqrt(1 - zeta * zeta) * std::sin(wd))),
              0.003);
}

TEST_P(Passive, ObjectDampingDecaysExponentially) {
  // −γ M v: every velocity of a free body about its centre of mass and of a planar body dies away as e^{−γt}.
  scene::SceneSpec spec = test::scene_spec(
      {test::free_body("club", SphereSpec{0.05}, 2, 0.02, 0.5),
       test::body("puck", JointKind::kAxes,
                  {test::slide("x", {1, 0, 0}), test::slide("y", {0, 1, 0}), test::turn("theta", {0, 0, 1})},
                  SphereSpec{0.1}, 1, 0.005, 0.5, test::at(9, 0, 0))});
  spec.world.models[0].links[0].inertial->p_LCom = {0.1, 0, 0};
  spec.world.models[1].links[0].inertial->p_LCom = {0.05, 0.02, 0};
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene, {.step = 0.0005, .object_damping = numbers({2, 5})});
  dynamics::State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(9)};
  const Vector3d omega(0, 0, 2), v(1, 0.5, 0), c(0.1, 0, 0), c2(0.05, 0.02, 0);
  start.v.head<6>() << omega, v - omega.cross(c);
  start.v.tail<3>() << 0.3, -0.2, 0.5;
  world->reset(start, VectorXd(0));
  hold(*world, VectorXd(0), 0.5);
  const auto& end = world->state();
  const double decay = std::exp(-1.0), planar_decay = std::exp(-2.5);
  const Vector3d omega_end = end.v.head<3>(), c_end = rotation_from_quat_wxyz(end.q.head<4>()) * c;
  EXPECT_LT((omega_end - decay * omega).norm(), 0.01 * decay * 2);
  EXPECT_LT((end.v.segment<3>(3) + omega_end.cross(c_end) - decay * v).norm(), 0.01 * decay * v.norm());
  // The puck's momentum about its centre of mass.
  EXPECT_NEAR(end.v(8), planar_decay * 0.5, 0.02 * planar_decay * 0.5);
  const Eigen::AngleAxisd turn(end.q(9), Vector3d::UnitZ());
  const Vector3d v_end = Vector3d(end.v(6), end.v(7), 0) + Vector3d(0, 0, end.v(8)).cross(turn * c2);
  const Vector3d v_start = Vector3d(0.3, -0.2, 0) + Vector3d(0, 0, 0.5).cross(c2);
  EXPECT_LT((v_end - planar_decay * v_start).norm(), 0.02 * planar_decay * v_start.norm());
}

TEST_P(Passive, ATorqueFreeBodyKeepsItsAngularMomentum) {
  scene::SceneSpec spec = test::scene_spec({test::free_body("brick", BoxSpec{{0.1, 0.2, 0.3}}, 1, 0.01, 0.5)});
  spec.world.models[0].links[0].inertial->I_Com_L = Vector3d(0.0108, 0.0083, 0.0042).asDiagonal();
  spec.world.models[0].links[0].inertial->I_Com_L(0, 1) = spec.world.models[0].links[0].inertial->I_Com_L(1, 0) = 0.001;
  const Eigen::Matrix3d I = spec.world.models[0].links[0].inertial->I_Com_L;
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene, {.step = 0.00025});
  dynamics::State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(6)};
  start.v.head<3>() << 1, 4, -2;
  world->reset(start, VectorXd(0));
  hold(*world, VectorXd(0), 1);
  const Eigen::Matrix3d R = rotation_from_quat_wxyz(world->state().q.head<4>());
  const Vector3d before = I * start.v.head<3>(), after = R * I * R.transpose() * world->state().v.head<3>();
  EXPECT_LT((after - before).norm(), 0.01 * before.norm());
  EXPECT_LT(world->state().v.tail<3>().norm(), 1e-9);
}

TEST_P(Passive, WhatPenetratesAtTheStartIsNotKickedApart) {
  // 0.2 mm inside the floor: a step of 1 ms that undid it at once would throw the ball up with 0.2 m/s, by 2 mm.
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 1, 0.004, 0.5, test::at(0, 0, 0.0998)),
                        test::fixed_body("floor", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 0.5)});
  spec.gravity_W = {0, 0, -9.81};
  for (const int relinearize : {0, 1, 2}) {
    spec.step.relinearize = relinearize;
    const scene::Scene scene = test::build(spec);
    const auto world = plant(scene);
    double highest = 0;
    for (int k = 0; k < 200; ++k) {
      hold(*world, VectorXd(0), 0.001, 0.001);
      highest = std::max(highest, world->state().q(6));
    }
    EXPECT_LT(highest, 0.1 + 1e-4) << "relinearize " << relinearize;
    EXPECT_NEAR(world->state().q(6), 0.1, 1.5e-4) << "but it is parted, relinearize " << relinearize;
  }
}

TEST_P(Passive, AWrenchAcceleratesWhereItActs) {
  scene::SceneSpec spec = test::scene_spec({test::free_body("club", SphereSpec{0.05}, 2, 0.02, 0.5)});
  spec.world.models[0].links[0].inertial->p_LCom = {0.2, 0, 0};
  spec.wrenches.push_back({.body = "club", .force_W = {0, 2, 0}, .from = 0, .to = 0.1});
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene);
  hold(*world, VectorXd(0), 0.2);
  // Impulse 0.2 N s at the origin, 0.2 m before the centre of mass.
  EXPECT_NEAR(world->state().v(2), -0.2 * 0.2 / 0.02, 0.02 * 2);
  const Vector3d omega = world->state().v.head<3>(),
                 c = rotation_from_quat_wxyz(world->state().q.head<4>()) * Vector3d(0.2, 0, 0);
  EXPECT_LT((world->state().v.tail<3>() + omega.cross(c) - Vector3d(0, 0.1, 0)).norm(), 0.001);
}

TEST_P(Passive, APusherPushesAPuckThatItsSurroundingsDamp) {
  // At constant speed the spring carries γ M v: q lags behind u by D v/K + γ M v/K.
  const scene::Scene scene = test::build(testing::pusher(0.1));
  const auto world = plant(scene, {.object_damping = numbers({10})});
  world->reset({.q = scene.initial_configuration()}, numbers({0}));
  const double speed = 0.1;
  for (int k = 1; k <= 200; ++k) ASSERT_EQ(world->advance(numbers({speed * 0.01 * k}), 0.01), PlantStatus::kOk);
  EXPECT_NEAR(world->state().v(1), speed, 0.01 * speed);
  std::vector<dynamics::ContactRecord> contacts;
  world->contacts(contacts);
  double force = 0;
  for (const auto& contact : contacts) force += std::abs(contact.force_W[0]);
  EXPECT_NEAR(force, 10 * 1 * speed, 0.02);
}

}  // namespace passive_test
}  // namespace deft::plant
