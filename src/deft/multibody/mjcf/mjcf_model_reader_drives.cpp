// `<actuator>`, `<equality>` of joints and `<keyframe>`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "deft/multibody/mjcf/mjcf_model_reader.hpp"

namespace deft::multibody::mjcf {
namespace {

const std::vector<std::string>& actuator_tags() {
  static const std::vector<std::string> tags{"general", "motor",       "position", "velocity", "intvelocity",
                                             "damper",  "cylinder",    "muscle",   "adhesion", "dcmotor",
                                             "pid",     "orientation", "plugin"};
  return tags;
}

/// Force = gain · control + bias₀ + bias₁ · length + bias₂ · speed, all along the joint times the gear.
struct Drive {
  double gain = 1, stiffness = 0, damping = 0, gear = 1, largest = kInfinity;  // stiffness −bias₁, damping −bias₂
  bool is_linear = true;

  /// What an element adds to what its defaults say; the short names set what they stand for.
  void apply(const Element& element, const Compiler& compiler, const Values& values) {
    if (element.tag == "position") {
      gain = stiffness = values.number(element, "kp", gain);
      damping = values.number(element, "kv", damping);
    } else if (element.tag == "velocity") {
      gain = damping = values.number(element, "kv", gain);
      stiffness = 0;
    } else if (element.tag == "motor") {
      gain = 1;
      stiffness = damping = 0;
    } else if (element.tag == "general") {
      if (const auto prm = values.numbers(element, "gainprm", 1, 10)) gain = prm->front();
      if (const auto prm = values.numbers(element, "biasprm", 1, 10)) {
        stiffness = prm->size() > 1 ? -(*prm)[1] : 0;
        damping = prm->size() > 2 ? -(*prm)[2] : 0;
      }
    } else {
      is_linear = false;
    }
    if (const auto gears = values.numbers(element, "gear", 1, 6)) gear = gears->front();
    const auto range = values.numbers(element, "forcerange", 2, 2);
    const bool limited = values.unless_auto(element, "forcelimited").value_or(range && compiler.autolimits);
    if (limited && range) largest = std::max(std::abs((*range)[0]), std::abs((*range)[1]));
  }
};

}  // namespace

JointAxisSpec* ModelReader::find_axis(const std::string& joint) {
  for (JointSpec& spec : model_.joints)
    for (JointAxisSpec& axis : spec.axes)
      if (axis.coordinate == joint) return &axis;
  return nullptr;
}

void ModelReader::read_actuators() {
  root_.for_each("actuator", [&](const Element& section) {
    for (const Element& element : section.children) read_actuator(element);
  });
}

/// A drive that holds a position is the stiffness and damping of its joint; others are named.
void ModelReader::read_actuator(const Element& element) {
  const std::string name = values_.text(element, "name", element.tag);
  const std::string joint = values_.text(element, "joint", values_.text(element, "jointinparent"));
  const auto pass_over = [&](const std::string& why, const std::string& of_many) {
    values_.warning(element, fmt::format("actuator '{}' is not read: {}", name, why),
                    fmt::format("actuators are not read: {}", of_many));
  };
  if (joint.empty()) return pass_over("it drives no joint", "they drive no joint");
  JointAxisSpec* const axis = find_axis(joint);
  if (axis == nullptr) {
    std::vector<std::string> names;
    for (const JointSpec& spec : model_.joints) {
      if (spec.name == joint) return pass_over("its joint has several axes", "their joints have several axes");
      for (const JointAxisSpec& known : spec.axes) names.push_back(known.coordinate);
    }
    return values_.error(
        element, fmt::format("actuator '{}': there is no joint '{}'{}", name, joint, did_you_mean(joint, names)));
  }
  Drive drive;
  for (const Element* inherited : defaults_.chain(element, actuator_tags(), "", values_))
    drive.apply(*inherited, compiler_, values_);
  drive.apply(element, compiler_, values_);
  if (!drive.is_linear) return pass_over(fmt::format("<{}>", element.tag), "they are no linear drives");
  axis->effort_limit = std::min(axis->effort_limit, std::abs(drive.gear) * drive.largest);
  axis->stiffness += drive.gear * drive.gear * drive.stiffness;
  axis->damping += drive.gear * drive.gear * drive.damping;
  if (drive.stiffness == 0)
    values_.warning(
        element, fmt::format("actuator '{}' holds no position: for a robot state a stiffness, or drive: force", name),
        "actuators hold no position: for a robot state a stiffness, or drive: force");
}

void ModelReader::read_couplings() {
  root_.for_each("equality", [&](const Element& section) {
    section.for_each("joint", [&](const Element& element) { read_coupling(element); });
  });
}

/// q₁ − q₁⁰ = a₀ + a₁ (q₂ − q₂⁰), with q⁰ where the file draws the joints; without a second joint the first is held.
void ModelReader::read_coupling(const Element& element) {
  if (!values_.boolean(element, "active", true)) return;
  const std::string joint = values_.required(element, "joint1"), leader = values_.text(element, "joint2");
  std::vector<double> a = values_.numbers(element, "polycoef", 1, 5).value_or(std::vector<double>{0, 1});
  a.resize(5, 0.0);
  if (!leader.empty() && (a[2] != 0 || a[3] != 0 || a[4] != 0))
    return values_.error(element, fmt::format("<equality>: joint '{}' follows '{}' by a curve; only straight lines are "
                                              "read (polycoef \"a0 a1 0 0 0\")",
                                              joint, leader));
  const auto reference = [&](const std::string& name) {
    for (const auto& [of, value] : references_.joints)
      if (of == name) return value;
    return 0.0;
  };
  model_.couplings.push_back({.follower = joint,
                              .leader = leader,
                              .ratio = leader.empty() ? 0 : a[1],
                              .offset = reference(joint) + a[0] - (leader.empty() ? 0 : a[1] * reference(leader)),
                              .where = element.where});
}

/// Where joints have a reference value that is not zero, the configuration that the file draws is "qpos0". Keyframes of
/// attached models know nothing of other joints, which are at their references then.
void ModelReader::read_keyframes() {
  for (KeyframeSpec& keyframe : model_.keyframes)
    for (const auto& reference : references_.joints) {
      const auto is_it = [&](const auto& value) { return value.first == reference.first; };
      if (std::none_of(keyframe.joints.begin(), keyframe.joints.end(), is_it)) keyframe.joints.push_back(reference);
    }
  references_.name = "qpos0";
  references_.where = root_.where;
  if (!references_.joints.empty()) model_.keyframes.push_back(references_);
  root_.for_each("keyframe", [&](const Element& section) {
    section.for_each("key", [&](const Element& key) { read_keyframe(key); });
  });
}

/// qpos goes through the joints in the order of the bodies; a free one has its position first.
void ModelReader::read_keyframe(const Element& element) {
  const auto qpos = values_.numbers(element, "qpos", 0, 1'000'000);
  if (!qpos) return;
  KeyframeSpec keyframe{.name = values_.text(element, "name", fmt::format("key_{}", model_.keyframes.size())),
                        .joints = {},
                        .free = {},
                        .where = element.where};
  std::size_t needed = 0;
  for (const JointSpec& joint : model_.joints)
    needed += joint.kind == JointKind::kFree ? 7 : joint.kind == JointKind::kBall ? 4 : joint.axes.size();
  if (qpos->size() != needed)
    return values_.error(element, fmt::format("<key>: qpos has {} numbers; {} expected", qpos->size(), needed));
  const double* at = qpos->data();
  for (const JointSpec& joint : model_.joints) {
    if (joint.kind == JointKind::kFree) {
      const Eigen::Vector4d quat(at + 3);
      if (quat.norm() == 0) return values_.error(element, "<key>: a quaternion of qpos is zero");
      keyframe.free.push_back(
          {joint.child, make_transform(rotation_from_quat_wxyz(quat.normalized()), Eigen::Vector3d(at))});
      at += 7;
    } else if (joint.kind == JointKind::kBall) {
      for (const char* part : {"qw", "qx", "qy", "qz"}) keyframe.joints.emplace_back(joint.name + "/" + part, *at++);
    } else {
      for (const JointAxisSpec& axis : joint.axes) keyframe.joints.emplace_back(axis.coordinate, *at++);
    }
  }
  model_.keyframes.push_back(std::move(keyframe));
}

}  // namespace deft::multibody::mjcf
