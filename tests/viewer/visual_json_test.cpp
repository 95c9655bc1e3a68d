#include "deft/viewer/visual_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/scene_builder.hpp"

namespace deft::viewer {
namespace visual_json_test {

using namespace scene;
using Eigen::Vector3d;
using multibody::SphereSpec;
using test::ball_and_finger;
using test::body;
using test::fixed_body;
using test::free_body;
using test::slide;

TEST(VisualJson, DescribesBodiesRolesAndShapes) {
  SceneSpec spec = ball_and_finger();
  spec.name = "a \"quoted\" name";
  spec.world.models.push_back(fixed_body("wedge", multibody::PrismSpec{{{0, 0}, {1, 0}, {0, 1}}, 0.2}, 1));
  spec.step.kappa = 100;
  const std::string json = visual_json(test::build(spec));
  EXPECT_NE(json.find(R"("name":"a \"quoted\" name")"), std::string::npos);
  EXPECT_NE(json.find(R"("name":"ball","role":"object")"), std::string::npos);
  EXPECT_NE(json.find(R"("name":"finger","role":"robot")"), std::string::npos);
  EXPECT_NE(json.find(R"("name":"wedge","role":"fixed")"), std::string::npos);
  EXPECT_NE(json.find(R"("kappa":100)"), std::string::npos);
  EXPECT_NE(json.find(R"("type":"mesh","vertices":[0,0,-0.1)"), std::string::npos) << json;
  EXPECT_EQ(json.find("limit_surface\":{"), std::string::npos);
}

TEST(VisualJson, DescribesLimitSurfacesInTheAxesOfTheirBodies) {
  using test::turn;
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(), z = Eigen::Vector3d::UnitZ();
  // In the plane xz; the second object lies with its x axis along the plane's normal.
  const Eigen::Matrix3d lying = (Eigen::Matrix3d() << 0, 1, 0, 1, 0, 0, 0, 0, -1).finished();
  const RigidTransform X = make_transform(lying, {3, 0, 0});
  SceneSpec spec;
  spec.file = "test.deft.yaml";
  spec.step.h = 0.1;
  spec.step.model = ModelKind::kLimitSurface;
  spec.plane = Plane::kXZ;
  spec.gravity_W = {0, -9.81, 0};
  const auto joints = [&](const Eigen::Matrix3d& R) {
    return std::vector{slide("x", R.transpose() * x), slide("z", R.transpose() * z), turn("theta", R.transpose() * y)};
  };
  spec.world.models.push_back(test::body("ellipsoid", multibody::JointKind::kAxes, joints(Eigen::Matrix3d::Identity()),
                                         multibody::BoxSpec{{1, 1, 1}}, 0, 0, 1));
  spec.world.models.push_back(
      test::body("flat", multibody::JointKind::kAxes, joints(lying), multibody::BoxSpec{{1, 1, 1}}, 2, 0.1, 1, X));
  spec.limit_surfaces["ellipsoid"].ellipsoid << 1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 3;
  spec.limit_surfaces["flat"].support =
      SupportSpec{.polygon = {{-0.2, -0.1}, {0.2, -0.1}, {0.2, 0.1}, {-0.2, 0.1}}, .mu = 0.5};
  const std::string json = visual_json(test::build(spec));
  EXPECT_NE(json.find(R"("limit_surface":{"axes":[0,2,1],"ellipsoid":[1,0.1,0.2,2,0.3,3]})"), std::string::npos)
      << json;
  const std::size_t at = json.find(R"("limit_surface":{"axes":[1,2,0],"gyration":)");
  ASSERT_NE(at, std::string::npos) << json;
  // The first row is the turn about −n: no force and the largest moment; the middle one translations: μ times the
  // weight, no moment.
  std::vector<double> loads;
  const char* text = json.c_str() + json.find("\"loads\":[", at) + 9;
  for (char* end = nullptr; *text != ']'; text = end) loads.push_back(std::strtod(text + 1, &end));
  ASSERT_EQ(loads.size(), 3u * 19 * 36);
  const double friction = 0.5 * 2 * 9.81;
  EXPECT_NEAR(std::hypot(loads[0], loads[1]), 0, 1e-9);
  EXPECT_LT(loads[2], 0);
  for (std::size_t j = 9 * 36; j < 10 * 36; ++j) {
    EXPECT_NEAR(std::hypot(loads[3 * j], loads[3 * j + 1]), friction, 1e-4);
    EXPECT_NEAR(loads[3 * j + 2], 0, 1e-5);
  }
  for (std::size_t j = 0; j < 19 * 36; ++j) EXPECT_GE(loads[3 * j + 2], loads[2] - 1e-9);
}

}  // namespace visual_json_test
}  // namespace deft::viewer
