#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "deft/viewer/html_export.hpp"
#include "page_document.hpp"
#include "synthetic_run.hpp"

namespace deft::viewer {
namespace tree_document_test {

using nlohmann::json;

std::string page_of(const SyntheticRun& run, std::size_t max_bytes = 25u << 20) {
  return make_page({.title = "test",
                    .scene_json = run.scene_json,
                    .trajectory = &run.trajectory,
                    .tree = run.tree,
                    .max_bytes = max_bytes});
}

TEST(TreeInPage, HoldsEveryNodeWithItsPosesAndTheSegments) {
  const SyntheticRun run = make_synthetic_run({.steps = 40, .twigs = 7});
  const SearchTree& tree = *run.tree;
  const json document = json::parse(slot_text(page_of(run)));
  EXPECT_EQ(document["tree"]["goal"], "aside");
  EXPECT_EQ(document["tree"]["success"], true);
  EXPECT_EQ(document["tree"]["total"], 19);
  EXPECT_EQ(document["tree"]["segments"],
            json::parse("[[0,10,true,1],[10,20,false,2],[20,30,true,3],[30,40,false,4]]"));
  const auto parent = block<std::uint32_t>(document, "tree_parent"),
             regrasps = block<std::uint32_t>(document, "tree_regrasps");
  const auto kind = block<std::uint8_t>(document, "tree_kind");
  const auto distance = block<float>(document, "tree_distance"), cost = block<float>(document, "tree_cost"),
             time = block<float>(document, "tree_time");
  ASSERT_EQ(parent.size(), 19u);
  EXPECT_EQ(parent[0], 0u);
  for (std::size_t i = 1; i < 19; ++i) {
    EXPECT_EQ(parent[i], tree.nodes[i].parent);
    EXPECT_EQ(kind[i], tree.nodes[i].kind);
    EXPECT_EQ(regrasps[i], tree.nodes[i].regrasps);
    EXPECT_FLOAT_EQ(distance[i], static_cast<float>(tree.nodes[i].distance_m));
    EXPECT_FLOAT_EQ(cost[i], static_cast<float>(tree.nodes[i].cost_s));
    EXPECT_FLOAT_EQ(time[i], static_cast<float>(tree.nodes[i].time_s));
  }
  EXPECT_EQ(block<float>(document, "tree_X_WB"), tree.X_WB);
}

TEST(TreeInPage, IsAbsentFromOtherRunsAndUncheckedWhenCutShort) {
  EXPECT_FALSE(json::parse(slot_text(page_of(make_synthetic_run({.steps = 4})))).contains("tree"));
  const json cut = json::parse(slot_text(page_of(make_synthetic_run({.steps = 0, .twigs = 3, .planned = false}))));
  EXPECT_TRUE(cut["tree"]["success"].is_null());
  EXPECT_TRUE(cut["tree"]["segments"].empty());
  EXPECT_EQ(block<std::uint32_t>(cut, "tree_parent").size(), 11u);
}

TEST(TreeInPage, KeepsThePlanAndTheEarliestNodesAboveTheLimit) {
  SyntheticRun run = make_synthetic_run({.steps = 40, .twigs = 2000});
  // The plan ends at a late node: it and its ancestors stay.
  const int late = 2 * 1999 + 6;
  ASSERT_EQ(run.tree->nodes[late].kind, 2);
  run.tree->segments.back().node = late;
  const std::size_t limit = embedded_page().size() + 200'000;
  const std::string page = page_of(run, limit);
  EXPECT_LE(page.size(), limit);
  const json document = json::parse(slot_text(page));
  EXPECT_EQ(document["tree"]["total"], 4005);
  const auto parent = block<std::uint32_t>(document, "tree_parent");
  const auto cost = block<float>(document, "tree_cost");
  ASSERT_GT(parent.size(), 300u);
  ASSERT_LT(parent.size(), 1000u);
  for (std::size_t i = 1; i < parent.size(); ++i) EXPECT_LT(parent[i], i);
  const auto end = document["tree"]["segments"].back()[3].get<std::size_t>();
  ASSERT_EQ(end, parent.size() - 1) << "the latest node is the plan's";
  EXPECT_FLOAT_EQ(cost[end], static_cast<float>(run.tree->nodes[late].cost_s));
  EXPECT_FLOAT_EQ(cost[parent[end]], static_cast<float>(run.tree->nodes[late - 1].cost_s));
  const auto X_WB = block<float>(document, "tree_X_WB");
  const std::size_t row = 7 * run.trajectory.names_bodies.size();
  ASSERT_EQ(X_WB.size(), parent.size() * row);
  EXPECT_EQ(X_WB[end * row + 18], run.tree->X_WB[late * row + 18]) << "x of the first box";
}

TEST(TreeInPage, HoldsReachableSetsOfTheFramesAndNodesThatAreKept) {
  const SyntheticRun run = make_synthetic_run({.steps = 400, .twigs = 600, .reachable = true});
  const SearchTree::Reachable& sets = run.tree->reachable;
  const json whole = json::parse(slot_text(page_of(run)));
  EXPECT_EQ(whole["tree"]["reachable"], json::parse(R"({"radius":0.3,"kappa":100.0,"bodies":[2]})"));
  EXPECT_EQ(block<float>(whole, "reachable_ellipsoids"), sets.ellipsoids);
  const auto places = block<std::uint32_t>(whole, "reachable_place");
  ASSERT_EQ(places.size(), 401u + 1204u);
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i], i);

