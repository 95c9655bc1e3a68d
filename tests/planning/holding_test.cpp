// Plans that hold: before all judges, and in worlds that the planner did not see.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "deft/core/index.hpp"
#include "deft/planning/ensemble.hpp"
#include "deft/planning/feasibility/deadline.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/planner.hpp"
#include "deft/planning/reasons.hpp"
#include "deft/plant/plant.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace holding_test {

using Eigen::VectorXd;

const char* const kAll = "plan.judges=[h, h/2, h/5, second-order, worlds]";

std::vector<std::string> near_goal() { return {kAll, "goals.down.box.z=0.2", "plan.nodes=2000"}; }

TEST(Ensemble, WorldsDifferAsTheyShould) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing", {kAll}));
  const Ensemble ensemble = search_ensemble(scene, 3);
  ASSERT_EQ(ensemble.worlds.size(), 6u);
  EXPECT_EQ(ensemble.worlds[0].name, "h/2");
  EXPECT_EQ(ensemble.worlds[1].name, "h/5");
  EXPECT_FALSE(ensemble.worlds[1].second_order);
  EXPECT_EQ(ensemble.worlds[2].name, "second-order");
  const VectorXd q = scene.initial_configuration();
  const double mass = scene.objects()[0].mass;
  for (std::size_t i = 3; i < ensemble.worlds.size(); ++i) {
    const World& world = ensemble.worlds[i];
    EXPECT_TRUE(world.second_order);
    EXPECT_NEAR(std::abs(world.scene.objects()[0].mass / mass - 1), 0.12, 1e-12);
    // Without gravity nothing settles: the box is where it was moved to, 1 mm and 0.01 rad off.
    EXPECT_NEAR((world.q_start - q).head<2>().norm() + (world.q_start - q).segment<2>(2).norm(), 1e-3, 2e-3);
    EXPECT_GT((world.q_start - q).norm(), 5e-3);
  }
  // 0.5 m/s at h = 0.1 s at most.
  EXPECT_LE(ensemble.longest_step.maxCoeff(), 0.05);
  EXPECT_DOUBLE_EQ(ensemble.longest_reach(0), 0.05);
}

TEST(WorldSteps, OfSecondOrderAreThePlants) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing", {kAll}));
  const Ensemble ensemble = search_ensemble(scene, 3);
  const World& world = ensemble.worlds[2];
  WorldSteps steps(world);
  const VectorXd q0 = scene.initial_configuration(), u0 = joint_positions(scene, q0);
  const auto plant =
      plant::make_plant(plant::PlantKind::kConvexSecondOrder, scene,
                        {.step = 0.01, .object_damping = plant::object_damping(scene, std::nullopt, 0.1)});
  plant->reset({.q = q0}, u0);
  VectorXd q = q0, v = VectorXd::Zero(scene.nv()), before = u0;
  for (int k = 1; k <= 20; ++k) {
    const VectorXd u = u0 + k * Eigen::Vector2d(0.005, 0.03);  // into the box
    ASSERT_TRUE(steps.advance(before, u, q, v));
    ASSERT_EQ(plant->advance(u, 0.1), plant::PlantStatus::kOk);
    before = u;
  }
  EXPECT_GT((q - q0).head<3>().norm(), 0.05);
  EXPECT_LT((q - plant->state().q).norm(), 1e-6);
  EXPECT_LT((v - plant->state().v).norm(), 1e-5);
}

TEST(Judges, RefuseAPlanThatWasFoundAtHAlone) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing", {kAll, "plan.first=true"}));
  const Goal goal(scene, scene.spec().goals.front(), scene.settings().plan.wrap_angles);
  const PlannerResult found = make_plan(scene, scene.spec().goals.front(), {.seed = 4});
  ASSERT_TRUE(found.plan.success);
  EXPECT_TRUE(found.plan.verdicts.empty());
  EXPECT_LT(found.first_holding_s, 0);
  Judges judges(scene, goal, 4, 2);
  const std::vector<Verdict> verdicts = judges(found.plan.q.front(), found.plan.u_start, found.plan.commands);
  // It ends elsewhere with shorter steps and in the second-order step; then the drawn worlds are not asked any more.
  ASSERT_EQ(verdicts.size(), 3u);
  const std::vector<std::string> names{"h/2", "h/5", "second-order"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(verdicts[i].judge, names[i]);
    EXPECT_FALSE(verdicts[i].success);
  }
  EXPECT_FALSE(judges.drawn_refused());
  EXPECT_TRUE(judges.refusing().empty());
}

