// Derivatives of equivalent-contact-point steps against central differences of the step.

#include <gtest/gtest.h>

#include <cmath>

#include "deft/dynamics/patch/equivalent_contact_point.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace patch_derivative_test {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::at;

constexpr double kStep = 2e-5;

multibody::ModelSpec solid(const std::string& name, const multibody::ShapeSpec& shape, double mass,
                           const Vector3d& inertia, const Vector3d& com, const RigidTransform& X_WB) {
  multibody::ModelSpec body = test::free_body(name, shape, mass, 1, 0.5, X_WB);
  body.links[0].inertial->I_Com_L = inertia.asDiagonal();
  body.links[0].inertial->p_LCom = com;
  return body;
}

scene::SceneSpec on_plane(std::vector<multibody::ModelSpec> bodies, double mu) {
  for (multibody::ModelSpec& body : bodies) body.links[0].collisions[0].mu = mu;
  bodies.push_back(test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, mu, at(0, 0, 0)));
  scene::SceneSpec spec = test::scene_spec(std::move(bodies));
  spec.gravity_W = {0, 0, -9.8};
  spec.friction.ellipsoid = {1, 0.7, 0.05};
  spec.step.model = scene::ModelKind::kEquivalentContactPoint;
  spec.step.h = 0.01;
  return spec;
}

RigidTransform tilted(double angle, const Vector3d& axis, const Vector3d& p) {
  return make_transform(exp_so3(angle * axis.normalized()), p);
}

/// Largest error of A, A_v, dv_dq, dv_dv and the force derivatives against central differences, over the largest entry
/// of each.
void expect_derivative(const std::string& what, const scene::SceneSpec& spec, const VectorXd& speed, int settle,
                       ContactKind kind) {
  const scene::Scene scene = test::build(spec);
  EquivalentContactPoint model(scene);
  State start{.q = scene.initial_configuration(), .v = speed};
  StepResult result;
  for (int k = 0, touched = 0; touched < settle && k < 200; ++k) {
    model.step(start, VectorXd(0), result);
    ASSERT_EQ(result.status, solvers::Status::kSolved) << what;
    start = {.q = result.q_next, .v = result.v_next, .t = start.t + model.h()};
    touched += !result.patch()->contacts.empty();
  }
  const int nv = scene.nv();
  model.step(start, VectorXd(0), result);
  ASSERT_EQ(result.status, solvers::Status::kSolved) << what;
  ASSERT_FALSE(result.patch()->contacts.empty()) << what;
  std::vector<PatchState> end;
  read_states(scene, model.world(), result.q_next, result.v_next, end);
  EXPECT_EQ(contact_kind(model.world(), end, result.patch()->contacts[0]), kind) << what;
  StepDerivative d;
  EXPECT_TRUE(model.differentiate(start, VectorXd(0), result, {}, d).nonsmooth_points.empty()) << what;
  const auto moved = [&](int column, double step, VectorXd& q, VectorXd& v_next, VectorXd& force) {
    State from = start;
    VectorXd delta = VectorXd::Zero(nv);
    delta(column % nv) = step;
    if (column < nv)
      scene.model().integrate(start.q, delta, from.q);
    else
      from.v = start.v + delta;
    StepResult other;
    EquivalentContactPoint fresh(scene);
    fresh.step(from, VectorXd(0), other);
    ASSERT_EQ(other.status, solvers::Status::kSolved) << what;
    ASSERT_EQ(other.patch()->contacts.size(), result.patch()->contacts.size()) << what;
    q = scene.model().difference(result.q_next, other.q_next);
    v_next = other.v_next;
    force.resize(4 * static_cast<Eigen::Index>(other.patch()->contacts.size()));
    for (std::size_t k = 0; k < other.patch()->contacts.size(); ++k) {
      force(4 * static_cast<Eigen::Index>(k)) = other.patch()->contacts[k].p_n / model.h();
      force.segment<3>(4 * static_cast<Eigen::Index>(k) + 1) = other.patch()->contacts[k].p_f / model.h();
    }
  };
  MatrixXd dq(nv, 2 * nv), dv(nv, 2 * nv), df(4 * static_cast<Eigen::Index>(result.patch()->contacts.size()), 2 * nv);
  for (int column = 0; column < 2 * nv; ++column) {
    VectorXd q[4], v[4], f[4];
    const double at_steps[] = {kStep, -kStep, 2 * kStep, -2 * kStep};
    for (int k = 0; k < 4; ++k) moved(column, at_steps[k], q[k], v[k], f[k]);
    if (testing::Test::HasFatalFailure()) return;
    const auto difference = [](const VectorXd(&x)[4]) -> VectorXd {
      return (8 * (x[0] - x[1]) - (x[2] - x[3])) / (12 * kStep);
    };
    dq.col(column) = difference(q);
    dv.col(column) = difference(v);
    df.col(column) = difference(f);
  }
  const auto compare = [&](const char* name, const MatrixXd& given, const MatrixXd& measured) {
    EXPECT_LE((given - measured).cwiseAbs().maxCoeff(), 1e-6 * std::max(1.0, measured.cwiseAbs().maxCoeff()))
        << what << " " << name;
  };
  compare("A", d.A, dq.leftCols(nv));
  compare("A_v", d.A_v, dq.rightCols(nv));
  compare("dv_dq", d.dv_dq, dv.leftCols(nv));
  compare("dv_dv", d.dv_dv, dv.rightCols(nv));
  compare("dforce_dq", d.dforce_dq, df.leftCols(nv));
  compare("dforce_dv", d.dforce_dv, df.rightCols(nv));
}

