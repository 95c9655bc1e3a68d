// A search that is given the first batches of another one goes on as that one did.

#include "deft/planning/feasibility/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "deft/core/diagnostics.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/feasibility/run_clock.hpp"
#include "deft/planning/planner.hpp"
#include "planning/planning_scenes.hpp"
#include "planning/tree_equality.hpp"

namespace deft::planning {
namespace journal_test {

using Eigen::VectorXd;
using test::expect_equal;

class MemoryJournal final : public Journal {
 public:
  MemoryJournal() = default;
  MemoryJournal(const std::vector<std::string>& batches, std::size_t count)
      : left_(batches.begin(), batches.begin() + static_cast<std::ptrdiff_t>(count)) {}
  bool has_next() const override { return !left_.empty(); }
  std::string_view next() const override { return left_.front(); }
  void drop_next() override {
    all.push_back(left_.front());
    left_.pop_front();
  }
  void keep(std::string_view batch) override {
    EXPECT_TRUE(left_.empty());
    all.emplace_back(batch);
    ++kept;
  }

  std::vector<std::string> all;
  int kept = 0;

 private:
  std::deque<std::string> left_;
};

struct Case {
  const char *name, *scene;
  std::vector<std::string> settings;
  bool improves = false;
};

class Continued : public testing::TestWithParam<Case> {};

TEST_P(Continued, RunsEndAsTheOneThatWasNotCutShort) {
  const scene::Scene scene = test::load_planning(GetParam().scene, GetParam().settings);
  const auto plan = [&](Journal& journal, int threads) {
    return make_plan(scene, scene.spec().goals.front(), {.seed = 4, .threads = threads, .journal = &journal});
  };
  MemoryJournal whole_journal;
  const PlannerResult whole = plan(whole_journal, 2);
  const std::size_t batches = whole_journal.all.size();
  ASSERT_GT(batches, 20u);
  EXPECT_EQ(GetParam().improves, whole.plan.success);
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, batches / 3, batches / 2, batches - 1, batches}) {
    MemoryJournal journal(whole_journal.all, count);
    const PlannerResult result = plan(journal, 1);
    EXPECT_FALSE(journal.has_next());
    EXPECT_EQ(journal.kept, static_cast<int>(batches - count));
    expect_equal(result.nodes, whole.nodes);
    EXPECT_EQ(result.plan.commands, whole.plan.commands);
    EXPECT_EQ(result.plan.cost_s, whole.plan.cost_s);
    EXPECT_EQ(result.tried, whole.tried);
    EXPECT_EQ(result.solves, whole.solves);
    EXPECT_EQ(result.tally.ends, whole.tally.ends);
    EXPECT_EQ(result.end, whole.end);
  }
}

const char* const kOutOfReach = "goals.down.tolerance={position: 1e-12, rotation: 1e-12}";

