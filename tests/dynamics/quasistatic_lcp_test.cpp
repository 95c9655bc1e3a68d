// The quasistatic models of exact Coulomb friction against all combinations of contact modes, against the convex step
// under Coulomb's law, and where they have no motion or several.

#include <gtest/gtest.h>

#include <random>

#include "deft/dynamics/complementarity/complementarity_step.hpp"
#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "support/contact_modes.hpp"
#include "support/scene_builder.hpp"
#include "support/tripod.hpp"

namespace deft::dynamics {
namespace quasistatic_lcp_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::JointKind;
using multibody::SphereSpec;
using scene::ModelKind;
using solvers::Status;
using solvers::lcp::Uniqueness;
using test::at;

constexpr ModelKind kQuasistatic[] = {ModelKind::kPerfectTracking, ModelKind::kImpedance};

class Numbers {
 public:
  explicit Numbers(int seed) : rng_(static_cast<std::uint64_t>(seed)) {}
  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng_); }

 private:
  std::mt19937_64 rng_;
};

std::vector<multibody::JointAxisSpec> slides(const char* axes) {
  std::vector<multibody::JointAxisSpec> all;
  for (const char* axis = axes; *axis != 0; ++axis)
    all.push_back(test::slide(std::string(1, *axis), *axis == 'x'   ? Vector3d(1, 0, 0)
                                                     : *axis == 'y' ? Vector3d(0, 1, 0)
                                                                    : Vector3d(0, 0, 1)));
  return all;
}

/// A disc that slides, and may roll, on the ground of the plane xz, and a finger beside it.
scene::SceneSpec disc_and_finger(bool rolls, double mu, double mu_finger, double stiffness) {
  std::vector<multibody::JointAxisSpec> planar = slides("xz");
  if (rolls) planar.push_back(test::turn("theta", {0, 1, 0}));
  scene::SceneSpec spec = test::scene_spec(
      {test::body("disc", JointKind::kAxes, planar, SphereSpec{0.1}, 1, 0.004, 1, at(0, 0, 0.1)),
       test::body("finger", JointKind::kAxes, slides("xz"), SphereSpec{0.02}, 0.1, 1e-4, 1, at(-0.121, 0, 0.11)),
       test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 1)},
      {{"finger", stiffness}});
  spec.gravity_W = {0, 0, -10};
  spec.plane = scene::Plane::kXZ;
  spec.step.h = 0.01;
  spec.step.dynamics = scene::Dynamics::kQuasistatic;
  spec.step.contact_margin = 0.05;
  spec.friction.pairs = {{.between = {"disc", "ground"}, .mu = mu}, {.between = {"disc", "finger"}, .mu = mu_finger}};
  return spec;
}

StepResult one_step(const scene::Scene& scene, const VectorXd& u) {
  const auto model = make_step_model(scene);
  StepResult result;
  model->step(scene.initial_configuration(), u, result);
  return result;
}

