// Derivatives under friction_law: coulomb, whose gaps follow their own sliding, against differences of whole steps.

#include "derivative_bench.hpp"
#include "parameter_differences.hpp"

namespace deft::dynamics {
namespace step_derivative_coulomb_test {

using namespace collision::reference;

constexpr scene::Cone kCones[] = {scene::Cone::kPyramid, scene::Cone::kCone};

scene::SceneSpec under_coulomb(scene::SceneSpec spec) {
  spec.step.friction_law = scene::FrictionLaw::kCoulomb;
  return spec;
}

/// How many contacts of a step press and slide.
int sliding_contacts(const StepResult& result) {
  int count = 0;
  for (std::size_t i = 0; i < result.de_saxce.size(); ++i)
    count += result.solution.force[i][0] > 0.1 && result.de_saxce[i] > 1e-5;
  return count;
}

TEST(CoulombDerivative, FollowsDifferencesForPairsOfShapes) {
  const std::vector<collision::reference::Body> shapes = {sphere(0.05),           capsule(0.03, 0.12),
                                                          box({0.12, 0.1, 0.08}), prism(5, 0.06, 0.1),
                                                          cylinder(0.05, 0.1),    ellipsoid({0.04, 0.06, 0.08})};
  int sliding = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t j = 0; j < shapes.size(); ++j) {
      int checked = 0;
      for (int trial = 0; trial < 6; ++trial) {
        Random random(100 * i + 10 * j + trial);
        scene::SceneSpec spec = under_coulomb(arm_and_body(shapes[i], shapes[j], uniform(random, 1e-3, 4e-3), random));
        spec.step.cone = kCones[trial % 2];
        Bench bench(spec);
        ASSERT_NO_FATAL_FAILURE(bench.differentiate()) << shapes[i].name << " – " << shapes[j].name << " " << trial;
        if (bench.differentiator.is_nonsmooth()) continue;
        const auto by_q = bench.errors(Bench::By::kQ), by_u = bench.errors(Bench::By::kU);
        if (!by_q || !by_u) continue;
        ++checked;
        sliding += sliding_contacts(bench.result);
        EXPECT_LT(std::max(by_q->largest(), by_u->largest()), kTolerance)
            << fmt::format("{} – {} trial {}: A {:.1e}, ∂f/∂q {:.1e}, B {:.1e}, ∂f/∂u {:.1e}", shapes[i].name,
                           shapes[j].name, trial, by_q->motion, by_q->force, by_u->motion, by_u->force);
      }
      EXPECT_GE(checked, 1) << shapes[i].name << " – " << shapes[j].name;
    }
  }
  EXPECT_GT(sliding, 50);
}

TEST(CoulombDerivative, OfStickingAndSlidingContactsFollowsDifferencesAtEveryBarrierAndWithoutOne) {
  for (const scene::Cone cone : kCones) {
    for (const double kappa : {10.0, 1e3, 1e6, kInfinity}) {
      int sliding = 0;
      for (const Vector3d& target :
           {Vector3d(0.05, 0, 0), Vector3d(0.05, 0.03, 0.01), Vector3d(0.06, -0.02, 0.07), Vector3d(0.03, 0.08, 0)}) {
        Bench bench(under_coulomb(squeezed_ball(kappa, cone)));
        bench.u = target;
        bench.check(fmt::format("cone {} kappa {} target {} {} {}", static_cast<int>(cone), kappa, target.x(),
                                target.y(), target.z()));
        sliding += sliding_contacts(bench.result);
      }
      EXPECT_GT(sliding, 0) << kappa;
    }
  }
}

TEST(CoulombDerivative, OfABrickThatSlidesOnFourCornersFollowsDifferences) {
  for (const scene::Dynamics dynamics : {scene::Dynamics::kQuasidynamic, scene::Dynamics::kQuasistatic}) {
    scene::SceneSpec spec = under_coulomb(pushed_brick(scene::Cone::kPyramid));
    spec.step.dynamics = dynamics;
    Bench bench(spec);
    bench.u << 0.06, 0.01;
    ASSERT_NO_FATAL_FAILURE(bench.differentiate());
    const std::string what = fmt::format("dynamics {}", static_cast<int>(dynamics));
    const auto nonsmooth_points = bench.differentiator.nonsmooth_points();
    EXPECT_FALSE(bench.differentiator.is_nonsmooth())
        << what << ": " << (nonsmooth_points.empty() ? "" : nonsmooth_points[0]);
    EXPECT_GT(bench.result.delta.segment<2>(5).norm(), 0.01) << "it slides";
    // The motion does not determine how four corners share the load: compare motions only.
    const auto by_q = bench.errors(Bench::By::kQ), by_u = bench.errors(Bench::By::kU);
    ASSERT_TRUE(by_q && by_u) << what;
    EXPECT_LT(by_q->motion, kTolerance) << what;
    EXPECT_LT(by_u->motion, kTolerance) << what;
  }
}

