// Derivatives of exact steps, nonsmooth points, products and parameters.

#include "derivative_bench.hpp"
#include "parameter_differences.hpp"

namespace deft::dynamics {
namespace step_derivative_exact_test {

TEST(ExactStepDerivative, OfABrickThatSlidesOnFourCornersFollowsDifferences) {
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    for (const scene::Dynamics dynamics : {scene::Dynamics::kQuasidynamic, scene::Dynamics::kQuasistatic}) {
      scene::SceneSpec spec = pushed_brick(cone);
      spec.step.dynamics = dynamics;
      Bench bench(spec);
      bench.u << 0.06, 0.01;
      bench.differentiate();
      const auto nonsmooth_points = bench.differentiator.nonsmooth_points();
      EXPECT_FALSE(bench.differentiator.is_nonsmooth()) << (nonsmooth_points.empty() ? "" : nonsmooth_points[0]);
      EXPECT_GT(bench.result.delta.segment<2>(5).norm(), 0.01) << "it slides";
      // The motion does not determine how four corners share the load: compare motions only.
      const auto by_q = bench.errors(Bench::By::kQ), by_u = bench.errors(Bench::By::kU);
      ASSERT_TRUE(by_q && by_u);
      const std::string what = fmt::format("cone {} dynamics {}", static_cast<int>(cone), static_cast<int>(dynamics));
      EXPECT_LT(by_q->motion, kTolerance) << what;
      EXPECT_LT(by_u->motion, kTolerance) << what;
    }
  }
}

TEST(ExactStepDerivative, OfStickingAndSlidingContactsFollowsDifferences) {
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    int sticking = 0, sliding = 0;
    for (const Vector3d& target :
         {Vector3d(0.05, 0, 0), Vector3d(0.05, 0.03, 0.01), Vector3d(0.06, -0.02, 0.07), Vector3d(0.03, 0.08, 0)}) {
      Bench bench(squeezed_ball(kInfinity, cone));
      bench.u = target;
      bench.check(fmt::format("cone {} target {} {} {}", static_cast<int>(cone), target.x(), target.y(), target.z()));
      for (std::size_t i = 0; i < bench.result.solution.force.size(); ++i) {
        const auto& f = bench.result.solution.force[i];
        if (f[0] > 0.1) (bench.result.solution.gap[i] > 1e-6 ? sliding : sticking) += 1;
      }
    }
    EXPECT_GT(sticking, 0);
    EXPECT_GT(sliding, 0);
  }
}

TEST(ExactStepDerivative, IsTheLimitOfSmoothedOnes) {
  Bench exact(squeezed_ball(kInfinity, scene::Cone::kCone));
  exact.u << 0.05, 0.03, 0.01;
  exact.differentiate();
  double last = 1;
  for (const double kappa : {1e6, 1e8, 1e10}) {
    Bench smooth(squeezed_ball(kappa, scene::Cone::kCone));
    smooth.u = exact.u;
    smooth.differentiate();
    const double error = test::relative_error(smooth.derivative.A, exact.derivative.A);
    EXPECT_LT(error, 0.3 * last) << kappa;
    last = error;
  }
  EXPECT_LT(last, 1e-4);
}

TEST(StepDerivativeProducts, AreThoseOfTheJacobians) {
  for (const double kappa : {300.0, kInfinity}) {
    Bench bench(squeezed_ball(kappa, scene::Cone::kPyramid));
    bench.u << 0.05, 0.03, 0.01;
    bench.differentiate();
    const StepDerivative& d = bench.derivative;
    const auto nonsmooth_points = bench.differentiator.nonsmooth_points();
    EXPECT_TRUE(nonsmooth_points.empty()) << kappa << ": " << nonsmooth_points[0];
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
    // Without the configuration: the same B, nothing of A.
    StepDerivative inputs;
    bench.differentiator.linearize(bench.q, bench.u, bench.result, {.configuration = false});
    bench.differentiator.jacobians(inputs);
    EXPECT_EQ(inputs.A.size(), 0);
    EXPECT_LT(test::relative_error(inputs.B, d.B), 1e-13) << kappa;
    EXPECT_THROW(bench.differentiator.forward(dq, du), std::invalid_argument);
  }
}

