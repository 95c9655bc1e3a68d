// Sampled points lie on the surface, with its normal, and are uniform by area.

#include "deft/collision/shapes/surface.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "deft/collision/collision_world.hpp"
#include "deft/math/random.hpp"

namespace deft::collision {
namespace surface_test {

using std::numbers::pi;

Shape make_shape(const multibody::ShapeSpec& spec) {
  GeometryDescription geometry{.name = "it", .body = 1, .shape = spec};
  GeometryInfo info;
  Diagnostics diagnostics;
  return build_shape(geometry, info, diagnostics);
}

/// A small sphere whose centre is the sampled point moved outwards by its radius touches the surface there.
class SurfacePoints : public testing::TestWithParam<std::pair<const char*, multibody::ShapeSpec>> {};

TEST_P(SurfacePoints, LieOnTheSurfaceWithItsNormal) {
  Diagnostics diagnostics;
  std::vector<GeometryDescription> geometries{{.name = "shape", .body = 1, .shape = GetParam().second},
                                              {.name = "probe", .body = 2, .shape = multibody::SphereSpec{0.01}}};
  geometries[0].X_BG = make_transform(exp_so3({0.3, -0.5, 0.2}), {0.1, 0.2, -0.3});
  const CollisionWorld world = CollisionWorld::build(geometries, {0, 1, 1, 0}, diagnostics);
  std::vector<RigidTransform> X_WB(3, RigidTransform::Identity());
  X_WB[1] = make_transform(exp_so3({-1, 0.4, 2}), {1, 0, 0});
  for (std::uint64_t k = 0; k < 500; ++k) {
    const SurfacePoint point =
        world.surface_point(0, {random_uniform(1, k, 0), random_uniform(1, k, 1), random_uniform(1, k, 2)});
    EXPECT_NEAR(point.n.norm(), 1, 1e-12);
    const Eigen::Vector3d n = X_WB[1].linear() * point.n;
    X_WB[2].translation() = X_WB[1] * point.p + 0.02 * n;
    const ContactPair pair = world.signed_distance(1, 0, X_WB);
    EXPECT_NEAR(pair.gap, 0.01, 1e-9) << k;
    EXPECT_LT((pair.nhat_BA_W - n).norm(), 1e-6) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SurfacePoints,
                         testing::Values(std::pair{"sphere", multibody::ShapeSpec(multibody::SphereSpec{0.2})},
                                         std::pair{"box", multibody::ShapeSpec(multibody::BoxSpec{{0.2, 0.5, 0.9}})},
                                         std::pair{"capsule", multibody::ShapeSpec(multibody::CapsuleSpec{0.1, 0.4})},
                                         std::pair{"cylinder", multibody::ShapeSpec(multibody::CylinderSpec{0.2, 0.5})},
                                         std::pair{"ellipsoid",
                                                   multibody::ShapeSpec(multibody::EllipsoidSpec{{0.1, 0.2, 0.3}})}),
                         [](const auto& param) { return param.param.first; });

TEST(SurfaceArea, IsTheTextbooks) {
  EXPECT_NEAR(surface_area(make_shape(multibody::SphereSpec{0.2})), 4 * pi * 0.04, 1e-14);
  EXPECT_NEAR(surface_area(make_shape(multibody::BoxSpec{{1, 2, 3}})), 22, 1e-12);
  EXPECT_NEAR(surface_area(make_shape(multibody::CylinderSpec{0.5, 2})), 2 * pi * 0.5 * 2.5, 1e-12);
  EXPECT_NEAR(surface_area(make_shape(multibody::CapsuleSpec{0.5, 2})), 4 * pi * 0.25 + 2 * pi * 0.5 * 2, 1e-12);
  EXPECT_NEAR(surface_area(make_shape(multibody::EllipsoidSpec{{0.3, 0.3, 0.3}})), 4 * pi * 0.09, 1e-12);
}

TEST(SurfacePoint, IsUniformByArea) {
  // A box of 1 × 2 × 3: the two faces of 2 × 3 have 12 of 22; in each octant of the cylinder's side as many.
  const Shape box = make_shape(multibody::BoxSpec{{1, 2, 3}});
  const Shape cylinder = make_shape(multibody::CylinderSpec{0.5, 2});
  const int count = 20000;
  int on_x = 0, on_side = 0, upper = 0;
  double squares = 0, products = 0;  // of the places in the face, which is 2 × 3
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::array<double, 3> u{random_uniform(2, k, 0), random_uniform(2, k, 1), random_uniform(2, k, 2)};
    const SurfacePoint point = surface_point(box, u);
    if (std::abs(point.n.x()) > 0.5) {
      ++on_x;
      squares += point.p.y() * point.p.y();
      products += point.p.y() * point.p.z();
    }
    const SurfacePoint side = surface_point(cylinder, u);
    on_side += std::abs(side.n.z()) < 0.5;
    upper += side.p.z() > 0;
  }
  const double spread = 3 * std::sqrt(count * 0.25);  // three deviations
  EXPECT_NEAR(on_x, count * 12.0 / 22.0, spread);
  EXPECT_NEAR(on_side, count * 2.0 / 2.5, spread);
  EXPECT_NEAR(upper, count * 0.5, spread);
  // E[y²] = 1/3 and E[yz] = 0, with deviations of sqrt(4/45) and 1/2 of a sample.
  EXPECT_NEAR(squares / on_x, 1.0 / 3, 3 * std::sqrt(4.0 / 45 / on_x));
  EXPECT_NEAR(products / on_x, 0, 3 * 0.5 / std::sqrt(on_x));
}

TEST(SurfacePoint, RefusesAHalfSpace) {
  const Shape ground = make_shape(multibody::HalfSpaceSpec{{0, 0, 1}, 0});
  EXPECT_TRUE(std::isinf(surface_area(ground)));
  EXPECT_THROW(surface_point(ground, {0.5, 0.5, 0.5}), std::invalid_argument);
}

TEST(SurfacePoint, RefusesNumbersThatAreNoShares) {
  for (const multibody::ShapeSpec& spec :
       {multibody::ShapeSpec(multibody::BoxSpec{{1, 2, 3}}), multibody::ShapeSpec(multibody::SphereSpec{0.2})}) {
    const Shape shape = make_shape(spec);
    EXPECT_THROW(surface_point(shape, {-0.1, 0.5, 0.5}), std::invalid_argument);
    EXPECT_THROW(surface_point(shape, {0.5, 1.1, 0.5}), std::invalid_argument);
    EXPECT_THROW(surface_point(shape, {0.5, 0.5, std::nan("")}), std::invalid_argument);
    EXPECT_NO_THROW(surface_point(shape, {0, 0, 0}));
  }
}

}  // namespace surface_test
}  // namespace deft::collision
