// Patches with torsion, frictionless contacts, pyramids and cones, alone and together, with closed forms.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace friction_models_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::HalfSpaceSpec;
using multibody::SphereSpec;
using test::at;

constexpr double kGravity = 10;

multibody::ModelSpec floor() { return test::fixed_body("floor", HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.5); }

scene::SceneSpec under_gravity(std::vector<multibody::ModelSpec> models) {
  models.push_back(floor());
  scene::SceneSpec spec = test::scene_spec(std::move(models));
  spec.gravity_W = {0, 0, -kGravity};
  return spec;
}

scene::FrictionPairSpec pair(const std::string& body, std::optional<double> mu,
                             std::optional<std::array<double, 3>> ellipsoid, bool frictionless = false) {
  return {.between = {body, "floor"}, .mu = mu, .ellipsoid = ellipsoid, .frictionless = frictionless};
}

StepResult one_step(const scene::Scene& scene) {
  const auto model = make_step_model(scene);
  StepResult result;
  model->step(scene.initial_configuration(), VectorXd::Zero(scene.nu()), result);
  EXPECT_EQ(result.status, solvers::Status::kSolved);
  return result;
}

/// Steady spinning of the convex model: the gap is μ e_r h ω, so that f_n = m g and the torque is μ e_r m g.
TEST(FrictionModels, APuckSpinsToRest) {
  const double h = 0.01, mu = 0.5, e_r = 0.02, m = 2, inertia = 0.008, w0 = 2.6;
  const double slowing = mu * e_r * m * kGravity / inertia;
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    scene::SceneSpec spec =
        under_gravity({test::free_body("puck", SphereSpec{0.1}, m, inertia, 0.5, at(0, 0, 0.1 + mu * e_r * h * w0))});
    spec.step.model = scene::ModelKind::kConvexSecondOrder;
    spec.step.h = h;
    spec.step.cone = cone;
    spec.friction.pairs = {pair("puck", mu, std::array{1.0, 1.0, e_r})};
    const scene::Scene scene = test::build(spec);
    const auto model = make_step_model(scene);
    State state{.q = scene.initial_configuration(), .v = VectorXd::Zero(6)};
    state.v[2] = w0;
    state.v[5] = -mu * e_r * slowing * h;
    StepResult result;
    double angle = 0, w = w0;
    for (int k = 1; k <= 20; ++k) {
      model->step(state, VectorXd(), result);
      ASSERT_EQ(result.status, solvers::Status::kSolved);
      if (w > slowing * h) {
        EXPECT_NEAR(result.solution.force[0][0], m * kGravity, 1e-7) << k;
        EXPECT_NEAR(result.solution.force[0][3], -mu * e_r * m * kGravity, 1e-7) << k;
      }
      w = std::max(0.0, w - slowing * h);
      angle += h * w;
      state = {.q = result.q_next, .v = result.v_next};
      ASSERT_NEAR(state.v[2], w, 1e-8) << k;
      ASSERT_NEAR(log_so3(rotation_from_quat_wxyz(state.q.head<4>())).z(), angle, 1e-8);
    }
    EXPECT_EQ(w, 0);
    EXPECT_NEAR(angle, w0 * w0 / (2 * slowing), h * w0) << "as far as physics says, to the order of h";
    EXPECT_LT(state.v.norm(), 1e-8);
  }
}

TEST(FrictionModels, ThePatchResistsSlidingAndSpinningTogether) {
  // Quasidynamic: the puck is pushed and twisted at once; friction lies on the ellipsoid, opposite to the motion in its
  // metric.
  scene::SceneSpec spec = under_gravity({test::free_body("puck", SphereSpec{0.1}, 2, 0.008, 0.5, at(0, 0, 0.1))});
  const std::array<double, 3> e{0.8, 1.5, 0.03};
  spec.friction.pairs = {pair("puck", 0.4, e)};
  spec.friction.ellipsoid_axis = Vector3d(1, 1, 0).normalized();
  // At the height of the contact, so that it does not roll.
  spec.wrenches = {{.body = "puck",
                    .force_W = {9, 4, 0},
                    .torque_W = Vector3d(0, 0, -0.1).cross(Vector3d(9, 4, 0)) + Vector3d(0, 0, 0.5)}};
  const StepResult result = one_step(test::build(spec));
  const contact::Contact& contact = result.problem.contacts[0];
  EXPECT_LT((contact.t1_W - Vector3d(1, 1, 0).normalized()).norm(), 1e-12);
  EXPECT_LT((contact.t2_W - contact.n_W.cross(contact.t1_W)).norm(), 1e-12);
  ASSERT_EQ(result.problem.J.rows(0), 4);
  const auto& f = result.solution.force[0];
  const Eigen::Vector4d motion = result.problem.J.block(0) * result.delta;
  const Vector3d along(f[1] / e[0], f[2] / e[1], f[3] / e[2]),
      slide(e[0] * motion[1], e[1] * motion[2], e[2] * motion[3]);
  EXPECT_NEAR(along.norm(), 0.4 * f[0], 1e-8) << "on the ellipsoid";
  EXPECT_LT((along.normalized() + slide.normalized()).norm(), 1e-7) << "maximum dissipation";
  EXPECT_GT(slide.cwiseAbs().minCoeff(), 1e-5) << "it slides and spins";
  EXPECT_NEAR(motion[0] + contact.gap, 0.4 * slide.norm(), 1e-9);
}

