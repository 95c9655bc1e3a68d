// A, B, ∂force/∂q, ∂force/∂u of whole steps against sixth-order differences of the solver.

#include "deft/dynamics/step_derivative.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "deft/dynamics/convex_step.hpp"
#include "support/differences.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::JointKind;
using multibody::JointSpec;
using multibody::LinkSpec;
using multibody::ModelSpec;
using multibody::ShapeSpec;

constexpr double kTolerance = 1e-7;

/// A link with a lopsided inertia, its centre of mass off the origin, and one shape.
LinkSpec lopsided(const std::string& name, const ShapeSpec& shape, const RigidTransform& X_LG, double mass = 0.8) {
  const Matrix3d R = rotation_from_rpy({0.3, -0.4, 0.9});
  LinkSpec link;
  link.name = name;
  link.inertial = multibody::InertialSpec{
      mass, {0.02, -0.01, 0.018}, mass * R * Vector3d(0.002, 0.003, 0.004).asDiagonal() * R.transpose()};
  multibody::GeometrySpec geometry;
  geometry.name = "shape";
  geometry.shape = shape;
  geometry.X_LG = X_LG;
  geometry.mu = 0.6;
  link.collisions.push_back(geometry);
  return link;
}

RigidTransform pose(const Vector3d& rpy, const Vector3d& p) { return make_transform(rotation_from_rpy(rpy), p); }

ModelSpec lopsided_body(const std::string& name, const ShapeSpec& shape, const RigidTransform& X_WB) {
  ModelSpec model;
  model.name = name;
  model.inline_body = true;
  model.links.push_back(lopsided(name, shape, pose({0.1, 0.2, -0.3}, {0.01, -0.02, 0.005})));
  model.X_WModel = X_WB;
  return model;
}

/// Three hinges with skew axes, the last link carrying `shape`; the second one a slide if asked.
ModelSpec arm(const std::string& name, const ShapeSpec& shape, bool with_slide = false) {
  ModelSpec model;
  model.name = name;
  model.links.push_back({.name = "base"});
  const Vector3d axes[] = {Vector3d(0.2, 0.1, 1).normalized(), Vector3d(1, 0.3, -0.2).normalized(),
                           Vector3d(0.1, 1, 0.4).normalized()};
  for (int k = 0; k < 3; ++k) {
    LinkSpec link = lopsided(fmt::format("link{}", k), shape, pose({0.2, -0.1, 0.4}, {0.02, 0.01, 0.03}));
    if (k < 2) link.collisions.clear();
    model.links.push_back(link);
    JointSpec joint;
    joint.name = fmt::format("joint{}", k);
    joint.kind = JointKind::kAxes;
    joint.parent = k == 0 ? "base" : fmt::format("link{}", k - 1);
    joint.child = link.name;
    joint.axes = {{.coordinate = joint.name, .rotational = !(with_slide && k == 1), .axis_J = axes[k]}};
    joint.X_PJ = pose({0.3, 0.2, -0.1}, {0.05, 0.12, 0.1});
    model.joints.push_back(joint);
  }
  return model;
}

/// A step model, its differentiator, and differences of it.
struct Bench {
  scene::Scene scene;
  ConvexStep model;
  StepDifferentiator differentiator;
  VectorXd q, u;
  StepResult result;

  explicit Bench(const scene::SceneSpec& spec) : scene(test::build(spec)), model(scene), differentiator(scene) {
    q = scene.initial_configuration();
    u = VectorXd::Zero(scene.nu());
  }
  void step() { model.step(q, u, result); }
};

/// One number per output of a step: q⁺ as a displacement from the nominal one, forces in the contact frame, forces in
/// the world.
VectorXd outputs(Bench& bench, const VectorXd& q, const VectorXd& u, const StepResult& nominal) {
  StepResult result;
  bench.model.reset();
  bench.model.step(q, u, result);
  EXPECT_EQ(result.status, solvers::Status::kSolved);
  EXPECT_EQ(result.problem.contacts.size(), nominal.problem.contacts.size());
  // Log at the nominal q⁺: the tangent there.
  const VectorXd moved = bench.scene.model().difference(nominal.q_next, result.q_next);
  std::vector<double> all(moved.begin(), moved.end());
  for (std::size_t i = 0; i < result.problem.contacts.size(); ++i) {
    EXPECT_EQ(result.problem.contacts[i].id, nominal.problem.contacts[i].id);
    const auto& c = result.problem.contacts[i];
    const auto& f = result.solution.force[i];
    for (int r = 0; r < result.program.J.rows(static_cast<int>(i)); ++r) all.push_back(f[r]);
    const Vector3d F = f[0] * c.n_W + f[1] * c.t1_W + f[2] * c.t2_W;
    all.insert(all.end(), F.begin(), F.end());
  }
  return Eigen::Map<VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
}