TEST(StepDerivativeProducts, OfContactsThatAreListedAreThoseOfAll) {
  for (const double kappa : {300.0, kInfinity}) {
    Bench bench(squeezed_ball(kappa, scene::Cone::kPyramid));
    bench.u << 0.05, 0.03, 0.01;
    bench.differentiate();
    const StepDerivative& all = bench.derivative;
    const int contacts = static_cast<int>(bench.result.problem.contacts.size());
    ASSERT_GE(contacts, 2);
    StepDerivative some;
    bench.differentiator.linearize(bench.q, bench.u, bench.result, {.motion_only = true});
    const std::vector<int> listed{contacts - 1, 0};  // not in their order
    bench.differentiator.jacobians(listed, some);
    EXPECT_LT(test::relative_error(some.A, all.A), 1e-13) << kappa;
    EXPECT_LT(test::relative_error(some.B, all.B), 1e-13) << kappa;
    ASSERT_EQ(some.first_row.size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) {
      const int rows = bench.result.problem.J.rows(listed[k]), from = all.first_row[listed[k]];
      EXPECT_LT(test::relative_error(some.dforce_dq.middleRows(some.first_row[k], rows),
                                     all.dforce_dq.middleRows(from, rows)),
                1e-12);
      EXPECT_LT(test::relative_error(some.dforce_du.middleRows(some.first_row[k], rows),
                                     all.dforce_du.middleRows(from, rows)),
                1e-12);
    }
    EXPECT_EQ(some.dforce_W_dq.size() + some.dforce_W_du.size(), 0);
    // None: the motion alone.
    bench.differentiator.jacobians(std::vector<int>{}, some);
    EXPECT_LT(test::relative_error(some.A, all.A), 1e-13) << kappa;
    EXPECT_EQ(some.dforce_dq.rows(), 0);
    EXPECT_THROW(bench.differentiator.jacobians(std::vector<int>{contacts}, some), std::invalid_argument);
    EXPECT_THROW(bench.differentiator.jacobians(std::vector<int>{-1}, some), std::invalid_argument);
    // What was left out cannot be asked for.
    MatrixXd dq_next, dforce;
    const Parameter offset{Parameter::Kind::kOffset, 0, 0};
    EXPECT_THROW(bench.differentiator.parameters({&offset, 1}, dq_next, dforce), std::invalid_argument);
  }
}

TEST(StepDerivativeProducts, RefuseStepsThatFailed) {
  Bench bench(squeezed_ball(300, scene::Cone::kCone));
  bench.differentiate();
  StepResult failed = bench.result;
  failed.status = solvers::Status::kInfeasible;
  EXPECT_THROW(bench.differentiator.linearize(bench.q, bench.u, failed), std::invalid_argument);
  EXPECT_THROW(bench.differentiator.linearize(bench.q, VectorXd(), bench.result), std::invalid_argument);
  EXPECT_THROW(bench.differentiator.linearize(bench.q, bench.u, bench.result, {.mu_gradient = -1}),
               std::invalid_argument);
}

TEST(StepDerivativeParameters, FollowDifferencesOfScenes) {
  for (const double kappa : {300.0, kInfinity}) {
    for (const auto& [with_rule, with_object_damping] :
         {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
      scene::SceneSpec spec = squeezed_ball(kappa, scene::Cone::kPyramid);
      spec.step.joint_damping.all = 4;
      if (with_rule) spec.step.unactuated_mass_scale = 2;
      if (with_object_damping) spec.step.object_damping.all = 25;
      spec.robots[0].stiffness = {.list = {300, 350, 400}};
      Bench bench(spec);
      bench.u << 0.05, 0.03, 0.01;
      bench.differentiate();
      const std::vector<ParameterCase> cases = parameter_cases(bench, 0.6);
      std::vector<Parameter> parameters;
      for (const ParameterCase& each : cases) parameters.push_back(each.parameter);
      MatrixXd dq_next, dforce;
      bench.differentiator.parameters(parameters, dq_next, dforce);
      for (std::size_t k = 0; k < cases.size(); ++k) {
        const std::string what = fmt::format("{} kappa {} rule {}", cases[k].name, kappa, with_rule);
        const auto expected = parameter_differences(cases[k], spec, bench);
        ASSERT_TRUE(expected) << what;
        EXPECT_LT(test::relative_error(dq_next.col(static_cast<Eigen::Index>(k)), expected->head(bench.scene.nv())),
                  1e-7)
            << what;
        EXPECT_LT(test::relative_error(dforce.col(static_cast<Eigen::Index>(k)), expected->tail(dforce.rows())), 1e-7)
            << what;
      }
    }
  }
}

TEST(StepDerivativeKinks, AreFlaggedWhereAContactIsAboutToTouch) {
  // A finger that comes to rest exactly at the ball: pushing on moves it, pulling back does not.
  const auto on_line = [](const char* name, double y) {
    return test::body(name, JointKind::kAxes, {test::slide("y", Vector3d::UnitY())}, multibody::SphereSpec{0.1}, 1,
                      0.004, 0.8, test::at(0, y, 0));
  };
  Bench bench(test::scene_spec({on_line("finger", 0), on_line("ball", 0.25)}, {{"finger", 500}}));
  bench.u << 0.05;
  bench.differentiate({.mu_gradient = 1e-6});
  EXPECT_TRUE(bench.differentiator.is_nonsmooth());
  EXPECT_TRUE(bench.differentiator.is_smoothed());
  ASSERT_FALSE(bench.differentiator.nonsmooth_points().empty());
  // Between the two one-sided derivatives.
  EXPECT_GT(bench.derivative.B(1, 0), 0.01);
  EXPECT_LT(bench.derivative.B(1, 0), 500 / (500 + 1 / 0.01) - 0.01);
  for (const double u : {0.045, 0.055}) {
    bench.u << u;
    bench.differentiate();
    EXPECT_FALSE(bench.differentiator.is_nonsmooth());
    EXPECT_NEAR(bench.derivative.B(1, 0), u < 0.05 ? 0.0 : 500 / (500 + 1 / 0.01), 1e-9);
  }
}

}  // namespace step_derivative_exact_test
}  // namespace deft::dynamics
