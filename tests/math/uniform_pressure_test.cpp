// Limit surfaces of flat supports: integrals against a grid, differences and closed forms; loads back to twists.

#include "deft/math/uniform_pressure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "deft/math/random.hpp"

namespace deft {
namespace uniform_pressure_test {

using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

std::vector<Vector2d> square(double side, const Vector2d& centre = Vector2d::Zero()) {
  const double s = side / 2;
  return {centre + Vector2d(-s, -s), centre + Vector2d(s, -s), centre + Vector2d(s, s), centre + Vector2d(-s, s)};
}

/// ∇D of a rectangle by the midpoint rule on n × n cells: no edges, no centre of rotation.
Vector3d load_by_grid(double x_low, double x_high, double y_low, double y_high, double friction, const Vector3d& V,
                      int n) {
  Vector3d F = Vector3d::Zero();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double x = x_low + (i + 0.5) * (x_high - x_low) / n, y = y_low + (j + 0.5) * (y_high - y_low) / n;
      const Vector2d w(V(0) - V(2) * y, V(1) + V(2) * x);
      const double speed = w.norm();
      if (speed > 0) F += friction / (n * n) / speed * Vector3d(w.x(), w.y(), x * w.y() - y * w.x());
    }
  }
  return F;
}

Vector3d random_twist(std::uint64_t item, double size) {
  Vector3d V;
  for (int k = 0; k < 3; ++k) V(k) = random_normal(7, item, static_cast<std::uint32_t>(k));
  // From pure translations to pure turns.
  const double mix = std::pow(10.0, 6 * random_uniform(8, item, 0) - 3);
  return {V(0), V(1), mix * V(2) / size};
}

TEST(UniformPressure, LoadsAgreeWithAGrid) {
  const UniformPressure support({{-0.3, -0.1}, {0.5, -0.1}, {0.5, 0.4}, {-0.3, 0.4}}, 2.5);
  for (std::uint64_t item = 0; item < 40; ++item) {
    const Vector3d V = random_twist(item, 0.5);
    const Vector3d F = support.load(V), wanted = load_by_grid(-0.3, 0.5, -0.1, 0.4, 2.5, V, 400);
    EXPECT_LT((F - wanted).norm(), 2e-4) << V.transpose();
    EXPECT_NEAR(support.dissipation(V), F.dot(V), 1e-12 * support.dissipation(V));
  }
}

TEST(UniformPressure, KnownLoadsOfASquareAndADisc) {
  const double side = 0.2, friction = 3;
  const UniformPressure support(square(side), friction);
  EXPECT_LT((support.load({0, 2, 0}) - Vector3d(0, friction, 0)).norm(), 1e-14);
  // ∫|r| over a square of side a: a³ (√2 + ln(1 + √2))/6.
  const double moment = friction * side * (std::sqrt(2.0) + std::asinh(1.0)) / 6;
  EXPECT_LT((support.load({0, 0, -1}) - Vector3d(0, 0, -moment)).norm(), 1e-14);
  // A regular polygon of many corners is nearly a disc: moment ⅔ μN r.
  std::vector<Vector2d> corners;
  constexpr int kCorners = 2000;
  for (int i = 0; i < kCorners; ++i)
    corners.emplace_back(std::cos(2 * std::numbers::pi * i / kCorners), std::sin(2 * std::numbers::pi * i / kCorners));
  EXPECT_NEAR(UniformPressure(corners, 1).load({0, 0, 1})(2), 2.0 / 3, 1e-5);
}

TEST(UniformPressure, HessianIsThatOfTheEnergyAndTheMajorizerIsAboveIt) {
  const UniformPressure support({{0, 0}, {0.7, 0.1}, {0.5, 0.6}, {0.3, 0.2}, {-0.1, 0.5}}, 1.7);  // not convex
  const auto gradient = [&](const Vector3d& V) -> Vector3d { return support.dissipation(V) * support.load(V); };
  for (std::uint64_t item = 0; item < 200; ++item) {
    const Vector3d V = random_twist(item, 0.5).normalized();
    const Matrix3d K = support.hessian(V);
    Matrix3d differences;
    const double step = 1e-5;
    for (int i = 0; i < 3; ++i)
      differences.col(i) =
          (gradient(V + step * Vector3d::Unit(i)) - gradient(V - step * Vector3d::Unit(i))) / (2 * step);
    EXPECT_LT((K - differences).norm(), 2e-3 * K.norm()) << V.transpose();  // log-like where the centre crosses the
                                                                            // border
    EXPECT_LT((K * V - gradient(V)).norm(), 1e-11 * gradient(V).norm());
    EXPECT_LT((support.majorizer(V) * V - gradient(V)).norm(), 1e-11 * gradient(V).norm());
    const Vector3d other = random_twist(item + 1000, 0.5).normalized();
    EXPECT_GE(0.5 * other.dot(support.majorizer(V) * other),
              0.5 * std::pow(support.dissipation(other), 2) * (1 - 1e-12));
  }
}

