#pragma once
// What tests and benchmarks of step derivatives share: lopsided bodies and arms, and differences of whole steps.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collision/reference_shapes.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/convex/convex_step.hpp"
#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
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

/// Joints with skew axes, one after the other ('h' hinge, 's' slide, 'b' ball, 'p' planar, 't' translation), links of
/// full inertia, the last one carrying `shape`; with `all` every link does.
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
    const auto axis = [&](const char* suffix, bool rotational, const Vector3d& axis_J) {
      joint.axes.push_back({.coordinate = joint.name + suffix, .rotational = rotational, .axis_J = axis_J});
    };
    if (joints[k] == 'h' || joints[k] == 's') axis("", joints[k] == 'h', axes[k % 3]);
    if (joints[k] == 'p' || joints[k] == 't') {
      axis("_x", false, Vector3d::UnitX());
      axis("_y", false, Vector3d::UnitY());
      axis("_z", joints[k] == 'p', Vector3d::UnitZ());
    }
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

/// Where the shape of an arm's last link stands, the arm's base at X_WBase.
inline RigidTransform shape_pose(const std::string& joints, const RigidTransform& X_WBase) {
  scene::SceneSpec alone = derivative_scene({arm("arm", joints, multibody::SphereSpec{0.01})}, {});
  weld(alone, "arm", X_WBase);
  const scene::Scene scene = test::build(alone);
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  return state.X_WB()[scene.model().find_body(fmt::format("arm::link{}", joints.size() - 1))] *
         pose({0.2, -0.1, 0.4}, {0.02, 0.01, 0.03});
}

inline RigidTransform arm_base() { return pose({0.1, -0.2, 0.3}, Vector3d::Zero()); }

/// The last link of an arm (robot) against an object with the joints `object`, none: free; the object's shape touches
/// the arm's with `gap`.
inline scene::SceneSpec arm_and_body(const collision::reference::Body& on_arm,
                                     const collision::reference::Body& on_body, double gap,
                                     collision::reference::Random& random, const std::string& joints = "hhh",
                                     const std::string& object = "") {
  const RigidTransform X_WG = touching(on_body, on_arm, shape_pose(joints, arm_base()), gap, random);
  scene::SceneSpec spec =
      derivative_scene({arm("arm", joints, on_arm.spec),
                        object.empty() ? lopsided_body("body", on_body.spec, X_WG) : arm("body", object, on_body.spec)},
                       {{"arm", 80}});
  weld(spec, "arm", arm_base());
  if (!object.empty()) weld(spec, "body", X_WG * shape_pose(object, RigidTransform::Identity()).inverse());
  return spec;
}

/// The last link of an arm against a half-space, with `gap`.
inline scene::SceneSpec arm_and_half_space(const collision::reference::Body& on_arm, double gap,
                                           collision::reference::Random& random) {
  const RigidTransform X_WG = shape_pose("hhh", arm_base());
  const auto [x, m] = on_arm.random_surface_point(random);
  const Vector3d n = -(X_WG.linear() * m);
  scene::SceneSpec spec =
      derivative_scene({arm("arm", "hhh", on_arm.spec),
                        test::fixed_body("wall", multibody::HalfSpaceSpec{n, n.dot(X_WG * x) - gap}, 0.7)},
                       {{"arm", 80}});
  weld(spec, "arm", arm_base());
  return spec;
}

/// A step, its derivative, and its differences.
class StepDifferences {
 public:
  scene::Scene scene;
  std::unique_ptr<StepModel> model;
  StepDifferentiator differentiator;
  VectorXd q, v, u;  // v stays empty in models of first order
  StepResult result;
  StepDerivative derivative;
  double smallest_B = 0;      // entries of B below it are measured against it
  double solve_again_to = 0;  // > 0: steps are solved again to it (first order)

  explicit StepDifferences(const scene::SceneSpec& spec)
      : scene(test::build(spec)), model(make_step_model(scene)), differentiator(scene) {
    q = scene.initial_configuration();
    u = VectorXd::NullaryExpr(scene.nu(), [](Eigen::Index i) { return 0.12 - 0.07 * static_cast<double>(i % 4); });
  }

  /// The step and its derivative. @returns whether the step is solved.
  bool take_derivative(const DerivativeOptions& options = {}) {
    if (!take_step(State{.q = q, .v = v}, u, result)) return false;
    differentiator.linearize(State{.q = q, .v = v}, u, result, options);
    differentiator.jacobians(derivative);
    return true;
  }

