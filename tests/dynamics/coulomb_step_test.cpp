// Steps with friction_law: coulomb, whose sliding bodies do not separate: closed forms and the law itself.

#include <gtest/gtest.h>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/dynamics/step_model.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace coulomb_step_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::SphereSpec;
using test::at;

struct Variant {
  const char* name;
  scene::Cone cone;
  bool patch;
};
constexpr Variant kVariants[] = {{"pyramid", scene::Cone::kPyramid, false},
                                 {"cone", scene::Cone::kCone, false},
                                 {"patch", scene::Cone::kCone, true}};

/// A flat box of 2 kg on a plane with μ = 0.5 at both; gravity pulls sideways too.
scene::SceneSpec box_on_plane(const Variant& variant, const Vector3d& gravity_W) {
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("box", BoxSpec{{0.2, 0.2, 0.02}}, 2, 2e-3, 0.5, at(0, 0, 0.01)),
                        test::fixed_body("ground", BoxSpec{{10, 10, 1}}, 0.5, at(0, 0, -0.5))});
  spec.gravity_W = gravity_W;
  spec.step.cone = variant.cone;
  spec.step.contact_margin = 0.01;
  spec.step.friction_law = scene::FrictionLaw::kCoulomb;
  if (variant.patch) spec.friction.ellipsoid = std::array{1.0, 1.0, 0.02};
  return spec;
}

StepResult step_from(const scene::Scene& scene, const VectorXd& v = {}) {
  const auto model = make_step_model(scene);
  StepResult result;
  model->step(State{.q = scene.initial_configuration(), .v = v}, VectorXd(scene.nu()), result);
  return result;
}

Vector3d total_force(const StepResult& result) {
  Vector3d total = Vector3d::Zero();
  for (std::size_t i = 0; i < result.problem.contacts.size(); ++i) {
    const auto& f = result.solution.force[i];
    const contact::Contact& c = result.problem.contacts[i];
    total += f[0] * c.n_W + f[1] * c.t1_W + f[2] * c.t2_W;
  }
  return total;
}

TEST(CoulombStep, ABoxSlidesWithoutSeparating) {
  for (const Variant& variant : kVariants) {
    const StepResult result = step_from(test::build(box_on_plane(variant, {8, 0, -10})));
    ASSERT_EQ(result.status, solvers::Status::kSolved) << variant.name;
    EXPECT_LE(result.certificate.max_scaled(), 1e-9) << variant.name;
    // Of 16 N sideways friction holds 10 N: δ_x = h² 6 N / 2 kg.
    EXPECT_NEAR(result.delta(3), 0.01 * 3, 1e-9) << variant.name;
    EXPECT_NEAR(result.delta(4), 0, 1e-9) << variant.name;
    EXPECT_NEAR(result.delta(5), 0, 1e-9) << variant.name;
    const Vector3d f = total_force(result) * (result.problem.contacts[0].n_W.z() > 0 ? 1 : -1);
    EXPECT_NEAR(f.z(), 20, 1e-6) << variant.name;
    EXPECT_NEAR(f.x(), -10, 1e-6) << variant.name;
    for (const double gap : result.solution.gap) EXPECT_GE(gap, -1e-10) << variant.name;
  }
}

TEST(CoulombStep, RestIsThatOfTheAssociatedLaw) {
  for (const Variant& variant : kVariants) {
    scene::SceneSpec spec = box_on_plane(variant, {4, 0, -10});
    const StepResult coulomb = step_from(test::build(spec));
    spec.step.friction_law = scene::FrictionLaw::kAssociated;
    const StepResult associated = step_from(test::build(spec));
    ASSERT_EQ(coulomb.status, solvers::Status::kSolved);
    EXPECT_LE((coulomb.delta - associated.delta).lpNorm<Eigen::Infinity>(), 1e-10) << variant.name;
    for (std::size_t i = 0; i < coulomb.solution.force.size(); ++i)
      EXPECT_NEAR(coulomb.solution.force[i][0], associated.solution.force[i][0], 1e-7) << variant.name;
  }
}

