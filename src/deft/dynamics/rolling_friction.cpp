#include "deft/dynamics/rolling_friction.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "deft/core/index.hpp"
#include "deft/math/block_parts.hpp"
#include "deft/math/dense.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kAlongNormal = 0.5;  // of a cylinder's axis, across the normal: less, and it stands on its end

}  // namespace

bool resists_rolling(const scene::FrictionSpec& friction) {
  return friction.rolling > 0 || std::any_of(friction.pairs.begin(), friction.pairs.end(),
                                             [](const auto& pair) { return pair.rolling.value_or(0) > 0; });
}

RollingFriction::RollingFriction(const scene::Scene& scene)
    : scene_(&scene), none_(!resists_rolling(scene.spec().friction)) {
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

const Eigen::Matrix<double, 3, Eigen::Dynamic>& RollingFriction::angular_jacobian(int body,
                                                                                  const scene::SceneState& state) {
  const auto n = static_cast<Eigen::Index>(scene_->model().columns(body).size());
  rows_.resize(6 * to_size(static_cast<int>(n)));
  scene_->model().point_jacobian(state.kinematics, body, Vector3d::Zero(), rows_.data(), static_cast<int>(n));
  J_ = Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>>(rows_.data(), 6, n).topRows<3>();
  return J_;
}

Vector3d RollingFriction::angular_velocity(int body, const scene::SceneState& state, const VectorXd& v) {
  const auto columns = scene_->model().columns(body);
  const auto& J = angular_jacobian(body, state);
  Vector3d omega = Vector3d::Zero();
  for (std::size_t c = 0; c < columns.size(); ++c) omega += v(columns[c]) * J.col(static_cast<Eigen::Index>(c));
  return omega;
}

Vector3d RollingFriction::rolling_part(const LoadedContact& contact, const Vector3d& omega,
                                       const scene::SceneState& state) const {
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

bool RollingFriction::moves(int body) const {
  const auto columns = scene_->model().columns(body);
  return !columns.empty() && is_frozen_[to_size(columns[0])] == 0;
}

int RollingFriction::contacts_on(int body) const {
  return static_cast<int>(std::count_if(bristles_.begin(), bristles_.end(), [&](const Bristle& bristle) {
    return body_of(bristle.contact.geometry_a) == body || body_of(bristle.contact.geometry_b) == body;
  }));
}

/// By how much a torque of 1 N·m over a step turns the body along the direction [rad].
double RollingFriction::mobility(int body, const Vector3d& direction, const scene::SceneState& state,
                                 const BlockDiagonal& Q) {
  if (!moves(body)) return 0;
  const auto columns = scene_->model().columns(body);
  const int k = block_at(Q, columns[0]);
  if (k < 0) return 0;
  const auto& J = angular_jacobian(body, state);
  row_.setZero(Q.size(k));
  for (std::size_t c = 0; c < columns.size(); ++c)
    row_(columns[c] - Q.start(k)) = J.col(static_cast<Eigen::Index>(c)).dot(direction);
  factor_ = Q.block(k);
  answer_ = row_;
  llt_solve_in_place(factor_, answer_);
  return row_.dot(answer_);
}

/// The contacts, one per pair of geometries, with the bristles of those that were there before.
void RollingFriction::gather(std::span<const LoadedContact> contacts) {
  std::swap(last_, bristles_);
  bristles_.clear();
  const auto of = [](std::vector<Bristle>& bristles, const LoadedContact& contact) {
    return std::find_if(bristles.begin(), bristles.end(), [&](const Bristle& bristle) {
      return bristle.contact.geometry_a == contact.geometry_a && bristle.contact.geometry_b == contact.geometry_b;
    });
  };
  for (const LoadedContact& contact : contacts) {
    if (!(contact.force > 0) || !acts_on(contact.geometry_a, contact.geometry_b)) continue;
    if (const auto same = of(bristles_, contact); same != bristles_.end()) {
      same->contact.n_W = (same->contact.force * same->contact.n_W + contact.force * contact.n_W).normalized();
      same->contact.force += contact.force;
      continue;
    }
    const auto before = of(last_, contact);
    bristles_.push_back({contact, before != last_.end() ? before->torque_W : Vector3d::Zero()});
  }
}

void RollingFriction::torques(std::span<const LoadedContact> contacts, const scene::SceneState& state,
                              const VectorXd& v, double h, const BlockDiagonal& Q, std::vector<BodyTorque>& out) {
  if (none_) return;
  gather(contacts);
  for (Bristle& bristle : bristles_) {
    const LoadedContact& contact = bristle.contact;
    const double limit = scene_->friction(contact.geometry_a, contact.geometry_b).rolling * contact.force;
    const int body_a = body_of(contact.geometry_a), body_b = body_of(contact.geometry_b);
    const Vector3d omega =
        rolling_part(contact, angular_velocity(body_a, state, v) - angular_velocity(body_b, state, v), state);
    Vector3d damper = Vector3d::Zero();
    if (omega.norm() > 0) {
      const Vector3d direction = omega.normalized();
      const double turns = mobility(body_a, direction, state, Q) + mobility(body_b, direction, state, Q);
      const int n = std::max(moves(body_a) ? contacts_on(body_a) : 1, moves(body_b) ? contacts_on(body_b) : 1);
      if (turns > 0) damper = h / (n * turns) * omega;
    }
    bristle.torque_W = rolling_part(contact, bristle.torque_W, state) - damper;  // the normal may have turned
    Vector3d torque = bristle.torque_W - damper;
    if (torque.norm() > limit) bristle.torque_W = torque = limit * torque.normalized();
    if (moves(body_a)) out.push_back({body_a, torque});
    if (moves(body_b)) out.push_back({body_b, -torque});
  }
}

void RollingFriction::add_generalized(std::span<const BodyTorque> torques, const scene::SceneState& state,
                                      VectorXd& tau) {
  for (const BodyTorque& torque : torques) {
    const auto columns = scene_->model().columns(torque.body);
    const auto& J = angular_jacobian(torque.body, state);
    for (std::size_t c = 0; c < columns.size(); ++c)
      tau(columns[c]) += J.col(static_cast<Eigen::Index>(c)).dot(torque.torque_W);
  }
}

}  // namespace deft::dynamics
