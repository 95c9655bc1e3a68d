#include "deft/exporters/mjcf_export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tinyxml2.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "deft/collision/collision_world.hpp"
#include "deft/core/index.hpp"
#include "deft/exporters/link_tree.hpp"
#include "deft/exporters/mjcf_shapes.hpp"
#include "deft/exporters/xml_text.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/plant/mujoco_settings.hpp"
#include "deft/plant/plant_parts.hpp"

namespace deft::exporters {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::JointKind;
using multibody::TreeJoint;
using tinyxml2::XMLElement;

/// MuJoCo has no ranges without an inside, and takes none that is larger than 1e10 for finite.
void set_range(XMLElement& element, const char* flag, const char* name, double lower, double upper) {
  constexpr double kLargest = 1e10, kThinnest = 1e-9;
  element.SetAttribute(flag, "true");
  lower = std::max(lower, -kLargest), upper = std::min(upper, kLargest);
  const double widen = upper - lower < kThinnest ? 0.5 * kThinnest : 0;
  set(element, name, std::array{lower - widen, upper + widen});
}

class MjcfWriter {
 public:
  MjcfWriter(const scene::Scene& scene, std::string folder)
      : links_(scene), scene_(scene), folder_(std::move(folder)), shapes_(folder_, out_.notes) {
    bodies_.assign(links_.tree().bodies.size(), nullptr);
  }

  Exported write() {
    root_ = document_.NewElement("mujoco");
    document_.InsertEndChild(root_);
    root_->SetAttribute("model", scene_.spec().name.c_str());
    write_settings();
    XMLElement* const assets = root_->InsertNewChildElement("asset");
    bodies_[0] = root_->InsertNewChildElement("worldbody");
    for (std::size_t g = 0; g < links_.tree().groups.size(); ++g) write_group(static_cast<int>(g));
    write_geometries();
    shapes_.write_assets(*assets);
    if (assets->NoChildren()) root_->DeleteChild(assets);
    write_contacts();
    write_couplings();
    write_actuators();
    write_start();
    note_what_is_left();
    const std::string file = (std::filesystem::path(folder_) / (scene_.spec().name + ".xml")).string();
    tinyxml2::XMLPrinter printer;
    document_.Print(&printer);
    io::publish_text(file, printer.CStr());
    out_.files = {file};
    out_.files.insert(out_.files.end(), shapes_.files().begin(), shapes_.files().end());
    out_.notes.insert(out_.notes.end(), links_.notes().begin(), links_.notes().end());
    return std::move(out_);
  }

 private:
  void write_settings();
  XMLElement* write_group(int group);
  void write_body(int body, XMLElement& parent, const RigidTransform& X_PB);
  void write_joint(int joint, XMLElement& body);
  void write_axes(int joint, XMLElement& body);
  void write_geometries();
  void write_contacts();
  void write_pairs(int body_a, int body_b);
  bool is_natural(int body_a, int body_b) const;
  void write_pair(int a, int b);
  void write_couplings();
  void write_actuators();
  void write_start();
  void add_start(std::pair<int, int> place, std::vector<double>& qpos, std::vector<double>& qvel) const;
  void note_what_is_left();

  XMLElement& contacts() {
    if (!contacts_) contacts_ = root_->InsertNewChildElement("contact");
    return *contacts_;
  }
  /// Whether it never moves.
  bool stays(int body) const {
    const int joint = links_.tree().groups[to_size(links_.group(body))].joint;
    return joint < 0 || links_.is_frozen(links_.tree().joints[to_size(joint)]);
  }
  const std::string& body_name(int body) const { return links_.tree().bodies[to_size(body)].name; }
  /// Of axis `i` of a joint.
  std::string joint_name(int joint, int i) const {
    const TreeJoint& j = links_.tree().joints[to_size(joint)];
    if (j.kind != JointKind::kAxes) return j.name;
    return links_.tree().models[to_size(j.model)].name + "/" + j.axes[to_size(i)].coordinate;
  }

