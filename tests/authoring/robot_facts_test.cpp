// What is told of a robot from its model.

#include "deft/authoring/robot_facts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "deft/authoring/placement.hpp"
#include "deft/io/scene/scene_file.hpp"

namespace deft::authoring {
namespace robot_facts_test {

scene::Scene load(const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() /
                    (std::string("facts_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml");
  std::ofstream(file) << text;
  Diagnostics diagnostics;
  scene::Scene scene = io::load_scene(file.string(), {.bundled_scenes = DEFT_SOURCE_DIR "/scenes"}, diagnostics);
  std::filesystem::remove(file);
  return scene;
}

scene::Scene robot(const std::string& model, const std::string& base) {
  return load("deft: 1\ndirectives:\n  - add_model: {name: r, file: \"package://deft_scenes/models/" + model +
              "\"}\n  - add_weld: {parent: world, child: \"r::" + base +
              "\"}\nrobots: [{name: r, stiffness: 1}]\nstep: {h: 0.1}\n");
}

TEST(RobotFacts, AHandHasSeveralTipsThatShareNoJoint) {
  const scene::Scene scene = robot("allegro_right.sdf", "hand_root");
  const RobotFacts facts = robot_facts(scene, 0);
  EXPECT_TRUE(facts.is_hand);
  EXPECT_EQ(facts.tips.size(), 4u);
  // A finger's second joint goes from −0.196 to 1.61 rad.
  const auto coordinates = scene.model().coordinates();
  for (int i = 0; i < 16; ++i) {
    EXPECT_NEAR(facts.q_middle[i], (coordinates[i].lower + coordinates[i].upper) / 2, 1e-12);
    EXPECT_GE(facts.q_straight[i], coordinates[i].lower);
    EXPECT_LE(std::abs(facts.q_straight[i]), std::abs(facts.q_middle[i]) + 1e-12);
  }
}

TEST(RobotFacts, AnArmHasOneTip) {
  const scene::Scene scene = robot("iiwa7.sdf", "iiwa_link_0");
  const RobotFacts facts = robot_facts(scene, 0);
  EXPECT_FALSE(facts.is_hand);
  ASSERT_EQ(facts.tips.size(), 1u);
}

TEST(RobotFacts, ThePalmOfAHandIsTurnedUpwards) {
  const scene::Scene scene = robot("allegro_right.sdf", "hand_root");
  // The fingers of this model point along z and close towards x: x becomes the vertical.
  const Eigen::Matrix3d R = palm_up(scene, robot_facts(scene, 0));
  EXPECT_GT((R * Eigen::Vector3d::UnitX()).z(), 0.95);
}

TEST(RobotFacts, StiffnessGivesTheStatedFrequency) {
  // A rod of no mass but a ball of 2 kg, 0.5 m from a hinge: M = 2 · 0.25, and a payload of 1 kg adds 0.25.
  const scene::Scene scene = load(
      "deft: 1\nbodies: {rod: {shapes: [{sphere: {radius: 0.01}, pose: {translation: [0.5, 0, 0]}}], mass: 2, "
      "com: [0.5, 0, 0], inertia: [1.0e-9, 1.0e-9, 1.0e-9], joint: {revolute: [0, 0, 1]}}}\n"
      "robots: [{name: rod, stiffness: 1}]\nstep: {h: 0.1}\n");
  const RobotFacts facts = robot_facts(scene, 0);
  scene::SceneState state = scene.make_state();
  scene.update(facts.q_middle, state);
  const double omega2 = std::pow(2 * std::numbers::pi * 3, 2);
  EXPECT_NEAR(joint_stiffness(scene, state, 0, facts, 0, 3)[0] / (omega2 * 0.5), 1, 0.05);  // two digits
  EXPECT_NEAR(joint_stiffness(scene, state, 0, facts, 1, 3)[0] / (omega2 * 0.75), 1, 0.05);
}

}  // namespace robot_facts_test
}  // namespace deft::authoring
