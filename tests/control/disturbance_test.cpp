// What goes wrong goes wrong by as much as stated, for every seed the same.

#include "deft/plant/disturbance.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "deft/control/signals.hpp"
#include "support/scene_builder.hpp"

namespace deft::control {
namespace disturbance_test {

using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::JointKind;
using multibody::SphereSpec;
using plant::Disturbance;
using plant::disturbed;
using plant::disturbed_start;
using plant::draw_disturbance;
using plant::moved_start;

scene::Scene world() {
  scene::SceneSpec spec = test::scene_spec(
      {test::free_body("ball", SphereSpec{0.1}, 2, 0.01, 0.5, test::at(0, 0, 5)),
       test::body("finger", JointKind::kAxes, {test::slide("x", {1, 0, 0}), test::turn("theta", {0, 0, 1})},
                  BoxSpec{{0.2, 0.1, 0.1}}, 1, 0.01, 0.8, test::at(-9, 0, 0))},
      {{"finger", 100}});
  spec.gravity_W = {0, 0, -9.81};
  return test::build(std::move(spec));
}

TEST(Disturbance, StaysWithinItsSharesAndFillsThem) {
  const scene::DisturbanceSpec spec{.friction = 0.2, .mass = 0.1, .size = 0.02};
  double least = 2, most = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Disturbance d = draw_disturbance(spec, seed);
    EXPECT_LE(std::abs(d.friction_scale - 1), 0.2);
    EXPECT_LE(std::abs(d.mass_scale - 1), 0.1);
    EXPECT_LE(std::abs(d.size_scale - 1), 0.02);
    EXPECT_EQ(d.friction_scale, draw_disturbance(spec, seed).friction_scale);
    least = std::min(least, d.friction_scale);
    most = std::max(most, d.friction_scale);
  }
  EXPECT_LT(least, 0.82);
  EXPECT_GT(most, 1.18);
}

TEST(Disturbance, ChangesFrictionOfAllAndMassAndSizeOfObjects) {
  const scene::Scene scene = world();
  const Disturbance d{.spec = {}, .friction_scale = 1.2, .mass_scale = 0.8, .size_scale = 1.02, .seed = 0};
  Diagnostics diagnostics;
  const scene::Scene other = scene::Scene::build(disturbed(scene, d), diagnostics);
  EXPECT_NEAR(other.objects()[0].mass, 1.6, 1e-12);
  EXPECT_NEAR(other.friction(0, 1).mu, 1.2 * scene.friction(0, 1).mu, 1e-12);
  const auto& shapes = other.spec().world.models;
  EXPECT_NEAR(std::get<SphereSpec>(shapes[0].links[0].collisions[0].shape).radius, 0.102, 1e-12);
  EXPECT_NEAR(std::get<BoxSpec>(shapes[1].links[0].collisions[0].shape).size.x(), 0.2, 1e-15)
      << "robots are as they are";
  EXPECT_NEAR(other.model().models()[1].mass, 1, 1e-15);
}

TEST(Disturbance, MovesObjectsAcrossGravity) {
  const scene::Scene scene = world();
  const VectorXd q = scene.initial_configuration();
  double least = 1, most = -1;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const VectorXd moved = moved_start(scene, q, {.spec = {.offset_m = 0.003}, .seed = seed});
    const VectorXd delta = scene.model().difference(q, moved);
    EXPECT_NEAR(delta.segment<3>(3).norm(), 0.003, 1e-12);
    EXPECT_NEAR(delta(5), 0, 1e-12) << "neither up nor down";
    EXPECT_EQ(delta.head<3>().norm() + delta.tail(2).norm(), 0);
    least = std::min(least, delta(3)), most = std::max(most, delta(3));
  }
  EXPECT_LT(least, -0.002);
  EXPECT_GT(most, 0.002);
}

TEST(Sensor, TellsPosesLateAndJointsAtOnce) {
  const scene::Scene scene = world();
  Sensor sensor(scene, {.spec = {.delay_s = 0.05}}, 0.01);
  EXPECT_EQ(sensor.delay(), 5);
  VectorXd q = scene.initial_configuration(), measured;
  for (int n = 0; n < 20; ++n) {
    q(4) = 0.01 * n;
    q(7) = 0.1 * n;
    ASSERT_TRUE(sensor.measure(q, measured));
    EXPECT_NEAR(measured(4), 0.01 * std::max(0, n - 5), 1e-12);
    EXPECT_EQ(measured(7), q(7));
  }
}

