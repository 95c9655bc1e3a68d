// The metric against its formula, written densely; nearest neighbours against brute force.

#include "deft/planning/search/reachable_metric.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "deft/math/random.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace reachable_metric_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A random node: a pose anywhere, and a B with weak and strong directions.
struct RandomNode {
  VectorXd q, c;
  MatrixXd B;
};

VectorXd random_configuration(const scene::Scene& scene, std::uint64_t seed, std::uint64_t item) {
  VectorXd shift(scene.nv()), q;
  std::uint32_t at = 0;
  for (double& entry : shift) entry = random_normal(seed, item, at++);
  scene.model().integrate(scene.initial_configuration(), shift, q);
  return q;
}

RandomNode random_node(const scene::Scene& scene, const Goal& goal, std::uint64_t item) {
  RandomNode node{random_configuration(scene, 1, item), random_configuration(scene, 2, item),
                  MatrixXd(goal.size(), scene.nu())};
  std::uint32_t at = 0;
  for (double& entry : node.B.reshaped()) entry = random_normal(3, item, at++);
  for (int i = 0; i < goal.size(); ++i) node.B.row(i) *= std::pow(10, -i);
  return node;
}

/// d by a dense inverse, with the goal's own error.
double formula(const Goal& goal, const RandomNode& node, scene::PlanMetric metric, double gamma,
               const VectorXd& q_target) {
  VectorXd e;
  goal.residual(metric == scene::PlanMetric::kLocal ? node.c : node.q, q_target, e);
  if (metric == scene::PlanMetric::kGlobal) return e.squaredNorm();
  e.array() /= goal.weights().array();
  MatrixXd G = node.B * node.B.transpose();
  G += gamma * MatrixXd::Identity(G.rows(), G.cols());
  return e.dot(G.fullPivLu().solve(e));
}

struct Case {
  const char* scene;
  bool wraps;
};

class Metrics : public testing::TestWithParam<Case> {};

TEST_P(Metrics, FollowTheirFormulaAndFindTheNearestNode) {
  const scene::Scene scene = test::load_planning(GetParam().scene);
  const Goal goal(scene, scene.spec().goals.front(), GetParam().wraps);
  for (const scene::PlanMetric metric : {scene::PlanMetric::kLocal, scene::PlanMetric::kGlobal}) {
    const double gamma = 1e-4;
    ReachableMetric all(scene, goal, metric, gamma);
    std::vector<RandomNode> nodes;
    ReachableMetric::Nearest incremental;
    const VectorXd fixed = random_configuration(scene, 4, 999);
    for (int i = 0; i < 1100; ++i) {
      nodes.push_back(random_node(scene, goal, static_cast<std::uint64_t>(i)));
      const RandomNode& node = nodes.back();
      all.add(node.q, node.c, node.B);
      incremental = all.nearest(fixed, i, incremental);
      // Alone, the node is the nearest.
      ReachableMetric alone(scene, goal, metric, gamma);
      alone.add(node.q, node.c, node.B);
      const VectorXd q_target = random_configuration(scene, 5, static_cast<std::uint64_t>(i));
      const double expected = formula(goal, node, metric, gamma, q_target);
      const ReachableMetric::Nearest found = alone.nearest(q_target);
      ASSERT_EQ(found.node, 0);
      EXPECT_NEAR(found.distance, expected, 1e-9 * expected) << "node " << i;
    }
    for (int k = 0; k < 50; ++k) {
      const VectorXd q_target = random_configuration(scene, 6, static_cast<std::uint64_t>(k));
      int best = 0;
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const double d = formula(goal, nodes[i], metric, gamma, q_target);
        if (d < least) best = static_cast<int>(i);
        least = std::min(least, d);
      }
      EXPECT_EQ(all.nearest(q_target).node, best) << k;
    }
    EXPECT_EQ(incremental.node, all.nearest(fixed).node);
    EXPECT_EQ(incremental.distance, all.nearest(fixed).distance);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, Metrics,
                         testing::Values(Case{"planar_pushing", true}, Case{"planar_hand", false},
                                         Case{"allegro_ball", false}, Case{"allegro_plate", false},
                                         Case{"allegro_door", false}),
                         [](const auto& param) { return std::string(param.param.scene); });

TEST(ReachableMetric, MeasuresSmallAndHalfTurnsByTheirAngle) {
  const scene::Scene scene = test::load_planning("allegro_plate");  // its goal names a rotation only
  const Goal goal(scene, scene.spec().goals.front(), false);
  ReachableMetric metric(scene, goal, scene::PlanMetric::kLocal, 1);
  const VectorXd q = scene.initial_configuration();
  metric.add(q, q, MatrixXd::Zero(goal.size(), scene.nu()));
  const int first = goal.rows().front();
  for (const double angle : {0.0, 1e-12, 1e-6, 0.1, 1.0, 3.0, 3.14159265}) {
    VectorXd turn = VectorXd::Zero(scene.nv()), q_target;
    turn(first + 1) = angle;
    scene.model().integrate(q, turn, q_target);
    EXPECT_NEAR(std::sqrt(metric.nearest(q_target).distance), angle, 1e-14 + 1e-13 * angle);
    q_target.segment<4>(goal.free_rotations().front().quaternion) *= -1;  // the same rotation
    EXPECT_NEAR(std::sqrt(metric.nearest(q_target).distance), angle, 1e-14 + 1e-13 * angle);
  }
}

TEST(ReachableMetric, FindsNoNodeThatWasRemoved) {
  const scene::Scene scene = test::load_planning("planar_hand");
  const Goal goal(scene, scene.spec().goals.front(), false);
  ReachableMetric metric(scene, goal, scene::PlanMetric::kLocal, 1e-4);
  for (int i = 0; i < 20; ++i) {
    const RandomNode node = random_node(scene, goal, static_cast<std::uint64_t>(i));
    metric.add(node.q, node.c, node.B);
  }
  const VectorXd q = random_configuration(scene, 4, 1);
  double last = 0;
  std::vector<char> seen(20, 0);
  for (int i = 0; i < 20; ++i) {
    const ReachableMetric::Nearest nearest = metric.nearest(q);
    ASSERT_GE(nearest.node, 0);
    EXPECT_FALSE(seen[nearest.node]);
    EXPECT_GE(nearest.distance, last);
    seen[nearest.node] = 1;
    last = nearest.distance;
    metric.remove(nearest.node);
  }
  EXPECT_EQ(metric.nearest(q).node, -1);
}

TEST(ReachableMetric, WeighsTheGlobalDistanceAsItIsSet) {
  const scene::Scene scene = test::load_planning("planar_hand", {"plan.metric_weights=[4, 9, 0.25]"});
  const Goal goal(scene, scene.spec().goals.front(), false);
  ReachableMetric metric(scene, goal, scene::PlanMetric::kGlobal, 1e-4);
  const RandomNode node = random_node(scene, goal, 0);
  metric.add(node.q, node.c, node.B);
  const VectorXd q = random_configuration(scene, 4, 1);
  VectorXd e;
  goal.residual(node.q, q, e);
  e.array() /= goal.weights().array();
  EXPECT_NEAR(metric.nearest(q).distance, 4 * e(0) * e(0) + 9 * e(1) * e(1) + 0.25 * e(2) * e(2), 1e-10);
}

}  // namespace reachable_metric_test
}  // namespace deft::planning
