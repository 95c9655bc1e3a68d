// Plans followed on plants: as planned, with things going wrong, and with things gone wrong for good.

#include "deft/control/tracking_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "deft/planning/planner.hpp"
#include "planning/planning_scenes.hpp"

namespace deft::control {
namespace tracking_loop_test {

using dynamics::Trajectory;
using Eigen::VectorXd;

/// A box of 1 m pushed half a metre aside and turned; made once.
struct Pushing {
  scene::Scene scene = test::load_planning("planar_pushing");
  TrackedPlan plan = make();

  TrackedPlan make() const {
    const planning::Plan found = planning::make_plan(scene, scene.spec().goals[1], {.seed = 3}).plan;
    EXPECT_TRUE(found.success);
    return {found.h, found.q, found.commands, found.u_start};
  }
  static const Pushing& get() {
    static const Pushing pushing;
    return pushing;
  }
};

/// The scene under other settings of the controller.
scene::Scene with(const scene::Scene& scene, const std::function<void(scene::SceneSpec&)>& change) {
  scene::SceneSpec spec = scene.description();
  change(spec);
  Diagnostics diagnostics;
  return scene::Scene::build(std::move(spec), diagnostics);
}

/// The plan's own pace and steps: what it was checked with, so that only disturbances make a difference.
void at_its_own_pace(scene::SceneSpec& spec) {
  spec.track.period = spec.track.plant_step = *spec.step.h;
  spec.track.speed = kInfinity;
  spec.track.replan = false;
}

/// Searches that take no step and find what a function says.
struct Searches final : PlanSearch {
  std::function<std::optional<TrackedPlan>(const VectorXd& q, const VectorXd& u, std::uint64_t number)> find;
  std::optional<TrackedPlan> found;
  void begin(const VectorXd& q, const VectorXd& u, std::uint64_t number) override { found = find(q, u, number); }
  std::optional<Result> result(long) override { return Result{found, "there is none"}; }
};

struct Outcome {
  TrackEnd end;
  Trajectory motion;
};

Outcome run(const scene::Scene& world, const scene::Scene& scene, const TrackedPlan& plan, TrackOptions options,
            plant::PlantKind kind = plant::PlantKind::kQuasidynamic) {
  const scene::TrackSettings& settings = scene.settings().track;
  const auto plant = plant::make_plant(
      kind, world,
      {.step = settings.plant_step, .object_damping = plant::object_damping(world, settings.object_damping, plan.h)});
  const VectorXd q = plant::disturbed_start(world, plan.q.front(), options.disturbance).value();
  Outcome outcome;
  outcome.motion = start_tracking(*plant, ReferencePath(scene, plan), q);
  outcome.end = track(*plant, scene, plan, q, options, outcome.motion);
  return outcome;
}

bool all_finite(const Trajectory& motion) {
  const auto finite = [](const std::vector<std::vector<double>>& rows) {
    return std::all_of(rows.begin(), rows.end(), [](const std::vector<double>& row) {
      return std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); });
    });
  };
  return finite(motion.q) && finite(motion.u) && finite(motion.v) && finite(motion.reference_q);
}

/// How many periods had this word.
int count(const Trajectory& motion, TrackWord word) {
  return static_cast<int>(std::count_if(motion.tracks.begin(), motion.tracks.end(),
                                        [&](const auto& r) { return r.status == static_cast<int>(word); }));
}

TEST(TrackingLoop, RepeatsAPlanInItsOwnWorld) {
  const Pushing& p = Pushing::get();
  // At the plan's own step and speed the plant is the plan's simulation: the same steps to rounding.
  const scene::Scene scene = with(p.scene, [&](scene::SceneSpec& spec) {
    at_its_own_pace(spec);
    spec.track.settle = 0;
  });
  const Outcome open = run(scene, scene, p.plan, {.controller = Controller::kOpenLoop});
  EXPECT_EQ(open.end.status, TrackStatus::kCompleted);
  ASSERT_EQ(open.motion.num_steps(), static_cast<int>(p.plan.u.size()));
  EXPECT_LT(open.end.final.position_m, 1e-7);
  EXPECT_LT(open.end.largest.rotation_rad, 1e-7);
  EXPECT_TRUE(open.end.success);
}