TEST(QuasistaticLcp, IsOneOfTheMotionsThatContactModesAllow) {
  Numbers random(1);
  int solved = 0, several = 0, none = 0, unknown = 0;
  for (int k = 0; k < 400; ++k) {
    // A disc that rolls may always roll ahead of the finger.
    scene::SceneSpec spec =
        disc_and_finger(k % 4 == 0, random.uniform(0.05, 1.2), random.uniform(0.05, 1.2), random.uniform(100, 5000));
    spec.step.uniqueness_check = true;
    const Eigen::Vector2d u(random.uniform(-0.002, 0.02), random.uniform(-0.01, 0.01));
    for (const ModelKind model : kQuasistatic) {
      spec.step.model = model;
      const scene::Scene scene = test::build(spec);
      const StepResult result = one_step(scene, u);
      const std::vector<VectorXd> motions = test::motions_by_modes(result);
      SCOPED_TRACE(testing::Message() << "case " << k << " " << to_string(model) << ": "
                                      << solvers::to_string(result.status) << ", modes allow " << motions.size());
      if (motions.empty()) {
        EXPECT_FALSE(solvers::usable(result.status));
        ++none;
        continue;
      }
      ASSERT_TRUE(solvers::usable(result.status));
      EXPECT_LE(result.certificate.max_scaled(), solvers::contact::kCertified);
      double nearest = 1, nearest_second = 1;
      for (const VectorXd& motion : motions) {
        nearest = std::min(nearest, (motion - result.delta).lpNorm<Eigen::Infinity>());
        if (result.complementarity()->alternative_delta.size() > 0)
          nearest_second = std::min(nearest_second,
                                    (motion - result.complementarity()->alternative_delta).lpNorm<Eigen::Infinity>());
      }
      const bool not_unique = motions.size() > 1;
      EXPECT_EQ(result.status == Status::kNotUnique, not_unique);
      unknown += result.complementarity()->uniqueness == Uniqueness::kUnknown;
      if (!not_unique) {
        EXPECT_LT(nearest, 1e-8);
      }
      ++(not_unique ? several : solved);
    }
  }
  EXPECT_GT(solved, 300);
  EXPECT_GT(several, 100);
  EXPECT_GT(none, 0);
  EXPECT_LE(unknown, 4) << "of 800: rounding may leave it open";
}

/// A box on the floor in space that a finger pushes.
scene::SceneSpec box_and_finger(int rays, double mu_floor, double mu_finger) {
  scene::SceneSpec spec = test::scene_spec(
      {test::free_body("box", BoxSpec{{0.2, 0.16, 0.1}}, 1, 2e-3, 1, at(0, 0, 0.05)),
       test::body("finger", JointKind::kAxes, slides("xyz"), SphereSpec{0.02}, 0.1, 1e-4, 1, at(-0.121, 0.02, 0.04)),
       test::fixed_body("floor", BoxSpec{{10, 10, 1}}, 1, at(0, 0, -0.5))},
      {{"finger", 800}});
  spec.gravity_W = {0, 0, -10};
  spec.step.h = 0.05;
  spec.step.dynamics = scene::Dynamics::kQuasistatic;
  spec.step.rays = rays;
  spec.step.contact_margin = 0.03;
  spec.friction.pairs = {{.between = {"box", "floor"}, .mu = mu_floor},
                         {.between = {"box", "finger"}, .mu = mu_finger}};
  return spec;
}

TEST(ImpedanceLcp, PushesATripodInSpaceAsTheConvexStepUnderCoulombsLaw) {
  for (const int rays : {4, 6, 8}) {
    scene::SceneSpec spec = box_and_finger(rays, 0.3, 0.5);
    spec.world.models[0] = test::tripod("box", 1, 2e-3, 1);
    spec.step.friction_law = scene::FrictionLaw::kCoulomb;
    const scene::Scene convex_scene = test::build(spec);
    spec.step.model = ModelKind::kImpedance;
    const scene::Scene lcp_scene = test::build(spec);
    const auto convex = make_step_model(convex_scene), lcp = make_step_model(lcp_scene);
    VectorXd q = convex_scene.initial_configuration();
    StepResult a, b;
    double moved = 0;
    for (int k = 1; k <= 30; ++k) {
      const Vector3d u(0.004 * k, 0.0005 * k, 0);
      convex->step(q, u, a);
      lcp->step(q, u, b);
      ASSERT_EQ(b.status, Status::kSolved) << rays << " rays, step " << k;
      EXPECT_LE(b.certificate.max_scaled(), solvers::contact::kCertified);
      ASSERT_TRUE(solvers::usable(a.status)) << solvers::to_string(a.status);
      EXPECT_LT((a.delta - b.delta).lpNorm<Eigen::Infinity>(), 1e-8) << rays << " rays, step " << k;
      double force_difference = 0;
      for (std::size_t i = 0; i < a.solution.force.size(); ++i)
        for (std::size_t r = 0; r < 3; ++r)
          force_difference = std::max(force_difference, std::abs(a.solution.force[i][r] - b.solution.force[i][r]));
      EXPECT_LT(force_difference, 1e-5) << rays << " rays, step " << k;
      moved += b.delta(3);
      q = b.q_next;
    }
    EXPECT_GT(moved, 0.05) << "it slides";
  }
}

