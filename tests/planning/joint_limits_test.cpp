// Plans keep to the limits of joints: recomputed from their commands and configurations alone.

#include "deft/planning/feasibility/joint_limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "deft/planning/ensemble.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/planner.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace joint_limits_test {

using Eigen::Vector3d;
using Eigen::VectorXd;

/// The largest that a plan asks of any joint.
struct Demand {
  double command_speed = 0, joint_speed = 0;  // [m/s]
  double effort_N = 0;                        // of springs
};

Demand demand_of(const Plan& plan, double stiffness) {
  Demand demand;
  VectorXd u_before = plan.u_start;
  for (std::size_t k = 0; k < plan.commands.size(); ++k) {
    // planar_pushing: the hand's slides are the first two coordinates.
    const VectorXd &q = plan.q[k + 1], &u = plan.commands[k];
    demand.command_speed = std::max(demand.command_speed, (u - u_before).cwiseAbs().maxCoeff() / plan.h);
    demand.joint_speed = std::max(demand.joint_speed, (q - plan.q[k]).head<2>().cwiseAbs().maxCoeff() / plan.h);
    demand.effort_N = std::max(demand.effort_N, stiffness * (u - q.head<2>()).cwiseAbs().maxCoeff());
    u_before = u;
  }
  return demand;
}

TEST(JointSpeeds, AreWhatIsStatedAndOtherwiseThePlans) {
  const scene::Scene scene = test::load_planning(
      "planar_pushing", {"plan.slide_speed=0.4", "robots=[{name: hand, stiffness: 100, velocity_limit: [0.1, 3]}]"});
  const JointSpeeds speeds = joint_speeds(scene);
  EXPECT_TRUE(speeds.any_stated());
  EXPECT_EQ(speeds.stated, Eigen::Vector2d(0.1, 3));
  EXPECT_EQ(speeds.free, Eigen::Vector2d(0.1, 3));
  EXPECT_EQ(speeds.touching, Eigen::Vector2d(0.1, 0.4));
  const JointSpeeds plain = joint_speeds(test::load_planning("planar_pushing", {"plan.slide_speed=0.4"}));
  EXPECT_FALSE(plain.any_stated());
  EXPECT_EQ(plain.free, Eigen::Vector2d(0.4, 0.4));
  EXPECT_EQ(plain.touching, Eigen::Vector2d(0.4, 0.4));
  const scene::Scene hinges =
      test::load_planning("planar_hand", {"plan.joint_speed=0.3",
                                          "robots=[{name: left, stiffness: [50, 25], velocity_limit: {joint_2: 0.1}}, "
                                          "{name: right, stiffness: [50, 25]}]"});
  EXPECT_EQ(joint_speeds(hinges).free, Eigen::Vector4d(0.3, 0.1, 0.3, 0.3));
}

TEST(JointSpeeds, PaceTheSearchForPlansThatHold) {
  const scene::Scene scene = planning_scene(
      test::load_planning("planar_pushing", {"robots=[{name: hand, stiffness: 100, velocity_limit: [0.1, 2]}]"}));
  const Ensemble ensemble = single_ensemble(scene);
  // Free motions go as fast as the hand may, objects are never moved faster than the plan says: h = 0.1 s, 0.4 of it.
  EXPECT_TRUE(ensemble.longest_free.isApprox(Eigen::Vector2d(0.01, 0.2)));
  EXPECT_TRUE(ensemble.longest_reach.isApprox(Eigen::Vector2d(0.01, 0.05)));
  EXPECT_TRUE(ensemble.longest_step.isApprox(Eigen::Vector2d(0.004, 0.02)));
}

TEST(DriveLimits, CountTheRobotsOwnWeight) {
  constexpr double kLimit_N = 5, kStiffness = 500, kWeight_N = 0.1 * 9.81, kHeld_m = kWeight_N / kStiffness;
  const auto scene_with = [](std::vector<std::string> settings) {
    settings.emplace_back("robots=[{name: finger, stiffness: 500, effort_limit: 5}]");
    return test::load_planning("push_on_table", settings);
  };
  const scene::Scene scene = scene_with({});
  const VectorXd q = scene.initial_configuration();
  const Vector3d joints = joint_positions(scene, q), reach = Vector3d::Constant(kLimit_N / kStiffness);
  const auto range_of = [&](const scene::Scene& its) {
    DriveLimits limits(its);
    std::pair<VectorXd, VectorXd> range{Vector3d::Constant(-10), Vector3d::Constant(10)};
    limits.narrow(q, range.first, range.second);
    return range;
  };
  // What carries the weight is taken off the push upwards and added to that downwards.
  const auto [lower, upper] = range_of(scene);
  EXPECT_TRUE(lower.isApprox(joints - reach - Vector3d(0, 0, kHeld_m), 1e-12));
  EXPECT_TRUE(upper.isApprox(joints + reach - Vector3d(0, 0, kHeld_m), 1e-12));
  // Springs that carry it themselves have all of it.
  const auto [hanging_lower, hanging_upper] = range_of(scene_with({"step.robot_gravity=true"}));
  EXPECT_TRUE(hanging_lower.isApprox(joints - reach, 1e-12));
  EXPECT_TRUE(hanging_upper.isApprox(joints + reach, 1e-12));
  // At the end of such a range the drive gives all it has.
  DriveLimits limits(scene);
  EXPECT_NEAR(limits.share(q, q, upper, 0.1), 1, 1e-9);
  EXPECT_NEAR(limits.share(q, q, joints, 0.1), kWeight_N / kLimit_N, 1e-9);
  // Limits of the range that was given stay.
  VectorXd low = joints, high = joints;
  limits.narrow(q, low, high);
  EXPECT_TRUE(low == joints && high == joints);
}