  const std::size_t limit = embedded_page().size() + 250'000;
  const std::string page = page_of(run, limit);
  EXPECT_LE(page.size(), limit);
  const json part = json::parse(slot_text(page));
  const auto frame = block<std::uint32_t>(part, "frame"), kept = block<std::uint32_t>(part, "reachable_place");
  const auto ellipsoids = block<float>(part, "reachable_ellipsoids");
  const std::size_t nodes = block<std::uint32_t>(part, "tree_parent").size();
  ASSERT_LT(frame.size(), 401u);
  ASSERT_LT(nodes, 1205u);
  ASSERT_EQ(kept.size(), frame.size() + nodes) << "every kept node but the last of all has its sets";
  ASSERT_EQ(ellipsoids.size(), kept.size() * 24);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    EXPECT_EQ(kept[i], i);
    EXPECT_FLOAT_EQ(ellipsoids[24 * i + 6], 0.02f + 1e-3f * static_cast<float>(frame[i])) << "its own frame's";
  }
  const auto X_WB = block<float>(part, "tree_X_WB");
  const std::size_t row = 7 * run.trajectory.names_bodies.size();
  for (std::size_t n = 0; n < nodes; ++n) {
    EXPECT_EQ(kept[frame.size() + n], frame.size() + n);
    EXPECT_EQ(ellipsoids[24 * (frame.size() + n)], X_WB[n * row + 18]) << "x of the first box at node " << n;
  }
}

TEST(TreeInPage, NamesWhatDoesNotFit) {
  using Spoil = void (*)(SearchTree&);
  const std::pair<Spoil, const char*> cases[] = {
      {[](SearchTree& t) { t.nodes.clear(); }, "the tree has no nodes"},
      {[](SearchTree& t) { t.X_WB.pop_back(); }, "tree.X_WB has"},
      {[](SearchTree& t) { t.nodes[3].parent = 3; }, "tree.nodes[3].parent is 3"},
      {[](SearchTree& t) { t.nodes[0].parent = 0; }, "tree.nodes[0].parent is 0"},
      {[](SearchTree& t) { t.nodes[2].kind = 3; }, "tree.nodes[2].kind is 3"},
      {[](SearchTree& t) { t.segments[1].first = 1; }, "tree.segments[1] holds steps 1 to 4 of 8"},
      {[](SearchTree& t) { t.segments[3].last = 9; }, "tree.segments[3] holds steps 6 to 9 of 8"},
      {[](SearchTree& t) { t.reachable.bodies[0] = 4; }, "tree.reachable names body 4"},
      {[](SearchTree& t) { t.reachable.ellipsoids.pop_back(); }, "tree.reachable.ellipsoids has"},
      {[](SearchTree& t) { t.reachable.places[1].node = 0; }, "tree.reachable is of frame 1 and node 0"},
      {[](SearchTree& t) { t.reachable.places[2].frame = 9; }, "tree.reachable is of frame 9 and node -1 of 9 frames"},
      {[](SearchTree& t) { t.segments[0].node = 40; }, "tree.segments[0] ends at node 40 of 9"},
  };
  for (const auto& [spoil, message] : cases) {
    SyntheticRun run = make_synthetic_run({.steps = 8, .twigs = 2, .reachable = true});
    spoil(*run.tree);
    try {
      page_of(run);
      FAIL() << "not refused: " << message;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << message << " not in: " << error.what();
    }
  }
}

}  // namespace tree_document_test
}  // namespace deft::viewer