TEST(PerfectTracking, AFingerPushesABoxByItsCommand) {
  // In line with the centre of mass: the box moves as far as the finger, whatever friction and weight are.
  scene::SceneSpec spec = box_and_finger(4, 0.4, 0);
  spec.world.models[1] =
      test::body("finger", JointKind::kAxes, slides("xyz"), SphereSpec{0.02}, 0.1, 1e-4, 1, at(-0.12, 0, 0.04));
  spec.step.model = ModelKind::kPerfectTracking;
  spec.step.uniqueness_check = true;
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  VectorXd q = scene.initial_configuration();
  StepResult result;
  for (int k = 1; k <= 10; ++k) {
    model->step(q, Vector3d(0.003 * k, 0, 0), result);
    ASSERT_TRUE(solvers::usable(result.status)) << k;
    q = result.q_next;
  }
  EXPECT_NEAR(q(4), 0.03, 1e-9);
  EXPECT_NEAR(q(7), 0.03, 1e-12) << "the finger is where it was commanded";
  double pushed = 0;
  for (std::size_t i = 0; i < result.problem.contacts.size(); ++i) {
    const contact::Contact& c = result.problem.contacts[i];
    if (std::abs(c.n_W.x()) > 0.9) pushed += result.solution.force[i][0];
  }
  EXPECT_NEAR(pushed, 0.4 * 10, 1e-7) << "the finger carries the friction of the floor";
}

/// A disc of 1 kg that stands on the ground of the plane xz and only slides, between two plates.
scene::SceneSpec plates(double gap, double mu) {
  scene::SceneSpec spec =
      test::scene_spec({test::body("left", JointKind::kAxes, slides("xz"), BoxSpec{{0.02, 0.1, 0.1}}, 0.1, 1e-4, 1,
                                   at(-0.11 - gap, 0, 0.1)),
                        test::body("right", JointKind::kAxes, slides("xz"), BoxSpec{{0.02, 0.1, 0.1}}, 0.1, 1e-4, 1,
                                   at(0.11 + gap, 0, 0.1)),
                        test::body("disc", JointKind::kAxes, slides("xz"), SphereSpec{0.1}, 1, 0.004, 1, at(0, 0, 0.1)),
                        test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 1)},
                       {{"left", 1000}, {"right", 1000}});
  spec.gravity_W = {0, 0, -10};
  spec.plane = scene::Plane::kXZ;
  spec.step.h = 0.01;
  spec.step.dynamics = scene::Dynamics::kQuasistatic;
  spec.step.contact_margin = 0.05;
  spec.step.uniqueness_check = true;
  spec.friction.pairs = {{.between = {"disc", "*"}, .mu = mu}};
  return spec;
}

TEST(PerfectTracking, ASqueezeWithoutClearanceIsInfeasibleAndNamesThePlates) {
  for (const double mu : {0.0, 0.1, 0.5, 1.0}) {
    for (const double into : {1e-6, 1e-3, 0.01}) {
      scene::SceneSpec spec = plates(0.001, mu);
      spec.step.model = ModelKind::kPerfectTracking;
      const scene::Scene scene = test::build(spec);
      const StepResult result = one_step(scene, Eigen::Vector4d(0.001 + into, 0, -0.001, 0));
      ASSERT_EQ(result.status, Status::kInfeasible) << mu << " " << into;
      EXPECT_LE(result.certificate.infeasible, solvers::contact::kCertified);
      EXPECT_EQ(result.delta, VectorXd::Zero(6));
      const std::string why = explain(scene, result);
      EXPECT_NE(why.find("left"), std::string::npos) << why;
      EXPECT_NE(why.find("right"), std::string::npos) << why;
      EXPECT_EQ(why.find("ground"), std::string::npos) << why;
    }
  }
}

