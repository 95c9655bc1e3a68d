#include "deft/scene/configuration.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/math/rotation.hpp"

namespace deft::scene {
namespace {

/// Offset of a coordinate inside its model's slice, by "joint_1" or "model/joint_1"; −1 if there is none. What is meant
/// by "arm/x" in a model "arm" is its joint "arm/x", if it has one.
template <typename Infos>
int find_in_slice(const Infos& infos, int first, int count, const std::string& model_name, const std::string& name) {
  for (const std::string& full : {model_name + "/" + name, name}) {
    for (int i = 0; i < count; ++i) {
      if (infos[first + i].name == full) return i;
    }
  }
  return -1;
}

template <typename Infos>
std::vector<std::string> slice_names(const Infos& infos, int first, int count, std::size_t prefix) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(infos[first + i].name.substr(prefix));
  return names;
}

/// Writes a free body's pose into q; `name` is the model's or "model/link".
bool set_free_body(const multibody::Model& model, const std::string& prefix,
                   const std::optional<Eigen::Vector3d>& position, const std::optional<Eigen::Matrix3d>& rotation,
                   Eigen::VectorXd& q) {
  const auto coordinates = model.coordinates();
  for (int i = 0; i + 6 < static_cast<int>(coordinates.size()) || i + 3 < static_cast<int>(coordinates.size()); ++i) {
    if (coordinates[i].name != prefix + "/qw") continue;
    if (rotation) q.segment<4>(i) = quat_wxyz_from_rotation(*rotation);
    const bool free = i + 6 < static_cast<int>(coordinates.size()) && coordinates[i + 4].name == prefix + "/x";
    if (position && !free) return false;
    if (position) q.segment<3>(i + 4) = *position;
    return true;
  }
  return false;
}

void normalise_quaternions(const multibody::Model& model, const SourceLocation& where, Eigen::VectorXd& q,
                           Diagnostics& diagnostics) {
  const auto coordinates = model.coordinates();
  for (int i = 0; i + 3 < static_cast<int>(coordinates.size()); ++i) {
    if (!coordinates[i].name.ends_with("/qw") || coordinates[i].unit != "1") continue;
    const double norm = q.segment<4>(i).norm();
    if (!(norm > 0.5 && norm < 2)) {
      diagnostics.error(where, fmt::format("quaternion {} … has norm {}; quaternions have norm 1 (order w x y z)",
                                           coordinates[i].name, norm));
      q.segment<4>(i) = Eigen::Vector4d(1, 0, 0, 0);
    } else {
      q.segment<4>(i) /= norm;
    }
  }
}

/// Coordinates that follow others take what their leaders say, unless they are stated. @param stated  per entry of q.
void keep_couplings(const ConfigurationSpec& configuration, const multibody::Model& model,
                    const std::vector<char>& stated, Eigen::VectorXd& q, Diagnostics& diagnostics) {
  constexpr double kRounding = 1e-6;
  const auto coordinates = model.coordinates();
  for (const multibody::Coupling& coupling : model.couplings()) {
    const double led = coupling.at(q);
    if (!stated[to_size(coupling.q)]) {
      q(coupling.q) = led;
    } else if (!(std::abs(q(coupling.q) - led) <= kRounding * std::max(1.0, std::abs(led)))) {
      diagnostics.warning(configuration.where,
                          fmt::format("configuration '{}': {} is stated as {}, but its coupling puts it at {}",
                                      configuration.name, coordinates[coupling.q].name, q(coupling.q), led));
    }
  }
}

/// @param stated  gets the entries of q that are stated one by one.
void apply_model(const ModelConfiguration& values, const multibody::Model& model, const multibody::ModelInfo& info,
                 Eigen::VectorXd& q, std::vector<char>& stated, Diagnostics& diagnostics) {
  const auto coordinates = model.coordinates();
  const int free = 7 * static_cast<int>(info.free_bases.size());
  if (values.joints.all) q.segment(info.first_q + free, info.nq - free).setConstant(*values.joints.all);
  if (!values.joints.list.empty()) {
    // A list gives either the whole slice, or the joints without the free base.
    const int given = static_cast<int>(values.joints.list.size());
    if (given != info.nq && given != info.nq - free) {
      diagnostics.error(values.joints.where,
                        fmt::format("'{}' has {} coordinates{}, the list has {}", info.name, info.nq,
                                    free ? fmt::format(" (or {} joints)", info.nq - free) : "", given));
    } else {
      for (int i = 0; i < given; ++i) q(info.first_q + info.nq - given + i) = values.joints.list[i];
      std::fill_n(stated.begin() + info.first_q + info.nq - given, given, 1);
    }
  }
  for (const auto& [name, value] : values.joints.by_name) {
    const int i = find_in_slice(coordinates, info.first_q, info.nq, info.name, name);
    if (i < 0) {
      diagnostics.error(
          values.joints.where.line > 0 ? values.joints.where : values.where,
          fmt::format("'{}' has no coordinate '{}'{}", info.name, name,
                      did_you_mean(name, slice_names(coordinates, info.first_q, info.nq, info.name.size() + 1))));
    } else {
      q(info.first_q + i) = value;
      stated[to_size(info.first_q + i)] = 1;
    }
  }
  if (values.position || values.rotation) {
    if (!set_free_body(model, info.name, values.position, values.rotation, q)) {
      std::string names;
      for (const std::string& name : slice_names(coordinates, info.first_q, info.nq, info.name.size() + 1))
        names += (names.empty() ? "" : ", ") + name;
      diagnostics.error(values.where,
                        fmt::format("'{}' is not a free body: it has no position and rotation, its coordinates are {}",
                                    info.name, names.empty() ? "none (it cannot move)" : names));
    }
  }
  for (const auto& [link, pose] : values.free_bodies) {
    if (set_free_body(model, info.name + "/" + link, pose.first, pose.second, q)) continue;
    bool own_link = false;
    for (int body : info.bodies) own_link = own_link || model.bodies()[body].link == link;
    const bool done = own_link && info.floating_base() && set_free_body(model, info.name, pose.first, pose.second, q);
    if (!done) diagnostics.error(values.where, fmt::format("'{}::{}' is not a free body", info.name, link));
  }
}

/// A free body that is named apart from the rest of its model: its pose, or its seven numbers.
/// @returns false if there is none of this name.
bool apply_free_body(const std::string& name, const ModelConfiguration& values, const multibody::Model& model,
                     Eigen::VectorXd& q, Diagnostics& diagnostics) {
  const auto coordinates = model.coordinates();
  const auto first =
      std::find_if(coordinates.begin(), coordinates.end(), [&](const auto& c) { return c.name == name + "/qw"; });
  if (coordinates.end() - first < 7 || first[4].name != name + "/x") return false;
  const auto at = static_cast<int>(first - coordinates.begin());
  if (values.joints.all || (!values.joints.list.empty() && values.joints.list.size() != 7))
    diagnostics.error(values.where, fmt::format("'{}' is a free body: give a position and a rotation, or qw, qx, qy, "
                                                "qz, x, y, z",
                                                name));
  else
    std::copy(values.joints.list.begin(), values.joints.list.end(), q.begin() + at);
  set_free_body(model, name, values.position, values.rotation, q);
  for (const auto& [coordinate, value] : values.joints.by_name) {
    const int i = find_in_slice(coordinates, at, 7, name, coordinate);
    if (i >= 0)
      q(at + i) = value;
    else
      diagnostics.error(values.where,
                        fmt::format("'{}' has no coordinate '{}'{}", name, coordinate,
                                    did_you_mean(coordinate, slice_names(coordinates, at, 7, name.size() + 1))));
  }
  return true;
}

}  // namespace

