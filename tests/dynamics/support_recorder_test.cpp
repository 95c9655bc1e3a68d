// Loads and twists of supports: closed forms, the surface's own law, jams.

#include "deft/dynamics/complementarity/support_recorder.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <utility>

#include "deft/dynamics/body_poses.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace support_recorder_test {

using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::slide;
using test::turn;

constexpr double kH = 0.05;

/// Objects on supports and fingers in a plane; the plane's axes are p, q and the normal n.
struct Table {
  scene::SceneSpec spec;
  Vector3d p = Vector3d::UnitX(), q = Vector3d::UnitY(), n = Vector3d::UnitZ();

  explicit Table(scene::Plane plane = scene::Plane::kXY) {
    if (plane == scene::Plane::kXZ) std::swap(q, n);
    if (plane == scene::Plane::kYZ) {
      std::swap(p, q);
      std::swap(q, n);  // p = y, q = z, n = x
    }
    spec.file = "test.deft.yaml";
    spec.gravity_W.setZero();
    spec.plane = plane;
    spec.step.h = kH;
    spec.step.model = scene::ModelKind::kLimitSurface;
    spec.step.contact_margin = kInfinity;
    spec.initial = "start";
    spec.configurations.push_back({.name = "start"});
  }
  Table& add(const std::string& name, const multibody::ShapeSpec& shape, double mu,
             std::vector<multibody::JointAxisSpec> axes, std::vector<double> at) {
    spec.world.models.push_back(test::body(name, multibody::JointKind::kAxes, std::move(axes), shape, 0, 0, mu));
    spec.configurations[0].models[name].joints.list = std::move(at);
    return *this;
  }
  Table& square(double mu, std::vector<double> at) {
    const double thick = 0.1;
    const Vector3d size = Vector3d::Constant(2) - (2 - thick) * n;
    return add("square", multibody::BoxSpec{size}, mu, {slide("x", p), slide("y", q), turn("theta", n)}, std::move(at));
  }
  Table& finger(const std::string& name, double mu, std::vector<double> at) {
    scene::RobotSpec robot;
    robot.name = name;
    robot.admittance.all = 1;
    spec.robots.push_back(robot);
    return add(name, multibody::SphereSpec{0}, mu, {slide("x", p), slide("y", q)}, std::move(at));
  }
};

Vector3d vector(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }
Matrix3d matrix(const std::array<double, 6>& u) {
  return (Matrix3d() << u[0], u[1], u[2], u[1], u[3], u[4], u[2], u[4], u[5]).finished();
}

Trajectory run(const Table& table, std::initializer_list<double> u, int steps = 1) {
  const scene::Scene scene = test::build(table.spec);
  const auto model = make_step_model(scene);
  const State start = initial_state(*model);
  Trajectory motion = start_trajectory(*model, start);
  const std::vector<VectorXd> commands(steps,
                                       Eigen::Map<const VectorXd>(u.begin(), static_cast<Eigen::Index>(u.size())));
  rollout(*model, start, {.steps = steps, .on_step = {}, .commands = commands}, motion);
  return motion;
}

