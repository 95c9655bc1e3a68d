#pragma once
// Shapes written in a scene file, and the mass properties of a solid of them.

#include <optional>
#include <string>
#include <vector>

#include "deft/io/text/yaml_reader.hpp"
#include "deft/scene/description/scene_spec.hpp"

namespace deft::io {

/// Reads `{sphere: {radius}}`, `{box: {size}}`, `{capsule|cylinder: {radius, length}}`, `{ellipsoid: {radii}}`,
/// `{half_space: {normal, offset}}`, `{prism: {vertices, height}}`, `{mesh: {file, scale}}`. A half-space's normal
/// comes out with length 1, a prism's vertices counter-clockwise; they must form a convex polygon. A mesh keeps its
/// file name as written.
std::optional<multibody::ShapeSpec> read_shape(const YamlNode& node, const YamlReader& read);

/// The names of the shapes, which are the keys that a shape map may hold.
std::span<const std::string_view> shape_words();

/// Volume, centroid and inertia of one shape of density 1, in the shape's frame G. Zero for points.
struct SolidProperties {
  double volume = 0;                                  // [m³]
  Eigen::Vector3d p_GCom = Eigen::Vector3d::Zero();   // [m]
  Eigen::Matrix3d I_Com_G = Eigen::Matrix3d::Zero();  // about the centroid, per unit density [m⁵]
};
/// Those of one shape; nothing for half-spaces and meshes.
std::optional<SolidProperties> solid_properties(const multibody::ShapeSpec& shape);

/// A solid of uniform density and mass m that fills all `shapes` (overlaps count twice): I_C = Σ R I_i Rᵀ + V_i (|d_i|²
/// 1 − d_i d_iᵀ), scaled by m/V. Without volume (points) the inertia is zero and the centre of mass the mean of the
/// shapes' centres.
/// @returns nothing if a shape has no solid (half-space, mesh).
std::optional<multibody::InertialSpec> solid_inertia(const std::vector<multibody::GeometrySpec>& shapes, double mass);

}  // namespace deft::io
