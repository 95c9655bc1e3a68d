#include "deft/exporters/directive_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>
#include <string_view>

#include "deft/core/index.hpp"

namespace deft::exporters {
namespace {

using Eigen::Vector3d;

constexpr double kDegree = 180 / EIGEN_PI;
// Keys of a scene that say nothing of models.
constexpr std::array<std::string_view, 14> kKept{"robots",  "objects", "gravity",        "friction", "step",
                                                 "plan",    "track",   "configurations", "initial",  "commands",
                                                 "control", "goals",   "wrenches",       "plane"};

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

/// Collision geometries of each body.
std::vector<std::vector<int>> geometries_of(const LinkTree& links) {
  std::vector<std::vector<int>> found(links.tree().bodies.size());
  const auto geometries = links.geometries();
  for (std::size_t k = 0; k < geometries.size(); ++k) found[to_size(geometries[k].body)].push_back(static_cast<int>(k));
  return found;
}

std::string filter_groups(const LinkTree& links, std::vector<std::string>& notes) {
  const auto of = geometries_of(links);
  std::map<int, std::vector<int>> ignored;
  for (int a = 1; a < static_cast<int>(of.size()); ++a) {
    for (int b = a + 1; b < static_cast<int>(of.size()); ++b) {
      int touching = 0;
      for (const int g : of[to_size(a)])
        for (const int h : of[to_size(b)]) touching += links.may_touch(g, h);
      const auto all = of[to_size(a)].size() * of[to_size(b)].size();
      if (all == 0 || !links.may_collide_by_default(a, b)) continue;
      if (touching == 0) ignored[a].push_back(b);
      if (touching > 0 && to_size(touching) < all)
        notes.push_back(fmt::format("some geometries of '{}' and '{}' do not collide in the scene, here all do",
                                    scoped(links, a), scoped(links, b)));
    }
  }
  std::string text;
  const auto group = [&](int body) { return fmt::format("body_{}", body); };
  std::vector<char> is_named(of.size(), 0);
  const auto add = [&](int body, const std::vector<int>& others) {
    is_named[to_size(body)] = 1;
    std::vector<std::string> names;
    for (const int other : others) names.push_back(group(other));
    text += fmt::format(
        "- add_collision_filter_group: {{name: {}, members: [\"{}\"], ignored_collision_filter_groups: [{}]}}\n",
        group(body), scoped(links, body), fmt::join(names, ", "));
  };
  for (const auto& [body, others] : ignored) add(body, others);
  for (const auto& [body, others] : ignored)
    for (const int other : others)
      if (!is_named[to_size(other)]) add(other, {});
  return text;
}

}  // namespace

std::string directive_text(const LinkTree& links, const std::string& package, const std::string& ending,
                           std::vector<std::string>& notes) {
  std::string text = "directives:\n";
  const multibody::KinematicTree& tree = links.tree();
  for (std::size_t m = 0; m < tree.models.size(); ++m) {
    const std::string& name = tree.models[m].name;
    text += fmt::format("- add_model:\n    name: {}\n    file: package://{}/{}{}\n", name, package, name, ending);
    const auto start = links.joints_at_start(static_cast<int>(m));
    if (!start.empty()) text += "    default_joint_positions:\n";
    for (const auto& [joint, value] : start) text += fmt::format("      {}: [{}]\n", joint, value);
    for (const int body : tree.models[m].bodies) {
      const int joint = tree.groups[to_size(links.group(body))].joint;
      if (joint < 0 || tree.joints[to_size(joint)].kind != multibody::JointKind::kFree ||
          links.main_body(links.group(body)) != body || links.is_frozen(tree.joints[to_size(joint)]))
        continue;
      text += fmt::format("    default_free_body_pose: {{{}: {}}}\n", links.link_name(body),
                          pose(links.start().X_WB()[body]));
    }
  }
  for (const Weld& weld : welds_of(links))
    text += fmt::format("- add_weld: {{parent: \"{}\", child: \"{}\", X_PC: {}}}\n", scoped(links, weld.parent),
                        scoped(links, weld.child), pose(weld.X_PC));
  return text + filter_groups(links, notes);
}

std::string overlay_text(const LinkTree& links, const std::string& directives) {
  const scene::Scene& scene = links.scene();
  const std::vector<Block> blocks = blocks_of(scene.spec().merged_yaml);
  std::string text = fmt::format("deft: 1\nname: {}\n{}", scene.spec().name, directives);
  const auto has = [&](const char* key) {
    return std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) { return block.key == key; });
  };
  if (!has("gravity")) text += fmt::format("gravity: {}\n", numbers(scene.spec().gravity_W));
  if (!has("robots") && !scene.robots().empty()) {
    text += "robots:\n";
    for (const scene::Robot& robot : scene.robots())
      text +=
          fmt::format("- {{name: {}, {}}}\n", robot.name,
                      robot.drive == scene::Drive::kForce ? "drive: force" : "stiffness: " + numbers(robot.stiffness));
  }
  for (const Block& block : blocks) {
    const bool is_kept = std::find(kKept.begin(), kKept.end(), block.key) != kKept.end();
    const bool names_files = block.text.find("file:") != std::string::npos;
    if (is_kept && !names_files) text += block.text;
  }
  return text;
}

std::string package_text(const std::string& name) {
  return fmt::format("<?xml version=\"1.0\"?>\n<package format=\"2\">\n  <name>{}</name>\n</package>\n", name);
}

}  // namespace deft::exporters
