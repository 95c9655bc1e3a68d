#include "deft/dynamics/complementarity/support_friction.hpp"

#include <fmt/core.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/scene/support_axes.hpp"

namespace deft::dynamics {
namespace {

constexpr double kSameDirection = 1e-10;  // of twists: Q is that of the motion

}  // namespace

std::array<int, 3> plane_axes(scene::Plane plane) {
  if (plane == scene::Plane::kXZ) return {0, 2, 1};
  if (plane == scene::Plane::kYZ) return {1, 2, 0};
  return {0, 1, 2};
}

SupportFriction::SupportFriction(const scene::Scene& scene, const scene::Object& object)
    : first_v_(object.first_v), nv_(object.nv), axes_(plane_axes(scene.plane())), scene_(&scene) {
  const auto refuse = [&](const SourceLocation& where, const std::string& why) {
    throw InputError(where, fmt::format("step.model: limit-surface: object '{}' {}", object.name, why));
  };
  const SourceLocation model_at = scene.spec().world.models[object.model].where;
  if (!object.limit_surface)
    refuse(model_at, "needs 'limit_surface' ([a, b, c], a 3×3 matrix, or a support): nothing else resists its motion");
  if (object.bodies.size() != 1)
    refuse(model_at, fmt::format("has {} bodies; one body slides on a support", object.bodies.size()));
  if (nv_ > 3 || object.nq != object.nv)
    refuse(model_at,
           "must move by one to three joints in the plane of motion ({planar: xy}, {translation: xy}, a slide or a "
           "hinge)");
  body_ = object.bodies[0];
  jacobian_.resize(6 * to_size(nv_));
  const scene::LimitSurfaceSpec& spec = *object.limit_surface;
  if (!spec.support) {
    K_ = spec.ellipsoid.inverse();
    return;
  }
  try {
    pressure_ = std::make_unique<UniformPressure>(spec.support->polygon, scene::support_friction_N(scene, object));
  } catch (const std::invalid_argument& error) {
    refuse(spec.where, fmt::format("has a limit_surface.support that cannot be one: {}", error.what()));
  }
  forget();
}

void SupportFriction::forget() {
  if (!pressure_) return;
  iteration_.emplace(*pressure_);
  K_ = iteration_->K();
}

void SupportFriction::restart() {
  if (iteration_) iteration_->restart();
}

void SupportFriction::place(const scene::SceneState& state) {
  const RigidTransform& X = state.X_WB()[body_];
  const auto columns = scene_->model().columns(body_);
  const int n = static_cast<int>(columns.size());
  scene_->model().point_jacobian(state.kinematics, body_, X.translation(), jacobian_.data(), n);
  const auto J = [&](int row, int column) { return jacobian_[row * n + column]; };
  const auto [b0, b1, along] = scene::support_axes(scene_->plane(), X);
  const int normal = axes_[2];
  Eigen::Matrix3d R = Eigen::Matrix3d::Zero();  // body twists (a, b, turn) → the plane's
  R << X.linear()(axes_[0], b0), X.linear()(axes_[0], b1), 0, X.linear()(axes_[1], b0), X.linear()(axes_[1], b1), 0, 0,
      0, X.linear()(normal, along);
  Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, 3> S(3, n);
  for (int c = 0; c < n; ++c) S.col(c) << J(3 + axes_[0], c), J(3 + axes_[1], c), J(normal, c);
  to_body_ = R.transpose() * S;
  fill();
}

void SupportFriction::fill() {
  Q_ = to_body_.transpose() * K_ * to_body_;
  Q_ = 0.5 * (Q_ + Q_.transpose()).eval();
}

Eigen::Matrix3d SupportFriction::body_form(const Eigen::Vector3d& V) const {
  return pressure_ && !V.isZero(0) ? pressure_->hessian(V) : K_;
}

Eigen::Vector3d SupportFriction::body_load(const Eigen::Matrix3d& K, const Eigen::VectorXd& F_o) const {
  const Form Q = to_body_.transpose() * K * to_body_;
  return K * (to_body_ * Q.llt().solve(F_o));
}

SupportFriction::Form SupportFriction::A() const { return Q_.llt().solve(Form::Identity(nv_, nv_)); }

bool SupportFriction::update(const Eigen::VectorXd& delta, double rest_m) {
  if (!pressure_) return true;
  const Eigen::Vector3d V = twist(delta);
  const double speed = pressure_->speed(V);
  // Slow motions are known to fewer digits.
  const bool fits = iteration_->update(V, rest_m, std::max(kSameDirection, speed > 0 ? 0.1 * rest_m / speed : 0.0));
  if (fits) return true;
  K_ = iteration_->K();
  fill();
  return false;
}

}  // namespace deft::dynamics
