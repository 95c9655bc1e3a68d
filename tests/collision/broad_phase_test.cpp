// The broad phase loses no pair, and a grown workspace allocates nothing.

#include <gtest/gtest.h>

#include <set>

#include "deft/collision/collision_world.hpp"
#include "reference_shapes.hpp"
#include "support/allocation_counter.hpp"

namespace deft::collision {
namespace broad_phase_test {

using namespace reference;

struct Crowd {
  CollisionWorld world;
  std::vector<RigidTransform> X;
};

/// `count` mixed shapes of about 6 cm at constant density over a ground and beside one huge box.
Crowd make_crowd(int count, Random& random) {
  std::vector<GeometryDescription> geometries = {
      {.name = "ground", .body = 0, .shape = multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}},
      {.name = "wall", .body = 0, .shape = multibody::BoxSpec{{0.1, 50, 50}}}};
  std::vector<RigidTransform> X(count + 1, RigidTransform::Identity());
  const std::vector<Body> shapes = {sphere(0.03),         capsule(0.02, 0.06),  box({0.06, 0.05, 0.04}),
                                    prism(5, 0.03, 0.05), cylinder(0.03, 0.05), ellipsoid({0.02, 0.03, 0.04})};
  const double side = 0.09 * std::cbrt(count);
  for (int i = 1; i <= count; ++i) {
    geometries.push_back({.name = "g" + std::to_string(i), .body = i, .shape = shapes[random() % shapes.size()].spec});
    X[i].linear() = random_rotation(random);
    X[i].translation() = Vector3d(uniform(random, 0, side), uniform(random, 0, side), uniform(random, 0, side));
  }
  const std::size_t n = geometries.size();
  std::vector<unsigned char> allowed(n * n, 1);
  allowed[1] = allowed[n] = 0;
  Diagnostics diagnostics;
  return {CollisionWorld::build(std::move(geometries), std::move(allowed), diagnostics), std::move(X)};
}

TEST(BroadPhase, FindsEveryPairThatBruteForceFinds) {
  Random random(23);
  Crowd crowd = make_crowd(60, random);
  auto workspace = crowd.world.make_workspace();
  std::vector<ContactPair> contacts;
  const int n = static_cast<int>(crowd.world.geometries().size());
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 1; i < crowd.X.size(); ++i) crowd.X[i].translation() += 0.02 * random_direction(random);
    crowd.world.find_contacts(crowd.X, 0.01, workspace, contacts);
    std::set<std::pair<int, int>> found, expected;
    for (const auto& c : contacts) found.emplace(c.geometry_a, c.geometry_b);
    for (int i = 0; i < n; ++i) {
      for (int j = std::max(i + 1, 2); j < n; ++j) {
        if (crowd.world.signed_distance(i, j, crowd.X).gap < 0.01) expected.emplace(i, j);
      }
    }
    EXPECT_EQ(found, expected);
    EXPECT_GT(expected.size(), 20u);
  }
}

TEST(BroadPhase, GivesTheSameWithAnInfiniteMarginAsPairByPair) {
  Random random(29);
  Crowd crowd = make_crowd(40, random);
  auto workspace = crowd.world.make_workspace();
  std::vector<ContactPair> contacts;
  crowd.world.find_contacts(crowd.X, INFINITY, workspace, contacts);
  std::set<std::pair<int, int>> found;
  for (const auto& c : contacts) found.emplace(c.geometry_a, c.geometry_b);
  EXPECT_EQ(found.size(), 42u * 41u / 2 - 1);
}

TEST(FindContacts, AllocatesNothingOnceGrown) {
  Random random(31);
  Crowd crowd = make_crowd(120, random);
  auto workspace = crowd.world.make_workspace();
  std::vector<ContactPair> contacts;
  const auto start = crowd.X;
  const auto run = [&] {
    Random moves(5);
    crowd.X = start;
    for (int round = 0; round < 20; ++round) {
      for (std::size_t i = 1; i < crowd.X.size(); ++i) crowd.X[i].translation() += 0.01 * random_direction(moves);
      crowd.world.find_contacts(crowd.X, 0.01, workspace, contacts);
    }
  };
  run();
  if (kCountsAllocations) {
    EXPECT_GT(testing_support::allocations_during([&] { crowd.X = std::vector(start); }), 0) << "the counter counts";
  }
  EXPECT_EQ(testing_support::allocations_during(run), 0);
  EXPECT_FALSE(contacts.empty());
}

}  // namespace broad_phase_test
}  // namespace deft::collision
