#include "deft/scene/support_axes.hpp"

#include <fmt/core.h>

#include "deft/scene/motion_plane.hpp"

namespace deft::scene {

std::array<int, 3> support_axes(Plane plane, const RigidTransform& X_WB) {
  Eigen::Index along = 0;
  (plane_normal(plane).transpose() * X_WB.linear()).cwiseAbs().maxCoeff(&along);
  return {along == 0 ? 1 : 0, along == 2 ? 1 : 2, static_cast<int>(along)};
}

double support_friction_N(const Scene& scene, const Object& object) {
  const SupportSpec& support = *object.limit_surface->support;
  if (support.force_N) return support.mu * *support.force_N;
  const double weight = object.mass * scene.spec().gravity_W.norm();
  if (!(weight > 0))
    throw InputError(
        object.limit_surface->where,
        fmt::format("limit_surface of '{}': give 'force' [N], or a mass and gravity along the plane's normal",
                    object.name));
  return support.mu * weight;
}

}  // namespace deft::scene