TEST(SupportRecorder, AFrictionlessPushInEveryPlaneAndAtEveryAngle) {
  Matrix3d A;
  A << 2, 0.4, 0.1, 0.4, 1, -0.2, 0.1, -0.2, 3;
  const double c = 0.1, u = 0.5, gap = 0.002, side = 0.3;
  for (const scene::Plane plane : {scene::Plane::kXY, scene::Plane::kXZ, scene::Plane::kYZ}) {
    // About e_y the turn from x to z is negative.
    const double sense = plane == scene::Plane::kXZ ? -1 : 1;
    for (const double theta : {0.0, 0.8, -2.5}) {
      const Eigen::Rotation2Dd R(sense * theta);
      const Vector2d at = R * Vector2d(-1 - gap, side), push = R * Vector2d(u, 0);
      Table table(plane);
      table.square(0, {0.4, -0.7, theta}).finger("tip", 0, {0.4 + at.x(), -0.7 + at.y()});
      table.spec.limit_surfaces["square"].ellipsoid = A;
      table.spec.step.gain = c;
      const Trajectory motion = run(table, {push.x(), push.y()});
      ASSERT_EQ(motion.support_bodies.size(), 1u);
      EXPECT_EQ(motion.names_bodies[motion.support_bodies[0]], "square");
      ASSERT_EQ(motion.supports.size(), 1u);
      const SupportRecord& record = motion.supports[0];
      // By hand: the finger's unit force along the body's first axis, at (−1, side).
      const Vector3d F(1, 0, sense * -side);
      const double force = (kH * u - gap) / (F.dot(A * F) + c) / kH, size = std::sqrt(F.dot(A * F));
      EXPECT_LT((vector(record.load) - F / size).norm(), 1e-9) << theta;
      EXPECT_NEAR(record.factor, force * size, 1e-9);
      EXPECT_LT((vector(record.twist) - A * F * force).norm(), 1e-9);
      EXPECT_LT((matrix(record.form) - A).norm(), 1e-12);
      EXPECT_EQ(record.state, SupportState::kMoves);
    }
  }
}

TEST(SupportRecorder, LoadsOfFlatSupportsLieOnTheirLimitSurfaceAndTwistsAreNormalToIt) {
  Table table;
  table.square(0.4, {0, 0, 0.3}).finger("a", 0.4, {-1.2, 0.2});
  const std::vector<Vector2d> corners{{-1, -1}, {1, -1}, {1.4, 0.5}, {-1, 1}};
  table.spec.limit_surfaces["square"].support = scene::SupportSpec{.polygon = corners, .mu = 0.5, .force_N = 4};
  table.spec.step.gain = 0.02;
  const Trajectory motion = run(table, {1, 0.2}, 30);
  const UniformPressure support(corners, 2);
  int slides = 0;
  for (const SupportRecord& record : motion.supports) {
    if (record.state != SupportState::kMoves) continue;
    ++slides;
    const Vector3d F = vector(record.load), V = vector(record.twist);
    EXPECT_LT((F - support.load(V)).norm(), 1e-7 * F.norm());
    const Matrix3d A = matrix(record.form);
    EXPECT_NEAR(F.dot(A * F), 1, 1e-12);
    EXPECT_LT((A * F).normalized().cross(V.normalized()).norm(), 1e-8);
    // Of all loads the surface holds, this one does the most work on the twist.
    for (int k = 0; k < 50; ++k) {
      const Vector3d other(std::sin(1.3 * k), std::cos(2.1 * k), std::sin(0.7 * k + 1));
      EXPECT_LE(support.load(other).dot(V), F.dot(V) * (1 + 1e-9));
    }
  }
  EXPECT_GT(slides, 20);
}

TEST(SupportRecorder, AHingeBearsWhatItsSupportDoesNot) {
  // A square on a hinge at its middle is pushed at its side; the support resists the turn that follows, with Ã's
  // coupling.
  Matrix3d A;
  A << 2, 0.4, 0.1, 0.4, 1, -0.2, 0.1, -0.2, 3;
  Table table;
  table.add("square", multibody::BoxSpec{{2, 2, 0.1}}, 0, {turn("theta", Vector3d::UnitZ())}, {0})
      .finger("tip", 0, {-1, 0.5});
  table.spec.limit_surfaces["square"].ellipsoid = A;
  table.spec.step.gain = 0.1;
  const Trajectory motion = run(table, {0.4, 0});
  const SupportRecord& record = motion.supports.at(0);
  const Vector3d resisted = A.inverse() * Vector3d(0, 0, -1);  // K times the turn
  EXPECT_LT((vector(record.load) - resisted / std::sqrt(resisted.dot(A * resisted))).norm(), 1e-12);
  EXPECT_NEAR(record.twist[0], 0, 1e-15);
  EXPECT_LT(record.twist[2], 0);
}

