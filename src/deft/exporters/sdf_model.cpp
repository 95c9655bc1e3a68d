#include "deft/exporters/sdf_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "deft/core/index.hpp"
#include "deft/math/small_dense.hpp"
#include "deft/plant/plant_parts.hpp"
#include "deft/viewer/painted_mesh.hpp"

namespace deft::exporters {
namespace {

using Eigen::Vector3d;
using multibody::JointKind;
using multibody::TreeJoint;
using tinyxml2::XMLElement;

constexpr double kLeastMass_kg = 1e-9, kLeastMoment = 1e-12;  // SDFormat has no links without a mass

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
    const double length = s.normal.norm();
    const Vector3d n = s.normal / length;
    X = X * make_transform(rotation_between(Vector3d::UnitZ(), n), s.offset / length * n);
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

}  // namespace

SdfModels::SdfModels(const LinkTree& links, SdfFriction friction, Assets& assets, std::vector<std::string>& notes)
    : links_(links),
      friction_(friction),
      assets_(assets),
      notes_(notes),
      damping_(plant::inner_loop_damping(links.scene(), {})) {}

void SdfModels::write(int index, XMLElement& parent) {
  const multibody::KinematicTree& tree = links_.tree();
  XMLElement& model = *parent.InsertNewChildElement("model");
  model.SetAttribute("name", tree.models[to_size(index)].name.c_str());
  for (const int body : tree.models[to_size(index)].bodies) {
    const int g = links_.group(body), holder = links_.body_in(g, index);
    const RigidTransform& X_GB = tree.X_GB[to_size(body)];
    if (holder != body) {
      write_link(body, model, holder, tree.X_GB[to_size(holder)].inverse() * X_GB);
      write_fixed(links_.link_name(body) + "_fixed", links_.link_name(holder), links_.link_name(body), model);
      continue;
    }
    const int j = tree.groups[to_size(g)].joint;
    const bool is_carried = g != 0 && tree.joints[to_size(j)].model == index &&
                            tree.joints[to_size(j)].kind != JointKind::kFree &&
                            !links_.is_frozen(tree.joints[to_size(j)]);
    if (!is_carried) {
      write_link(body, model, 0, links_.start().X_WB()[body]);
      const bool is_frozen = g != 0 && links_.is_frozen(tree.joints[to_size(j)]);
      if (g == 0 || is_frozen) write_fixed(links_.link_name(body) + "_fixed", "world", links_.link_name(body), model);
      if (is_frozen)
        notes_.push_back(
            fmt::format("link '{}' does not move: it stands where the scene starts", links_.link_name(body)));
      continue;
    }
    const TreeJoint& joint = tree.joints[to_size(j)];
    const int carrier = std::max(links_.body_in(joint.parent_group, index), 0);
    write_link(body, model, carrier, tree.X_GB[to_size(carrier)].inverse() * joint.X_GJ * X_GB);
    write_joint(j, model);
  }
}

void SdfModels::write_link(int body, XMLElement& model, int carrier, const RigidTransform& X_CB) {
  XMLElement& link = *model.InsertNewChildElement("link");
  link.SetAttribute("name", links_.link_name(body).c_str());
  add_pose(link, X_CB, carrier == 0 ? "" : links_.link_name(carrier));
  write_inertial(links_.inertial(body), link);
  const auto geometries = links_.geometries();
  for (std::size_t k = 0; k < geometries.size(); ++k) {
    if (geometries[k].body != body) continue;
    XMLElement& collision = *link.InsertNewChildElement("collision");
    collision.SetAttribute("name", geometries[k].spec->name.c_str());
    write_geometry(*geometries[k].spec, collision, "");
    const double mu = links_.mu(static_cast<int>(k));
    if (friction_ == SdfFriction::kDrake) {
      XMLElement& properties = *collision.InsertNewChildElement("drake:proximity_properties");
      add(properties, "drake:mu_static", mu);
      add(properties, "drake:mu_dynamic", mu);
      continue;
    }
    XMLElement& ode =
        *collision.InsertNewChildElement("surface")->InsertNewChildElement("friction")->InsertNewChildElement("ode");
    add(ode, "mu", mu);
    add(ode, "mu2", mu);
  }
  if (const multibody::LinkSpec* const spec = links_.link(body))
    for (const multibody::GeometrySpec& visual : spec->visuals) write_visual(visual, link);
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
  if (!file.empty() || !std::visit(SdfShape{*geometry, X}, spec.shape)) {
    XMLElement& mesh = *geometry->InsertNewChildElement("mesh");
    add(mesh, "uri", "assets/" + (file.empty() ? assets_.add(hull_of(spec)) : file));
    if (file.empty()) mesh.InsertNewChildElement("drake:declare_convex");
  }
  add_pose(element, X);
  element.InsertEndChild(geometry);
}

void SdfModels::write_visual(const multibody::GeometrySpec& spec, XMLElement& link) {
  const auto one = [&](const std::string& name, const std::optional<std::array<double, 4>>& rgba,
                       const std::string& file) {
    XMLElement& visual = *link.InsertNewChildElement("visual");
    visual.SetAttribute("name", name.c_str());
    write_geometry(spec, visual, file);
    if (rgba) add(*visual.InsertNewChildElement("material"), "diffuse", fmt::format("{}", fmt::join(*rgba, " ")));
  };
  const auto* const mesh = std::get_if<multibody::MeshSpec>(&spec.shape);
  if (!mesh) return one(spec.name, spec.rgba, "");
  try {
    int part = 0;
    for (const viewer::PaintedMesh& painted : viewer::read_painted_mesh(*mesh))
      one(fmt::format("{}_{}", spec.name, part++), spec.rgba ? spec.rgba : painted.rgba, assets_.add(painted.mesh));
  } catch (const InputError& error) {
    notes_.push_back(fmt::format("'{}' is not drawn: {}", spec.name, error.what()));
  }
}

void SdfModels::write_fixed(const std::string& name, const std::string& parent, const std::string& child,
                            XMLElement& model) const {
  XMLElement& joint = *model.InsertNewChildElement("joint");
  joint.SetAttribute("name", name.c_str());
  joint.SetAttribute("type", "fixed");
  add(joint, "parent", parent);
  add(joint, "child", child);
}

void SdfModels::write_joint(int j, XMLElement& model) {
  const multibody::KinematicTree& tree = links_.tree();
  const TreeJoint& joint = tree.joints[to_size(j)];
  const int main = links_.main_body(joint.child_group), carrier = links_.body_in(joint.parent_group, joint.model);
  const RigidTransform X_BG = tree.X_GB[to_size(main)].inverse();
  std::string parent = carrier <= 0 ? "world" : links_.link_name(carrier);
  const std::size_t n = joint.kind == JointKind::kBall ? 1 : joint.axes.size();
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_last = i + 1 == n;
    const std::string name =
        joint.kind == JointKind::kBall ? joint.name.substr(joint.name.find('/') + 1) : joint.axes[i].coordinate;
    const std::string child = is_last ? links_.link_name(main) : name + "_link";
    if (!is_last) {
      XMLElement& link = *model.InsertNewChildElement("link");
      link.SetAttribute("name", child.c_str());
      add_pose(link, X_BG, links_.link_name(main));
      write_inertial({}, link);
    }
    XMLElement& element = *model.InsertNewChildElement("joint");
    element.SetAttribute("name", name.c_str());
    add(element, "parent", parent);
    add(element, "child", child);
    if (is_last) add_pose(element, X_BG);
    if (joint.kind == JointKind::kBall)
      element.SetAttribute("type", "ball");
    else
      write_axis(j, static_cast<int>(i), element);
    parent = child;
  }
}

