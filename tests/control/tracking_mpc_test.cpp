// The command of a period: against least squares by hand, its limits, what it says when it cannot, and that a warm one
// allocates nothing.

#include "deft/control/tracking_mpc.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "planning/planning_scenes.hpp"
#include "support/allocation_counter.hpp"
#include "support/pusher.hpp"

namespace deft::control {
namespace tracking_mpc_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The scene under other settings.
scene::Scene with(const scene::Scene& scene, const std::function<void(scene::SceneSpec&)>& change) {
  scene::SceneSpec spec = scene.description();
  change(spec);
  Diagnostics diagnostics;
  return scene::Scene::build(std::move(spec), diagnostics);
}

/// A hand of sixteen joints around a ball, the start of its scene.
const scene::Scene& hand_and_ball() {
  static const scene::Scene scene = test::load_planning("allegro_ball");
  return scene;
}

VectorXd closing(const scene::Scene& scene, double rate) {
  VectorXd all = VectorXd::Zero(scene.nu());
  for (Eigen::Index i = 0; i < all.size(); ++i) all(i) = i % 4 == 0 ? 0 : rate;
  return all;
}

/// q moved by `size` · (a fixed pattern).
VectorXd moved(const scene::Scene& scene, const VectorXd& q, double size, int pattern) {
  VectorXd d(scene.nv()), out;
  for (Eigen::Index i = 0; i < d.size(); ++i) d(i) = size * std::sin(1.7 * double(i) + 0.9 * pattern);
  scene.model().integrate(q, d, out);
  return out;
}

TEST(TrackingMpc, RefusesScenesThatItCannotPredict) {
  struct Case {
    std::function<void(scene::SceneSpec&)> change;
    const char* words;
  };
  const Case cases[] = {
      {[](scene::SceneSpec& spec) { spec.robots.clear(); }, "no robots"},
      {[](scene::SceneSpec& spec) {
         spec.step.model = scene::ModelKind::kConvexSecondOrder;
         spec.robots.front().drive = scene::Drive::kForce;
         spec.robots.front().stiffness = {};
       },
       "'finger' has drive: force"},
      {[](scene::SceneSpec& spec) { spec.step.model = scene::ModelKind::kConvexSecondOrder; },
       "convex-second-order; valid: convex"},
      {[](scene::SceneSpec& spec) { spec.step.friction_law = scene::FrictionLaw::kCoulomb; }, "coulomb"}};
  for (const Case& c : cases) {
    const scene::Scene scene = test::build(pusher(c.change));
    try {
      TrackingMpc refused(scene, scene.settings().track);
      ADD_FAILURE() << "expected: " << c.words;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(c.words), std::string::npos) << error.what();
    }
  }
}

TEST(TrackingMpc, AWarmPeriodAllocatesNothing) {
  if (!kCountsAllocations) GTEST_SKIP() << "a sanitizer owns malloc";
  using Prediction = scene::TrackPrediction;
  using Linearization = scene::TrackLinearization;
  constexpr std::pair<Prediction, Linearization> kKinds[] = {{Prediction::kQuasidynamic, Linearization::kMeasured},
                                                             {Prediction::kQuasidynamic, Linearization::kReference},
                                                             {Prediction::kSecondOrder, Linearization::kMeasured},
                                                             {Prediction::kCorrected, Linearization::kMeasured}};
  for (const auto& [prediction, linearization] : kKinds) {
    for (const double change_weight : {0.0, 1.0}) {
      const scene::Scene scene = with(hand_and_ball(), [&](scene::SceneSpec& spec) {
        spec.track.horizon = 4;
        spec.track.linearization = linearization;
        spec.track.prediction = prediction;
        spec.track.change_weight = change_weight;
        spec.track.normal_force = 20;
        spec.step.effort_limits = true;
      });
      const ReferencePath path(scene, roll_out(scene, closing(scene, 0.01), 6), kInfinity);
      TrackingMpc mpc(scene, scene.settings().track);
      mpc.follow(path);
      std::vector<VectorXd> estimates;
      VectorXd u;
      constexpr double knots[] = {0, 0.5, 1, 1.5, 2, 2.5, 6, 6};  // of 6: the end too
      for (int k = 0; k < 8; ++k) {
        VectorXd q;
        path.configuration(knots[k], q);
        estimates.push_back(moved(scene, q, 5e-4, k));
      }
      path.command(1, u);
      const auto periods = [&] {
        for (int k = 0; k < 8; ++k)
          EXPECT_EQ(mpc.control(estimates[k], knots[k], u, 0.1).status, TrackingStatus::kSolved);
      };
      for (int warm = 0; warm < 8; ++warm) periods();  // scratch grows to what the programs of these periods need
      EXPECT_EQ(testing_support::allocations_during(periods), 0) << to_string(linearization) << " " << change_weight;
    }
  }
}