TEST(CoulombStep, AThrownBoxStopsAfterItsClosedFormDistance) {
  for (const Variant& variant : kVariants) {
    scene::SceneSpec spec = box_on_plane(variant, {0, 0, -10});
    spec.step.model = scene::ModelKind::kConvexSecondOrder;
    spec.step.h = 0.01;
    const scene::Scene scene = test::build(spec);
    const auto model = make_step_model(scene);
    State start{.q = scene.initial_configuration(), .v = VectorXd::Zero(6)};
    start.v(3) = 1;
    Trajectory motion = start_trajectory(*model, start);
    ASSERT_TRUE(rollout(*model, start, {.steps = 30}, motion).completed) << variant.name;
    // v falls by μ g h = 0.05 m/s per step; the sum of h v until rest is 0.01 Σ_{k=1}^{19} 0.05 k.
    EXPECT_NEAR(motion.q.back()[4] - motion.q.front()[4], 0.01 * 0.05 * 190, 1e-8) << variant.name;
    for (const StepRecord& step : motion.steps) EXPECT_LE(std::abs(step.gap_min), 1e-8) << variant.name;
    for (const ContactRecord& contact : motion.contacts) EXPECT_EQ(contact.boundary_gap, 0);
  }
}

TEST(CoulombStep, AFingerDragsABlock) {
  // A ball on springs (100 N/m) presses on a block of 1 kg with 100·0.05 N and moves 20 cm sideways in steps of 5 mm.
  // The block sticks to it (μ = 1) and slides on the ground (μ = 0.25, and no less) with 0.25 (10 + 5) N, so the spring
  // trails by that and m δ/h² once everything moves.
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    const multibody::ModelSpec finger =
        test::body("finger", multibody::JointKind::kAxes, {test::slide("x", {1, 0, 0}), test::slide("z", {0, 0, 1})},
                   SphereSpec{0.02}, 0.1, 1e-4, 1, at(0, 0, 0.06));
    scene::SceneSpec spec =
        test::scene_spec({finger, test::free_body("block", BoxSpec{{0.6, 0.6, 0.04}}, 1, 0.1, 1, at(0, 0, 0.02)),
                          test::fixed_body("ground", BoxSpec{{10, 10, 1}}, 1.0 / 7, at(0, 0, -0.5))},
                         {{"finger", 100}});
    spec.gravity_W = {0, 0, -10};
    spec.step.cone = cone;
    spec.step.contact_margin = 0.01;
    spec.step.friction_law = scene::FrictionLaw::kCoulomb;
    const scene::Scene scene = test::build(spec);
    const auto model = make_step_model(scene);
    State state{.q = scene.initial_configuration()};
    StepResult result;
    for (int k = 1; k <= 40; ++k) {
      model->step(state, Eigen::Vector2d(0.005 * k, -0.05), result);
      ASSERT_EQ(result.status, solvers::Status::kSolved) << k;
      EXPECT_LE(result.certificate.max_scaled(), 1e-9);
      for (std::size_t i = 0; i < result.de_saxce.size(); ++i) {
        EXPECT_GE(result.solution.gap[i], -1e-10);
        EXPECT_NEAR(result.solution.gap[i] * result.solution.force[i][0], 0, 1e-9) << "step " << k;
      }
      state.q = result.q_next;
    }
    const double inertia = 1 * 0.005 / 0.01;  // m δ/h² of the block
    EXPECT_NEAR(state.q(0), 0.2 - (0.25 * 15 + inertia) / 100, 1e-7);
    EXPECT_NEAR(state.q(1), 0, 1e-9) << "the block stays on the ground";
    EXPECT_NEAR(result.delta(2 + 3), 0.005, 1e-8);
  }
}

