// Contacts between outlines in a plane of motion, against distances by sampling and by hand.

#include "deft/collision/planar_world.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "deft/math/random.hpp"

namespace deft::collision {
namespace planar_world_test {

using Eigen::Vector2d;
using Eigen::Vector3d;
using namespace multibody;

/// Geometries, each on a body of its own (body 0 is the world); all pairs may touch.
struct World {
  explicit World(std::vector<ShapeSpec> shapes, const Vector3d& normal = Vector3d::UnitZ(),
                 std::vector<RigidTransform> poses = {}) {
    X_WB.assign(shapes.size() + 1, RigidTransform::Identity());
    for (std::size_t i = 0; i < poses.size(); ++i) X_WB[i + 1] = poses[i];
    std::vector<GeometryDescription> geometries;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      geometries.push_back(
          {"g" + std::to_string(i), static_cast<int>(i) + 1, RigidTransform::Identity(), shapes[i], {}});
    const std::vector<unsigned char> allowed(shapes.size() * shapes.size(), 1);
    planar.emplace(PlanarWorld::build(geometries, allowed, X_WB, normal, diagnostics));
  }
  const std::vector<ContactPair>& contacts(double margin = INFINITY) {
    planar->find_contacts(X_WB, margin, workspace, found);
    return found;
  }
  void place(int body, double x, double y, double theta = 0) {
    X_WB[body] = make_transform(Eigen::AngleAxisd(theta, Vector3d::UnitZ()).toRotationMatrix(), {x, y, 0});
  }
  Diagnostics diagnostics;
  std::vector<RigidTransform> X_WB;
  std::optional<PlanarWorld> planar;
  PlanarWorkspace workspace;
  std::vector<ContactPair> found;
};

const PrismSpec kTriangle{{{1, -1}, {1, 1}, {-1, 1}}, 0.1};

TEST(PlanarWorld, DiscsHalfPlanesAndPointsByHand) {
  World world({CylinderSpec{1, 0.2}, SphereSpec{0}, HalfSpaceSpec{{0, 2, 0}, -4}, SphereSpec{0.5}, SphereSpec{0}});
  world.place(1, 0, 0);
  world.place(2, 3, 4);
  world.place(4, -2, 0);
  world.place(5, 9, 9);
  std::map<std::pair<int, int>, ContactPair> by_body;
  for (const ContactPair& c : world.contacts()) by_body[{c.body_a, c.body_b}] = c;
  ASSERT_EQ(by_body.size(), 9u);  // the two points never touch each other
  const ContactPair& point = by_body.at({1, 2});
  EXPECT_NEAR(point.gap, 4, 1e-15);
  EXPECT_LT((point.nhat_BA_W - Vector3d(-0.6, -0.8, 0)).norm(), 1e-15);
  EXPECT_LT((point.p_WA - Vector3d(0.6, 0.8, 0)).norm(), 1e-15);
  const ContactPair& wall = by_body.at({1, 3});
  EXPECT_NEAR(wall.gap, 1, 1e-15);  // wall at y = −2
  EXPECT_LT((wall.nhat_BA_W - Vector3d(0, 1, 0)).norm(), 1e-15);
  EXPECT_LT((wall.p_WB - Vector3d(0, -2, 0)).norm(), 1e-15);
  EXPECT_NEAR(by_body.at({1, 4}).gap, 0.5, 1e-15);
  EXPECT_EQ(world.contacts(0.75).size(), 1u);
}

/// max over edges of the distance to their lines.
double separation(const std::vector<Vector2d>& polygon, const Vector2d& p) {
  double most = -INFINITY;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vector2d a = polygon[i], t = (polygon[(i + 1) % polygon.size()] - a).normalized();
    most = std::max(most, Vector2d(t.y(), -t.x()).dot(p - a));
  }
  return most;
}

TEST(PlanarWorld, VerticesOfPolygonsBySeparatingEdge) {
  World world({kTriangle, BoxSpec{{2, 6, 0.1}}});
  for (std::uint64_t item = 0; item < 200; ++item) {
    const auto draw = [&](std::uint32_t k, double size) { return size * (2 * random_uniform(3, item, k) - 1); };
    const double pose[2][3] = {{draw(0, 3), draw(1, 4), draw(2, 4)}, {draw(3, 3), draw(4, 4), draw(5, 4)}};
    std::vector<Vector2d> outline[2] = {{{1, -1}, {1, 1}, {-1, 1}}, {{-1, -3}, {1, -3}, {1, 3}, {-1, 3}}};
    for (int b = 0; b < 2; ++b) {
      world.place(b + 1, pose[b][0], pose[b][1], pose[b][2]);
      for (Vector2d& p : outline[b]) p = Eigen::Rotation2Dd(pose[b][2]) * p + Vector2d(pose[b][0], pose[b][1]);
    }
    const auto& contacts = world.contacts();
    ASSERT_EQ(contacts.size(), 7u);
    for (const ContactPair& c : contacts) {
      const auto& owner = outline[c.body_a - 1];
      const auto& other = outline[c.body_b - 1];
      // The witness on A is one of its corners, the gap that corner's separation, and the witness on B lies on its
      // edge's line.
      double nearest = INFINITY;
      for (const Vector2d& p : owner) nearest = std::min(nearest, (p - c.p_WA.head<2>()).norm());
      EXPECT_LT(nearest, 1e-13);
      EXPECT_NEAR(c.gap, separation(other, c.p_WA.head<2>()), 1e-12);
      EXPECT_NEAR(separation(other, c.p_WB.head<2>()), 0, 1e-12 + std::max(0.0, separation(other, c.p_WB.head<2>())));
      EXPECT_LT((c.p_WA - c.p_WB - c.gap * c.nhat_BA_W).norm(), 1e-12);
      // The gap is linear in the vertex as long as the edge stays.
      const Vector2d moved = c.p_WA.head<2>() + 1e-7 * c.nhat_BA_W.head<2>();
      EXPECT_NEAR(separation(other, moved) - c.gap, 1e-7, 1e-12);
    }
  }
}

TEST(PlanarWorld, DiscsMeetCornersOfPolygonsRound) {
  World world({SphereSpec{0.5}, BoxSpec{{2, 2, 1}}});
  world.place(1, 1.3, 1.4);
  const ContactPair corner = world.contacts().front();
  EXPECT_NEAR(corner.gap, 0, 1e-15);  // 0.5 from the corner (1, 1)
  EXPECT_LT((corner.nhat_BA_W - Vector3d(0.6, 0.8, 0)).norm(), 1e-15);
  world.place(1, 0.2, 1.75);
  EXPECT_NEAR(world.contacts().front().gap, 0.25, 1e-15);
  world.place(1, 0.8, 0.1);  // its centre inside
  EXPECT_NEAR(world.contacts().front().gap, -0.7, 1e-15);
  EXPECT_LT((world.contacts().front().nhat_BA_W - Vector3d(1, 0, 0)).norm(), 1e-15);
}

TEST(PlanarWorld, OutlinesInTheOtherPlanes) {
  // A prism whose axis is turned along y, in the plane xz.
  const Eigen::Matrix3d R = Eigen::AngleAxisd(EIGEN_PI / 2, Vector3d::UnitX()).toRotationMatrix();
  World world({PrismSpec{{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}, 0.2}, SphereSpec{0.1}}, Vector3d::UnitY(),
              {make_transform(R, {0, 0, 0}), make_transform(Eigen::Matrix3d::Identity(), {0, 0, 2})});
  ASSERT_EQ(world.contacts().size(), 1u);
  EXPECT_NEAR(world.contacts()[0].gap, 0.9, 1e-15);
  EXPECT_LT((world.contacts()[0].nhat_BA_W - Vector3d(0, 0, 1)).norm(), 1e-12);
}

TEST(PlanarWorld, ContactsAreAtTheMiddleOfTheHeightsThatBothHave) {
  // Heights 0 … 0.2 and 0.1 … 0.5: they share 0.1 … 0.2. Beside a wall without an end, the box's own middle.
  const auto at = [](double x, double z) { return make_transform(Eigen::Matrix3d::Identity(), {x, 0, z}); };
  World boxes({BoxSpec{{1, 1, 0.2}}, BoxSpec{{1, 1, 0.4}}}, Vector3d::UnitZ(), {at(0, 0.1), at(1.1, 0.3)});
  World wall({BoxSpec{{1, 1, 0.2}}, HalfSpaceSpec{{-1, 0, 0}, -1}}, Vector3d::UnitZ(), {at(0, 0.1)});
  ASSERT_FALSE(boxes.contacts().empty());
  for (const ContactPair& c : boxes.found) EXPECT_NEAR(c.p_WA.z(), 0.15, 1e-15);
  ASSERT_FALSE(wall.contacts().empty());
  for (const ContactPair& c : wall.found) EXPECT_NEAR(c.p_WA.z(), 0.1, 1e-15);
}

TEST(PlanarWorld, BodiesOnEachOtherAndFloorsDoNotTouch) {
  World world(
      {BoxSpec{{1, 1, 1}}, BoxSpec{{4, 4, 1}}, HalfSpaceSpec{{0, 0, 1}, -0.5}, BoxSpec{{1, 1, 1}}}, Vector3d::UnitZ(),
      {make_transform(Eigen::Matrix3d::Identity(), {0, 0, 0}), make_transform(Eigen::Matrix3d::Identity(), {0, 0, -1}),
       RigidTransform::Identity(), make_transform(Eigen::Matrix3d::Identity(), {3, 0, 0})});
  for (const ContactPair& c : world.contacts()) {
    EXPECT_TRUE((c.body_a == 1 && c.body_b == 4) || (c.body_a == 4 && c.body_b == 1));
  }
  EXPECT_EQ(world.contacts().size(), 8u);
}

TEST(PlanarWorld, RefusesShapesWithoutAnOutlineByName) {
  const Eigen::Matrix3d lying = Eigen::AngleAxisd(EIGEN_PI / 2, Vector3d::UnitX()).toRotationMatrix();
  const struct {
    ShapeSpec shape;
    Eigen::Matrix3d R;
    const char* message;
  } cases[] = {
      {CapsuleSpec{0.1, 1}, lying, "'g0': the axis of the capsule"},
      {CylinderSpec{0.1, 1}, lying, "'g0': the axis of the cylinder"},
      {EllipsoidSpec{{1, 2, 1}}, Eigen::Matrix3d::Identity(), "'g0': an ellipsoid must be round"},
      {HalfSpaceSpec{{0, 1, 1}, 0}, Eigen::Matrix3d::Identity(), "'g0': a half-space must stand on the plane"}};
  for (const auto& c : cases) {
    World world({c.shape}, Vector3d::UnitZ(), {make_transform(c.R, {0, 0, 0})});
    ASSERT_TRUE(world.diagnostics.has_errors()) << c.message;
    EXPECT_NE(world.diagnostics.all()[0].message.find(c.message), std::string::npos)
        << world.diagnostics.all()[0].message;
  }
}

TEST(PlanarWorld, ReportsAllErrorsAtOnce) {
  World world({EllipsoidSpec{{1, 2, 1}}, SphereSpec{-1}, SphereSpec{0.1}, HalfSpaceSpec{{0, 1, 1}, 0}});
  const std::span<const Diagnostic> found = world.diagnostics.all();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NE(found[0].message.find("'g0'"), std::string::npos) << found[0].message;
  EXPECT_NE(found[1].message.find("'g1'"), std::string::npos) << found[1].message;
  EXPECT_NE(found[2].message.find("'g3'"), std::string::npos) << found[2].message;
}

}  // namespace planar_world_test
}  // namespace deft::collision
