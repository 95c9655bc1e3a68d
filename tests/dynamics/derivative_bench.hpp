#pragma once
// What the tests of step derivatives share: lopsided bodies and arms, and differences of whole steps.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collision/reference_shapes.hpp"
#include "deft/dynamics/convex_step.hpp"
#include "deft/dynamics/step_derivative.hpp"
#include "support/differences.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::JointKind;
using multibody::ModelSpec;
using multibody::ShapeSpec;

/// Relative, of the largest entry; differences carry 1e-9 … 1e-8 themselves.
inline constexpr double kTolerance = 1e-7;

inline RigidTransform pose(const Vector3d& rpy, const Vector3d& p) { return make_transform(rotation_from_rpy(rpy), p); }

/// A link with a full inertia, its centre of mass off the origin, and one shape.
inline multibody::LinkSpec lopsided(const std::string& name, const ShapeSpec& shape, const RigidTransform& X_LG,
                                    double mass = 0.8) {
  const Matrix3d R = rotation_from_rpy({0.3, -0.4, 0.9});
  multibody::LinkSpec link;
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

/// A free body whose shape stands at X_WG.
inline ModelSpec lopsided_body(const std::string& name, const ShapeSpec& shape, const RigidTransform& X_WG) {
  const RigidTransform X_BG = pose({0.1, 0.2, -0.3}, {0.01, -0.02, 0.005});
  ModelSpec model;
  model.name = name;
  model.inline_body = true;
  model.links.push_back(lopsided(name, shape, X_BG));
  model.X_WModel = X_WG * X_BG.inverse();
  return model;
}

/// Joints with skew axes, one after the other ('h' hinge, 's' slide, 'b' ball), links of full inertia, the last one
/// carrying `shape`; with `all` every link does.
inline ModelSpec arm(const std::string& name, const std::string& joints, const ShapeSpec& shape, bool all = false) {
  ModelSpec model;
  model.name = name;
  model.links.push_back({.name = "base"});
  const Vector3d axes[] = {Vector3d(0.2, 0.1, 1).normalized(), Vector3d(1, 0.3, -0.2).normalized(),
                           Vector3d(0.1, 1, 0.4).normalized()};
  for (std::size_t k = 0; k < joints.size(); ++k) {
    multibody::LinkSpec link = lopsided(fmt::format("link{}", k), shape, pose({0.2, -0.1, 0.4}, {0.02, 0.01, 0.03}));
    if (!all && k + 1 < joints.size()) link.collisions.clear();
    model.links.push_back(link);
    multibody::JointSpec joint;
    joint.name = fmt::format("joint{}", k);
    joint.kind = joints[k] == 'b' ? JointKind::kBall : JointKind::kAxes;
    joint.parent = k == 0 ? "base" : fmt::format("link{}", k - 1);
    joint.child = link.name;
    if (joints[k] != 'b')
      joint.axes = {{.coordinate = joint.name, .rotational = joints[k] == 'h', .axis_J = axes[k % 3]}};
    joint.X_PJ = pose({0.3, 0.2, -0.1}, {0.05, 0.12, 0.1});
    model.joints.push_back(joint);
  }
  return model;
}

inline void weld(scene::SceneSpec& spec, const std::string& name, const RigidTransform& X_WBase) {
  spec.world.welds.push_back({.parent = "world", .child = name + "::base", .X_PC = X_WBase});
}

/// Scenes of these tests: gravity, h = 0.1 s, smoothed.
inline scene::SceneSpec derivative_scene(std::vector<ModelSpec> models,
                                         const std::vector<std::pair<std::string, double>>& robots) {
  scene::SceneSpec spec = test::scene_spec(std::move(models), robots);
  spec.gravity_W = {0.5, -1, -9};
  spec.step.kappa = 300;
  spec.step.contact_margin = 0.03;
  return spec;
}

/// Where geometry `shape` ends up touching `other` (posed at X_WO) with `gap` between random features of both.
inline RigidTransform touching(const collision::reference::Body& shape, const collision::reference::Body& other,
                               const RigidTransform& X_WO, double gap, collision::reference::Random& random) {
  const auto [x_o, m_o] = other.random_surface_point(random);
  const auto [x_s, m_s] = shape.random_surface_point(random);
  const Vector3d n = X_WO.linear() * m_o;
  const Matrix3d R = collision::reference::random_rotation_taking(m_s, -n, random);
  return make_transform(R, X_WO * x_o + gap * n - R * x_s);
}

/// A step, its derivative, and its differences.
class Bench {
 public:
  scene::Scene scene;
  std::unique_ptr<StepModel> model;
  StepDifferentiator differentiator;
  VectorXd q, v, u;  // v stays empty in models of first order
  StepResult result;
  StepDerivative derivative;

  explicit Bench(const scene::SceneSpec& spec)
      : scene(test::build(spec)), model(make_step_model(scene)), differentiator(scene) {
    q = scene.initial_configuration();
    u = VectorXd::NullaryExpr(scene.nu(), [](Eigen::Index i) { return 0.12 - 0.07 * static_cast<double>(i % 4); });
  }

  /// The step and its derivative.
  void differentiate(const DerivativeOptions& options = {}) {
    model->reset();
    model->step(State{.q = q, .v = v}, u, result);
    ASSERT_EQ(result.status, solvers::Status::kSolved);
    differentiator.linearize(State{.q = q, .v = v}, u, result, options);
    differentiator.jacobians(derivative);
  }

  /// q⁺ as a displacement from the nominal one (second order: then v⁺), then per contact the force in its frame and in
  /// the world. Nothing if other contacts are found than at the nominal point.
  std::optional<VectorXd> outputs(const State& at, const VectorXd& at_u) {
    StepResult moved;
    model->reset();
    model->step(at, at_u, moved);
    if (moved.status != solvers::Status::kSolved || !has_same_contacts(moved)) return std::nullopt;
    const VectorXd shift = scene.model().difference(result.q_next, moved.q_next);
    std::vector<double> all(shift.begin(), shift.end());
    all.insert(all.end(), moved.v_next.begin(), moved.v_next.end());
    for (std::size_t i = 0; i < moved.problem.contacts.size(); ++i) {
      const auto& c = moved.problem.contacts[i];
      const auto& f = moved.solution.force[i];
      all.insert(all.end(), f.begin(), f.begin() + moved.program.J.rows(static_cast<int>(i)));
      const Vector3d F = f[0] * c.n_W + f[1] * c.t1_W + f[2] * c.t2_W;
      all.insert(all.end(), F.begin(), F.end());
    }
    return Eigen::Map<VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
  }

  enum class By { kQ, kV, kU };

  /// Differences of the outputs.
  std::optional<MatrixXd> differences(By by, double eta) {
    const int n = by == By::kU ? scene.nu() : scene.nv();
    const Eigen::Index size = analytic(by).rows();
    MatrixXd columns(size, n);
    bool is_whole = true;
    for (int i = 0; i < n; ++i) {
      const VectorXd column = test::difference(
          [&](double s) -> VectorXd {
            const VectorXd shift = s * VectorXd::Unit(n, i);
            State moved{.q = q, .v = v};
            if (by == By::kQ) scene.model().integrate(q, shift, moved.q);
            if (by == By::kV) moved.v += shift;
            const auto values = is_whole ? outputs(moved, by == By::kU ? VectorXd(u + shift) : u) : std::nullopt;
            is_whole = values.has_value();
            return is_whole ? *values : VectorXd::Zero(size);
          },
          eta);
      if (!is_whole) return std::nullopt;
      columns.col(i) = column;
    }
    return columns;
  }

  /// Rows of motion in the outputs.
  Eigen::Index motions() const { return v.size() > 0 ? 2 * scene.nv() : scene.nv(); }

  /// The analytic Jacobian in the same order of rows.
  MatrixXd analytic(By by) const {
    const StepDerivative& d = derivative;
    const MatrixXd& motion = by == By::kQ ? d.A : by == By::kV ? d.A_v : d.B;
    const MatrixXd& velocity = by == By::kQ ? d.dv_dq : by == By::kV ? d.dv_dv : d.dv_du;
    const MatrixXd& force = by == By::kQ ? d.dforce_dq : by == By::kV ? d.dforce_dv : d.dforce_du;
    MatrixXd all(motions() + force.rows() + 3 * static_cast<Eigen::Index>(d.first_row.size()), motion.cols());
    all.topRows(scene.nv()) = motion;
    if (v.size() > 0) all.middleRows(scene.nv(), scene.nv()) = velocity;
    Eigen::Index row = motions();
    for (std::size_t i = 0; i < d.first_row.size(); ++i) {
      const int rows = result.program.J.rows(static_cast<int>(i));
      const auto f = force.middleRows(d.first_row[i], rows);
      all.middleRows(row, rows) = f;
      const auto at = 3 * static_cast<Eigen::Index>(i);
      const auto& c = result.problem.contacts[i];
      auto world = all.middleRows(row + rows, 3);
      world = c.n_W * f.row(0) + c.t1_W * f.row(1);
      if (rows > 2) world += c.t2_W * f.row(2);
      if (by == By::kQ) world = d.dforce_W_dq.middleRows(at, 3);
      if (by == By::kU) world = d.dforce_W_du.middleRows(at, 3);
      row += rows + 3;
    }
    return all;
  }

  struct Errors {
    double motion = 0, force = 0;
    double largest() const { return std::max(motion, force); }
  };

  /// Errors of motion (A or B) and forces against the best of three step lengths: the sharper the barrier, the shorter
  /// the step that suits it. Nothing if contacts come and go.
  std::optional<Errors> errors(By by) {
    if (by == By::kU && scene.nu() == 0) return Errors{};
    std::optional<Errors> best;
    const MatrixXd computed = analytic(by);
    const Eigen::Index nv = motions(), forces = computed.rows() - nv;
    for (const double eta : {3e-4, 6e-5, 1e-5}) {
      const auto expected = differences(by, eta);
      if (!expected) continue;
      Errors e{.motion = error(computed.topRows(nv), expected->topRows(nv))};
      if (forces > 0) e.force = error(computed.bottomRows(forces), expected->bottomRows(forces));
      if (!best) best = e;
      best->motion = std::min(best->motion, e.motion);
      best->force = std::min(best->force, e.force);
    }
    return best;
  }

  /// Expects the derivative to exist and to agree.
  void check(const std::string& what, double tolerance = kTolerance) {
    differentiate();
    if (::testing::Test::HasFatalFailure()) return;
    const auto kinks = differentiator.kinks();
    EXPECT_FALSE(differentiator.is_kink()) << what << ": " << (kinks.empty() ? "" : kinks[0]);
    for (const By by : {By::kQ, By::kV, By::kU}) {
      if (by == By::kV && v.size() == 0) continue;
      const auto e = errors(by);
      const char* name = by == By::kQ ? "q" : by == By::kV ? "v" : "u";
      ASSERT_TRUE(e) << what << ": contacts come and go within the stencil";
      EXPECT_LT(e->largest(), tolerance) << what
                                         << fmt::format(": by {}: motion {:.1e}, force {:.1e}", name, e->motion,
                                                        e->force);
    }
  }

 private:
  /// Relative; zero where both are nothing but the rounding of differences.
  static double error(const MatrixXd& computed, const MatrixXd& expected) {
    const bool is_zero = computed.cwiseAbs().maxCoeff() < 1e-8 && expected.cwiseAbs().maxCoeff() < 1e-6;
    return is_zero ? 0.0 : test::relative_error(computed, expected);
  }

  bool has_same_contacts(const StepResult& other) const {
    const auto& a = result.problem.contacts;
    const auto& b = other.problem.contacts;
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
      return x.id == y.id && x.t1_W.dot(y.t1_W) > 0.9;  // the rule of the tangents jumps between axes
    });
  }
};

}  // namespace deft::dynamics