TEST(Judges, DrawnWorldsThatRefuseAPlanAreKnownAfterwards) {
  // Judged by the drawn worlds alone.
  const scene::Scene scene =
      planning_scene(test::load_planning("planar_pushing", {"plan.judges=[h, worlds]", "plan.first=true"}));
  const Goal goal(scene, scene.spec().goals.front(), scene.settings().plan.wrap_angles);
  const PlannerResult found = make_plan(scene, scene.spec().goals.front(), {.seed = 4});
  ASSERT_TRUE(found.plan.success);
  const auto ask = [&](Judges& judges) {
    const std::vector<Verdict> verdicts = judges(found.plan.q.front(), found.plan.u_start, found.plan.commands);
    EXPECT_EQ(verdicts.size(), 1u);
    return verdicts.front();
  };
  Judges judges(scene, goal, 4, 2);
  const Verdict verdict = ask(judges);
  EXPECT_FALSE(verdict.success);
  EXPECT_GE(verdict.share, 0);
  EXPECT_LT(verdict.share, 0.8);
  EXPECT_TRUE(judges.drawn_refused());
  ASSERT_GT(judges.refusing().size(), 2u);
  // Asked again they are not counted twice.
  const std::size_t before = judges.refusing().size();
  EXPECT_EQ(ask(judges).share, verdict.share);
  EXPECT_EQ(judges.refusing().size(), before);
  // The next search has the last of them in the places of the corners.
  const Ensemble plain = search_ensemble(scene, 4), ensemble = search_ensemble(scene, 4, judges.refusing());
  ASSERT_EQ(ensemble.worlds.size(), plain.worlds.size());
  EXPECT_EQ(ensemble.worlds.back().name, judges.refusing().back().name);
  EXPECT_NE(plain.worlds.back().name, ensemble.worlds.back().name);
  // The same for any number of threads; other worlds for another seed.
  Judges alone(scene, goal, 4, 1), others(scene, goal, 5, 1);
  EXPECT_EQ(ask(alone).error.position_m, verdict.error.position_m);
  EXPECT_NE(ask(others).error.position_m, verdict.error.position_m);
}

TEST(Judges, DecideNothingOnceTheTimeIsOver) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing", {kAll}));
  const Goal goal(scene, scene.spec().goals.front(), false);
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  Judges judges(scene, goal, 1, 2);
  const RunClock clock;
  const std::function<bool()> stop;
  Deadline deadline;
  deadline.set(clock, -1, stop);
  const std::vector<Verdict> verdicts = judges(q, u, std::vector<VectorXd>(5, u), &deadline);
  ASSERT_EQ(verdicts.size(), 4u);
  for (const Verdict& verdict : verdicts) {
    EXPECT_FALSE(verdict.judged) << verdict.judge;
    EXPECT_FALSE(verdict.success) << verdict.judge;
    EXPECT_TRUE(std::isnan(verdict.error.position_m)) << verdict.judge;
  }
  // None of them counts as a refusal.
  Tally tally;
  tally.add(verdicts);
  EXPECT_EQ(tally.judged, 0);
  for (const auto& [judge, count] : tally.refused) EXPECT_EQ(count, 0) << judge;
  // Without the deadline all of them answer.
  for (const Verdict& verdict : judges(q, u, std::vector<VectorXd>(5, u))) EXPECT_TRUE(verdict.judged) << verdict.judge;
}

TEST(Judges, WhoDoNotMoveStayWhereTheyAre) {
  // The goal is where the box lies, within 5 mm: all worlds agree.
  const scene::Scene scene = planning_scene(test::load_planning(
      "planar_pushing",
      {kAll, "goals.down={box: {y: 0, z: 0.5, theta: 0}, tolerance: {position: 0.005, rotation: 0.05}}"}));
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  scene::GoalSpec here = scene.spec().goals.front();
  const Goal goal(scene, here, false);
  Judges judges(scene, goal, 1, 1);
  const bool there = goal.reached(q);
  for (const Verdict& verdict : judges(q, u, std::vector<VectorXd>(5, u))) EXPECT_EQ(verdict.success, there);
}

