#include "deft/authoring/scene_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>

#include "deft/core/quote.hpp"

namespace deft::authoring {
namespace {

std::string number(double value) {
  const double rounded = std::abs(value) < 5e-8 ? 0.0 : value;
  return fmt::format("{:.7g}", rounded);
}

template <typename Values>
std::string list(const Values& values) {
  std::string text = "[";
  for (const double value : values) text += (text.size() > 1 ? ", " : "") + number(value);
  return text + "]";
}

/// Whether a key needs no quotes.
bool is_plain(const std::string& key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
  });
}

std::string key(const std::string& name) { return is_plain(name) ? name : quote(name); }

std::string pose(const RigidTransform& X) {
  return fmt::format("position: {}, quat_wxyz: {}", list(X.translation()), list(quat_wxyz_from_rotation(X.linear())));
}

/// An entry with its comment behind it, in line with the others.
std::string line(const std::string& entry, const std::string& comment) {
  return fmt::format("{:<60}  # {}\n", entry, comment);
}

std::string robot_lines(const RobotText& robot) {
  std::string text =
      line(fmt::format("  - add_model: {{name: {}, file: {}}}", robot.name, quote(robot.file)), "the robot");
  if (robot.base.empty() || !robot.floating.empty()) return text;
  const Eigen::Vector3d rpy = rpy_from_rotation(robot.X_WBase.linear()) * 180 / std::numbers::pi;
  return text +
         line(fmt::format(
                  "  - add_weld: {{parent: world, child: {}, X_PC: {{translation: {}, rotation: !Rpy {{deg: {}}}}}}}",
                  quote(robot.name + "::" + robot.base), list(robot.X_WBase.translation()), list(rpy)),
              "its base is fixed there; without this line it is free");
}

std::string start_lines(const SceneText& scene) {
  const RobotText& robot = scene.robot;
  const bool has_base = !robot.floating.empty() && robot.floating == robot.name;
  std::string joints = has_base ? pose(robot.X_WBase) : "";
  for (const auto& [name, value] : robot.joints)
    joints += fmt::format("{}{}: {}", joints.empty() ? "" : ", ", key(name), number(value));
  std::string text =
      "configurations:\n  start:\n" +
      line(fmt::format("    {}: {{{}}}", robot.name, joints),
           has_base ? "its base [m]; joints in rad or m, inside the limits" : "rad or m, inside the limits");
  if (!robot.floating.empty() && !has_base)
    text += line(fmt::format("    {}: {{{}}}", key(robot.floating), pose(robot.X_WBase)),
                 "m, the robot's base, which floats");
  for (const ObjectText& object : scene.objects)
    text += line(fmt::format("    {}: {{{}}}", key(object.name), pose(object.X_WB)),
                 "m, its body's origin, and its orientation");
  return text + line("initial: start", "the configuration that everything starts from");
}

}  // namespace

std::string to_yaml(const SceneText& scene) {
  const RobotText& robot = scene.robot;
  std::string text = line("deft: 1", "edition of the scene format") +
                     line(fmt::format("name: {}", scene.name), "of run folders and pages");
  if (!scene.package_paths.empty()) {
    std::string folders;
    for (const std::string& folder : scene.package_paths) folders += (folders.empty() ? "" : ", ") + quote(folder);
    text += line(fmt::format("package_paths: [{}]", folders), "where packages are looked for");
  }
  text += "directives:\n" + robot_lines(robot);
  for (const ObjectText& object : scene.objects)
    if (!object.file.empty())
      text += line(fmt::format("  - add_model: {{name: {}, file: {}}}", object.name, quote(object.file)),
                   "an object: nothing moves it but contact");
  if (scene.ground)
    text += "bodies:\n" +
            line(fmt::format(
                     "  ground: {{shape: {{half_space: {{normal: [0, 0, 1], offset: {}}}}}, joint: fixed, mu: 0.5}}",
                     number(*scene.ground)),
                 "solid below that height [m]");
  text += "robots:\n" + line(robot.stiffness.empty()
                                 ? fmt::format("  - {{name: {}}}", robot.name)
                                 : fmt::format("  - {{name: {}, stiffness: {}}}", robot.name, list(robot.stiffness)),
                             robot.stiffness_comment);
  text += line("gravity: [0, 0, -9.81]", "m/s²; joints of robots carry their own weight");
  text += line("friction: {default: 0.5}", "where neither side states a coefficient");
  text += line("step: {h: 0.1, contact_margin: 0.025}", "s; contacts nearer than the margin [m] are looked at");
  text += start_lines(scene);
  if (scene.X_WGoal && !scene.objects.empty())
    text += "goals:\n" + line(fmt::format("  goal: {{{}: {{{}}}, tolerance: {{position: 0.01, rotation: 0.1}}}}",
                                          key(scene.objects[0].name), pose(*scene.X_WGoal)),
                              fmt::format("{}; tolerances in m and rad", scene.goal));
  return text;
}

}  // namespace deft::authoring
