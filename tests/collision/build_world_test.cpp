// Building a world: meshes and their hulls, and an error for every kind of bad shape.

#include <gtest/gtest.h>

#include "deft/collision/collision_world.hpp"

namespace deft::collision {
namespace build_world_test {

using Eigen::Vector3d;
using multibody::ShapeSpec;

const std::string kData = DEFT_SOURCE_DIR "/tests/collision/data/";

CollisionWorld build(const std::vector<ShapeSpec>& shapes, Diagnostics& diagnostics) {
  std::vector<GeometryDescription> geometries;
  for (const auto& shape : shapes) {
    const int k = static_cast<int>(geometries.size());
    geometries.push_back({.name = "g" + std::to_string(k), .body = k, .shape = shape, .where = {"scene.yaml", 7, 3}});
  }
  return CollisionWorld::build(std::move(geometries), std::vector<unsigned char>(shapes.size() * shapes.size(), 1),
                               diagnostics);
}

struct BadShape {
  const char* name;
  ShapeSpec shape;
  const char* message;
};

class RejectedShape : public testing::TestWithParam<BadShape> {};

TEST_P(RejectedShape, IsNamedWithItsPlaceAndReason) {
  Diagnostics diagnostics;
  try {
    build({GetParam().shape}, diagnostics);
    FAIL() << "no error";
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("scene.yaml:7:3"), std::string::npos) << text;
    EXPECT_NE(text.find("g0"), std::string::npos) << text;
    EXPECT_NE(text.find(GetParam().message), std::string::npos) << text;
  }
}

const double kNan = std::numeric_limits<double>::quiet_NaN();

INSTANTIATE_TEST_SUITE_P(
    All, RejectedShape,
    testing::Values(
        BadShape{"sphere_negative", multibody::SphereSpec{-0.1}, "radius must be"},
        BadShape{"sphere_nan", multibody::SphereSpec{kNan}, "radius must be"},
        BadShape{"box_zero", multibody::BoxSpec{{0.1, 0, 0.1}}, "box size must be positive"},
        BadShape{"box_infinite", multibody::BoxSpec{{0.1, INFINITY, 0.1}}, "box size must be positive"},
        BadShape{"capsule_negative_length", multibody::CapsuleSpec{0.1, -1}, "length must be"},
        BadShape{"cylinder_zero_radius", multibody::CylinderSpec{0, 1}, "radius must be positive"},
        BadShape{"ellipsoid_negative", multibody::EllipsoidSpec{{0.1, -0.1, 0.1}}, "radius must be positive"},
        BadShape{"half_space_zero_normal", multibody::HalfSpaceSpec{Vector3d::Zero(), 0}, "normal of a half-space"},
        BadShape{"half_space_nan_offset", multibody::HalfSpaceSpec{Vector3d::UnitZ(), kNan}, "offset of a half-space"},
        BadShape{"prism_two_vertices", multibody::PrismSpec{{{0, 0}, {1, 0}}, 1}, "at least three vertices"},
        BadShape{"prism_needle", multibody::PrismSpec{{{0, 0}, {1, 0}, {1, 1e-12}}, 1},
                 "at least three vertices and an area"},
        BadShape{"prism_not_convex", multibody::PrismSpec{{{0, 0}, {1, 0}, {0.2, 0.2}, {0, 1}}, 1}, "must be convex"},
        BadShape{"prism_star", multibody::PrismSpec{{{1, 0}, {-0.8, 0.6}, {0.3, -0.95}, {0.3, 0.95}, {-0.8, -0.6}}, 1},
                 "must be convex"},
        BadShape{"prism_flat", multibody::PrismSpec{{{0, 0}, {1, 0}, {1, 1}}, 0}, "height must be positive"},
        BadShape{"prism_nan", multibody::PrismSpec{{{0, 0}, {kNan, 0}, {1, 1}}, 1}, "not finite"},
        BadShape{"mesh_missing", multibody::MeshSpec{kData + "nowhere.stl"}, "no such file"},
        BadShape{"mesh_unknown_format", multibody::MeshSpec{kData + "box.ply"}, "valid: .stl, .obj, .dae, .msh"},
        BadShape{"mesh_flat", multibody::MeshSpec{kData + "flat.obj"}, "flat"},
        BadShape{"mesh_garbage", multibody::MeshSpec{kData + "not_a_mesh.stl"}, "not_a_mesh.stl"},
        BadShape{"mesh_letters_for_indices", multibody::MeshSpec{kData + "letters.dae"}, "line 13: <p> is a list"},
        BadShape{"mesh_scale_zero", multibody::MeshSpec{kData + "box.stl", {1, 0, 1}}, "scale of a mesh"}),
    [](const auto& bad) { return bad.param.name; });

TEST(BuildWorld, ReportsAllErrorsAtOnce) {
  Diagnostics diagnostics;
  EXPECT_THROW(
      build({multibody::SphereSpec{-1}, multibody::SphereSpec{0.1}, multibody::BoxSpec{{-1, 1, 1}}}, diagnostics),
      InputError);
  EXPECT_EQ(diagnostics.error_count(), 2);
}

TEST(BuildWorld, RejectsAFilterOfTheWrongSize) {
  Diagnostics diagnostics;
  std::vector<GeometryDescription> geometries(2, {.name = "g", .body = 0, .shape = multibody::SphereSpec{1}});
  EXPECT_THROW(CollisionWorld::build(geometries, {1, 1, 1}, diagnostics), std::invalid_argument);
}

TEST(BuildWorld, MergesTheTrianglesOfABoxFromEveryFormat) {
  for (const char* file : {"box.stl", "box.obj", "box.dae"}) {
    Diagnostics diagnostics;
    const CollisionWorld world =
        build({multibody::MeshSpec{kData + file}, multibody::BoxSpec{{0.2, 0.2, 0.2}}}, diagnostics);
    const GeometryInfo& info = world.geometries()[0];
    EXPECT_EQ(info.kind, "convex hull");
    EXPECT_EQ(info.hull_vertices, 8) << file;
    EXPECT_NEAR(info.mesh_volume, 0.04 * 0.06 * 0.08, 1e-10);
    EXPECT_NEAR(info.hull_volume, info.mesh_volume, 1e-10);
    EXPECT_TRUE(diagnostics.all().empty());
    // On a large box it has the four contacts of a box.
    std::vector<RigidTransform> X(2, RigidTransform::Identity());
    X[0].translation() = Vector3d(0, 0, 0.1401);
    auto workspace = world.make_workspace();
    std::vector<ContactPair> contacts;
    world.find_contacts(X, 0.01, workspace, contacts);
    ASSERT_EQ(contacts.size(), 4u) << file;
    for (const auto& c : contacts) EXPECT_NEAR(c.gap, 1e-4, 1e-8);
  }
}

TEST(BuildWorld, ScalesMeshes) {
  Diagnostics diagnostics;
  const CollisionWorld world =
      build({multibody::MeshSpec{kData + "box.stl", {2, 1, 0.5}}, multibody::SphereSpec{0.01}}, diagnostics);
  std::vector<RigidTransform> X(2, RigidTransform::Identity());
  X[1].translation() = Vector3d(0.06, 0, 0);
  EXPECT_NEAR(world.signed_distance(0, 1, X).gap, 0.06 - 0.04 - 0.01, 1e-8);
}

TEST(BuildWorld, WarnsOfAHullThatInflatesItsMesh) {
  Diagnostics diagnostics;
  const CollisionWorld world = build({multibody::MeshSpec{kData + "corner_profile.stl"}}, diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].severity, Severity::kWarning);
  EXPECT_NE(diagnostics.all()[0].message.find("1.4 times"), std::string::npos) << diagnostics.all()[0].message;
  EXPECT_EQ(world.geometries()[0].hull_vertices, 10);
  EXPECT_NEAR(world.geometries()[0].mesh_volume, 0.03 * (0.06 * 0.02 + 0.02 * 0.04), 1e-10);
}

