// The laws of exact Coulomb friction, on random worlds and on the bundled scenes.

#include <gtest/gtest.h>

#include <map>

#include "conformance/bundled_scenes.hpp"
#include "conformance/laws.hpp"
#include "conformance/random_scene.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"

namespace deft::dynamics {
namespace coulomb_conformance_test {

using Eigen::VectorXd;
using scene::ModelKind;
using solvers::Status;
using test::RandomScenes;

/// A random scene without what these models do not have.
scene::SceneSpec with_polygons(scene::SceneSpec spec, ModelKind model) {
  spec.step.model = model;
  spec.step.cone = scene::Cone::kPyramid;
  spec.step.effort_limits = false;
  std::erase_if(spec.friction.pairs, [](const auto& pair) { return pair.ellipsoid.has_value(); });
  return spec;
}

TEST(CoulombConformance, SecondOrderStepsOfRandomScenesObeyTheLaws) {
  RandomScenes random(21);
  for (int k = 0; k < 400; ++k) {
    scene::SceneSpec spec = with_polygons(random.next(), ModelKind::kStewartTrinkle);
    spec.step.rays = 4 + 2 * (k % 4);
    const VectorXd u = random.command();
    const scene::Scene scene = test::build(std::move(spec));
    const auto model = make_step_model(scene);
    State state{.q = scene.initial_configuration()};
    StepResult result;
    for (int step = 0; step < 3; ++step) {
      SCOPED_TRACE("scene " + std::to_string(k) + " step " + std::to_string(step));
      state.t = step * model->h();
      model->step(state, u, result);
      test::expect_coulomb_laws(result);
      if (HasFatalFailure()) return;
      state.q = result.q_next;
      state.v = result.v_next;
    }
  }
}

// Quasistatic steps may have no solution; those that have one obey the laws, and others are not said to be solved.
TEST(CoulombConformance, QuasistaticStepsOfRandomScenesObeyTheLawsOrHaveNoSolution) {
  RandomScenes random(22);
  std::map<Status, int> counts;
  for (int k = 0; k < 120; ++k) {
    scene::SceneSpec spec = random.next();
    spec.gravity_W.head<2>() *= 0.1;
    const VectorXd u = random.command();
    for (const ModelKind kind : {ModelKind::kImpedance, ModelKind::kPerfectTracking}) {
      const scene::Scene scene = test::build(with_polygons(spec, kind));
      const auto model = make_step_model(scene);
      StepResult result;
      model->step(scene.initial_configuration(), u, result);
      SCOPED_TRACE("scene " + std::to_string(k) + " " + std::string(to_string(kind)) + " " +
                   std::string(solvers::to_string(result.status)));
      ++counts[result.status];
      if (solvers::usable(result.status)) {
        test::expect_coulomb_laws(result);
        if (HasFatalFailure()) return;
      } else {
        EXPECT_NE(result.status, Status::kUnbounded);
        EXPECT_NE(result.status, Status::kNumericalFailure);
        EXPECT_EQ(result.delta, VectorXd::Zero(scene.nv()));
        if (result.status == Status::kInfeasible) {
          EXPECT_LE(result.certificate.infeasible, solvers::contact::kCertified);
        }
      }
    }
  }
  EXPECT_GT(counts[Status::kSolved], 20);
  EXPECT_GT(counts[Status::kInfeasible], 50);
  EXPECT_LE(counts[Status::kRayTermination], 5) << "statuses are found";
}

TEST(CoulombConformance, BundledScenesObeyTheLaws) {
  for (const std::string& file : test::bundled_scenes()) {
    SCOPED_TRACE(file);
    const scene::Scene scene = test::load_bundled(file, {"step.model=stewart-trinkle", "step.h=0.005", "step.kappa=inf",
                                                         "step.cone=pyramid", "step.effort_limits=false"});
    const auto model = make_step_model(scene);
    State state = initial_state(*model);
    StepResult result;
    VectorXd u(scene.nu());
    for (int k = 0; k < 3; ++k) {
      state.t = k * model->h();
      scene.command(state.t, model->h(), u);
      model->step(state, u, result);
      test::expect_coulomb_laws(result);
      if (HasFatalFailure()) return;
      state.q = result.q_next;
      state.v = result.v_next;
    }
  }
}

}  // namespace coulomb_conformance_test
}  // namespace deft::dynamics
