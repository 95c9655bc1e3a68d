// Sampled contacts: how often they are tried, and which fingers move to them.

#include "deft/planning/grasps/contact_sampler.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/planning/grasps/baseline_sampler.hpp"
#include "deft/planning/grasps/grasp_renewal.hpp"
#include "deft/planning/search/rollout_tree.hpp"
#include "planning/planning_scenes.hpp"
#include "planning/search_bench.hpp"

namespace deft::planning {
namespace contact_sampler_test {

using Eigen::VectorXd;

/// The grasps of so many draws about the start; without a value where none was found.
std::vector<std::optional<Grasp>> grasps(const std::string& name, const std::vector<std::string>& settings, int draws) {
  const test::SearchBench bench(test::load_planning(name, settings));
  const bool is_baseline = bench.scene.settings().plan.sampler != scene::Sampler::kSurface;
  const ContactSampler sampler(bench.scene, bench.hand);
  std::optional<BaselineSampler> baseline;
  if (is_baseline) baseline.emplace(bench.scene, bench.hand);
  Proximity proximity(bench.scene);
  const VectorXd q = bench.scene.initial_configuration();
  std::vector<std::optional<Grasp>> found;
  for (int k = 0; k < draws; ++k) {
    RandomStream draw(4, static_cast<std::uint64_t>(k));
    found.push_back(baseline ? baseline->sample(q, draw, proximity)
                             : sampler.sample(q, bench.hand.all_fingers(), draw, proximity));
  }
  return found;
}

struct Sampling { const char *scene, *sampler; };
class Attempts : public testing::TestWithParam<Sampling> {};

TEST_P(Attempts, GoOnWhereFewerFoundNothingAndChangeNothingElse) {
  const auto with = [&](const std::string& attempts) {
    return grasps(GetParam().scene, {std::string("plan.sampler=") + GetParam().sampler, "plan.attempts=" + attempts},
                  40);
  };
  const auto once = with("1"), often = with("20");
  int found_once = 0, found_often = 0;
  for (std::size_t k = 0; k < once.size(); ++k) {
    found_once += once[k].has_value();
    found_often += often[k].has_value();
    if (!once[k]) continue;
    ASSERT_TRUE(often[k].has_value()) << k;
    EXPECT_EQ(once[k]->joints, often[k]->joints) << k;
  }
  EXPECT_GT(found_once, 0);
  EXPECT_GT(found_often, found_once);
}

INSTANTIATE_TEST_SUITE_P(Samplers, Attempts,
                         testing::Values(Sampling{"planar_hand", "surface"}, Sampling{"planar_bimanual", "bimanual"}),
                         [](const auto& param) { return std::string(param.param.scene); });

TEST(FingerShare, IsHowOftenOneFingerIsChosen) {
  for (const double share : {0.0, 0.3, 1.0}) {
    const test::SearchBench bench(test::load_planning("planar_hand", {"plan.finger_share=" + std::to_string(share)}));
    const ContactSampler sampler(bench.scene, bench.hand);
    constexpr int kDraws = 2000;
    int single = 0, first = 0;
    for (int k = 0; k < kDraws; ++k) {
      RandomStream draw(6, static_cast<std::uint64_t>(k));
      const std::vector<int> fingers = sampler.choose_fingers(draw);
      ASSERT_TRUE(fingers.size() == 1 || fingers == bench.hand.all_fingers());
      single += fingers.size() == 1;
      first += fingers == std::vector<int>{0};
    }
    // 0.05: more than four standard deviations of so many draws.
    EXPECT_NEAR(static_cast<double>(single) / kDraws, share, share > 0 && share < 1 ? 0.05 : 0);
    // Each of the two fingers as often as the other.
    EXPECT_NEAR(static_cast<double>(first) / kDraws, share / 2, 0.05);
  }
}

/// A scene with the model of an MJCF file as its robot `hand`; `rest` of the file, with the scene's other keys.
scene::Scene scene_of(const std::string& mjcf, const std::string& rest) {
  const std::string folder = ::testing::TempDir() + "hand_" + std::to_string(getpid()) + "/";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "hand.xml") << mjcf;
  const std::string file = folder + "hand.deft.yaml";
  std::ofstream(file) << "deft: 1\ndirectives: [{add_model: {name: hand, file: hand.xml}}]\nstep: {h: 0.1}\n"
                      << "initial: start\n"
                      << rest;
  Diagnostics diagnostics;
  return io::load_scene(file, {}, diagnostics);
}

/// A ball on a shelf that a joint lifts, and a finger on the shelf.
scene::Scene ball_on_shelf() {
  return scene_of(R"(<mujoco model="shelf"><worldbody><body name="shelf">
    <joint name="lift" type="slide" axis="0 0 1" range="-0.1 0.1"/><geom type="box" size="0.2 0.1 0.01" mass="1"/>
    <body name="finger" pos="-0.15 0 0.2"><joint name="hinge" axis="0 1 0" range="-114 114"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.15" size="0.01" mass="0.1"/></body>
  </body></worldbody></mujoco>)",
                  R"(bodies: {ball: {shape: {sphere: {radius: 0.04}}, mass: 0.1, joint: free}}
robots: [{name: hand, stiffness: [100, 10]}]
configurations: {start: {hand: {lift: 0, hinge: 0}, ball: {position: [-0.06, 0, 0.05]}}}
goals: {there: {ball: {position: [0.06, 0, 0.05]}}}
)");
}

