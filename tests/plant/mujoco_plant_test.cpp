// What is MuJoCo's own: the model made from a scene, what its contacts hold, and that it cannot end the program.

#include "deft/plant/mujoco_plant.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "deft/io/scene/scene_file.hpp"
#include "deft/math/random.hpp"
#include "plant/plant_worlds.hpp"

namespace deft::plant {
namespace mujoco_plant_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::JointKind;
using multibody::SphereSpec;
using testing::hold;
using testing::numbers;

class MujocoPlant : public ::testing::Test {
 protected:
  void SetUp() override { DEFT_SKIP_WITHOUT_MUJOCO(PlantKind::kMujoco); }
  static std::unique_ptr<Plant> plant(const scene::Scene& scene, const PlantOptions& options = {}) {
    return make_plant(PlantKind::kMujoco, scene, options);
  }
};

scene::Scene load(const std::string& name) {
  Diagnostics diagnostics;
  return io::load_scene(std::string(DEFT_SOURCE_DIR) + "/scenes/planning/" + name + ".deft.yaml", {}, diagnostics);
}

VectorXd start_targets(const scene::Scene& scene) {
  VectorXd u(scene.nu());
  for (int i = 0; i < scene.nu(); ++i) u(i) = scene.initial_configuration()(scene.command_coordinates()[i]);
  return u;
}

/// A box of 0.1 kg between two fingers of `finger` kg that press 10 N each.
scene::SceneSpec held_box(double finger) {
  scene::SceneSpec spec = test::scene_spec({test::free_body("box", BoxSpec{{0.06, 0.06, 0.06}}, 0.1, 6e-5, 0.8),
                                            test::body("left", JointKind::kAxes, {test::slide("x", {1, 0, 0})},
                                                       SphereSpec{0.01}, finger, 1e-5, 0.8, test::at(-0.04, 0, 0)),
                                            test::body("right", JointKind::kAxes, {test::slide("x", {1, 0, 0})},
                                                       SphereSpec{0.01}, finger, 1e-5, 0.8, test::at(0.04, 0, 0))},
                                           {{"left", 500}, {"right", 500}});
  spec.gravity_W = {0, 0, -9.81};
  return spec;
}

TEST_F(MujocoPlant, AHeldBoxCreepsLessThanAMicrometrePerSecond) {
  for (const double finger : {0.1, 1e-4, 0.0}) {
    const scene::Scene scene = test::build(held_box(finger));
    const auto world = plant(scene);
    const VectorXd u = numbers({0.02, -0.02});
    world->reset({.q = scene.initial_configuration()}, u);
    hold(*world, u, 1);
    const double before = world->state().q(6);
    hold(*world, u, 3);
    EXPECT_LT(std::abs(world->state().q(6) - before) / 3, 1e-6) << finger;
    EXPECT_NEAR(world->state().q(6), 0, 5e-4) << finger;
    std::vector<dynamics::ContactRecord> contacts;
    world->contacts(contacts);
    ASSERT_EQ(contacts.size(), 2u);
    double carried = 0;
    for (const auto& contact : contacts) {
      EXPECT_EQ(contact.a, 1) << "the box comes first";
      EXPECT_NEAR(std::abs(contact.force_W[0]), 10, 0.1);
      EXPECT_EQ(contact.state, dynamics::ContactState::kStick);
      EXPECT_EQ(contact.normal_W[0] > 0, contact.force_W[0] > 0) << "normal from b to a";
      carried += contact.force_W[2];
    }
    EXPECT_NEAR(carried, 0.981, 0.001);
  }
}

TEST_F(MujocoPlant, TheStateGoesInAndComesOutAgain) {
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("club", SphereSpec{0.05}, 2, 0.02, 0.5, test::at(1, 2, 3)),
                        test::body("bob", JointKind::kBall, {}, SphereSpec{0.05}, 1, 0.01, 0.5, test::at(5, 0, 0)),
                        test::body("arm", JointKind::kAxes, {test::turn("a", {0, 1, 1}), test::slide("b", {1, 0, 2})},
                                   SphereSpec{0.05}, 1, 0.01, 0.5, test::at(0, 5, 0))},
                       {{"arm", 10}});
  auto& inertial = *spec.world.models[0].links[0].inertial;
  inertial.p_LCom = {0.1, -0.2, 0.3};
  inertial.I_Com_L << 0.03, 0.002, -0.001, 0.002, 0.025, 0.003, -0.001, 0.003, 0.02;
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene);
  for (int trial = 0; trial < 20; ++trial) {
    VectorXd delta(scene.nv()), v(scene.nv());
    for (int i = 0; i < scene.nv(); ++i) {
      delta(i) = 2 * random_uniform(3, trial, i) - 1;
      v(i) = 2 * random_uniform(4, trial, i) - 1;
    }
    VectorXd q;
    scene.model().integrate(scene.initial_configuration(), delta, q);
    world->reset({.q = q, .v = v}, numbers({q(11), q(12)}));
    // Through the simulator and back: in a step that is too short to move anything.
    ASSERT_EQ(world->advance(numbers({q(11), q(12)}), 1e-12), PlantStatus::kOk);
    EXPECT_LT(scene.model().difference(q, world->state().q).norm(), 1e-11);
    EXPECT_LT((world->state().v - v).norm(), 1e-8);
  }
}

