#pragma once
// Shapes written in a scene file.

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

}  // namespace deft::io
