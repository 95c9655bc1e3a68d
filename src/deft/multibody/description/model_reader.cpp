#include "deft/multibody/description/model_reader.hpp"

#include <fmt/format.h>

#include <string_view>

namespace deft::multibody {

std::optional<ModelSpec> read_model_file(
    const std::string& path, const PackageMap& packages, Diagnostics& diagnostics, const ModelFormat& format,
    const std::function<std::optional<ModelSpec>(XmlReader& xml, const XMLElement& root)>& read) {
  XmlReader xml(path, packages, diagnostics);
  const XMLElement* root = xml.open();
  if (root == nullptr) return std::nullopt;
  if (std::string_view(root->Name()) != format.root) {
    xml.error(*root, fmt::format("{} file starts with <{}>, not <{}>", format.name, format.root, root->Name()));
    return std::nullopt;
  }
  std::optional<ModelSpec> model = read(xml, *root);
  if (xml.has_errors()) return std::nullopt;
  return model;
}

ModelSpec ModelReader::read(const XMLElement& model) {
  begin(model);
  ModelSpec spec{.name = model_name(model), .where = xml_.where(model)};
  read_header(model, spec);
  for_each(model, "link", [&](const XMLElement& element) {
    LinkSpec read = link(element);
    if (is_kept(element, read)) spec.links.push_back(std::move(read));
  });
  for_each(model, "joint", [&](const XMLElement& element) { spec.joints.push_back(joint(element)); });
  std::size_t j = 0;
  for_each(model, "joint", [&](const XMLElement& element) { follow(element, spec.joints[j++], spec); });
  read_frames(model, spec);
  if (spec.links.empty()) xml_.error(model, fmt::format("{} '{}' has no link", model.Name(), spec.name));
  return spec;
}

// ------------------------------------------------------------------------------------------------------------ links

LinkSpec ModelReader::link(const XMLElement& element) {
  xml_.warn_of_others(element, format_.link);
  LinkSpec link{.name = xml_.required_attribute(element, "name"), .where = xml_.where(element)};
  link.X_ML = link_pose(element, link);
  if (const XMLElement* child = xml_.only_child(element, "inertial")) link.inertial = inertial(*child);
  link.collisions = geometries(element, "collision", link);
  link.visuals = geometries(element, "visual", link);
  return link;
}

/// Those of one tag, collision or visual; the n-th without a name is called `tag`_n.
std::vector<GeometrySpec> ModelReader::geometries(const XMLElement& element, const char* tag, const LinkSpec& link) {
  const bool is_collision = std::string_view(tag) == "collision";
  std::vector<GeometrySpec> list;
  int index = 0;
  for_each(element, tag, [&](const XMLElement& child) {
    const auto read = [&] { return geometry(child, link, is_collision); };
    auto spec = is_collision ? read() : xml_.drawn(read);
    const int own_index = index++;
    if (!spec) return;
    if (spec->name.empty()) spec->name = fmt::format("{}_{}", tag, own_index);
    list.push_back(std::move(*spec));
  });
  return list;
}

std::optional<GeometrySpec> ModelReader::geometry(const XMLElement& element, const LinkSpec& link, bool is_collision) {
  xml_.warn_of_others(element, is_collision ? format_.collision : format_.visual);
  const XMLElement* geometry = xml_.only_child(element, "geometry");
  if (geometry == nullptr) {
    xml_.error(element, fmt::format("<{}> needs a <geometry>", element.Name()));
    return std::nullopt;
  }
  const auto read = shape(*geometry, is_collision);
  if (!read) return std::nullopt;
  GeometrySpec spec{.name = attribute_or(element, "name", ""), .shape = *read, .where = xml_.where(element)};
  spec.X_LG = geometry_pose(element, link);
  if (is_collision)
    friction(element, spec);
  else
    spec.rgba = xml_.drawn([&] { return colour(element); });
  return spec;
}

std::optional<ShapeSpec> ModelReader::shape(const XMLElement& geometry, bool is_collision) {
  const XMLElement* element = geometry.FirstChildElement();
  if (element == nullptr) {
    xml_.error(geometry, fmt::format("<geometry> is empty; valid: {}", format_.geometries));
    return std::nullopt;
  }
  const std::string type = element->Name();
  if (type == "sphere") return SphereSpec{length(*element, "radius", true)};
  if (type == "cylinder") return CylinderSpec{length(*element, "radius", false), length(*element, "length", false)};
  if (type == "capsule" || type == "drake:capsule")
    return CapsuleSpec{length(*element, "radius", false), length(*element, "length", false)};
  if (type == "box") return BoxSpec{positive_lengths(*element, "size")};
  if (type == "ellipsoid") return EllipsoidSpec{positive_lengths(*element, "radii")};
  if (type == "mesh") return mesh(*element, is_collision);
  if (auto own = own_shape(*element, type)) return own;
  xml_.unsupported_geometry(*element, format_.geometries, is_collision);
  return std::nullopt;
}

Eigen::Vector3d ModelReader::positive_lengths(const XMLElement& shape, const char* name) {
  const Eigen::Vector3d read = lengths(shape, name);
  xml_.positive(shape, "every size", read.minCoeff());
  return read;
}

std::optional<double> ModelReader::coefficient(const XMLElement& owner, const char* tag) {
  const XMLElement* element = xml_.only_child(owner, tag);
  if (element == nullptr) return std::nullopt;
  return xml_.positive(*element, "a friction coefficient", value_of(*element), true);
}

void ModelReader::friction(const XMLElement& collision, GeometrySpec& geometry) {
  const XMLElement* properties = xml_.only_child(collision, "drake:proximity_properties");
  if (properties == nullptr) return;
  xml_.warn_of_others(*properties, {"drake:mu_static", "drake:mu_dynamic"});
  geometry.mu_static = coefficient(*properties, "drake:mu_static");
  geometry.mu_dynamic = coefficient(*properties, "drake:mu_dynamic");
}

// ----------------------------------------------------------------------------------------------------------- joints

JointSpec ModelReader::joint(const XMLElement& element) {
  xml_.warn_of_others(element, format_.joint);
  JointSpec joint{.name = xml_.required_attribute(element, "name"), .where = xml_.where(element)};
  connect(element, joint);
  set_motion(element, xml_.required_attribute(element, "type"), joint);
  return joint;
}

void ModelReader::refuse_type(const XMLElement& element, const std::string& type, const JointSpec& joint) {
  xml_.error(element,
             fmt::format("joint '{}': type '{}' is not supported; valid: {}", joint.name, type, format_.joint_types));
}

void ModelReader::refuse_missing(const XMLElement& element, const char* tag, const JointSpec& joint) {
  xml_.error(element, fmt::format("joint '{}' needs a <{}>", joint.name, tag));
}

void ModelReader::refuse_zero_axis(const XMLElement& element, const Eigen::Vector3d& axis, const std::string& joint) {
  if (axis.isZero(0)) xml_.error(element, fmt::format("joint '{}': the axis is zero", joint));
}

}  // namespace deft::multibody
