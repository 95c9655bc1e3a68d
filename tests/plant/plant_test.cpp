// What all plants share: their words, and how objects that nothing holds down are damped.

#include "deft/plant/plant.hpp"

#include <gtest/gtest.h>

#include "support/scene_builder.hpp"

namespace deft::plant {
namespace plant_test {

using multibody::JointKind;
using multibody::SphereSpec;

scene::Scene puck_and_ball(const Eigen::Vector3d& gravity_W) {
  scene::SceneSpec spec =
      test::scene_spec({test::body("puck", JointKind::kAxes, {test::slide("x", {1, 0, 0}), test::slide("y", {0, 1, 0})},
                                   SphereSpec{0.1}, 1, 0.01, 0.5),
                        test::free_body("ball", SphereSpec{0.1}, 1, 0.01, 0.5, test::at(0, 0, 5))},
                       {});
  spec.gravity_W = gravity_W;
  return test::build(std::move(spec));
}

TEST(ObjectDamping, IsThatOfThePlansStepsWhereGravityDoesNotAct) {
  const Eigen::VectorXd under_gravity = object_damping(puck_and_ball({0, 0, -9.81}), std::nullopt, 0.05);
  EXPECT_EQ(under_gravity, Eigen::Vector2d(20, 0)) << "the puck moves across gravity, the ball falls";
  EXPECT_EQ(object_damping(puck_and_ball({0, 0, 0}), std::nullopt, 0.1), Eigen::Vector2d(10, 10));
  EXPECT_EQ(object_damping(puck_and_ball({0, 0, -9.81}), 3, 0.1), Eigen::Vector2d(3, 3)) << "as stated";
}

}  // namespace plant_test
}  // namespace deft::plant
