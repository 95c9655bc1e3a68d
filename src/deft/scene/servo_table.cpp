#include "deft/scene/servo_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "deft/scene/configuration.hpp"
#include "deft/scene/scene.hpp"

namespace deft::scene {
namespace {

constexpr double kSameTime = 1e-9;  // relative: times that differ by rounding are equal
constexpr double kAlongAxis = 1e-9;

std::vector<std::string> names_of(const multibody::Model& model) {
  std::vector<std::string> names;
  for (const multibody::ModelInfo& info : model.models()) names.push_back(info.name);
  return names;
}

}  // namespace

/// The frame of a model that is one body on two slides in the plane, or these and a hinge about its normal.
std::optional<ServoTable::Frame> ServoTable::find_frame(const multibody::Model& model, int index,
                                                        const Eigen::VectorXd& q,
                                                        const multibody::Kinematics& kinematics) const {
  const multibody::ModelInfo& info = model.models()[index];
  const int n = info.nv;
  if (!in_plane_ || info.bodies.size() != 1 || info.nq != n || n < 2 || n > 3) return std::nullopt;
  Frame frame{.body = info.bodies[0], .first_q = info.first_q, .size = n};
  const RigidTransform& X = kinematics.X_WB[frame.body];
  const auto columns = model.columns(frame.body);
  if (static_cast<int>(columns.size()) != n) return std::nullopt;
  Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> J(6, n);
  model.point_jacobian(kinematics, frame.body, X.translation(), J.data(), n);
  const int a = axes_[0], b = axes_[1], k = axes_[2];
  frame.axes << J(3 + a, 0), J(3 + a, 1), J(3 + b, 0), J(3 + b, 1);
  const bool slides =
      J.topLeftCorner(3, 2).isZero(kAlongAxis) && (frame.axes * frame.axes.transpose()).isIdentity(kAlongAxis);
  const bool turns = n == 2 || (J.block(3, 2, 3, 1).isZero(kAlongAxis) && std::abs(J(k, 2) - 1) < kAlongAxis);
  if (!slides || !turns || std::abs(X.linear()(k, k) - 1) > kAlongAxis) return std::nullopt;
  frame.turn = std::atan2(hand_ * X.linear()(b, a), X.linear()(a, a)) - (n == 3 ? q(frame.first_q + 2) : 0.0);
  frame.turn = std::remainder(frame.turn, 2 * EIGEN_PI);
  return frame;
}

ServoTable::ServoTable(const ServoSpec& spec, const multibody::Model& model, std::span<const Robot> robots,
                       const Eigen::VectorXd& q, const multibody::Kinematics& kinematics, Plane plane,
                       Diagnostics& diagnostics)
    : gain_(spec.gain) {
  for (const Robot& robot : robots) nu_ += robot.nu;
  in_plane_ = plane != Plane::kSpace;
  if (plane == Plane::kXZ) axes_ = {0, 2, 1}, hand_ = -1;
  if (plane == Plane::kYZ) axes_ = {1, 2, 0};
  double last = -kInfinity;
  for (const ServoPhase& phase : spec.phases) {
    if (!(phase.until > last))
      diagnostics.error(
          phase.where,
          fmt::format("commands.servo: phases must end one after the other, {} s comes after {} s", phase.until, last));
    last = phase.until;
    read_phase(phase, model, robots, q, kinematics, diagnostics);
  }
}

bool ServoTable::read_phase(const ServoPhase& spec, const multibody::Model& model, std::span<const Robot> robots,
                            const Eigen::VectorXd& q, const multibody::Kinematics& kinematics,
                            Diagnostics& diagnostics) {
  Phase phase;
  phase.until = spec.until;
  phase.joints = spec.base.empty() && !spec.pose;
  const auto fail = [&](const SourceLocation& where, const std::string& why) {
    diagnostics.error(where, "commands.servo: " + why);
    return false;
  };
  const std::vector<std::string> names = names_of(model);
  if (!phase.joints && !in_plane_)
    return fail(spec.where, "poses are for motion in a plane; give joint values without a base");
  if (spec.pose) phase.pose = {(*spec.pose)[0], (*spec.pose)[1], (*spec.pose)[2]};
  if (!spec.base.empty()) {
    const auto found = std::find(names.begin(), names.end(), spec.base);
    if (found == names.end())
      return fail(spec.where, fmt::format("there is no model '{}'{}", spec.base, did_you_mean(spec.base, names)));
    const auto frame = find_frame(model, static_cast<int>(found - names.begin()), q, kinematics);
    if (!frame)
      return fail(spec.where, fmt::format("base '{}' is not one body on a joint {{planar: …}} or {{translation: …}} of "
                                          "two axes in the plane of motion",
                                          spec.base));
    phase.base = *frame;
  }
  for (const auto& [name, target_spec] : spec.robots) {
    const auto robot =
        std::find_if(robots.begin(), robots.end(), [&, &wanted = name](const Robot& r) { return r.name == wanted; });
    if (robot == robots.end()) {
      std::vector<std::string> valid;
      for (const Robot& r : robots) valid.push_back(r.name);
      return fail(target_spec.where, fmt::format("there is no robot '{}'{}", name, did_you_mean(name, valid)));
    }
    Target target{.first_q = robot->first_q, .first_u = robot->first_u, .nu = robot->nu};
    int size = robot->nu;
    if (!phase.joints) {
      const auto frame = find_frame(model, robot->model, q, kinematics);
      if (!frame)
        return fail(target_spec.where,
                    fmt::format("robot '{}' is not one body on a joint {{planar: …}} or {{translation: …}} of two axes "
                                "in the plane of motion; give joint values without a base",
                                name));
      target.frame = *frame;
      size = frame->size;
    }
    if (static_cast<int>(target_spec.place.size()) != size)
      return fail(target_spec.where,
                  fmt::format("the target of '{}' needs {} numbers, it has {}", name, size, target_spec.place.size()));
    target.place = Eigen::Map<const Eigen::VectorXd>(target_spec.place.data(), size);
    target.gain = resolve_joint_values(target_spec.gain, model, robot->model, Eigen::VectorXd::Ones(robot->nu),
                                       fmt::format("gain of '{}'", name), diagnostics);
    phase.targets.push_back(std::move(target));
  }
  phases_.push_back(std::move(phase));
  return true;
}

double ServoTable::last_time() const {
  double last = 0;
  for (const Phase& phase : phases_)
    if (std::isfinite(phase.until)) last = phase.until;
  return last;
}

/// Place and angle in the plane, (a, b, θ).
Eigen::Vector3d ServoTable::pose_of(const Frame& frame, const Eigen::VectorXd& q,
                                    std::span<const RigidTransform> X_WB) const {
  const Eigen::Vector3d p = X_WB[frame.body].translation();
  return {p(axes_[0]), p(axes_[1]), frame.turn + (frame.size == 3 ? q(frame.first_q + 2) : 0.0)};
}

void ServoTable::evaluate(double t, const Eigen::VectorXd& q, std::span<const RigidTransform> X_WB,
                          Eigen::VectorXd& u) const {
  u.setZero(nu_);
  const double at = t - kSameTime * std::max(1.0, std::abs(t));
  const auto phase = std::find_if(phases_.begin(), phases_.end(), [&](const Phase& p) { return at <= p.until; });
  if (phase == phases_.end()) return;
  const Eigen::Vector3d base = phase->base.body >= 0 ? pose_of(phase->base, q, X_WB) : phase->pose;
  const double c = std::cos(base(2)), s = hand_ * std::sin(base(2));
  for (const Target& target : phase->targets) {
    auto velocity = u.segment(target.first_u, target.nu);
    if (phase->joints) {
      velocity = gain_ * target.gain.cwiseProduct(target.place - q.segment(target.first_q, target.nu));
      continue;
    }
    const Eigen::Vector3d now = pose_of(target.frame, q, X_WB);
    const Eigen::Vector2d off{base(0) + c * target.place(0) - s * target.place(1) - now(0),
                              base(1) + s * target.place(0) + c * target.place(1) - now(1)};
    velocity.head<2>() = gain_ * target.gain.head<2>().cwiseProduct(target.frame.axes.transpose() * off);
    if (target.frame.size == 3) velocity(2) = gain_ * target.gain(2) * (base(2) + target.place(2) - now(2));
  }
}

}  // namespace deft::scene
