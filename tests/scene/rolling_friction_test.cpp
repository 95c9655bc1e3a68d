// `friction.rolling`: which pairs it is for, and what is wrong input.

#include <gtest/gtest.h>

#include "support/scene_builder.hpp"

namespace deft::scene {
namespace rolling_friction_test {

SceneSpec ball_box_and_floor() {
  return test::scene_spec(
      {test::free_body("ball", multibody::SphereSpec{0.1}, 1, 0.004, 0.5),
       test::free_body("box", multibody::BoxSpec{{0.1, 0.1, 0.1}}, 1, 0.002, 0.5, test::at(1, 0, 0)),
       test::fixed_body("floor", multibody::HalfSpaceSpec{{0, 0, 1}, -1}, 0.5)});
}

TEST(RollingFriction, IsForPairsOfWhichOneIsRound) {
  SceneSpec spec = ball_box_and_floor();
  EXPECT_EQ(test::build(spec).friction(0, 2).rolling, 0);
  spec.friction.rolling = 0.001;
  const Scene scene = test::build(spec);
  EXPECT_EQ(scene.friction(0, 1).rolling, 0.001);
  EXPECT_EQ(scene.friction(2, 0).rolling, 0.001);
  EXPECT_EQ(scene.friction(1, 2).rolling, 0) << "a box does not roll";
}

TEST(RollingFriction, OfAPairGoesBeforeThatOfAllAndLeavesItsOtherFriction) {
  SceneSpec spec = ball_box_and_floor();
  spec.friction.rolling = 0.001;
  spec.friction.pairs.push_back({.between = {"ball", "floor"}, .rolling = 0.002});
  spec.friction.pairs.push_back({.between = {"ball", "box"}, .frictionless = true});
  const Scene scene = test::build(spec);
  EXPECT_EQ(scene.friction(0, 2).rolling, 0.002);
  EXPECT_EQ(scene.friction(0, 2).mu, 0.5);
  EXPECT_TRUE(scene.friction(0, 1).frictionless);
  EXPECT_EQ(scene.friction(0, 1).rolling, 0.001);
}

TEST(RollingFriction, WrongInputIsNamed) {
  SceneSpec spec = ball_box_and_floor();
  spec.friction.pairs.push_back({.between = {"ball", "floor"}, .rolling = -1});
  EXPECT_NE(test::build_errors(spec).find("rolling -1 m must be finite and not negative"), std::string::npos);
}

}  // namespace rolling_friction_test
}  // namespace deft::scene