TEST(PerfectTracking, PlatesThatTouchAndLiftMayTakeTheDiscAlongOrNot) {
  scene::SceneSpec spec = plates(0, 0.5);
  spec.step.model = ModelKind::kPerfectTracking;
  const scene::Scene scene = test::build(spec);
  const StepResult result = one_step(scene, Eigen::Vector4d(0, 0.002, 0, 0.002));
  ASSERT_EQ(result.status, Status::kNotUnique);
  EXPECT_EQ(result.complementarity()->uniqueness, Uniqueness::kNotUnique);
  ASSERT_EQ(result.complementarity()->alternative_delta.size(), 6);
  const double low = std::min(result.delta(5), result.complementarity()->alternative_delta(5)),
               high = std::max(result.delta(5), result.complementarity()->alternative_delta(5));
  EXPECT_GE(low, -1e-9);
  EXPECT_LE(high, 0.002 + 1e-9);
  EXPECT_GT(high - low, 1e-4);
  EXPECT_NE(explain(scene, result).find("disc/z"), std::string::npos) << explain(scene, result);
  EXPECT_FALSE(result.solution.motion_unique);
  // Impedance: springs say that nothing is squeezed.
  spec.step.model = ModelKind::kImpedance;
  const scene::Scene springs = test::build(spec);
  const StepResult blocked = one_step(springs, Eigen::Vector4d(0, 0.002, 0, 0.002));
  EXPECT_EQ(blocked.status, Status::kSolved);
  EXPECT_EQ(blocked.complementarity()->uniqueness, Uniqueness::kUnique);
  EXPECT_NEAR(blocked.delta(5), 0, 1e-9);
}

TEST(QuasistaticLcp, WhatNothingCarriesHasNoMotion) {
  for (const ModelKind model : kQuasistatic) {
    scene::SceneSpec spec = test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 1, 0.004, 0.5, at(0, 0, 1)),
                                              test::fixed_body("floor", BoxSpec{{10, 10, 1}}, 1, at(0, 0, -0.5))});
    spec.gravity_W = {0, 0, -10};
    spec.step.model = model;
    spec.step.contact_margin = 0.1;
    EXPECT_EQ(one_step(test::build(spec), VectorXd(0)).status, Status::kInfeasible) << to_string(model);
    spec.gravity_W.setZero();
    spec.step.uniqueness_check = true;
    const StepResult anywhere = one_step(test::build(spec), VectorXd(0));
    EXPECT_EQ(anywhere.status, Status::kNotUnique) << to_string(model);
  }
}

TEST(QuasistaticLcp, ABallWithoutFrictionIsCarriedOnEverySlopeWhereverItIs) {
  // It may turn, and nothing but contacts that act through its centre resists: levers and torques of rounding must not
  // count.
  Numbers random(5);
  for (int k = 0; k < 60; ++k) {
    const double a = random.uniform(0.05, 1.2), x = random.uniform(-5, 5), z = random.uniform(-5, 5),
                 e = random.uniform(-0.02, 0.6);
    const Vector3d n(-std::sin(a), 0, std::cos(a)), from_finger(std::cos(a + e), 0, std::sin(a + e)), p(x, 0, z);
    std::vector<multibody::JointAxisSpec> planar = slides("xz");
    planar.push_back(test::turn("theta", {0, 1, 0}));
    const Vector3d finger = p - 0.12 * from_finger;
    scene::SceneSpec spec =
        test::scene_spec({test::body("ball", JointKind::kAxes, planar, SphereSpec{0.1}, 1, 0.004, 0, at(x, 0, z)),
                          test::body("finger", JointKind::kAxes, slides("xz"), SphereSpec{0.02}, 0.1, 1e-4, 0,
                                     at(finger.x(), 0, finger.z())),
                          test::fixed_body("slope", multibody::HalfSpaceSpec{n, n.dot(p) - 0.1}, 0)},
                         {{"finger", 500}});
    spec.gravity_W = {0, 0, -10};
    spec.plane = scene::Plane::kXZ;
    spec.step.h = 0.01;
    spec.step.contact_margin = 0.01;
    spec.step.model = ModelKind::kPerfectTracking;
    const scene::Scene scene = test::build(spec);
    const StepResult result = one_step(scene, Eigen::Vector2d::Zero());
    ASSERT_TRUE(solvers::usable(result.status)) << k << ": " << to_string(result.status);
    EXPECT_LE(result.delta.lpNorm<Eigen::Infinity>(), 1e-12) << k;
    // N₁ n + N₂ f = (0, 0, 10), f from the finger to the ball.
    const double along = 10 * std::sin(a) / std::cos(e), across = 10 * std::cos(a) - along * std::sin(e);
    ASSERT_EQ(result.problem.contacts.size(), 2u);
    double largest = 0, smallest = kInfinity;
    for (const auto& f : result.solution.force) largest = std::max(largest, f[0]), smallest = std::min(smallest, f[0]);
    EXPECT_NEAR(largest, std::max(along, across), 1e-9) << k;
    EXPECT_NEAR(smallest, std::min(along, across), 1e-9) << k;
  }
}

