#pragma once
// Points in the place of a mesh file's name: a convex hull that needs no file.

#include <Eigen/Core>
#include <span>
#include <string>
#include <vector>

namespace deft::multibody {

/// What MeshSpec::path holds instead of a file's name: "data:," and the coordinates x y z x y z … [m], which read back
/// to the same doubles.
std::string inline_points(std::span<const Eigen::Vector3d> points);
/// Whether a path holds points.
bool has_inline_points(const std::string& path);
/// Those points. @throws std::runtime_error unless they are triples of finite numbers.
std::vector<Eigen::Vector3d> read_inline_points(const std::string& path);

}  // namespace deft::multibody
