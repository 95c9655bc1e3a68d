#include "deft/exporters/urdf_export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tinyxml2.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "deft/core/index.hpp"
#include "deft/exporters/assets.hpp"
#include "deft/exporters/directive_text.hpp"
#include "deft/exporters/model_parts.hpp"
#include "deft/exporters/xml_text.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/plant/plant_parts.hpp"

namespace deft::exporters {
namespace {

namespace fs = std::filesystem;
using Eigen::Vector3d;
using tinyxml2::XMLElement;

constexpr double kNoLimit = 1e16;  // of what URDF wants a number for

void set_origin(XMLElement& parent, const RigidTransform& X) {
  if (X.matrix() == RigidTransform::Identity().matrix()) return;
  XMLElement& origin = *parent.InsertNewChildElement("origin");
  set(origin, "xyz", Vector3d(X.translation()));
  set(origin, "rpy", rpy_from_rotation(X.linear()));
}

/// What a shape is in URDF, at `X` in its link; false for what only a mesh can be.
struct UrdfShape {
  XMLElement& geometry;
  RigidTransform& X;

  bool sized(const char* tag, std::initializer_list<std::pair<const char*, double>> sizes) {
    XMLElement& element = *geometry.InsertNewChildElement(tag);
    for (const auto& [name, value] : sizes) set(element, name, value);
    return true;
  }
  bool operator()(const multibody::SphereSpec& s) {
    return sized("sphere", {{"radius", std::max(s.radius, plant::kPointRadius_m)}});
  }
  bool operator()(const multibody::BoxSpec& s) {
    set(*geometry.InsertNewChildElement("box"), "size", s.size);
    return true;
  }
  bool operator()(const multibody::CapsuleSpec& s) {
    if (s.length <= 0) return (*this)(multibody::SphereSpec{s.radius});
    return sized("drake:capsule", {{"radius", s.radius}, {"length", s.length}});
  }
  bool operator()(const multibody::CylinderSpec& s) {
    return sized("cylinder", {{"radius", s.radius}, {"length", s.length}});
  }
  bool operator()(const multibody::EllipsoidSpec& s) {
    return sized("drake:ellipsoid", {{"a", s.radii.x()}, {"b", s.radii.y()}, {"c", s.radii.z()}});
  }
  bool operator()(const multibody::HalfSpaceSpec& s) {
    X = X * ground_pose(s);
    return (*this)(ground_box());
  }
  bool operator()(const multibody::PrismSpec&) { return false; }
  bool operator()(const multibody::MeshSpec&) { return false; }
};

bool on_world(const PartJoint& joint) { return joint.parent == "world"; }

class UrdfWriter {
 public:
  UrdfWriter(const scene::Scene& scene, std::string folder)
      : links_(scene), name_(scene.spec().name), folder_(folder), assets_(std::move(folder)) {}

  Exported write() {
    std::vector<ModelParts> parts;
    for (std::size_t m = 0; m < links_.tree().models.size(); ++m) {
      parts.push_back(parts_of(links_, static_cast<int>(m), out_.notes));
      check(static_cast<int>(m), parts.back());
    }
    const std::string directives = directive_text(links_, name_, ".urdf", out_.notes);
    publish(name_ + ".deft.yaml", overlay_text(links_, directives, out_.notes));
    for (std::size_t m = 0; m < parts.size(); ++m) write_model(static_cast<int>(m), parts[m]);
    publish("package.xml", package_text(name_));
    out_.files.insert(out_.files.end(), assets_.files().begin(), assets_.files().end());
    out_.notes.insert(out_.notes.end(), links_.notes().begin(), links_.notes().end());
    note_losses(links_, false, out_.notes);
    if (half_spaces_ > 0)
      out_.notes.push_back(fmt::format("URDF has no half-spaces: {} are boxes of {} m", half_spaces_, kGroundWidth_m));
    out_.notes.push_back("the start, welds between models, gains and friction of pairs are in " + name_ + ".deft.yaml");
    return std::move(out_);
  }

 private:
  void publish(const std::string& file, const std::string& text) {
    out_.files.push_back((fs::path(folder_) / file).string());
    io::publish_text(out_.files.back(), text);
  }
  void write_model(int model, const ModelParts& parts);
  void check(int model, const ModelParts& parts) const;
  void write_link(const PartLink& link, XMLElement& robot);
  void write_shape(const multibody::GeometrySpec& spec, XMLElement& element, const std::string& file);
  void write_visual(const multibody::GeometrySpec& visual, const DrawnPart& part, const std::string& name,
                    XMLElement& link);
  void write_joint(const PartJoint& joint, XMLElement& robot);
  void write_axis(const PartJoint& joint, XMLElement& element) const;