TEST_F(MujocoPlant, EveryPairHasTheFrictionThatTheSceneStates) {
  // Blocks on a tilted plane: those whose μ is below tan 30° slide, with g(sin − μ cos); the others stay. Their own
  // coefficients are all 1.
  const double mus[] = {0, 0.2, 0.3, 0.4, 0.7, 0.8};
  std::vector<multibody::ModelSpec> models{test::fixed_body("floor", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 1)};
  scene::SceneSpec spec = test::scene_spec({});
  for (int k = 0; k < 6; ++k) {
    models.push_back(
        test::free_body(fmt::format("block{}", k), BoxSpec{{0.2, 0.2, 0.04}}, 1, 0.005, 1, test::at(0, k, 0.02)));
    spec.friction.pairs.push_back({.between = {"floor", fmt::format("block{}", k)}, .mu = mus[k]});
  }
  spec.world.models = models;
  const double s = 0.5, c = std::sqrt(0.75);
  spec.gravity_W = 10 * Vector3d(s, 0, -c);
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene);
  hold(*world, VectorXd(0), 0.5);
  for (int k = 0; k < 6; ++k) {
    const double way = 0.125 * 10 * std::max(0.0, s - mus[k] * c);
    EXPECT_NEAR(world->state().q(7 * k + 4), way, 0.02 * way + 3e-4) << mus[k];
  }
}

TEST_F(MujocoPlant, WhatMayNotTouchDoesNot) {
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 1, 0.004, 0.5, test::at(0, 0, 0.2)),
                        test::fixed_body("floor", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 0.5)});
  spec.filter_groups.push_back({.name = "all", .members = {"ball::ball", "floor::floor"}, .ignored = {"all"}});
  spec.gravity_W = {0, 0, -10};
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene);
  hold(*world, VectorXd(0), 0.5);
  EXPECT_NEAR(world->state().q(6), 0.2 - 1.25, 0.02);
}

/// What slides in a convex model of contact is lifted, and hopped once: corners of the box then met the floor with 44 N
/// in one step and with nothing in the next, and it went 10 mm astray within a second.
TEST_F(MujocoPlant, APushedBoxSlidesWithoutHoppingAndEndsWhereCoulombsLawSays) {
  const double mu = 0.2, g = 10, speed = 0.2;
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("box", BoxSpec{{0.4, 0.4, 0.4}}, 1, 0.027, mu, test::at(0, 0.05, 0.2)),
                        test::body("finger", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, SphereSpec{0.05}, 1, 0.01,
                                   mu, test::at(-0.26, 0, 0.3)),
                        test::fixed_body("floor", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, mu)},
                       {{"finger", 800}});
  spec.gravity_W = {0, 0, -g};
  spec.step.cone = scene::Cone::kCone;
  spec.step.friction_law = scene::FrictionLaw::kCoulomb;
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene, {.step = 0.00025});
  const auto other = make_plant(PlantKind::kConvexSecondOrder, scene, {.step = 0.001});
  for (Plant* each : {world.get(), other.get()}) each->reset({.q = scene.initial_configuration()}, numbers({0}));
  std::vector<dynamics::ContactRecord> contacts;
  for (int k = 1; k <= 1000; ++k) {
    for (Plant* each : {world.get(), other.get()})
      ASSERT_EQ(each->advance(numbers({1e-3 * k * speed}), 1e-3), PlantStatus::kOk);
    if (k < 500) continue;
    contacts.clear();
    world->contacts(contacts);
    double weight = 0, along = 0;
    for (const auto& contact : contacts) {
      if (std::abs(contact.normal_W[2]) < 0.5) continue;
      weight += std::abs(contact.force_W[2]);
      along += std::hypot(contact.force_W[0], contact.force_W[1]);
    }
    // The finger's friction carries or presses by at most mu of its push, mu m g.
    ASSERT_NEAR(weight, g, 1.1 * mu * mu * g) << "period " << k;
    ASSERT_NEAR(along, mu * weight, 0.02 * mu * weight) << "period " << k;
  }
  const VectorXd &q = world->state().q, &q_other = other->state().q;
  EXPECT_GT(q_other(5) - 0.05, 0.015) << "it turns, and moves aside";
  EXPECT_NEAR((q - q_other).segment<3>(4).norm(), 0, 2e-3);
  EXPECT_NEAR((q - q_other).segment<4>(0).norm(), 0, 5e-3);
}

