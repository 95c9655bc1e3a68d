// Motions of second order with closed forms: those of the scheme itself to rounding, those of physics to its order in
// h.

#include "deft/dynamics/convex/convex_second_order_step.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace convex_second_order_step_test {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::HalfSpaceSpec;
using multibody::SphereSpec;
using test::at;

scene::SceneSpec second_order(std::vector<multibody::ModelSpec> models, double h,
                              const std::vector<std::pair<std::string, double>>& robots = {}) {
  scene::SceneSpec spec = test::scene_spec(std::move(models), robots);
  spec.step.model = scene::ModelKind::kConvexSecondOrder;
  spec.step.h = h;
  return spec;
}

/// Every state of a roll-out from `start` (with the initial configuration if q is empty); fails the test if a step
/// fails.
std::vector<State> states(const scene::Scene& scene, int steps, const VectorXd& v0,
                          std::vector<double>* energy = nullptr) {
  const auto model = make_step_model(scene);
  std::vector<State> out{{.q = scene.initial_configuration(), .v = v0}};
  StepResult result;
  VectorXd u(scene.nu());
  for (int k = 0; k < steps; ++k) {
    scene.command(k * model->h(), model->h(), u);
    model->step(out.back(), u, result);
    EXPECT_EQ(result.status, solvers::Status::kSolved) << "step " << k;
    EXPECT_LE(result.certificate.max_scaled(), 1e-8);
    out.push_back({.q = result.q_next, .v = result.v_next, .t = (k + 1) * model->h()});
    if (energy != nullptr) energy->push_back(result.energy);
  }
  return out;
}

VectorXd velocity(const Vector3d& w_W, const Vector3d& v_W) {
  VectorXd v(6);
  v << w_W, v_W;
  return v;
}

multibody::ModelSpec ball(const std::string& name, const RigidTransform& X = RigidTransform::Identity(),
                          double mu = 0.5) {
  return test::free_body(name, SphereSpec{0.1}, 2, 0.008, mu, X);
}
multibody::ModelSpec floor(double mu = 0.5) {
  return test::fixed_body("floor", HalfSpaceSpec{Vector3d::UnitZ(), 0}, mu);
}

TEST(ConvexSecondOrder, AProjectileFollowsTheParabolaOfTheScheme) {
  const double h = 0.01;
  scene::SceneSpec spec = second_order({ball("ball")}, h);
  spec.gravity_W = {0.5, 0, -10};
  const Vector3d v0(1, -2, 3), w0(0.3, 0.1, -0.2);
  std::vector<double> energy;
  const auto path = states(test::build(spec), 100, velocity(w0, v0), &energy);
  for (int k = 0; k <= 100; ++k) {
    const Vector3d p = k * h * v0 + 0.5 * k * (k + 1) * h * h * spec.gravity_W;
    EXPECT_LT((path[k].q.tail<3>() - p).norm(), 1e-11) << k;
    EXPECT_LT((path[k].v.tail<3>() - (v0 + k * h * spec.gravity_W)).norm(), 1e-11) << k;
    EXPECT_LT((path[k].v.head<3>() - w0).norm(), 1e-12) << "a sphere keeps its spin";
  }
  const double kinetic = 0.5 * 2 * path[100].v.tail<3>().squaredNorm() + 0.5 * 0.008 * w0.squaredNorm();
  EXPECT_NEAR(energy[99], kinetic - 2 * spec.gravity_W.dot(path[100].q.tail<3>()), 1e-9);
}

TEST(ConvexSecondOrder, ATumblingBodyKeepsItsAngularMomentumToTheOrderOfH) {
  const auto drift = [](double h) {
    multibody::ModelSpec body = ball("body");
    const Matrix3d inertia = Vector3d(0.01, 0.02, 0.03).asDiagonal();
    body.links[0].inertial->I_Com_L = inertia;
    const int steps = static_cast<int>(std::lround(1 / h));
    const auto path = states(test::build(second_order({body}, h)), steps, velocity({1, 5, 0.5}, Vector3d::Zero()));
    const auto momentum = [&](const State& state) -> Vector3d {
      const Matrix3d R = rotation_from_quat_wxyz(state.q.head<4>());
      return R * inertia * R.transpose() * state.v.head<3>();
    };
    return (momentum(path.back()) - momentum(path.front())).norm() / momentum(path.front()).norm();
  };
  const double coarse = drift(1e-3), fine = drift(5e-4);
  EXPECT_LT(fine, 0.02);
  EXPECT_NEAR(coarse / fine, 2.0, 0.1);
}

