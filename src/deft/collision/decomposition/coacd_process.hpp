#pragma once
// CoACD, asked in a process of its own. Internal to the module.

#include <vector>

#include "deft/collision/shapes/triangle_mesh.hpp"
#include "deft/multibody/description/shape_spec.hpp"

namespace deft::collision {

/// The convex parts that CoACD makes of a surface. Its Python package is looked for where DEFT_COACD_PYTHON names an
/// interpreter, else in the environment of the build, else in python3. @throws InputError if it is in none of them,
/// std::runtime_error with its last words if it fails.
std::vector<TriangleMesh> ask_coacd(const TriangleMesh& mesh, const multibody::DecompositionSpec& how);

}  // namespace deft::collision
