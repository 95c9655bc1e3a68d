#pragma once
// A body on three feet: unlike a box on four corners, the loads of its feet follow from its motion.

#include "support/scene_builder.hpp"

namespace deft::test {

/// A plate of 0.2 × 0.16 × 0.04 on three balls of radius 0.02 below it, free; its origin stands 0.05 above the ground.
inline ModelSpec tripod(const std::string& name, double mass, double inertia, double mu,
                        const RigidTransform& X_WB = at(0, 0, 0.05)) {
  ModelSpec model = free_body(name, multibody::BoxSpec{{0.2, 0.16, 0.04}}, mass, inertia, mu, X_WB);
  auto& shapes = model.links[0].collisions;
  const Eigen::Vector2d feet[] = {{0.08, 0.01}, {-0.06, 0.07}, {-0.05, -0.06}};
  for (const Eigen::Vector2d& foot : feet) {
    multibody::GeometrySpec ball = shapes[0];
    ball.name = "foot" + std::to_string(shapes.size());
    ball.shape = multibody::SphereSpec{0.02};
    ball.X_LG = at(foot.x(), foot.y(), -0.03);
    shapes.push_back(ball);
  }
  return model;
}

}  // namespace deft::test
