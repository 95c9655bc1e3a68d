#include "deft/collision/coal_guess.hpp"

#include <coal/narrowphase/narrowphase.h>
#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

#include <cmath>

namespace deft::collision {
namespace {

std::shared_ptr<const coal::ShapeBase> make_coal_hull(const Polytope& core) {
  auto points = std::make_shared<std::vector<coal::Vec3s>>(core.vertices.begin(), core.vertices.end());
  auto triangles = std::make_shared<std::vector<coal::Triangle>>();
  for (const auto& face : core.faces) {
    for (int k = 1; k + 1 < face.count; ++k) {
      triangles->emplace_back(core.corners[face.first], core.corners[face.first + k], core.corners[face.first + k + 1]);
    }
  }
  return std::make_shared<coal::Convex<coal::Triangle>>(points, static_cast<unsigned>(points->size()), triangles,
                                                        static_cast<unsigned>(triangles->size()));
}

}  // namespace

std::shared_ptr<const coal::ShapeBase> make_coal_shape(const Shape& shape) {
  std::shared_ptr<coal::ShapeBase> twin;
  switch (shape.kind) {
    case Kind::kSphere:
      return std::make_shared<coal::Sphere>(0.0);
    case Kind::kCapsule:
      return std::make_shared<coal::Capsule>(0.0, 2 * shape.half.z());
    case Kind::kBox:
      return std::make_shared<coal::Box>(2 * shape.half);
    case Kind::kHull:
      return make_coal_hull(shape.core);
    case Kind::kCylinder:
      return std::make_shared<coal::Cylinder>(shape.half.x(), 2 * shape.half.z());
    case Kind::kEllipsoid:
      return std::make_shared<coal::Ellipsoid>(shape.half);
    case Kind::kHalfSpace:
      return nullptr;
  }
  return twin;
}

struct CoalGuess::Impl {
  coal::GJKSolver solver;
};

CoalGuess::CoalGuess() : impl_(std::make_unique<Impl>()) {
  coal::DistanceRequest request;
  request.gjk_tolerance = 1e-10;
  request.gjk_max_iterations = 256;
  request.epa_tolerance = 1e-6;  // lower values make it fail
  request.epa_max_iterations = 64;
  request.gjk_initial_guess = coal::GJKInitialGuess::DefaultGuess;
  impl_->solver.set(request);
}
CoalGuess::~CoalGuess() = default;
CoalGuess::CoalGuess(CoalGuess&&) noexcept = default;
CoalGuess& CoalGuess::operator=(CoalGuess&&) noexcept = default;

std::optional<Vector3d> CoalGuess::normal(const PosedShape& a, const PosedShape& b) {
  const coal::Transform3s X_A(a.R_WG, a.p_WG), X_B(b.R_WG, b.p_WG);
  coal::Vec3s p_A, p_B, n_AB;
  const double distance = impl_->solver.shapeDistance<coal::ShapeBase, coal::ShapeBase>(
      *a.shape->coal_twin, X_A, *b.shape->coal_twin, X_B, true, p_A, p_B, n_AB);
  if (!(std::abs(distance) < 1e3) || !n_AB.allFinite() || !(std::abs(n_AB.norm() - 1) < 1e-3)) return std::nullopt;
  return Vector3d(-n_AB.normalized());
}

}  // namespace deft::collision