/// A rod of length 2l, 1 kg, on a horizontal axis through its end.
multibody::ModelSpec pendulum(double l) {
  multibody::ModelSpec rod = test::body("rod", multibody::JointKind::kAxes, {test::turn("theta", Vector3d::UnitY())},
                                        SphereSpec{0.01}, 1, 0.02, 0.5);
  rod.links[0].inertial->p_LCom = {0, 0, -l};
  return rod;
}

TEST(ConvexSecondOrder, APendulumFollowsItsRecursionAndItsPeriod) {
  const double l = 0.3, h = 1e-3, g = 9.81, inertia = 0.02 + l * l;
  scene::SceneSpec spec = second_order({pendulum(l)}, h);
  spec.gravity_W = {0, 0, -g};
  spec.configurations.push_back({.name = "start", .models = {{"rod", {.joints = {.by_name = {{"theta", 0.05}}}}}}});
  spec.initial = "start";
  const int steps = 3000;
  const auto path = states(test::build(spec), steps, VectorXd());
  double theta = 0.05, rate = 0;
  int crossings = 0;
  double last_crossing = 0, first_crossing = 0;
  for (int k = 1; k <= steps; ++k) {
    rate += h * (-g * l * std::sin(theta)) / inertia;
    const double before = theta;
    theta += h * rate;
    ASSERT_NEAR(path[k].q(0), theta, 1e-9) << k;
    if (before > 0 && theta <= 0) {
      last_crossing = (k - 1 + before / (before - theta)) * h;
      if (crossings++ == 0) first_crossing = last_crossing;
    }
  }
  const double period = (last_crossing - first_crossing) / (crossings - 1);
  EXPECT_NEAR(period, 2 * M_PI * std::sqrt(inertia / (g * l)) * (1 + 0.05 * 0.05 / 16), 1e-5);
}

TEST(ConvexSecondOrder, ADoublePendulumKeepsItsEnergyToTheOrderOfH) {
  const auto drift = [](double h) {
    multibody::ModelSpec arms = pendulum(0.3);
    arms.inline_body = false;
    multibody::LinkSpec second = arms.links[0];
    second.name = "second";
    arms.links.push_back(second);
    multibody::JointSpec elbow = arms.joints[0];
    elbow.name = elbow.axes[0].coordinate = "elbow";
    elbow.parent = "rod";
    elbow.child = "second";
    elbow.X_PJ = at(0, 0, -0.6);
    arms.joints.push_back(elbow);
    scene::SceneSpec spec = second_order({arms}, h);
    spec.gravity_W = {0, 0, -9.81};
    spec.configurations.push_back({.name = "start", .models = {{"rod", {.joints = {.list = {1.0, 0.7}}}}}});
    spec.initial = "start";
    std::vector<double> energy;
    states(test::build(spec), static_cast<int>(std::lround(1 / h)), VectorXd(), &energy);
    double worst = 0;
    for (const double e : energy) worst = std::max(worst, std::abs(e - energy.front()));
    return worst;
  };
  const double coarse = drift(1e-3), fine = drift(5e-4);
  EXPECT_LT(fine, 0.05);
  EXPECT_NEAR(coarse / fine, 2.0, 0.2);
}

TEST(ConvexSecondOrder, ARobotIsASpringWithMassAndDamping) {
  const double h = 0.01, m = 2, K = 50, D = 4, u = 0.3;
  scene::SceneSpec spec =
      second_order({test::body("cart", multibody::JointKind::kAxes, {test::slide("x", Vector3d::UnitX())},
                               SphereSpec{0.1}, m, 0.01, 0.5)},
                   h, {{"cart", K}});
  spec.step.joint_damping.all = D;
  spec.commands.knots.push_back({.t = 0, .robots = {{"cart", {.all = u}}}});
  std::vector<double> energy;
  const auto path = states(test::build(spec), 400, VectorXd(), &energy);
  double x = 0, v = 0;
  for (int k = 1; k <= 400; ++k) {
    v = (m * v / h + K * (u - x)) / (m / h / h + D / h + K) / h;
    x += h * v;
    ASSERT_NEAR(path[k].q(0), x, 1e-11) << k;
    ASSERT_NEAR(energy[k - 1], 0.5 * m * v * v + 0.5 * K * (u - x) * (u - x), 1e-9);
  }
  EXPECT_NEAR(x, u, 2 * u * std::exp(-D / (2 * m) * 4)) << "damped after 4 s";
}