TEST(QuasistaticLcp, JointLimitsOfObjectsHoldAndThoseOfPerfectRobotsDoNot) {
  // A drawer with a stop at 5 mm is pushed by 20 mm; without friction.
  multibody::ModelSpec drawer =
      test::body("drawer", JointKind::kAxes, slides("x"), BoxSpec{{0.1, 0.1, 0.1}}, 1, 1e-3, 0, at(0, 0, 0));
  drawer.joints[0].axes[0].lower = -0.01;
  drawer.joints[0].axes[0].upper = 0.005;
  multibody::ModelSpec finger =
      test::body("finger", JointKind::kAxes, slides("x"), SphereSpec{0.02}, 0.1, 1e-4, 0, at(-0.07, 0, 0));
  finger.joints[0].axes[0].upper = 0.002;
  scene::SceneSpec spec = test::scene_spec({drawer, finger}, {{"finger", 1000}});
  spec.step.model = ModelKind::kImpedance;
  spec.step.uniqueness_check = true;
  const scene::Scene limited = test::build(spec);
  const StepResult stopped = one_step(limited, VectorXd::Constant(1, 0.02));
  EXPECT_NEAR(stopped.delta(1), 0.002, 1e-10) << "the finger's own limit";

  spec.world.models[1].joints[0].axes[0].upper = kInfinity;
  const StepResult pressed = one_step(test::build(spec), VectorXd::Constant(1, 0.02));
  ASSERT_EQ(pressed.status, Status::kSolved);
  EXPECT_NEAR(pressed.delta(0), 0.005, 1e-10);
  EXPECT_NEAR(pressed.delta(1), 0.005, 1e-10);
  ASSERT_EQ(pressed.solution.force.size(), 1u);
  EXPECT_NEAR(pressed.solution.force[0][0], 1000 * 0.015, 1e-7);
  EXPECT_NEAR(pressed.solution.bound_multipliers(0), -15, 1e-7);

  spec.world.models[1].joints[0].axes[0].upper = 0.002;
  spec.step.model = ModelKind::kPerfectTracking;
  const scene::Scene perfect = test::build(spec);
  EXPECT_NEAR(one_step(perfect, VectorXd::Constant(1, 0.004)).delta(1), 0.004, 1e-12);
  const StepResult jammed = one_step(perfect, VectorXd::Constant(1, 0.02));
  ASSERT_EQ(jammed.status, Status::kInfeasible);
  EXPECT_NE(explain(perfect, jammed).find("limit of drawer/x"), std::string::npos) << explain(perfect, jammed);
}