JointRange joint_range(const multibody::ModelInfo& info) {
  const int bases = static_cast<int>(info.free_bases.size());
  return {info.first_q + 7 * bases, info.nq - 7 * bases, info.first_v + 6 * bases, info.nv - 6 * bases};
}

std::vector<int> commanded_joints(const multibody::Model& model, int index) {
  const JointRange range = joint_range(model.models()[index]);
  std::vector<int> joints;
  for (int i = 0; i < range.nv; ++i) joints.push_back(i);
  for (const multibody::Coupling& coupling : model.couplings()) std::erase(joints, coupling.v - range.first_v);
  return joints;
}

Eigen::VectorXd resolve_joint_values(const JointValues& values, const multibody::Model& model, int index,
                                     Eigen::VectorXd base, const std::string& what, Diagnostics& diagnostics) {
  const multibody::ModelInfo& info = model.models()[index];
  const JointRange range = joint_range(info);
  const auto velocities = model.velocities();
  const std::vector<int> joints = commanded_joints(model, index);
  if (values.all) base.setConstant(*values.all);
  if (!values.list.empty()) {
    if (values.list.size() != joints.size()) {
      diagnostics.error(values.where, fmt::format("{}: {} values expected (one per joint), the list has {}", what,
                                                  joints.size(), values.list.size()));
    } else {
      std::copy(values.list.begin(), values.list.end(), base.begin());
    }
  }
  for (const auto& [name, value] : values.by_name) {
    const int i = find_in_slice(velocities, range.first_v, range.nv, info.name, name);
    if (i < 0) {
      diagnostics.error(
          values.where,
          fmt::format("{}: '{}' has no joint '{}'{}", what, info.name, name,
                      did_you_mean(name, slice_names(velocities, range.first_v, range.nv, info.name.size() + 1))));
      continue;
    }
    const auto place = std::find(joints.begin(), joints.end(), i);
    if (place == joints.end())
      diagnostics.error(values.where, fmt::format("{}: joint '{}' of '{}' follows another: it takes no command", what,
                                                  name, info.name));
    else
      base(place - joints.begin()) = value;
  }
  return base;
}