TEST(TrackingLoop, FeedbackIsNoWorseWhereNothingGoesWrongAndBetterWhereItDoes) {
  const Pushing& p = Pushing::get();
  const scene::Scene scene = with(p.scene, at_its_own_pace);
  const auto both = [&](const scene::DisturbanceSpec& spec, std::uint64_t seed) {
    const plant::Disturbance d = plant::draw_disturbance(spec, seed);
    Diagnostics diagnostics;
    const scene::Scene world = scene::Scene::build(plant::disturbed(scene, d), diagnostics);
    return std::pair{run(world, scene, p.plan, {.controller = Controller::kOpenLoop, .disturbance = d}).end,
                     run(world, scene, p.plan, {.controller = Controller::kMpc, .disturbance = d}).end};
  };
  const auto [open, closed] = both({}, 0);
  EXPECT_LE(closed.final.position_m, open.final.position_m + 1e-4);
  EXPECT_LE(closed.final.rotation_rad, open.final.rotation_rad + 1e-3);
  double sum_open = 0, sum_closed = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto [without, with_feedback] = both({.offset_m = 0.003, .friction = 0.2, .size = 0.01}, seed);
    sum_open += without.final.position_m + 0.1 * without.final.rotation_rad;
    sum_closed += with_feedback.final.position_m + 0.1 * with_feedback.final.rotation_rad;
  }
  EXPECT_LT(sum_closed, sum_open / 2);
}

TEST(TrackingLoop, KeepsToTheSpeedOfJointTargets) {
  const Pushing& p = Pushing::get();
  const scene::Scene scene = with(p.scene, [](scene::SceneSpec& spec) {
    spec.track.speed = 0.2;
    spec.track.replan = false;
  });
  const Outcome closed =
      run(scene, scene, p.plan,
          {.controller = Controller::kMpc, .disturbance = plant::draw_disturbance({.offset_m = 0.02}, 1)});
  double fastest = 0;
  for (std::size_t k = 1; k < closed.motion.u.size(); ++k)
    for (std::size_t i = 0; i < closed.motion.u[k].size(); ++i)
      fastest = std::max(fastest,
                         std::abs(closed.motion.u[k][i] - closed.motion.u[k - 1][i]) / scene.settings().track.period);
  EXPECT_GT(fastest, 0.1);
  EXPECT_LE(fastest, 3 * 0.2) << "the plan's speed and a correction of twice that";
}