TEST(UniformPressure, ClosedFormsAndQuadratureMeet) {
  const UniformPressure support({{-1, -0.2}, {1, -0.2}, {1, 0.2}, {-1, 0.2}}, 1);
  // Centres of rotation just nearer and just farther than where one takes the other's place.
  const double size = std::hypot(1, 0.2);
  for (int k = 0; k < 12; ++k) {
    const Vector2d along(std::cos(0.5 * k), std::sin(0.5 * k));
    const auto twist = [&](double distance) -> Vector3d { return {along.y() * distance, -along.x() * distance, 1}; };
    const Vector3d near = twist(10 * size * (1 - 1e-12)), far = twist(10 * size * (1 + 1e-12));
    EXPECT_LT((support.load(near) - support.load(far)).norm(), 1e-11);
    EXPECT_LT((support.hessian(near) - support.hessian(far)).norm(), 1e-10);
    EXPECT_LT((support.majorizer(near) - support.majorizer(far)).norm(), 1e-10);
  }
}

TEST(UniformPressure, DoesNotDependOnTheOriginOrTheUnit) {
  const Vector2d origin(3, -2);
  const UniformPressure here(square(0.4), 1.3), there(square(0.4, origin), 1.3), small(square(4e-4), 1.3);
  for (std::uint64_t item = 0; item < 50; ++item) {
    const Vector3d V = random_twist(item, 0.4);
    const Vector3d F = here.load(V);
    // The same motion of points, the load about the other origin.
    const Vector3d V_there(V(0) + V(2) * origin.y(), V(1) - V(2) * origin.x(), V(2));
    const Vector3d F_there(F(0), F(1), F(2) + origin.x() * F(1) - origin.y() * F(0));
    EXPECT_LT((there.load(V_there) - F_there).norm(), 1e-11);
    EXPECT_LT((small.load({V(0), V(1), 1e3 * V(2)}) - Vector3d(F(0), F(1), 1e-3 * F(2))).norm(), 1e-13);
  }
}

TEST(UniformPressure, LoadsLeadBackToTheirTwists) {
  struct Case {
    const char* name;
    std::vector<Vector2d> polygon;
    double size;
  };
  const Case cases[] = {{"square of 1 m", square(1), 1},
                        {"square of 1 cm", square(0.01), 0.01},
                        {"square of 1 cm far from its origin", square(0.01, {0.3, -0.2}), 0.01},
                        {"strip", {{-0.5, -0.01}, {0.5, -0.01}, {0.5, 0.01}, {-0.5, 0.01}}, 0.5},
                        {"triangle", {{0, 0}, {0.2, 0}, {0, 0.1}}, 0.1}};
  for (const Case& c : cases) {
    const UniformPressure support(c.polygon, 0.8);
    Vector2d middle = Vector2d::Zero();
    for (const Vector2d& p : c.polygon) middle += p / static_cast<double>(c.polygon.size());
    double worst = 0;
    for (std::uint64_t item = 0; item < 1000; ++item) {
      Vector3d V = random_twist(item, c.size);
      V.head<2>() += V(2) * Vector2d(middle.y(), -middle.x());  // about the middle
      const Vector3d found = support.twist(support.dissipation(V) * support.load(V));
      const double error = support.speed(found - V) / support.speed(V);
      worst = std::max(worst, error);
    }
    EXPECT_LT(worst, 1e-9) << c.name;
  }
}

TEST(UniformPressure, RefusesSupportsWithoutArea) {
  EXPECT_THROW(UniformPressure({{0, 0}, {1, 0}}, 1), std::invalid_argument);
  EXPECT_THROW(UniformPressure({{0, 0}, {1, 0}, {2, 0}}, 1), std::invalid_argument);
  EXPECT_THROW(UniformPressure(square(1), 0), std::invalid_argument);
  const UniformPressure clockwise({{0, 0}, {0, 1}, {1, 1}, {1, 0}}, 1);
  EXPECT_NEAR(clockwise.load({1, 0, 0})(0), 1, 1e-14);
}

}  // namespace uniform_pressure_test
}  // namespace deft