/// What exact and smoothed steps make of (q, u), made again.
VectorXd step_of(const scene::Scene& scene, double kappa, const VectorXd& q, const VectorXd& u) {
  const auto model = dynamics::make_step_model(scene);
  model->set_kappa(kappa);
  dynamics::StepResult result;
  model->step(q, u, result);
  EXPECT_EQ(result.status, solvers::Status::kSolved);
  return result.q_next;
}

TEST(TrackingMpc, OneStepWithoutLimitsIsLeastSquares) {
  const scene::Scene scene = with(hand_and_ball(), [](scene::SceneSpec& spec) {
    spec.track.horizon = 1;
    spec.track.command_offset = 10;
    spec.track.terminal_factor = 3;
  });
  const scene::TrackSettings& settings = scene.settings().track;
  const TrackedPlan plan = roll_out(scene, closing(scene, 0.01), 4);
  const ReferencePath path(scene, plan, kInfinity);
  TrackingMpc mpc(scene, settings);
  mpc.follow(path);
  const VectorXd q = moved(scene, plan.q[2], 2e-4, 1);
  const VectorXd &u = plan.u[2], &goal = plan.q[3];
  const TrackingResult& result = mpc.control(q, 2, plan.u[1], 1e3);
  ASSERT_EQ(result.status, TrackingStatus::kSolved);

  // B of the smoothed step by central differences; the error at the end of the exact step, moved by B v.
  const int nu = scene.nu(), nv = scene.nv();
  constexpr double kEta = 1e-6;
  MatrixXd B(nv, nu);
  for (int i = 0; i < nu; ++i) {
    VectorXd more = u, less = u;
    more(i) += kEta, less(i) -= kEta;
    const VectorXd middle = step_of(scene, settings.kappa, q, u);
    B.col(i) = (scene.model().difference(middle, step_of(scene, settings.kappa, q, more)) -
                scene.model().difference(middle, step_of(scene, settings.kappa, q, less))) /
               (2 * kEta);
  }
  const VectorXd end = step_of(scene, kInfinity, q, u);
  const auto error = [&](const VectorXd& v) {
    VectorXd there;
    scene.model().integrate(end, B * v, there);
    return scene.model().difference(there, goal);
  };
  MatrixXd R(nv + nu, nu);
  VectorXd r(nv + nu), root(nv + nu);
  const auto roles = velocity_roles(scene);
  for (int i = 0; i < nv; ++i) {
    const VelocityRole role = roles[i];
    const double weight = role == VelocityRole::kRobot      ? settings.joint_weight
                          : role == VelocityRole::kPosition ? 3 * settings.position_weight
                                                            : 3 * settings.rotation_weight;
    root(i) = std::sqrt(weight);
  }
  root.tail(nu).setConstant(std::sqrt(settings.command_weight));
  r << error(VectorXd::Zero(nu)), VectorXd::Zero(nu);
  for (int i = 0; i < nu; ++i) {
    const VectorXd v = 1e-5 * VectorXd::Unit(nu, i);
    R.col(i) << (error(v) - error(-v)) / 2e-5, VectorXd::Unit(nu, i);
  }
  const VectorXd expected = (root.asDiagonal() * R).colPivHouseholderQr().solve(-root.cwiseProduct(r));
  ASSERT_GT(expected.norm(), 1e-4);
  EXPECT_LT((result.u - u - expected).norm(), 1e-5 * expected.norm());
}

