// SDFormat: http://sdformat.org/spec. What is read and what is not: README.md.

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "deft/multibody/description/load_sdf.hpp"
#include "deft/multibody/description/model_reader.hpp"
#include "deft/multibody/description/sdf_frames.hpp"

namespace deft::multibody {
namespace {

const ModelFormat& sdf_format() {
  static const ModelFormat format{
      .name = "an SDFormat",
      .root = "sdf",
      .model = {"pose", "link", "joint", "frame", "static", "model", "include"},
      .link = {"pose", "inertial", "collision", "visual"},
      .collision = {"pose", "geometry", "surface", "drake:proximity_properties"},
      .visual = {"pose", "geometry", "material"},
      .joint = {"pose", "parent", "child", "axis", "axis2", "drake:controller_gains"},
      .geometries = "box, sphere, cylinder, capsule, ellipsoid, plane, mesh",
      .joint_types = "revolute, continuous, prismatic, universal, ball, fixed",
  };
  return format;
}

/// A pose as the file gives it; `relative_to` is empty where the default applies.
struct SdfPose {
  std::string relative_to;
  RigidTransform X = RigidTransform::Identity();
};

/// Numbers stand in the text of elements; every <pose> may be relative to another frame.
class SdfReader final : public ModelReader {
 public:
  SdfReader(XmlReader& xml, Diagnostics& diagnostics, double version)
      : ModelReader(sdf_format(), xml), frames_(diagnostics), version_(version) {}

 private:
  void begin(const XMLElement& model) override;
  void read_header(const XMLElement& model, ModelSpec& spec) override;
  RigidTransform link_pose(const XMLElement& element, const LinkSpec& link) override {
    return frames_.pose(attribute_or(element, "name", ""), link.where);
  }
  InertialSpec inertial(const XMLElement& element) override;
  RigidTransform geometry_pose(const XMLElement& element, const LinkSpec& link) override;
  void friction(const XMLElement& collision, GeometrySpec& geometry) override;
  std::optional<Rgba> colour(const XMLElement& visual) override;
  void connect(const XMLElement& element, JointSpec& joint) override;
  void set_motion(const XMLElement& element, const std::string& type, JointSpec& joint) override;
  void follow(const XMLElement& element, const JointSpec& joint, ModelSpec& spec) override;
  void read_frames(const XMLElement& model, ModelSpec& spec) override;

  double value_of(const XMLElement& element) override { return xml_.number(element); }
  double length(const XMLElement& shape, const char* tag, bool zero_allowed) override;
  Eigen::Vector3d lengths(const XMLElement& shape, const char* tag) override;
  std::optional<MeshSpec> mesh(const XMLElement& element, bool is_collision) override;
  std::optional<ShapeSpec> own_shape(const XMLElement& element, const std::string& type) override;
  void optimization(const XMLElement& element, MeshSpec& mesh);

  SdfPose pose(const XMLElement& owner);
  void list_frames(const XMLElement& model);
  void place_model(const XMLElement& model, ModelSpec& spec);
  FrameSpec frame(const XMLElement& element);
  JointAxisSpec axis(const XMLElement& joint_element, const char* tag, const std::string& joint, bool has_limits);
  void axis_limits(const XMLElement& limit, bool has_limits, JointAxisSpec& axis);

  double number(const XMLElement& owner, const char* tag, double fallback);
  Eigen::Vector3d vector(const XMLElement& owner, const char* tag, const Eigen::Vector3d& fallback);