TEST(SupportRecorder, TellsJamsFromRest) {
  Table table;
  table.square(1, {0, 0, 0}).finger("west", 1, {-1, 0}).finger("east", 1, {1, 0}).finger("away", 1, {5, 5});
  table.spec.limit_surfaces["square"].ellipsoid.setIdentity();
  for (const double c : {1e-6, 1e-3, 0.5}) {
    table.spec.step.gain = c;
    const SupportRecord squeezed = run(table, {1, 0, -1, 0, 0, 0}).supports.at(0);
    EXPECT_EQ(squeezed.state, SupportState::kJammed) << c;
    EXPECT_EQ(vector(squeezed.load), Vector3d::Zero());
    EXPECT_EQ(squeezed.factor, 0);
    EXPECT_EQ(run(table, {0, 0, 0, 0, 1, 1}).supports.at(0).state, SupportState::kRests) << "nobody presses on it";
    EXPECT_EQ(run(table, {1, 0, 1, 0, 0, 0}).supports.at(0).state, SupportState::kMoves);
    EXPECT_EQ(run(table, {1, 0, -0.5, 0, 0, 0}).supports.at(0).state, SupportState::kMoves) << "one finger is faster";
  }
  table.spec.step.gain = 0;
  const Trajectory proof = run(table, {1, 0, -1, 0, 0, 0});
  EXPECT_EQ(proof.status_words[proof.steps.at(0).status], "Infeasible");
  EXPECT_EQ(proof.supports.at(0).state, SupportState::kRests) << "a step that failed says so itself";
}

TEST(SupportRecorder, FrozenObjectsAndOtherModelsHaveNone) {
  Table table;
  table.square(1, {0, 0, 0}).finger("tip", 1, {-2, 0});
  table.spec.limit_surfaces["square"].ellipsoid.setIdentity();
  table.spec.objects.push_back({.name = "square", .frozen = true});
  const Trajectory frozen = run(table, {0, 0});
  EXPECT_TRUE(frozen.support_bodies.empty());
  EXPECT_TRUE(frozen.supports.empty());
}

TEST(BodyPoses, OtherMotionsAreRecordedWithTheirPoses) {
  Table table;
  table.square(1, {0.5, 0, 0})
      .finger("a", 1, {-0.5, 0.5})
      .finger("b", 1, {1.5, 0.5})
      .finger("c", 1, {-0.5, -0.5})
      .finger("d", 1, {1.5, -0.5});
  table.spec.limit_surfaces["square"].ellipsoid.setIdentity();
  table.spec.step.uniqueness_check = true;
  Trajectory motion = run(table, {0, 1, 0, 1, 0, -1, 0, -1}, 2);
  ASSERT_EQ(motion.second_X_WB.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    const std::vector<double>& delta = motion.second_delta[k];
    ASSERT_EQ(motion.second_X_WB[k].size(), motion.names_bodies.size());
    const std::array<double, 7>& pose = motion.second_X_WB[k][1];
    EXPECT_NEAR(pose[4], motion.q[k][0] + delta[0], 1e-14);
    EXPECT_NEAR(pose[5], motion.q[k][1] + delta[1], 1e-14);
    EXPECT_NEAR(2 * std::atan2(pose[3], pose[0]), motion.q[k][2] + delta[2], 1e-14);
  }
  // The run goes on with the motion that was taken.
  EXPECT_NEAR(motion.X_WB[1][1][5], motion.q[1][1], 1e-15);
  const auto recorded = std::exchange(motion.second_X_WB, {});
  add_second_poses(test::build(table.spec), motion);
  EXPECT_EQ(motion.second_X_WB, recorded);
  Table other;
  other.finger("alone", 1, {0, 0});
  EXPECT_THROW(add_second_poses(test::build(other.spec), motion), std::invalid_argument);
}

}  // namespace support_recorder_test
}  // namespace deft::dynamics
