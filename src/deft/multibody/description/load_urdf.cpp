// URDF: https://wiki.ros.org/urdf/XML. What is read and what is not: README.md.

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "deft/math/small_dense.hpp"
#include "deft/multibody/description/load_urdf.hpp"
#include "deft/multibody/description/model_reader.hpp"

namespace deft::multibody {
namespace {

const ModelFormat& urdf_format() {
  static const ModelFormat format{
      .name = "a URDF",
      .root = "robot",
      .model = {"link", "joint", "material"},
      .link = {"inertial", "collision", "visual"},
      .collision = {"origin", "geometry", "drake:proximity_properties"},
      .visual = {"origin", "geometry", "material"},
      .joint = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"},
      .geometries = "box, sphere, cylinder, capsule, ellipsoid, mesh",
      .joint_types = "revolute, continuous, prismatic, fixed, floating, planar",
  };
  return format;
}

/// Numbers and poses stand in attributes; every pose is an <origin>.
class UrdfReader final : public ModelReader {
 public:
  explicit UrdfReader(XmlReader& xml) : ModelReader(urdf_format(), xml) {}

 private:
  std::string model_name(const XMLElement& robot) override;
  void read_header(const XMLElement& robot, ModelSpec& spec) override;
  RigidTransform link_pose(const XMLElement& /*element*/, const LinkSpec& /*link*/) override {
    return RigidTransform::Identity();
  }
  InertialSpec inertial(const XMLElement& element) override;
  RigidTransform geometry_pose(const XMLElement& element, const LinkSpec& /*link*/) override { return origin(element); }
  std::optional<Rgba> colour(const XMLElement& visual) override;
  bool is_kept(const XMLElement& element, const LinkSpec& link) override;
  void connect(const XMLElement& element, JointSpec& joint) override;
  void set_motion(const XMLElement& element, const std::string& type, JointSpec& joint) override;
  void follow(const XMLElement& element, const JointSpec& joint, ModelSpec& spec) override;

  double value_of(const XMLElement& element) override;
  double length(const XMLElement& shape, const char* name, bool zero_allowed) override;
  Eigen::Vector3d lengths(const XMLElement& shape, const char* name) override;
  std::optional<MeshSpec> mesh(const XMLElement& element, bool is_collision) override;
  std::optional<ShapeSpec> own_shape(const XMLElement& element, const std::string& type) override;

  RigidTransform origin(const XMLElement& owner);
  JointAxisSpec axis(const XMLElement& element, const std::string& type);
  void set_planar_axes(const JointAxisSpec& normal, JointSpec& joint);