TEST(ConvexSecondOrder, AFallingBallDoesNotBounce) {
  const double h = 0.01;
  scene::SceneSpec spec = second_order({ball("ball", at(0, 0, 0.3)), floor()}, h);
  spec.gravity_W = {0, 0, -10};
  std::vector<double> energy;
  const auto path = states(test::build(spec), 100, VectorXd(), &energy);
  bool landed = false;
  for (int k = 1; k <= 100; ++k) {
    const double height = path[k].q(6) - 0.1;
    EXPECT_GE(height, -1e-9);
    landed = landed || height < 1e-9;
    EXPECT_LT(landed ? height : 0.0, 1e-9) << "step " << k;
    EXPECT_LE(energy[k - 1], energy[std::max(k - 2, 0)] + 1e-9);
  }
  EXPECT_TRUE(landed);
  EXPECT_LT(path[100].v.norm(), 1e-9);
}

TEST(ConvexSecondOrder, BallsThatMeetHeadOnGoOnTogether) {
  multibody::ModelSpec heavy = ball("heavy"), light = ball("light", at(0.21, 0, 0));
  light.links[0].inertial->mass = 1;
  scene::SceneSpec spec = second_order({heavy, light}, 0.01);
  VectorXd v0 = VectorXd::Zero(12);
  v0(3) = 3;
  const auto path = states(test::build(spec), 20, v0);
  EXPECT_NEAR(path[20].v(3), 2.0, 1e-9);
  EXPECT_NEAR(path[20].v(9), 2.0, 1e-9);
  EXPECT_NEAR(path[20].q(11) - path[20].q(4), 0.2, 1e-9) << "in touch";
}

/// Steady sliding of the convex model: the gap is μ h v_t, so that v_n = −μ² g h and f_n = m g: v_t falls by μ g h per
/// step.
TEST(ConvexSecondOrder, ABoxSlidesToAStop) {
  const double h = 0.01, mu = 0.5, g = 10, v0 = 0.605;
  struct Row {
    scene::Cone cone;
    double heading;
  };
  for (const Row& row : {Row{scene::Cone::kPyramid, 0.0}, Row{scene::Cone::kCone, 0.0}, Row{scene::Cone::kCone, 0.7}}) {
    scene::SceneSpec spec = second_order(
        {test::free_body("box", BoxSpec{{0.2, 0.2, 0.02}}, 3, 0.05, mu, at(0, 0, 0.01 + mu * h * v0)), floor(mu)}, h);
    spec.gravity_W = {0, 0, -g};
    spec.step.cone = row.cone;
    // Friction acts at the sole; at the centre of mass of a thin box it would tip it: put the centre of mass on the
    // sole.
    spec.world.models[0].links[0].inertial->p_LCom = {0, 0, -0.01};
    const Vector3d along(std::cos(row.heading), std::sin(row.heading), 0);
    const auto path =
        states(test::build(spec), 30, velocity(Vector3d::Zero(), v0 * along - mu * mu * g * h * Vector3d::UnitZ()));
    double v = v0, s = 0;
    for (int k = 1; k <= 30; ++k) {
      v = std::max(0.0, v - mu * g * h);
      s += h * v;
      ASSERT_NEAR(path[k].q.segment<3>(4).dot(along), s, 1e-8)
          << "step " << k << " cone " << static_cast<int>(row.cone);
      ASSERT_NEAR(path[k].q(6) - 0.01, mu * h * v, 1e-8);
    }
    EXPECT_EQ(v, 0.0);
    EXPECT_LT(path[30].v.norm(), 1e-8);
    EXPECT_NEAR(s, v0 * v0 / (2 * mu * g), h * v0) << "as far as physics says, to the order of h";
  }
}

/// A box that spins on its sole: every corner at r slides with s r ω, and is lifted to μ h s r ω, so that the moment is
/// μ m g s r and ω falls by μ m g s r h/I per step (κ = ∞, round cones, the pressure the same in all corners).
TEST(ConvexSecondOrder, ASpinningBoxStopsAsThePressureInItsSoleSays) {
  const double h = 0.01, mu = 0.5, g = 10, m = 3, I = 0.05, w0 = 3;
  const double r = std::hypot(0.1, 0.1);
  for (const double s : {1.0, 0.54, 0.25}) {
    scene::SceneSpec spec = second_order(
        {test::free_body("box", BoxSpec{{0.2, 0.2, 0.02}}, m, I, mu, at(0, 0, 0.01 + mu * h * s * r * w0)), floor(mu)},
        h);
    spec.gravity_W = {0, 0, -g};
    spec.step.cone = scene::Cone::kCone;
    spec.step.friction_arm = s;
    const double dw = mu * m * g * s * r * h / I;
    // The box sinks by μ h s r dw per step: so does the load on it.
    const auto path =
        states(test::build(spec), 6, velocity(w0 * Vector3d::UnitZ(), -mu * s * r * dw * Vector3d::UnitZ()));
    for (int k = 1; k <= 6; ++k) ASSERT_NEAR(path[k].v(2), w0 - k * dw, 1e-3 * dw) << "arm " << s << " step " << k;
  }
}

