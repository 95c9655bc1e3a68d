// What the limit-surface model reads of a scene: `limit_surface:` of objects, and velocity commands as formulas and
// servos.

#include <fmt/format.h>

#include <algorithm>

#include "deft/io/scene/scene_file_parts.hpp"
#include "deft/io/settings/settings_file.hpp"
#include "deft/math/dense.hpp"

namespace deft::io {
namespace {

constexpr double kSymmetric = 1e-9;  // of the largest entry

void read_ellipsoid(const YamlNode& node, const YamlReader& read, scene::LimitSurfaceSpec& out) {
  const bool matrix = node.is_list() && node.items.size() == 3 && node.items[0].is_list();
  if (!matrix) {
    const auto diagonal = read.vector3(node, "limit_surface", kPositive);
    if (diagonal) out.ellipsoid = diagonal->asDiagonal();
    return;
  }
  for (int i = 0; i < 3; ++i) {
    const auto row = read.vector3(node.items[i], "limit_surface row");
    if (!row) return;
    out.ellipsoid.row(i) = row->transpose();
  }
  const Eigen::Matrix3d& A = out.ellipsoid;
  if (!A.isApprox(A.transpose(), kSymmetric)) {
    read.error(node, "limit_surface: the matrix must be symmetric");
  } else if (const Eigen::Vector3d e = symmetric_eigen(A).values; !(e(0) > 0)) {
    read.error(
        node,
        fmt::format("limit_surface: the matrix must be positive definite, its smallest eigenvalue is {:.3g}", e(0)));
  }
  out.ellipsoid = 0.5 * (A + A.transpose()).eval();
}

/// `square: side`, `rectangle: [x, y]`, `polygon: [[x, y], …]` or `disc: radius` (a polygon of 64 corners of the same
/// area).
void read_support_shape(const YamlNode& node, const YamlReader& read, scene::SupportSpec& out) {
  if (!read.map(node, "limit_surface.support", {"square", "rectangle", "polygon", "disc"})) return;
  std::vector<const YamlEntry*> given;
  for (const YamlEntry& entry : node.entries) {
    if (!entry.value.is_null()) given.push_back(&entry);
  }
  if (given.size() != 1) return read.error(node, "limit_surface.support: give one of square, rectangle, polygon, disc");
  const YamlNode& value = given[0]->value;
  const auto rectangle = [&](double x, double y) {
    out.polygon = {{-x / 2, -y / 2}, {x / 2, -y / 2}, {x / 2, y / 2}, {-x / 2, y / 2}};
  };
  if (given[0]->key == "square") {
    if (const auto side = read.number(value, "support square", kPositive)) rectangle(*side, *side);
  } else if (given[0]->key == "rectangle") {
    if (const auto sides = read.numbers(value, "support rectangle", 2, kPositive)) rectangle((*sides)[0], (*sides)[1]);
  } else if (given[0]->key == "disc") {
    const auto radius = read.number(value, "support disc", kPositive);
    constexpr int kCorners = 64;
    const double step = 2 * EIGEN_PI / kCorners;
    for (int i = 0; radius && i < kCorners; ++i) {
      const double r = *radius * std::sqrt(step / std::sin(step));
      out.polygon.emplace_back(r * std::cos(i * step), r * std::sin(i * step));
    }
  } else if (read.list(value, "support polygon")) {
    if (value.items.size() < 3) read.error(value, "support polygon: needs at least three corners");
    for (const YamlNode& item : value.items) {
      if (const auto p = read.numbers(item, "support polygon corner", 2)) out.polygon.emplace_back((*p)[0], (*p)[1]);
    }
  }
}

std::optional<scene::ServoTarget> read_target(const YamlNode& node, const YamlReader& read) {
  scene::ServoTarget target;
  target.where = node.where;
  const YamlNode* place = &node;
  if (node.is_map()) {
    if (!read.map(node, "servo target", {"place", "gain"})) return std::nullopt;
    place = node.find("place");
    if (place == nullptr) {
      read.error(node, "servo target: needs 'place' (x, y, theta in the base, or joint values)");
      return std::nullopt;
    }
    if (const YamlNode* gain = node.find("gain")) {
      if (auto values = read_joint_values(*gain, "servo gain", read, kNotNegative, {}))
        target.gain = std::move(*values);
    }
  }
  const auto numbers = read.numbers(*place, "servo target", -1);
  if (!numbers) return std::nullopt;
  target.place = *numbers;
  return target;
}

scene::ServoPhase read_phase(const YamlNode& node, const YamlReader& read) {
  scene::ServoPhase phase;
  phase.where = node.where;
  if (!read.map(node, "a phase", {"until", "base", "targets"})) return phase;
  constexpr NumberRange kTime{0, true, true, ">= 0 or inf"};
  if (const YamlNode* until = node.find("until"))
    phase.until = read.number(*until, "phase until", kTime).value_or(phase.until);
  if (const YamlNode* base = node.find("base")) {
    if (base->is_list()) {
      if (const auto pose = read.vector3(*base, "phase base [x, y, theta]"))
        phase.pose = {pose->x(), pose->y(), pose->z()};
    } else if (const auto name = read.text(*base, "phase base")) {
      phase.base = *name;
    }
  }
  const YamlNode* targets = node.find("targets");
  if (targets == nullptr || !read.any_map(*targets, "targets")) return phase;
  for (const YamlEntry& entry : targets->entries) {
    if (entry.value.is_null()) continue;
    if (auto target = read_target(entry.value, read)) phase.robots[entry.key] = std::move(*target);
  }
  return phase;
}

bool velocities_asked(const YamlNode& node, std::string_view what, SceneReading& scene) {
  if (scene.spec.commands.velocity) return true;
  scene.read.error(node, fmt::format("{} gives velocities; say commands.type: velocity", what));
  return false;
}

}  // namespace

void read_limit_surface(const YamlNode& node, const std::string& model, SceneReading& scene) {
  const YamlReader& read = scene.read;
  scene::LimitSurfaceSpec& out = scene.spec.limit_surfaces[model];
  out = {};
  out.where = node.where;
  if (!node.is_map()) return read_ellipsoid(node, read, out);
  static constexpr std::string_view kPressures[] = {"uniform"};
  if (!read.map(node, "limit_surface", {"support", "pressure", "mu", "force"})) return;
  const YamlNode* support = node.find("support");
  if (support == nullptr) return read.error(node, "limit_surface: give [a, b, c], a 3×3 matrix, or 'support'");
  out.support.emplace();
  read_support_shape(*support, read, *out.support);
  if (const YamlNode* pressure = node.find("pressure")) read.word(*pressure, "limit_surface pressure", kPressures);
  if (const YamlNode* mu = node.find("mu"))
    out.support->mu = read.number(*mu, "limit_surface mu", kPositive).value_or(1);
  if (const YamlNode* force = node.find("force"))
    out.support->force_N = read.number(*force, "limit_surface force", kPositive);
}

void read_formulas(const YamlNode& node, SceneReading& scene) {
  const YamlReader& read = scene.read;
  if (!velocities_asked(node, "commands.formulas", scene) || !read.any_map(node, "commands.formulas")) return;
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.is_null()) continue;
    scene::FormulaSpec& formulas = scene.spec.commands.formulas[entry.key];
    formulas.where = entry.value.where;
    if (entry.value.is_list()) {
      for (const YamlNode& item : entry.value.items) formulas.list.push_back(read.text(item, "formula").value_or("0"));
    } else if (read.any_map(entry.value, "formulas")) {
      for (const YamlEntry& joint : entry.value.entries) {
        if (!joint.value.is_null()) formulas.by_name[joint.key] = read.text(joint.value, "formula").value_or("0");
      }
    }
  }
}

void read_servo(const YamlNode& node, SceneReading& scene) {
  const YamlReader& read = scene.read;
  if (!velocities_asked(node, "commands.servo", scene) || !read.map(node, "commands.servo", {"gain", "phases"})) return;
  scene::ServoSpec& servo = scene.spec.commands.servo.emplace();
  servo.where = node.where;
  if (const YamlNode* gain = node.find("gain"))
    servo.gain = read.number(*gain, "commands.servo gain", kNotNegative).value_or(1);
  const YamlNode* phases = node.find("phases");
  if (phases == nullptr) return read.error(node, "commands.servo needs 'phases'");
  if (!read.list(*phases, "commands.servo phases")) return;
  for (const YamlNode& item : phases->items) servo.phases.push_back(read_phase(item, read));
}

}  // namespace deft::io