INSTANTIATE_TEST_SUITE_P(
    Searches, Continued,
    testing::Values(
        Case{"rollout", "planar_pushing", {kOutOfReach, "plan.nodes=200"}},
        Case{"under_gravity",
             "allegro_ball",
             {"plan.nodes=100", "goals.half_turn.tolerance={position: 1e-12, rotation: 1e-12}"}},
        Case{"single_step",
             "planar_pushing",
             {kOutOfReach, "plan.search=single-step", "plan.goal_bias=0.3", "plan.goal_once=true", "plan.nodes=600"}},
        Case{"improved", "planar_pushing", {"plan.improve_s=1000", "plan.time_limit_s=1000", "plan.nodes=700"}, true},
        Case{"step_halving", "planar_pushing", {"plan.refine=[2, 5]", "plan.nodes=100", "goals.down.box.z=0.2"}, true},
        Case{"step_halving_and_improvement",
             "planar_pushing",
             {"plan.refine=[2, 5]", "plan.improve_s=1000", "plan.nodes=150", "goals.down.box.z=0.4"},
             true},
        Case{"holding",
             "planar_pushing",
             {"plan.judges=[h, h/5, second-order]", "plan.nodes=80",
              "goals.down={box: {y: 0, z: -0.4, theta: 0}, tolerance: {position: 0.002, rotation: 0.01}}"},
             true}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(Continued, RejectsItsGoalsAgain) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing"));
  const Goal goal(scene, scene.spec().goals.front(), true);
  const VectorXd q = scene.initial_configuration();
  const auto grown = [&](Journal& journal) {
    RunClock clock(&journal);
    auto tree = make_search_tree(scene, goal, q, joint_positions(scene, q), 2);
    EXPECT_EQ(tree->search({.nodes = 2000, .time_limit_s = 1e9, .threads = 1, .clock = &clock}), SearchEnd::kFound);
    tree->reject_goal();
    tree->search({.nodes = 40, .threads = 1, .past_goal = true, .clock = &clock});
    return tree;
  };
  MemoryJournal first;
  const auto whole = grown(first);
  MemoryJournal second(first.all, first.all.size() - 5);
  const auto again = grown(second);
  EXPECT_EQ(second.kept, 5);
  expect_equal(again->nodes(), whole->nodes());
  EXPECT_EQ(again->goal_node(), whole->goal_node());
  EXPECT_EQ(again->best_node(), whole->best_node());
  EXPECT_EQ(again->tried(), whole->tried());
  EXPECT_EQ(again->solves(), whole->solves());
}

TEST(Continued, RepeatsWithoutLookingAtTheTimeOrAtStops) {
  const scene::Scene scene = test::load_planning("planar_pushing", {kOutOfReach, "plan.nodes=100"});
  MemoryJournal first;
  make_plan(scene, scene.spec().goals.front(), {.seed = 1, .journal = &first});
  MemoryJournal second(first.all, 10);
  const PlannerResult result =
      make_plan(scene, scene.spec().goals.front(), {.seed = 1, .stop = [] { return true; }, .journal = &second});
  EXPECT_EQ(result.end, SearchEnd::kStopped);
  EXPECT_EQ(result.tried, 40);
  EXPECT_EQ(second.kept, 0);
}

TEST(Continued, GoesOnAfterAStopWithinABatch) {
  const scene::Scene scene = test::load_planning("planar_pushing", {"plan.refine=[2]", "plan.nodes=60"});
  int asked = 0;
  const auto plan = [&](Journal& journal, int questions) {
    asked = 0;
    return make_plan(
        scene, scene.spec().goals.front(),
        {.seed = 4, .threads = 1, .stop = [&asked, questions] { return ++asked > questions; }, .journal = &journal});
  };
  constexpr int kEndless = 1'000'000'000;
  MemoryJournal uncut;
  const PlannerResult whole = plan(uncut, kEndless);
  const int all = asked;
  // In the first search and in that with step halving.
  for (const double share : {0.01, 0.1, 0.5, 0.97}) {
    MemoryJournal first;
    EXPECT_EQ(plan(first, static_cast<int>(share * all)).end, SearchEnd::kStopped) << share;
    ASSERT_LT(first.all.size(), uncut.all.size());
    EXPECT_TRUE(std::equal(first.all.begin(), first.all.end(), uncut.all.begin(), [](const auto& a, const auto& b) {
      return a.substr(12) == b.substr(12);  // behind the times
    }));
    MemoryJournal second(first.all, first.all.size());
    const PlannerResult again = plan(second, kEndless);
    expect_equal(again.nodes, whole.nodes);
    EXPECT_EQ(again.plan.commands, whole.plan.commands);
    EXPECT_EQ(again.tried, whole.tried);
  }
}

TEST(Continued, CountsTheTimeOfTheRunBefore) {
  const scene::Scene scene = test::load_planning("planar_pushing", {kOutOfReach, "plan.nodes=100"});
  MemoryJournal first;
  const PlannerResult whole = make_plan(scene, scene.spec().goals.front(), {.seed = 1, .journal = &first});
  MemoryJournal second(first.all, first.all.size());
  const PlannerResult again = make_plan(scene, scene.spec().goals.front(), {.seed = 1, .journal = &second});
  EXPECT_GE(again.time_s, whole.nodes.back().time_s);
  for (std::size_t i = 0; i < whole.nodes.size(); ++i) EXPECT_EQ(again.nodes[i].time_s, whole.nodes[i].time_s);
}

TEST(Continued, EndsPiecesByTimeWhereTheyEnded) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing", {kOutOfReach}));
  const Goal goal(scene, scene.spec().goals.front(), true);
  const VectorXd q = scene.initial_configuration();
  const auto grown = [&](Journal& journal, double limit_s) {
    RunClock clock(&journal);
    auto tree = make_search_tree(scene, goal, q, joint_positions(scene, q), 3);
    tree->search({.nodes = 20, .clock = &clock});
    // The first run has no time for this piece.
    tree->search({.nodes = 400, .time_limit_s = limit_s, .clock = &clock});
    if (clock.is_up(clock.seconds() + limit_s)) tree->search({.nodes = 20, .clock = &clock});
    return tree;
  };
  MemoryJournal first;
  const auto whole = grown(first, -1.0);
  EXPECT_EQ(whole->tried(), 40);
  MemoryJournal second(first.all, first.all.size());
  const auto again = grown(second, 1000.0);
  EXPECT_EQ(again->tried(), 40);
  EXPECT_EQ(second.kept, 0);
  expect_equal(again->nodes(), whole->nodes());
  // Where nothing follows, the time of now counts.
  MemoryJournal third(first.all, 5);
  EXPECT_EQ(grown(third, 1000.0)->tried(), 420);
}

