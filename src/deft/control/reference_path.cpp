#include "deft/control/reference_path.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/scene/displacement.hpp"
#include "deft/scene/joint_speeds.hpp"

namespace deft::control {

using Eigen::VectorXd;

namespace {

constexpr double kMetresPerRadian = 0.1, kShareOfRobots = 0.1;
constexpr double kSameLength = 1e-6;  // relative: lengths that differ by less are one

void require(bool ok, const std::string& what) {
  if (!ok) throw std::invalid_argument("plan to follow: " + what);
}

void check(const scene::Scene& scene, const TrackedPlan& plan, const VectorXd& speed) {
  require(plan.h > 0 && std::isfinite(plan.h), fmt::format("h must be above 0, got {}", plan.h));
  require(speed.size() == scene.nu() && (speed.array() > 0).all(),
          fmt::format("the speeds of joint targets must be {} numbers above 0", scene.nu()));
  require(!plan.u.empty(), "it has no commands");
  require(plan.q.size() == plan.u.size() + 1,
          fmt::format("{} commands need {} configurations, got {}", plan.u.size(), plan.u.size() + 1, plan.q.size()));
  require(plan.u_start.size() == scene.nu() && plan.u_start.allFinite(),
          fmt::format("the first joint targets must be {} finite numbers", scene.nu()));
  require(plan.v_start.size() == 0 || (plan.v_start.size() == scene.nv() && plan.v_start.allFinite()),
          fmt::format("the first velocity must be {} finite numbers", scene.nv()));
  for (std::size_t k = 0; k < plan.q.size(); ++k)
    require(plan.q[k].size() == scene.nq() && plan.q[k].allFinite(),
            fmt::format("configuration {} must be {} finite numbers", k, scene.nq()));
  for (std::size_t k = 0; k < plan.u.size(); ++k)
    require(plan.u[k].size() == scene.nu() && plan.u[k].allFinite(),
            fmt::format("command {} must be {} finite numbers", k, scene.nu()));
}

/// The place of a fractional knot: the step it is in, and how far.
std::pair<std::size_t, double> place(double knot, int steps) {
  const double inside = std::clamp(knot, 0.0, static_cast<double>(steps));
  const int k = std::min(static_cast<int>(inside), steps - 1);
  return {to_size(k), inside - k};
}

/// The displacement that is left to the objects, size nv, 0 elsewhere and where it does not count; with
/// `plan.wrap_angles` by the shorter way round.
VectorXd way_of_objects(const scene::Scene& scene, const VectorXd& q, const VectorXd& q_end,
                        std::span<const int> counted) {
  const VectorXd delta = scene.model().difference(q, q_end);
  const std::vector<VelocityRole> roles = velocity_roles(scene);
  VectorXd way = VectorXd::Zero(scene.nv());
  for (const scene::Object& object : scene.objects()) {
    for (int i = object.first_v; i < object.first_v + object.nv; ++i) {
      if (!counted.empty() && std::find(counted.begin(), counted.end(), i) == counted.end()) continue;
      const bool wraps = scene.settings().plan.wrap_angles && scene.model().velocities()[i].q_index >= 0 &&
                         roles[i] == VelocityRole::kRotation;
      way(i) = wraps ? std::remainder(delta(i), 2 * std::numbers::pi) : delta(i);
    }
  }
  return way;
}

}  // namespace

std::vector<VelocityRole> velocity_roles(const scene::Scene& scene) {
  std::vector<VelocityRole> roles(scene.nv(), VelocityRole::kPosition);
  const auto velocities = scene.model().velocities();
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (velocities[i].unit == "rad") roles[i] = VelocityRole::kRotation;
  for (const scene::Robot& robot : scene.robots())
    std::fill_n(roles.begin() + robot.first_v, robot.nv, VelocityRole::kRobot);
  return roles;
}

void lead_objects_to(const scene::Scene& scene, const VectorXd& q_end, TrackedPlan& plan,
                     std::span<const int> counted) {
  const VectorXd missing = way_of_objects(scene, plan.q.back(), q_end, counted);
  for (std::size_t k = 1; k < plan.q.size(); ++k)
    scene.model().integrate(VectorXd(plan.q[k]), double(k) / double(plan.q.size() - 1) * missing, plan.q[k]);
}

VectorXd tracking_speeds(const scene::Scene& scene) {
  const std::optional<double> stated = scene.settings().track.speed;
  return stated ? VectorXd::Constant(scene.nu(), *stated) : scene::joint_speeds(scene).free;
}

ReferencePath::ReferencePath(const scene::Scene& scene, TrackedPlan plan)
    : ReferencePath(scene, std::move(plan), tracking_speeds(scene)) {}

ReferencePath::ReferencePath(const scene::Scene& scene, TrackedPlan plan, double speed)
    : ReferencePath(scene, std::move(plan), VectorXd(VectorXd::Constant(scene.nu(), speed))) {}

ReferencePath::ReferencePath(const scene::Scene& scene, TrackedPlan plan, const VectorXd& speed)
    : scene_(&scene), plan_(std::move(plan)), time_{0}, weight_(scene.nv()), delta_(scene.nv()) {
  check(scene, plan_, speed);
  for (std::size_t k = 0; k < plan_.u.size(); ++k) {
    const VectorXd& before = k == 0 ? plan_.u_start : plan_.u[k - 1];
    const double needed = scene.nu() == 0 ? 0 : (plan_.u[k] - before).cwiseAbs().cwiseQuotient(speed).maxCoeff();
    // Plans keep to the limits to rounding: their steps take h, and not a little more.
    time_.push_back(time_.back() + (needed > (1 + kSameLength) * plan_.h ? needed : plan_.h));
    chord_.push_back(scene.model().difference(plan_.q[k], plan_.q[k + 1]));
  }
  const std::vector<VelocityRole> roles = velocity_roles(scene);
  for (int i = 0; i < scene.nv(); ++i) {
    const VelocityRole role = roles[i];
    const double scale = role == VelocityRole::kPosition   ? 1
                         : role == VelocityRole::kRotation ? kMetresPerRadian
                                                           : kMetresPerRadian * kShareOfRobots;
    weight_(i) = scale * scale;
  }
}

double ReferencePath::time_at(double knot) const {
  const auto [k, share] = place(knot, knots());
  return time_[k] + share * (time_[k + 1] - time_[k]);
}

double ReferencePath::knot_at(double time) const {
  if (time <= 0) return 0;
  if (time >= time_.back()) return knots();
  const auto next = std::upper_bound(time_.begin(), time_.end(), time);
  const auto k = to_size(next - time_.begin()) - 1;
  return static_cast<double>(k) + (time - time_[k]) / (time_[k + 1] - time_[k]);
}

void ReferencePath::configuration(double knot, VectorXd& q) const {
  const auto [k, share] = place(knot, knots());
  delta_ = share * chord_[k];
  scene_->model().integrate(plan_.q[k], delta_, q);
}

void ReferencePath::command(double knot, VectorXd& u) const {
  const auto [k, share] = place(knot, knots());
  u = plan_.u[k];
  u += (1 - share) * ((k == 0 ? plan_.u_start : plan_.u[k - 1]) - plan_.u[k]);
}

double ReferencePath::nearest(const VectorXd& q, double from, double to) const {
  const auto [first, share_first] = place(from, knots());
  const auto [last, share_last] = place(std::max(from, to), knots());
  double best = from, least = kInfinity;
  for (std::size_t k = first; k <= last; ++k) {
    scene::difference(scene_->model(), plan_.q[k], q, delta_);
    const VectorXd& chord = chord_[k];
    const double length = (chord.array().square() * weight_.array()).sum();
    const double along = (chord.array() * delta_.array() * weight_.array()).sum();
    const double low = k == first ? share_first : 0, high = k == last ? share_last : 1;
    const double share = std::clamp(length > 0 ? along / length : low, low, std::max(low, high));
    const double distance = ((delta_ - share * chord).array().square() * weight_.array()).sum();
    if (distance < least) {
      least = distance;
      best = static_cast<double>(k) + share;
    }
  }
  return best;
}

ObjectError object_error(const scene::Scene& scene, const VectorXd& q, const VectorXd& q_reference,
                         std::span<const int> counted) {
  ObjectError error;
  const VectorXd way = way_of_objects(scene, q, q_reference, counted);
  const std::vector<VelocityRole> roles = velocity_roles(scene);
  for (const scene::Object& object : scene.objects()) {
    double position = 0, rotation = 0;
    for (int i = object.first_v; i < object.first_v + object.nv; ++i) {
      (roles[i] == VelocityRole::kRotation ? rotation : position) += way(i) * way(i);
    }
    error.position_m = std::max(error.position_m, std::sqrt(position));
    error.rotation_rad = std::max(error.rotation_rad, std::sqrt(rotation));
  }
  return error;
}

}  // namespace deft::control