TEST(TrackingMpc, OnTheReferenceItIsTheReferenceHoweverLinearised) {
  for (const auto linearization : {scene::TrackLinearization::kMeasured, scene::TrackLinearization::kReference}) {
    const scene::Scene scene = with(hand_and_ball(), [&](scene::SceneSpec& spec) {
      spec.track.horizon = 3;
      spec.track.linearization = linearization;
    });
    const TrackedPlan plan = roll_out(scene, closing(scene, 0.01), 5);
    const ReferencePath path(scene, plan, kInfinity);
    TrackingMpc mpc(scene, scene.settings().track);
    mpc.follow(path);
    for (int k = 0; k < 2; ++k) {
      const VectorXd& before = k == 0 ? plan.u_start : plan.u[to_size(k) - 1];
      const TrackingResult& result = mpc.control(plan.q[k], k, before, 1e3);
      ASSERT_EQ(result.status, TrackingStatus::kSolved);
      EXPECT_LT((result.u - plan.u[k]).norm(), 1e-7) << to_string(linearization);
    }
  }
}

TEST(TrackingMpc, LinearisedAboutPlanOrMotionAgreesWhereTheStepIsLinear) {
  VectorXd u[2];
  for (const bool reference : {false, true}) {
    const scene::Scene scene = test::build(pusher([&](scene::SceneSpec& spec) {
      if (reference) spec.track.linearization = scene::TrackLinearization::kReference;
    }));
    const TrackedPlan plan = roll_out(scene, VectorXd::Constant(1, 0.01), 20);
    const ReferencePath path(scene, plan, kInfinity);
    TrackingMpc mpc(scene, scene.settings().track);
    mpc.follow(path);
    const VectorXd late = plan.q[8] - VectorXd::Constant(2, 1e-4);  // both, in touch
    const TrackingResult& result = mpc.control(late, 8, plan.u[7], 1e3);
    ASSERT_EQ(result.status, TrackingStatus::kSolved);
    u[reference ? 1 : 0] = result.u - plan.u[8];
  }
  EXPECT_GT(u[0](0), 5e-5) << "it pushes harder";
  EXPECT_NEAR(u[0](0), u[1](0), 0.01 * u[0](0));
}

/// A loop of whole steps, from both bodies 5 cm behind the plan.
struct Chase {
  double highest = -1, farthest = 0, fastest = 0;  // u, |u − u_d|, |change of u| per step [m]
  double effort = 0, force = 0;                    // of the spring, of the contact [N]
  double left = 0;                                 // error at the end [m]
};
Chase chase(const scene::SceneSpec& spec) {
  const scene::Scene scene = test::build(spec);
  scene::SceneSpec free = spec;  // the world knows no limits
  free.step.effort_limits = false;
  const scene::Scene world = test::build(free);
  constexpr int kSteps = 30;
  const TrackedPlan plan = roll_out(world, VectorXd::Constant(1, 0.01), kSteps);
  const ReferencePath path(scene, plan, kInfinity);
  TrackingMpc mpc(scene, scene.settings().track);
  mpc.follow(path);
  const auto model = dynamics::make_step_model(world);
  dynamics::StepResult step;
  VectorXd q = plan.q[0] - VectorXd::Constant(2, 0.05), u = plan.u_start - VectorXd::Constant(1, 0.05);
  Chase found;
  for (int k = 0; k < kSteps; ++k) {
    const VectorXd before = u;
    const TrackingResult& result = mpc.control(q, k, u, *scene.settings().step.h);
    EXPECT_EQ(result.status, TrackingStatus::kSolved) << k;
    u = result.u;
    model->step(q, u, step);
    q = step.q_next;
    found.highest = std::max(found.highest, u(0));
    found.farthest = std::max(found.farthest, std::abs(u(0) - plan.u[k](0)));
    found.fastest = std::max(found.fastest, std::abs(u(0) - before(0)));
    found.effort = std::max(found.effort, 100 * std::abs(u(0) - q(0)));
    found.force = std::max(found.force, step.solution.force.empty() ? 0 : step.solution.force[0][0]);
    EXPECT_TRUE(u.allFinite() && q.allFinite());
  }
  found.left = std::abs(q(1) - plan.q.back()(1));
  return found;
}

