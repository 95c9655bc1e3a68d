#include "deft/dynamics/patch/patch_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "deft/dynamics/energy_step.hpp"
#include "deft/dynamics/rolling_friction.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr const char* kModel = "step.model: equivalent-contact-point";

[[noreturn]] void refuse(const scene::Scene& scene, const std::string& what) {
  throw InputError({scene.spec().file, 0, 0}, fmt::format("{} {}", kModel, what));
}

void check_settings(const scene::Scene& scene) {
  const scene::StepSettings& step = scene.settings().step;
  if (std::isfinite(step.kappa)) refuse(scene, fmt::format("is exact: step.kappa is {}, valid: inf", step.kappa));
  if (!scene.robots().empty())
    refuse(scene, fmt::format("moves free bodies only; '{}' is a robot", scene.robots().front().name));
  if (step.compliance > 0)
    refuse(scene, fmt::format("has rigid contact only: step.compliance is {}, valid: 0", step.compliance));
  if (step.friction_arm != 1)
    refuse(scene,
           fmt::format("finds itself where a face presses: step.friction_arm is {}, valid: 1", step.friction_arm));
  if (step.relinearize != 0) refuse(scene, "finds its contacts where the step ends; step.relinearize must be 0");
  if (std::isfinite(step.recovery_speed))
    refuse(scene,
           fmt::format("parts what penetrates at once: step.recovery_speed is {}, valid: inf", step.recovery_speed));
  if (resists_rolling(scene.spec().friction))
    refuse(scene, "has no rolling friction: friction.rolling must be 0, for friction.pairs too");
  if (step.effort_limits) refuse(scene, "has no robots: step.effort_limits must be false");
  for (const scene::Object& object : scene.objects())
    if (object.frozen) refuse(scene, fmt::format("has no frozen objects; give '{}' joint: fixed", object.name));
  for (const multibody::ModelInfo& model : scene.model().models()) {
    if (model.nv == 0 || (model.floating_base() && model.nv == 6)) continue;
    refuse(scene,
           fmt::format("moves free bodies only; '{}' has joints (valid: joint: free, joint: fixed)", model.name));
  }
}

/// Mass, centre of mass and inertia of a free model from its block of the mass matrix, which welded links belong to.
PatchBody make_body(const Eigen::MatrixXd& M, const multibody::ModelInfo& model, const RigidTransform& X_WB) {
  const Eigen::Matrix<double, 6, 6> block = M.block<6, 6>(model.first_v, model.first_v);
  PatchBody body;
  body.body = model.bodies.front();
  body.mass = block(3, 3);
  const Matrix3d C = block.topRightCorner<3, 3>() / body.mass;  // [c]×
  const Vector3d c(C(2, 1), C(0, 2), C(1, 0));
  const Matrix3d I = block.topLeftCorner<3, 3>() + body.mass * skew(c) * skew(c);
  body.p_BC = X_WB.linear().transpose() * c;
  body.I_BCm_B = X_WB.linear().transpose() * I * X_WB.linear();
  body.I_BCm_B = 0.5 * (body.I_BCm_B + body.I_BCm_B.transpose()).eval();
  return body;
}

/// Fills the free bodies, and where every body of the scene is on them or in the world.
void add_bodies(const scene::Scene& scene, PatchWorld& world) {
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  const std::span<const RigidTransform> X_WB = state.X_WB();
  Eigen::MatrixXd M;
  scene.model().mass_matrix(state.kinematics, M);
  world.links.resize(X_WB.size());
  for (std::size_t b = 0; b < X_WB.size(); ++b) world.links[b].X = X_WB[b];
  for (const multibody::ModelInfo& model : scene.model().models()) {
    if (model.nv == 0) continue;
    const RigidTransform& base = X_WB[model.bodies.front()];
    for (const int b : model.bodies) world.links[b] = {static_cast<int>(world.bodies.size()), base.inverse() * X_WB[b]};
    world.bodies.push_back(make_body(M, model, base));
  }
}

/// Whether geometry i may touch another one, and one of the two moves.
bool may_touch_any(const PatchWorld& world, int i) {
  const std::span<const collision::GeometryInfo> geometries = world.collision->geometries();
  const bool moves = world.links[geometries[i].body].moving >= 0;
  for (int j = 0; j < static_cast<int>(geometries.size()); ++j)
    if (j != i && world.collision->may_touch(i, j) && (moves || world.links[geometries[j].body].moving >= 0))
      return true;
  return false;
}

/// Fills the geometries, with the sets of those that may touch, and the bodies' size.
void add_geometries(const scene::Scene& scene, PatchWorld& world) {
  const std::span<const collision::GeometryInfo> geometries = world.collision->geometries();
  world.length = 0;
  for (int i = 0; i < static_cast<int>(geometries.size()); ++i) {
    const PatchLink& link = world.links[geometries[i].body];
    PatchGeometry geometry{.moving = link.moving,
                           .body = geometries[i].body,
                           .X_BG = link.X * world.collision->pose_in_body(i),
                           .set = {},
                           .name = geometries[i].name};
    if (may_touch_any(world, i)) {
      const std::optional<collision::ConvexSet> set = world.collision->convex_set(i);
      if (!set)
        refuse(scene, fmt::format("needs shapes that are intersections of convex inequalities; geometry '{}' is a {} "
                                  "(valid: box, cylinder, sphere of radius > 0, ellipsoid, prism, mesh, half_space)",
                                  geometry.name, geometries[i].kind));
      geometry.set = *set;
      if (link.moving >= 0 && !set->bounded)
        refuse(scene, fmt::format("has half-spaces in the world only; geometry '{}' moves", geometry.name));
      if (link.moving >= 0) world.length = std::max(world.length, set->radius);
    }
    world.geometries.push_back(std::move(geometry));
  }
  if (!(world.length > 0)) world.length = 1;
}