TEST(BuildWorld, KeepsEveryVertexOfARoundHull) {
  Diagnostics diagnostics;
  const CollisionWorld world =
      build({multibody::MeshSpec{kData + "ball.obj"}, multibody::SphereSpec{0.0}}, diagnostics);
  EXPECT_EQ(world.geometries()[0].hull_vertices, 18);
  std::vector<RigidTransform> X(2, RigidTransform::Identity());
  X[1].translation() = Vector3d(0, 0, 0.08);
  EXPECT_NEAR(world.signed_distance(0, 1, X).gap, 0.03, 1e-8);
}

TEST(BuildWorld, TakesAPrismInEitherSenseAndWithVerticesOnItsSides) {
  Diagnostics diagnostics;
  const CollisionWorld world = build(
      {multibody::PrismSpec{{{0, 0}, {0, 1}, {0.5, 1}, {1, 1}, {1, 0}}, 0.2}, multibody::SphereSpec{0.1}}, diagnostics);
  EXPECT_EQ(world.geometries()[0].kind, "prism");
  EXPECT_EQ(world.geometries()[0].hull_vertices, 8);
  std::vector<RigidTransform> X(2, RigidTransform::Identity());
  X[1].translation() = Vector3d(0.5, 1.3, 0);
  EXPECT_NEAR(world.signed_distance(0, 1, X).gap, 0.2, 1e-14);
}