TEST(Sensor, ScattersAndForgetsAsStated) {
  const scene::Scene scene = world();
  Sensor sensor(scene, {.spec = {.noise_m = 0.001, .noise_rad = 0.02, .dropout = 0.3}, .seed = 5}, 0.01);
  const VectorXd q = scene.initial_configuration();
  VectorXd measured;
  int measurements = 0;
  double squared_m = 0, squared_rad = 0;
  constexpr int kPeriods = 4000;
  for (int n = 0; n < kPeriods; ++n) {
    if (!sensor.measure(q, measured)) {
      EXPECT_TRUE(measured.head(7).array().isNaN().all());
      EXPECT_EQ(measured.tail(2), q.tail(2));
      continue;
    }
    ++measurements;
    const VectorXd delta = scene.model().difference(q, measured);
    squared_rad += delta.head<3>().squaredNorm() / 3;
    squared_m += delta.segment<3>(3).squaredNorm() / 3;
  }
  EXPECT_NEAR(double(measurements) / kPeriods, 0.7, 0.03);
  EXPECT_NEAR(std::sqrt(squared_m / measurements), 0.001, 3e-5);
  EXPECT_NEAR(std::sqrt(squared_rad / measurements), 0.02, 6e-4);
}

TEST(Sensor, KnowsWhereFrozenObjectsStand) {
  scene::SceneSpec spec = world().description();
  spec.objects = {{.name = "ball", .frozen = true, .where = {}}};
  const scene::Scene scene = test::build(std::move(spec));
  Sensor sensor(scene, {.spec = {.noise_m = 0.1, .noise_rad = 0.1, .dropout = 0.5}, .seed = 5}, 0.01);
  const VectorXd q = scene.initial_configuration();
  VectorXd measured;
  int measurements = 0;
  for (int n = 0; n < 20; ++n) {
    measurements += sensor.measure(q, measured);
    EXPECT_EQ(measured, q);
  }
  EXPECT_GT(measurements, 0);
  EXPECT_LT(measurements, 20);
}

TEST(Actuator, LagsAndHasPlay) {
  const scene::Scene scene = world();
  Actuator actuator(scene, {.spec = {.lag_periods = 2, .backlash_rad = 0.02}}, Eigen::Vector2d(0, 0));
  std::vector<double> slide, hinge;
  for (const double u : {0.1, 0.2, 0.3, 0.2, 0.2, 0.2}) {
    const VectorXd& arrived = actuator.act(Eigen::Vector2d(u, u));
    slide.push_back(arrived(0));
    hinge.push_back(arrived(1));
  }
  EXPECT_EQ(slide, (std::vector<double>{0, 0, 0.1, 0.2, 0.3, 0.2})) << "two periods late, without play";
  const std::vector<double> dragged{0, 0, 0.09, 0.19, 0.29, 0.21};
  for (std::size_t i = 0; i < dragged.size(); ++i) EXPECT_NEAR(hinge[i], dragged[i], 1e-15) << i;
}

TEST(Disturbance, TurnsBodiesAboutGravityAndSoftensSprings) {
  const scene::Scene scene = world();
  const VectorXd q = scene.initial_configuration();
  const Disturbance d = draw_disturbance({.offset_rad = 0.01, .stiffness = 0.2}, 7);
  EXPECT_NE(d.stiffness_scale, 1);
  EXPECT_LE(std::abs(d.stiffness_scale - 1), 0.2);
  VectorXd delta = scene.model().difference(q, moved_start(scene, q, d));
  const auto& ball = scene.objects()[0];
  EXPECT_NEAR(std::abs(delta(ball.first_v + 2)), 0.01, 1e-9);
  delta(ball.first_v + 2) = 0;
  EXPECT_LT(delta.norm(), 1e-9);
  // The opposite sign is the opposite offset.
  Disturbance opposite = d;
  opposite.offset_sign = -1;
  EXPECT_LT((scene.model().difference(q, moved_start(scene, q, d)) +
             scene.model().difference(q, moved_start(scene, q, opposite)))
                .norm(),
            1e-9);
  Diagnostics diagnostics;
  const scene::Scene soft = scene::Scene::build(disturbed(scene, d), diagnostics);
  EXPECT_NEAR(soft.robots()[0].stiffness(0), d.stiffness_scale * scene.robots()[0].stiffness(0), 1e-9);
}

/// Whether the scene states the stiffness or the drive in the model's file.
TEST(Disturbance, ScalesDrivesOfModelFiles) {
  scene::SceneSpec spec = test::ball_and_finger();
  spec.robots[0].stiffness = {};
  for (multibody::JointAxisSpec& axis : spec.world.models[1].joints[0].axes) axis.stiffness = 250;
  const scene::Scene scene = test::build(spec);
  Disturbance d;
  d.stiffness_scale = 1.1;
  Diagnostics diagnostics;
  const scene::Scene stiff = scene::Scene::build(disturbed(scene, d), diagnostics);
  EXPECT_NEAR(stiff.robots()[0].stiffness(0), 275, 1e-9);
}

}  // namespace disturbance_test
}  // namespace deft::control