Eigen::VectorXd make_configuration(const ConfigurationSpec& configuration, const multibody::Model& model,
                                   Eigen::VectorXd q, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  std::vector<char> stated(to_size(model.nq()), 0);
  for (const multibody::ModelInfo& info : model.models()) names.push_back(info.name);
  for (const auto& [name, values] : configuration.models) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      if (apply_free_body(name, values, model, q, diagnostics)) continue;
      diagnostics.error(values.where, fmt::format("configuration '{}': there is no model '{}'{}", configuration.name,
                                                  name, did_you_mean(name, names)));
    } else {
      apply_model(values, model, model.models()[found - names.begin()], q, stated, diagnostics);
    }
  }
  keep_couplings(configuration, model, stated, q, diagnostics);
  normalise_quaternions(model, configuration.where, q, diagnostics);
  return q;
}

Eigen::VectorXd make_velocity(const ConfigurationSpec& configuration, const multibody::Model& model,
                              Diagnostics& diagnostics) {
  const auto models = model.models();
  const auto velocities = model.velocities();
  Eigen::VectorXd v = Eigen::VectorXd::Zero(model.nv());
  const auto take = [&](const std::string& name, const ModelConfiguration& values, int first, int nv,
                        const char* entries) {
    if (values.velocity->size() != nv || !values.velocity->allFinite())
      diagnostics.error(values.where, fmt::format("velocity of '{}': {} finite numbers expected ({}), got {}", name, nv,
                                                  entries, values.velocity->size()));
    else
      v.segment(first, nv) = *values.velocity;
  };
  for (const auto& [name, values] : configuration.models) {
    if (!values.velocity) continue;
    const auto info = std::find_if(models.begin(), models.end(), [&, &n = name](const auto& m) { return m.name == n; });
    const auto base = std::find_if(velocities.begin(), velocities.end(),
                                   [&, &n = name](const auto& entry) { return entry.name == n + "/wx"; });
    if (info != models.end())
      take(name, values, info->first_v, info->nv,
           info->floating_base() ? "[ω_W, v_W], then joint rates" : "joint rates");
    else if (base != velocities.end())
      take(name, values, static_cast<int>(base - velocities.begin()), 6, "[ω_W, v_W]");
  }
  return v;
}

const ConfigurationSpec* find_configuration(const WorldSpec& spec, const std::string& name, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const ConfigurationSpec& configuration : spec.configurations) {
    if (configuration.name == name) return &configuration;
    names.push_back(configuration.name);
  }
  diagnostics.error({spec.file, 0, 0},
                    fmt::format("there is no configuration '{}'{}", name, did_you_mean(name, names)));
  return nullptr;
}

}  // namespace deft::scene