  LinkTree links_;
  std::string name_, folder_;
  Assets assets_;
  Exported out_;
  std::set<std::string> used_;  // names of the model
  int half_spaces_ = 0;
};

void UrdfWriter::check(int model, const ModelParts& parts) const {
  const multibody::ModelInfo& info = links_.tree().models[to_size(model)];
  const auto refuse = [&](const std::string& what) {
    throw InputError({links_.scene().spec().file, 0, 0},
                     fmt::format("model '{}' has {}; URDF cannot hold it: export to mjcf or sdf", info.name, what));
  };
  for (const PartJoint& joint : parts.joints)
    if (joint.kind == PartKind::kBall) refuse(fmt::format("the ball joint '{}'", joint.name));
  int roots = std::any_of(parts.joints.begin(), parts.joints.end(), on_world);
  for (const PartLink& link : parts.links) roots += link.is_root;
  if (roots > 1) refuse(fmt::format("{} parts that no joint connects", roots));
}

void UrdfWriter::write_model(int model, const ModelParts& parts) {
  tinyxml2::XMLDocument document;
  XMLElement* const robot = document.NewElement("robot");
  document.InsertEndChild(robot);
  const std::string& name = links_.tree().models[to_size(model)].name;
  robot->SetAttribute("name", name.c_str());
  robot->SetAttribute("xmlns:drake", "drake.mit.edu");
  if (std::any_of(parts.joints.begin(), parts.joints.end(), on_world))
    robot->InsertNewChildElement("link")->SetAttribute("name", "world");
  used_ = {"world"};
  for (const PartLink& link : parts.links) used_.insert(link.name);
  for (const PartJoint& joint : parts.joints) used_.insert(joint.name);
  for (const PartLink& link : parts.links) write_link(link, *robot);
  for (const PartJoint& joint : parts.joints) write_joint(joint, *robot);
  tinyxml2::XMLPrinter printer;
  document.Print(&printer);
  publish(name + ".urdf", printer.CStr());
}

void UrdfWriter::write_link(const PartLink& part, XMLElement& robot) {
  XMLElement& link = *robot.InsertNewChildElement("link");
  link.SetAttribute("name", part.name.c_str());
  if (part.body < 0) return;
  const multibody::InertialSpec& inertial = links_.inertial(part.body);
  if (inertial.mass > 0) {
    XMLElement& element = *link.InsertNewChildElement("inertial");
    set_origin(element, make_transform(Eigen::Matrix3d::Identity(), inertial.p_LCom));
    set(*element.InsertNewChildElement("mass"), "value", inertial.mass);
    XMLElement& moments = *element.InsertNewChildElement("inertia");
    const Eigen::Matrix3d& I = inertial.I_Com_L;
    const std::pair<const char*, double> values[] = {{"ixx", I(0, 0)}, {"iyy", I(1, 1)}, {"izz", I(2, 2)},
                                                     {"ixy", I(0, 1)}, {"ixz", I(0, 2)}, {"iyz", I(1, 2)}};
    for (const auto& [name, value] : values) set(moments, name, value);
  }
  const auto geometries = links_.geometries();
  for (const int k : links_.geometries_of(part.body)) {
    const LinkGeometry& geometry = geometries[to_size(k)];
    XMLElement& collision = *link.InsertNewChildElement("collision");
    collision.SetAttribute("name", geometry.own.c_str());
    write_shape(*geometry.spec, collision, "");
    half_spaces_ += std::holds_alternative<multibody::HalfSpaceSpec>(geometry.spec->shape);
    XMLElement& properties = *collision.InsertNewChildElement("drake:proximity_properties");
    for (const char* name : {"drake:mu_static", "drake:mu_dynamic"})
      set(*properties.InsertNewChildElement(name), "value", links_.mu(k));
  }
  std::set<std::string> used;
  for (const multibody::GeometrySpec& visual : links_.link(part.body)->visuals)
    for (const DrawnPart& drawn : drawn_parts(visual, out_.notes))
      write_visual(visual, drawn, unused(drawn.name, used), link);
}

/// @param file  in assets; empty: the shape, or its hull.
void UrdfWriter::write_shape(const multibody::GeometrySpec& spec, XMLElement& element, const std::string& file) {
  RigidTransform X = spec.X_LG;
  XMLElement* const geometry = element.GetDocument()->NewElement("geometry");
  if (!file.empty() || !std::visit(UrdfShape{*geometry, X}, spec.shape)) {
    XMLElement& mesh = *geometry->InsertNewChildElement("mesh");
    const std::string& name = file.empty() ? assets_.add(hull_of(spec)) : file;
    mesh.SetAttribute("filename", fmt::format("package://{}/assets/{}", name_, name).c_str());
    if (file.empty()) mesh.InsertNewChildElement("drake:declare_convex");
  }
  set_origin(element, X);
  element.InsertEndChild(geometry);
}

void UrdfWriter::write_visual(const multibody::GeometrySpec& spec, const DrawnPart& part, const std::string& name,
                              XMLElement& link) {
  XMLElement& visual = *link.InsertNewChildElement("visual");
  visual.SetAttribute("name", name.c_str());
  write_shape(spec, visual, part.mesh ? assets_.add(*part.mesh) : "");
  if (!part.rgba) return;
  XMLElement& material = *visual.InsertNewChildElement("material");
  material.SetAttribute("name", fmt::format("{}_{}", link.Attribute("name"), name).c_str());
  set(*material.InsertNewChildElement("color"), "rgba", *part.rgba);
}

void UrdfWriter::write_joint(const PartJoint& joint, XMLElement& robot) {
  const bool is_fixed = joint.kind == PartKind::kFixed;
  const bool is_between = !is_fixed && joint.X_CJ.matrix() != RigidTransform::Identity().matrix();
  std::string child = joint.child;
  if (is_between) {  // a joint's frame is its child's
    child = unused(joint.name + "_frame", used_);
    robot.InsertNewChildElement("link")->SetAttribute("name", child.c_str());
    write_joint({.name = unused(joint.child + "_fixed", used_),
                 .parent = child,
                 .child = joint.child,
                 .X_PJ = joint.X_CJ.inverse()},
                robot);
  }
  XMLElement& element = *robot.InsertNewChildElement("joint");
  element.SetAttribute("name", joint.name.c_str());
  const bool is_limited = joint.axis && (std::isfinite(joint.axis->lower) || std::isfinite(joint.axis->upper));
  element.SetAttribute("type", is_fixed                             ? "fixed"
                               : joint.kind == PartKind::kPrismatic ? "prismatic"
                               : is_limited                         ? "revolute"
                                                                    : "continuous");
  set_origin(element, joint.X_PJ);
  element.InsertNewChildElement("parent")->SetAttribute("link", joint.parent.c_str());
  element.InsertNewChildElement("child")->SetAttribute("link", child.c_str());
  if (joint.axis) write_axis(joint, element);
}

void UrdfWriter::write_axis(const PartJoint& joint, XMLElement& element) const {
  const multibody::JointAxisSpec& axis = *joint.axis;
  const AxisDrive drive = drive_of(links_, joint.v);
  set(*element.InsertNewChildElement("axis"), "xyz", axis.axis_J.normalized().eval());
  XMLElement& limit = *element.InsertNewChildElement("limit");
  const auto finite = [](double value) { return std::clamp(value, -kNoLimit, kNoLimit); };
  if (joint.kind == PartKind::kPrismatic || std::isfinite(axis.lower) || std::isfinite(axis.upper)) {
    set(limit, "lower", finite(axis.lower));
    set(limit, "upper", finite(axis.upper));
  }
  set(limit, "effort", finite(drive.effort));
  set(limit, "velocity", finite(axis.velocity_limit));
  if (axis.damping > 0) set(*element.InsertNewChildElement("dynamics"), "damping", axis.damping);
  if (drive.leader.empty()) return;
  XMLElement& mimic = *element.InsertNewChildElement("mimic");
  mimic.SetAttribute("joint", drive.leader.c_str());
  set(mimic, "multiplier", drive.ratio);
  set(mimic, "offset", drive.offset);
}

}  // namespace

Exported export_urdf(const scene::Scene& scene, const std::string& folder) { return UrdfWriter(scene, folder).write(); }

}  // namespace deft::exporters