// Each limit, and that the same loop would break it without.
TEST(TrackingMpc, KeepsEveryLimitInTheLoop) {
  const Chase free = chase(pusher());
  EXPECT_LT(free.left, 1e-3);
  {
    const double end = 0.29;  // less than the plan's last command
    ASSERT_GT(free.highest, end + 0.005);
    const Chase kept =
        chase(pusher([&](scene::SceneSpec& spec) { spec.world.models[0].joints[0].axes[0].upper = end; }));
    EXPECT_LE(kept.highest, end + 1e-8);
  }
  {
    const double offset = 0.02;
    ASSERT_GT(free.farthest, 1.5 * offset);
    const Chase kept = chase(pusher([&](scene::SceneSpec& spec) { spec.track.command_offset = offset; }));
    EXPECT_LE(kept.farthest, 0.05 + 1e-8) << "what it starts with";
    EXPECT_LT(kept.left, 1e-3);
  }
  {
    const double speed = 0.1;  // twice that for a correction, in a step of 0.1 s
    ASSERT_GT(free.fastest, 1.5 * 2 * speed * 0.1);
    const Chase kept = chase(pusher([&](scene::SceneSpec& spec) { spec.track.speed = speed; }));
    EXPECT_LE(kept.fastest, 2 * speed * 0.1 + 1e-8);
    EXPECT_LT(kept.left, 1e-3);
  }
  {
    const double effort = 3;  // [N]
    ASSERT_GT(free.effort, 1.3 * effort);
    const Chase kept = chase(pusher([&](scene::SceneSpec& spec) {
      spec.step.effort_limits = true;
      spec.robots[0].effort_limit.all = effort;
    }));
    EXPECT_LE(kept.effort, 1.01 * effort);
    EXPECT_LT(kept.left, 1e-3);
  }
  {
    const double force = 3;  // [N]
    ASSERT_GT(free.force, 1.3 * force);
    const Chase kept = chase(pusher([&](scene::SceneSpec& spec) { spec.track.normal_force = force; }));
    EXPECT_LE(kept.force, 1.01 * force);
    EXPECT_LT(kept.left, 1e-3);
  }
}

// A box that is ahead of the plan is pushed less, but not let go.
TEST(TrackingMpc, KeepsAShareOfTheForceOfThePlansCommand) {
  const auto force_with = [](double kept) {
    const scene::Scene scene = test::build(pusher([&](scene::SceneSpec& spec) { spec.track.kept_force = kept; }));
    const TrackedPlan plan = roll_out(scene, VectorXd::Constant(1, 0.01), 30);
    const ReferencePath path(scene, plan, kInfinity);
    TrackingMpc mpc(scene, scene.settings().track);
    mpc.follow(path);
    const VectorXd q = plan.q[20] + VectorXd::Constant(2, 0.008);
    const TrackingResult& result = mpc.control(q, 20, plan.u[19], *scene.settings().step.h);
    EXPECT_EQ(result.status, TrackingStatus::kSolved) << kept;
    const VectorXd u = result.u;
    const auto model = dynamics::make_step_model(scene);
    dynamics::StepResult step;
    model->step(q, plan.u[20], step);
    const double planned = step.solution.force[0][0];
    model->step(q, u, step);
    return std::pair(step.solution.force[0][0], planned);
  };
  const auto [free, planned] = force_with(0);
  ASSERT_GT(planned, 0.05);  // [N]
  ASSERT_LT(free, 0.7 * planned);
  EXPECT_NEAR(force_with(0.8).first, 0.8 * planned, 0.02 * planned);
  EXPECT_NEAR(force_with(1).first, planned, 0.02 * planned);
}

