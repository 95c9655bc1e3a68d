// Bundled gradients against closed forms of noisy steps, and against each other.

#include "deft/dynamics/batch/bundled_gradient.hpp"
#include "deft/core/index.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace bundled_gradient_test {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::JointKind;
using multibody::SphereSpec;
using test::at;

constexpr double kStandardErrors = 4;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }

/// A finger (q_a) that pushes a block (q_o) of mass m through a spring K, gap g ahead of it. With e = u − g:
///   q_o⁺ = c e₊,  q_a⁺ = u − (1 − c) e₊,  c = (h²/m)/(1/K + h²/m).
struct Push {
  static constexpr double K = 500, m = 2, h = 0.1, gap = 0.05, c = (h * h / m) / (1 / K + h * h / m);
  scene::Scene scene;
  Batch batch;
  BundleResult result;

  Push() : scene(test::build(spec())), batch(scene) {}
  static multibody::ModelSpec slider(const std::string& name, double mass, double y) {
    return test::body(name, JointKind::kAxes, {test::slide("y", Vector3d::UnitY())}, SphereSpec{0.1}, mass, 0.004, 0.8,
                      at(0, y, 0));
  }
  static scene::SceneSpec spec() {
    return test::scene_spec({slider("finger", 1, 0), slider("block", m, 0.25)}, {{"finger", K}});
  }
  const BundleResult& bundle(double u, const BundleOptions& options) {
    bundle_gradient(scene, batch, {.q = VectorXd::Zero(2)}, VectorXd::Constant(1, u), options, result);
    return result;
  }
};

BundleOptions options_of(BundleOrder order, double sigma, int samples) {
  return {.order = order, .sigma_u = VectorXd::Constant(1, sigma), .samples = samples, .seed = 11};
}

TEST(BundledGradient, OfAPushHasItsClosedForm) {
  Push push;
  const double sigma = 0.02;
  constexpr int kSamples = 6000;
  for (const double e : {-0.02, -0.01, 0.0, 0.01, 0.02}) {
    // E[e₊] = e Φ(e/σ) + σ φ(e/σ), its derivative Φ(e/σ).
    const double Phi = normal_cdf(e / sigma), mean = e * Phi + sigma * normal_density(e / sigma);
    const Eigen::Vector2d B(1 - (1 - Push::c) * Phi, Push::c * Phi);
    double error[2];
    for (const BundleOrder order : {BundleOrder::kFirst, BundleOrder::kZero}) {
      const BundleResult& r = push.bundle(Push::gap + e, options_of(order, sigma, kSamples));
      ASSERT_EQ(r.outcome, BundleOutcome::kDone);
      EXPECT_EQ(r.used, kSamples);
      for (int k = 0; k < 2; ++k)
        EXPECT_LE(std::abs(r.B(k, 0) - B(k)), kStandardErrors * r.B_standard_error(k, 0)) << e << " " << k;
      const double nominal = Push::c * std::max(e, 0.0);
      EXPECT_LE(std::abs(r.mean(1) + nominal - Push::c * mean), kStandardErrors * r.mean_standard_error(1));
      EXPECT_NEAR(r.q_next(1), nominal, 1e-9);
      error[static_cast<int>(order)] = r.B_standard_error(1, 0);
    }
    // n Var of the mean of c·1[e + w > 0] is c²Φ(1 − Φ); of the fit c²(3 − 6/π)/4 for e = 0, and larger everywhere.
    EXPECT_NEAR(error[0], Push::c * std::sqrt(Phi * (1 - Phi) / kSamples), 0.03 * error[0]);
    EXPECT_GT(error[1], error[0]);
    if (e != 0) continue;
    EXPECT_NEAR(error[1], Push::c * std::sqrt((3 - 6 / std::numbers::pi) / 4 / kSamples),
                0.1 * error[1]);  // w⁴: 2.5 % of its own
  }
}