/// Fills the pairs that may touch and of which one moves, that one as A.
void add_pairs(const scene::Scene& scene, PatchWorld& world) {
  const int n = static_cast<int>(world.geometries.size());
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      if (!world.collision->may_touch(i, j)) continue;
      int a = i, b = j;
      if (world.geometries[a].moving < 0) std::swap(a, b);
      if (world.geometries[a].moving < 0) continue;
      const scene::PairFriction friction = scene.friction(i, j);
      world.pairs.push_back({.a = a,
                             .b = b,
                             .plane = !world.geometries[b].set.bounded,
                             .mu = friction.frictionless ? 0.0 : friction.mu,
                             .ellipsoid = friction.ellipsoid});
    }
  }
}

}  // namespace

PatchWorld make_patch_world(const scene::Scene& scene) {
  check_settings(scene);
  PatchWorld world;
  world.h = required_step_length(scene);
  world.gravity_W = scene.spec().gravity_W;
  world.ellipsoid_axis = scene.spec().friction.ellipsoid_axis.normalized();
  world.collision = &scene.collision_world();
  add_bodies(scene, world);
  add_geometries(scene, world);
  add_pairs(scene, world);
  return world;
}

void read_states(const scene::Scene& scene, const PatchWorld& world, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                 std::vector<PatchState>& states) {
  states.resize(world.bodies.size());
  std::size_t i = 0;
  for (const multibody::ModelInfo& model : scene.model().models()) {
    if (model.nv == 0) continue;
    PatchState& s = states[i];
    s.quat_wxyz = q.segment<4>(model.first_q).normalized();
    const Vector3d c_W = rotation_from_quat_wxyz(s.quat_wxyz) * world.bodies[i].p_BC;
    s.p_WC = q.segment<3>(model.first_q + 4) + c_W;
    s.omega_W.setZero();
    s.v_WC.setZero();
    if (v.size() > 0) {
      s.omega_W = v.segment<3>(model.first_v);
      s.v_WC = v.segment<3>(model.first_v + 3) + s.omega_W.cross(c_W);
    }
    ++i;
  }
}

void write_states(const scene::Scene& scene, const PatchWorld& world, std::span<const PatchState> states,
                  Eigen::VectorXd& q, Eigen::VectorXd& v) {
  q.resize(scene.nq());
  v.resize(scene.nv());
  std::size_t i = 0;
  for (const multibody::ModelInfo& model : scene.model().models()) {
    if (model.nv == 0) continue;
    const PatchState& s = states[i];
    const Vector3d c_W = rotation_from_quat_wxyz(s.quat_wxyz) * world.bodies[i].p_BC;
    q.segment<4>(model.first_q) = s.quat_wxyz;
    q.segment<3>(model.first_q + 4) = s.p_WC - c_W;
    v.segment<3>(model.first_v) = s.omega_W;
    v.segment<3>(model.first_v + 3) = s.v_WC - s.omega_W.cross(c_W);
    ++i;
  }
}

namespace {

/// Calls `act(body, arm, h share)` for every wrench that acts in [t, t + h]; the arm is from C to the origin of its
/// link.
template <typename Act>
void for_wrenches(const scene::Scene& scene, const PatchWorld& world, double t, std::span<const PatchState> states,
                  const Act& act) {
  for (const scene::Wrench& wrench : scene.wrenches()) {
    const PatchLink& link = world.links[wrench.body];
    const PatchState& s = states[link.moving];
    const Matrix3d R_WB = rotation_from_quat_wxyz(s.quat_wxyz);
    const Vector3d arm = R_WB * (link.X.translation() - world.bodies[link.moving].p_BC);
    double share = wrench.share(t, world.h);
    if (wrench.when && share != 0)
      share = wrench.share(t, world.h,
                           {.p_WB = s.p_WC + arm,
                            .quat_wxyz = quat_wxyz_from_rotation(R_WB * link.X.linear()),
                            .omega_W = s.omega_W,
                            .v_W = s.v_WC + s.omega_W.cross(arm)});
    if (share != 0) act(wrench, link.moving, arm, world.h * share);
  }
}

}  // namespace

void add_wrench_impulses(const scene::Scene& scene, const PatchWorld& world, double t,
                         std::span<const PatchState> states, std::vector<PatchImpulse>& impulses) {
  impulses.assign(world.bodies.size(), {});
  for_wrenches(scene, world, t, states, [&](const scene::Wrench& wrench, int body, const Vector3d& arm, double share) {
    PatchImpulse& impulse = impulses[body];
    impulse.linear_W += share * wrench.force_W;
    impulse.angular_W += share * (wrench.torque_W + arm.cross(wrench.force_W));
  });
}

Eigen::Matrix3d wrench_torque_derivative(const scene::Scene& scene, const PatchWorld& world, double t,
                                         std::span<const PatchState> states, int body) {
  Matrix3d out = Matrix3d::Zero();
  for_wrenches(scene, world, t, states, [&](const scene::Wrench& wrench, int acted, const Vector3d& arm, double share) {
    if (acted == body) out += share * skew(wrench.force_W) * skew(arm);  // (θ × arm) × F
  });
  return out;
}

}  // namespace deft::dynamics
