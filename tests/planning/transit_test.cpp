// Fingers, sampled grasps and the way to them, on the bundled hands.

#include "deft/planning/grasps/transit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>

#include "deft/planning/ensemble.hpp"
#include "deft/planning/feasibility/random_stream.hpp"
#include "planning/planning_scenes.hpp"
#include "planning/search_bench.hpp"

namespace deft::planning {
namespace transit_test {

using Eigen::VectorXd;

/// What a worker of the planner holds.
struct Bench : test::SearchBench {
  Proximity proximity;
  ContactSampler sampler;
  Transit transit;

  explicit Bench(const std::string& name, const std::vector<std::string>& settings = {})
      : SearchBench(test::load_planning(name, settings)),
        proximity(scene),
        sampler(scene, hand),
        transit(hand, steps, proximity) {}
};

TEST(Hand, FindsTheFingersOfAHand) {
  const Bench planar("planar_hand"), allegro("allegro_ball"), floating("allegro_pen");
  ASSERT_EQ(planar.hand.fingers.size(), 2u);
  EXPECT_EQ(planar.hand.fingers[0].commands, (std::vector<int>{0, 1}));
  EXPECT_EQ(allegro.hand.fingers.size(), 4u);
  ASSERT_EQ(floating.hand.fingers.size(), 4u);
  // The slides move all fingers, so no finger alone may move them.
  const std::vector<char> moves = floating.hand.commands_of({1});
  EXPECT_EQ(std::count(moves.begin(), moves.end(), 1), 4);
  EXPECT_EQ(moves[0] + moves[1] + moves[2], 0);
  const std::vector<char> all = floating.hand.commands_of({0, 1, 2, 3});
  EXPECT_EQ(std::count(all.begin(), all.end(), 1), 19);
}

class Systems : public testing::TestWithParam<const char*> {};

TEST_P(Systems, GraspsTouchWithinTheStandoffAndCollideWithNothing) {
  Bench bench(GetParam());
  const double standoff = bench.scene.settings().plan.standoff_m;
  const VectorXd q = bench.scene.initial_configuration();
  int found = 0;
  for (std::uint64_t k = 0; k < 20; ++k) {
    RandomStream draw(7, k);
    const std::vector<int> fingers = bench.sampler.choose_fingers(draw);
    const std::optional<Grasp> grasp = bench.sampler.sample(q, fingers, draw, bench.proximity);
    if (!grasp) continue;
    ++found;
    EXPECT_TRUE((grasp->joints.array() >= bench.hand.lower.array()).all() &&
                (grasp->joints.array() <= bench.hand.upper.array()).all());
    VectorXd q_grasp = q;
    set_joint_positions(bench.scene, grasp->joints, q_grasp);
    bench.proximity.place(q_grasp);
    const double gap = bench.proximity.smallest_gap(grasp->moves, 1.0);
    EXPECT_GE(gap, 0.5 * standoff);
    EXPECT_LE(gap, 1.2 * standoff);
    // What may not move has not.
    const VectorXd before = joint_positions(bench.scene, q);
    for (Eigen::Index u = 0; u < before.size(); ++u) {
      if (grasp->moves[u]) continue;
      EXPECT_EQ(grasp->joints(u), before(u));
    }
  }
  EXPECT_GE(found, 10);
}

TEST_P(Systems, TransfersArriveAndLeaveTheObjectWhereItRested) {
  Bench bench(GetParam());
  int arrived = 0;
  for (std::uint64_t k = 0; k < 10; ++k) {
    RandomStream draw(8, k);
    const VectorXd q_start = bench.scene.initial_configuration();
    Motion motion{{q_start, joint_positions(bench.scene, q_start), {}}, {}};
    const std::vector<int> fingers = bench.sampler.choose_fingers(draw);
    ASSERT_TRUE(bench.transit.release(bench.hand.commands_of(fingers), motion));
    const VectorXd q_rest = motion.q;
    const std::optional<Grasp> grasp = bench.sampler.sample(motion.q, fingers, draw, bench.proximity);
    if (!grasp || !bench.transit.reach(*grasp, draw, motion)) continue;
    ++arrived;
    EXPECT_LE(bench.goal.distance(q_rest, motion.q), bench.scene.settings().plan.drift_m);
    // The commands alone lead there: simulated once more from the start.
    bench.steps.reset();
    VectorXd q = bench.scene.initial_configuration(), q_next, last = joint_positions(bench.scene, q);
    for (const VectorXd& u : motion.commands) {
      EXPECT_LE((u - last).cwiseAbs().maxCoeff(), bench.scene.settings().plan.joint_step + 1e-9);
      ASSERT_TRUE(bench.steps.step(q, u, q_next));
      q = q_next;
      last = u;
    }
    EXPECT_LT((q - motion.q).norm(), 1e-6);
  }
  EXPECT_GE(arrived, 5);
}

/// The smallest gap at q between what joints move and what they do not, from the distances of all such pairs.
double smallest_gap(const scene::Scene& scene, const VectorXd& q, scene::SceneState& state) {
  scene.update(q, state);
  const auto& world = scene.collision_world();
  const auto geometries = world.geometries();
  std::vector<char> is_robot(scene.model().models().size(), 0);
  for (const scene::Robot& robot : scene.robots()) is_robot[robot.model] = 1;
  const auto moves = [&](std::size_t g) {
    const int model = scene.model().bodies()[geometries[g].body].model;
    return model >= 0 && is_robot[model] != 0 && !scene.model().columns(geometries[g].body).empty();
  };
  double least = 1e9;
  for (std::size_t a = 0; a < geometries.size(); ++a)
    for (std::size_t b = 0; b < geometries.size(); ++b)
      if (moves(a) && !moves(b) && world.may_touch(static_cast<int>(a), static_cast<int>(b)))
        least = std::min(least, world.signed_distance(static_cast<int>(a), static_cast<int>(b), state.X_WB()).gap);
  return least;
}

/// Of all transits of both fingers that arrive, those that come nearer to anything than `gap` [m] after they were that
/// far from it and before they come near for good; and how many there are.
std::pair<int, int> dips(const std::string& name, const std::string& setting, double gap) {
  Bench bench(name, {setting});
  scene::SceneState state = bench.scene.make_state();
  int arrived = 0, dipped = 0;
  for (std::uint64_t k = 0; k < 16; ++k) {
    RandomStream draw(12, k);
    const VectorXd q_start = bench.scene.initial_configuration();
    Motion motion{{q_start, joint_positions(bench.scene, q_start), {}, {}}, {}};
    const std::vector<int> fingers = bench.hand.all_fingers();
    if (!bench.transit.release(bench.hand.commands_of(fingers), motion)) continue;
    const std::optional<Grasp> grasp = bench.sampler.sample(motion.q, fingers, draw, bench.proximity);
    if (!grasp) continue;
    const Instant released = motion;
    motion.commands.clear();
    if (!bench.transit.reach(*grasp, draw, motion)) continue;
    ++arrived;
    bench.steps.reset();
    std::vector<char> is_near;
    for (const Instant& at : bench.steps.simulate(released, motion.commands))
      is_near.push_back(smallest_gap(bench.scene, at.q, state) < gap);
    const auto first = std::find(is_near.begin(), is_near.end(), char{0});
    const auto last = std::find(is_near.rbegin(), is_near.rend(), char{0}).base();
    dipped += first < last && std::find(first, last, char{1}) != last;
  }
  return {dipped, arrived};
}

TEST(Transit, KeepsItsDistanceBetweenGrasps) {
  for (const char* name : {"planar_hand", "planar_bimanual"}) {
    const auto [dipped, arrived] = dips(name, "plan.transit_gap_m=0.008", 0.0075);
    EXPECT_GE(arrived, 6) << name;
    EXPECT_EQ(dipped, 0) << name;
  }
  // Without it they come as near as collisions allow.
  EXPECT_GT(dips("planar_hand", "plan.transit_gap_m=0.0005", 0.0075).first +
                dips("planar_bimanual", "plan.transit_gap_m=0.0005", 0.0075).first,
            0);
}

TEST(Transit, KeepsStatedLimitsBesideSurfaces) {
  // The row φ + J_nδ ≥ μ‖J_tδ‖ binds where a link passes the table fast: it is pressed on it from afar.
  Bench bench("push_on_table", {"robots=[{name: finger, stiffness: 5000, velocity_limit: 1, effort_limit: 20}]"});
  DriveLimits& limits = bench.steps.drive_limits();
  const JointSpeeds speeds = scene::joint_speeds(bench.scene);
  ASSERT_TRUE(limits.any_stated() && speeds.any_stated());
  const double h = bench.steps.h();
  int arrived = 0;
  for (std::uint64_t k = 0; k < 20; ++k) {
    RandomStream draw(14, k);
    const VectorXd q_start = bench.scene.initial_configuration();
    Motion motion{{q_start, joint_positions(bench.scene, q_start), {}, {}}, {}};
    const std::vector<int> fingers = bench.sampler.choose_fingers(draw);
    const std::optional<Grasp> grasp = bench.sampler.sample(motion.q, fingers, draw, bench.proximity);
    if (!grasp || !bench.transit.reach(*grasp, draw, motion)) continue;
    ++arrived;
    bench.steps.reset();
    VectorXd q = q_start, q_next;
    for (const VectorXd& u : motion.commands) {
      ASSERT_TRUE(bench.steps.step(q, u, q_next));
      EXPECT_LE(limits.share(q, q_next, u, h), 1.001) << k;
      EXPECT_LE(speeds.share(bench.scene, q, q_next, h), 1.001) << k;
      q = q_next;
    }
  }
  EXPECT_GE(arrived, 5);
}

TEST(Transit, OpensTheClearanceWhereItLetsGo) {
  // From grasps at a millimetre all around the box.
  for (const double clearance_m : {0.005, 0.05}) {
    Bench bench("planar_pushing", {"plan.clearance_m=" + std::to_string(clearance_m)});
    scene::SceneState state = bench.scene.make_state();
    int released = 0;
    for (std::uint64_t k = 0; k < 10; ++k) {
      RandomStream draw(13, k);
      VectorXd q = bench.scene.initial_configuration();
      const std::optional<Grasp> grasp = bench.sampler.sample(q, bench.hand.all_fingers(), draw, bench.proximity);
      if (!grasp) continue;
      set_joint_positions(bench.scene, grasp->joints, q);
      ASSERT_LT(smallest_gap(bench.scene, q, state), 0.002);
      bench.steps.reset();
      Motion motion{{q, grasp->joints, {}, {}}, {}};
      ASSERT_TRUE(bench.transit.release(grasp->moves, motion));
      ++released;
      // All of it, but no way further than what lets go for good.
      const double gap = smallest_gap(bench.scene, motion.q, state);
      EXPECT_GE(gap, clearance_m);
      EXPECT_LE(gap, 2 * clearance_m);
    }
    EXPECT_GE(released, 5);
  }
}

TEST(Hand, KnowsWhatTheObjectsOfTheGoalWeigh) {
  EXPECT_NEAR(Bench("allegro_plate").hand.weight_N, 1.0, 1e-9);  // 0.1 kg at 10 m/s²
  EXPECT_EQ(Bench("allegro_pen").hand.weight_N, 0);              // no gravity
  EXPECT_EQ(Bench("allegro_door").hand.weight_N, 0);             // its hinges carry it
}

TEST(ContactSampler, PinchesOnOppositeSides) {
  Bench bench("allegro_ball");
  const VectorXd q = bench.scene.initial_configuration();
  int found = 0;
  for (std::uint64_t k = 0; k < 30; ++k) {
    RandomStream draw(9, k);
    const std::optional<Grasp> grasp = bench.sampler.sample(q, bench.hand.all_fingers(), draw, bench.proximity, true);
    if (!grasp) continue;
    VectorXd q_grasp = q;
    set_joint_positions(bench.scene, grasp->joints, q_grasp);
    bench.proximity.place(q_grasp);
    const auto contacts = [&] {
      Eigen::MatrixXd normal;
      VectorXd gaps;
      bench.proximity.touch_rows(grasp->moves, bench.hand.surfaces, 2 * bench.scene.settings().plan.standoff_m, normal,
                                 gaps);
      return gaps.size();
    };
    found += contacts() >= 2;
  }
  EXPECT_GE(found, 5);
}

TEST(Transit, LetsGoOfAFirmGraspWithoutPushing) {
  // The ball between two fingers whose springs are stretched by different amounts: unloaded first, it stays.
  const auto moved_by = [](bool presses) {
    Bench bench("planar_hand");
    Ensemble firm = single_ensemble(bench.scene);
    firm.presses = presses;
    PlanningSteps steps(bench.scene, nullptr, &firm);
    Transit transit(bench.hand, steps, bench.proximity);
    const std::vector<char> all = bench.hand.commands_of(bench.hand.all_fingers());
    double moved = 0;
    int grasped = 0;
    for (std::uint64_t k = 0; k < 40 && grasped < 5; ++k) {
      RandomStream draw(11, k);
      const VectorXd q_start = bench.scene.initial_configuration();
      Motion motion{{q_start, joint_positions(bench.scene, q_start), {}, {}}, {}};
      const std::optional<Grasp> grasp =
          bench.sampler.sample(motion.q, bench.hand.all_fingers(), draw, bench.proximity, true);
      if (!grasp || !transit.release(all, motion) || !transit.reach(*grasp, draw, motion)) continue;
      if (!transit.squeeze(grasp->moves, 0.005, motion)) continue;
      const VectorXd held = motion.q;
      if (!transit.release(all, motion)) continue;
      moved += object_motion(bench.scene, held, motion.q);
      ++grasped;
    }
    EXPECT_EQ(grasped, 5);
    return moved / 5;
  };
  const double unloaded_m = moved_by(true), sudden_m = moved_by(false);
  EXPECT_LT(unloaded_m, 0.7 * sudden_m) << unloaded_m << " m, " << sudden_m << " m";
}

TEST(Transit, PressesWithTheForceAskedFor) {
  Bench bench("allegro_ball");
  const double force_N = 2 * bench.hand.weight_N;
  int pressed = 0;
  for (std::uint64_t k = 0; k < 20; ++k) {
    RandomStream draw(10, k);
    const VectorXd q_start = bench.scene.initial_configuration();
    Motion motion{{q_start, joint_positions(bench.scene, q_start), {}}, {}};
    const std::vector<int> fingers = bench.hand.all_fingers();
    ASSERT_TRUE(bench.transit.release(bench.hand.commands_of(fingers), motion));
    const std::optional<Grasp> grasp = bench.sampler.sample(motion.q, fingers, draw, bench.proximity, true);
    if (!grasp || !bench.transit.reach(*grasp, draw, motion)) continue;
    const std::size_t before = motion.commands.size();
    if (!bench.transit.press(grasp->moves, force_N, motion)) continue;
    EXPECT_GT(motion.commands.size(), before);
    // What the springs pull at the end, as forces of the touching links along their normals.
    bench.proximity.place(motion.q);
    Eigen::MatrixXd normal;
    VectorXd gaps;
    const int rows = bench.proximity.touch_rows(grasp->moves, bench.hand.surfaces,
                                                3 * bench.scene.settings().plan.standoff_m, normal, gaps);
    if (rows == 0) continue;
    const VectorXd torque = bench.hand.stiffness.cwiseProduct(motion.u - joint_positions(bench.scene, motion.q));
    // Pressing is against the gaps' gradients.
    pressed += (normal * torque).maxCoeff() < 0;
  }
  EXPECT_GE(pressed, 3);
}

struct Damped { const char *scene, *damping; };
class DampedSystems : public testing::TestWithParam<Damped> {};

TEST_P(DampedSystems, TransfersWaitUntilTheJointsHaveArrived) {
  Bench bench(GetParam().scene, {GetParam().damping});
  ASSERT_TRUE(bench.steps.follows_late());
  const VectorXd q_start = bench.scene.initial_configuration();
  int tried = 0, arrived = 0;
  for (std::uint64_t k = 0; k < 10; ++k) {
    RandomStream draw(8, k);
    Motion motion{{q_start, joint_positions(bench.scene, q_start), {}}, {}};
    const std::vector<int> fingers = bench.sampler.choose_fingers(draw);
    ASSERT_TRUE(bench.transit.release(bench.hand.commands_of(fingers), motion));
    const std::optional<Grasp> grasp = bench.sampler.sample(motion.q, fingers, draw, bench.proximity);
    if (!grasp) continue;
    ++tried;
    if (!bench.transit.reach(*grasp, draw, motion)) continue;
    ++arrived;
    const VectorXd missing = joint_positions(bench.scene, motion.q) - grasp->joints;
    EXPECT_LT(missing.cwiseAbs().maxCoeff(), 2e-4);
    EXPECT_LE(object_motion(bench.scene, q_start, motion.q), bench.scene.settings().plan.drift_m);
    // Not one step longer than it takes: the last one still moved more than what rest is.
    EXPECT_LT(motion.commands.size(), 2000u);
  }
  EXPECT_GE(tried, 5);
  EXPECT_GE(arrived, (tried + 1) / 2);
}

// Time constants D/K of 0.1 s, 0.5 s and 1 s.
INSTANTIATE_TEST_SUITE_P(Planning, DampedSystems,
                         testing::Values(Damped{"planar_pushing", "step.joint_damping=10"},
                                         Damped{"planar_hand", "step.joint_damping=25"},
                                         Damped{"allegro_pen", "step.joint_damping=100"}),
                         [](const auto& param) { return std::string(param.param.scene); });

TEST(PlanningSteps, RestUntilDampedJointsAreWhereTheirBalanceEnds) {
  Bench bench("planar_pushing", {"step.joint_damping=100"});
  const VectorXd q_start = bench.scene.initial_configuration(), u = joint_positions(bench.scene, q_start);
  Motion motion{start_instant(halved_ensemble(bench.scene), q_start, u), {}};
  motion.u(0) -= 0.2;  // away from the box
  ASSERT_TRUE(bench.steps.rest(motion));
  EXPECT_LT((joint_positions(bench.scene, motion.q) - motion.u).norm(), 1.1e-4);
  // 0.2 (1 + hK/D)^−n = 1e-4
  EXPECT_NEAR(static_cast<double>(motion.commands.size()), std::log(2000) / std::log(1.1), 1.0);
  // Against the box, whatever is asked of it: it rests where the box holds it, and that ends too.
  motion.u << u(0), u(1) + 5;
  motion.commands.clear();
  ASSERT_TRUE(bench.steps.rest(motion));
  EXPECT_LE(motion.commands.size(), 300u);
}

INSTANTIATE_TEST_SUITE_P(Planning, Systems,
                         testing::Values("planar_pushing", "planar_hand", "allegro_ball", "allegro_pen",
                                         "planar_bimanual"),
                         [](const auto& param) { return std::string(param.param); });

TEST(RandomStream, SeedsOfSeedsDiffer) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    // Trees whose seeds are a step of the same counter apart have growths of their own.
    const std::uint64_t tree = 0x9e3779b97f4a7c15ULL * seed;
    for (std::uint64_t n = 0; n < 40; ++n) seen.insert(seed_of(tree, n));
  }
  EXPECT_EQ(seen.size(), 1600u);
}

}  // namespace transit_test
}  // namespace deft::planning
