#include "deft/exporters/directive_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <sstream>
#include <string_view>

#include "deft/core/index.hpp"
#include "deft/core/quote.hpp"

namespace deft::exporters {
namespace {

using Eigen::Vector3d;

constexpr double kDegree = 180 / EIGEN_PI;
// Keys of a scene that say nothing of models.
constexpr std::array<std::string_view, 15> kKept{"optimize", "robots",  "objects", "gravity",        "friction",
                                                 "step",     "plan",    "track",   "configurations", "initial",
                                                 "commands", "control", "goals",   "wrenches",       "plane"};

/// A key of a scene with all that stands below it.
struct Block { std::string key, text; };

/// Of a merged scene, whose keys stand at the start of lines.
std::vector<Block> blocks_of(const std::string& yaml) {
  std::vector<Block> blocks;
  std::istringstream lines(yaml);
  for (std::string line; std::getline(lines, line);) {
    const bool is_key = !line.empty() && std::isalpha(static_cast<unsigned char>(line[0]));
    if (is_key) blocks.push_back({line.substr(0, line.find(':')), ""});
    if (!blocks.empty()) blocks.back().text += line + '\n';
  }
  return blocks;
}

std::string numbers(const auto& values) { return fmt::format("[{}]", fmt::join(values.begin(), values.end(), ", ")); }

/// "model::link", or "world".
std::string scoped(const LinkTree& links, int body) {
  if (body == 0) return "world";
  const multibody::BodyInfo& info = links.tree().bodies[to_size(body)];
  return links.tree().models[to_size(info.model)].name + "::" + links.link_name(body);
}

std::string pose(const RigidTransform& X) {
  const Eigen::AngleAxisd turn(X.linear());
  return fmt::format("{{translation: {}, rotation: !AngleAxis {{angle_deg: {}, axis: {}}}}}",
                     numbers(Vector3d(X.translation())), kDegree * turn.angle(), numbers(turn.axis()));
}

/// Whether a joint hangs body `b` on body `a`: then they do not collide, the world's links included.
bool is_carried(const LinkTree& links, int a, int b) {
  const int joint = links.tree().groups[to_size(links.group(b))].joint;
  if (joint < 0 || links.main_body(links.group(b)) != b) return false;
  const multibody::TreeJoint& held_by = links.tree().joints[to_size(joint)];
  return links.body_in(held_by.parent_group, held_by.model) == a;
}

std::string filter_groups(const LinkTree& links, std::vector<std::string>& notes) {
  const int bodies = static_cast<int>(links.tree().bodies.size());
  std::map<int, std::vector<int>> ignored;
  for (int a = 1; a < bodies; ++a) {
    for (int b = a + 1; b < bodies; ++b) {
      int touching = 0;
      for (const int g : links.geometries_of(a))
        for (const int h : links.geometries_of(b)) touching += links.may_touch(g, h);
      const auto all = links.geometries_of(a).size() * links.geometries_of(b).size();
      if (all == 0 || links.group(a) == links.group(b)) continue;
      const bool by_default = !is_carried(links, a, b) && !is_carried(links, b, a);
      if (touching == 0) ignored[a].push_back(b);
      if (touching > 0 && (!by_default || to_size(touching) < all))
        notes.push_back(fmt::format("{} and {}: {}", scoped(links, a), scoped(links, b),
                                    by_default ? "some of their geometries do not collide in the scene, here all do"
                                               : "one carries the other; they collide in the scene, here they do not"));
    }
  }
  std::string text;
  const auto group = [&](int body) { return fmt::format("body_{}", body); };
  std::vector<char> is_named(to_size(bodies), 0);
  const auto add = [&](int body, const std::vector<int>& others) {
    is_named[to_size(body)] = 1;
    std::vector<std::string> names;
    for (const int other : others) names.push_back(group(other));
    text += fmt::format(
        "- add_collision_filter_group: {{name: {}, members: [{}], ignored_collision_filter_groups: [{}]}}\n",
        group(body), quote(scoped(links, body)), fmt::join(names, ", "));
  };
  for (const auto& [body, others] : ignored) add(body, others);
  for (const auto& [body, others] : ignored)
    for (const int other : others)
      if (!is_named[to_size(other)]) add(other, {});
  return text;
}

/// Whether a text of YAML has the key `file`.
bool names_file(const std::string& yaml) {
  for (std::size_t at = yaml.find("file:"); at != std::string::npos; at = yaml.find("file:", at + 1))
    if (at == 0 || std::string_view(" {,\n").find(yaml[at - 1]) != std::string_view::npos) return true;
  return false;
}

/// Whether a robot has a stiffness that its model file states.
bool has_drives(const scene::Scene& scene) {
  return std::any_of(scene.robots().begin(), scene.robots().end(), [&](const scene::Robot& robot) {
    const auto v = scene.model().velocities().subspan(to_size(robot.first_v), to_size(robot.nv));
    return std::any_of(v.begin(), v.end(), [](const auto& joint) { return joint.stiffness > 0; });
  });
}

/// Limits of joints; nothing if there are none.
std::string limits(const char* key, const Eigen::VectorXd& values) {
  if (values.array().isInf().all()) return "";
  std::string text;
  for (const double value : values)
    text += (text.empty() ? "" : ", ") + (std::isfinite(value) ? fmt::format("{}", value) : ".inf");
  return fmt::format(", {}: [{}]", key, text);
}

/// An item of `robots:` that says all of it.
std::string robot_item(const scene::Scene& scene, const scene::Robot& robot) {
  const bool by_force = robot.drive == scene::Drive::kForce;
  const bool touches_itself =
      std::any_of(scene.spec().robots.begin(), scene.spec().robots.end(),
                  [&](const scene::RobotSpec& spec) { return spec.name == robot.name && spec.self_collision; });
  return fmt::format("- {{name: {}, {}{}{}{}{}}}\n", quote(robot.name),
                     by_force ? "drive: force" : "stiffness: " + numbers(robot.stiffness),
                     robot.admittance.size() > 0 ? ", admittance: " + numbers(robot.admittance) : "",
                     limits("effort_limit", robot.effort_limit), limits("velocity_limit", robot.velocity_limit),
                     touches_itself ? ", self_collision: true" : "");
}

}  // namespace

std::string directive_text(const LinkTree& links, const std::string& package, const std::string& ending,
                           std::vector<std::string>& notes) {
  std::string text = "directives:\n";
  const multibody::KinematicTree& tree = links.tree();
  for (std::size_t m = 0; m < tree.models.size(); ++m) {
    const std::string& name = tree.models[m].name;
    text += fmt::format("- add_model:\n    name: {}\n    file: {}\n", quote(name),
                        quote(fmt::format("package://{}/{}{}", package, name, ending)));
    const auto start = links.joints_at_start(static_cast<int>(m));
    if (!start.empty()) text += "    default_joint_positions:\n";
    for (const auto& [joint, value] : start) text += fmt::format("      {}: [{}]\n", quote(joint), value);
    std::string free;
    for (const int body : tree.models[m].bodies)
      if (links.is_free(body))
        free += fmt::format("      {}: {}\n", quote(links.link_name(body)), pose(links.start().X_WB()[body]));
    if (!free.empty()) text += "    default_free_body_pose:\n" + free;
  }
  for (const Weld& weld : welds_of(links))
    text += fmt::format("- add_weld: {{parent: {}, child: {}, X_PC: {}}}\n", quote(scoped(links, weld.parent)),
                        quote(scoped(links, weld.child)), pose(weld.X_PC));
  return text + filter_groups(links, notes);
}

std::string overlay_text(const LinkTree& links, const std::string& directives, std::vector<std::string>& notes) {
  const scene::Scene& scene = links.scene();
  std::string text = fmt::format("deft: 1\nname: {}\n{}", quote(scene.spec().name), directives);
  bool has_robots = false, has_gravity = false;
  for (const Block& block : blocks_of(scene.spec().merged_yaml)) {
    if (std::find(kKept.begin(), kKept.end(), block.key) == kKept.end()) continue;
    if (names_file(block.text)) {
      notes.push_back(fmt::format("'{}' of the scene names model files and is left out", block.key));
      continue;
    }
    // Drives of model files go with the models; here every robot says its own.
    if (block.key == "robots" && has_drives(scene)) continue;
    text += block.text;
    has_robots |= block.key == "robots";
    has_gravity |= block.key == "gravity";
  }
  if (!has_gravity) text += fmt::format("gravity: {}\n", numbers(scene.spec().gravity_W));
  if (has_robots || scene.robots().empty()) return text;
  text += "robots:\n";
  for (const scene::Robot& robot : scene.robots()) text += robot_item(scene, robot);
  return text;
}

std::string package_text(const std::string& name) {
  return fmt::format("<?xml version=\"1.0\"?>\n<package format=\"2\">\n  <name>{}</name>\n</package>\n", name);
}

}  // namespace deft::exporters
