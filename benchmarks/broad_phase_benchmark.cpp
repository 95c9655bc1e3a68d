// Time of `find_contacts` against the number of bodies, for a hand with a ball, and of every pair function.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "deft/collision/collision_world.hpp"
#include "deft/core/stopwatch.hpp"

namespace {

using namespace deft;
using namespace deft::collision;
using Eigen::Vector3d;
using Random = std::mt19937_64;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

RigidTransform random_pose(Random& random, double side) {
  std::normal_distribution<double> normal;
  const Eigen::Quaterniond turn =
      Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random)).normalized();
  return make_transform(turn.toRotationMatrix(),
                        {uniform(random, 0, side), uniform(random, 0, side), uniform(random, 0, side)});
}

/// The shortest time of a call [µs]: what else runs on the machine only adds.
template <typename Function>
double shortest_microseconds(int calls, Function function) {
  double shortest = INFINITY;
  for (int i = 0; i < calls; ++i) {
    const Stopwatch watch;
    function();
    shortest = std::min(shortest, watch.microseconds());
  }
  return shortest;
}

/// `count` boxes of 5 cm at constant density, moving, over a ground and beside a wall of 100 m.
double time_crowd(int count) {
  Random random(1);
  const double side = 0.1 * std::cbrt(count);
  std::vector<GeometryDescription> geometries = {
      {.name = "ground", .body = 0, .shape = multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}},
      {.name = "wall", .body = 0, .shape = multibody::BoxSpec{{0.02, 100, 100}}}};
  std::vector<RigidTransform> X = {RigidTransform::Identity()};
  for (int i = 1; i <= count; ++i) {
    geometries.push_back({.name = "box", .body = i, .shape = multibody::BoxSpec{Vector3d::Constant(0.05)}});
    X.push_back(random_pose(random, side));
  }
  const std::size_t n = geometries.size();
  std::vector<unsigned char> allowed(n * n, 1);
  allowed[1] = allowed[n] = 0;
  Diagnostics diagnostics;
  const CollisionWorld world = CollisionWorld::build(std::move(geometries), std::move(allowed), diagnostics);
  auto workspace = world.make_workspace();
  std::vector<ContactPair> contacts;
  const double time = shortest_microseconds(101, [&] {
    for (std::size_t i = 1; i < X.size(); ++i)
      X[i].translation() += 1e-3 * Vector3d(uniform(random, -1, 1), uniform(random, -1, 1), uniform(random, -1, 1));
    world.find_contacts(X, 0.005, workspace, contacts);
  });
  std::printf("%5d bodies  %6zu contacts  %9.1f µs\n", count, contacts.size(), time);
  return time;
}

/// 24 spheres of a hand around one object.
void time_hand(const char* name, const multibody::ShapeSpec& object) {
  Random random(2);
  std::vector<GeometryDescription> geometries;
  std::vector<RigidTransform> X = {RigidTransform::Identity()};
  for (int i = 1; i <= 24; ++i) {
    geometries.push_back({.name = "link", .body = i, .shape = multibody::SphereSpec{0.012}});
    X.push_back(RigidTransform::Identity());
    const double angle = 0.26 * i;
    X.back().translation() =
        (i % 4 == 0 ? 0.075 : 0.12) * Vector3d(std::cos(angle), std::sin(angle), 0.3 * std::sin(3 * angle));
  }
  geometries.push_back({.name = "object", .body = 25, .shape = object});
  X.push_back(RigidTransform::Identity());
  std::vector<unsigned char> allowed(25 * 25, 0);
  for (int i = 0; i < 24; ++i) allowed[25 * i + 24] = allowed[25 * 24 + i] = 1;
  Diagnostics diagnostics;
  const CollisionWorld world = CollisionWorld::build(std::move(geometries), std::move(allowed), diagnostics);
  auto workspace = world.make_workspace();
  std::vector<ContactPair> contacts;
  const double time = shortest_microseconds(2001, [&] { world.find_contacts(X, 0.02, workspace, contacts); });
  std::printf("hand of 24 spheres and a %s: %zu contacts  %.2f µs\n", name, contacts.size(), time);
}

/// Contacts of one pair at random poses near touching.
void time_pairs() {
  const std::vector<std::pair<const char*, multibody::ShapeSpec>> shapes = {
      {"sphere", multibody::SphereSpec{0.03}},
      {"capsule", multibody::CapsuleSpec{0.02, 0.06}},
      {"box", multibody::BoxSpec{{0.06, 0.08, 0.05}}},
      {"prism", multibody::PrismSpec{{{0.03, 0}, {0, 0.03}, {-0.03, 0}, {0, -0.03}}, 0.05}},
      {"cylinder", multibody::CylinderSpec{0.03, 0.07}},
      {"ellipsoid", multibody::EllipsoidSpec{{0.03, 0.045, 0.06}}},
      {"half-space", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}}};
  std::printf("\nmean time of find_contacts per pair [µs], apart / penetrating, margin 5 mm\n");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t j = i; j < shapes.size(); ++j) {
      if (i == 6) continue;
      Diagnostics diagnostics;
      const CollisionWorld world = CollisionWorld::build(
          {{.name = "a", .body = 1, .shape = shapes[i].second}, {.name = "b", .body = 2, .shape = shapes[j].second}},
          {0, 1, 1, 0}, diagnostics);
      auto workspace = world.make_workspace();
      std::vector<ContactPair> contacts;
      double mean[2];
      for (const bool inside : {false, true}) {
        Random random(3);
        std::vector<std::vector<RigidTransform>> poses;
        while (poses.size() < 200) {
          std::vector<RigidTransform> X = {RigidTransform::Identity(), random_pose(random, 0), random_pose(random, 0)};
          X[1].translation() = Vector3d(0, 0, 0.15);
          const ContactPair c = world.signed_distance(0, 1, X);
          X[1].translation() -= (c.gap - (inside ? -1e-3 : 1e-3)) * c.nhat_BA_W;
          poses.push_back(X);
        }
        mean[inside] = shortest_microseconds(11,
                                             [&] {
                                               for (const auto& X : poses)
                                                 world.find_contacts(X, 0.005, workspace, contacts);
                                             }) /
                       static_cast<double>(poses.size());
      }
      std::printf("%-10s %-10s %7.2f / %7.2f\n", shapes[i].first, shapes[j].first, mean[0], mean[1]);
    }
  }
}

}  // namespace

int main() {
  const int counts[] = {100, 200, 500, 1000};
  double first = 0, last = 0;
  for (const int count : counts) {
    last = time_crowd(count);
    if (count == counts[0]) first = last;
  }
  std::printf("exponent from 100 to 1000 bodies: %.2f\n\n", std::log10(last / first));
  time_hand("ball", multibody::SphereSpec{0.06});
  time_hand("box", multibody::BoxSpec{Vector3d::Constant(0.1)});
  time_pairs();
}
