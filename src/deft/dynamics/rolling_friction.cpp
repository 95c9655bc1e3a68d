#include "deft/dynamics/rolling_friction.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "deft/core/index.hpp"
#include "deft/math/block_parts.hpp"
#include "deft/math/dense.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kAlongNormal = 0.5;  // of a cylinder's axis, across the normal: less, and it stands on its end

bool states_rolling(const scene::FrictionSpec& friction) {
  return friction.rolling > 0 ||
         std::any_of(friction.pairs.begin(), friction.pairs.end(), [](const auto& pair) { return pair.rolling.value_or(0) > 0; });
}

}  // namespace

RollingFriction::RollingFriction(const scene::Scene& scene) : scene_(&scene), none_(!states_rolling(scene.spec().friction)) {
  if (none_) return;
  for (const multibody::ModelSpec& model : scene.spec().world.models) {
    for (const multibody::LinkSpec& link : model.links) {
      for (const multibody::GeometrySpec& geometry : link.collisions) {
        const bool has_axis = std::holds_alternative<multibody::CylinderSpec>(geometry.shape) ||
                              std::holds_alternative<multibody::CapsuleSpec>(geometry.shape);
        const bool is_ball = std::holds_alternative<multibody::SphereSpec>(geometry.shape) ||
                             std::holds_alternative<multibody::EllipsoidSpec>(geometry.shape);
        body_of_.push_back(scene.model().find_body(model.inline_body ? model.name : model.name + "/" + link.name));
        axis_B_.push_back(has_axis ? Vector3d(geometry.X_LG.linear().col(2)) : Vector3d::Zero());
        is_ball_.push_back(is_ball);
      }
    }
  }
  is_frozen_.assign(to_size(scene.nv()), 0);
  for (const scene::Object& object : scene.objects())
    if (object.frozen) std::fill_n(is_frozen_.begin() + object.first_v, object.nv, char{1});
}

const Eigen::Matrix<double, 3, Eigen::Dynamic>& RollingFriction::angular_jacobian(int body, const scene::SceneState& state) {
  const auto n = static_cast<Eigen::Index>(scene_->model().columns(body).size());
  rows_.resize(6 * to_size(static_cast<int>(n)));
  scene_->model().point_jacobian(state.kinematics, body, Vector3d::Zero(), rows_.data(), static_cast<int>(n));
  J_ = Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>>(rows_.data(), 6, n).topRows<3>();
  return J_;
}

Vector3d RollingFriction::angular_velocity(int body, const scene::SceneState& state) {
  const auto columns = scene_->model().columns(body);
  const auto& J = angular_jacobian(body, state);
  Vector3d omega = Vector3d::Zero();
  for (std::size_t c = 0; c < columns.size(); ++c) omega += v_(columns[c]) * J.col(static_cast<Eigen::Index>(c));
  return omega;
}

Vector3d RollingFriction::rolling_part(const LoadedContact& contact, const Vector3d& omega, const scene::SceneState& state) const {
  const Vector3d tangential = omega - omega.dot(contact.n_W) * contact.n_W;
  const auto a = to_size(contact.geometry_a), b = to_size(contact.geometry_b);
  if (is_ball_[a] != 0 || is_ball_[b] != 0) return tangential;
  const auto round = axis_B_[a].isZero(0) ? b : a;
  const Vector3d axis = state.X_WB()[to_size(body_of_[round])].linear() * axis_B_[round];
  const Vector3d along = axis - axis.dot(contact.n_W) * contact.n_W;
  const double length = along.norm();
  if (length < kAlongNormal) return Vector3d::Zero();
  return tangential.dot(along) / (length * length) * along;
}

void RollingFriction::answer(int body, const Vector3d& direction, const scene::SceneState& state, const BlockDiagonal& Q,
                             Side& side) {
  const auto columns = scene_->model().columns(body);
  side.body = body;
  side.first = -1;
  side.mobility = 0;
  if (columns.empty() || is_frozen_[to_size(columns[0])] != 0) return;
  const int k = block_at(Q, columns[0]);
  if (k < 0) return;
  side.first = Q.start(k);
  side.size = Q.size(k);
  const auto& J = angular_jacobian(body, state);
  side.answer.setZero(side.size);
  for (std::size_t c = 0; c < columns.size(); ++c)
    side.answer(columns[c] - side.first) = J.col(static_cast<Eigen::Index>(c)).dot(direction);
  factor_ = Q.block(k);
  llt_solve_in_place(factor_, side.answer);
  for (std::size_t c = 0; c < columns.size(); ++c)
    side.mobility += side.answer(columns[c] - side.first) * J.col(static_cast<Eigen::Index>(c)).dot(direction);
}

void RollingFriction::torques(std::span<const LoadedContact> contacts, const scene::SceneState& state, const VectorXd& v, double h,
                              const BlockDiagonal& Q, std::vector<BodyTorque>& out) {
  if (none_) return;
  v_ = v;
  for (const LoadedContact& contact : contacts) {
    const double limit = scene_->friction(contact.geometry_a, contact.geometry_b).rolling * contact.force;
    if (!(limit > 0)) continue;
    const int body_a = body_of_[to_size(contact.geometry_a)], body_b = body_of_[to_size(contact.geometry_b)];
    const Vector3d omega = angular_velocity(body_a, state) - angular_velocity(body_b, state);
    const Vector3d rolling = rolling_part(contact, omega, state);
    const double rate = rolling.norm();
    if (!(rate > 0)) continue;
    const Vector3d direction = rolling / rate;
    answer(body_a, direction, state, Q, a_);
    answer(body_b, direction, state, Q, b_);
    const double change = (a_.mobility + b_.mobility) / h;  // of the rate, by a torque of 1 N·m over the step
    if (!(change > 0)) continue;
    const double torque = std::min(limit * rate / std::max(rate, kRollingRate), rate / change);
    if (a_.first >= 0) v_.segment(a_.first, a_.size) -= torque / h * a_.answer;
    if (b_.first >= 0) v_.segment(b_.first, b_.size) += torque / h * b_.answer;
    if (a_.first >= 0) out.push_back({body_a, -torque * direction});
    if (b_.first >= 0) out.push_back({body_b, torque * direction});
  }
}

void RollingFriction::add_generalized(std::span<const BodyTorque> torques, const scene::SceneState& state, VectorXd& tau) {
  for (const BodyTorque& torque : torques) {
    const auto columns = scene_->model().columns(torque.body);
    const auto& J = angular_jacobian(torque.body, state);
    for (std::size_t c = 0; c < columns.size(); ++c)
      tau(columns[c]) += J.col(static_cast<Eigen::Index>(c)).dot(torque.torque_W);
  }
}

}  // namespace deft::dynamics