TEST(QuasistaticLcp, FrozenObjectsStayAndCarry) {
  for (const ModelKind model : kQuasistatic) {
    scene::SceneSpec spec = box_and_finger(4, 0.3, 0.5);
    spec.objects = {{.name = "box", .frozen = true}};
    spec.step.model = model;
    const StepResult result = one_step(test::build(spec), Vector3d(0.0005, 0, 0));
    ASSERT_EQ(result.status, Status::kSolved) << to_string(model);
    EXPECT_EQ(result.delta.head(6), (Eigen::Matrix<double, 6, 1>::Zero()));
    EXPECT_NEAR(result.delta(6), 0.0005, 1e-12);
  }
}

TEST(QuasistaticLcp, DampingSlowsSprings) {
  scene::SceneSpec spec = box_and_finger(4, 0.3, 0.5);
  spec.step.model = ModelKind::kImpedance;
  spec.step.joint_damping.all = 10;  // D/h = 200 N/m beside K = 800 N/m
  const StepResult result = one_step(test::build(spec), Vector3d(0, 0.01, 0));
  EXPECT_NEAR(result.delta(7), 0.008, 1e-12);
}

TEST(QuasistaticLcp, ForcesAreThoseOfLeastNormAndTheirUniquenessIsKnown) {
  scene::SceneSpec spec = box_and_finger(4, 0.3, 0.5);
  spec.step.model = ModelKind::kImpedance;
  const StepResult box = one_step(test::build(spec), Vector3d(-0.01, 0, 0));  // the finger leaves
  ASSERT_EQ(box.status, Status::kSolved);
  EXPECT_FALSE(box.solution.forces_unique);
  EXPECT_TRUE(box.forces_least_norm);
  int corners = 0;
  for (std::size_t i = 0; i < box.solution.force.size(); ++i) {
    if (std::abs(box.problem.contacts[i].gap) > 1e-9) continue;
    EXPECT_NEAR(box.solution.force[i][0], 2.5, 1e-9);
    ++corners;
  }
  EXPECT_EQ(corners, 4);

  scene::SceneSpec disc = disc_and_finger(false, 0.5, 0.5, 1000);
  disc.step.model = ModelKind::kImpedance;
  const StepResult pushed = one_step(test::build(disc), Eigen::Vector2d(0.005, 0));
  ASSERT_EQ(pushed.status, Status::kSolved);
  EXPECT_TRUE(pushed.solution.forces_unique);
}

TEST(QuasistaticLcp, AWarmStepIsTheSameStep) {
  scene::SceneSpec spec = box_and_finger(6, 0.3, 0.5);
  spec.step.model = ModelKind::kImpedance;
  const scene::Scene scene = test::build(spec);
  const auto warm = make_step_model(scene);
  VectorXd q = scene.initial_configuration();
  StepResult a, b;
  for (int k = 1; k <= 20; ++k) {
    const Vector3d u(0.004 * k, 0, 0.0002 * k);
    warm->step(q, u, a);
    make_step_model(scene)->step(q, u, b);
    ASSERT_EQ(a.status, b.status);
    EXPECT_LT((a.delta - b.delta).lpNorm<Eigen::Infinity>(), 1e-9) << k;
    q = a.q_next;
  }
}