  std::map<std::string, Rgba> materials_;
};

// ---------------------------------------------------------------------------------------------------------- numbers

/// The attribute `value`.
double UrdfReader::value_of(const XMLElement& element) {
  xml_.required_attribute(element, "value");
  return xml_.number_attribute(element, "value").value_or(0.0);
}

double UrdfReader::length(const XMLElement& shape, const char* name, bool zero_allowed) {
  xml_.required_attribute(shape, name);
  return xml_.positive(shape, name, xml_.number_attribute(shape, name).value_or(1.0), zero_allowed);
}

Eigen::Vector3d UrdfReader::lengths(const XMLElement& shape, const char* name) {
  xml_.required_attribute(shape, name);
  return xml_.vector_attribute(shape, name).value_or(Eigen::Vector3d::Ones());
}

/// <origin xyz rpy> of a link's part or of a joint; identity if missing.
RigidTransform UrdfReader::origin(const XMLElement& owner) {
  const XMLElement* element = xml_.only_child(owner, "origin");
  if (element == nullptr) return RigidTransform::Identity();
  const Eigen::Vector3d rpy = xml_.vector_attribute(*element, "rpy").value_or(Eigen::Vector3d::Zero());
  return make_transform(rotation_from_rpy(rpy),
                        xml_.vector_attribute(*element, "xyz").value_or(Eigen::Vector3d::Zero()));
}

// ------------------------------------------------------------------------------------------------------------ links

/// By custom a link named world is the world.
bool UrdfReader::is_kept(const XMLElement& element, const LinkSpec& link) {
  if (link.name != "world") return true;
  if (!link.collisions.empty()) xml_.error(element, "link 'world' is the world and cannot hold geometry");
  return false;
}

InertialSpec UrdfReader::inertial(const XMLElement& element) {
  xml_.warn_of_others(element, {"origin", "mass", "inertia"});
  const RigidTransform X_LI = origin(element);
  InertialSpec inertial{.p_LCom = X_LI.translation()};
  if (const XMLElement* mass = xml_.only_child(element, "mass")) inertial.mass = value_of(*mass);
  if (const XMLElement* moments = xml_.only_child(element, "inertia")) {
    const auto entry = [&](const char* name) { return xml_.number_attribute(*moments, name).value_or(0.0); };
    const double ixx = entry("ixx"), ixy = entry("ixy"), ixz = entry("ixz");
    const double iyy = entry("iyy"), iyz = entry("iyz"), izz = entry("izz");
    Eigen::Matrix3d I;
    I << ixx, ixy, ixz,  //
        ixy, iyy, iyz,   //
        ixz, iyz, izz;
    inertial.I_Com_L = X_LI.linear() * I * X_LI.linear().transpose();
  }
  return inertial;
}

std::optional<ShapeSpec> UrdfReader::own_shape(const XMLElement& element, const std::string& type) {
  if (type != "drake:ellipsoid") return std::nullopt;
  return EllipsoidSpec{{length(element, "a", false), length(element, "b", false), length(element, "c", false)}};
}

std::optional<MeshSpec> UrdfReader::mesh(const XMLElement& element, bool is_collision) {
  const Eigen::Vector3d scale = xml_.vector_attribute(element, "scale").value_or(Eigen::Vector3d::Ones());
  auto mesh = xml_.mesh(element, xml_.required_attribute(element, "filename"), scale, is_collision);
  if (mesh) mesh->is_convex = element.FirstChildElement("drake:declare_convex") != nullptr;
  return mesh;
}

/// The colour of a <material>, which may be defined here, or elsewhere under the same name.
std::optional<ModelReader::Rgba> UrdfReader::colour(const XMLElement& visual) {
  const XMLElement* material = visual.FirstChildElement("material");
  if (material == nullptr) return std::nullopt;
  if (const XMLElement* color = material->FirstChildElement("color"))
    return xml_.rgba(*color, xml_.required_attribute(*color, "rgba"));
  if (material->FirstChildElement("texture") != nullptr) xml_.warn_of_others(*material, {"color"});
  const auto known = materials_.find(attribute_or(*material, "name", ""));
  return known == materials_.end() ? std::nullopt : std::optional(known->second);
}

// ----------------------------------------------------------------------------------------------------------- joints

/// <limit>, <dynamics> and <axis> of a joint with one axis. Missing limits are none.
JointAxisSpec UrdfReader::axis(const XMLElement& element, const std::string& type) {
  JointAxisSpec axis{.coordinate = xml_.required_attribute(element, "name"),
                     .rotational = type != "prismatic",
                     .axis_J = Eigen::Vector3d::UnitX()};
  if (const XMLElement* child = xml_.only_child(element, "axis")) {
    xml_.required_attribute(*child, "xyz");
    axis.axis_J = xml_.vector_attribute(*child, "xyz").value_or(axis.axis_J);
    refuse_zero_axis(*child, axis.axis_J, axis.coordinate);
  }
  if (const XMLElement* child = xml_.only_child(element, "limit")) {
    const auto read = [&](const char* name, double& limit) {
      const std::optional<double> stated = xml_.number_attribute(*child, name, true);
      if (stated && std::abs(*stated) < kNoLimit) limit = *stated;
    };
    if (type != "continuous") {
      read("lower", axis.lower);
      read("upper", axis.upper);
    }
    read("effort", axis.effort_limit);
    read("velocity", axis.velocity_limit);
  }
  if (const XMLElement* child = xml_.only_child(element, "dynamics")) {
    axis.damping = xml_.number_attribute(*child, "damping").value_or(0.0);
    if (xml_.number_attribute(*child, "friction").value_or(0.0) != 0)
      xml_.warning_once("dynamics friction", *child, "the attribute 'friction' of <dynamics> is not read");
  }
  return axis;
}

/// The joint frame turned so that its z is the normal of the plane: x, y, then the angle about z.
void UrdfReader::set_planar_axes(const JointAxisSpec& normal, JointSpec& joint) {
  const Eigen::Matrix3d R = rotation_between(Eigen::Vector3d::UnitZ(), normal.axis_J);
  joint.X_CJ.linear() = R;
  joint.X_PJ.linear() *= R;
  const auto add = [&](const char* suffix, bool rotational, const Eigen::Vector3d& direction) {
    joint.axes.push_back(
        {.coordinate = joint.name + suffix, .rotational = rotational, .axis_J = direction, .damping = normal.damping});
  };
  add("_x", false, Eigen::Vector3d::UnitX());
  add("_y", false, Eigen::Vector3d::UnitY());
  add("_theta", true, Eigen::Vector3d::UnitZ());
}

void UrdfReader::connect(const XMLElement& element, JointSpec& joint) {
  joint.X_PJ = origin(element);
  const auto linked = [&](const char* tag) -> std::string {
    const XMLElement* child = xml_.only_child(element, tag);
    if (child != nullptr) return xml_.required_attribute(*child, "link");
    refuse_missing(element, tag, joint);
    return "";
  };
  joint.parent = linked("parent");
  joint.child = linked("child");
}

void UrdfReader::set_motion(const XMLElement& element, const std::string& type, JointSpec& joint) {
  if (type == "floating") {
    joint.kind = JointKind::kFree;
  } else if (type == "revolute" || type == "continuous" || type == "prismatic") {
    joint.kind = JointKind::kAxes;
    joint.axes = {axis(element, type)};
  } else if (type == "planar") {
    joint.kind = JointKind::kAxes;
    set_planar_axes(axis(element, type), joint);
  } else if (type != "fixed") {
    refuse_type(element, type, joint);
  }
}

/// q = multiplier · q of the joint that it follows + offset.
void UrdfReader::follow(const XMLElement& element, const JointSpec& joint, ModelSpec& spec) {
  const XMLElement* const mimic = xml_.only_child(element, "mimic");
  if (mimic == nullptr) return;
  if (joint.kind == JointKind::kFixed)
    return xml_.warning(*mimic, fmt::format("joint '{}' is fixed: its <mimic> moves nothing", joint.name));
  if (joint.axes.size() != 1)
    return xml_.error(*mimic, fmt::format("joint '{}' has several degrees of freedom; <mimic> needs one", joint.name));
  spec.couplings.push_back({.follower = joint.name,
                            .leader = xml_.required_attribute(*mimic, "joint"),
                            .ratio = xml_.number_attribute(*mimic, "multiplier").value_or(1.0),
                            .offset = xml_.number_attribute(*mimic, "offset").value_or(0.0),
                            .where = xml_.where(*mimic)});
}

// ------------------------------------------------------------------------------------------------------------ model

/// Without a name it is called as its file, since some exporters leave it out.
std::string UrdfReader::model_name(const XMLElement& robot) {
  const std::string stem = std::filesystem::path(xml_.where(robot).file).stem().string();
  const std::string name = attribute_or(robot, "name", "");
  if (name.empty()) xml_.warning(robot, fmt::format("<robot> has no name; it is called '{}' as its file", stem));
  return name.empty() ? stem : name;
}

void UrdfReader::read_header(const XMLElement& robot, ModelSpec& /*spec*/) {
  for_each(robot, "material", [&](const XMLElement& material) {
    const XMLElement* color = material.FirstChildElement("color");
    if (color == nullptr) return;
    const auto rgba =
        xml_.drawn([&] { return std::optional(xml_.rgba(*color, xml_.required_attribute(*color, "rgba"))); });
    const std::string name = attribute_or(material, "name", "");
    if (rgba && !name.empty()) materials_[name] = *rgba;
  });
}

}  // namespace

std::optional<ModelSpec> load_urdf(const std::string& path, const PackageMap& packages, Diagnostics& diagnostics) {
  return read_model_file(path, packages, diagnostics, urdf_format(),
                         [](XmlReader& xml, const XMLElement& root) { return UrdfReader(xml).read(root); });
}

}  // namespace deft::multibody