TEST(TrackingLoop, HoldsWhenItSeesNothing) {
  const Pushing& p = Pushing::get();
  const scene::Scene scene = with(p.scene, [](scene::SceneSpec& spec) {
    spec.track.replan = false;
    spec.track.settle = 0.2;
  });
  TrackOptions options{.controller = Controller::kMpc, .disturbance = plant::draw_disturbance({.dropout = 0.9999}, 1)};
  int periods = 0;
  options.on_period = [&](const Trajectory&) { return ++periods < 1000; };
  const Outcome blind = run(scene, scene, p.plan, options);
  EXPECT_TRUE(all_finite(blind.motion));
  EXPECT_GT(count(blind.motion, TrackWord::kBlind), 500);
  EXPECT_EQ(blind.motion.u[400], blind.motion.u[900]) << "the command is held";
  EXPECT_FALSE(blind.end.success);
  // It does not wait for ever.
  options.on_period = [&](const Trajectory&) { return ++periods < 100'000; };
  const Outcome waited = run(scene, scene, p.plan, options);
  EXPECT_EQ(waited.end.status, TrackStatus::kOffPlan);
  EXPECT_NE(waited.end.reason.find("not measured for too long"), std::string::npos) << waited.end.reason;
  EXPECT_FALSE(waited.end.success);
  EXPECT_GT(waited.end.held_s, 1);
  // With a pose every second period it arrives.
  const scene::Scene slow = with(p.scene, at_its_own_pace);
  const Outcome seldom =
      run(slow, slow, p.plan,
          {.controller = Controller::kMpc, .disturbance = plant::draw_disturbance({.dropout = 0.5}, 1)});
  EXPECT_TRUE(seldom.end.success) << seldom.end.final.position_m << " m, " << seldom.end.final.rotation_rad << " rad";
}

TEST(TrackingLoop, HoldsAndSaysSoWhenTheObjectIsJammed) {
  const Pushing& p = Pushing::get();
  const scene::Scene jammed =
      with(p.scene, [](scene::SceneSpec& spec) { spec.objects = {{.name = "box", .frozen = true, .where = {}}}; });
  for (const bool replan : {false, true}) {
    TrackOptions options{.controller = Controller::kMpc};
    int asked = 0;
    Searches none;
    none.find = [&](const VectorXd&, const VectorXd&, std::uint64_t) {
      ++asked;
      return std::optional<TrackedPlan>();
    };
    if (replan) options.search = &none;
    const Outcome stuck = run(jammed, p.scene, p.plan, options);
    EXPECT_EQ(stuck.end.status, replan ? TrackStatus::kStuck : TrackStatus::kOffPlan);
    EXPECT_NE(stuck.end.reason.find(replan ? "no new plan: there is none" : " m, "), std::string::npos)
        << stuck.end.reason;
    EXPECT_TRUE(all_finite(stuck.motion));
    EXPECT_FALSE(stuck.end.success);
    EXPECT_GT(count(stuck.motion, TrackWord::kOffPlan), 10) << replan;
    EXPECT_EQ(stuck.motion.u.back(), stuck.motion.u[stuck.motion.u.size() - 5]) << "the command is held";
    EXPECT_EQ(asked, replan ? 5 : 0);
  }
}

TEST(TrackingLoop, EndsAtItsLimitsOfTime) {
  const Pushing& p = Pushing::get();
  const scene::Scene scene = with(p.scene, at_its_own_pace);
  const Outcome shorter = run(scene, scene, p.plan, {.max_duration_s = 0.5});
  EXPECT_EQ(shorter.end.status, TrackStatus::kDurationLimit);
  EXPECT_NEAR(shorter.motion.t.back(), 0.5, 1e-9);
  EXPECT_FALSE(shorter.end.success);
  EXPECT_EQ(run(scene, scene, p.plan, {.time_limit_s = 1e-9}).end.status, TrackStatus::kTimeLimit);
}

TEST(TrackingLoop, GoesOnWhileANewPlanIsSearchedFor) {
  // The box starts 8 cm off. The search takes longer than it is given for half a second of the plant's time.
  const Pushing& p = Pushing::get();
  struct Slow final : PlanSearch {
    std::vector<double> asked;
    int begun = 0;
    void begin(const VectorXd&, const VectorXd&, std::uint64_t) override { ++begun; }
    std::optional<Result> result(long solves) override {
      asked.push_back(static_cast<double>(solves));
      if (solves < 10'000) return std::nullopt;
      return Result{std::nullopt, "there is none"};
    }
  } slow;
  const scene::Scene scene = with(p.scene, [](scene::SceneSpec& spec) { spec.track.replans = 1; });
  TrackOptions options{.controller = Controller::kMpc, .disturbance = plant::draw_disturbance({.offset_m = 0.08}, 1)};
  options.search = &slow;
  const Outcome outcome = run(scene, scene, p.plan, options);
  EXPECT_EQ(slow.begun, 1);
  const int searched = count(outcome.motion, TrackWord::kReplanning);
  EXPECT_NEAR(searched * scene.settings().track.period, 10'000 / scene.settings().track.replan_budget, 0.011);
  EXPECT_GE(slow.asked.front(), scene.settings().track.replan_budget * scene.settings().track.replan_time - 1);
  int moving = 0;
  for (std::size_t k = 1; k < outcome.motion.tracks.size(); ++k)
    moving += outcome.motion.tracks[k].status == static_cast<int>(TrackWord::kReplanning) &&
              outcome.motion.u[k] != outcome.motion.u[k - 1];
  EXPECT_GT(moving, searched - 5) << "the robot does not stand";
}

TEST(TrackingLoop, HoldsAndSaysSoWhenTheReferenceCannotBeReached) {
  const Pushing& p = Pushing::get();
  // The box should rise away from the pusher, whose commands stay where they are.
  TrackedPlan plan = p.plan;
  for (std::size_t k = 0; k < plan.q.size(); ++k) {
    plan.q[k] = plan.q.front();
    plan.q[k].head(p.scene.objects()[0].first_q).setConstant(plan.u_start(0));
    plan.q[k].segment(p.scene.robots()[0].first_q, 2) = plan.u_start;
    plan.q[k](p.scene.objects()[0].first_q) = plan.q.front()(p.scene.objects()[0].first_q) + 0.05 * double(k);
  }
  for (VectorXd& u : plan.u) u = plan.u_start;
  for (const auto kind : {plant::PlantKind::kQuasidynamic, plant::PlantKind::kConvexSecondOrder}) {
    const Outcome lost = run(p.scene, p.scene, plan, {.controller = Controller::kMpc}, kind);
    EXPECT_EQ(lost.end.status, TrackStatus::kOffPlan);
    EXPECT_TRUE(all_finite(lost.motion));
    EXPECT_FALSE(lost.end.success);
    EXPECT_GT(count(lost.motion, TrackWord::kOffPlan), 10);
  }
}

TEST(TrackingLoop, MakesANewPlanWhereItIsFarOff) {
  const Pushing& p = Pushing::get();
  TrackOptions options{.controller = Controller::kMpc, .disturbance = plant::draw_disturbance({.offset_m = 0.05}, 2)};
  std::vector<VectorXd> from;
  Searches planner;
  options.search = &planner;
  planner.find = [&](const VectorXd& q, const VectorXd& u, std::uint64_t number) {
    from.push_back(q);
    EXPECT_EQ(number, from.size());
    const scene::Scene here = with(p.scene, [&](scene::SceneSpec& spec) {
      auto& start = spec.configurations.front().models;
      const int first = p.scene.objects()[0].first_q;
      start["box"].joints.by_name = {{"y", q(first)}, {"z", q(first + 1)}, {"theta", q(first + 2)}};
      const int hand = p.scene.robots()[0].first_q;
      start["hand"].joints.by_name = {{"y", q(hand)}, {"z", q(hand + 1)}};
      spec.plan.nodes = 500;
    });
    scene::GoalSpec goal = here.spec().goals[1];  // the same end, nearer
    const int end = p.scene.objects()[0].first_q;
    const VectorXd& q_end = p.plan.q.back();
    goal.target.models["box"].joints.by_name = {{"y", q_end(end)}, {"z", q_end(end + 1)}, {"theta", q_end(end + 2)}};
    goal.tolerance_position_m = 0.004;
    const planning::Plan found = planning::make_plan(here, goal, {.seed = number, .u_start = u}).plan;
    return found.success ? std::optional(TrackedPlan{found.h, found.q, found.commands, found.u_start}) : std::nullopt;
  };
  const scene::Scene scene = with(p.scene, [](scene::SceneSpec& spec) {
    at_its_own_pace(spec);
    spec.track.replan = true;
    spec.track.replan_position = 0.01;
    spec.track.replan_rotation = 0.05;
  });
  const Outcome closed = run(scene, scene, p.plan, options);
  ASSERT_FALSE(from.empty());
  EXPECT_GE(closed.end.replans, 1);
  EXPECT_TRUE(closed.end.success) << closed.end.final.position_m << " m, " << closed.end.final.rotation_rad << " rad";
  EXPECT_EQ(closed.motion.tracks.back().plan, closed.end.replans);
}

}  // namespace tracking_loop_test
}  // namespace deft::control
