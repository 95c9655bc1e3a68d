// The controller: optimal plans that the plant follows, time limits, safe commands, references, soft bounds.

#include <gtest/gtest.h>

#include "control/control_scenes.hpp"
#include "deft/control/mixed_integer_mpc.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"

namespace deft::control {
namespace mixed_integer_mpc_test {

using Eigen::Vector2d;
using Eigen::VectorXd;
using solvers::Status;

/// The disc with the weights of the note: Q = Q_f = I, R = 10 I, |q| ≤ 5, |v| ≤ 1, |u| ≤ 1, towards (3, −5).
scene::SceneSpec disc_to_goal(int N) {
  scene::SceneSpec spec = test::disc_between_surfaces();
  scene::ControlSettings& control = spec.control.emplace();
  control.N = N;
  control.Q.all = 1;
  control.R.all = 10;
  control.x_min.list = {-5, -5, -1, -1};
  control.x_max.list = {5, 5, 1, 1};
  control.u_min.all = -1;
  control.u_max.all = 1;
  control.goal.emplace().models["disc"].joints.list = {3, -5};
  return spec;
}

dynamics::State at(const Vector2d& q, const Vector2d& v, double t = 0) { return {.q = q, .v = v, .t = t}; }

TEST(MixedIntegerMpc, FindsTheOptimalCostsOfTheNote) {
  // reproduced by other solvers, relative 1e-6
  const struct {
    Vector2d q, v;
    int N;
    double cost;
  } cases[] = {{{-2, -4}, {0, 0}, 1, 51.999740262},         {{-2, -4}, {0, 0}, 3, 103.988098420},
               {{-2, -4}, {0, 0}, 5, 155.904711933},        {{-1, -4.35}, {0.6, -0.5}, 3, 64.897376337},
               {{-1, -4.35}, {0.6, -0.5}, 5, 95.601064859}, {{-3.45, -4.3}, {-0.3, -0.4}, 5, 256.722439275}};
  for (const auto& [q, v, N, cost] : cases) {
    const scene::Scene scene = test::build(disc_to_goal(N));
    MixedIntegerMpc mpc(scene);
    const MpcResult& result = mpc.control(at(q, v));
    EXPECT_EQ(result.status, Status::kSolved);
    EXPECT_FALSE(result.fallback);
    EXPECT_NEAR(result.cost, cost, 1e-6 * cost) << N;
    EXPECT_LE(result.gap, 1e-7 * (1 + 1e-6));  // the bound is a difference of costs: rounding
    EXPECT_LE(result.certificate.max(), 1e-8);
    EXPECT_EQ(result.u, result.plan.u.col(0));
    EXPECT_EQ(result.modes.size(), to_size(N) * result.pairs.size());
  }
}

TEST(MixedIntegerMpc, ThePlantDoesWhatThePlanSays) {
  const scene::Scene scene = test::build(disc_to_goal(4));
  MixedIntegerMpc mpc(scene);
  const auto model = dynamics::make_step_model(scene);
  dynamics::State state = at({-1, -4.35}, {0.6, -0.5});
  dynamics::StepResult step;
  int touched = 0;
  for (int k = 0; k < 8; ++k) {
    const MpcResult& result = mpc.control(state);
    ASSERT_FALSE(result.fallback) << k;
    model->step(state, result.u, step);
    ASSERT_EQ(step.status, Status::kSolved);
    EXPECT_LT((result.plan.x.col(1).head(2) - step.q_next).norm(), 1e-7) << k;
    EXPECT_LT((result.plan.x.col(1).tail(2) - step.v_next).norm(), 1e-7) << k;
    const dynamics::HorizonRecord record = record_of(result, scene, state.q);
    EXPECT_EQ(record.X_WB.size(), 5u * 7 * scene.names_bodies().size());
    const std::size_t disc = 7 * (scene.names_bodies().size() + to_size(scene.model().find_body("disc")));
    EXPECT_NEAR(record.X_WB[disc + 4], step.q_next(0), 1e-7);
    touched += result.plan.gamma.size() > 0 && result.plan.gamma.maxCoeff() > 1e-6 ? 1 : 0;
    state = {.q = step.q_next, .v = step.v_next, .t = 0.1 * (k + 1)};
  }
  EXPECT_GT(touched, 3);
}

TEST(MixedIntegerMpc, SaysWhenNoPlanKeepsTheBoundsAndGivesTheSafeCommand) {
  // At 3 m/s no force of 1 N keeps |v| ≤ 1 after 0.1 s.
  scene::SceneSpec spec = disc_to_goal(3);
  const scene::Scene scene = test::build(spec);
  MixedIntegerMpc mpc(scene);
  const MpcResult& lost = mpc.control(at({0, -3}, {3, 0}));
  EXPECT_EQ(lost.status, Status::kInfeasible);
  EXPECT_TRUE(lost.fallback);
  EXPECT_EQ(lost.u, Vector2d(0, 0));
  EXPECT_TRUE(std::isnan(record_of(lost, scene, Vector2d(0, -3)).x[0]));

  // `hold` gives the last command again.
  spec.control->fallback = scene::Fallback::kHold;
  const scene::Scene holding = test::build(spec);
  MixedIntegerMpc hold(holding);
  EXPECT_EQ(hold.control(at({0, -3}, {3, 0})).u, Vector2d(0, 0));  // none yet
  const Vector2d u = hold.control(at({0, -3}, {0, 0})).u;
  EXPECT_GT(u.norm(), 0.01);
  EXPECT_EQ(hold.control(at({0, -3}, {3, 0})).u, u);

  // Soft bounds always leave a plan; their violation is paid for.
  spec.control->x_price.list = {kInfinity, kInfinity, 1000, 1000};
  const scene::Scene soft = test::build(spec);
  MixedIntegerMpc paying(soft);
  const MpcResult& slowed = paying.control(at({0, -3}, {3, 0}));
  EXPECT_EQ(slowed.status, Status::kSolved);
  EXPECT_NEAR(slowed.u(0), -1, 1e-7);
}

TEST(MixedIntegerMpc, FollowsReferencesOverTime) {
  // Without surfaces in reach it is the quadratic program of a double integrator: far weights on places alone reach a
  // moving reference.
  scene::SceneSpec spec = disc_to_goal(5);
  scene::ControlSettings& control = *spec.control;
  control.goal.reset();
  control.Q.list = {100, 100, 0, 0};
  control.Q.all.reset();
  control.R.all = 1e-6;
  for (const double t : {0.0, 10.0}) {
    scene::ReferenceKnot knot{.t = t};
    knot.place.models["disc"].joints.list = {1 + 0.05 * t, -2};
    control.path.push_back(knot);
  }
  const scene::Scene scene = test::build(spec);
  MixedIntegerMpc mpc(scene);
  const MpcResult& result = mpc.control(at({1.1, -2}, {0.05, 0}, 2));
  for (int k = 0; k <= 5; ++k) {
    EXPECT_NEAR(result.program.x_goal(0, k), 1.1 + 0.005 * k, 1e-12);
    EXPECT_NEAR(result.program.x_goal(2, k), 0.05, 1e-12);  // the velocity of the path
  }
  EXPECT_LT(result.u.norm(), 1e-5);  // already on its way
  EXPECT_LT(result.cost, 1e-6);
}

TEST(MixedIntegerMpc, RefusesScenesWithoutControl) {
  const scene::Scene scene = test::build(test::disc_between_surfaces());
  EXPECT_THROW(MixedIntegerMpc{scene}, InputError);
  scene::SceneSpec spec = disc_to_goal(3);
  spec.control->Q.all.reset();
  spec.control->Q.matrix = Eigen::Matrix4d::Identity();
  (*spec.control->Q.matrix)(0, 1) = (*spec.control->Q.matrix)(1, 0) = 2;
  const scene::Scene indefinite = test::build(spec);
  try {
    MixedIntegerMpc mpc(indefinite);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("Q"), std::string::npos);
  }
}

}  // namespace mixed_integer_mpc_test
}  // namespace deft::control
