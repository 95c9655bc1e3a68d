// Contact sets: how many points each pair of shapes has, where they are, their gaps and weights.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "contact_sets.hpp"

namespace deft::collision {
namespace contact_set_test {

using namespace contact_sets;

TEST(ContactSet, HasEachVertexOfTheClippedPolygonWithItsOwnGap) {
  // A cube turned by 45° over a larger, tilted one: the square of its lower face survives.
  Scene scene({cube(0.06), cube(0.2)});
  scene.X[1].linear() = Eigen::AngleAxisd(45 * kDegree, Vector3d::UnitZ()).toRotationMatrix();
  scene.X[1].translation() = Vector3d(0.01, -0.02, 0.13);
  scene.X[2].linear() = Eigen::AngleAxisd(0.01, Vector3d::UnitY()).toRotationMatrix();
  const auto& contacts = scene.find(0.02);
  ASSERT_EQ(contacts.size(), 4u);
  const Vector3d up = scene.X[2].linear().col(2);
  for (int i = 0; i < 4; ++i) {
    const Vector3d corner = scene.X[1] * Vector3d(i & 1 ? 0.03 : -0.03, i & 2 ? 0.03 : -0.03, -0.03);
    const auto found = std::find_if(contacts.begin(), contacts.end(),
                                    [&](const ContactPair& c) { return (c.p_WA - corner).norm() < 1e-12; });
    ASSERT_NE(found, contacts.end());
    EXPECT_NEAR(found->gap, up.dot(corner) - 0.1, 1e-12);
  }
}

TEST(ContactSet, OfTwoCrossedBarsIsTheOctagonOrSquareOfTheirOverlap) {
  Scene scene({multibody::BoxSpec{{0.2, 0.04, 0.02}}, multibody::BoxSpec{{0.04, 0.2, 0.02}}});
  scene.X[1].translation() = Vector3d(0, 0, 0.0201);
  const auto& square = scene.find(0.01);
  ASSERT_EQ(square.size(), 4u);
  for (const auto& c : square) {
    EXPECT_NEAR(c.gap, 1e-4, 1e-14);
    EXPECT_NEAR(std::abs(c.p_WA.x()), 0.02, 1e-12);
    EXPECT_NEAR(std::abs(c.p_WA.y()), 0.02, 1e-12);
    EXPECT_NEAR(c.weight, 0.25, 1e-12);
  }
  Scene octagon({cube(0.06), cube(0.06)});
  octagon.X[1].linear() = Eigen::AngleAxisd(45 * kDegree, Vector3d::UnitZ()).toRotationMatrix();
  octagon.X[1].translation() = Vector3d(0, 0, 0.0601);
  EXPECT_EQ(octagon.find(0.01).size(), 8u);
}

TEST(ContactSet, NeverHasAGapBelowTheSignedDistanceNorMissesIt) {
  const std::vector<Body> shapes = {sphere(0.03),         capsule(0.02, 0.06),  box({0.06, 0.08, 0.05}),
                                    prism(5, 0.04, 0.06), cylinder(0.03, 0.07), ellipsoid({0.03, 0.045, 0.06})};
  Random random(11);
  for (const auto& a : shapes) {
    for (const auto& b : shapes) {
      Scene scene({a.spec, b.spec});
      for (int i = 0; i < 200; ++i) {
        scene.X[1].linear() = random_rotation(random);
        scene.X[2].linear() = random_rotation(random);
        scene.X[1].translation() = uniform(random, 0.05, 0.12) * random_direction(random);
        const ContactPair witness = scene.world.signed_distance(0, 1, scene.X);
        const auto& contacts = scene.find(0.02);
        if (witness.gap >= 0.02) {
          EXPECT_TRUE(contacts.empty());
          continue;
        }
        ASSERT_FALSE(contacts.empty());
        expect_consistent(contacts, 0.02);
        double least = INFINITY;
        for (const auto& c : contacts) least = std::min(least, c.gap);
        EXPECT_NEAR(least, witness.gap, 2e-9) << a.name << " on " << b.name << " pose " << i;
      }
    }
  }
}

TEST(ContactSet, OfBoxesSideBySideOnTheGroundHasNoPointBelowTheSignedDistance) {
  // Their lower faces, in one plane but for rounding, are seen edge-on from the side.
  Random random(4);
  Scene scene({multibody::BoxSpec{{0.101, 0.097, 0.103}}, multibody::BoxSpec{{0.099, 0.104, 0.098}}});
  for (int i = 0; i < 4000; ++i) {
    const double size = std::pow(10.0, uniform(random, -8, -4));
    for (int k = 1; k <= 2; ++k) {
      const Vector3d tilt(uniform(random, -size, size), uniform(random, -size, size), 0);
      scene.X[k].linear() = (Eigen::AngleAxisd(tilt.norm(), tilt.normalized()) *
                             Eigen::AngleAxisd(uniform(random, -0.1, 0.1), Vector3d::UnitZ()))
                                .toRotationMatrix();
      scene.X[k].translation() = Vector3d(k == 1 ? 0 : 0.107, uniform(random, -0.01, 0.01), k == 1 ? 0.0515 : 0.049);
    }
    const double distance = scene.world.signed_distance(0, 1, scene.X).gap;
    for (const ContactPair& contact : scene.find(0.02)) EXPECT_GE(contact.gap, distance - 1.1e-8) << i;
  }
}

TEST(ContactSet, GapsOfCornersAreExactHoweverSteepTheirFacesAre) {
  // The sides of a cube that stands nearly upright are seen nearly edge-on and end in the same corners as its bottom.
  Random random(6);
  Scene scene({cube(0.06), cube(0.2)});
  for (int i = 0; i < 500; ++i) {
    const double tilt = std::pow(10.0, -uniform(random, 3, 6));
    const Vector3d across = Vector3d(uniform(random, -1, 1), uniform(random, -1, 1), 0).normalized();
    scene.X[1].linear() =
        (Eigen::AngleAxisd(tilt, across) * Eigen::AngleAxisd(uniform(random, -1, 1), Vector3d::UnitZ()))
            .toRotationMatrix();
    scene.X[1].translation() = Vector3d(0.013, 0.007, 0.1301);
    for (const ContactPair& contact : scene.find(0.01)) {
      double nearest = INFINITY, gap = 0;
      for (int k = 0; k < 4; ++k) {
        const Vector3d corner = scene.X[1] * Vector3d(k & 1 ? 0.03 : -0.03, k & 2 ? 0.03 : -0.03, -0.03);
        const double away = (corner - contact.p_WA).norm();
        if (away < nearest) nearest = away, gap = corner.z() - 0.1;
      }
      EXPECT_NEAR(contact.gap, gap, 5e-16) << "tilt " << tilt;
    }
  }
}

TEST(ContactSet, OfASphereIsOnePoint) {
  for (const ShapeSpec& below :
       {ground(), cube(0.2), ShapeSpec(multibody::CylinderSpec{0.1, 0.2}), ShapeSpec(multibody::SphereSpec{0.1})}) {
    Scene scene({multibody::SphereSpec{0.05}, below});
    scene.X[1].translation() = Vector3d(0, 0, std::holds_alternative<multibody::HalfSpaceSpec>(below) ? 0.051 : 0.151);
    const auto& contacts = scene.find(0.01);
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_NEAR(contacts[0].gap, 1e-3, 1e-14);
    EXPECT_NEAR(contacts[0].weight, 1.0, 1e-14);
    EXPECT_TRUE(contacts[0].nhat_BA_W.isApprox(Vector3d::UnitZ()));
  }
}

TEST(ContactSet, OfCornerSpheresIsOnePointEach) {
  std::vector<ShapeSpec> shapes(8, multibody::SphereSpec{1e-7});
  shapes.push_back(ground());
  Scene scene(shapes, [] {
    std::vector<unsigned char> allowed(81, 0);
    for (int i = 0; i < 8; ++i) allowed[9 * i + 8] = allowed[72 + i] = 1;
    return allowed;
  }());
  for (int i = 0; i < 8; ++i)
    scene.X[i + 1].translation() =
        0.03 * Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1) + Vector3d(0, 0, 0.03);
  const auto& contacts = scene.find(0.01);
  ASSERT_EQ(contacts.size(), 4u);
  for (const auto& c : contacts) EXPECT_NEAR(c.gap, -1e-7, 1e-16);
}

TEST(ContactSet, OfACapsuleLyingOnAFaceIsItsTwoEnds) {
  const ShapeSpec capsule = multibody::CapsuleSpec{0.02, 0.06};
  for (const ShapeSpec& below : {ground(), cube(0.2)}) {
    const double top = std::holds_alternative<multibody::BoxSpec>(below) ? 0.1 : 0.0;
    for (const bool is_first : {true, false}) {
      Scene scene(is_first ? std::vector{capsule, below} : std::vector{below, capsule});
      RigidTransform& X_WC = scene.X[is_first ? 1 : 2];
      for (const double tilt : {0.0, 1e-12, 1e-3, -0.01}) {
        X_WC.linear() = Eigen::AngleAxisd(90 * kDegree + tilt, Vector3d::UnitY()).toRotationMatrix();
        X_WC.translation() = Vector3d(0, 0, top + 0.021);
        const auto& contacts = scene.find(0.01);
        ASSERT_EQ(contacts.size(), 2u) << tilt;
        EXPECT_NEAR(std::min(contacts[0].gap, contacts[1].gap), 1e-3 - 0.03 * std::abs(std::sin(tilt)), 1e-12);
        EXPECT_NEAR(std::max(contacts[0].gap, contacts[1].gap), 1e-3 + 0.03 * std::abs(std::sin(tilt)), 1e-12);
      }
    }
  }
}

TEST(ContactSet, OfParallelCapsulesHoldsBothEnds) {
  Scene scene({multibody::CapsuleSpec{0.02, 0.06}, multibody::CapsuleSpec{0.02, 0.06}});
  for (const double twist : {0.0, 1e-9, 1e-4, 0.01}) {
    scene.X[1].translation() = Vector3d(0.041, 0, 0.01);
    scene.X[1].linear() = Eigen::AngleAxisd(twist, Vector3d::UnitX()).toRotationMatrix();
    const auto& contacts = scene.find(0.01);
    double low = INFINITY, high = -INFINITY;
    for (const auto& c : contacts) low = std::min(low, c.p_WA.z()), high = std::max(high, c.p_WA.z());
    EXPECT_LT(low, -0.019);
    EXPECT_GT(high, 0.029);
  }
}

/// The lowest point of a cylinder over the plane z = 0.
double cylinder_height(const RigidTransform& X, double r, double length) {
  const double along = X.linear()(2, 2);
  return X.translation().z() - 0.5 * length * std::abs(along) - r * std::sqrt(std::max(0.0, 1 - along * along));
}

TEST(ContactSet, OfACylinderFollowsItsLowestPoint) {
  for (const ShapeSpec& below : {ground(), cube(0.5)}) {
    const double top = std::holds_alternative<multibody::BoxSpec>(below) ? 0.25 : 0.0;
    Scene scene({multibody::CylinderSpec{0.03, 0.07}, below});
    for (int i = 0; i <= 360; ++i) {
      scene.X[1].linear() =
          (Eigen::AngleAxisd(0.25 * i * kDegree, Vector3d::UnitY()) * Eigen::AngleAxisd(0.3, Vector3d::UnitZ()))
              .toRotationMatrix();
      scene.X[1].translation() = Vector3d(0, 0, top + 0.05);
      const double height = cylinder_height(scene.X[1], 0.03, 0.07) - top;
      const auto& contacts = scene.find(0.06);
      double least = INFINITY;
      for (const auto& c : contacts) least = std::min(least, c.gap);
      EXPECT_NEAR(least, height, 0.25 * i > 0.5 ? 2e-9 : 1.3e-6);
      expect_consistent(contacts, 0.06);
    }
  }
}

TEST(ContactSet, OfALyingCylinderHasBothEndsOfItsLine) {
  for (const ShapeSpec& below : {ground(), cube(0.5)}) {
    const double top = std::holds_alternative<multibody::BoxSpec>(below) ? 0.25 : 0.0;
    Scene scene({multibody::CylinderSpec{0.03, 0.07}, below});
    scene.X[1].linear() = Eigen::AngleAxisd(90 * kDegree, Vector3d::UnitY()).toRotationMatrix();
    scene.X[1].translation() = Vector3d(0, 0, top + 0.03 - 1e-5);
    const auto& contacts = scene.find(1e-4);
    EXPECT_GE(contacts.size(), 2u);
    for (const double x : {-0.035, 0.035}) {
      EXPECT_TRUE(std::any_of(contacts.begin(), contacts.end(), [&](const ContactPair& c) {
        return std::abs(c.gap + 1e-5) < 1e-9 && std::abs(c.p_WA.x() - x) < 1e-9;
      }));
    }
  }
}

TEST(ContactSet, WeightsFadeToTheMargin) {
  Scene scene({cube(0.06), ground()});
  scene.X[1].linear() = Eigen::AngleAxisd(0.1, Vector3d::UnitX()).toRotationMatrix();
  scene.X[1].translation() = Vector3d(0, 0, 0.033);
  const double high = 0.033 - 0.03 * std::cos(0.1) + 0.03 * std::sin(0.1);
  const auto& contacts = scene.find(high + 1e-9);
  ASSERT_EQ(contacts.size(), 4u);
  EXPECT_NEAR(total_weight(contacts), 1.0, 1e-12);
  for (const auto& c : contacts) EXPECT_TRUE(c.weight < 1e-5 || c.weight > 0.49);
}

// Each triangle between an edge and the centroid counts for the two corners of the edge, in equal shares.
TEST(ContactSet, WeightsAreTheAreasOfThePolygon) {
  constexpr double kSide = 0.06, kHalfBelow = 0.1;
  Scene scene({cube(kSide), cube(2 * kHalfBelow)});
  scene.X[1].translation() = Vector3d(0.5 * kSide, 0.5 * kSide, kHalfBelow + 0.5 * kSide + 1e-3);
  // One side of the cube below cuts a corner off the square: x + y ≤ 1.5 sides.
  const Vector3d normal = Vector3d(1, 1, 0).normalized();
  scene.X[2].linear() = Eigen::AngleAxisd(45 * kDegree, Vector3d::UnitZ()).toRotationMatrix();
  scene.X[2].translation() = (1.5 * kSide / std::sqrt(2.0) - kHalfBelow) * normal;
  const auto& contacts = scene.find(0.01);
  ASSERT_EQ(contacts.size(), 5u);
  // Of a square of side 1, centroid (19/42, 19/42): triangles of 38, 23, 25, 23 and 38 out of 147.
  const std::vector<std::pair<Vector2d, double>> expected = {
      {{0, 0}, 38}, {{1, 0}, 30.5}, {{1, 0.5}, 24}, {{0.5, 1}, 24}, {{0, 1}, 30.5}};
  for (const auto& [corner, share] : expected) {
    const auto is_at = [&](const ContactPair& c) { return (c.p_WB.head<2>() - kSide * corner).norm() < 1e-12; };
    const auto found = std::find_if(contacts.begin(), contacts.end(), is_at);
    ASSERT_NE(found, contacts.end()) << corner.transpose();
    EXPECT_NEAR(found->weight, share / 147, 1e-7) << corner.transpose();
  }
}

}  // namespace contact_set_test
}  // namespace deft::collision
