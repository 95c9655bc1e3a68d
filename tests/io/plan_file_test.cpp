#include "deft/io/runs/plan_file.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include "deft/core/diagnostics.hpp"
#include "io/own_folder.hpp"

namespace deft::io {
namespace plan_file_test {

namespace fs = std::filesystem;

class SearchFolder : public OwnFolder {};

const PlanHeader kHeader{"turned", "convex", "0123456789abcdef", 18446744073709551615ULL, 123.5};

/// One coordinate, one command, the world and a body.
dynamics::Trajectory motion_of(int steps) {
  dynamics::Trajectory motion;
  motion.names_q = motion.names_v = motion.names_u = {"hand/x"};
  motion.u_index_q = {0};
  motion.names_bodies = {"world", "hand"};
  motion.status_words = {"Solved"};
  const std::array<double, 7> here = {1, 0, 0, 0, 0, 0, 0};
  for (int k = 0; k <= steps; ++k) {
    motion.t.push_back(0.1 * k);
    motion.q.push_back({1.0 * k});
    motion.X_WB.push_back({here, here});
    if (k == 0) continue;
    motion.u.push_back({1.0 * k});
    motion.steps.emplace_back();
    motion.contact_offset.push_back(0);
  }
  return motion;
}

/// A chain of alternating transits and roll-outs; node k has k commands.
std::vector<planning::Node> chain_of(int count) {
  std::vector<planning::Node> nodes;
  for (int k = 0; k < count; ++k) {
    planning::Node node;
    node.parent = k - 1;
    node.kind = k == 0  ? planning::NodeKind::kRoot
                : k % 2 ? planning::NodeKind::kTransit
                        : planning::NodeKind::kRollout;
    node.q = Eigen::VectorXd::Constant(1, 0.5 * k);
    node.u = Eigen::VectorXd::Constant(1, -0.25 * k);
    for (int i = 0; i < k; ++i) node.commands.push_back(Eigen::VectorXd::Constant(1, 10 * k + i));
    node.distance = 1.0 / (1 + k);
    node.cost_s = 2.5 * k;
    node.regrasps = (k + 1) / 2;
    node.time_s = 0.125 * k;
    nodes.push_back(node);
  }
  return nodes;
}

std::vector<float> poses_of(std::size_t nodes) {
  std::vector<float> X_WB(nodes * 14);
  for (std::size_t i = 0; i < X_WB.size(); ++i) X_WB[i] = 0.1f * static_cast<float>(i);
  return X_WB;
}

void expect_equal(const std::vector<planning::Node>& read, const std::vector<planning::Node>& written) {
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].parent, written[i].parent);
    EXPECT_EQ(read[i].kind, written[i].kind);
    EXPECT_EQ(read[i].q, written[i].q);
    EXPECT_EQ(read[i].u, written[i].u);
    EXPECT_EQ(read[i].commands, written[i].commands);
    EXPECT_EQ(read[i].distance, written[i].distance);
    EXPECT_EQ(read[i].cost_s, written[i].cost_s);
    EXPECT_EQ(read[i].regrasps, written[i].regrasps);
    EXPECT_EQ(read[i].time_s, written[i].time_s);
  }
}

TEST_F(SearchFolder, GivesBackTreeAndPlanAsTheyWereWritten) {
  const auto nodes = chain_of(6);
  const auto X_WB = poses_of(6);
  planning::Plan plan;
  plan.segments = {{0, 1, true, 1}, {1, 3, false, 2}, {3, 5, false, -1}};
  plan.h = 0.1;
  plan.success = true;
  {
    SearchWriter writer(folder, {"chain", "deft: 1", "{}", "1"}, kHeader, motion_of(0));
    writer.publish(motion_of(5), {nodes, X_WB}, plan);
  }
  EXPECT_EQ(read_run(folder).trajectory.num_steps(), 5);
  const auto stored = read_plan(folder);
  ASSERT_TRUE(stored);
  EXPECT_EQ(read_plan_header(folder)->goal, stored->header.goal);
  expect_equal(stored->nodes, nodes);
  EXPECT_EQ(stored->X_WB, X_WB);
  ASSERT_EQ(stored->segments.size(), 3u);
  EXPECT_EQ(stored->segments[1].first, 1);
  EXPECT_EQ(stored->segments[1].last, 3);
  EXPECT_FALSE(stored->segments[1].transit);
  EXPECT_TRUE(stored->segments[0].transit);
  EXPECT_EQ(stored->segments[1].node, 2);
  EXPECT_EQ(stored->segments[2].node, -1);
  EXPECT_EQ(stored->success, true);
  EXPECT_EQ(stored->h, 0.1);
  EXPECT_EQ(stored->header.goal, kHeader.goal);
  EXPECT_EQ(stored->header.seed, kHeader.seed);
  EXPECT_EQ(stored->header.kappa, kHeader.kappa);
  EXPECT_EQ(stored->header.scene_hash, kHeader.scene_hash);
  EXPECT_FALSE(fs::exists(folder / "run.h5.work"));
}