TEST(FrictionModels, TheEllipsoidsAxisHoldsHarder) {
  // e_t = 1 along x, e_o = 0.2 along y: a box on a slope of 0.25 below μ = 0.5 rests along x and slides along y.
  for (const bool along_x : {true, false}) {
    scene::SceneSpec spec =
        under_gravity({test::free_body("box", BoxSpec{{0.2, 0.2, 0.05}}, 1, 2e-3, 0.5, at(0, 0, 0.025))});
    spec.friction.ellipsoid = std::array{1.0, 0.2, 0.05};
    spec.friction.pairs = {pair("box", 0.5, std::nullopt)};
    spec.gravity_W = {along_x ? 2.5 : 0.0, along_x ? 0.0 : 2.5, -10};
    const StepResult result = one_step(test::build(spec));
    const double slide = result.delta.segment<3>(3).head<2>().norm();
    // Sliding by s lifts by μ_y s, μ_y = 0.1: s = h² (g_t − μ_y g_n)/(1 + μ_y²).
    EXPECT_NEAR(slide, along_x ? 0.0 : 0.01 * (2.5 - 0.1 * 10) / 1.01, 1e-8);
  }
}

TEST(FrictionModels, APatchInAPlaneOfMotionScalesItsOneTangent) {
  multibody::ModelSpec box = test::body("box", multibody::JointKind::kAxes,
                                        {test::slide("x", Vector3d::UnitX()), test::slide("z", Vector3d::UnitZ())},
                                        BoxSpec{{0.1, 0.1, 0.1}}, 1, 1e-3, 0.5, at(0, 0, 0.05));
  scene::SceneSpec spec = under_gravity({box});
  spec.gravity_W = {8, 0, -10};
  spec.friction.pairs = {pair("box", 0.5, std::array{1.2, 0.3, 0.1})};
  for (const bool across : {false, true}) {
    spec.friction.ellipsoid_axis = across ? Vector3d::UnitY() : Vector3d::UnitX();
    const double mu = 0.5 * (across ? 0.3 : 1.2);
    const StepResult result = one_step(test::build(spec));
    ASSERT_EQ(result.problem.J.rows(0), 2);
    EXPECT_NEAR(result.delta[0], 0.01 * (8 - mu * 10) / (1 + mu * mu), 1e-9);
  }
}

TEST(FrictionModels, PyramidsPatchesAndFrictionlessContactsShareAScene) {
  std::vector<multibody::ModelSpec> boxes;
  for (const char* name : {"pyramid", "patch", "ice"}) {
    boxes.push_back(
        test::free_body(name, BoxSpec{{0.1, 0.1, 0.1}}, 1, 2e-3, 0.5, at(0, static_cast<double>(boxes.size()), 0.05)));
  }
  scene::SceneSpec spec = under_gravity(boxes);
  spec.gravity_W = {4, 4, -10};  // 5.66 along the diagonal: above μ g = 5
  spec.friction.pairs = {pair("patch", 0.5, std::array{1.0, 1.0, 0.05}), pair("ice", std::nullopt, std::nullopt, true)};
  spec.step.contact_margin = 0.1;
  for (const double kappa : {kInfinity, 1e4}) {
    spec.step.kappa = kappa;
    const StepResult result = one_step(test::build(spec));
    EXPECT_LE(result.certificate.max_scaled(), 1e-8);
    const auto slide = [&](int body) -> Vector3d { return result.delta.segment<3>(6 * body + 3); };
    if (std::isfinite(kappa)) {
      EXPECT_GT(slide(2).norm(), slide(1).norm());
      continue;
    }
    // Rays along ±x, ±y: the pyramid holds less along the diagonal, |f_x| + |f_y| ≤ μ f_n; the patch is round.
    const double s = 0.01 * (std::sqrt(32.0) - 0.5 * 10) / 1.25;
    EXPECT_NEAR(slide(1).head<2>().norm(), s, 1e-8);
    EXPECT_NEAR(slide(1).z(), 0.5 * s, 1e-8);
    EXPECT_NEAR(slide(2).x(), 0.04, 1e-9);
    EXPECT_NEAR(slide(2).z(), 0, 1e-9);
    // (δ_x, δ_y, δ_z) = (s, s, μ s): 1/h² (2 + μ²) s = 2·4 − μ·10 by work along that edge.
    EXPECT_NEAR(slide(0).x(), 0.01 * (8 - 5) / 2.25, 1e-8);
    EXPECT_NEAR(slide(0).y(), slide(0).x(), 1e-8);
  }
}

