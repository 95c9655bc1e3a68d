#include "deft/planning/goal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace deft::planning {
namespace {

/// Which velocities of `model` a configuration names: joints by name or all in a list; a position or rotation of its
/// free base.
std::vector<char> named_velocities(const scene::ModelConfiguration& target, const multibody::Model& model,
                                   const scene::Object& object, bool floating) {
  const auto velocities = model.velocities();
  std::vector<char> named(static_cast<std::size_t>(object.nv), 0);
  if (floating) {
    if (target.rotation) std::fill_n(named.begin(), 3, 1);
    if (target.position) std::fill_n(named.begin() + 3, 3, 1);
  }
  for (const auto& [name, value] : target.joints.by_name) {
    const auto coordinates = model.coordinates();
    for (int i = object.first_q; i < object.first_q + object.nq; ++i) {
      const std::string& full = coordinates[i].name;
      if (full != name && full.substr(full.find('/') + 1) != name) continue;
      bool found = false;
      for (int v = 0; v < object.nv; ++v) {
        if (velocities[object.first_v + v].q_index != i) continue;
        named[static_cast<std::size_t>(v)] = 1;
        found = true;
      }
      // A number of a quaternion names its rotation: three velocities without a coordinate of their own.
      if (found) continue;
      const bool of_base = floating && i < object.first_q + 7;
      for (int v = floating && !of_base ? 6 : 0; v < (of_base ? 3 : object.nv); ++v)
        named[static_cast<std::size_t>(v)] |= velocities[object.first_v + v].q_index < 0;
    }
  }
  // A list of the joints alone leaves a free base out.
  const bool is_whole = static_cast<int>(target.joints.list.size()) == object.nq;
  if (!target.joints.list.empty() || target.joints.all)
    std::fill(named.begin() + (floating && !is_whole ? 6 : 0), named.end(), 1);
  return named;
}

/// The angle nearest to zero that is `angle` modulo 2π.
double wrap(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

}  // namespace

Goal::Goal(const scene::Scene& scene, const scene::GoalSpec& spec, bool wrap_angles)
    : model_(&scene.model()),
      tolerance_position_m_(spec.tolerance_position_m),
      tolerance_rotation_rad_(spec.tolerance_rotation_rad),
      tolerance_joint_(spec.tolerance_joint),
      q_(scene.goal_configuration(spec)) {
  for (const auto& [name, target] : spec.target.models) {
    const auto object = std::find_if(scene.objects().begin(), scene.objects().end(),
                                     [&name = name](const scene::Object& o) { return o.name == name; });
    if (object == scene.objects().end()) {
      std::string valid;
      for (const scene::Object& o : scene.objects()) valid += (valid.empty() ? "" : ", ") + o.name;
      throw InputError(target.where, fmt::format("goal {}: '{}' is not an object; a goal can name: {}",
                                                 spec.target.name, name, valid));
    }
    if (object->frozen || scene.spec().step.unactuated_mass_scale == 0.0)
      throw InputError(target.where,
                       fmt::format("goal {}: '{}' cannot move: it is frozen, or step.unactuated_mass_scale is 0",
                                   spec.target.name, name));
    const bool floating = model_->models()[object->model].floating_base;
    add_body(scene, *object, named_velocities(target, *model_, *object, floating));
  }
  if (rows_.empty())
    throw InputError(spec.target.where, fmt::format("goal {}: names no coordinate of an object", spec.target.name));
  if (wrap_angles) {
    for (const Part& part : parts_) {
      if (part.kind == Kind::kRotation && part.size == 1) wrapped_.push_back(part.first);
    }
  }
}

void Goal::add_body(const scene::Scene& scene, const scene::Object& object, const std::vector<char>& named) {
  const auto velocities = scene.model().velocities();
  std::vector<int> shifts, turns, joints;
  int translations = 0;
  for (int v = object.first_v; v < object.first_v + object.nv; ++v) translations += velocities[v].unit == "m";
  for (int v = object.first_v; v < object.first_v + object.nv; ++v) {
    if (!named[static_cast<std::size_t>(v - object.first_v)]) continue;
    if (translations < 2)
      joints.push_back(v);
    else
      (velocities[v].unit == "m" ? shifts : turns).push_back(v);
  }
  add(Kind::kPosition, shifts);
  if (turns.size() == 3) free_rotations_.push_back({size(), object.first_q});
  add(Kind::kRotation, turns);
  for (const int joint : joints) add(Kind::kJoint, {joint});
}

void Goal::add(Kind kind, const std::vector<int>& velocities) {
  if (velocities.empty()) return;
  const auto count = static_cast<int>(velocities.size());
  parts_.push_back({kind, size(), count});
  rows_.insert(rows_.end(), velocities.begin(), velocities.end());
  // A tolerance of zero asks for the impossible, but still weighs.
  const double unit = std::max(tolerance_position_m_, 1e-9);
  const double weight = kind == Kind::kPosition   ? 1.0
                        : kind == Kind::kRotation ? unit / std::max(tolerance_rotation_rad_, 1e-9)
                                                  : unit / std::max(tolerance_joint_, 1e-9);
  weights_.conservativeResize(size());
  weights_.tail(count).setConstant(weight);
}

void Goal::residual(const Eigen::VectorXd& q, const Eigen::VectorXd& q_target, Eigen::VectorXd& e) const {
  const Eigen::VectorXd difference = model_->difference(q, q_target);
  e.resize(size());
  for (int i = 0; i < size(); ++i) e(i) = difference(rows_[i]);
  for (const int i : wrapped_) e(i) = wrap(e(i));
  e.array() *= weights_.array();
}

void Goal::shorten_way(Eigen::VectorXd& delta) const {
  for (const int i : wrapped_) delta(rows_[i]) = wrap(delta(rows_[i]));
}

double Goal::distance(const Eigen::VectorXd& q, const Eigen::VectorXd& q_target) const {
  Eigen::VectorXd e;
  residual(q, q_target, e);
  return e.norm();
}

double Goal::distance(const Eigen::VectorXd& q) const { return distance(q, q_); }

GoalError Goal::error(const Eigen::VectorXd& q) const {
  Eigen::VectorXd e;
  residual(q, q_, e);
  e.array() /= weights_.array();
  GoalError error;
  for (const Part& part : parts_) {
    double& largest = part.kind == Kind::kPosition   ? error.position_m
                      : part.kind == Kind::kRotation ? error.rotation_rad
                                                     : error.joint;
    largest = std::max(largest, e.segment(part.first, part.size).norm());
  }
  return error;
}

bool Goal::within(const GoalError& error) const {
  return error.position_m <= tolerance_position_m_ && error.rotation_rad <= tolerance_rotation_rad_ &&
         error.joint <= tolerance_joint_;
}

}  // namespace deft::planning
