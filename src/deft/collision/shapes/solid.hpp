#pragma once
// What solids weigh: volume, centroid and inertia of shapes of uniform density, and the inertias of a model's links
// that its file leaves to their geometries.

#include <array>
#include <optional>
#include <vector>

#include "deft/multibody/description/model_spec.hpp"

namespace deft::collision {

/// Volume, centroid and inertia of one shape of density 1, in the shape's frame G. Zero for points.
struct SolidProperties {
  double volume = 0;                                  // [m³]
  Eigen::Vector3d p_GCom = Eigen::Vector3d::Zero();   // [m]
  Eigen::Matrix3d I_Com_G = Eigen::Matrix3d::Zero();  // about the centroid, per unit density [m⁵]
};
/// Inertia of a point of mass 1 at `d` about the origin [m²].
Eigen::Matrix3d point_inertia(const Eigen::Vector3d& d);
/// Those of one shape; nothing for half-spaces and meshes, which have to be read.
std::optional<SolidProperties> solid_properties(const multibody::ShapeSpec& shape);

/// A solid of uniform density and mass m that fills all `shapes` (overlaps count twice): I_C = Σ R I_i Rᵀ + V_i (|d_i|²
/// 1 − d_i d_iᵀ), scaled by m/V. Without volume (points) the inertia is zero and the centre of mass the mean of the
/// shapes' centres.
/// @returns nothing if a shape has no solid (half-space, mesh).
std::optional<multibody::InertialSpec> solid_inertia(const std::vector<multibody::GeometrySpec>& shapes, double mass);

/// A body bounded by triangles of `points`: what they enclose, or that with every cone from the middle counted as
/// positive. Of a hull give its triangles.
SolidProperties mesh_solid(const std::vector<Eigen::Vector3d>& points, const std::vector<std::array<int, 3>>& triangles,
                           multibody::MeshFilling filling);
/// A surface of density 1 per area; `volume` is its area [m²].
SolidProperties shell_solid(const std::vector<Eigen::Vector3d>& points,
                            const std::vector<std::array<int, 3>>& triangles);

}  // namespace deft::collision
