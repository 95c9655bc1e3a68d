// What grasps resist, against closed forms and against all directions of wrenches.

#include "deft/planning/grasps/closure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/planner.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace closure_test {

using Eigen::Vector3d;
using Eigen::VectorXd;

const Vector3d kSpace = Vector3d::Zero(), kZ = Vector3d::UnitZ();

/// A push on a disc of radius r about the origin, inwards from the direction of `angle`.
Push on_disc(double angle, double radius, double mu) {
  const Vector3d out(std::cos(angle), std::sin(angle), 0);
  return {.p_W = radius * out, .nhat_W = -out, .mu = mu};
}

TEST(Closure, OfTwoOppositeFingersOnADisc) {
  // Pushed from both sides along x. Along x all force of one finger counts; along y, and about z with half of the
  // force of each on an arm of the radius, the share μ of it.
  for (const double mu : {0.0, 0.3, 0.8}) {
    const Closure closure = closure_of({on_disc(0, 0.2, mu), on_disc(M_PI, 0.2, mu)}, Vector3d::Zero(), 0.2, kZ);
    EXPECT_NEAR(closure.least, mu, 1e-9) << mu;
    EXPECT_NEAR(closure.mean, (2 + 4 * mu) / 6, 1e-9) << mu;
  }
}

TEST(Closure, IsThereOnlyIfEveryWrenchIsResisted) {
  EXPECT_EQ(closure_of({}, Vector3d::Zero(), 1, kZ).least, 0);
  // One finger; two beside each other; three without friction, which let a disc turn.
  EXPECT_EQ(closure_of({on_disc(0, 1, 0.5)}, Vector3d::Zero(), 1, kZ).least, 0);
  EXPECT_NEAR(closure_of({on_disc(0, 1, 0.5), on_disc(0.5, 1, 0.5)}, Vector3d::Zero(), 1, kZ).least, 0, 1e-9);
  EXPECT_NEAR(closure_of({on_disc(0, 1, 0), on_disc(2.1, 1, 0), on_disc(4.2, 1, 0)}, Vector3d::Zero(), 1, kZ).least, 0,
              1e-9);
  // Two opposite points do not hold a body in space against turning about their line; a third does.
  std::vector<Push> pushes{on_disc(0, 1, 0.5), on_disc(M_PI, 1, 0.5)};
  const Closure two = closure_of(pushes, Vector3d::Zero(), 1, kSpace);
  EXPECT_NEAR(two.least, 0, 1e-9);
  EXPECT_GT(two.mean, 0.3);
  pushes = {on_disc(0, 1, 0.5), on_disc(2 * M_PI / 3, 1, 0.5), on_disc(4 * M_PI / 3, 1, 0.5)};
  EXPECT_GT(closure_of(pushes, Vector3d::Zero(), 1, kSpace).least, 0.1);
  // More friction, more reserve.
  EXPECT_GT(closure_of({on_disc(0, 1, 0.5), on_disc(2.5, 1, 0.5)}, Vector3d::Zero(), 1, kZ).least,
            closure_of({on_disc(0, 1, 0.4), on_disc(2.5, 1, 0.4)}, Vector3d::Zero(), 1, kZ).least + 0.01);
}

/// min over y with ‖y‖_∞ = 1 of max_k w_k·y, on a grid of the cube's faces: the radius of the cross-polytope, since
/// ‖y‖_∞ is the support function of the one of radius 1.
double least_by_directions(const std::vector<Vector3d>& wrenches) {
  constexpr int kGrid = 60;
  double least = 1e9;
  for (int face = 0; face < 3; ++face)
    for (const double side : {-1.0, 1.0})
      for (int i = -kGrid; i <= kGrid; ++i)
        for (int j = -kGrid; j <= kGrid; ++j) {
          Vector3d y;
          y(face) = side;
          y((face + 1) % 3) = i / double(kGrid);
          y((face + 2) % 3) = j / double(kGrid);
          double support = 0;
          for (const Vector3d& w : wrenches) support = std::max(support, w.dot(y));
          least = std::min(least, support);
        }
  return least;
}

TEST(Closure, IsTheLeastOverAllDirections) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> angle(0, 2 * M_PI), friction(0.1, 1);
  int closed = 0;
  for (int k = 0; k < 20; ++k) {
    std::vector<Push> pushes;
    std::vector<Vector3d> wrenches;  // force along x and y, torque per radius
    for (int i = 0; i < 3; ++i) {
      const double a = angle(random), mu = friction(random);
      pushes.push_back(on_disc(a, 0.1, mu));
      // On a disc the torque of a finger is its tangential force times the radius.
      for (const double t : {-mu, mu})
        wrenches.emplace_back(-std::cos(a) - t * std::sin(a), -std::sin(a) + t * std::cos(a), t);
    }
    const double least = closure_of(pushes, Vector3d::Zero(), 0.1, kZ).least;
    // The grid is off by half its spacing in two entries times the wrench's.
    EXPECT_NEAR(least, least_by_directions(wrenches), 0.03) << k;
    closed += least > 0.03;
  }
  EXPECT_GE(closed, 4);
}

TEST(Closure, OfWhatLiesOnATableIsThatOfTheTableAndTheWeight) {
  const scene::Scene scene = planning_scene(test::load_planning("push_on_table"));
  const Goal goal(scene, scene.spec().goals.front(), false);
  const Hand hand(scene, goal);
  Proximity proximity(scene);
  VectorXd q = scene.initial_configuration();
  const auto at = [&](double share) { return closure_at(scene, hand, q, share, 1e-3, proximity); };
  EXPECT_GT(at(0.8).least, 0.05);
  EXPECT_GT(at(1).least, at(0.8).least);
  EXPECT_NEAR(at(0).least, 0, 1e-9);  // ice
  q.tail<3>().z() += 0.1;             // in mid-air
  EXPECT_EQ(at(1).least, 0);
  EXPECT_EQ(at(1).mean, 0);
}

TEST(Planner, ChoosesGraspsThatResistIfAsked) {
  // The same draws: of one grasp that is pressed, and of six the best.
  const auto plan_with = [](const std::string& setting) {
    const scene::Scene scene = test::load_planning("planar_hand_weight", {setting, "plan.nodes=24"});
    return make_plan(scene, scene.spec().goals.front(), {.seed = 1, .threads = 1});
  };
  const PlannerResult one = plan_with("plan.closure_candidates=1"), six = plan_with("plan.closure_candidates=6");
  EXPECT_FALSE(one.plan.commands == six.plan.commands);
}

}  // namespace closure_test
}  // namespace deft::planning
