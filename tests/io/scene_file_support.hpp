#pragma once
// A temporary folder of model and scene files in the published style, and a SceneSpec as text that two readings can be
// compared by.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "deft/io/scene/scene_file.hpp"

namespace deft::io::test {

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "deft_scene_XXXXXX").string();
    path_ = std::filesystem::canonical(mkdtemp(pattern.data())).string();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string at(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
    std::ofstream(at(name), std::ios::binary) << text;
    return at(name);
  }

 private:
  std::string path_;
};

inline constexpr const char* kInertial =
    "<inertial><mass>1</mass><inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></"
    "inertia></inertial>";

/// A serial arm in the plane with `joints` revolute joints "joint_0", … about x; its base is a link "base".
inline std::string arm_sdf(const std::string& name, int joints) {
  std::string text = fmt::format("<sdf version='1.7'><model name='{}'><link name='base'>{}</link>", name, kInertial);
  std::string parent = "base";
  for (int i = 0; i < joints; ++i) {
    text += fmt::format(
        "<link name='link_{0}'><pose>0 0 {1} 0 0 0</pose>{2}<collision "
        "name='c'><geometry><sphere><radius>0.05</radius></sphere></geometry></collision></link>"
        "<joint name='joint_{0}' type='revolute'><parent>{3}</parent><child>link_{0}</child><axis><xyz>1 0 "
        "0</xyz></axis></joint>",
        i, 0.2 * i, kInertial, parent);
    parent = fmt::format("link_{}", i);
  }
  return text + "</model></sdf>";
}

/// One free ball.
inline std::string ball_sdf(const std::string& name) {
  return fmt::format(
      "<sdf version='1.7'><model name='{}'><link name='ball_link'>{}"
      "<collision name='c'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model></sdf>",
      name, kInertial);
}

/// The published layout: models and directives in a package folder, systems in q_sys below it.
inline void write_published_files(const Folder& folder) {
  folder.write("models/package.xml", "<package><name>quasistatic_simulator</name></package>");
  folder.write("models/arm.sdf", arm_sdf("arm", 2));
  folder.write("models/sphere.sdf", ball_sdf("sphere"));
  folder.write("models/planar_hand.yml", R"(directives:

- add_model:
    name: arm_left
    file: package://quasistatic_simulator/arm.sdf

- add_model:
    name: arm_right
    file: package://quasistatic_simulator/arm.sdf

- add_frame:
    name: arm_left_base
    X_PF:
        base_frame: world
        translation: [0, -0.1, 0]

- add_weld:
    parent: arm_left_base
    child: arm_left::base

- add_frame:
    name: arm_right_base
    X_PF:
        base_frame: world
        translation: [0, 0.1, 0]
        rotation: !Rpy {deg: [0., 0.0, 90.0]}

- add_weld:
    parent: arm_right_base
    child: arm_right::base
)");
  folder.write("models/q_sys/planar_hand_ball.yml", R"(model_directive: package://quasistatic_simulator/planar_hand.yml
robots:
  -
    name: arm_left
    Kp: [50, 25]
  -
    name: arm_right
    Kp: [50, 25]

objects:
  -
    name: ball
    file: package://quasistatic_simulator/sphere.sdf

quasistatic_sim_params:
  gravity: [0, 0, 0.]
  nd_per_contact: 2
  contact_detection_tolerance: 10.0
  unactuated_mass_scale: .NAN
)");
}

/// Reads; every diagnostic's text goes to `report`, one per line.
inline std::optional<scene::SceneSpec> read(const std::string& path, const SceneFileOptions& options,
                                            std::string& report) {
  Diagnostics diagnostics;
  auto spec = read_scene_file(path, options, diagnostics);
  report.clear();
  for (const Diagnostic& diagnostic : diagnostics.all()) report += to_string(diagnostic) + '\n';
  EXPECT_EQ(spec.has_value(), !diagnostics.has_errors());
  return spec;
}

/// Reads a scene that must be good.
inline scene::SceneSpec read_good(const std::string& path, const SceneFileOptions& options = {}) {
  std::string report;
  auto spec = read(path, options, report);
  EXPECT_TRUE(spec.has_value()) << report;
  return spec.value_or(scene::SceneSpec{});
}