VectorXd velocity(const Vector3d& omega, const Vector3d& v) {
  VectorXd out(6);
  out << omega, v;
  return out;
}

TEST(PatchDerivative, OfPointsLinesAndSurfacesIsThatOfTheStep) {
  const multibody::BoxSpec brick{{0.4, 0.3, 0.2}};
  const Vector3d inertia(0.022, 0.033, 0.042), beside(0.02, -0.01, 0.015);
  expect_derivative("a box slides and turns", on_plane({solid("body", brick, 2, inertia, beside, at(0, 0, 0.1))}, 0.4),
                    velocity({0, 0, 1.5}, {1, 0.5, 0}), 2, ContactKind::kSurface);
  expect_derivative("a box stands on an edge and slides",
                    on_plane({solid("body", brick, 2, inertia, beside,
                                    tilted(0.4, {1, 0, 0}, {0, 0, 0.1 * std::cos(0.4) + 0.15 * std::sin(0.4)}))},
                             0.3),
                    velocity({0, 0, 0}, {1, 0.3, 0}), 2, ContactKind::kLine);
  expect_derivative(
      "a box on a corner",
      on_plane({solid("body", brick, 2, inertia, beside, tilted(0.6, {1, 0.8, 0.1}, {0, 0, 0.259}))}, 0.3),
      velocity({0.4, 0, 0.5}, {0.4, 0.3, -0.5}), 2, ContactKind::kPoint);
  expect_derivative("a cylinder rolls and turns",
                    on_plane({solid("body", multibody::CylinderSpec{0.1, 0.5}, 3, {0.07, 0.07, 0.015}, {0, 0, 0},
                                    tilted(EIGEN_PI / 2, {0, 1, 0}, {0, 0, 0.1}))},
                             0.4),
                    velocity({-4, 0, 0.7}, {0, 0.4, 0}), 3, ContactKind::kLine);
  expect_derivative("a disc rolls on its rim",
                    on_plane({solid("body", multibody::CylinderSpec{0.2, 0.05}, 3, {0.03, 0.03, 0.06}, {0, 0, 0.005},
                                    tilted(1.0, {1, 0, 0}, {0, 0, 0.183}))},
                             0.8),
                    velocity({0.3, 2, 1}, {0.4, 0, 0}), 3, ContactKind::kPoint);
  expect_derivative("an ellipsoid sticks and rolls",
                    on_plane({solid("body", multibody::EllipsoidSpec{{0.1, 0.15, 0.2}}, 1, {0.0125, 0.01, 0.0065},
                                    {0, 0.01, 0}, tilted(0.5, {1, 1, 0}, {0, 0, 0.19}))},
                             1.0),
                    velocity({0.2, 0.3, 0}, {0, 0, -0.3}), 12, ContactKind::kPoint);
}

TEST(PatchDerivative, OfABoxOnABoxIsThatOfTheStep) {
  const Vector3d inertia(0.022, 0.033, 0.042);
  VectorXd v(12);
  v << 0, 0, 0.4, 0.5, 0.1, 0, 0, 0, -0.6, 1.2, 0.3, 0;
  expect_derivative(
      "two boxes slide on each other",
      on_plane({solid("lower", multibody::BoxSpec{{0.4, 0.3, 0.2}}, 2, inertia, {0, 0, 0}, at(0, 0, 0.1)),
                solid("upper", multibody::BoxSpec{{0.3, 0.2, 0.1}}, 1, inertia, {0, 0, 0.01}, at(0.02, 0.01, 0.25))},
               0.3),
      v, 3, ContactKind::kSurface);
}

TEST(PatchDerivative, InFreeFlightIsThatOfTheIntegrator) {
  const scene::Scene scene = test::build(on_plane(
      {solid("body", multibody::BoxSpec{{0.4, 0.3, 0.2}}, 2, {0.02, 0.03, 0.04}, {0, 0, 0}, at(0, 0, 2))}, 0.3));
  EquivalentContactPoint model(scene);
  const State start{.q = scene.initial_configuration(), .v = velocity({0, 0, 0}, {1, 2, 0})};
  StepResult result;
  model.step(start, VectorXd(0), result);
  StepDerivative d;
  EXPECT_TRUE(model.differentiate(start, VectorXd(0), result, {}, d).nonsmooth_points.empty());
  EXPECT_LE((d.A - MatrixXd::Identity(6, 6)).norm(), 1e-14);
  EXPECT_LE((d.A_v - 0.01 * MatrixXd::Identity(6, 6)).norm(), 1e-14);
  EXPECT_LE((d.dv_dv - MatrixXd::Identity(6, 6)).norm(), 1e-14);
}

}  // namespace patch_derivative_test
}  // namespace deft::dynamics
