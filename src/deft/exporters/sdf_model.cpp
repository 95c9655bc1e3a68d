#include "deft/exporters/sdf_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tinyxml2.h>

#include <cmath>
#include <variant>

#include "deft/core/index.hpp"
#include "deft/plant/plant_parts.hpp"

namespace deft::exporters {
namespace {

using Eigen::Vector3d;
using tinyxml2::XMLElement;

// Contacts for Drake: patches between flat shapes, whose friction holds what is gripped, points else.
constexpr double kModulus_Pa = 1e9, kStiffness = 2e5;            // [N/m], of a point of each of two bodies
constexpr double kPatchDissipation = 5, kPointDissipation = 50;  // [s/m]; more of the first would resist rolling
constexpr double kEdgesPerRadius = 16;                           // of a cylinder's mesh
constexpr double kLeastMass_kg = 1e-9, kLeastMoment = 1e-12;     // SDFormat has no links without a mass

XMLElement& add(XMLElement& parent, const char* tag, const std::string& text) {
  XMLElement* const element = parent.InsertNewChildElement(tag);
  element->SetText(text.c_str());
  return *element;
}
XMLElement& add(XMLElement& parent, const char* tag, double value) {
  return add(parent, tag, fmt::format("{}", value));
}
XMLElement& add(XMLElement& parent, const char* tag, const Vector3d& v) {
  return add(parent, tag, fmt::format("{} {} {}", v.x(), v.y(), v.z()));
}

/// x y z and a quaternion x y z w; nothing where it is the identity.
void add_pose(XMLElement& parent, const RigidTransform& X, const std::string& relative_to = "") {
  const bool is_identity = X.matrix() == RigidTransform::Identity().matrix();
  if (is_identity && relative_to.empty()) return;
  const Vector3d p = X.translation();
  const Eigen::Vector4d q = quat_wxyz_from_rotation(X.linear());
  XMLElement& pose =
      add(parent, "pose", fmt::format("{} {} {} {} {} {} {}", p.x(), p.y(), p.z(), q(1), q(2), q(3), q(0)));
  pose.SetAttribute("rotation_format", "quat_xyzw");
  if (!relative_to.empty()) pose.SetAttribute("relative_to", relative_to.c_str());
}

/// What a shape is in SDFormat, at `X` in its link; false for what only a mesh can be.
struct SdfShape {
  XMLElement& geometry;
  RigidTransform& X;
  bool has_planes;

  XMLElement& shape(const char* tag) { return *geometry.InsertNewChildElement(tag); }
  bool operator()(const multibody::SphereSpec& s) {
    add(shape("sphere"), "radius", std::max(s.radius, plant::kPointRadius_m));
    return true;
  }
  bool operator()(const multibody::BoxSpec& s) {
    add(shape("box"), "size", s.size);
    return true;
  }
  bool operator()(const multibody::CapsuleSpec& s) { return round("capsule", s.radius, s.length); }
  bool operator()(const multibody::CylinderSpec& s) { return round("cylinder", s.radius, s.length); }
  bool operator()(const multibody::EllipsoidSpec& s) {
    add(shape("ellipsoid"), "radii", s.radii);
    return true;
  }
  bool operator()(const multibody::HalfSpaceSpec& s) {
    if (!has_planes) {
      X = X * ground_pose(s);
      return (*this)(ground_box());
    }
    X = X * plane_pose(s);
    add(shape("plane"), "normal", Vector3d(0, 0, 1));
    return true;
  }
  bool operator()(const multibody::PrismSpec&) { return false; }
  bool operator()(const multibody::MeshSpec&) { return false; }

  bool round(const char* tag, double radius, double length) {
    if (length <= 0) return (*this)(multibody::SphereSpec{radius});
    XMLElement& element = shape(tag);
    add(element, "radius", radius);
    add(element, "length", length);
    return true;
  }
};

/// What Drake is to know of a geometry: friction, and how it gives way.
void add_contact(XMLElement& collision, const multibody::ShapeSpec& shape, double mu) {
  XMLElement& properties = *collision.InsertNewChildElement("drake:proximity_properties");
  add(properties, "drake:mu_static", mu);
  add(properties, "drake:mu_dynamic", mu);
  add(properties, "drake:point_contact_stiffness", kStiffness);
  const bool is_round = std::holds_alternative<multibody::SphereSpec>(shape) ||
                        std::holds_alternative<multibody::CapsuleSpec>(shape) ||
                        std::holds_alternative<multibody::EllipsoidSpec>(shape);
  add(properties, "drake:hunt_crossley_dissipation", is_round ? kPointDissipation : kPatchDissipation);
  if (is_round) return;
  const auto* const cylinder = std::get_if<multibody::CylinderSpec>(&shape);
  properties.InsertNewChildElement("drake:compliant_hydroelastic");
  add(properties, "drake:mesh_resolution_hint", cylinder != nullptr ? cylinder->radius / kEdgesPerRadius : 1.0);
  add(properties, "drake:hydroelastic_modulus", kModulus_Pa);
}

}  // namespace

void SdfModels::write(int index, XMLElement& parent) {
  XMLElement& model = *parent.InsertNewChildElement("model");
  model.SetAttribute("name", links_.tree().models[to_size(index)].name.c_str());
  const ModelParts parts = parts_of(links_, index, notes_);
  for (const PartLink& link : parts.links) write_link(link, model);
  for (const PartJoint& joint : parts.joints) write_joint(joint, model);
}

void SdfModels::write_link(const PartLink& part, XMLElement& model) {
  XMLElement& link = *model.InsertNewChildElement("link");
  link.SetAttribute("name", part.name.c_str());
  add_pose(link, part.X_CL, part.carrier);
  if (part.body < 0) return write_inertial({}, link);
  const int body = part.body;
  write_inertial(links_.inertial(body), link);
  const auto geometries = links_.geometries();
  for (const int k : links_.geometries_of(body)) {
    const LinkGeometry& geometry = geometries[to_size(k)];
    XMLElement& collision = *link.InsertNewChildElement("collision");
    collision.SetAttribute("name", geometry.own.c_str());
    write_geometry(*geometry.spec, collision, "");
    const double mu = links_.mu(k);
    if (reader_ == SdfReader::kDrake) {
      add_contact(collision, geometry.spec->shape, mu);
      continue;
    }
    XMLElement& ode =
        *collision.InsertNewChildElement("surface")->InsertNewChildElement("friction")->InsertNewChildElement("ode");
    add(ode, "mu", mu);
    add(ode, "mu2", mu);
  }
  std::set<std::string> used;
  for (const multibody::GeometrySpec& visual : links_.link(body)->visuals)
    for (const DrawnPart& drawn : drawn_parts(visual, notes_))
      write_visual(visual, drawn, unused(drawn.name, used), link);
}

void SdfModels::write_inertial(const multibody::InertialSpec& inertial, XMLElement& link) const {
  XMLElement& element = *link.InsertNewChildElement("inertial");
  const bool has_mass = inertial.mass > 0;
  add(element, "mass", has_mass ? inertial.mass : kLeastMass_kg);
  if (has_mass && !inertial.p_LCom.isZero(0))
    add_pose(element, make_transform(Eigen::Matrix3d::Identity(), inertial.p_LCom));
  const Eigen::Matrix3d I = has_mass ? inertial.I_Com_L : Eigen::Matrix3d(kLeastMoment * Eigen::Matrix3d::Identity());
  XMLElement& moments = *element.InsertNewChildElement("inertia");
  const char* const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  const double values[] = {I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)};
  for (int k = 0; k < 6; ++k) add(moments, names[k], values[k]);
}

