// The command of a period: against least squares by hand, its limits, what it says when it cannot, and that a warm one
// allocates nothing.

#include "deft/control/tracking_mpc.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <functional>
#include <vector>

#include "deft/dynamics/step_model.hpp"
#include "planning/planning_scenes.hpp"
#include "support/allocation_counter.hpp"

namespace deft::control {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The scene under other settings.
scene::Scene with(const scene::Scene& scene, const std::function<void(scene::SceneSpec&)>& change) {
  scene::SceneSpec spec = scene.spec();
  change(spec);
  Diagnostics diagnostics;
  return scene::Scene::build(std::move(spec), diagnostics);
}

/// A hand of sixteen joints around a ball, the start of its scene.
const scene::Scene& hand_and_ball() {
  static const scene::Scene scene = test::load_planning("allegro_ball");
  return scene;
}

/// What exact steps make of commands that go linearly from those in force at rest, `rate` per step [rad].
TrackedPlan roll_out(const scene::Scene& scene, const VectorXd& rate, int steps) {
  const auto model = dynamics::make_step_model(scene);
  TrackedPlan plan{.h = model->h(), .q = {scene.initial_configuration()}, .u = {}, .u_start = VectorXd(scene.nu())};
  for (Eigen::Index i = 0; i < plan.u_start.size(); ++i)
    plan.u_start(i) = plan.q[0](scene.command_coordinates()[static_cast<std::size_t>(i)]);
  dynamics::StepResult result;
  for (int k = 0; k < steps; ++k) {
    plan.u.push_back(plan.u_start + (k + 1) * rate);
    model->step(plan.q.back(), plan.u.back(), result);
    EXPECT_TRUE(solvers::usable(result.status));
    plan.q.push_back(result.q_next);
  }
  return plan;
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

TEST(TrackingMpc, AWarmPeriodAllocatesNothing) {
  if (!kCountsAllocations) GTEST_SKIP();
  for (const auto linearization : {scene::TrackLinearization::kMeasured, scene::TrackLinearization::kReference}) {
    for (const double change_weight : {0.0, 1.0}) {
      const scene::Scene scene = with(hand_and_ball(), [&](scene::SceneSpec& spec) {
        spec.track.horizon = 4;
        spec.track.linearization = linearization;
        spec.track.change_weight = change_weight;
        spec.track.normal_force = 20;
        spec.step.effort_limits = true;
      });
      const ReferencePath path(scene, roll_out(scene, closing(scene, 0.01), 6), scene::kInfinity);
      TrackingMpc mpc(scene, scene.spec().track);
      mpc.follow(path);
      std::vector<VectorXd> estimates;
      VectorXd u;
      for (int k = 0; k < 6; ++k) {
        VectorXd q;
        path.configuration(0.5 * k, q);
        estimates.push_back(moved(scene, q, 5e-4, k));
      }
      path.command(1, u);
      const auto periods = [&] {
        for (int k = 0; k < 6; ++k)
          EXPECT_EQ(mpc.control(estimates[static_cast<std::size_t>(k)], 0.5 * k, u, 0.1).status, TrackingStatus::kSolved);
      };
      for (int warm = 0; warm < 8; ++warm) periods();  // scratch grows to what the programs of these periods need
      EXPECT_EQ(testing_support::allocations_during(periods), 0) << to_string(linearization) << " " << change_weight;
    }
  }
}

}  // namespace
}  // namespace deft::control