void SdfModels::write_axis(int j, int i, XMLElement& element) {
  const TreeJoint& joint = links_.tree().joints[to_size(j)];
  const multibody::JointAxisSpec& spec = joint.axes[to_size(i)];
  element.SetAttribute("type", spec.rotational ? "revolute" : "prismatic");
  const scene::Scene& scene = links_.scene();
  const scene::Robot* const robot = links_.robot(joint.model);
  const int v = links_.first_v(j) + i, command = robot ? robot->command_of(v) : -1;
  XMLElement& axis = *element.InsertNewChildElement("axis");
  add(axis, "xyz", spec.axis_J.normalized().eval());
  for (const scene::JointSpring& spring : scene.springs()) {
    if (!spring.couples || spring.v != v || spring.leader_v < 0) continue;
    const std::string leader = scene.names_v()[to_size(spring.leader_v)];
    XMLElement& mimic = *axis.InsertNewChildElement("mimic");
    mimic.SetAttribute("joint", leader.substr(leader.find('/') + 1).c_str());
    add(mimic, "multiplier", spring.ratio);
    add(mimic, "offset", spring.offset);
    add(mimic, "reference", 0.0);
  }
  XMLElement& limit = *axis.InsertNewChildElement("limit");
  if (std::isfinite(spec.lower)) add(limit, "lower", spec.lower);
  if (std::isfinite(spec.upper)) add(limit, "upper", spec.upper);
  if (command < 0)
    add(limit, "effort", 0.0);
  else if (std::isfinite(robot->effort_limit(command)))
    add(limit, "effort", robot->effort_limit(command));
  if (std::isfinite(spec.velocity_limit)) add(limit, "velocity", spec.velocity_limit);
  XMLElement& dynamics = *axis.InsertNewChildElement("dynamics");
  add(dynamics, "damping", spec.damping);
  for (const scene::JointSpring& spring : scene.springs()) {
    if (spring.couples || spring.v != v) continue;
    add(dynamics, "spring_reference", spring.offset);
    add(dynamics, "spring_stiffness", spring.stiffness);
  }
  if (command < 0 || robot->drive == scene::Drive::kForce) return;
  XMLElement& gains = *element.InsertNewChildElement("drake:controller_gains");
  gains.SetAttribute("p", fmt::format("{}", robot->stiffness(command)).c_str());
  gains.SetAttribute("d", fmt::format("{}", damping_(robot->first_u + command)).c_str());
}

std::vector<Weld> SdfModels::welds() const {
  const multibody::KinematicTree& tree = links_.tree();
  std::vector<Weld> welds;
  for (std::size_t g = 1; g < tree.groups.size(); ++g) {
    const int group = static_cast<int>(g), main = links_.main_body(group);
    for (std::size_t m = 0; m < tree.models.size(); ++m) {
      const int body = links_.body_in(group, static_cast<int>(m));
      if (body < 0 || body == main || tree.bodies[to_size(main)].model == static_cast<int>(m)) continue;
      welds.push_back({main, body, tree.X_GB[to_size(main)].inverse() * tree.X_GB[to_size(body)]});
    }
  }
  return welds;
}

}  // namespace deft::exporters