  LinkTree links_;
  const scene::Scene& scene_;
  std::string folder_;
  Exported out_;
  MjcfShapes shapes_;
  tinyxml2::XMLDocument document_;
  XMLElement *root_ = nullptr, *contacts_ = nullptr;
  std::vector<XMLElement*> bodies_;                               // per body of the scene; the world's is worldbody
  std::map<const XMLElement*, std::pair<int, int>> coordinates_;  // joint elements: joint of the tree, axis
  std::vector<double> mu_;                                        // per geometry: the coefficient that it states
};

void MjcfWriter::write_settings() {
  XMLElement* const compiler = root_->InsertNewChildElement("compiler");
  compiler->SetAttribute("angle", "radian");
  compiler->SetAttribute("autolimits", true);
  compiler->SetAttribute("inertiafromgeom", false);
  compiler->SetAttribute("meshdir", "assets");
  const double step = scene_.settings().track.mujoco_step;
  XMLElement* const option = root_->InsertNewChildElement("option");
  set(*option, "timestep", step);
  set(*option, "gravity", scene_.spec().gravity_W);
  option->SetAttribute("integrator", "implicitfast");
  option->SetAttribute("cone", "elliptic");
  set(*option, "impratio", plant::kFrictionRatio);
  set(*option, "tolerance", plant::kSolverTolerance);
  const plant::MujocoContact contact = plant::mujoco_contact(step);
  const std::array reference{contact.reference_s, 1.0}, friction_reference{contact.friction_reference_s, 1.0};
  XMLElement* const defaults = root_->InsertNewChildElement("default");
  XMLElement* const joint = defaults->InsertNewChildElement("joint");
  set(*joint, "solreflimit", std::array{plant::kLimitReference * step, 1.0});
  set(*joint, "solimplimit", plant::kLimitImpedance);
  XMLElement* const geom = defaults->InsertNewChildElement("geom");
  set(*geom, "solref", reference);
  set(*geom, "solimp", contact.impedance);
  XMLElement* const pair = defaults->InsertNewChildElement("pair");
  set(*pair, "solref", reference);
  set(*pair, "solreffriction", friction_reference);
  set(*pair, "solimp", contact.impedance);
  XMLElement* const equality = defaults->InsertNewChildElement("equality");
  set(*equality, "solref", std::array{plant::kLimitReference * step, 1.0});
  set(*equality, "solimp", plant::kLimitImpedance);
}

XMLElement* MjcfWriter::write_group(int group) {
  const multibody::KinematicTree& tree = links_.tree();
  const int main = links_.main_body(group);
  const RigidTransform X_BG = tree.X_GB[to_size(main)].inverse();
  if (bodies_[to_size(main)] == nullptr) {
    const int j = tree.groups[to_size(group)].joint;
    const TreeJoint& joint = tree.joints[to_size(j)];
    const int parent = links_.main_body(joint.parent_group);
    XMLElement* holder = write_group(joint.parent_group);
    RigidTransform X_PB = tree.X_GB[to_size(parent)].inverse() * joint.X_GJ * X_BG.inverse();
    const bool is_free = joint.kind == JointKind::kFree, frozen = links_.is_frozen(joint);
    if (is_free || frozen) {
      holder = bodies_[0];
      X_PB = links_.start().X_WB()[main];
    }
    write_body(main, *holder, X_PB);
    if (frozen)
      out_.notes.push_back(fmt::format("body '{}' does not move: it stands where the scene starts", body_name(main)));
    else
      write_joint(j, *bodies_[to_size(main)]);
  }
  for (const int body : tree.groups[to_size(group)].bodies)
    if (bodies_[to_size(body)] == nullptr) write_body(body, *bodies_[to_size(main)], X_BG * tree.X_GB[to_size(body)]);
  return bodies_[to_size(main)];
}

void MjcfWriter::write_body(int body, XMLElement& parent, const RigidTransform& X_PB) {
  XMLElement* const element = bodies_[to_size(body)] = parent.InsertNewChildElement("body");
  element->SetAttribute("name", body_name(body).c_str());
  set_pose(*element, X_PB);
  const multibody::BodyInfo& info = links_.tree().bodies[to_size(body)];
  const scene::Object* const object = scene_.object_of(body);
  const bool is_robot =
      links_.robot(info.model) != nullptr && (object == nullptr || (object->is_base && object->frozen));
  if (is_robot && !scene_.settings().step.robot_gravity && links_.group(body) != 0)
    element->SetAttribute("gravcomp", 1);
  const multibody::InertialSpec& inertial = links_.inertial(body);
  if (inertial.mass <= 0 || stays(body)) return;
  XMLElement* const stated = element->InsertNewChildElement("inertial");
  set(*stated, "mass", inertial.mass);
  set(*stated, "pos", inertial.p_LCom);
  const Matrix3d& I = inertial.I_Com_L;
  set(*stated, "fullinertia", std::array{I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)});
}