TEST(DriveLimits, ADamperOfTheDriveIsPartOfItsEffort) {
  const scene::Scene scene = test::load_planning(
      "planar_pushing", {"robots=[{name: hand, stiffness: 100, effort_limit: 10}]", "step.joint_damping=20"});
  DriveLimits limits(scene);
  const VectorXd q = scene.initial_configuration();
  VectorXd before = q;
  before(0) -= 0.01;  // 0.1 m/s
  const VectorXd u = q.head<2>() + Eigen::Vector2d(0.05, 0);
  EXPECT_NEAR(limits.share(before, q, u, 0.1), (100 * 0.05 - 20 * 0.1) / 10, 1e-9);
}

TEST(DriveLimits, WithoutAnyNothingIsNarrowed) {
  const scene::Scene scene =
      test::load_planning("planar_pushing", {"robots=[{name: hand, stiffness: 100, effort_limit: 0}]"});
  DriveLimits limits(scene);
  EXPECT_FALSE(limits.any_stated());  // 0 is no statement
  VectorXd lower = Eigen::Vector2d(-1, -2), upper = Eigen::Vector2d(3, 4);
  limits.narrow(scene.initial_configuration(), lower, upper);
  EXPECT_EQ(lower, Eigen::Vector2d(-1, -2));
  EXPECT_EQ(upper, Eigen::Vector2d(3, 4));
}

TEST(PlanningSteps, RefuseARobotThatCannotCarryItself) {
  const scene::Scene scene = planning_scene(
      test::load_planning("push_on_table", {"robots=[{name: finger, stiffness: 500, effort_limit: 0.9}]"}));
  try {
    PlanningSteps steps(scene);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("joint 'finger/z' cannot carry the robot's own weight at the start: that takes 0.981 N, its "
                        "effort limit is 0.9"),
              std::string::npos)
        << text;
  }
}

TEST(Plans, KeepToStatedLimits) {
  const std::vector<std::string> near{"goals.down.box.z=0.3"};
  const auto plan_with = [&](const std::string& robots) {
    std::vector<std::string> settings = near;
    if (!robots.empty()) settings.push_back(robots);
    const scene::Scene scene = test::load_planning("planar_pushing", settings);
    return make_plan(scene, scene.spec().goals.front(), {.seed = 3, .threads = 1}).plan;
  };
  const Plan free = plan_with(""),
             kept = plan_with("robots=[{name: hand, stiffness: 100, velocity_limit: 0.2, effort_limit: 8}]");
  ASSERT_TRUE(free.success && kept.success);
  // The first plan at h alone knows no limits but those that are stated.
  const Demand without = demand_of(free, 100), with = demand_of(kept, 100);
  EXPECT_GT(without.command_speed, 0.3);
  EXPECT_GT(without.effort_N, 9);
  EXPECT_EQ(free.effort_share, 0);
  EXPECT_LE(with.command_speed, 0.2 + 1e-9);
  EXPECT_LE(with.joint_speed, 0.2 * 1.001);
  EXPECT_LE(with.effort_N, 8 * 1.001);
  EXPECT_NEAR(kept.effort_share, with.effort_N / 8, 1e-9);
  EXPECT_NEAR(kept.velocity_share, with.joint_speed / 0.2, 1e-9);
  EXPECT_EQ(free.velocity_share, 0);
}

TEST(Plans, OfASlowerHandTakeLonger) {
  const auto duration_s = [&](const std::string& limit) {
    const scene::Scene scene =
        test::load_planning("planar_pushing", {"plan.judges=[h, h/2]", "goals.down.box.z=0.3", "plan.nodes=2000",
                                               "robots=[{name: hand, stiffness: 100, velocity_limit: " + limit + "}]"});
    const Plan plan = make_plan(scene, scene.spec().goals.front(), {.seed = 1, .threads = 1}).plan;
    EXPECT_TRUE(plan.holds()) << limit;
    return static_cast<double>(plan.commands.size()) * plan.h;
  };
  // The box has to go 0.2 m, at 0.4 of the hand's limit at most.
  const double slow_s = duration_s("0.1");
  EXPECT_GE(slow_s, 0.2 / (0.4 * 0.1));
  EXPECT_GT(slow_s, duration_s(".inf"));
}

}  // namespace joint_limits_test
}  // namespace deft::planning