TEST(Planner, MakesPlansThatHold) {
  const scene::Scene scene = test::load_planning("planar_pushing", near_goal());
  const PlannerResult result = make_plan(scene, scene.spec().goals.front(), {.seed = 1, .threads = 1});
  const Plan& plan = result.plan;
  ASSERT_TRUE(plan.success && plan.holds());
  ASSERT_EQ(plan.verdicts.size(), 4u);
  EXPECT_GE(plan.verdicts.back().share, 0.8);
  EXPECT_GE(result.first_holding_s, result.first_solution_s);
  // Commands keep to the limits of speed.
  const VectorXd* before = &plan.u_start;
  for (const VectorXd& u : plan.commands) {
    EXPECT_LE((u - *before).lpNorm<Eigen::Infinity>(), 0.5 * plan.h + 1e-9);
    before = &u;
  }
  // It arrives in worlds that are not the search's: smaller steps, Coulomb's law.
  const Goal goal(scene, scene.spec().goals.front(), scene.settings().plan.wrap_angles);
  for (const plant::PlantKind kind : {plant::PlantKind::kConvexSecondOrder, plant::PlantKind::kStewartTrinkle}) {
    const auto plant = plant::make_plant(
        kind, scene, {.step = 0.002, .object_damping = plant::object_damping(scene, std::nullopt, plan.h)});
    plant->reset({.q = plan.q.front()}, plan.u_start);
    for (const VectorXd& u : plan.commands) ASSERT_EQ(plant->advance(u, plan.h), plant::PlantStatus::kOk);
    ASSERT_EQ(plant->advance(plan.commands.back(), 1.0), plant::PlantStatus::kOk);
    const GoalError error = goal.error(plant->state().q);
    EXPECT_LT(error.position_m, 0.012);
    EXPECT_LT(error.rotation_rad, 0.06);
  }
  // Segments cover it and lead through the tree.
  int at = 0;
  for (const Segment& segment : plan.segments) {
    EXPECT_EQ(segment.first, at);
    at = segment.last;
    EXPECT_LT((result.nodes.at(to_size(segment.node)).q - plan.q[to_size(at)]).norm(), 1e-6);
  }
  EXPECT_EQ(at, static_cast<int>(plan.commands.size()));
  // The same with two threads.
  EXPECT_TRUE(plan.commands == make_plan(scene, scene.spec().goals.front(), {.seed = 1, .threads = 2}).plan.commands);
}

TEST(Judges, LeaveCoulombsLawOutWhereContactIsCompliant) {
  const scene::Scene scene = planning_scene(test::load_planning("planar_pushing", {kAll, "step.compliance=1e-6"}));
  ASSERT_NO_THROW(require_judges(scene));
  const Goal goal(scene, scene.spec().goals.front(), scene.settings().plan.wrap_angles);
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  Judges judges(scene, goal, 1, 2);
  const std::vector<Verdict> verdicts = judges(q, u, std::vector<VectorXd>(1, u));
  ASSERT_FALSE(verdicts.empty());
  EXPECT_FALSE(verdicts.front().success);  // nothing moved
}

#ifdef DEFT_HAS_MUJOCO
TEST(Judges, AskMujocoIfNamed) {
  const scene::Scene scene =
      planning_scene(test::load_planning("planar_pushing", {"plan.judges=[h, mujoco]", "plan.first=true"}));
  const Goal goal(scene, scene.spec().goals.front(), scene.settings().plan.wrap_angles);
  const VectorXd q = scene.initial_configuration(), u = joint_positions(scene, q);
  Judges judges(scene, goal, 1, 1);
  const std::vector<Verdict> verdicts = judges(q, u, std::vector<VectorXd>(3, u));
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].judge, "mujoco");
  EXPECT_FALSE(verdicts[0].success);  // nothing moved: the box is where it was
  EXPECT_NEAR(verdicts[0].error.position_m, goal.error(q).position_m, 1e-3);
}
#endif

TEST(Planner, KeepsTheFirstPlanWhereNoneHolds) {
  const char* const kTight =
      "goals.down={box: {y: 0, z: -0.5, theta: 0}, tolerance: {position: 0.001, rotation: 0.003}}";
  const scene::Scene scene = test::load_planning("planar_pushing", {kAll, "plan.nodes=44", kTight});
  const PlannerResult result = make_plan(scene, scene.spec().goals.front(), {.seed = 1, .threads = 1});
  EXPECT_TRUE(result.plan.success);
  EXPECT_FALSE(result.plan.holds());
  EXPECT_FALSE(result.plan.verdicts.empty());
  EXPECT_LT(result.first_holding_s, 0);
}

}  // namespace holding_test
}  // namespace deft::planning