void MjcfWriter::write_joint(int j, XMLElement& body) {
  const TreeJoint& joint = links_.tree().joints[to_size(j)];
  if (joint.kind == JointKind::kAxes) return write_axes(j, body);
  XMLElement* const element = body.InsertNewChildElement(joint.kind == JointKind::kFree ? "freejoint" : "joint");
  coordinates_[element] = {j, 0};
  element->SetAttribute("name", joint_name(j, 0).c_str());
  if (joint.kind == JointKind::kFree) return;
  element->SetAttribute("type", "ball");
  const RigidTransform X_BG = links_.tree().X_GB[to_size(links_.main_body(joint.child_group))].inverse();
  set(*element, "pos", Vector3d(X_BG.translation()));
  if (joint.armature > 0) set(*element, "armature", joint.armature);
}

void MjcfWriter::write_axes(int j, XMLElement& body) {
  const TreeJoint& joint = links_.tree().joints[to_size(j)];
  const RigidTransform X_BG = links_.tree().X_GB[to_size(links_.main_body(joint.child_group))].inverse();
  const scene::Robot* const robot = links_.robot(joint.model);
  for (std::size_t i = 0; i < joint.axes.size(); ++i) {
    const multibody::JointAxisSpec& axis = joint.axes[i];
    const int v = links_.first_v(j) + static_cast<int>(i);
    XMLElement* const element = body.InsertNewChildElement("joint");
    coordinates_[element] = {j, static_cast<int>(i)};
    element->SetAttribute("name", joint_name(j, static_cast<int>(i)).c_str());
    element->SetAttribute("type", axis.rotational ? "hinge" : "slide");
    set(*element, "pos", Vector3d(X_BG.translation()));
    set(*element, "axis", Vector3d(X_BG.linear() * axis.axis_J.normalized()));
    const bool limited = std::isfinite(axis.lower) || std::isfinite(axis.upper);
    if (limited && scene_.settings().step.joint_limits) set_range(*element, "limited", "range", axis.lower, axis.upper);
    if (axis.armature > 0) set(*element, "armature", axis.armature);
    const int command = robot ? robot->command_of(v) : -1;
    const bool by_force = command >= 0 && robot->drive == scene::Drive::kForce;
    const double damping = by_force ? links_.damping(robot->first_u + command) : command < 0 ? axis.damping : 0;
    if (damping > 0) set(*element, "damping", damping);
    for (const scene::JointSpring& spring : scene_.springs()) {
      if (spring.couples || spring.v != v) continue;
      set(*element, "stiffness", spring.stiffness);
      set(*element, "springref", spring.offset);
    }
  }
}

void MjcfWriter::write_geometries() {
  const auto geometries = links_.geometries();
  for (std::size_t k = 0; k < geometries.size(); ++k) mu_.push_back(links_.mu(static_cast<int>(k)));
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const multibody::LinkSpec* const link = links_.link(static_cast<int>(b));
    if (link == nullptr) continue;
    const bool is_drawn = !link->visuals.empty();
    for (const int k : links_.geometries_of(static_cast<int>(b)))
      shapes_.add_colliding(*bodies_[b], geometries[to_size(k)], stays(static_cast<int>(b)), mu_[to_size(k)], is_drawn);
    for (const multibody::GeometrySpec& visual : link->visuals)
      shapes_.add_drawn(*bodies_[b], visual, stays(static_cast<int>(b)));
  }
}

/// Whether what MuJoCo does by itself is what the scene does, for all geometries of two bodies.
bool MjcfWriter::is_natural(int body_a, int body_b) const {
  for (const int a : links_.geometries_of(body_a)) {
    for (const int b : links_.geometries_of(body_b)) {
      if (!links_.may_touch(a, b)) return false;
      const scene::PairFriction friction = scene_.friction(a, b);
      if (friction.frictionless || friction.patch || friction.rolling > 0 || friction.mu < plant::kFrictionless ||
          friction.mu != std::max(mu_[to_size(a)], mu_[to_size(b)]))
        return false;
    }
  }
  return true;
}