TEST_F(SearchFolder, GivesBackReachableSetsAndHasNoneWhereNoneWereWritten) {
  const auto nodes = chain_of(2);
  const auto X_WB = poses_of(2);
  planning::ReachableSets sets{.radius = 0.3, .kappa = std::numeric_limits<double>::infinity(), .bodies = {1, 4}};
  sets.places = {{.frame = 0}, {.frame = 2}, {.node = 1}};
  for (int i = 0; i < 3 * 2 * 24; ++i) sets.ellipsoids.push_back(0.25f * static_cast<float>(i));
  planning::Plan plan;
  plan.h = 0.1;
  {
    SearchWriter writer(folder, {"chain", "deft: 1", "{}", "1"}, kHeader, motion_of(0));
    writer.publish(motion_of(2), {nodes, X_WB}, plan);
  }
  EXPECT_TRUE(read_plan(folder)->reachable.places.empty()) << "a run like those written before";
  {
    SearchWriter writer(folder, {"chain", "deft: 1", "{}", "1"}, kHeader, motion_of(0));
    writer.publish(motion_of(2), {nodes, X_WB}, plan, sets);
  }
  const planning::ReachableSets read = read_plan(folder)->reachable;
  EXPECT_EQ(read.radius, 0.3);
  EXPECT_EQ(read.kappa, sets.kappa);
  EXPECT_EQ(read.bodies, sets.bodies);
  EXPECT_EQ(read.ellipsoids, sets.ellipsoids);
  ASSERT_EQ(read.places.size(), 3u);
  EXPECT_EQ(read.places[1].frame, 2);
  EXPECT_EQ(read.places[1].node, -1);
  EXPECT_EQ(read.places[2].frame, -1);
  EXPECT_EQ(read.places[2].node, 1);

  sets.ellipsoids.resize(2 * 2 * 24);  // one place is without numbers
  {
    SearchWriter writer(folder, {"chain", "deft: 1", "{}", "1"}, kHeader, motion_of(0));
    writer.publish(motion_of(2), {nodes, X_WB}, plan, sets);
  }
  EXPECT_THROW(read_plan(folder), InputError);
}

TEST_F(SearchFolder, PublishesNodesByItselfWhileTheSearchGoesOn) {
  const auto nodes = chain_of(9);
  const auto X_WB = poses_of(9);
  SearchWriter writer(folder, {"chain", "deft: 1", "{}", "1"}, kHeader, motion_of(0));
  const auto wait_for = [&](std::size_t count) {
    std::optional<StoredPlan> stored;
    for (int k = 0; k < 500 && !(stored && stored->nodes.size() >= count); ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (fs::exists(folder / "run.h5")) stored = read_plan(folder);
    }
    return stored;
  };
  const auto part = [&](std::size_t from, std::size_t count) {
    return PosedNodes{std::span(nodes).subspan(from, count), std::span(X_WB).subspan(14 * from, 14 * count)};
  };
  writer.append(part(0, 1));
  ASSERT_TRUE(wait_for(1));
  writer.append(part(1, 3));
  writer.append(part(4, 3));
  const auto stored = wait_for(7);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->header.goal, "turned");
  expect_equal(stored->nodes, chain_of(7));
  EXPECT_EQ(stored->X_WB, std::vector<float>(X_WB.begin(), X_WB.begin() + 98));
  EXPECT_FALSE(stored->success.has_value());
  EXPECT_TRUE(stored->segments.empty());
  EXPECT_EQ(read_run(folder).trajectory.num_steps(), 0);
  writer.append(part(7, 2));
  expect_equal(wait_for(9)->nodes, nodes);
}

TEST_F(SearchFolder, KeepsWhatIsPendingWhenTheWriterGoes) {
  const auto nodes = chain_of(3);
  const auto X_WB = poses_of(3);
  SearchWriter(folder, {"chain", "deft: 1", "{}", "1"}, kHeader, motion_of(0)).append({nodes, X_WB});
  expect_equal(read_plan(folder)->nodes, nodes);
}

TEST_F(SearchFolder, ReadsNoPlanFromASimulationAndRefusesABrokenTree) {
  {
    RunWriter(folder, {"sim", "deft: 1", "{}", "1"}, motion_of(0)).append(motion_of(3));
  }
  EXPECT_FALSE(read_plan(folder).has_value());
  EXPECT_THROW(read_plan(folder / "nowhere"), InputError);

  auto nodes = chain_of(3);
  nodes[1].parent = 2;
  const auto X_WB = poses_of(3);
  SearchWriter(folder, {"chain", "deft: 1", "{}", "1"}, kHeader, motion_of(0)).append({nodes, X_WB});
  try {
    read_plan(folder);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("node 1 of its tree is broken"), std::string::npos) << error.what();
  }
}

}  // namespace plan_file_test
}  // namespace deft::io