TEST(BundledGradient, PairsOfOppositeNoiseAgreeToo) {
  Push push;
  const double sigma = 0.02, e = 0.01, Phi = normal_cdf(e / sigma);
  for (const BundleOrder order : {BundleOrder::kFirst, BundleOrder::kZero}) {
    BundleOptions options = options_of(order, sigma, 4000);
    options.antithetic = true;
    const BundleResult& r = push.bundle(Push::gap + e, options);
    EXPECT_EQ(r.used, 4000);
    EXPECT_LE(std::abs(r.B(1, 0) - Push::c * Phi), kStandardErrors * r.B_standard_error(1, 0));
    EXPECT_LT(r.B_standard_error(1, 0), Push::c * std::sqrt(Phi * (1 - Phi) / 4000));  // they help
  }
  BundleOptions odd = options_of(BundleOrder::kZero, sigma, 3);
  odd.antithetic = true;
  EXPECT_THROW(push.bundle(0, odd), std::invalid_argument);
}

TEST(BundledGradient, StandardErrorsAreTheSpreadOverSeeds) {
  Push push;
  for (const BundleOrder order : {BundleOrder::kFirst, BundleOrder::kZero}) {
    double sum = 0, squares = 0, claimed = 0;
    constexpr int kSeeds = 200;
    for (int seed = 0; seed < kSeeds; ++seed) {
      BundleOptions options = options_of(order, 0.02, 60);
      options.seed = static_cast<std::uint64_t>(seed);
      const BundleResult& r = push.bundle(Push::gap + 0.01, options);
      sum += r.B(1, 0) / kSeeds;
      squares += r.B(1, 0) * r.B(1, 0) / kSeeds;
      claimed += r.B_standard_error(1, 0) / kSeeds;
    }
    const double spread = std::sqrt((squares - sum * sum) * kSeeds / (kSeeds - 1));
    EXPECT_NEAR(spread / claimed, 1, 0.2);  // the spread of 200 has a relative error of 5 %
    EXPECT_LE(std::abs(sum - Push::c * normal_cdf(0.5)), kStandardErrors * spread / std::sqrt(kSeeds));
  }
}

/// A ball on a table below a finger that pushes it sideways: rotations, friction, several columns.
scene::SceneSpec rolling() {
  scene::SceneSpec spec =
      test::scene_spec({test::body("finger", JointKind::kAxes,
                                   {test::slide("x", Vector3d::UnitX()), test::slide("y", Vector3d::UnitY()),
                                    test::slide("z", Vector3d::UnitZ())},
                                   SphereSpec{0.05}, 1, 0.001, 0.7, at(0, 0, 0.14)),
                        test::free_body("ball", SphereSpec{0.1}, 0.5, 0.002, 0.7, at(0.14, 0.01, 0.1)),
                        test::fixed_body("table", multibody::BoxSpec{{2, 2, 0.2}}, 0.5, at(0, 0, -0.1))},
                       {{"finger", 300}});
  spec.gravity_W = {0, 0, -9.81};
  spec.step.contact_margin = 0.1;
  spec.step.kappa = 100;
  return spec;
}

TEST(BundledGradient, BothOrdersAgreeInSpaceWithNoiseOnTheConfiguration) {
  const scene::Scene scene = test::build(rolling());
  Batch batch(scene);
  const State start{.q = scene.initial_configuration()};
  const VectorXd u = Vector3d(0.06, 0.02, -0.01);
  BundleResult first, zero;
  BundleOptions options{
      .sigma_u = VectorXd::Constant(1, 0.02), .sigma_q = VectorXd::Constant(1, 0.01), .samples = 3000};
  bundle_gradient(scene, batch, start, u, options, first);
  options.order = BundleOrder::kZero;
  options.seed = 1;  // other samples
  bundle_gradient(scene, batch, start, u, options, zero);
  ASSERT_EQ(first.outcome, BundleOutcome::kDone);
  ASSERT_EQ(zero.outcome, BundleOutcome::kDone);
  ASSERT_EQ(first.A.rows(), scene.nv());
  ASSERT_EQ(first.A.cols(), scene.nv());
  // 6 columns of q, 3 of u, 9 rows: 81 + 27 entries, and five standard errors for the worst of them.
  const auto worst = [](const MatrixXd& a, const MatrixXd& ea, const MatrixXd& b, const MatrixXd& eb) {
    return ((a - b).array().abs() / ((ea.array().square() + eb.array().square()).sqrt() + 1e-9)).maxCoeff();
  };
  EXPECT_LE(worst(first.A, first.A_standard_error, zero.A, zero.A_standard_error), 5);
  EXPECT_LE(worst(first.B, first.B_standard_error, zero.B, zero.B_standard_error), 5);
  EXPECT_GT(first.B.bottomRows(6).cwiseAbs().maxCoeff() + first.B.topRows(6).cwiseAbs().maxCoeff(), 0.1);
}