void MjcfWriter::write_contacts() {
  for (int a = 1; a < static_cast<int>(bodies_.size()); ++a) {
    for (int b = a + 1; b < static_cast<int>(bodies_.size()); ++b) {
      if (links_.geometries_of(a).empty() || links_.geometries_of(b).empty()) continue;
      const bool anyway = links_.may_collide_by_default(a, b);
      if (anyway && is_natural(a, b)) continue;
      if (anyway) {
        XMLElement* const exclude = contacts().InsertNewChildElement("exclude");
        exclude->SetAttribute("body1", body_name(a).c_str());
        exclude->SetAttribute("body2", body_name(b).c_str());
      }
      write_pairs(a, b);
    }
  }
}

void MjcfWriter::write_pairs(int body_a, int body_b) {
  if (links_.group(body_a) == 0 && links_.group(body_b) == 0) return;
  for (const int a : links_.geometries_of(body_a))
    for (const int b : links_.geometries_of(body_b))
      if (links_.may_touch(a, b)) write_pair(a, b);
}

void MjcfWriter::write_pair(int a, int b) {
  const auto geometries = links_.geometries();
  const scene::PairFriction friction = scene_.friction(a, b);
  const bool slips = friction.frictionless || friction.mu < plant::kFrictionless;
  XMLElement* const pair = contacts().InsertNewChildElement("pair");
  pair->SetAttribute("geom1", geometries[to_size(a)].name.c_str());
  pair->SetAttribute("geom2", geometries[to_size(b)].name.c_str());
  pair->SetAttribute("condim", slips ? 1 : friction.patch ? 4 : 3);
  if (slips) return;
  const auto [e_t, e_o, e_r] = friction.ellipsoid;
  if (friction.patch && e_t != e_o)
    out_.notes.push_back(fmt::format("friction of '{}' and '{}' differs along its axes; here it is the mean of both",
                                     geometries[to_size(a)].name, geometries[to_size(b)].name));
  const double along = friction.patch ? friction.mu * std::sqrt(e_t * e_o) : friction.mu;
  set(*pair, "friction", std::array{along, along, friction.patch ? friction.mu * e_r : 0.0, 0.0, 0.0});
}

void MjcfWriter::write_couplings() {
  std::vector<std::string> names(to_size(scene_.nv()));
  for (const auto& [element, place] : coordinates_)
    names[to_size(links_.first_v(place.first) + place.second)] = joint_name(place.first, place.second);
  XMLElement* equality = nullptr;
  for (const scene::JointSpring& coupling : scene_.springs()) {
    if (!coupling.couples) continue;
    if (!equality) equality = root_->InsertNewChildElement("equality");
    XMLElement* const joint = equality->InsertNewChildElement("joint");
    joint->SetAttribute("joint1", names[to_size(coupling.v)].c_str());
    if (coupling.leader_v >= 0) joint->SetAttribute("joint2", names[to_size(coupling.leader_v)].c_str());
    set(*joint, "polycoef", std::array{coupling.offset, coupling.ratio, 0.0, 0.0, 0.0});
  }
}

void MjcfWriter::write_actuators() {
  if (scene_.nu() == 0) return;
  std::vector<std::string> joint_of(to_size(scene_.nu()));
  for (const auto& [element, place] : coordinates_) {
    const scene::Robot* const robot = links_.robot(links_.tree().joints[to_size(place.first)].model);
    const int command = robot ? robot->command_of(links_.first_v(place.first) + place.second) : -1;
    if (command >= 0) joint_of[to_size(robot->first_u + command)] = joint_name(place.first, place.second);
  }
  XMLElement* const actuators = root_->InsertNewChildElement("actuator");
  for (const scene::Robot& robot : scene_.robots()) {
    for (int i = 0; i < robot.nu; ++i) {
      const bool by_force = robot.drive == scene::Drive::kForce;
      XMLElement* const element = actuators->InsertNewChildElement(by_force ? "motor" : "position");
      element->SetAttribute("name", joint_of[to_size(robot.first_u + i)].c_str());
      element->SetAttribute("joint", joint_of[to_size(robot.first_u + i)].c_str());
      const double effort = robot.effort_limit(i);
      if (scene_.settings().step.effort_limits && std::isfinite(effort))
        set_range(*element, "forcelimited", "forcerange", -effort, effort);
      if (by_force) continue;
      set(*element, "kp", robot.stiffness(i));
      set(*element, "kv", links_.damping(robot.first_u + i));
      if (robot.stiffness(i) == 0)
        out_.notes.push_back(fmt::format("'{}' has no stiffness in the scene: its actuator pushes nothing; set kp",
                                         element->Attribute("name")));
    }
  }
}

