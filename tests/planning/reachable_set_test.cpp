// The ellipsoids against the sampled image of the ball of commands, by differences of smoothed steps.

#include "deft/planning/search/reachable_set.hpp"

#include <gtest/gtest.h>

#include "deft/math/random.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/planner.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace reachable_set_test {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// The rows [turn; shift] of a body's point p_B per unit of each command, by central differences of the smoothed step.
MatrixXd difference_image(const scene::Scene& scene, const VectorXd& q, const VectorXd& u, int body,
                          const Vector3d& p_B) {
  constexpr double kStep = 1e-5;
  PlanningSteps steps(scene);
  scene::SceneState state = scene.make_state();
  const auto pose_after = [&](int i, double change) {
    VectorXd moved = u, q_next;
    moved(i) += change;
    steps.reset();
    EXPECT_TRUE(steps.smoothed_step(q, moved, scene.settings().plan.kappa, q_next));
    scene.update(q_next, state);
    return RigidTransform(state.X_WB()[body]);
  };
  MatrixXd T(6, scene.nu());
  for (int i = 0; i < scene.nu(); ++i) {
    const RigidTransform before = pose_after(i, -kStep), after = pose_after(i, kStep);
    T.col(i) << log_so3(after.linear() * before.linear().transpose()) / (2 * kStep),
        (after * p_B - before * p_B) / (2 * kStep);
  }
  return T;
}

/// The image of random commands ‖δu‖ = ε under T lies in the ellipsoid, and touches it at the end of every semi-axis.
void expect_image(const MatrixXd& T, double radius, const Eigen::Matrix3d& axes) {
  const double longest = axes.col(0).norm();
  for (std::uint64_t item = 0; item < 500; ++item) {
    VectorXd du(T.cols());
    std::uint32_t at = 0;
    for (double& entry : du) entry = random_normal(7, item, at++);
    const Vector3d x = T * du.normalized() * radius;
    double level = 0;
    for (int k = 0; k < 3; ++k) {
      const double length = axes.col(k).norm();
      if (length > 1e-3 * longest)
        level += std::pow(x.dot(axes.col(k)) / (length * length), 2);
      else
        EXPECT_LE(std::abs(x.dot(axes.col(k).normalized())), 2e-3 * longest);
    }
    EXPECT_LT(level, 1 + 1e-2);
  }
  for (int k = 0; k < 3; ++k) {
    const double length = axes.col(k).norm();
    if (length <= 1e-3 * longest) continue;
    const Vector3d direction = axes.col(k) / length;
    const VectorXd du = radius * (T.transpose() * direction).normalized();
    EXPECT_NEAR(direction.dot(T * du), length, 2e-3 * length);
    EXPECT_NEAR((T * du - axes.col(k)).norm(), 0, 1e-2 * length);
  }
}

/// The node of a short search at which the next command moves the first body furthest: one in touch.
Node touching_node(const scene::Scene& scene, ReachableSetFinder& finder) {
  const PlannerResult result = make_plan(scene, scene.spec().goals.front(), {.seed = 3, .threads = 1});
  double furthest = -1;
  Node best;
  for (const Node& node : result.nodes) {
    std::vector<ReachableSet> sets;
    if (!finder.find(node.q, node.u, sets)) continue;
    const double reach = sets[0].shift_axes_W.norm() + sets[0].turn_axes_W.norm();
    if (reach > furthest) best = node;
    furthest = std::max(furthest, reach);
  }
  EXPECT_GT(furthest, 1e-2) << "no state in touch";
  return best;
}

class ReachableSetOf : public testing::TestWithParam<const char*> {};

TEST_P(ReachableSetOf, IsTheImageOfTheBallOfCommands) {
  const scene::Scene loaded = test::load_planning(GetParam(), {"plan.nodes=40"});
  const scene::Scene scene = planning_scene(loaded);
  ReachableSetFinder finder(scene);
  ASSERT_FALSE(finder.bodies().empty());
  const Node node = touching_node(loaded, finder);
  std::vector<ReachableSet> sets;
  ASSERT_TRUE(finder.find(node.q, node.u, sets));
  ASSERT_EQ(sets.size(), finder.bodies().size());
  PlanningSteps steps(scene);
  VectorXd c;
  ASSERT_TRUE(steps.smoothed_step(node.q, node.u, scene.settings().plan.kappa, c));
  scene::SceneState state = scene.make_state();
  scene.update(c, state);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const int body = finder.bodies()[i];
    const RigidTransform X_WB = state.X_WB()[body];
    const MatrixXd T = difference_image(scene, node.q, node.u, body, X_WB.inverse() * sets[i].center_W);
    expect_image(T.bottomRows(3), scene.settings().plan.step_norm, sets[i].shift_axes_W);
    expect_image(T.topRows(3), scene.settings().plan.step_norm, sets[i].turn_axes_W);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, ReachableSetOf,
                         testing::Values("planar_pushing", "planar_hand", "allegro_ball", "allegro_door"),
                         [](const auto& param) { return std::string(param.param); });