TEST(BuildWorld, TreatsACapsuleOfNoLengthAsASphere) {
  Diagnostics diagnostics;
  const CollisionWorld world = build({multibody::CapsuleSpec{0.1, 0}, multibody::SphereSpec{0.1}}, diagnostics);
  std::vector<RigidTransform> X(2, RigidTransform::Identity());
  X[1].translation() = Vector3d(0, 0.3, 0.4);
  EXPECT_NEAR(world.signed_distance(0, 1, X).gap, 0.3, 1e-15);
}

TEST(SignedDistance, OfTwoHalfSpacesOrOneGeometryIsAnError) {
  Diagnostics diagnostics;
  const CollisionWorld world = build(
      {multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, multibody::HalfSpaceSpec{Vector3d::UnitX(), 0}}, diagnostics);
  const std::vector<RigidTransform> X(2, RigidTransform::Identity());
  EXPECT_THROW(world.signed_distance(0, 1, X), std::invalid_argument);
  EXPECT_THROW(world.signed_distance(0, 0, X), std::invalid_argument);
  EXPECT_THROW(world.signed_distance(0, 2, X), std::invalid_argument);
}

TEST(SignedDistance, ToAHalfSpaceIsTheLowestPointOfEveryShape) {
  Diagnostics diagnostics;
  const std::vector<ShapeSpec> shapes = {multibody::SphereSpec{0.03},
                                         multibody::CapsuleSpec{0.02, 0.06},
                                         multibody::BoxSpec{{0.06, 0.06, 0.06}},
                                         multibody::PrismSpec{{{0, 0}, {1, 0}, {0, 1}}, 0.06},
                                         multibody::CylinderSpec{0.03, 0.06},
                                         multibody::EllipsoidSpec{{0.1, 0.2, 0.03}},
                                         multibody::HalfSpaceSpec{{0, 0, 2}, 0.2}};
  const double lowest[] = {0.03, 0.05, 0.03, 0.03, 0.03, 0.03};
  const CollisionWorld world = build(shapes, diagnostics);
  std::vector<RigidTransform> X(7, RigidTransform::Identity());
  for (auto& pose : X) pose.translation() = Vector3d(0.1, 0.2, 1.0);
  X[6] = RigidTransform::Identity();
  for (int i = 0; i < 6; ++i) {
    const ContactPair c = world.signed_distance(i, 6, X);
    EXPECT_NEAR(c.gap, 1.0 - lowest[i] - 0.1, 1e-15) << world.geometries()[i].kind;
    EXPECT_TRUE(c.nhat_BA_W.isApprox(Vector3d::UnitZ()));
  }
}

}  // namespace build_world_test
}  // namespace deft::collision