TEST(Continued, RefusesAJournalOfAnotherSearch) {
  for (const char* search : {"plan.search=rollout", "plan.search=single-step"}) {
    const scene::Scene scene = test::load_planning("planar_pushing", {kOutOfReach, "plan.nodes=200", search});
    MemoryJournal first;
    make_plan(scene, scene.spec().goals.front(), {.seed = 1, .journal = &first});
    MemoryJournal second(first.all, first.all.size());
    EXPECT_THROW(make_plan(scene, scene.spec().goals.front(), {.seed = 2, .journal = &second}), InputError) << search;
  }
}

TEST(Packed, ValuesComeBackBitForBit) {
  const VectorXd none, some = (VectorXd(3) << -0.0, 1.0 / 3, -1e300).finished();
  const Eigen::MatrixXd matrix = Eigen::MatrixXd::Random(3, 4), flat(0, 7);
  const std::vector<VectorXd> list{some, none, some};
  Packer out;
  out(true, -1, 0.1, none, some, matrix, flat, list);
  bool yes = false;
  int minus = 0;
  double tenth = 0;
  VectorXd none_again = some, some_again;
  Eigen::MatrixXd matrix_again, flat_again;
  std::vector<VectorXd> list_again;
  Unpacker in(out.bytes);
  in(yes, minus, tenth, none_again, some_again, matrix_again, flat_again, list_again);
  EXPECT_TRUE(in.done());
  EXPECT_TRUE(yes && minus == -1 && tenth == 0.1 && none_again.size() == 0 && some_again == some);
  EXPECT_TRUE(std::signbit(some_again(0)));
  EXPECT_EQ(matrix_again, matrix);
  EXPECT_TRUE(flat_again.rows() == 0 && flat_again.cols() == 7);
  EXPECT_EQ(list_again, list);
  for (std::size_t size = 0; size < out.bytes.size(); ++size) {
    Unpacker cut(std::string_view(out.bytes).substr(0, size));
    EXPECT_THROW(cut(yes, minus, tenth, none_again, some_again, matrix_again, flat_again, list_again),
                 std::runtime_error);
  }
}

}  // namespace journal_test
}  // namespace deft::planning