TEST(QuasistaticLcp, WhatTheModelsDoNotHaveIsRefusedByName) {
  const auto error_of = [](scene::SceneSpec spec) -> std::string {
    try {
      const scene::Scene scene = test::build(std::move(spec));
      make_step_model(scene);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  for (const ModelKind model : {ModelKind::kPerfectTracking, ModelKind::kImpedance, ModelKind::kStewartTrinkle}) {
    const scene::SceneSpec fine = [&] {
      scene::SceneSpec spec = box_and_finger(4, 0.3, 0.5);
      spec.step.model = model;
      return spec;
    }();
    const std::string head = "step.model: " + std::string(to_string(model)) + " ";
    EXPECT_EQ(error_of(fine), "");
    scene::SceneSpec spec = fine;
    spec.step.kappa = 100;
    EXPECT_NE(error_of(spec).find(head + "is for exact contact, but step.kappa is 100; valid: inf"), std::string::npos);
    spec = fine;
    spec.step.compliance = 1e-6;
    const bool compliant = model == ModelKind::kStewartTrinkle;
    EXPECT_EQ(
        error_of(spec).find(
            head + "is for rigid contact, but step.compliance is 1e-06; valid: 0, or step.model: stewart-trinkle") ==
            std::string::npos,
        compliant);
    spec = fine;
    spec.step.relinearize = 2;
    EXPECT_NE(error_of(spec).find(head + "linearises its contacts once, but step.relinearize is 2; valid: 0"),
              std::string::npos);
    spec = fine;
    spec.step.effort_limits = true;
    EXPECT_NE(error_of(spec).find("step.effort_limits is true"), std::string::npos);
    spec = fine;
    spec.step.cone = scene::Cone::kCone;
    EXPECT_NE(error_of(spec).find("step.cone is cone; valid: pyramid"), std::string::npos);
    spec = fine;
    spec.friction.pairs[0].ellipsoid = std::array{1.0, 1.0, 0.02};
    EXPECT_NE(error_of(spec).find("has no patch friction, but the pair 'box', 'floor'"), std::string::npos);
    spec = fine;
    spec.friction.ellipsoid = std::array{1.0, 1.0, 0.02};
    EXPECT_NE(error_of(spec).find("friction.ellipsoid is set"), std::string::npos);
    spec = fine;
    spec.step.h.reset();
    EXPECT_NE(error_of(spec).find("step.h is missing"), std::string::npos);

    const scene::Scene scene = test::build(fine);
    const auto model_of = make_step_model(scene);
    EXPECT_THROW(model_of->set_kappa(100), std::invalid_argument);
    EXPECT_NO_THROW(model_of->set_kappa(kInfinity));
    StepResult result;
    const State start{.q = scene.initial_configuration()};
    model_of->step(start, VectorXd::Zero(3), result);
    StepDifferentiator differentiator(scene);
    try {
      differentiator.linearize(start, VectorXd::Zero(3), result, {});
      ADD_FAILURE() << "derivatives of " << to_string(model);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("derivatives of " + head.substr(0, head.size() - 1)), std::string::npos);
    }
  }
  // In a plane a cone is a pyramid.
  scene::SceneSpec plane = disc_and_finger(false, 0.5, 0.5, 1000);
  plane.step.model = ModelKind::kImpedance;
  const StepResult pyramid = one_step(test::build(plane), Eigen::Vector2d(0.005, 0.001));
  plane.step.cone = scene::Cone::kCone;
  const StepResult cone = one_step(test::build(plane), Eigen::Vector2d(0.005, 0.001));
  EXPECT_EQ(cone.delta, pyramid.delta);
}

TEST(QuasistaticLcp, RolloutsEndAtTheFirstStepWithoutSolutionAndSayWhy) {
  scene::SceneSpec spec = plates(0.005, 0.5);
  spec.step.model = ModelKind::kPerfectTracking;
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  const State start = initial_state(*model);
  Trajectory motion = start_trajectory(*model, start);
  std::vector<VectorXd> commands;
  for (int k = 1; k <= 10; ++k) commands.push_back(Eigen::Vector4d(0.002 * k, 0, -0.002 * k, 0));
  const RolloutEnd end = rollout(*model, start, {.steps = 10, .on_step = {}, .commands = commands}, motion);
  EXPECT_FALSE(end.completed);
  EXPECT_EQ(end.status, Status::kInfeasible);
  EXPECT_EQ(motion.num_steps(), 3) << "2, 4 mm, and 6 mm into 5 mm of free space";
  EXPECT_NE(end.reason.find("contacts: "), std::string::npos) << end.reason;
  EXPECT_TRUE(motion.searches_alternatives);
  ASSERT_EQ(motion.second_delta.size(), 3u);
  EXPECT_TRUE(std::isnan(motion.second_delta[0][0]));
  EXPECT_EQ(motion.steps[0].uniqueness, static_cast<int>(Uniqueness::kUnique));
}

}  // namespace quasistatic_lcp_test
}  // namespace deft::dynamics