TEST(BundledGradient, IsTheSameForAnyNumberOfThreads) {
  const scene::Scene scene = test::build(rolling());
  Batch batch(scene);
  const State start{.q = scene.initial_configuration()};
  const VectorXd u = Vector3d(0.06, 0.02, -0.01);
  for (const BundleOrder order : {BundleOrder::kFirst, BundleOrder::kZero}) {
    BundleResult one, other;
    BundleOptions options = options_of(order, 0.02, 60);
    options.threads = 1;
    bundle_gradient(scene, batch, start, u, options, one);
    for (const int threads : {2, 7}) {
      options.threads = threads;
      bundle_gradient(scene, batch, start, u, options, other);
      EXPECT_TRUE(one.B == other.B && one.B_standard_error == other.B_standard_error && one.mean == other.mean);
    }
  }
}

// Nothing but a finger below holds a block up, and half of the noise hides the finger from it.
TEST(BundledGradient, InvalidSamplesAreCountedByTheirStatus) {
  scene::SceneSpec spec = Push::spec();
  spec.step.dynamics = scene::Dynamics::kQuasistatic;
  spec.gravity_W = {0, -10, 0};
  spec.step.contact_margin = Push::gap;
  const scene::Scene scene = test::build(spec);
  Batch batch(scene);
  State start{.q = Eigen::Vector2d(1e-6, 0)};
  BundleOptions options = options_of(BundleOrder::kZero, 0.01, 400);
  options.sigma_q = VectorXd::Constant(1, 0.01);
  BundleResult result;
  bundle_gradient(scene, batch, start, VectorXd::Zero(1), options, result);
  const int unbounded = result.invalid[to_size(solvers::Status::kUnbounded)];
  EXPECT_EQ(result.outcome, BundleOutcome::kDone);
  EXPECT_NEAR(unbounded, 200, 50);
  EXPECT_EQ(result.used + unbounded, 400);
  EXPECT_EQ(result.errors, 0);

  options.samples = 4;  // for three unknowns and the constant
  bundle_gradient(scene, batch, start, VectorXd::Zero(1), options, result);
  EXPECT_EQ(result.outcome, BundleOutcome::kTooFew);
  EXPECT_LE(result.used, 4);
  EXPECT_EQ(result.B.size(), 0);

  start.q = Eigen::Vector2d(0, 1);
  bundle_gradient(scene, batch, start, VectorXd::Zero(1), options, result);
  EXPECT_EQ(result.outcome, BundleOutcome::kFailed);
  EXPECT_EQ(result.status, solvers::Status::kUnbounded);
}

TEST(BundledGradient, StopsAndRefuses) {
  Push push;
  BundleOptions options = options_of(BundleOrder::kFirst, 0.02, 100);
  std::stop_source source;
  source.request_stop();
  options.stop = source.get_token();
  EXPECT_EQ(push.bundle(0, options).outcome, BundleOutcome::kStopped);
  options = options_of(BundleOrder::kFirst, 0.0, 100);
  EXPECT_THROW(push.bundle(0, options), std::invalid_argument);
  options = options_of(BundleOrder::kFirst, 0.1, 0);
  EXPECT_THROW(push.bundle(0, options), std::invalid_argument);
  options = options_of(BundleOrder::kFirst, 0.1, 10);
  options.sigma_q = VectorXd::Ones(3);
  EXPECT_THROW(push.bundle(0, options), std::invalid_argument);
}

}  // namespace bundled_gradient_test
}  // namespace deft::dynamics