  SdfFrames frames_;
  double version_;
};

// ---------------------------------------------------------------------------------------------------------- numbers

double SdfReader::number(const XMLElement& owner, const char* tag, double fallback) {
  const XMLElement* element = xml_.only_child(owner, tag);
  return element == nullptr ? fallback : xml_.number(*element);
}

Eigen::Vector3d SdfReader::vector(const XMLElement& owner, const char* tag, const Eigen::Vector3d& fallback) {
  const XMLElement* element = xml_.only_child(owner, tag);
  return element == nullptr ? fallback : xml_.vector(*element);
}

/// 1 as in SDFormat if not given.
double SdfReader::length(const XMLElement& shape, const char* tag, bool zero_allowed) {
  return xml_.positive(shape, tag, number(shape, tag, 1.0), zero_allowed);
}

Eigen::Vector3d SdfReader::lengths(const XMLElement& shape, const char* tag) {
  return vector(shape, tag, Eigen::Vector3d::Ones());
}

// ----------------------------------------------------------------------------------------------------------- frames

/// <pose relative_to degrees rotation_format>: x y z and roll pitch yaw or a quaternion x y z w.
SdfPose SdfReader::pose(const XMLElement& owner) {
  const XMLElement* element = xml_.only_child(owner, "pose");
  if (element == nullptr) return {};
  SdfPose pose{.relative_to = attribute_or(*element, "relative_to", attribute_or(*element, "frame", ""))};
  const std::string format = attribute_or(*element, "rotation_format", "euler_rpy");
  if (xml_.text(*element).empty()) return pose;
  if (format == "quat_xyzw") {
    const auto v = xml_.numbers(*element, xml_.text(*element), 7);
    const Eigen::Vector4d quat_wxyz(v[6], v[3], v[4], v[5]);
    if (quat_wxyz.norm() == 0)
      xml_.error(*element, "the quaternion of <pose> is zero");
    else if (quat_wxyz.allFinite())
      pose.X = make_transform(rotation_from_quat_wxyz(quat_wxyz), {v[0], v[1], v[2]});
    return pose;
  }
  if (format != "euler_rpy")
    xml_.error(*element, fmt::format("rotation_format '{}' is unknown; valid: euler_rpy, quat_xyzw", format));
  const auto v = xml_.numbers(*element, xml_.text(*element), 6);
  const double unit = attribute_or(*element, "degrees", "false") == "true" ? std::numbers::pi / 180 : 1.0;
  pose.X = make_transform(rotation_from_rpy(unit * Eigen::Vector3d(v[3], v[4], v[5])), {v[0], v[1], v[2]});
  return pose;
}

/// Registers every frame of the model under its default parent: __model__ for links, the child for joints, what it is
/// attached to for frames.
void SdfReader::list_frames(const XMLElement& model) {
  const auto base = attribute_or(model, "canonical_link", "");
  const XMLElement* first_link = model.FirstChildElement("link");
  const std::string canonical = !base.empty() || first_link == nullptr ? base : attribute_or(*first_link, "name", "");
  frames_.add("__model__", "__model__", RigidTransform::Identity(), canonical, xml_.where(model));
  const auto add = [&](const XMLElement& element, const std::string& fallback, const std::string& attached_to) {
    const SdfPose given = pose(element);
    frames_.add(attribute_or(element, "name", ""), given.relative_to.empty() ? fallback : given.relative_to, given.X,
                attached_to, xml_.where(element));
  };
  for_each(model, "link", [&](const XMLElement& link) { add(link, "__model__", ""); });
  for_each(model, "frame", [&](const XMLElement& frame) {
    const std::string attached_to = attribute_or(frame, "attached_to", "");
    add(frame, attached_to.empty() ? "__model__" : attached_to, attached_to.empty() ? "__model__" : attached_to);
  });
  for_each(model, "joint", [&](const XMLElement& joint) {
    const XMLElement* child = joint.FirstChildElement("child");
    const std::string child_name = child == nullptr ? "__model__" : xml_.text(*child);
    add(joint, child_name, child_name);
  });
}

FrameSpec SdfReader::frame(const XMLElement& element) {
  xml_.warn_of_others(element, {"pose"});
  FrameSpec frame{.name = xml_.required_attribute(element, "name"), .where = xml_.where(element)};
  frame.attached_to = frames_.link(frame.name, frame.where);
  if (frame.attached_to.empty()) return frame;
  frame.X_AF = frames_.pose(frame.attached_to, frame.where).inverse() * frames_.pose(frame.name, frame.where);
  return frame;
}

/// <model><pose> places the model frame, or the frame that `placement_frame` names.
void SdfReader::place_model(const XMLElement& model, ModelSpec& spec) {
  const SdfPose given = pose(model);
  if (!given.relative_to.empty() && given.relative_to != "world")
    xml_.error(*model.FirstChildElement("pose"),
               fmt::format("the pose of a model can only be relative to the world, not to '{}'", given.relative_to));
  spec.X_WModel = given.X;
  const std::string placed = attribute_or(model, "placement_frame", "");
  if (!placed.empty()) spec.X_WModel = given.X * frames_.pose(placed, spec.where).inverse();
}

// ------------------------------------------------------------------------------------------------------------ links

/// Mass 1 kg and unit moments of inertia where <inertial> leaves them out, as in SDFormat.
InertialSpec SdfReader::inertial(const XMLElement& element) {
  xml_.warn_of_others(element, {"pose", "mass", "inertia"});
  const SdfPose given = pose(element);
  InertialSpec inertial{
      .mass = number(element, "mass", 1.0), .p_LCom = given.X.translation(), .I_Com_L = Eigen::Matrix3d::Identity()};
  if (!given.relative_to.empty()) xml_.error(element, "relative_to is not allowed in the pose of <inertial>");
  const XMLElement* moments = xml_.only_child(element, "inertia");
  if (moments == nullptr) {
    xml_.warning_once("default inertia", element,
                      "<inertial> without <inertia>: 1 kg m² about every axis, SDFormat's default");
    return inertial;
  }
  xml_.warn_of_others(*moments, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"});
  Eigen::Matrix3d I;
  const double ixy = number(*moments, "ixy", 0), ixz = number(*moments, "ixz", 0), iyz = number(*moments, "iyz", 0);
  I << number(*moments, "ixx", 1), ixy, ixz,  //
      ixy, number(*moments, "iyy", 1), iyz,   //
      ixz, iyz, number(*moments, "izz", 1);
  inertial.I_Com_L = given.X.linear() * I * given.X.linear().transpose();
  return inertial;
}

std::optional<ShapeSpec> SdfReader::own_shape(const XMLElement& element, const std::string& type) {
  if (type == "drake:ellipsoid")
    return EllipsoidSpec{
        {length(element, "drake:a", false), length(element, "drake:b", false), length(element, "drake:c", false)}};
  if (type != "plane") return std::nullopt;
  const Eigen::Vector3d normal = vector(element, "normal", Eigen::Vector3d::UnitZ());
  if (normal.isZero(0)) xml_.error(element, "the normal of <plane> is zero");
  return HalfSpaceSpec{normal.normalized(), 0.0};
}

std::optional<MeshSpec> SdfReader::mesh(const XMLElement& element, bool is_collision) {
  xml_.warn_of_others(element, {"uri", "scale", "drake:declare_convex", "convex_decomposition"});
  const XMLElement* uri = xml_.only_child(element, "uri");
  if (uri == nullptr) {
    xml_.error(element, "<mesh> needs a <uri>");
    return std::nullopt;
  }
  auto mesh = xml_.mesh(*uri, xml_.text(*uri), vector(element, "scale", Eigen::Vector3d::Ones()), is_collision);
  if (mesh && is_collision) optimization(element, *mesh);
  return mesh;
}

/// What the mesh collides as: `optimization`, <convex_decomposition> and Drake's word for convex meshes.
void SdfReader::optimization(const XMLElement& element, MeshSpec& mesh) {
  mesh.is_convex = xml_.only_child(element, "drake:declare_convex") != nullptr;
  const std::string how = attribute_or(element, "optimization", "");
  if (how == "convex_hull") mesh.is_convex = true;
  if (how == "convex_decomposition") {
    mesh.decompose = DecompositionSpec{.parts = 16};  // SDFormat's own default
    if (const XMLElement* settings = xml_.only_child(element, "convex_decomposition")) {
      xml_.warn_of_others(*settings, {"max_convex_hulls"});
      const double parts = number(*settings, "max_convex_hulls", mesh.decompose->parts);
      if (!(parts >= 1 && parts <= 1000))
        xml_.error(*settings, fmt::format("<max_convex_hulls> {} must be from 1 to 1000", parts));
      else
        mesh.decompose->parts = static_cast<int>(parts);
    }
  } else if (!how.empty() && how != "convex_hull") {
    xml_.error(element, fmt::format("<mesh> optimization '{}': valid are convex_hull, convex_decomposition", how));
  }
}

/// <drake:proximity_properties> and <surface><friction><ode><mu>.
void SdfReader::friction(const XMLElement& collision, GeometrySpec& geometry) {
  ModelReader::friction(collision, geometry);
  const XMLElement* surface = xml_.only_child(collision, "surface");
  if (surface == nullptr) return;
  xml_.warn_of_others(*surface, {"friction"});
  const XMLElement* friction = xml_.only_child(*surface, "friction");
  if (friction == nullptr) return;
  xml_.warn_of_others(*friction, {"ode"});
  const XMLElement* ode = xml_.only_child(*friction, "ode");
  if (ode == nullptr) return;
  xml_.warn_of_others(*ode, {"mu", "mu2"});
  geometry.mu = coefficient(*ode, "mu");
  const std::optional<double> across = coefficient(*ode, "mu2");
  if (across && across != geometry.mu)
    xml_.warning_once("mu2", *ode, "<mu2> differs from <mu>: friction is the same in all directions, <mu> is taken");
}

std::optional<ModelReader::Rgba> SdfReader::colour(const XMLElement& visual) {
  const XMLElement* material = xml_.only_child(visual, "material");
  if (material == nullptr) return std::nullopt;
  xml_.warn_of_others(*material, {"diffuse"});
  const XMLElement* diffuse = xml_.only_child(*material, "diffuse");
  if (diffuse == nullptr) return std::nullopt;
  return xml_.rgba(*diffuse, xml_.text(*diffuse));
}

RigidTransform SdfReader::geometry_pose(const XMLElement& element, const LinkSpec& link) {
  const SdfPose given = pose(element);
  if (given.relative_to.empty()) return given.X;
  return link.X_ML.inverse() * frames_.pose(given.relative_to, xml_.where(element)) * given.X;
}

// ----------------------------------------------------------------------------------------------------------- joints

void SdfReader::axis_limits(const XMLElement& limit, bool has_limits, JointAxisSpec& axis) {
  xml_.warn_of_others(limit, {"lower", "upper", "effort", "velocity"});
  const auto read = [&](const char* tag, double fallback) {
    const XMLElement* element = xml_.only_child(limit, tag);
    return element == nullptr ? fallback : xml_.number(*element, true);
  };
  const double lower = read("lower", -kInfinity), upper = read("upper", kInfinity), effort = read("effort", kInfinity);
  if (has_limits && lower > -kNoLimit) axis.lower = lower;
  if (has_limits && upper < kNoLimit) axis.upper = upper;
  const double velocity = read("velocity", kInfinity);
  // Negative limits are SDFormat's way to say none.
  if (effort >= 0) axis.effort_limit = effort;
  if (velocity >= 0) axis.velocity_limit = velocity;
}

/// <axis>: xyz in the joint frame unless expressed_in names another (the model frame before version 1.5).
JointAxisSpec SdfReader::axis(const XMLElement& joint_element, const char* tag, const std::string& joint,
                              bool has_limits) {
  JointAxisSpec axis{.coordinate = joint};
  const XMLElement* element = xml_.only_child(joint_element, tag);
  if (element == nullptr) {
    xml_.error(joint_element, fmt::format("joint '{}' needs an <{}>", joint, tag));
    return axis;
  }
  xml_.warn_of_others(*element, {"xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"});
  bool in_model_frame = version_ < 1.45;
  if (const XMLElement* legacy = element->FirstChildElement("use_parent_model_frame"))
    in_model_frame = xml_.boolean(*legacy);
  std::string expressed_in = in_model_frame ? "__model__" : "";
  if (const XMLElement* xyz = xml_.only_child(*element, "xyz")) {
    axis.axis_J = xml_.vector(*xyz);
    refuse_zero_axis(*xyz, axis.axis_J, joint);
    expressed_in = attribute_or(*xyz, "expressed_in", expressed_in);
  }
  if (!expressed_in.empty()) {
    const SourceLocation where = xml_.where(*element);
    axis.axis_J =
        frames_.pose(joint, where).linear().transpose() * frames_.pose(expressed_in, where).linear() * axis.axis_J;
  }
  if (const XMLElement* limit = xml_.only_child(*element, "limit")) axis_limits(*limit, has_limits, axis);
  if (const XMLElement* dynamics = xml_.only_child(*element, "dynamics")) {
    xml_.warn_of_others(*dynamics, {"damping", "friction", "spring_reference", "spring_stiffness"});
    axis.damping = number(*dynamics, "damping", 0.0);
    axis.spring_stiffness = number(*dynamics, "spring_stiffness", 0.0);
    axis.spring_reference = number(*dynamics, "spring_reference", 0.0);
    if (number(*dynamics, "friction", 0.0) != 0)
      xml_.warning_once("friction", *dynamics, "<friction> inside <dynamics> is not read");
  }
  return axis;
}

/// Parent and child may be frames: what counts is the link they sit on.
void SdfReader::connect(const XMLElement& element, JointSpec& joint) {
  const RigidTransform X_MJ = frames_.pose(attribute_or(element, "name", ""), joint.where);
  const auto linked = [&](const char* tag, RigidTransform& X_LJ) -> std::string {
    const XMLElement* named = xml_.only_child(element, tag);
    if (named == nullptr || xml_.text(*named).empty()) {
      refuse_missing(element, tag, joint);
      return "";
    }
    const std::string link = frames_.link(xml_.text(*named), xml_.where(*named));
    const bool on_link = !link.empty() && link != "world";
    X_LJ = (on_link ? frames_.pose(link, joint.where).inverse() : RigidTransform::Identity()) * X_MJ;
    return link;
  };
  joint.parent = linked("parent", joint.X_PJ);
  joint.child = linked("child", joint.X_CJ);
}

void SdfReader::set_motion(const XMLElement& element, const std::string& type, JointSpec& joint) {
  if (type == "revolute" || type == "continuous" || type == "prismatic") {
    joint.kind = JointKind::kAxes;
    joint.axes = {axis(element, "axis", joint.name, type != "continuous")};
    joint.axes[0].rotational = type != "prismatic";
    if (const XMLElement* gains = xml_.only_child(element, "drake:controller_gains"))
      joint.axes[0].stiffness = xml_.positive(*gains, "p", xml_.number_attribute(*gains, "p").value_or(0.0), true);
  } else if (type == "universal") {
    joint.kind = JointKind::kAxes;
    joint.axes = {axis(element, "axis", joint.name, true), axis(element, "axis2", joint.name, true)};
    joint.axes[0].coordinate += "_1";
    joint.axes[1].coordinate += "_2";
  } else if (type == "ball") {
    joint.kind = JointKind::kBall;
  } else if (type != "fixed") {
    refuse_type(element, type, joint);
  }
}

/// <mimic> of an axis:  q = multiplier · (q of the other − reference) + offset.
void SdfReader::follow(const XMLElement& element, const JointSpec& joint, ModelSpec& spec) {
  for (std::size_t i = 0; i < joint.axes.size(); ++i) {
    const XMLElement* const axis = element.FirstChildElement(i == 0 ? "axis" : "axis2");
    const XMLElement* const mimic = axis == nullptr ? nullptr : xml_.only_child(*axis, "mimic");
    if (mimic == nullptr) continue;
    xml_.warn_of_others(*mimic, {"multiplier", "offset", "reference"});
    CouplingSpec coupling{.follower = joint.axes[i].coordinate,
                          .leader = xml_.required_attribute(*mimic, "joint"),
                          .ratio = number(*mimic, "multiplier", 1.0),
                          .where = xml_.where(*mimic)};
    coupling.offset = number(*mimic, "offset", 0.0) - coupling.ratio * number(*mimic, "reference", 0.0);
    const std::size_t of_leader = attribute_or(*mimic, "axis", "axis") == "axis2" ? 1 : 0;
    for (const JointSpec& other : spec.joints)
      if (other.name == coupling.leader && of_leader < other.axes.size())
        coupling.leader = other.axes[of_leader].coordinate;
    spec.couplings.push_back(std::move(coupling));
  }
}

// ------------------------------------------------------------------------------------------------------------ model

void SdfReader::begin(const XMLElement& model) {
  for (const char* nested : {"model", "include"})
    for_each(model, nested, [&](const XMLElement& element) {
      xml_.error(element, fmt::format("<{}> inside <model> is not supported: its links would be missing", nested));
    });
  ModelReader::begin(model);
  list_frames(model);
}

void SdfReader::read_header(const XMLElement& model, ModelSpec& spec) {
  spec.base = attribute_or(model, "canonical_link", "");
  place_model(model, spec);
  if (const XMLElement* is_static = xml_.only_child(model, "static")) spec.is_static = xml_.boolean(*is_static);
}

void SdfReader::read_frames(const XMLElement& model, ModelSpec& spec) {
  for_each(model, "frame", [&](const XMLElement& element) { spec.frames.push_back(frame(element)); });
}

/// The <model> of the file, which may stand in <sdf> or in its only <world>.
const XMLElement* find_model(XmlReader& xml, const XMLElement& root) {
  const XMLElement* holder = &root;
  if (const XMLElement* world = xml.only_child(root, "world")) {
    holder = world;
    xml.warn_of_others(*world, {"model"});
  } else {
    xml.warn_of_others(root, {"model"});
  }
  const XMLElement* model = holder->FirstChildElement("model");
  if (model == nullptr) {
    xml.error(root, "the file holds no <model>");
    return nullptr;
  }
  if (const XMLElement* second = model->NextSiblingElement("model")) {
    xml.error(*second, "a second <model>; a file must hold exactly one");
    return nullptr;
  }
  return model;
}

}  // namespace

std::optional<ModelSpec> load_sdf(const std::string& path, const PackageMap& packages, Diagnostics& diagnostics) {
  return read_model_file(path, packages, diagnostics, sdf_format(),
                         [&](XmlReader& xml, const XMLElement& root) -> std::optional<ModelSpec> {
                           const XMLElement* model = find_model(xml, root);
                           if (model == nullptr) return std::nullopt;
                           const double version = xml.number_attribute(root, "version").value_or(1.7);
                           return SdfReader(xml, diagnostics, version).read(*model);
                         });
}

}  // namespace deft::multibody