TEST(ReachableSet, LiesAboutTheCentreOfMassAndInThePlaneOfMotion) {
  const scene::Scene loaded = test::load_planning("planar_hand", {"plan.nodes=40"});
  const scene::Scene scene = planning_scene(loaded);
  ReachableSetFinder finder(scene);
  const Node node = touching_node(loaded, finder);
  std::vector<ReachableSet> sets;
  ASSERT_TRUE(finder.find(node.q, node.u, sets));
  ASSERT_EQ(sets.size(), 1u);
  scene::SceneState state = scene.make_state();
  scene.update(node.q, state);
  const Vector3d p_W = state.X_WB()[finder.bodies()[0]].translation();
  EXPECT_LT((sets[0].com_W - p_W).norm(), 1e-12) << "a ball's centre of mass is its origin";
  EXPECT_LT((sets[0].center_W - p_W).norm(), 0.05) << "a step is short";
  EXPECT_LT(sets[0].shift_axes_W.col(2).norm(), 1e-6);
  EXPECT_LT(sets[0].shift_axes_W.row(0).norm(), 1e-6) << "no way out of the plane";
  EXPECT_LT(sets[0].turn_axes_W.bottomRows(2).norm(), 1e-6) << "turns about x only";
}

TEST(ReachableSets, CoverAllFramesAndTheNodesOfThePlanFirst) {
  const scene::Scene loaded = test::load_planning("planar_pushing");
  const scene::Scene scene = planning_scene(loaded);
  const PlannerResult result = make_plan(loaded, loaded.spec().goals.front(), {.seed = 2, .threads = 1});
  ASSERT_TRUE(result.plan.success);
  const int frames = static_cast<int>(result.plan.q.size());
  const int most = static_cast<int>(result.plan.segments.size()) + 2;
  const ReachableSets sets = reachable_sets(scene, result.plan, result.nodes, most, 1);
  ASSERT_EQ(static_cast<int>(sets.places.size()), frames + std::min(most, static_cast<int>(result.nodes.size())));
  EXPECT_EQ(sets.ellipsoids.size(), sets.places.size() * sets.bodies.size() * 24);
  EXPECT_EQ(sets.radius, loaded.settings().plan.step_norm);
  EXPECT_EQ(sets.kappa, loaded.settings().plan.kappa);
  for (int k = 0; k < frames; ++k) EXPECT_EQ(sets.places[k].frame, k);
  for (const Segment& segment : result.plan.segments) {
    const bool found = std::any_of(sets.places.begin(), sets.places.end(),
                                   [&](const auto& place) { return place.node == segment.node; });
    EXPECT_TRUE(found) << "node " << segment.node;
  }
  EXPECT_EQ(reachable_sets(scene, result.plan, result.nodes, most, 2).ellipsoids, sets.ellipsoids);

  // The numbers of a frame are those of its configuration and last command.
  ReachableSetFinder finder(scene);
  std::vector<ReachableSet> alone;
  const std::size_t k = result.plan.q.size() / 2;
  ASSERT_TRUE(finder.find(result.plan.q[k], result.plan.commands[k - 1], alone));
  const float* row = sets.ellipsoids.data() + k * 24;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(row[3 + i], static_cast<float>(alone[0].center_W(i)));
    EXPECT_EQ(row[6 + i], static_cast<float>(alone[0].shift_axes_W(i, 0)));
    EXPECT_EQ(row[15 + i], static_cast<float>(alone[0].turn_axes_W(i, 0)));
  }
}

TEST(ReachableSets, AreThoseAboutTheJointsInTheSingleStepSearch) {
  const scene::Scene loaded = test::load_planning("planar_pushing", {"plan.nodes=40"});
  const scene::Scene scene = planning_scene(loaded), baseline = planning_scene(test::load_baseline("planar_pushing"));
  ReachableSetFinder about_command(scene), about_joints(baseline);
  const Node node = touching_node(loaded, about_command);
  const VectorXd moved = node.u + VectorXd::Constant(node.u.size(), 0.05);
  std::vector<ReachableSet> sets, others;
  ASSERT_TRUE(about_joints.find(node.q, node.u, sets));
  ASSERT_TRUE(about_joints.find(node.q, moved, others));
  EXPECT_GT(sets[0].shift_axes_W.norm(), 1e-3);
  EXPECT_EQ(sets[0].center_W, others[0].center_W);
  EXPECT_EQ(sets[0].shift_axes_W, others[0].shift_axes_W);
  ASSERT_TRUE(about_command.find(node.q, node.u, sets));
  ASSERT_TRUE(about_command.find(node.q, moved, others));
  EXPECT_GT((sets[0].center_W - others[0].center_W).norm(), 1e-4);
}

}  // namespace reachable_set_test
}  // namespace deft::planning