/// Joints in the order in which MuJoCo counts them: depth first.
void in_order(const XMLElement& body, std::vector<const XMLElement*>& joints) {
  for (const XMLElement* child = body.FirstChildElement(); child; child = child->NextSiblingElement())
    if (std::string_view(child->Name()) == "joint" || std::string_view(child->Name()) == "freejoint")
      joints.push_back(child);
  for (const XMLElement* child = body.FirstChildElement("body"); child; child = child->NextSiblingElement("body"))
    in_order(*child, joints);
}

void MjcfWriter::write_start() {
  std::vector<const XMLElement*> joints;
  in_order(*bodies_[0], joints);
  if (joints.empty()) return;
  std::vector<double> qpos, qvel;
  for (const XMLElement* element : joints) add_start(coordinates_.at(element), qpos, qvel);
  XMLElement* const key = root_->InsertNewChildElement("keyframe")->InsertNewChildElement("key");
  key->SetAttribute("name", "start");
  set(*key, "qpos", qpos);
  if (!Eigen::Map<const VectorXd>(qvel.data(), static_cast<Eigen::Index>(qvel.size())).isZero(0))
    set(*key, "qvel", qvel);
  if (scene_.nu() == 0) return;
  const VectorXd q = scene_.initial_configuration();
  VectorXd u(scene_.nu());
  for (const scene::Robot& robot : scene_.robots())
    for (int i = 0; i < robot.nu; ++i) u(robot.first_u + i) = robot.drive == scene::Drive::kForce ? 0 : q(robot.q(i));
  set(*key, "ctrl", u);
}

/// MuJoCo has positions before quaternions, linear before angular velocities, and the angular ones in the body's frame.
void MjcfWriter::add_start(std::pair<int, int> place, std::vector<double>& qpos, std::vector<double>& qvel) const {
  const auto [j, axis] = place;
  const TreeJoint& joint = links_.tree().joints[to_size(j)];
  const int main = links_.main_body(joint.child_group);
  const VectorXd q = scene_.initial_configuration(), v = scene_.initial_velocity();
  const auto add = [](const auto& values, std::vector<double>& to) {
    to.insert(to.end(), values.data(), values.data() + values.size());
  };
  if (joint.kind == JointKind::kAxes) {
    qpos.push_back(q(links_.first_q(j) + axis));
    qvel.push_back(v(links_.first_v(j) + axis));
    return;
  }
  const RigidTransform X_BG = links_.tree().X_GB[to_size(main)].inverse(), &X_WB = links_.start().X_WB()[to_size(main)];
  const Vector3d omega = v.segment<3>(links_.first_v(j));
  if (joint.kind == JointKind::kBall) {
    const Matrix3d R_BG = X_BG.linear(), R = rotation_from_quat_wxyz(Eigen::Vector4d(q.segment<4>(links_.first_q(j))));
    add(quat_wxyz_from_rotation(R_BG * R * R_BG.transpose()), qpos);
    add(Vector3d(R_BG * R.transpose() * omega), qvel);
    return;
  }
  add(Vector3d(X_WB.translation()), qpos);
  add(quat_wxyz_from_rotation(X_WB.linear()), qpos);
  add(Vector3d(v.segment<3>(links_.first_v(j) + 3) - omega.cross(X_WB.linear() * X_BG.translation())), qvel);
  add(Vector3d(X_WB.linear().transpose() * omega), qvel);
}

void MjcfWriter::note_what_is_left() {
  if (!scene_.wrenches().empty())
    out_.notes.push_back("external forces of the scene are not exported: apply them as xfrc_applied");
  if (!scene_.spec().limit_surfaces.empty())
    out_.notes.push_back("limit surfaces have no counterpart: supports are contacts with friction");
  for (const scene::Object& object : scene_.objects())
    if (object.is_base && !object.frozen && !scene_.settings().step.robot_gravity)
      out_.notes.push_back(
          fmt::format("the joints of '{}' carry no weight in the scene; MuJoCo knows that of robots that "
                      "stand still alone: here they sag",
                      links_.tree().models[to_size(object.model)].name));
  const VectorXd gamma = plant::damping_of_objects(scene_, {});
  if (gamma.size() > 0 && gamma.maxCoeff() > 0)
    out_.notes.push_back("step.object_damping has no counterpart for free bodies: objects are undamped");
}

}  // namespace

Exported export_mjcf(const scene::Scene& scene, const std::string& folder) { return MjcfWriter(scene, folder).write(); }

}  // namespace deft::exporters