/// 1/κ times the number of rays, 2 of cones: what f_n times the true gap is with a barrier.
double power_of_barrier(const StepResult& result, int i) {
  const bool is_round = result.problem.contacts[static_cast<std::size_t>(i)].patch ||
                        result.program.model == solvers::contact::FrictionModel::kCone;
  return (is_round ? 2 : result.program.rays) / result.program.kappa;
}

TEST(CoulombStep, SmoothedNormalForcesAreThoseOfTheTrueGap) {
  for (const Variant& variant : kVariants) {
    for (const double kappa : {30.0, 1e3, 1e6}) {
      scene::SceneSpec spec = box_on_plane(variant, {8, 3, -10});
      spec.step.kappa = kappa;
      const StepResult result = step_from(test::build(spec));
      const std::string what = variant.name + std::string(" kappa ") + std::to_string(kappa);
      ASSERT_EQ(result.status, solvers::Status::kSolved) << what;
      EXPECT_GT(result.delta.segment<2>(3).norm(), 1e-3) << what;
      for (int i = 0; i < result.program.J.size(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        const auto& f = result.solution.force[k];
        VectorXd moved = VectorXd::Zero(result.program.J.rows(i));
        for (std::size_t c = 0; c < result.program.J.cols(i).size(); ++c)
          moved +=
              result.program.J.block(i).col(static_cast<Eigen::Index>(c)) * result.delta(result.program.J.cols(i)[c]);
        const double gap = result.problem.contacts[k].gap + moved(0), expected = power_of_barrier(result, i);
        EXPECT_GT(gap, 0) << what;
        EXPECT_NEAR(f[0] * gap, expected, 1e-6 * expected) << what;
        // Its power is that of friction.
        double power = f[0] * result.de_saxce[k];
        for (Eigen::Index row = 1; row < moved.size(); ++row) power += f[static_cast<std::size_t>(row)] * moved(row);
        EXPECT_NEAR(power, 0, 1e-6 * expected) << what;
      }
    }
  }
}

TEST(CoulombStep, SmoothedStepsTendToTheExactOne) {
  for (const Variant& variant : kVariants) {
    scene::SceneSpec spec = box_on_plane(variant, {8, 0, -10});
    const StepResult exact = step_from(test::build(spec));
    double last = 1;
    for (const double kappa : {1e3, 1e5, 1e7}) {
      spec.step.kappa = kappa;
      const StepResult smoothed = step_from(test::build(spec));
      ASSERT_EQ(smoothed.status, solvers::Status::kSolved) << variant.name << " " << kappa;
      const double error = (smoothed.delta - exact.delta).norm();
      EXPECT_LT(error, 0.1 * last) << variant.name << " " << kappa;
      last = error;
    }
    EXPECT_LT(last, 1e-6) << variant.name;
  }
}

TEST(CoulombStep, WhatPenetratesIsNoSolution) {
  const Variant& cone = kVariants[1];
  scene::SceneSpec spec = box_on_plane(cone, {8, 0, -10});
  spec.world.models.push_back(test::fixed_body("lid", BoxSpec{{10, 10, 1}}, 0.5, at(0, 0, 0.518)));
  const StepResult result = step_from(test::build(spec));
  EXPECT_FALSE(solvers::usable(result.status));
  EXPECT_EQ(result.status, solvers::Status::kIterationLimit);
  EXPECT_EQ(result.delta, VectorXd::Zero(6));
}

TEST(CoulombStep, WhatItDoesNotGoWithIsRefusedByName) {
  const auto error_of = [](scene::SceneSpec spec) -> std::string {
    try {
      const scene::Scene scene = test::build(std::move(spec));
      make_step_model(scene);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  scene::SceneSpec spec = box_on_plane(kVariants[0], {8, 0, -10});
  EXPECT_EQ(error_of(spec), "");
  spec.step.kappa = 100;
  EXPECT_EQ(error_of(spec), "");
  spec.step.compliance = 1e-6;
  EXPECT_NE(error_of(spec).find("step.friction_law: coulomb is for rigid contact"), std::string::npos);
}

}  // namespace coulomb_step_test
}  // namespace deft::dynamics