TEST(Proximity, SeesJawsThatFollowOneCommandMeet) {
  const scene::Scene scene = scene_of(R"(<mujoco model="jaws"><worldbody><body name="palm"><geom size="0.01" mass="1"/>
    <body name="left" pos="-0.1 0 0.3"><joint name="close" type="slide" axis="1 0 0" range="0 0.1"/>
      <geom type="box" size="0.01 0.02 0.02" mass="0.1"/></body>
    <body name="right" pos="0.1 0 0.3"><joint name="follow" type="slide" axis="-1 0 0" range="0 0.1"/>
      <geom type="box" size="0.01 0.02 0.02" mass="0.1"/></body>
  </body></worldbody><equality><joint joint1="follow" joint2="close"/></equality></mujoco>)",
                                      R"(robots: [{name: hand, stiffness: [100], self_collision: true}]
configurations: {start: {hand: {close: 0.05}}}
)");
  Proximity proximity(scene);
  proximity.place(scene.initial_configuration());
  EXPECT_NEAR(proximity.smallest_gap({1}, 0.2), 0.08, 1e-9);
  EXPECT_FALSE(proximity.is_free({1}, 0.1));
  EXPECT_TRUE(proximity.is_free({1}, 0.05));
}

TEST(ContactSampler, LeavesLinksThatCarryTheObjectWhereTheyAreEveryOtherTime) {
  const test::SearchBench bench(ball_on_shelf());
  const ContactSampler sampler(bench.scene, bench.hand);
  Proximity proximity(bench.scene);
  const VectorXd q = bench.scene.initial_configuration();
  const std::vector<int> fingers = bench.hand.all_fingers();
  const std::vector<char> all{1, 1}, without_shelf{0, 1};
  constexpr int kDraws = 1000;
  int staying = 0;
  for (std::uint64_t k = 0; k < kDraws; ++k) {
    RandomStream draw(4, k);
    const std::vector<char> moves = sampler.choose_moves(q, fingers, draw, proximity);
    ASSERT_TRUE(moves == all || moves == without_shelf);
    staying += moves == without_shelf;
    if (k >= 20) continue;
    const auto grasp = sampler.sample(q, fingers, without_shelf, draw, proximity);
    ASSERT_TRUE(grasp);
    EXPECT_EQ(grasp->moves, without_shelf);
    EXPECT_EQ(grasp->joints(0), 0);
    EXPECT_LT(grasp->joints(1), -0.1);
    // Reached again, the shelf stays; a grasp that needs it elsewhere moves it.
    Grasp again{grasp->joints, all};
    EXPECT_EQ(moves_once_released(bench.scene, bench.hand, again, q, proximity), without_shelf);
    again.joints(0) = 0.02;
    EXPECT_EQ(moves_once_released(bench.scene, bench.hand, again, q, proximity), all);
  }
  EXPECT_NEAR(double(staying) / kDraws, 0.5, 0.07);  // more than four standard deviations
  // Off the shelf, nothing carries it.
  VectorXd q_above = q;
  set_joint_positions(bench.scene, Eigen::Vector2d(-0.05, 0), q_above);
  proximity.place(q_above);
  EXPECT_EQ(proximity.without_carriers(all, bench.hand.surfaces), all);
  proximity.place(q);
  EXPECT_EQ(proximity.without_carriers(all, bench.hand.surfaces), without_shelf);
  EXPECT_EQ(proximity.without_carriers({1, 0}, bench.hand.surfaces), (std::vector<char>{0, 0}));
}

/// How many fingers the transits of a small tree move: the fewest, the most, and how many transits there are.
struct MovedFingers { int fewest = 99, most = 0, transits = 0; };
MovedFingers moved_fingers(const std::string& finger_share) {
  const test::SearchBench bench(test::load_planning(
      "planar_hand", {finger_share, "goals.half_turn.tolerance={position: 0.00001, rotation: 0.00005}"}));
  const VectorXd q = bench.scene.initial_configuration();
  RolloutTree tree(bench.scene, bench.goal, q, joint_positions(bench.scene, q), 1);
  tree.search({.nodes = 16, .threads = 1});
  MovedFingers moved;
  for (const Node& node : tree.nodes()) {
    if (node.kind != NodeKind::kTransit) continue;
    const VectorXd& before = tree.nodes()[to_size(node.parent)].u;
    int fingers = 0;
    for (const Finger& finger : bench.hand.fingers) {
      fingers += std::any_of(node.commands.begin(), node.commands.end(),
                             [&](const VectorXd& u) { return u(finger.commands) != before(finger.commands); });
    }
    moved.fewest = std::min(moved.fewest, fingers);
    moved.most = std::max(moved.most, fingers);
    ++moved.transits;
  }
  return moved;
}

TEST(FingerShare, RegraspsOfOneFingerLeaveTheCommandsOfTheOther) {
  const MovedFingers single = moved_fingers("plan.finger_share=1"), all = moved_fingers("plan.finger_share=0");
  EXPECT_GE(single.transits, 5);
  EXPECT_EQ(single.fewest, 1);
  EXPECT_EQ(single.most, 1);
  EXPECT_GE(all.transits, 5);
  EXPECT_EQ(all.most, 2);
}

}  // namespace contact_sampler_test
}  // namespace deft::planning
