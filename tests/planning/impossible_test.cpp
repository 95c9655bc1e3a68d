// Goals that nothing can reach, named with their proof before any step is solved; and none that something reached.

#include "deft/planning/feasibility/impossible.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "deft/core/index.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/feasibility/random_stream.hpp"
#include "deft/planning/feasibility/reach.hpp"
#include "deft/planning/planner.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace impossible_test {

using Eigen::VectorXd;

struct Case {
  const char* scene;
  const char* goal;
  std::vector<std::string> settings;
  const char* proof;  // words of the detail
};

/// The goal of a scene with other coordinates, tolerances as there.
std::string to(const char* goal, const char* object, const char* where) {
  return std::string("goals.") + goal + "." + object + "=" + where;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      // Beyond reach, without weight.
      {"planar_hand", "half_turn", {to("half_turn", "ball", "{y: 0, z: 2, theta: 3.14}")}, "at the goal: "},
      {"planar_hand", "half_turn", {"configurations.start.ball={y: 0, z: 3, theta: 0}"}, "where it starts: "},
      {"planar_bimanual", "half_turn", {to("half_turn", "cylinder", "{x: 3, y: 0, theta: 0}")}, "at the goal: "},
      {"bimanual_cylinder", "half_turn", {to("half_turn", "cylinder", "{position: [2.5, 0, 0.25]}")}, "at the goal: "},
      {"bimanual_cylinder", "half_turn", {to("half_turn", "cylinder", "{position: [0.5, 0, 3]}")}, "at the goal: "},
      // Beyond reach, with weight: in the air, and on the floor.
      {"bimanual_box", "half_turn", {to("half_turn", "box", "{position: [0.6, 0, 2.5]}")}, "nothing can hold box"},
      {"allegro_ball", "half_turn", {to("half_turn", "ball", "{position: [1, 0, 0.071]}")}, "nothing can hold ball"},
      {"allegro_cube", "z_up_90", {to("z_up_90", "cube", "{position: [-0.07, 0, 1]}")}, "nothing can hold cube"},
      {"pen_in_hand", "yaw", {to("yaw", "pen", "{position: [-0.156, 0, 0.5]}")}, "nothing can hold pen"},
      {"bimanual_box", "half_turn", {to("half_turn", "box", "{position: [9, 0, 0.2]}")}, "cannot get to the goal"},
      {"cylinder_on_table",
       "half_turn",
       {to("half_turn", "cylinder", "{position: [0.5, 8, 0.2495]}")},
       "cannot get to"},
      // Into something that cannot move.
      {"bimanual_box", "half_turn", {to("half_turn", "box", "{position: [0.6, 0, 0.1]}")}, "deep in ground"},
      {"bimanual_box", "half_turn", {to("half_turn", "box", "{position: [0.6, 0, -0.1]}")}, "deep in ground"},
      {"allegro_plate", "upright", {to("upright", "plate", "{z: 0.05}")}, "deep in ground"},
      {"allegro_plate",
       "upright",
       {to("upright", "plate", "{position: [0, -0.5, 0.3], rotation: !Rpy {deg: [90, 0, 0]}}")},
       "deep in wall_y"},
      {"book_pivot", "upright", {to("upright", "book", "{x: 0.35}")}, "deep in wall"},
      {"push_on_table", "aside", {to("aside", "box", "{position: [0.3, 0.1, -0.02]}")}, "deep in table"},
      {"allegro_ball",
       "half_turn",
       {to("half_turn", "ball", "{position: [-0.05, 0, 0.0], rotation: !Rpy {deg: [0, 0, 90]}}")},
       "deep in hand/hand_root"},
      // Upwards without what could carry it.
      {"push_on_table",
       "aside",
       {to("aside", "box", "{position: [0.3, 0.1, 0.6]}"), "step.effort_limits=true",
        "robots=[{name: finger, stiffness: 500, effort_limit: 2}]"},
       "cannot carry box"},
      {"book_pivot",
       "upright",
       {to("upright", "book", "{position: [0, 0, 0.6]}"), "step.effort_limits=true",
        "robots=[{name: finger, stiffness: 500, effort_limit: 3}]"},
       "cannot carry book"},
  };
  return all;
}

const scene::GoalSpec& goal_of(const scene::Scene& scene, const std::string& name) {
  for (const scene::GoalSpec& goal : scene.spec().goals)
    if (goal.target.name == name) return goal;
  throw std::runtime_error("no goal " + name);
}

