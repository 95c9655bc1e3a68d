// Mass properties of solids against sums over many points, which share nothing with the closed forms.

#include "deft/collision/shapes/solid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace deft::collision {
namespace solid_test {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using namespace multibody;

/// Volume, centroid and inertia of a set inside the cube [−half, half]³, by `n` points of the additive recurrence
/// x_k = k α mod 1, whose α are the powers of 1/g with g⁴ = g + 1: spread evenly, on no grid that faces could align
/// with.
SolidProperties sampled(const std::function<bool(const Vector3d&)>& inside, double half, int n) {
  SolidProperties sum;
  Matrix3d second = Matrix3d::Zero();
  constexpr double g = 1.2207440846057596;
  const Vector3d alpha(1 / g, 1 / (g * g), 1 / (g * g * g));
  Vector3d x = Vector3d::Constant(0.5);
  for (int k = 0; k < n; ++k) {
    x += alpha;
    x = x.array() - x.array().floor();
    const Vector3d p = (2 * x - Vector3d::Ones()) * half;
    if (!inside(p)) continue;
    sum.volume += 1;
    sum.p_GCom += p;
    second += p * p.transpose();
  }
  sum.p_GCom /= sum.volume;
  second -= sum.volume * sum.p_GCom * sum.p_GCom.transpose();
  const double share = 8 * half * half * half / n;
  sum.volume *= share;
  sum.I_Com_G = (second.trace() * Matrix3d::Identity() - second) * share;
  return sum;
}

TEST(Solid, SolidsAgreeWithSampledOnes) {
  const PrismSpec kite{{{-0.2, -0.5}, {0.7, -0.4}, {0.5, 0.6}, {-0.6, 0.3}}, 0.8};
  const auto in_kite = [&](const Vector3d& p) {
    for (std::size_t i = 0; i < 4; ++i) {
      const Eigen::Vector2d a = kite.vertices[i], b = kite.vertices[(i + 1) % 4];
      if ((b - a).x() * (p.y() - a.y()) - (b - a).y() * (p.x() - a.x()) < 0) return false;
    }
    return std::abs(p.z()) <= 0.4;
  };
  struct Case {
    const char* name;
    ShapeSpec shape;
    std::function<bool(const Vector3d&)> inside;
  };
  const Case cases[] = {
      {"sphere", SphereSpec{0.7}, [](const Vector3d& p) { return p.norm() <= 0.7; }},
      {"box", BoxSpec{{0.5, 1.0, 1.5}},
       [](const Vector3d& p) { return (p.cwiseAbs() - Vector3d(0.25, 0.5, 0.75)).maxCoeff() <= 0; }},
      {"capsule", CapsuleSpec{0.3, 0.9},
       [](const Vector3d& p) { return (p - Vector3d(0, 0, std::clamp(p.z(), -0.45, 0.45))).norm() <= 0.3; }},
      {"cylinder", CylinderSpec{0.4, 1.1},
       [](const Vector3d& p) { return p.head<2>().norm() <= 0.4 && std::abs(p.z()) <= 0.55; }},
      {"ellipsoid", EllipsoidSpec{{0.3, 0.5, 0.8}},
       [](const Vector3d& p) { return p.cwiseQuotient(Vector3d(0.3, 0.5, 0.8)).norm() <= 1; }},
      {"prism", kite, in_kite},
  };
  for (const Case& c : cases) {
    const auto exact = solid_properties(c.shape);
    ASSERT_TRUE(exact.has_value()) << c.name;
    const SolidProperties counted = sampled(c.inside, 0.8, 1000000);
    EXPECT_NEAR(exact->volume, counted.volume, 1e-3 * counted.volume) << c.name;  // of the sampling
    EXPECT_NEAR((exact->p_GCom - counted.p_GCom).norm(), 0, 1e-3) << c.name;
    EXPECT_NEAR((exact->I_Com_G - counted.I_Com_G).norm(), 0, 2e-3 * counted.I_Com_G.norm()) << c.name;
  }
}

TEST(Solid, APrismWithFourRightCornersIsABox) {
  const auto prism = solid_properties(PrismSpec{{{1, 2}, {3, 2}, {3, 5}, {1, 5}}, 0.5});
  const auto box = solid_properties(BoxSpec{{2, 3, 0.5}});
  EXPECT_NEAR(prism->volume, box->volume, 1e-15);
  EXPECT_NEAR((prism->p_GCom - Vector3d(2, 3.5, 0)).norm(), 0, 1e-15);
  EXPECT_NEAR((prism->I_Com_G - box->I_Com_G).norm(), 0, 1e-14);
}

TEST(Solid, TwoHalvesWeighLikeTheWhole) {
  GeometrySpec lower, upper, whole;
  lower.shape = upper.shape = BoxSpec{{1, 2, 0.5}};
  lower.X_LG.translation() = Vector3d(0.3, 0, -0.25);
  upper.X_LG.translation() = Vector3d(0.3, 0, 0.25);
  upper.X_LG.linear() = Eigen::AngleAxisd(std::acos(-1.0), Vector3d::UnitZ()).toRotationMatrix();
  whole.shape = BoxSpec{{1, 2, 1}};
  whole.X_LG.translation() = Vector3d(0.3, 0, 0);
  const auto sum = solid_inertia({lower, upper}, 3), one = solid_inertia({whole}, 3);
  EXPECT_NEAR((sum->p_LCom - one->p_LCom).norm(), 0, 1e-15);
  EXPECT_NEAR((sum->I_Com_L - one->I_Com_L).norm(), 0, 1e-14);
  EXPECT_NEAR(one->I_Com_L(0, 0), 3.0 / 12 * (4 + 1), 1e-14);
}

TEST(Solid, PointsHaveMassButNoInertiaAndPlanesHaveNeither) {
  GeometrySpec point;
  point.shape = SphereSpec{0};
  point.X_LG.translation() = Vector3d(0, 0, 2);
  EXPECT_EQ(solid_inertia({point}, 1)->I_Com_L, Matrix3d::Zero());
  EXPECT_EQ(solid_inertia({point}, 1)->p_LCom, Vector3d(0, 0, 2));
  EXPECT_EQ(solid_inertia({}, 1)->p_LCom, Vector3d::Zero());
  GeometrySpec plane;
  plane.shape = HalfSpaceSpec{{0, 0, 1}, 0};
  EXPECT_FALSE(solid_inertia({plane}, 1).has_value());
}

}  // namespace solid_test
}  // namespace deft::collision
