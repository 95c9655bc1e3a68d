#pragma once
// Small worlds whose contact sets are looked at.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "deft/collision/collision_world.hpp"
#include "reference_shapes.hpp"

namespace deft::collision::contact_sets {

using namespace reference;
using multibody::ShapeSpec;

inline constexpr double kDegree = std::numbers::pi / 180;

/// Geometry k on body k + 1; everything may touch everything.
struct Scene {
  CollisionWorld world;
  CollisionWorkspace workspace;
  std::vector<RigidTransform> X;
  std::vector<ContactPair> contacts;

  explicit Scene(const std::vector<ShapeSpec>& shapes)
      : Scene(shapes, std::vector<unsigned char>(shapes.size() * shapes.size(), 1)) {}
  Scene(const std::vector<ShapeSpec>& shapes, std::vector<unsigned char> allowed)
      : world(make_world(shapes, std::move(allowed))),
        workspace(world.make_workspace()),
        X(shapes.size() + 1, RigidTransform::Identity()) {}

  const std::vector<ContactPair>& find(double margin) {
    world.find_contacts(X, margin, workspace, contacts);
    return contacts;
  }

 private:
  static CollisionWorld make_world(const std::vector<ShapeSpec>& shapes, std::vector<unsigned char> allowed) {
    std::vector<GeometryDescription> geometries;
    for (const auto& shape : shapes) {
      const int k = static_cast<int>(geometries.size());
      geometries.push_back({.name = "g" + std::to_string(k), .body = k + 1, .shape = shape});
    }
    Diagnostics diagnostics;
    return CollisionWorld::build(std::move(geometries), std::move(allowed), diagnostics);
  }
};

inline ShapeSpec cube(double size) { return multibody::BoxSpec{Vector3d::Constant(size)}; }
inline ShapeSpec ground() { return multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0.0}; }

inline double total_weight(const std::vector<ContactPair>& contacts) {
  double sum = 0;
  for (const auto& c : contacts) sum += c.weight;
  return sum;
}

inline void expect_consistent(const std::vector<ContactPair>& contacts, double margin) {
  for (const auto& c : contacts) {
    EXPECT_LT(c.gap, margin);
    EXPECT_LT((c.p_WA - c.p_WB - c.gap * c.nhat_BA_W).norm(), 1e-14);
    EXPECT_NEAR(c.nhat_BA_W.norm(), 1.0, 1e-14);
    EXPECT_GE(c.weight, 0.0);
  }
  if (contacts.empty()) return;
  EXPECT_NEAR(total_weight(contacts), 1.0, 1e-12);
}

}  // namespace deft::collision::contact_sets