TEST(FrictionModels, RecordsTellTheGapThatSlidingOpens) {
  for (const char* kind : {"pyramid", "cone", "patch"}) {
    scene::SceneSpec spec =
        under_gravity({test::free_body("box", BoxSpec{{0.2, 0.2, 0.02}}, 1, 2e-3, 0.5, at(0, 0, 0.01))});
    spec.gravity_W = {7, 6, -10};
    if (kind == std::string("cone")) spec.step.cone = scene::Cone::kCone;
    if (kind == std::string("patch")) spec.friction.ellipsoid = std::array{0.9, 0.7, 0.02};
    const scene::Scene scene = test::build(spec);
    const auto model = make_step_model(scene);
    Trajectory motion = start_trajectory(*model, initial_state(*model));
    ASSERT_TRUE(rollout(*model, initial_state(*model), {.steps = 1}, motion).completed) << kind;
    int loaded = 0;
    for (const ContactRecord& contact : motion.contacts) {
      EXPECT_GT(contact.boundary_gap, 1e-4) << kind;
      if (contact.state == ContactState::kOpen) continue;
      EXPECT_EQ(contact.state, ContactState::kSlide);
      EXPECT_NEAR(contact.gap, contact.boundary_gap, 1e-10) << kind << ": all of the gap of a loaded contact";
      ++loaded;
    }
    EXPECT_GE(loaded, 1) << kind;
  }
}

TEST(FrictionModels, FourCornersCarryAQuarterEachUnlessAnyForceWillDo) {
  scene::SceneSpec spec =
      under_gravity({test::free_body("box", BoxSpec{{0.3, 0.2, 0.1}}, 2, 2e-3, 0.5, at(0, 0, 0.05))});
  spec.step.contact_margin = 0.02;
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    spec.step.cone = cone;
    spec.step.forces = scene::Forces::kLeastNorm;
    const StepResult least = one_step(test::build(spec));
    EXPECT_TRUE(least.forces_least_norm);
    EXPECT_FALSE(least.solution.forces_unique);
    ASSERT_EQ(least.solution.force.size(), 4u);
    for (const auto& f : least.solution.force) EXPECT_NEAR(f[0], 5, 1e-9);
    spec.step.forces = scene::Forces::kAny;
    EXPECT_FALSE(one_step(test::build(spec)).forces_least_norm);
  }
}

TEST(FrictionModels, WrongOnesAreReported) {
  scene::SceneSpec spec = under_gravity({test::free_body("box", BoxSpec{{0.1, 0.1, 0.1}}, 1, 2e-3, 0.5)});
  spec.friction.pairs = {pair("box", 0.5, std::nullopt, true)};
  EXPECT_NE(test::build_errors(spec).find("a frictionless pair has neither mu nor ellipsoid"), std::string::npos);
  spec.friction.pairs.clear();
  spec.step.rays = 6;
  Diagnostics diagnostics;
  scene::Scene::build(spec, diagnostics);
  const auto warns = [](const Diagnostic& d) {
    return d.message.find("step.rays: 6 is not a multiple of 4") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(diagnostics.all().begin(), diagnostics.all().end(), warns), 1);
}

TEST(FrictionModels, SixRaysHoldAsAHexagonDoes) {
  // Ray 0 lies along t₁; at 30° the hexagon reaches cos 30° of the circle.
  scene::SceneSpec spec =
      under_gravity({test::free_body("box", BoxSpec{{0.1, 0.1, 0.1}}, 1, 2e-3, 0.5, at(0, 0, 0.05))});
  spec.step.rays = 6;
  const scene::Scene flat = test::build(spec);
  const Vector3d t1 = one_step(flat).problem.contacts[0].t1_W, t2 = one_step(flat).problem.contacts[0].t2_W;
  for (const double share : {0.99, 1.01}) {
    for (const double angle : {0.0, M_PI / 6}) {
      const double limit = 0.5 * 10 * (angle == 0 ? 1.0 : std::cos(M_PI / 6));
      scene::SceneSpec tilted = spec;
      tilted.gravity_W += share * limit * (std::cos(angle) * t1 + std::sin(angle) * t2);
      const double slide = one_step(test::build(tilted)).delta.segment<3>(3).head<2>().norm();
      if (share < 1) {
        EXPECT_LT(slide, 1e-9) << angle;
      } else {
        EXPECT_GT(slide, 1e-5) << angle;
      }
    }
  }
}

}  // namespace friction_models_test
}  // namespace deft::dynamics