TEST(TrackingMpc, HoldsTheCommandAndSaysWhyWhereAStepOrTheProgramFails) {
  const auto wedged = [](scene::SceneSpec& spec) {  // the box between two walls nearer than its size
    spec.world.models.push_back(test::fixed_body("left", multibody::HalfSpaceSpec{{1, 0, 0}, 0.06}, 0.5));
    spec.world.models.push_back(test::fixed_body("right", multibody::HalfSpaceSpec{{-1, 0, 0}, -0.14}, 0.5));
  };
  const scene::Scene open = test::build(pusher());
  const TrackedPlan plan = roll_out(open, VectorXd::Constant(1, 0.01), 5);
  const VectorXd u_now = VectorXd::Constant(1, 0.004);
  for (const auto linearization : {scene::TrackLinearization::kMeasured, scene::TrackLinearization::kReference}) {
    const scene::Scene scene = test::build(pusher([&](scene::SceneSpec& spec) {
      wedged(spec);
      spec.track.linearization = linearization;
    }));
    const ReferencePath path(scene, plan, kInfinity);
    TrackingMpc mpc(scene, scene.settings().track);
    mpc.follow(path);
    const TrackingResult& result = mpc.control(plan.q[0], 0, u_now, 0.1);
    EXPECT_EQ(result.status, TrackingStatus::kModelFailed);
    EXPECT_EQ(result.u, u_now);
  }
  // Weights times errors beyond the range of numbers.
  const scene::Scene absurd = test::build(pusher([](scene::SceneSpec& spec) { spec.track.position_weight = 1e305; }));
  TrackedPlan far = plan;
  for (VectorXd& q : far.q) q(1) += 1e9;
  const ReferencePath path(absurd, far, kInfinity);
  TrackingMpc mpc(absurd, absurd.settings().track);
  mpc.follow(path);
  const TrackingResult& result = mpc.control(plan.q[0], 0, u_now, 0.1);
  EXPECT_EQ(result.status, TrackingStatus::kSolverFailed);
  EXPECT_EQ(result.u, u_now);
}

TEST(TrackingMpc, RefusesWhatIsNoMeasurement) {
  const scene::Scene scene = test::build(pusher());
  const TrackedPlan plan = roll_out(scene, VectorXd::Constant(1, 0.01), 5);
  TrackingMpc mpc(scene, scene.settings().track);
  EXPECT_THROW(mpc.control(plan.q[0], 0, plan.u[0], 0.1), std::invalid_argument) << "no path yet";
  const ReferencePath path(scene, plan, kInfinity);
  mpc.follow(path);
  VectorXd unknown = plan.q[0];
  unknown(1) = std::nan("");
  EXPECT_THROW(mpc.control(unknown, 0, plan.u[0], 0.1), std::invalid_argument);
  EXPECT_THROW(mpc.control(plan.q[0], 0, unknown.tail(1), 0.1), std::invalid_argument);
  EXPECT_THROW(mpc.control(plan.q[0].head(1), 0, plan.u[0], 0.1), std::invalid_argument);
  EXPECT_EQ(mpc.control(plan.q[0], 0, plan.u[0], 0.1).status, TrackingStatus::kSolved) << "and goes on";
}

}  // namespace tracking_mpc_test
}  // namespace deft::control