/// @param file  in assets; empty: the shape, or its hull.
void SdfModels::write_geometry(const multibody::GeometrySpec& spec, XMLElement& element, const std::string& file) {
  RigidTransform X = spec.X_LG;
  XMLElement* const geometry = element.GetDocument()->NewElement("geometry");
  if (!file.empty() || !std::visit(SdfShape{*geometry, X, reader_ != SdfReader::kDrake}, spec.shape)) {
    XMLElement& mesh = *geometry->InsertNewChildElement("mesh");
    add(mesh, "uri", "assets/" + (file.empty() ? assets_.add(hull_of(spec)) : file));
    if (file.empty()) mesh.InsertNewChildElement("drake:declare_convex");
  }
  add_pose(element, X);
  element.InsertEndChild(geometry);
}

void SdfModels::write_visual(const multibody::GeometrySpec& spec, const DrawnPart& part, const std::string& name,
                             XMLElement& link) {
  XMLElement& visual = *link.InsertNewChildElement("visual");
  visual.SetAttribute("name", name.c_str());
  write_geometry(spec, visual, part.mesh ? assets_.add(*part.mesh) : "");
  if (part.rgba)
    add(*visual.InsertNewChildElement("material"), "diffuse", fmt::format("{}", fmt::join(*part.rgba, " ")));
}

void SdfModels::write_joint(const PartJoint& joint, XMLElement& model) {
  constexpr const char* kTypes[] = {"fixed", "revolute", "prismatic", "ball"};
  XMLElement& element = *model.InsertNewChildElement("joint");
  element.SetAttribute("name", joint.name.c_str());
  element.SetAttribute("type", kTypes[static_cast<int>(joint.kind)]);
  add(element, "parent", joint.parent);
  add(element, "child", joint.child);
  add_pose(element, joint.X_CJ);
  if (joint.axis != nullptr) write_axis(joint, element);
}

void SdfModels::write_axis(const PartJoint& joint, XMLElement& element) {
  const multibody::JointAxisSpec& spec = *joint.axis;
  const AxisDrive drive = drive_of(links_, joint.v);
  XMLElement& axis = *element.InsertNewChildElement("axis");
  add(axis, "xyz", spec.axis_J.normalized().eval());
  if (!drive.leader.empty()) {
    XMLElement& mimic = *axis.InsertNewChildElement("mimic");
    mimic.SetAttribute("joint", drive.leader.c_str());
    add(mimic, "multiplier", drive.ratio);
    add(mimic, "offset", drive.offset);
    add(mimic, "reference", 0.0);
  }
  XMLElement& limit = *axis.InsertNewChildElement("limit");
  if (std::isfinite(spec.lower)) add(limit, "lower", spec.lower);
  if (std::isfinite(spec.upper)) add(limit, "upper", spec.upper);
  if (std::isfinite(drive.effort)) add(limit, "effort", drive.effort);
  if (std::isfinite(spec.velocity_limit)) add(limit, "velocity", spec.velocity_limit);
  XMLElement& dynamics = *axis.InsertNewChildElement("dynamics");
  add(dynamics, "damping", spec.damping);
  if (drive.spring_stiffness > 0) {
    add(dynamics, "spring_reference", drive.spring_reference);
    add(dynamics, "spring_stiffness", drive.spring_stiffness);
  }
  if (drive.stiffness == 0) return;
  XMLElement& gains = *element.InsertNewChildElement("drake:controller_gains");
  gains.SetAttribute("p", fmt::format("{}", drive.stiffness).c_str());
  gains.SetAttribute("d", fmt::format("{}", drive.damping).c_str());
}

}  // namespace deft::exporters
