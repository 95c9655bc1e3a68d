// `wrenches:`: external forces, torques and impulses on bodies.

#include <fmt/format.h>

#include "deft/io/scene/scene_file_parts.hpp"

namespace deft::io {
namespace {

/// The keys that belong to the other kind of wrench.
void refuse(const YamlNode& item, const YamlReader& read, std::initializer_list<std::string_view> keys,
            std::string_view why) {
  for (const std::string_view key : keys) {
    if (const YamlNode* value = item.find(key)) read.error(*value, fmt::format("wrenches: '{}' {}", key, why));
  }
}

std::optional<scene::WrenchSpec> read_wrench(const YamlNode& item, const YamlReader& read) {
  if (!read.map(item, "wrenches",
                {"body", "force_W", "torque_W", "impulse_W", "angular_impulse_W", "from", "to", "at", "when"}))
    return std::nullopt;
  scene::WrenchSpec wrench;
  wrench.where = item.where;
  const YamlNode* body = item.find("body");
  if (body == nullptr) {
    read.error(item, "wrenches: each item needs 'body'");
    return std::nullopt;
  }
  wrench.body = read.text(*body, "wrenches body").value_or("");
  if (const YamlNode* when = item.find("when")) {
    if (auto text = read.text(*when, "wrenches 'when'")) wrench.when = {std::move(*text), when->where};
  }

  wrench.impulse = item.find("impulse_W") != nullptr || item.find("angular_impulse_W") != nullptr;
  const auto vector = [&](std::string_view key, Eigen::Vector3d& field) {
    if (const YamlNode* value = item.find(key)) field = read.vector3(*value, key).value_or(Eigen::Vector3d::Zero());
  };
  const auto number = [&](std::string_view key, const NumberRange& range, double& field) {
    if (const YamlNode* value = item.find(key)) field = read.number(*value, key, range).value_or(0);
  };
  if (wrench.impulse) {
    refuse(item, read, {"force_W", "torque_W"}, "is a force; an impulse is an entry of its own");
    refuse(item, read, {"from", "to"}, "is for forces; an impulse acts 'at' one time");
    vector("impulse_W", wrench.force_W);
    vector("angular_impulse_W", wrench.torque_W);
    if (item.find("at") == nullptr && item.find("when") == nullptr)
      read.error(item, "wrenches: an impulse needs 'at' [s] or 'when'");
    number("at", kFinite, wrench.from);
  } else {
    refuse(item, read, {"at"}, "is for impulses; a force acts 'from' … 'to'");
    if (item.find("force_W") == nullptr && item.find("torque_W") == nullptr)
      read.error(item,
                 "wrenches: give 'force_W' [N], 'torque_W' [N m], 'impulse_W' [N s] or 'angular_impulse_W' [N m s]");
    vector("force_W", wrench.force_W);
    vector("torque_W", wrench.torque_W);
    number("from", kFinite, wrench.from);
    number("to", kNotNegativeOrInfinite, wrench.to);
  }
  return wrench;
}

}  // namespace

void read_wrenches(const YamlNode& node, SceneReading& scene) {
  if (!scene.read.list(node, "wrenches")) return;
  for (const YamlNode& item : node.items) {
    if (auto wrench = read_wrench(item, scene.read)) scene.spec.wrenches.push_back(std::move(*wrench));
  }
}

}  // namespace deft::io