TEST_F(MujocoPlant, FrozenObjectsStayWhereTheStartPutsThem) {
  scene::SceneSpec spec = test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 1, 0.004, 0.5, test::at(0, 0, 1)),
                                            test::free_body("shelf", BoxSpec{{1, 1, 0.1}}, 1, 0.1, 0.5)});
  spec.objects.push_back({.name = "shelf", .frozen = true});
  spec.gravity_W = {0, 0, -10};
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene);
  VectorXd q = scene.initial_configuration();
  q(13) = 0.5;
  world->reset({.q = q}, VectorXd(0));
  hold(*world, VectorXd(0), 1.5);
  EXPECT_EQ(world->state().q(13), 0.5);
  EXPECT_NEAR(world->state().q(6), 0.65, 1e-4) << "the ball lies on it";
}

TEST_F(MujocoPlant, EffortAndJointLimitsHold) {
  scene::SceneSpec spec = test::scene_spec(
      {test::body("slider", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, SphereSpec{0.05}, 1, 0.01, 0.5)},
      {{"slider", 1000}});
  spec.world.models[0].joints[0].axes[0].upper = 0.5;
  spec.world.models[0].joints[0].axes[0].effort_limit = 2;
  spec.step.effort_limits = true;
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene, {.damping_ratio = 0, .joint_lag = 0});
  world->reset({.q = scene.initial_configuration()}, numbers({1}));
  hold(*world, numbers({1}), 0.5);
  EXPECT_NEAR(world->state().q(0), 0.25, 0.003) << "2 N on 1 kg";
  hold(*world, numbers({1}), 1);
  EXPECT_NEAR(world->state().q(0), 0.5, 1e-4);
}

TEST_F(MujocoPlant, RobotsDrivenByForcesAreMovedByThem) {
  scene::SceneSpec spec = test::scene_spec(
      {test::body("cart", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, SphereSpec{0.05}, 2, 0.01, 0.5)});
  scene::RobotSpec robot;
  robot.name = "cart";
  robot.drive = scene::Drive::kForce;
  spec.robots.push_back(robot);
  spec.step.model = scene::ModelKind::kStewartTrinkle;
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene);
  world->reset({.q = scene.initial_configuration()}, numbers({3}));
  hold(*world, numbers({3}), 1);
  EXPECT_NEAR(world->state().q(0), 0.75, 0.005);
}

TEST_F(MujocoPlant, RobotsCarryTheirOwnWeightUnlessSetOtherwise) {
  for (const bool gravity : {false, true}) {
    scene::SceneSpec spec = test::scene_spec(
        {test::body("lift", JointKind::kAxes, {test::slide("z", {0, 0, 1})}, SphereSpec{0.05}, 2, 0.01, 0.5)},
        {{"lift", 100}});
    spec.gravity_W = {0, 0, -10};
    spec.step.robot_gravity = gravity;
    const scene::Scene scene = test::build(spec);
    const auto world = plant(scene);
    world->reset({.q = scene.initial_configuration()}, numbers({0}));
    hold(*world, numbers({0}), 3);
    EXPECT_NEAR(world->state().q(0), gravity ? -0.2 : 0, 1e-4);
  }
}

TEST_F(MujocoPlant, RobotsCarryTheWeightOfObjectsOnThemToo) {
  // A pendulum of 1 kg on a slide of 2 kg: the slide feels no weight, the pendulum its own.
  scene::SceneSpec spec = test::scene_spec(
      {test::body("lift", JointKind::kAxes, {test::slide("z", {0, 0, 1})}, SphereSpec{0.05}, 2, 0.01, 0.5),
       test::body("bob", JointKind::kAxes, {test::turn("theta", {0, 1, 0})}, SphereSpec{0.01}, 1, 0.01, 0.5)},
      {{"lift", 100}});
  spec.world.models[1].joints.clear();
  multibody::LinkSpec arm = spec.world.models[1].links[0];
  arm.name = "arm";
  arm.collisions.clear();
  arm.inertial->p_LCom = {0, 0, -0.5};
  spec.world.models[1].inline_body = false;
  spec.world.models[1].links[0].inertial->mass = 1e-3;
  spec.world.models[1].links.push_back(arm);
  multibody::JointSpec joint;
  joint.name = "theta";
  joint.kind = JointKind::kAxes;
  joint.parent = "bob";
  joint.child = "arm";
  joint.axes = {test::turn("theta", {0, 1, 0})};
  spec.world.models[1].joints.push_back(joint);
  spec.world.welds.push_back({.parent = "lift::lift", .child = "bob::bob"});
  spec.gravity_W = {0, 0, -10};
  const scene::Scene scene = test::build(spec);
  VectorXd ends[2];
  for (const int mujoco : {0, 1}) {
    const auto world = make_plant(mujoco ? PlantKind::kMujoco : PlantKind::kConvexSecondOrder, scene, {.step = 0.0005});
    world->reset({.q = numbers({0, 0.3})}, numbers({0}));
    hold(*world, numbers({0}), 0.4);
    ends[mujoco] = world->state().q;
  }
  EXPECT_LT((ends[0] - ends[1]).norm(), 0.01);
  EXPECT_LT(ends[1](1), 0.1) << "it swings";
  EXPECT_LT(std::abs(ends[1](0)), 0.05) << "the slide holds";
}

