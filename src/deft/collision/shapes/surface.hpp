#pragma once
// Points on the surface of a shape, for samplers of grasps.

#include <array>

#include "deft/collision/shapes/shape.hpp"

namespace deft::collision {

/// Area of the surface [m²]; of an ellipsoid by Thomsen's formula (1 %), of a half-space infinity.
double surface_area(const Shape& shape);

/// A point of the surface and the outward unit normal there, in the geometry's frame, for three numbers in [0, 1).
/// Uniform ones give points uniform by area; on an ellipsoid the normals' pre-images on the sphere are.
/// @throws std::invalid_argument for a half-space and for numbers outside [0, 1].
SurfacePoint surface_point(const Shape& shape, const std::array<double, 3>& uniform);

}  // namespace deft::collision