/// The Jacobian of StepDerivative in the same order of rows.
MatrixXd stacked(const MatrixXd& dq_next, const MatrixXd& dforce, const MatrixXd& dforce_W, const StepDerivative& d,
                 const StepResult& result) {
  MatrixXd all(dq_next.rows() + dforce.rows() + dforce_W.rows(), dq_next.cols());
  Eigen::Index row = dq_next.rows();
  all.topRows(row) = dq_next;
  for (std::size_t i = 0; i < d.first_row.size(); ++i) {
    const int rows = result.program.J.rows(static_cast<int>(i));
    all.middleRows(row, rows) = dforce.middleRows(d.first_row[i], rows);
    all.middleRows(row + rows, 3) = dforce_W.middleRows(3 * i, 3);
    row += rows + 3;
  }
  return all;
}

struct Errors {
  double A = 0, B = 0, force_q = 0, force_u = 0;
  double largest() const { return std::max(std::max(A, B), std::max(force_q, force_u)); }
};

Errors compare(Bench& bench, double eta) {
  bench.step();
  EXPECT_EQ(bench.result.status, solvers::Status::kSolved);
  bench.differentiator.linearize(bench.q, bench.u, bench.result);
  StepDerivative d;
  bench.differentiator.jacobians(d);
  EXPECT_FALSE(bench.differentiator.is_kink())
      << (bench.differentiator.kinks().empty() ? "" : bench.differentiator.kinks()[0]);
  const int nv = bench.scene.nv(), nu = bench.scene.nu();
  MatrixXd by_q, by_u;
  for (int i = 0; i < nv; ++i) {
    const VectorXd column = test::difference(
        [&](double s) {
          VectorXd q;
          bench.scene.model().integrate(bench.q, s * VectorXd::Unit(nv, i), q);
          return outputs(bench, q, bench.u, bench.result);
        },
        eta);
    by_q.conservativeResize(column.size(), nv);
    by_q.col(i) = column;
  }
  for (int i = 0; i < nu; ++i) {
    const VectorXd column = test::difference(
        [&](double s) { return outputs(bench, bench.q, bench.u + s * VectorXd::Unit(nu, i), bench.result); }, eta);
    by_u.conservativeResize(column.size(), nu);
    by_u.col(i) = column;
  }
  const MatrixXd q_side = stacked(d.A, d.dforce_dq, d.dforce_W_dq, d, bench.result),
                 u_side = stacked(d.B, d.dforce_du, d.dforce_W_du, d, bench.result);
  const Eigen::Index forces = by_q.rows() - nv;
  Errors e;
  e.A = test::relative_error(q_side.topRows(nv), by_q.topRows(nv));
  if (forces > 0) e.force_q = test::relative_error(q_side.bottomRows(forces), by_q.bottomRows(forces));
  if (nu > 0) e.B = test::relative_error(u_side.topRows(nv), by_u.topRows(nv));
  if (nu > 0 && forces > 0) e.force_u = test::relative_error(u_side.bottomRows(forces), by_u.bottomRows(forces));
  return e;
}

/// A free body against the last link of an arm.
scene::SceneSpec arm_and_body(const ShapeSpec& on_arm, const ShapeSpec& body, const RigidTransform& X_WBody) {
  scene::SceneSpec spec = test::scene_spec({arm("arm", on_arm), lopsided_body("body", body, X_WBody)}, {{"arm", 80}});
  spec.world.welds.push_back({.parent = "world", .child = "arm::base", .X_PC = pose({0.1, -0.2, 0.3}, {0, 0, 0})});
  spec.gravity_W = {0.5, -1, -9};
  spec.step.h = 0.1;
  spec.step.kappa = 300;
  return spec;
}

TEST(StepDerivative, SphereAgainstSphereOnAnArm) {
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    scene::SceneSpec spec = arm_and_body(multibody::SphereSpec{0.05}, multibody::SphereSpec{0.06},
                                         pose({0.4, 0.2, 0.7}, {0.25, 0.35, 0.3}));
    spec.step.cone = cone;
    Bench bench(spec);
    bench.u << 0.1, -0.15, 0.2;
    const Errors e = compare(bench, 2e-4);
    EXPECT_LT(e.largest(), kTolerance) << fmt::format("A {:.1e} B {:.1e} fq {:.1e} fu {:.1e} turn {} contacts {}", e.A,
                                                      e.B, e.force_q, e.force_u, bench.result.delta.transpose().norm(),
                                                      bench.result.problem.contacts.size());
  }
}

}  // namespace
}  // namespace deft::dynamics