TEST(CoulombDerivative, IsFlaggedAndSmoothedWhereSlidingConesShareALoad) {
  // Each share turns the friction of the corners in another way: the exact step has several solutions.
  constexpr double kSoftness_J = 1e-4;
  scene::SceneSpec spec = under_coulomb(pushed_brick(scene::Cone::kCone));
  Bench exact(spec);
  spec.step.kappa = 1 / kSoftness_J;
  Bench smoothed(spec);
  exact.u << 0.06, 0.01;
  smoothed.u = exact.u;
  ASSERT_NO_FATAL_FAILURE(exact.differentiate({.mu_gradient = kSoftness_J}));
  ASSERT_NO_FATAL_FAILURE(smoothed.check("smoothed"));
  EXPECT_TRUE(exact.differentiator.is_nonsmooth());
  EXPECT_TRUE(exact.differentiator.is_smoothed());
  // The forces of that step at the configuration of this one: ∂/∂u is the same, A differs by Γ of the other motion.
  EXPECT_LT(test::relative_error(exact.derivative.dforce_du, smoothed.derivative.dforce_du), 1e-6);
  EXPECT_LT(test::relative_error(exact.derivative.dforce_dq, smoothed.derivative.dforce_dq), 1e-6);
}

TEST(CoulombDerivative, FollowsDifferencesOfSecondOrder) {
  for (const scene::Cone cone : kCones) {
    for (const double kappa : {300.0, kInfinity}) {
      scene::SceneSpec spec = under_coulomb(squeezed_ball(kappa, cone));
      spec.step.model = scene::ModelKind::kConvexSecondOrder;
      spec.step.h = 0.02;
      Bench bench(spec);
      bench.v.resize(bench.scene.nv());
      bench.u << 0.05, 0.03, 0.01;
      bench.v << 2, 1.5, 0.3, 0.2, -0.1, 0.3, 0.1, 0, -0.2;
      bench.check(fmt::format("cone {} kappa {}", static_cast<int>(cone), kappa));
      EXPECT_GT(sliding_contacts(bench.result), 0) << kappa;
    }
  }
}

TEST(CoulombDerivative, FollowsDifferencesWithPatchesLimitsAndMidpointForces) {
  const auto variant = [](const std::string& what, const auto& change) {
    for (const double kappa : {300.0, kInfinity}) {
      scene::SceneSpec spec = under_coulomb(squeezed_ball(kappa, scene::Cone::kCone));
      change(spec);
      Bench bench(spec);
      bench.u << 0.05, 0.03, 0.01;
      bench.check(fmt::format("{} kappa {}", what, kappa));
    }
  };
  variant("midpoint", [](scene::SceneSpec& spec) { spec.step.midpoint_forces = true; });
  variant("patch", [](scene::SceneSpec& spec) { spec.friction.ellipsoid = std::array{1.0, 0.6, 0.02}; });
  variant("limits", [](scene::SceneSpec& spec) {
    for (auto& joint : spec.world.models[0].joints) joint.axes[0].lower = -0.02, joint.axes[0].upper = 0.035;
  });
}

TEST(CoulombDerivative, FollowsDifferencesWithContactsLinearisedAgain) {
  int sliding = 0;
  for (const scene::Cone cone : kCones) {
    for (const double kappa : {300.0, kInfinity}) {
      for (const int relinearize : {1, 2}) {
        scene::SceneSpec spec = under_coulomb(squeezed_ball(kappa, cone));
        spec.step.relinearize = relinearize;
        Bench bench(spec);
        bench.u << 0.05, 0.03, 0.01;
        bench.check(fmt::format("cone {} kappa {} relinearize {}", static_cast<int>(cone), kappa, relinearize));
        ASSERT_EQ(static_cast<int>(bench.result.linearizations.size()), relinearize);
        sliding += sliding_contacts(bench.result);
      }
    }
  }
  EXPECT_GE(sliding, 8);
}

TEST(CoulombDerivative, OfExactStepsIsTheLimitOfSmoothedOnes) {
  Bench exact(under_coulomb(squeezed_ball(kInfinity, scene::Cone::kCone)));
  exact.u << 0.05, 0.03, 0.01;
  ASSERT_NO_FATAL_FAILURE(exact.differentiate());
  double last = 1;
  for (const double kappa : {1e6, 1e8, 1e10}) {
    Bench smooth(under_coulomb(squeezed_ball(kappa, scene::Cone::kCone)));
    smooth.u = exact.u;
    ASSERT_NO_FATAL_FAILURE(smooth.differentiate());
    const double error = test::relative_error(smooth.derivative.A, exact.derivative.A);
    EXPECT_LT(error, 0.3 * last) << kappa;
    last = error;
  }
  EXPECT_LT(last, 1e-4);
}