inline void append(const RigidTransform& X, std::ostream& out) {
  out << X.matrix().format(Eigen::IOFormat(Eigen::FullPrecision, 0, " ", " ")) << '\n';
}
inline void append(const scene::JointValues& values, std::ostream& out) {
  out << (values.all ? fmt::format("all {}", *values.all) : "");
  for (const double value : values.list) out << ' ' << fmt::format("{}", value);
  for (const auto& [name, value] : values.by_name) out << ' ' << name << '=' << fmt::format("{}", value);
  out << '\n';
}
inline void append(const scene::ConfigurationSpec& configuration, std::ostream& out) {
  out << "configuration " << configuration.name << '\n';
  for (const auto& [name, model] : configuration.models) {
    out << name << ' ';
    append(model.joints, out);
    if (model.position) out << model.position->transpose() << '\n';
    if (model.rotation) out << *model.rotation << '\n';
    if (model.velocity) out << model.velocity->transpose() << '\n';
    for (const auto& [link, pose] : model.free_bodies)
      out << link << ' ' << pose.first->transpose() << ' ' << *pose.second << '\n';
  }
}
inline void append(const multibody::ModelSpec& model, std::ostream& out) {
  out << "model " << model.name << ' ' << model.base << ' ' << model.is_static << model.inline_body << '\n';
  append(model.X_WModel, out);
  for (const auto& link : model.links) {
    out << "link " << link.name << '\n';
    if (link.inertial)
      out << link.inertial->mass << ' ' << link.inertial->p_LCom.transpose() << ' ' << link.inertial->I_Com_L << '\n';
    for (const auto& geometry : link.collisions) {
      out << geometry.name << ' ' << geometry.shape.index() << ' ' << geometry.mu.value_or(-1) << ' '
          << geometry.rgba.value_or(std::array<double, 4>{})[0] << '\n';
      append(geometry.X_LG, out);
    }
  }
  for (const auto& joint : model.joints) {
    out << "joint " << joint.name << ' ' << static_cast<int>(joint.kind) << ' ' << joint.parent << ' ' << joint.child
        << '\n';
    append(joint.X_PJ, out);
    for (const auto& axis : joint.axes)
      out << axis.coordinate << ' ' << axis.rotational << ' ' << axis.axis_J.transpose() << ' ' << axis.lower << ' '
          << axis.upper << '\n';
  }
}

/// Everything a specification says, without places in files: equal texts, equal scenes.
inline std::string text_of(const scene::SceneSpec& spec) {
  std::ostringstream out;
  out.precision(17);
  out << spec.name << ' ' << spec.is_q_sys << ' ' << spec.gravity_W.transpose() << ' ' << spec.initial << ' '
      << static_cast<int>(spec.plane.value_or(scene::Plane::kSpace)) << '\n';
  for (const auto& model : spec.world.models) append(model, out);
  for (const auto& weld : spec.world.welds) {
    out << "weld " << weld.parent << ' ' << weld.child << ' ';
    append(weld.X_PC, out);
  }
  for (const auto& frame : spec.world.frames) {
    out << "frame " << frame.name << ' ' << frame.attached_to << ' ';
    append(frame.X_AF, out);
  }
  for (const auto& robot : spec.robots) {
    out << "robot " << robot.name << robot.self_collision << ' ';
    append(robot.stiffness, out);
  }
  for (const auto& object : spec.objects) out << "object " << object.name << object.frozen << '\n';
  for (const auto& group : spec.filter_groups)
    out << fmt::format("group {} {} {} {}\n", group.name, fmt::join(group.members, ","),
                       fmt::join(group.member_groups, ","), fmt::join(group.ignored, ","));
  out << spec.friction.fallback << spec.friction.prefer_static << spec.friction.warn_missing << '\n';
  for (const auto& pair : spec.friction.pairs)
    out << pair.between[0] << ' ' << pair.between[1] << ' ' << pair.mu.value_or(-1) << '\n';
  const scene::StepSettings& s = spec.step;
  out << fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n", s.h.value_or(-1),
                     scene::to_string(s.model), scene::to_string(s.dynamics), scene::to_string(s.cone), s.rays, s.kappa,
                     s.contact_margin, s.unactuated_mass_scale.value_or(-1), s.objects_move, s.joint_limits,
                     s.effort_limits, s.robot_gravity, s.compliance, s.uniqueness_check, scene::to_string(s.forces),
                     s.midpoint_forces, s.gain, s.friction_arm);
  append(s.joint_damping, out);
  append(s.object_damping, out);
  for (const auto& configuration : spec.configurations) append(configuration, out);
  append(spec.defaults, out);
  out << static_cast<int>(spec.commands.interpolation) << '\n';
  for (const auto& knot : spec.commands.knots) {
    out << "knot " << knot.t << '\n';
    for (const auto& [name, values] : knot.robots) append(values, out << name << ' ');
  }
  for (const auto& goal : spec.goals) {
    append(goal.target, out);
    out << goal.tolerance_position_m << ' ' << goal.tolerance_rotation_rad << ' ' << goal.tolerance_joint << '\n';
    for (const auto& [name, tolerance] : goal.tolerance_joints) out << name << ' ' << tolerance << '\n';
  }
  return out.str();
}

/// The scene, with what a reading of its own merged text from another folder must agree with.
inline void expect_round_trip(const scene::SceneSpec& spec, const Folder& elsewhere) {
  const std::string path = elsewhere.write("config.yaml", spec.merged_yaml);
  const scene::SceneSpec again = read_good(path);
  EXPECT_EQ(text_of(again), text_of(spec)) << spec.merged_yaml;
  EXPECT_EQ(again.merged_yaml, spec.merged_yaml);
}

}  // namespace deft::io::test
