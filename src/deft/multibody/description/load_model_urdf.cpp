// URDF: https://wiki.ros.org/urdf/XML. What is read and what is not: README.md.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include "deft/multibody/description/load_model.hpp"
#include "deft/multibody/description/xml_reader.hpp"

namespace deft::multibody {
namespace {

constexpr const char* kGeometries = "box, sphere, cylinder, capsule, ellipsoid, mesh";
constexpr std::array<std::string_view, 6> kJointTypes{"revolute", "continuous", "prismatic",
                                                      "fixed",    "floating",   "planar"};

using Rgba = std::array<double, 4>;

class UrdfReader {
 public:
  explicit UrdfReader(XmlReader& xml) : xml_(xml) {}
  ModelSpec read(const XMLElement& robot);

 private:
  RigidTransform origin(const XMLElement& owner);
  LinkSpec link(const XMLElement& element);
  InertialSpec inertial(const XMLElement& element);
  std::optional<GeometrySpec> geometry(const XMLElement& element, bool is_collision);
  std::optional<ShapeSpec> shape(const XMLElement& geometry, bool is_collision);
  void friction(const XMLElement& collision, GeometrySpec& geometry);
  std::optional<Rgba> colour(const XMLElement& owner);
  JointSpec joint(const XMLElement& element);
  void set_axes(const XMLElement& element, const std::string& type, JointSpec& joint);
  JointAxisSpec limits(const XMLElement& element, const std::string& type);

  double length(const XMLElement& element, const char* name, bool zero_allowed = false) {
    xml_.required_attribute(element, name);
    return xml_.positive(element, name, xml_.number_attribute(element, name).value_or(1.0), zero_allowed);
  }