  /// q⁺ as a displacement from the nominal one (second order: then v⁺), then per contact the force in its frame and in
  /// the world. Nothing if other contacts are found than at the nominal point.
  std::optional<VectorXd> outputs(const State& at, const VectorXd& at_u) {
    StepResult moved;
    if (!take_step(at, at_u, moved) || !has_same_contacts(moved) || !has_same_forces(moved)) return std::nullopt;
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

  /// The step of this scene from the start and under the command of `other`: q⁺ as a displacement from its q⁺, then the
  /// forces in their frames. Nothing if the contacts are others.
  std::optional<VectorXd> motion_and_forces(const StepDifferences& other) {
    StepResult moved;
    if (!take_step(State{.q = other.q, .v = other.v}, other.u, moved) || !other.has_same_contacts(moved) ||
        !other.has_same_forces(moved))
      return std::nullopt;
    const VectorXd shift = scene.model().difference(other.result.q_next, moved.q_next);
    std::vector<double> all(shift.begin(), shift.end());
    for (std::size_t i = 0; i < moved.solution.force.size(); ++i) {
      const auto& f = moved.solution.force[i];
      all.insert(all.end(), f.begin(), f.begin() + moved.program.J.rows(static_cast<int>(i)));
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

  /// Errors of motion (A or B) and forces against the best of several step lengths: the sharper the barrier, the
  /// shorter the step that suits it. Nothing if contacts come and go: also where they do so within a step that is
  /// shorter than one within which they seem not to, because then they do at the state itself.
  std::optional<Errors> errors(By by) {
    if (by == By::kU && scene.nu() == 0) return Errors{};
    std::optional<Errors> best;
    const MatrixXd computed = analytic(by);
    const Eigen::Index nv = motions(), forces = computed.rows() - nv;
    for (const double eta : {3e-4, 6e-5, 1e-5, 1e-6, 1e-7}) {
      if (eta < 1e-5 && (!best || best->largest() < 1e-8)) break;  // a nonsmooth point nearby: closer to the point
      const auto expected = differences(by, eta);
      if (!expected && best) return std::nullopt;
      if (!expected) continue;
      Errors e{.motion = error(computed.topRows(nv), expected->topRows(nv))};
      const double largest = expected->topRows(nv).cwiseAbs().maxCoeff();
      if (by == By::kU && largest < smallest_B) e.motion *= largest / smallest_B;
      if (forces > 0) e.force = error(computed.bottomRows(forces), expected->bottomRows(forces));
      if (!best) best = e;
      best->motion = std::min(best->motion, e.motion);
      best->force = std::min(best->force, e.force);
    }
    return best;
  }

 private:
  bool take_step(const State& at, const VectorXd& at_u, StepResult& step) {
    model->reset();
    model->step(at, at_u, step);
    if (step.status != solvers::Status::kSolved) return false;
    if (solve_again_to == 0) return true;
    solvers::contact::ContactSolver solver;
    if (solver.solve(step.program, {.tolerance = solve_again_to}, step.solution).status != solvers::Status::kSolved)
      return false;
    step.delta = step.solution.delta.head(scene.nv());
    scene.model().integrate(at.q, step.delta, step.q_next);
    return true;
  }

  /// Relative; zero where both are nothing but the rounding of differences.
  static double error(const MatrixXd& computed, const MatrixXd& expected) {
    const bool is_zero = computed.cwiseAbs().maxCoeff() < 1e-8 && expected.cwiseAbs().maxCoeff() < 1e-6;
    return is_zero ? 0.0 : test::relative_error(computed, expected);
  }

  /// Exact steps: the same rays are closed, the same cones are open, slide or stick.
  bool has_same_forces(const StepResult& other) const {
    if (std::isfinite(result.program.kappa)) return true;
    const auto pattern = [](const StepResult& step) {
      std::vector<int> all;
      const bool has_rays = !step.solution.ray_multipliers.empty();
      for (std::size_t j = 0; has_rays && j < step.solution.slack.size(); ++j)
        all.push_back(step.solution.slack[j] > 1e-10);
      for (std::size_t i = 0; i < step.program.contacts.size(); ++i) {
        if (!solvers::contact::is_cone(step.program, static_cast<int>(i))) continue;
        const auto& f = step.solution.force[i];
        const auto& law = step.program.contacts[i];
        double tail = 0;
        for (int k = 0; k < 3; ++k) {
          const double unit = law.mu * law.ellipsoid[k];
          if (unit > 0) tail = std::hypot(tail, f[to_size(k) + 1] / unit);
        }
        all.push_back(f[0] <= 1e-10 ? 0 : tail >= (1 - 1e-9) * f[0] ? 1 : 2);
      }
      return all;
    };
    return pattern(result) == pattern(other);
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