std::vector<Reason> proofs(const scene::Scene& scene, const scene::GoalSpec& goal) {
  const scene::Scene exact = planning_scene(scene);
  return prove_impossible(exact, Goal(exact, goal, scene.settings().plan.wrap_angles), goal.target.name);
}

TEST(Impossible, EachCaseIsProvenWithoutAStep) {
  EXPECT_GE(cases().size(), 20u);
  for (const Case& tried : cases()) {
    const scene::Scene scene = test::load_planning(tried.scene, tried.settings);
    const PlannerResult result = make_plan(scene, goal_of(scene, tried.goal), {.threads = 1});
    const std::string where = std::string(tried.scene) + " " + tried.settings.front();
    EXPECT_EQ(result.end, SearchEnd::kImpossible) << where;
    EXPECT_EQ(result.solves, 0) << where;
    EXPECT_FALSE(result.plan.success) << where;
    ASSERT_FALSE(result.reasons.empty()) << where;
    EXPECT_EQ(result.reasons.front().reason, kImpossibleReason);
    EXPECT_NE(result.reasons.front().detail.find(tried.proof), std::string::npos)
        << where << ": " << result.reasons.front().detail;
    EXPECT_NE(result.reasons.front().detail.find(" m"), std::string::npos);
  }
}

TEST(Impossible, WhatIsLiftedMaySinkWithinTheToleranceWhileItIsHeld) {
  // 0.5 kg under g: while held it may sink by twice the tolerance of 0.01 m within a step of 0.1 s, so that m (g − 2 ·
  // 1 m/s²) = 3.9 N are needed, of which a share of 0.95 must be there: 3.7 N.
  for (const double limit_N : {3.6, 3.8, 4.1}) {
    const scene::Scene scene = test::load_planning(
        "push_on_table", {to("aside", "box", "{position: [0.3, 0.1, 0.6]}"), "step.effort_limits=true",
                          "robots=[{name: finger, stiffness: 500, effort_limit: " + std::to_string(limit_N) + "}]"});
    EXPECT_EQ(proofs(scene, goal_of(scene, "aside")).size(), limit_N < 3.7 ? 1u : 0u) << limit_N;
  }
}

