#include "deft/collision/decomposition/convex_parts.hpp"

#include <stdexcept>

#include "deft/collision/decomposition/coacd_process.hpp"
#include "deft/collision/shapes/convex_hull.hpp"

namespace deft::collision {
namespace {

std::vector<Vector3d> corners_of(const TriangleMesh& mesh) {
  std::vector<Vector3d> points;
  for (std::size_t i = 0; i < mesh.vertices.size(); i += 3) points.emplace_back(mesh.vertices.data() + i);
  return points;
}

}  // namespace

std::vector<TriangleMesh> convex_parts(const TriangleMesh& mesh, const multibody::DecompositionSpec& how) {
  make_convex_hull(corners_of(mesh));  // says what is wrong with flat ones
  std::vector<TriangleMesh> parts = ask_coacd(mesh, how);
  if (parts.empty()) throw std::runtime_error("CoACD finds no parts of the mesh");
  return parts;
}

}  // namespace deft::collision