TEST_F(MujocoPlant, TheScenesOfThePlannersHoldTheirStarts) {
  for (const std::string name :
       {"allegro_ball", "planar_pushing", "planar_hand", "planar_bimanual", "bimanual_box", "allegro_cube"}) {
    const scene::Scene scene = load(name);
    const auto world = plant(scene, {.object_damping = object_damping(scene, std::nullopt, *scene.settings().step.h)});
    const VectorXd u = start_targets(scene);
    world->reset({.q = scene.initial_configuration()}, u);
    hold(*world, u, 2);
    EXPECT_LT(world->state().v.norm(), 0.02) << name;
    EXPECT_LT(scene.model().difference(scene.initial_configuration(), world->state().q).norm(), 0.5) << name;
    for (const std::string& line : world->settings()) EXPECT_FALSE(line.empty());
  }
}

TEST_F(MujocoPlant, TheAllegroHandHoldsItsTargets) {
  scene::SceneSpec spec = load("allegro_ball").description();
  std::erase_if(spec.world.models, [](const multibody::ModelSpec& model) { return model.name == "ball"; });
  spec.goals.clear();
  for (auto& configuration : spec.configurations) configuration.models.erase("ball");
  const scene::Scene scene = test::build(std::move(spec));
  for (const double step : {0.001, 0.002}) {
    const auto world = plant(scene, {.step = step});
    VectorXd u = start_targets(scene);
    world->reset({.q = scene.initial_configuration()}, u);
    u.array() += 0.1;
    hold(*world, u, 1);
    EXPECT_LT((world->state().q - u).cwiseAbs().maxCoeff(), 1e-3) << step;
    EXPECT_LT(world->state().v.norm(), 1e-3);
  }
}

TEST_F(MujocoPlant, RefusesByNameWhatMujocoDoesNotHave) {
  const auto message = [](const scene::SceneSpec& spec) {
    try {
      make_plant(PlantKind::kMujoco, test::build(spec), {});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(test::scene_spec({test::free_body("wedge", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 1, 0.1, 0.5)}))
                .find("wedge"),
            std::string::npos);
  scene::SceneSpec spec = test::scene_spec(
      {test::free_body("ball", SphereSpec{0.1}, 1, 0.1, 0.5), test::fixed_body("floor", BoxSpec{{1, 1, 1}}, 0.5)});
  spec.friction.pairs.push_back({.between = {"ball", "floor"}, .ellipsoid = std::array{1.0, 0.5, 0.1}});
  EXPECT_NE(message(spec).find("ellipsoid"), std::string::npos);
}

TEST_F(MujocoPlant, AWorldThatLeavesTheNumbersSaysSoAndKeepsTheLastGoodState) {
  scene::SceneSpec spec = test::scene_spec(
      {test::body("puck", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, SphereSpec{0.1}, 1e-6, 0.01, 0.5)});
  spec.wrenches.push_back({.body = "puck", .force_W = {1e12, 0, 0}});
  const scene::Scene scene = test::build(spec);
  const auto world = plant(scene);
  PlantStatus status = PlantStatus::kOk;
  for (int k = 0; k < 100 && status == PlantStatus::kOk; ++k) status = world->advance(VectorXd(0), 0.01);
  EXPECT_EQ(status, PlantStatus::kDiverged);
  EXPECT_TRUE(world->state().q.allFinite() && world->state().v.allFinite());
  EXPECT_EQ(world->advance(VectorXd(0), 0.01), PlantStatus::kDiverged) << "still there, and still too far";
}

TEST_F(MujocoPlant, IsTheSameWorldAgainAfterAReset) {
  const scene::Scene scene = test::build(testing::pusher(0.1));
  const auto world = plant(scene, {.object_damping = numbers({10})});
  VectorXd ends[2];
  for (VectorXd& end : ends) {
    world->reset({.q = scene.initial_configuration()}, numbers({0}));
    hold(*world, numbers({0.2}), 0.5);
    end = world->state().q;
  }
  EXPECT_EQ(ends[0], ends[1]);
}

}  // namespace mujoco_plant_test
}  // namespace deft::plant
