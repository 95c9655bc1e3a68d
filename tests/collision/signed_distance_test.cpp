// Signed distances against configurations whose answer is known, and against supporting hyperplanes.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "deft/collision/collision_world.hpp"
#include "deft/collision/distance/gjk.hpp"
#include "reference_shapes.hpp"

namespace deft::collision {
namespace signed_distance_test {

using namespace reference;

constexpr int kPoses = 10000;

CollisionWorld make_pair_world(const Body& a, const Body& b) {
  Diagnostics diagnostics;
  std::vector<GeometryDescription> geometries = {{.name = "a", .body = 1, .shape = a.spec},
                                                 {.name = "b", .body = 2, .shape = b.spec}};
  return CollisionWorld::build(std::move(geometries), {0, 1, 1, 0}, diagnostics);
}

struct Worst {
  double distance = 0, normal = 0, outside = 0, apart = 0;
  int uncertified = 0, beaten = 0;
};

/// Largest lower bound s(n) in the direction n: both shapes by the test's own support functions.
double separation(const Body& a, const RigidTransform& X_A, const Body& b, const RigidTransform& X_B,
                  const Vector3d& n) {
  return n.dot(X_A.translation() - X_B.translation()) - a.support(-(X_A.linear().transpose() * n)) -
         b.support(X_B.linear().transpose() * n);
}

/// Random poses at a known signed distance d along a known normal (exact for d > 0, a lower bound for d < 0).
Worst sweep(const Body& a, const Body& b, double d_low, double d_high, double tolerance, int poses) {
  Random random(20240517);
  const CollisionWorld world = make_pair_world(a, b);
  std::vector<RigidTransform> X(3, RigidTransform::Identity());
  Worst worst;
  for (int i = 0; i < poses; ++i) {
    const double d =
        (d_low < 0 ? -1 : 1) * std::exp(uniform(random, std::log(std::abs(d_low)), std::log(std::abs(d_high))));
    const auto [x_a, m_a] = a.random_surface_point(random);
    const auto [x_b, m_b] = b.random_surface_point(random);
    const Vector3d n = random_direction(random);
    X[1].linear() = random_rotation_taking(m_a, -n, random);
    X[2].linear() = random_rotation_taking(m_b, n, random);
    X[2].translation() = 0.3 * random_direction(random);
    X[1].translation() = X[2].translation() + X[2].linear() * x_b + d * n - X[1].linear() * x_a;
    const ContactPair c = world.signed_distance(0, 1, X);
    worst.apart = std::max(worst.apart, (c.p_WA - c.p_WB - c.gap * c.nhat_BA_W).norm());
    worst.outside = std::max(
        {worst.outside, std::abs(a.outside(X[1].inverse() * c.p_WA)), std::abs(b.outside(X[2].inverse() * c.p_WB))});
    const double lower_bound = separation(a, X[1], b, X[2], c.nhat_BA_W);
    const bool is_certified = std::abs(lower_bound - c.gap) < tolerance;
    worst.uncertified += !is_certified;
    if (d > 0) {
      worst.distance = std::max(worst.distance, std::abs(c.gap - d));
      worst.normal = std::max(worst.normal, c.nhat_BA_W.cross(n).norm() + (c.nhat_BA_W.dot(n) < 0 ? 1 : 0));
    } else {
      // No direction may separate better than the one found.
      double best = d;
      for (int k = 0; k < 20; ++k)
        best = std::max(best, separation(a, X[1], b, X[2],
                                         (c.nhat_BA_W + (k < 10 ? 0.1 : 1.0) * random_direction(random)).normalized()));
      worst.beaten += best > c.gap + tolerance;
      worst.distance = std::max(worst.distance, best - c.gap);
    }
  }
  return worst;
}

const std::vector<std::pair<Body, bool>>& bodies() {
  static const std::vector<std::pair<Body, bool>> kBodies = {
      {sphere(0.03), true},
      {capsule(0.02, 0.06), true},
      {box({0.06, 0.08, 0.05}), true},
      {prism(5, 0.04, 0.06), false},
      {cylinder(0.03, 0.07), false},
      {ellipsoid({0.03, 0.045, 0.06}), false},
      {mesh(DEFT_SOURCE_DIR "/tests/collision/data/ball.obj"), false}};
  return kBodies;
}

class Pair : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Pair, ReproducesKnownDistancesApart) {
  const auto& [a, exact_a] = bodies()[std::get<0>(GetParam())];
  const auto& [b, exact_b] = bodies()[std::get<1>(GetParam())];
  const double tolerance = exact_a && exact_b ? 1e-9 : 1e-6;
  const Worst worst = sweep(a, b, 1e-6, 5e-2, tolerance, kPoses);
  if (std::getenv("DEFT_PRINT_WORST"))
    std::printf("%s-%s apart: d %.1e n %.1e outside %.1e apart %.1e uncertified %d\n", a.name.c_str(), b.name.c_str(),
                worst.distance, worst.normal, worst.outside, worst.apart, worst.uncertified);
  EXPECT_LT(worst.distance, tolerance);
  EXPECT_LT(worst.normal, 1e-6);
  EXPECT_LT(worst.outside, tolerance);
  EXPECT_LT(worst.apart, 1e-12);
  EXPECT_EQ(worst.uncertified, 0);
}

void expect_least_penetrations(const Worst& worst, double tolerance) {
  EXPECT_LT(worst.distance, tolerance);
  EXPECT_LT(worst.outside, tolerance);
  EXPECT_LT(worst.apart, 1e-12);
  EXPECT_EQ(worst.uncertified, 0);
  EXPECT_EQ(worst.beaten, 0);
}

TEST_P(Pair, FindsTheLeastPenetration) {
  const auto& [a, exact_a] = bodies()[std::get<0>(GetParam())];
  const auto& [b, exact_b] = bodies()[std::get<1>(GetParam())];
  const double tolerance = exact_a && exact_b ? 1e-9 : 1e-6;
  const Worst worst = sweep(a, b, -1e-5, -5e-3, tolerance, kPoses);
  if (std::getenv("DEFT_PRINT_WORST"))
    std::printf("%s-%s inside: d %.1e outside %.1e apart %.1e uncertified %d beaten %d\n", a.name.c_str(),
                b.name.c_str(), worst.distance, worst.outside, worst.apart, worst.uncertified, worst.beaten);
  expect_least_penetrations(worst, tolerance);
}

// Far inside, where a side, a rim and a cap are about as near: thin slivers everywhere on the difference's surface.
TEST_P(Pair, FindsTheLeastPenetrationOfDeepOverlaps) {
  const auto& [a, exact_a] = bodies()[std::get<0>(GetParam())];
  const auto& [b, exact_b] = bodies()[std::get<1>(GetParam())];
  const double tolerance = exact_a && exact_b ? 1e-9 : 1e-6;
  const Worst worst = sweep(a, b, -5e-3, -5e-2, tolerance, kPoses / 5);
  expect_least_penetrations(worst, tolerance);
}

// The polytope that grows inside the difference ends at its surface, whatever rounding says of points in a face's
// plane.
TEST_P(Pair, GuessesThePenetrationNearTheBest) {
  const auto& [a, exact_a] = bodies()[std::get<0>(GetParam())];
  const auto& [b, exact_b] = bodies()[std::get<1>(GetParam())];
  Diagnostics diagnostics;
  const std::array<const Body*, 2> both{&a, &b};
  std::array<Shape, 2> shapes;
  std::array<PosedShape, 2> posed;
  GeometryInfo info;
  for (int k = 0; k < 2; ++k) shapes[k] = build_shape({.body = k, .shape = both[k]->spec}, info, diagnostics);
  // The difference of points and segments is flat, and random ones do not meet.
  if (shapes[0].kind <= Kind::kCapsule && shapes[1].kind <= Kind::kCapsule) return;
  const double size = shapes[0].bounding_radius + shapes[1].bounding_radius;
  const CollisionWorld world = make_pair_world(a, b);
  std::vector<RigidTransform> X(3, RigidTransform::Identity());
  Random random(7);
  int overlapping = 0, global = 0;
  for (int i = 0; i < kPoses / 2; ++i) {
    const double away = i % 2 == 0 ? 0 : 100;  // [m], of both: rounding grows with it
    for (int k = 0; k < 2; ++k) {
      posed[k].shape = &shapes[k];
      posed[k].R_WG = random_rotation(random);
      posed[k].p_WG = uniform(random, 0, 0.05) * random_direction(random) + Vector3d(away, away, 0);
      posed[k].transform_core();
      X[k + 1].linear() = posed[k].R_WG;
      X[k + 1].translation() = posed[k].p_WG;
    }
    const GjkResult gjk = gjk_distance(posed[0], posed[1]);
    if (gjk.disjoint) continue;
    ++overlapping;
    const auto guess = guess_penetration(posed[0], posed[1], gjk);
    ASSERT_TRUE(guess.has_value());
    if (!guess->is_global) continue;
    ++global;
    const double truth = world.signed_distance(0, 1, X).gap + shapes[0].radius + shapes[1].radius;  // of the cores
    EXPECT_GT(guess->upper_bound, truth - 1e-9);
    EXPECT_GT(separation_along(posed[0], posed[1], guess->n), truth - 1e-4 * size);
  }
  EXPECT_GT(overlapping, kPoses / 10);
  EXPECT_GE(global, overlapping - overlapping / 1000);  // slivers that rounding turns over may tear the outline
}

// Of a box that is far longer than the other shape only a piece is searched. Its length is the lever at which an error
// of the normal shows: 1e-6 rad at two metres.
TEST(SignedDistance, OfALongBoxIsThatOfAllOfIt) {
  constexpr double kLength = 2, kTolerance = 1e-6;
  for (const Body& other : {cylinder(0.03, 0.07), ellipsoid({0.03, 0.045, 0.06})}) {
    for (const Body& table : {box({kLength, kLength, 0.05}), box({kLength, 0.06, 0.05})}) {
      for (const double side : {1.0, -1.0}) {
        const Worst worst = sweep(table, other, side * 1e-6, side * 5e-3, kLength * 1e-6 + kTolerance, kPoses);
        EXPECT_LT(worst.distance, kTolerance) << other.name << side;
        EXPECT_LT(worst.outside, kLength * 1e-6 + kTolerance) << other.name << side;
        EXPECT_LT(worst.apart, 1e-12) << other.name << side;
        EXPECT_EQ(worst.uncertified, 0) << other.name << side;
        EXPECT_EQ(worst.beaten, 0) << other.name << side;
      }
    }
  }
}

// Side lines that are parallel are as near along all that they share: the witness is on it.
TEST(SignedDistance, OfParallelCylindersIsWithinTheirCommonLength) {
  constexpr double kGap = 0.01;
  const CollisionWorld world = make_pair_world(cylinder(0.03, 0.2), cylinder(0.02, 0.1));
  for (const double shift : {0.06, 0.11, -0.1, -0.11}) {
    std::vector<RigidTransform> X(3, RigidTransform::Identity());
    X[1].translation() = Vector3d(0.05 + kGap, 0, shift);
    const ContactPair c = world.signed_distance(0, 1, X);
    EXPECT_NEAR(c.gap, kGap, 1e-12);
    EXPECT_GE(c.p_WB.z(), std::max(-0.05, shift - 0.1) - 1e-12);
    EXPECT_LE(c.p_WB.z(), std::min(0.05, shift + 0.1) + 1e-12);
    EXPECT_LT((c.p_WB - Vector3d(0.02, 0, c.p_WB.z())).norm(), 1e-12) << shift;
    EXPECT_LT((c.p_WA - Vector3d(0.02 + kGap, 0, c.p_WB.z())).norm(), 1e-12) << shift;
  }
}

// Between the two: a rim at a vertex, an edge at an edge, nearer than the digits of a normal that is a difference of
// points.
TEST_P(Pair, HoldsWhereTheyBarelyTouch) {
  const auto& [a, exact_a] = bodies()[std::get<0>(GetParam())];
  const auto& [b, exact_b] = bodies()[std::get<1>(GetParam())];
  const double tolerance = exact_a && exact_b ? 1e-9 : 1e-6;
  for (const auto& [low, high] : {std::pair{1e-16, 1e-10}, {1e-10, 1e-6}}) {
    for (const double side : {1.0, -1.0}) {
      const Worst worst = sweep(a, b, side * low, side * high, tolerance, kPoses / 10);
      EXPECT_LT(worst.distance, tolerance) << side << low;
      EXPECT_LT(worst.outside, 1e-5) << side << low;
      EXPECT_LT(worst.apart, 1e-12) << side << low;
      EXPECT_EQ(worst.uncertified, 0) << side << low;
      EXPECT_EQ(worst.beaten, 0) << side << low;
    }
  }
}

std::vector<std::tuple<int, int>> all_pairs() {
  std::vector<std::tuple<int, int>> pairs;
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 7; ++j) pairs.emplace_back(i, j);
  }
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(All, Pair, testing::ValuesIn(all_pairs()), [](const auto& pair) {
  return bodies()[std::get<0>(pair.param)].first.name + "_" + bodies()[std::get<1>(pair.param)].first.name;
});

}  // namespace signed_distance_test
}  // namespace deft::collision