  XmlReader& xml_;
  std::map<std::string, Rgba> materials_;
};

/// <origin xyz rpy> of a link's part or of a joint; identity if missing.
RigidTransform UrdfReader::origin(const XMLElement& owner) {
  const XMLElement* element = xml_.only_child(owner, "origin");
  if (element == nullptr) return RigidTransform::Identity();
  const Eigen::Vector3d rpy = xml_.vector_attribute(*element, "rpy").value_or(Eigen::Vector3d::Zero());
  return make_transform(rotation_from_rpy(rpy),
                        xml_.vector_attribute(*element, "xyz").value_or(Eigen::Vector3d::Zero()));
}

InertialSpec UrdfReader::inertial(const XMLElement& element) {
  xml_.warn_of_others(element, {"origin", "mass", "inertia"});
  const RigidTransform X_LI = origin(element);
  InertialSpec inertial{.p_LCom = X_LI.translation()};
  if (const XMLElement* mass = xml_.only_child(element, "mass")) {
    xml_.required_attribute(*mass, "value");
    inertial.mass = xml_.number_attribute(*mass, "value").value_or(0.0);
  }
  if (const XMLElement* moments = xml_.only_child(element, "inertia")) {
    const auto entry = [&](const char* name) { return xml_.number_attribute(*moments, name).value_or(0.0); };
    Eigen::Matrix3d I;
    I << entry("ixx"), entry("ixy"), entry("ixz"),  //
        entry("ixy"), entry("iyy"), entry("iyz"),   //
        entry("ixz"), entry("iyz"), entry("izz");
    inertial.I_Com_L = X_LI.linear() * I * X_LI.linear().transpose();
  }
  return inertial;
}

std::optional<ShapeSpec> UrdfReader::shape(const XMLElement& geometry, bool is_collision) {
  const XMLElement* element = geometry.FirstChildElement();
  if (element == nullptr) {
    xml_.error(geometry, fmt::format("<geometry> is empty; valid: {}", kGeometries));
    return std::nullopt;
  }
  const std::string type = element->Name();
  if (type == "sphere") return SphereSpec{length(*element, "radius", true)};
  if (type == "cylinder") return CylinderSpec{length(*element, "radius"), length(*element, "length")};
  if (type == "capsule" || type == "drake:capsule")
    return CapsuleSpec{length(*element, "radius"), length(*element, "length")};
  if (type == "box" || type == "ellipsoid" || type == "drake:ellipsoid") {
    const char* name = type == "box" ? "size" : type == "ellipsoid" ? "radii" : nullptr;
    Eigen::Vector3d size = Eigen::Vector3d::Ones();
    if (name != nullptr) {
      xml_.required_attribute(*element, name);
      size = xml_.vector_attribute(*element, name).value_or(size);
    } else {
      size = {length(*element, "a"), length(*element, "b"), length(*element, "c")};
    }
    xml_.positive(*element, "every size", size.minCoeff());
    if (type == "box") return BoxSpec{size};
    return EllipsoidSpec{size};
  }
  if (type == "mesh") {
    const Eigen::Vector3d scale = xml_.vector_attribute(*element, "scale").value_or(Eigen::Vector3d::Ones());
    return xml_.mesh(*element, xml_.required_attribute(*element, "filename"), scale, is_collision);
  }
  xml_.unsupported_geometry(*element, kGeometries, is_collision);
  return std::nullopt;
}

/// <drake:proximity_properties><drake:mu_static value/><drake:mu_dynamic value/>.
void UrdfReader::friction(const XMLElement& collision, GeometrySpec& geometry) {
  const XMLElement* properties = xml_.only_child(collision, "drake:proximity_properties");
  if (properties == nullptr) return;
  xml_.warn_of_others(*properties, {"drake:mu_static", "drake:mu_dynamic"});
  const auto coefficient = [&](const char* name) -> std::optional<double> {
    const XMLElement* element = xml_.only_child(*properties, name);
    if (element == nullptr) return std::nullopt;
    xml_.required_attribute(*element, "value");
    return xml_.positive(*element, "a friction coefficient", xml_.number_attribute(*element, "value").value_or(0.0),
                         true);
  };
  geometry.mu_static = coefficient("drake:mu_static");
  geometry.mu_dynamic = coefficient("drake:mu_dynamic");
}

/// The colour of a <material>, which may be defined here, or elsewhere under the same name.
std::optional<Rgba> UrdfReader::colour(const XMLElement& owner) {
  const XMLElement* material = owner.FirstChildElement("material");
  if (material == nullptr) return std::nullopt;
  if (const XMLElement* color = material->FirstChildElement("color")) {
    const auto v = xml_.numbers(*color, xml_.required_attribute(*color, "rgba"), 4);
    return Rgba{v[0], v[1], v[2], v[3]};
  }
  if (material->FirstChildElement("texture") != nullptr) xml_.warn_of_others(*material, {"color"});
  const auto known = materials_.find(material->Attribute("name") == nullptr ? "" : material->Attribute("name"));
  return known == materials_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<GeometrySpec> UrdfReader::geometry(const XMLElement& element, bool is_collision) {
  xml_.warn_of_others(element, {"origin", "geometry", is_collision ? "drake:proximity_properties" : "material"});
  const XMLElement* geometry = xml_.only_child(element, "geometry");
  if (geometry == nullptr) {
    xml_.error(element, fmt::format("<{}> needs a <geometry>", element.Name()));
    return std::nullopt;
  }
  const auto read = shape(*geometry, is_collision);
  if (!read) return std::nullopt;
  GeometrySpec spec{.X_LG = origin(element), .shape = *read, .where = xml_.where(element)};
  if (element.Attribute("name") != nullptr) spec.name = element.Attribute("name");
  if (is_collision)
    friction(element, spec);
  else
    spec.rgba = colour(element);
  return spec;
}

LinkSpec UrdfReader::link(const XMLElement& element) {
  xml_.warn_of_others(element, {"inertial", "collision", "visual"});
  LinkSpec link{.name = xml_.required_attribute(element, "name"), .where = xml_.where(element)};
  if (const XMLElement* child = xml_.only_child(element, "inertial")) link.inertial = inertial(*child);
  for (const bool is_collision : {true, false}) {
    const char* tag = is_collision ? "collision" : "visual";
    auto& list = is_collision ? link.collisions : link.visuals;
    int index = 0;
    for (const XMLElement* child = element.FirstChildElement(tag); child != nullptr;
         child = child->NextSiblingElement(tag), ++index) {
      auto spec = geometry(*child, is_collision);
      if (!spec) continue;
      if (spec->name.empty()) spec->name = fmt::format("{}_{}", tag, index);
      list.push_back(std::move(*spec));
    }
  }
  return link;
}

/// <limit>, <dynamics> and <axis> of a joint with one axis. Missing limits are none.
JointAxisSpec UrdfReader::limits(const XMLElement& element, const std::string& type) {
  JointAxisSpec axis{.coordinate = xml_.required_attribute(element, "name"),
                     .rotational = type != "prismatic",
                     .axis_J = Eigen::Vector3d::UnitX()};
  if (const XMLElement* child = xml_.only_child(element, "axis")) {
    xml_.required_attribute(*child, "xyz");
    axis.axis_J = xml_.vector_attribute(*child, "xyz").value_or(axis.axis_J);
    if (axis.axis_J.isZero(0)) xml_.error(*child, fmt::format("joint '{}': the axis is zero", axis.coordinate));
  }
  if (const XMLElement* child = xml_.only_child(element, "limit")) {
    if (type != "continuous") {
      axis.lower = xml_.number_attribute(*child, "lower", true).value_or(axis.lower);
      axis.upper = xml_.number_attribute(*child, "upper", true).value_or(axis.upper);
    }
    axis.effort_limit = xml_.number_attribute(*child, "effort", true).value_or(axis.effort_limit);
    if (child->Attribute("velocity") != nullptr)
      xml_.warning_once("limit velocity", *child, "the attribute 'velocity' of <limit> is not read");
  }
  if (const XMLElement* child = xml_.only_child(element, "dynamics")) {
    axis.damping = xml_.number_attribute(*child, "damping").value_or(0.0);
    if (xml_.number_attribute(*child, "friction").value_or(0.0) != 0)
      xml_.warning_once("dynamics friction", *child, "the attribute 'friction' of <dynamics> is not read");
  }
  return axis;
}

void UrdfReader::set_axes(const XMLElement& element, const std::string& type, JointSpec& joint) {
  if (type == "fixed") return;
  joint.kind = type == "floating" ? JointKind::kFree : JointKind::kAxes;
  if (type == "floating") return;
  const JointAxisSpec axis = limits(element, type);
  if (type != "planar") {
    joint.axes = {axis};
    return;
  }
  // The joint frame turned so that its z is the normal of the plane: x, y, then the angle about z.
  const Eigen::Matrix3d R =
      Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), axis.axis_J).toRotationMatrix();
  joint.X_CJ.linear() = R;
  joint.X_PJ.linear() *= R;
  const auto add = [&](const char* suffix, bool rotational, const Eigen::Vector3d& direction) {
    joint.axes.push_back(
        {.coordinate = joint.name + suffix, .rotational = rotational, .axis_J = direction, .damping = axis.damping});
  };
  add("_x", false, Eigen::Vector3d::UnitX());
  add("_y", false, Eigen::Vector3d::UnitY());
  add("_theta", true, Eigen::Vector3d::UnitZ());
}

JointSpec UrdfReader::joint(const XMLElement& element) {
  xml_.warn_of_others(element, {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"});
  JointSpec joint{
      .name = xml_.required_attribute(element, "name"), .X_PJ = origin(element), .where = xml_.where(element)};
  const auto linked = [&](const char* tag) -> std::string {
    const XMLElement* child = xml_.only_child(element, tag);
    if (child != nullptr) return xml_.required_attribute(*child, "link");
    xml_.error(element, fmt::format("joint '{}' needs a <{}>", joint.name, tag));
    return "";
  };
  joint.parent = linked("parent");
  joint.child = linked("child");
  const std::string type = xml_.required_attribute(element, "type");
  if (std::find(kJointTypes.begin(), kJointTypes.end(), type) != kJointTypes.end())
    set_axes(element, type, joint);
  else
    xml_.error(element, fmt::format("joint '{}': type '{}' is not supported; valid: {}", joint.name, type,
                                    fmt::join(kJointTypes, ", ")));
  if (const XMLElement* mimic = element.FirstChildElement("mimic"))
    xml_.warning(*mimic, fmt::format("<mimic> is not read: joint '{}' moves on its own", joint.name));
  return joint;
}

ModelSpec UrdfReader::read(const XMLElement& robot) {
  xml_.warn_of_others(robot, {"link", "joint", "material"});
  ModelSpec model{.name = xml_.required_attribute(robot, "name"), .where = xml_.where(robot)};
  for (const XMLElement* child = robot.FirstChildElement("material"); child != nullptr;
       child = child->NextSiblingElement("material"))
    if (const XMLElement* color = child->FirstChildElement("color")) {
      const auto v = xml_.numbers(*color, xml_.required_attribute(*color, "rgba"), 4);
      materials_[xml_.required_attribute(*child, "name")] = {v[0], v[1], v[2], v[3]};
    }
  for (const XMLElement* child = robot.FirstChildElement("link"); child != nullptr;
       child = child->NextSiblingElement("link")) {
    LinkSpec read = link(*child);
    if (read.name != "world")
      model.links.push_back(std::move(read));  // by custom a link named world is the world
    else if (!read.collisions.empty())
      xml_.error(*child, "link 'world' is the world and cannot hold geometry");
  }
  for (const XMLElement* child = robot.FirstChildElement("joint"); child != nullptr;
       child = child->NextSiblingElement("joint"))
    model.joints.push_back(joint(*child));
  if (model.links.empty()) xml_.error(robot, fmt::format("robot '{}' has no link", model.name));
  return model;
}

}  // namespace

std::optional<ModelSpec> load_urdf(const std::string& path, const PackageMap& packages, Diagnostics& diagnostics) {
  XmlReader xml(path, packages, diagnostics);
  const XMLElement* root = xml.open();
  if (root == nullptr) return std::nullopt;
  if (std::string(root->Name()) != "robot") {
    xml.error(*root, fmt::format("a URDF file starts with <robot>, not <{}>", root->Name()));
    return std::nullopt;
  }
  ModelSpec model = UrdfReader(xml).read(*root);
  if (xml.has_errors()) return std::nullopt;
  return model;
}

std::optional<ModelSpec> load_model(const std::string& path, const PackageMap& packages, Diagnostics& diagnostics) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".urdf") return load_urdf(path, packages, diagnostics);
  if (extension == ".sdf") return load_sdf(path, packages, diagnostics);
  if (extension != ".xml") {
    diagnostics.error({path, 0, 0},
                      fmt::format("unknown kind of model file '{}'; valid: .urdf, .sdf, .xml", extension));
    return std::nullopt;
  }
  XmlReader xml(path, packages, diagnostics);
  const XMLElement* root = xml.open();
  if (root == nullptr) return std::nullopt;
  const std::string kind = root->Name();
  if (kind == "robot") return load_urdf(path, packages, diagnostics);
  if (kind == "sdf") return load_sdf(path, packages, diagnostics);
  xml.error(*root, kind == "mujoco" ? "MJCF files are not supported yet; valid: <robot> (URDF), <sdf>"
                                    : fmt::format("<{}> is no model; valid: <robot> (URDF), <sdf>", kind));
  return std::nullopt;
}

}  // namespace deft::multibody
