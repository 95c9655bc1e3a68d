#include "deft/multibody/description/package_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "model_files.hpp"

namespace deft::multibody {
namespace package_map_test {

/// Sets an environment variable for the duration of a test.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

class PackageMapTest : public ModelFiles {
 protected:
  std::string at(const std::string& path) const { return (folder_ / path).string(); }
};

TEST_F(PackageMapTest, ResolvesPlainPathsRelativeToTheFileThatSpeaks) {
  write("robot/meshes/a.obj", "");
  EXPECT_EQ(packages_.resolve("meshes/a.obj", at("robot/robot.sdf")).path, at("robot/meshes/a.obj"));
  EXPECT_EQ(packages_.resolve("file://meshes/a.obj", at("robot/robot.sdf")).path, at("robot/meshes/a.obj"));
  EXPECT_EQ(packages_.resolve("../robot/meshes/a.obj", at("robot/robot.sdf")).path, at("robot/meshes/a.obj"));
  EXPECT_EQ(packages_.resolve("file://" + at("robot/meshes/a.obj"), at("other/x.sdf")).path, at("robot/meshes/a.obj"));
}

TEST_F(PackageMapTest, FindsPackagesInEveryPlaceItPromises) {
  write("given/hands/palm.sdf", "");                                       // a folder of that name in a package path
  write("renamed/package.xml", "<package><name> arms </name></package>");  // a package path whose package.xml names it
  write("renamed/arm.sdf", "");
  write("tree/package.xml", "<package><name>tree_models</name></package>");  // upwards, by package.xml
  write("tree/deep/down/x.sdf", "");
  write("tree/deep/siblings/s.sdf", "");  // upwards, by folder name
  write("ros/balls/ball.sdf", "");
  write("ament/share/boxes/box.sdf", "");
  write("bundled/cube/cube.sdf", "");
  const Environment ros("ROS_PACKAGE_PATH", "/nonexistent:" + at("ros")), ament("AMENT_PREFIX_PATH", at("ament"));
  packages_.add_package_path(at("given"));
  packages_.add_package_path(at("renamed/"));
  packages_.set_bundled_scenes(at("bundled"));
  const std::string speaker = at("tree/deep/down/x.sdf");
  const struct {
    const char *uri, *path;
  } cases[] = {{"package://hands/palm.sdf", "given/hands/palm.sdf"},
               {"model://hands/palm.sdf", "given/hands/palm.sdf"},
               {"package://arms/arm.sdf", "renamed/arm.sdf"},
               {"package://tree_models/deep/down/x.sdf", "tree/deep/down/x.sdf"},
               {"package://siblings/s.sdf", "tree/deep/siblings/s.sdf"},
               {"package://balls/ball.sdf", "ros/balls/ball.sdf"},
               {"package://boxes/box.sdf", "ament/share/boxes/box.sdf"},
               {"package://deft_scenes/cube/cube.sdf", "bundled/cube/cube.sdf"}};
  for (const auto& c : cases) EXPECT_EQ(packages_.resolve(c.uri, speaker).path, at(c.path)) << c.uri;
}

TEST_F(PackageMapTest, PrefersGivenPackagePaths) {
  write("given/hands/palm.sdf", "");
  write("here/hands/palm.sdf", "");
  packages_.add_package_path(at("given"));
  EXPECT_EQ(packages_.resolve("package://hands/palm.sdf", at("here/scene.yaml")).path, at("given/hands/palm.sdf"));
}

TEST_F(PackageMapTest, FindsFilesOfPackagesThatLostTheirNameLast) {
  write("models/hand.yml", "");
  write("models/q_sys/hand_ball.yml", "");
  write("given/arm.sdf", "");
  packages_.add_package_path(at("given"));
  EXPECT_EQ(packages_.resolve("package://lost/hand.yml", at("models/q_sys/hand_ball.yml")).path, at("models/hand.yml"));
  EXPECT_EQ(packages_.resolve("package://lost/arm.sdf", at("models/hand.yml")).path, at("given/arm.sdf"));
  write("models/lost/hand.yml", "");  // a folder of the right name wins
  EXPECT_EQ(packages_.resolve("package://lost/hand.yml", at("models/q_sys/hand_ball.yml")).path,
            at("models/lost/hand.yml"));
}

TEST_F(PackageMapTest, ListsEveryPathItTried) {
  packages_.add_package_path(at("given"));
  const Environment ament("AMENT_PREFIX_PATH", at("ament"));
  const PackageMap::Result result = packages_.resolve("package://hands/palm.sdf", at("scenes/scene.yaml"));
  EXPECT_EQ(result.path, "");
  for (const char* tried :
       {"given/hands/palm.sdf", "scenes/hands/palm.sdf", "hands/palm.sdf", "ament/share/hands/palm.sdf"})
    EXPECT_EQ(std::count(result.tried.begin(), result.tried.end(), at(tried)), 1) << tried;
  EXPECT_EQ(packages_.resolve("gone.obj", at("a.sdf")).tried, std::vector<std::string>{at("gone.obj")});
}

}  // namespace package_map_test
}  // namespace deft::multibody