TEST(CoulombDerivative, ProductsAreThoseOfTheJacobians) {
  for (const double kappa : {300.0, kInfinity}) {
    for (const int relinearize : {0, 1}) {
      scene::SceneSpec spec = under_coulomb(squeezed_ball(kappa, scene::Cone::kPyramid));
      spec.step.relinearize = relinearize;
      Bench bench(spec);
      bench.u << 0.05, 0.03, 0.01;
      ASSERT_NO_FATAL_FAILURE(bench.differentiate());
      const StepDerivative& d = bench.derivative;
      const int nv = bench.scene.nv(), nu = bench.scene.nu(), rows = static_cast<int>(d.dforce_dq.rows());
      const VectorXd dq = VectorXd::LinSpaced(nv, -1, 1.7), du = VectorXd::LinSpaced(nu, 0.3, -0.8);
      VectorXd force;
      const VectorXd moved = bench.differentiator.forward(dq, du, &force);
      EXPECT_LT(test::relative_error(moved, d.A * dq + d.B * du), 1e-12);
      EXPECT_LT(test::relative_error(force, d.dforce_dq * dq + d.dforce_du * du), 1e-12);
      const VectorXd w = VectorXd::LinSpaced(nv, 2, -1), w_force = 1e-3 * VectorXd::LinSpaced(rows, -1, 1);
      VectorXd q_bar, u_bar;
      bench.differentiator.backward(w, w_force, q_bar, u_bar);
      EXPECT_LT(test::relative_error(q_bar, d.A.transpose() * w + d.dforce_dq.transpose() * w_force), 1e-11) << kappa;
      EXPECT_LT(test::relative_error(u_bar, d.B.transpose() * w + d.dforce_du.transpose() * w_force), 1e-11) << kappa;
      StepDerivative inputs;
      bench.differentiator.linearize(bench.q, bench.u, bench.result, {.configuration = false});
      bench.differentiator.jacobians(inputs);
      EXPECT_LT(test::relative_error(inputs.B, d.B), 1e-13) << kappa;
    }
  }
}

TEST(CoulombDerivative, ByParametersFollowsDifferencesOfScenes) {
  for (const scene::Cone cone : kCones) {
    for (const double kappa : {300.0, kInfinity}) {
      scene::SceneSpec spec = under_coulomb(squeezed_ball(kappa, cone));
      spec.robots[0].stiffness = {.list = {300, 350, 400}};
      Bench bench(spec);
      bench.u << 0.05, 0.03, 0.01;
      ASSERT_NO_FATAL_FAILURE(bench.differentiate());
      const std::vector<ParameterCase> cases = parameter_cases(bench, 0.6);
      std::vector<Parameter> parameters;
      for (const ParameterCase& each : cases) parameters.push_back(each.parameter);
      MatrixXd dq_next, dforce;
      bench.differentiator.parameters(parameters, dq_next, dforce);
      for (std::size_t k = 0; k < cases.size(); ++k) {
        const std::string what = fmt::format("{} kappa {} cone {}", cases[k].name, kappa, static_cast<int>(cone));
        const auto expected = parameter_differences(cases[k], spec, bench);
        ASSERT_TRUE(expected) << what;
        const auto column = static_cast<Eigen::Index>(k);
        EXPECT_LT(test::relative_error(dq_next.col(column), expected->head(bench.scene.nv())), 1e-6) << what;
        EXPECT_LT(test::relative_error(dforce.col(column), expected->tail(dforce.rows())), 1e-6) << what;
      }
    }
  }
}

TEST(CoulombDerivative, IsFlaggedAndSmoothedWhereAStickingContactIsAboutToSlide) {
  // A block of 1 kg in the plane on a slide of its own, pressed by its weight; a spring pulls with just μ m g.
  const auto block =
      test::body("block", JointKind::kAxes, {test::slide("x", Vector3d::UnitX()), test::slide("z", Vector3d::UnitZ())},
                 multibody::SphereSpec{0.1}, 1, 0.004, 0.5, test::at(0, 0, 0.1));
  scene::SceneSpec spec = under_coulomb(test::scene_spec(
      {block, test::fixed_body("floor", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.5)}, {{"block", 100}}));
  spec.plane = scene::Plane::kXZ;
  // The springs press with 100 N/m · 0.1 m and pull with 100 N/m · u_x: it slides above u_x = 0.05 m.
  for (const double u : {0.04, 0.05, 0.06}) {
    Bench bench(spec);
    bench.u = Eigen::Vector2d(u, -0.1);
    ASSERT_NO_FATAL_FAILURE(bench.differentiate({.mu_gradient = 1e-6}));
    const bool is_edge = u == 0.05;
    EXPECT_EQ(bench.differentiator.is_nonsmooth(), is_edge) << u;
    EXPECT_EQ(bench.differentiator.is_smoothed(), is_edge) << u;
    EXPECT_EQ(bench.differentiator.nonsmooth_points().empty(), !is_edge) << u;
    const double slope = bench.derivative.B(0, 0);
    if (is_edge) {
      EXPECT_GT(slope, 0.01);
      EXPECT_LT(slope, 0.99);
    } else {
      EXPECT_NEAR(slope, u < 0.05 ? 0 : 1, 1e-9) << u;
    }
  }
}

}  // namespace step_derivative_coulomb_test
}  // namespace deft::dynamics