/// Records of contacts tell the whole force: with an arm friction acts off the witness points, and what it turns is
/// told as a torque.
TEST(ConvexSecondOrder, RecordsTellTheMomentOfFrictionInAFace) {
  const double h = 0.01, I = 0.05;
  scene::SceneSpec spec =
      second_order({test::free_body("box", BoxSpec{{0.2, 0.2, 0.02}}, 3, I, 0.5, at(0, 0, 0.01)), floor(0.5)}, h);
  spec.gravity_W = {0, 0, -10};
  spec.step.cone = scene::Cone::kCone;
  spec.step.friction_arm = 0.54;
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  const State start{.q = scene.initial_configuration(), .v = velocity(3 * Vector3d::UnitZ(), Vector3d::Zero())};
  Trajectory motion = start_trajectory(*model, start);
  ASSERT_TRUE(rollout(*model, start, {.steps = 1}, motion).completed);
  ASSERT_GE(motion.contacts.size(), 4u);
  double moment = 0;
  for (const ContactRecord& contact : motion.contacts) {
    const double sign = motion.names_bodies[to_size(contact.a)] == "box" ? 1 : -1;
    const Vector3d p(contact.point_W.data()), f(contact.force_W.data()), torque(contact.torque_W.data());
    moment += sign * (p.cross(f) + torque).z();
  }
  EXPECT_LT(moment, -0.5);
  EXPECT_NEAR(moment, I * (motion.v[1][2] - 3) / h, 0.01 * std::abs(moment)) << "points turned with the box by 1.7°";
}

TEST(ConvexSecondOrder, AStackOfBoxesRests) {
  std::vector<multibody::ModelSpec> models{floor()};
  for (int i = 0; i < 3; ++i) {
    models.push_back(test::free_body("box" + std::to_string(i), BoxSpec{{0.1, 0.1, 0.1}}, 1 + i, 2e-3, 0.5,
                                     at(0.01 * i, 0.005 * i, 0.05 + 0.1 * i)));
  }
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    scene::SceneSpec spec = second_order(models, 0.01);
    spec.gravity_W = {0, 0, -9.81};
    spec.step.cone = cone;
    spec.step.contact_margin = 0.02;
    const auto path = states(test::build(spec), 500, VectorXd());
    EXPECT_LT((path.back().q - path.front().q).cwiseAbs().maxCoeff(), 1e-8) << "cone " << static_cast<int>(cone);
    EXPECT_LT(path.back().v.cwiseAbs().maxCoeff(), 1e-8);
  }
}

TEST(ConvexSecondOrder, RollsFromTheVelocityOfTheScene) {
  scene::SceneSpec spec = second_order({ball("ball")}, 0.1);
  spec.configurations.push_back({.name = "start", .models = {{"ball", {.velocity = velocity({0, 0, 2}, {1, 0, 0})}}}});
  spec.initial = "start";
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  Trajectory motion = start_trajectory(*model, initial_state(*model));
  ASSERT_TRUE(rollout(*model, initial_state(*model), {.steps = 5}, motion).completed);
  ASSERT_EQ(motion.v.size(), 6u);
  EXPECT_EQ(motion.v[0], (std::vector<double>{0, 0, 2, 1, 0, 0}));
  EXPECT_NEAR(motion.q[5][4], 0.5, 1e-12);
  EXPECT_NEAR(motion.q[5][3], std::sin(0.5), 1e-12) << "1 rad about z";

  spec.configurations[0].models["ball"].velocity = VectorXd::Zero(3);
  EXPECT_NE(test::build_errors(spec).find(
                "velocity of 'ball': 6 finite numbers expected ([ω_W, v_W], then joint rates), got 3"),
            std::string::npos);
}

TEST(ConvexSecondOrder, RejectsVelocitiesOfTheWrongSize) {
  const scene::Scene scene = test::build(second_order({ball("ball")}, 0.1));
  const auto model = make_step_model(scene);
  StepResult result;
  EXPECT_THROW(model->step(State{.q = scene.initial_configuration(), .v = VectorXd::Zero(5)}, VectorXd(), result),
               std::invalid_argument);
}

}  // namespace convex_second_order_step_test
}  // namespace deft::dynamics
