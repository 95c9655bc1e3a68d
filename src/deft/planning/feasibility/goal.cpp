#include "deft/planning/feasibility/goal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "deft/core/index.hpp"

namespace deft::planning {
namespace {

constexpr double kLeastTolerance = 1e-9;  // [m, rad], in weights

/// Whether `name` says "joint" or "model/joint" of a velocity called `full`.
bool names_joint(const std::string& name, const std::string& full) {
  return full == name || full.substr(full.find('/') + 1) == name;
}

/// Which velocities of an object a configuration names: joints by name or all in a list; a position or rotation of its
/// free base.
std::vector<char> named_velocities(const scene::ModelConfiguration& target, const multibody::Model& model,
                                   const scene::Object& object) {
  const bool floating = object.floating;
  const auto velocities = model.velocities();
  std::vector<char> named(object.nv, 0);
  if (floating) {
    if (target.rotation) std::fill_n(named.begin(), 3, 1);
    if (target.position) std::fill_n(named.begin() + 3, 3, 1);
  }
  for (const auto& [name, value] : target.joints.by_name) {
    const auto coordinates = model.coordinates();
    for (int i = object.first_q; i < object.first_q + object.nq; ++i) {
      const std::string& full = coordinates[i].name;
      if (!names_joint(name, full) && full != object.name + "/" + name) continue;
      bool found = false;
      for (int v = 0; v < object.nv; ++v) {
        if (velocities[object.first_v + v].q_index != i) continue;
        named[v] = 1;
        found = true;
      }
      // A number of a quaternion names its rotation: three velocities without a coordinate of their own.
      if (found) continue;
      const bool of_base = floating && i < object.first_q + 7;
      for (int v = floating && !of_base ? 6 : 0; v < (of_base ? 3 : object.nv); ++v)
        named[v] |= velocities[object.first_v + v].q_index < 0;
    }
  }
  // A list of the joints alone leaves a free base out.
  const bool is_whole = static_cast<int>(target.joints.list.size()) == object.nq;
  if (!target.joints.list.empty() || target.joints.all)
    std::fill(named.begin() + (floating && !is_whole ? 6 : 0), named.end(), 1);
  return named;
}

/// The tolerance of a joint: its own, or that of all joints.
double tolerance_of(const std::string& joint, const scene::GoalSpec& spec) {
  for (const auto& [name, tolerance] : spec.tolerance_joints) {
    if (names_joint(name, joint)) return tolerance;
  }
  return spec.tolerance_joint;
}

/// The velocities of an object in groups that lie between the same two of its parts: those of a free base, and those
/// that move the same geometries. Ascending, as their first ones.
std::vector<std::vector<int>> axes_between_parts(const scene::Scene& scene, const scene::Object& object) {
  std::vector<std::vector<int>> groups, moved_by;
  const auto geometries = scene.collision_world().geometries();
  for (int v = object.first_v; v < object.first_v + object.nv; ++v) {
    std::vector<int> moved{object.floating && v < object.first_v + 6 ? -1 : 0};  // a base is a group whatever it moves
    for (std::size_t g = 0; g < geometries.size(); ++g) {
      const auto columns = scene.model().columns(geometries[g].body);
      if (std::find(columns.begin(), columns.end(), v) != columns.end()) moved.push_back(static_cast<int>(g));
    }
    const auto known = std::find(moved_by.begin(), moved_by.end(), moved);
    const auto at = to_size(known - moved_by.begin());
    if (known == moved_by.end()) {
      moved_by.push_back(std::move(moved));
      groups.emplace_back();
    }
    groups[at].push_back(v);
  }
  return groups;
}

/// The object of this name, or the free body of an object that has coordinates under it.
std::optional<scene::Object> find_object(const scene::Scene& scene, const std::string& name) {
  const auto coordinates = scene.model().coordinates();
  for (const scene::Object& object : scene.objects()) {
    if (object.name == name) return object;
    for (int i = object.first_q, v = object.first_v; i + 7 <= object.first_q + object.nq; i += 7, v += 6) {
      if (coordinates[to_size(i)].name != name + "/qw" || coordinates[to_size(i) + 4].name != name + "/x") continue;
      scene::Object part = object;
      part.name = name;
      part.floating = true;
      part.first_q = i, part.nq = 7, part.first_v = v, part.nv = 6;
      return part;
    }
  }
  return std::nullopt;
}

/// The angle nearest to zero that is `angle` modulo 2π.
double wrap(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

}  // namespace

scene::GoalSpec scaled_tolerances(scene::GoalSpec spec, double factor) {
  spec.tolerance_position_m *= factor;
  spec.tolerance_rotation_rad *= factor;
  spec.tolerance_joint *= factor;
  for (auto& [joint, tolerance] : spec.tolerance_joints) tolerance *= factor;
  return spec;
}

Goal::Goal(const scene::Scene& scene, const scene::GoalSpec& spec, bool wrap_angles)
    : model_(&scene.model()),
      unit_m_(std::max(spec.tolerance_position_m, kLeastTolerance)),
      q_(scene.goal_configuration(spec)) {
  for (const auto& [name, target] : spec.target.models) {
    const std::optional<scene::Object> object = find_object(scene, name);
    if (!object || object->is_base) {
      std::string valid;
      for (const scene::Object& o : scene.objects())
        if (!o.is_base) valid += (valid.empty() ? "" : ", ") + o.name;
      throw InputError(target.where, fmt::format("goal {}: '{}' is not an object; a goal can name: {}",
                                                 spec.target.name, name, valid));
    }
    if (object->frozen || !scene.settings().step.objects_move)
      throw InputError(target.where,
                       fmt::format("goal {}: '{}' cannot move: it is frozen, or step.unactuated_mass_scale is 0",
                                   spec.target.name, name));
    add_object(scene, *object, named_velocities(target, *model_, *object), spec);
  }
  require_joints(spec);
  if (rows_.empty())
    throw InputError(spec.target.where, fmt::format("goal {}: names no coordinate of an object", spec.target.name));
  if (wrap_angles) {
    for (const Part& part : parts_) {
      if (part.kind == Kind::kRotation && part.size == 1) wrapped_.push_back(part.first);
    }
  }
}

void Goal::require_joints(const scene::GoalSpec& spec) const {
  std::string valid;
  for (const Part& part : parts_) {
    const std::string& name = model_->velocities()[rows_[part.first]].name;
    if (part.kind == Kind::kJoint) valid += (valid.empty() ? "" : ", ") + name;
  }
  for (const auto& [name, tolerance] : spec.tolerance_joints) {
    const bool known = std::any_of(parts_.begin(), parts_.end(), [&, &name = name](const Part& part) {
      return part.kind == Kind::kJoint && names_joint(name, model_->velocities()[rows_[part.first]].name);
    });
    if (!known)
      throw InputError(spec.target.where,
                       fmt::format("goal {}: tolerance.joint: the goal names no joint '{}'; valid: {}",
                                   spec.target.name, name, valid.empty() ? "none, it names no joints" : valid));
  }
}

void Goal::add_object(const scene::Scene& scene, const scene::Object& object, const std::vector<char>& named,
                      const scene::GoalSpec& spec) {
  const auto velocities = scene.model().velocities();
  std::vector<int> joints;
  for (const std::vector<int>& axes : axes_between_parts(scene, object)) {
    const auto translations = std::count_if(axes.begin(), axes.end(), [&](int v) { return velocities[v].unit == "m"; });
    std::vector<int> shifts, turns;
    for (const int v : axes) {
      if (!named[v - object.first_v]) continue;
      if (translations < 2)
        joints.push_back(v);
      else
        (velocities[v].unit == "m" ? shifts : turns).push_back(v);
    }
    add(Kind::kPosition, shifts, spec.tolerance_position_m);
    if (turns.size() == 3 && object.floating && axes.front() == object.first_v)
      free_rotations_.push_back({size(), object.first_q});
    add(Kind::kRotation, turns, spec.tolerance_rotation_rad);
  }
  for (const int joint : joints) add(Kind::kJoint, {joint}, tolerance_of(velocities[joint].name, spec));
}

void Goal::add(Kind kind, const std::vector<int>& velocities, double tolerance) {
  if (velocities.empty()) return;
  const auto count = static_cast<int>(velocities.size());
  parts_.push_back({kind, size(), count, tolerance});
  rows_.insert(rows_.end(), velocities.begin(), velocities.end());
  // A tolerance of zero asks for the impossible, but still weighs.
  const double weight = kind == Kind::kPosition ? 1.0 : unit_m_ / std::max(tolerance, kLeastTolerance);
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

Goal Goal::moved_by(const Eigen::VectorXd& e) const {
  Eigen::VectorXd way = Eigen::VectorXd::Zero(model_->nv());
  for (int i = 0; i < size(); ++i) way(rows_[to_size(i)]) = e(i) / weights_(i);
  Goal moved = *this;
  model_->integrate(q_, way, moved.q_);
  return moved;
}

std::optional<Goal> Goal::with_positions(const scene::Scene& scene) const {
  Goal whole = *this;
  const auto is_named = [this](int v) { return std::find(rows_.begin(), rows_.end(), v) != rows_.end(); };
  for (const scene::Object& object : scene.objects()) {
    std::vector<int> free;
    bool has_named = false;
    for (int v = object.first_v; v < object.first_v + object.nv; ++v) {
      has_named = has_named || is_named(v);
      if (!is_named(v) && model_->velocities()[to_size(v)].unit == "m") free.push_back(v);
    }
    if (has_named) whole.add(Kind::kPosition, free, unit_m_);
  }
  if (whole.size() == size()) return std::nullopt;
  return whole;
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

double Goal::norm(const Part& part, const Eigen::VectorXd& e) const {
  return e.segment(part.first, part.size).cwiseQuotient(weights_.segment(part.first, part.size)).norm();
}

GoalError Goal::error(const Eigen::VectorXd& q) const {
  Eigen::VectorXd e;
  residual(q, q_, e);
  GoalError error;
  for (const Part& part : parts_) {
    double& largest = part.kind == Kind::kPosition   ? error.position_m
                      : part.kind == Kind::kRotation ? error.rotation_rad
                                                     : error.joint;
    largest = std::max(largest, norm(part, e));
  }
  return error;
}

bool Goal::reached(const Eigen::VectorXd& q) const {
  Eigen::VectorXd e;
  residual(q, q_, e);
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) { return norm(part, e) <= part.tolerance; });
}

}  // namespace deft::planning
