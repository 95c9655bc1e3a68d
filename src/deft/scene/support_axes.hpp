#pragma once
// How an object lies on its support, in a plane of motion.

#include <array>

#include "deft/math/rotation.hpp"
#include "deft/scene/scene.hpp"

namespace deft::scene {

/// The axes in which a `limit_surface` is given: body axes (a, b, n), n the one along the plane's normal (either way),
/// a and b the others in their order. Loads are forces along a and b [N] and the moment about n [N·m], twists the
/// velocities to match, about the body's origin. A motion in the plane does not change them. @pre not space.
std::array<int, 3> support_axes(Plane plane, const RigidTransform& X_WB);

/// μN of an object's flat support [N]: its friction times the normal force that the scene states, or the weight.
/// @pre object.limit_surface has a support. @throws InputError that names the object if there is neither.
double support_friction_N(const Scene& scene, const Object& object);

}  // namespace deft::scene