/// A fingertip before a drawer of 0.055 m stroke, which the goal wants out by `left`.
scene::Scene drawer(const std::string& left) {
  const std::string file = ::testing::TempDir() + "drawer.deft.yaml";
  std::ofstream(file) << R"(deft: 1
name: drawer
directives:
  - add_model: {name: drawer, file: "package://deft_scenes/models/gripper_parallel.sdf"}
  - add_weld: {parent: world, child: "drawer::gripper_base"}
bodies:
  finger: {shape: {sphere: {radius: 0.02}}, joint: {translation: xyz}, mass: 0.1}
robots: [{name: finger, stiffness: 500}]
gravity: [0, 0, 0]
step: {h: 0.1}
configurations: {start: {finger: {x: -0.3}}}
initial: start
goals: {out: {drawer: {left: )"
                      << left << "}, tolerance: {joint: 0.01}}}\n";
  io::SceneFileOptions options;
  options.bundled_scenes = std::string(DEFT_SOURCE_DIR) + "/scenes";
  Diagnostics diagnostics;
  return io::load_scene(file, options, diagnostics);
}

TEST(Impossible, JointsOfObjectsKeepToTheirLimits) {
  const scene::Scene beyond = drawer("0.08"), within = drawer("0.06");
  const std::vector<Reason> found = proofs(beyond, beyond.spec().goals.front());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found.front().detail.find("drawer/left at 0.08 m: 0.025 beyond its limits"), std::string::npos)
      << found.front().detail;
  EXPECT_TRUE(proofs(within, within.spec().goals.front()).empty());
}

TEST(Impossible, NoGoalOfTheBundledScenesIs) {
  for (const char* name :
       {"planar_pushing", "planar_hand", "planar_bimanual", "ball_grazing", "planar_hand_weight", "allegro_ball",
        "allegro_cube", "allegro_pen", "allegro_door", "pen_in_hand", "allegro_plate", "bimanual_box",
        "bimanual_cylinder", "book_pivot", "push_on_table", "cylinder_on_table"}) {
    const scene::Scene scene = test::load_planning(name);
    for (const scene::GoalSpec& goal : scene.spec().goals) {
      const std::vector<Reason> found = proofs(scene, goal);
      EXPECT_TRUE(found.empty()) << name << " " << goal.target.name << ": " << found.front().detail;
    }
  }
}

/// The pose of an object in q as a goal: what `names` says of it.
scene::GoalSpec goal_at(const scene::Scene& scene, const scene::GoalSpec& like, const VectorXd& q) {
  scene::GoalSpec goal = like;
  for (auto& [model, target] : goal.target.models) {
    const auto object = std::find_if(scene.objects().begin(), scene.objects().end(),
                                     [&name = model](const scene::Object& o) { return o.name == name; });
    const auto coordinates = scene.model().coordinates();
    const int first = object->first_q;
    if (scene.model().models()[to_size(object->model)].floating_base()) {
      target.rotation = rotation_from_quat_wxyz(q.segment<4>(first));
      target.position = q.segment<3>(first + 4);
      target.joints = {};
      continue;
    }
    target.joints = {};
    for (int i = first; i < first + object->nq; ++i) {
      const std::string& full = coordinates[to_size(i)].name;
      target.joints.by_name[full.substr(full.find('/') + 1)] = q(i);
    }
  }
  return goal;
}

TEST(Impossible, NoPoseThatASearchReachedIs) {
  int held = 0;
  for (const char* name : {"planar_pushing", "planar_hand", "planar_bimanual", "allegro_pen", "allegro_door",
                           "allegro_plate", "bimanual_box", "bimanual_cylinder", "push_on_table", "book_pivot"}) {
    const scene::Scene scene = test::load_planning(name, {"plan.nodes=16", "plan.first=true"});
    const scene::GoalSpec& goal = scene.spec().goals.front();
    const PlannerResult result = make_plan(scene, goal, {.seed = 4, .threads = 1});
    ASSERT_GT(result.nodes.size(), 2u) << name;
    const scene::Scene exact = planning_scene(scene);
    for (const Node& node : result.nodes) {
      // What can be held for a moment, that is: linearised steps may end deep in the table, but not twice in a row.
      const scene::GoalSpec there = goal_at(scene, goal, node.q);
      const std::vector<VectorXd> rest(3, node.u);
      if (!check_plan(exact, Goal(exact, there, false), node.q, rest, {}, node.u).success) continue;
      ++held;
      const std::vector<Reason> found = proofs(scene, there);
      EXPECT_TRUE(found.empty()) << name << ": " << found.front().detail;
    }
  }
  EXPECT_GT(held, 100);
}

TEST(Reach, BoundsEveryConfiguration) {
  for (const char* name : {"planar_hand", "bimanual_cylinder", "allegro_ball", "allegro_door"}) {
    const scene::Scene scene = test::load_planning(name);
    const std::vector<Reach> reaches = reaches_of(scene);
    ASSERT_FALSE(reaches.empty());
    scene::SceneState state = scene.make_state();
    RandomStream draw(3, 0);
    for (int k = 0; k < 200; ++k) {
      VectorXd q = scene.initial_configuration();
      for (const int i : scene.command_coordinates()) {
        const auto& joint = scene.model().coordinates()[to_size(i)];
        q(i) = draw.uniform(std::max(joint.lower, -3.2), std::min(joint.upper, 3.2));
      }
      scene.update(q, state);
      for (const Reach& reach : reaches) {
        const int body = scene.collision_world().geometries()[to_size(reach.geometry)].body;
        const Eigen::Vector3d p =
            (state.X_WB()[to_size(body)] * scene.collision_world().pose_in_body(reach.geometry)).translation();
        EXPECT_LE(reach.distance({p, 0}, {true, true, true}), 1e-9) << name;
      }
    }
  }
}

TEST(Reach, OfAPlanarArmIsItsLength) {
  // Two links of the planar hand: the ball about the first joint, and nothing across the plane but the links' size.
  const scene::Scene scene = test::load_planning("planar_hand");
  for (const Reach& reach : reaches_of(scene)) {
    EXPECT_TRUE(std::isfinite(reach.ball.radius));
    EXPECT_NEAR(reach.upper.x() - reach.lower.x(), 2 * extents_of(scene)[to_size(reach.geometry)].outer.radius, 1e-9);
    EXPECT_NEAR(std::abs(reach.ball.centre.y()), 0.1, 1e-9);
  }
  // A hand on slides without limits comes everywhere.
  const scene::Scene free = test::load_planning("planar_pushing");
  EXPECT_LE(reaches_of(free).front().distance({{0, 50, 50}, 0}, {true, true, true}), 0);
}

}  // namespace impossible_test
}  // namespace deft::planning
