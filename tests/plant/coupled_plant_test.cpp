// Joints that follow others, and springs of joints, in every world.

#include "plant/plant_worlds.hpp"

namespace deft::plant {
namespace coupled_plant_test {

using Eigen::VectorXd;
using multibody::JointKind;
using testing::hold;
using testing::numbers;

class CoupledPlant : public ::testing::TestWithParam<PlantKind> {
 protected:
  void SetUp() override { DEFT_SKIP_WITHOUT_MUJOCO(GetParam()); }
};

/// A slide with a hinge on it that follows: θ = 2 x + 0.1.
TEST_P(CoupledPlant, AFollowerIsWhereItsLeaderSays) {
  scene::SceneSpec spec = test::scene_spec(
      {test::body("arm", JointKind::kAxes, {test::slide("x", {1, 0, 0}), test::turn("theta", {0, 1, 0})},
                  multibody::SphereSpec{0.05}, 0.5, 0.002, 0.5)},
      {{"arm", 200}});
  spec.world.models[0].couplings = {{.follower = "theta", .leader = "x", .ratio = 2, .offset = 0.1}};
  spec.step.h = 0.01;
  const scene::Scene scene = test::build(spec);
  const auto world = make_plant(GetParam(), scene, {});
  ASSERT_EQ(scene.nu(), 1);
  const VectorXd u = numbers({0.3});
  world->reset({.q = scene.initial_configuration()}, u);
  hold(*world, u, 2);
  EXPECT_NEAR(world->state().q(0), 0.3, 1e-4);
  EXPECT_NEAR(world->state().q(1), 0.7, 2e-4);
}

TEST_P(CoupledPlant, ASpringPullsItsJointHome) {
  scene::SceneSpec spec = test::scene_spec({test::body("cart", JointKind::kAxes, {test::slide("x", {1, 0, 0})},
                                                       multibody::SphereSpec{0.05}, 0.5, 0.002, 0.5)});
  spec.world.models[0].joints[0].axes[0].spring_stiffness = 40;
  spec.world.models[0].joints[0].axes[0].spring_reference = 0.2;
  spec.step.h = 0.01;
  const scene::Scene scene = test::build(spec);
  PlantOptions options;
  options.object_damping = numbers({10});
  const auto world = make_plant(GetParam(), scene, options);
  world->reset({.q = scene.initial_configuration()}, VectorXd());
  hold(*world, VectorXd(), 15);  // the step of first order creeps home: its mass resists as M/h²
  EXPECT_NEAR(world->state().q(0), 0.2, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(All, CoupledPlant, ::testing::ValuesIn([] {
                           auto kinds = testing::second_order_plants();
                           kinds.push_back(PlantKind::kQuasidynamic);
                           return kinds;
                         }()),
                         testing::test_name);

}  // namespace coupled_plant_test
}  // namespace deft::plant
