// Drake model directives: scopes, name spaces, frames, default positions and poses, filter groups.

#include <gtest/gtest.h>

#include <numbers>

#include "deft/io/scene/scene_file.hpp"
#include "scene_file_support.hpp"

namespace deft::io {
namespace scene_file_directives_test {

using test::Folder;
using test::read_good;

constexpr double kQuarter = std::numbers::pi / 2;

class SceneFileDirectives : public ::testing::Test {
 protected:
  SceneFileDirectives() {
    folder_.write("arm.sdf", test::arm_sdf("arm", 2));
    folder_.write("ball.sdf", test::ball_sdf("ball"));
  }
  scene::SceneSpec read(const std::string& directives) {
    return read_good(folder_.write("scene.yml", "directives:\n" + directives));
  }
  Folder folder_;
};

TEST_F(SceneFileDirectives, ReadEveryWayToWriteARotation) {
  const Eigen::Matrix3d about_z = Eigen::AngleAxisd(kQuarter, Eigen::Vector3d::UnitZ()).toRotationMatrix();
  struct Case {
    const char* pose;
    Eigen::Matrix3d expected;
  };
  const Case cases[] = {
      {"rotation: !Rpy {deg: [0, 0, 90]}", about_z},
      {"rotation: !Rpy {rad: [0, 0, 1.5707963267948966]}", about_z},
      {"rotation: !Rpy { deg: !DeterministicVector { value: [0, 0, 90.0] } }", about_z},
      {"rotation: !AngleAxis {angle_deg: 90, axis: [0, 0, 5]}", about_z},
      {"rotation: !AngleAxis {angle_deg: !Deterministic {value: 90}, axis: [0, 0, 5]}", about_z},
      {"rotation: !Identity {}", Eigen::Matrix3d::Identity()},
      {"translation: [0, 0, 0]", Eigen::Matrix3d::Identity()},
      {"rotation: {quat_wxyz: [0.7071068, 0, 0, 0.7071068]}", about_z},
      {"quat_wxyz: [0.7071068, 0, 0, -0.7071068]", about_z.transpose()},
      // Extrinsic x, y, z: first the roll by 90°, which takes y to z, then the yaw, which leaves z.
      {"rotation: !Rpy {deg: [90, 0, 90]}", (Eigen::Matrix3d() << 0, 0, 1, 1, 0, 0, 0, 1, 0).finished()}};
  for (const Case& c : cases) {
    const auto spec =
        read(fmt::format("- add_frame:\n    name: f\n    X_PF:\n      base_frame: world\n      {}\n", c.pose));
    ASSERT_EQ(spec.world.frames.size(), 1u) << c.pose;
    EXPECT_NEAR((spec.world.frames[0].X_AF.linear() - c.expected).norm(), 0, 1e-7) << c.pose;
  }
}

TEST_F(SceneFileDirectives, ScopeFramesByTheModelOfTheirBase) {
  const auto spec = read(
      "- add_model: {name: a, file: arm.sdf}\n- add_model: {name: ball, file: ball.sdf}\n"
      "- add_frame: {name: tool, X_PF: {base_frame: 'a::link_1', translation: [0, 0, 0.1]}}\n"
      "- add_frame: {name: 'a::tip', X_PF: {base_frame: tool}}\n"
      "- add_frame: {name: ground, X_PF: {base_frame: world}}\n"
      "- add_weld: {parent: ground, child: 'a::base'}\n- add_weld: {parent: 'a::tip', child: ball_link}\n");
  ASSERT_EQ(spec.world.frames.size(), 3u);
  EXPECT_EQ(spec.world.frames[0].name, "a::tool");
  EXPECT_EQ(spec.world.frames[1].name, "a::tip");
  EXPECT_EQ(spec.world.frames[1].attached_to, "a::tool");
  EXPECT_EQ(spec.world.frames[2].name, "ground");
  EXPECT_EQ(spec.world.welds[0].parent, "ground");
  EXPECT_EQ(spec.world.welds[1].child, "ball::ball_link");
}

TEST_F(SceneFileDirectives, PrefixNameSpacesOfIncludedFiles) {
  folder_.write("inner.yml",
                "directives:\n- add_model: {name: arm, file: arm.sdf, default_joint_positions: {joint_1: [0.5]}}\n"
                "- add_frame: {name: mount, X_PF: {base_frame: world, translation: [1, 0, 0]}}\n"
                "- add_weld: {parent: mount, child: 'arm::base'}\n"
                "- add_collision_filter_group: {name: tips, members: ['arm::link_1'], ignored_collision_filter_groups: "
                "[tips]}\n");
  folder_.write("middle.yml", "directives:\n- add_directives: {file: inner.yml, model_namespace: in}\n");
  const auto spec = read(
      "- add_model_instance: {name: left}\n- add_model_instance: {name: right}\n- add_directives: {file: inner.yml, "
      "model_namespace: left}\n"
      "- add_directives: {file: middle.yml, model_namespace: right}\n"
      "- add_collision_filter_group: {name: both, members: ['left::arm::base'], member_groups: ['left::tips'], "
      "ignored_collision_filter_groups: ['right::in::tips']}\n"
      "- add_collision_filter_group: {name: short, model_namespace: 'left::arm', members: [link_0], "
      "ignored_collision_filter_groups: []}\n");
  ASSERT_EQ(spec.world.models.size(), 2u);
  EXPECT_EQ(spec.world.models[0].name, "left::arm");
  EXPECT_EQ(spec.world.models[1].name, "right::in::arm");
  EXPECT_EQ(spec.world.frames[1].name, "right::in::mount");
  EXPECT_EQ(spec.world.frames[1].attached_to, "world");
  EXPECT_EQ(spec.world.welds[1].parent, "right::in::mount");
  EXPECT_EQ(spec.world.welds[1].child, "right::in::arm::base");
  EXPECT_EQ(spec.defaults.models.at("left::arm").joints.by_name.at("joint_1"), 0.5);
  ASSERT_EQ(spec.filter_groups.size(), 4u);
  EXPECT_EQ(spec.filter_groups[1].name, "right::in::tips");
  EXPECT_EQ(spec.filter_groups[1].members, std::vector<std::string>{"right::in::arm::link_1"});
  EXPECT_EQ(spec.filter_groups[1].ignored, std::vector<std::string>{"right::in::tips"});
  EXPECT_EQ(spec.filter_groups[2].member_groups, std::vector<std::string>{"left::tips"});
  EXPECT_EQ(spec.filter_groups[3].name, "left::arm::short");
  EXPECT_EQ(spec.filter_groups[3].members, std::vector<std::string>{"left::arm::link_0"});
}

TEST_F(SceneFileDirectives, TheSameFileTwiceIsNoCycle) {
  folder_.write("inner.yml", "directives:\n- add_model: {name: arm, file: arm.sdf}\n");
  const auto spec = read(
      "- add_directives: {file: inner.yml, model_namespace: a}\n- add_directives: {file: inner.yml, model_namespace: "
      "b}\n");
  EXPECT_EQ(spec.world.models.size(), 2u);
}

TEST_F(SceneFileDirectives, DefaultPosesAreInTheWorldThroughFixedFrames) {
  // The arm's base is welded 1 m up and turned by 90° about z; the frame sits 0.5 m along its x, which is the world's
  // y.
  const auto spec = read(
      "- add_model: {name: a, file: arm.sdf, default_joint_positions: {joint_0: 0.25}}\n"
      "- add_model:\n    name: ball\n    file: ball.sdf\n    default_free_body_pose:\n"
      "      ball_link: {base_frame: shelf, translation: [0, 0, 2], rotation: !Rpy {deg: [0, 0, 90]}}\n"
      "- add_weld: {parent: world, child: 'a::base', X_PC: {translation: [0, 0, 1], rotation: !Rpy {deg: [0, 0, "
      "90]}}}\n"
      "- add_frame: {name: shelf, X_PF: {base_frame: 'a::base', translation: [0.5, 0, 0]}}\n");
  EXPECT_EQ(spec.defaults.models.at("a").joints.by_name.at("joint_0"), 0.25);
  const auto& [p, R] = spec.defaults.models.at("ball").free_bodies.at("ball_link");
  EXPECT_NEAR((*p - Eigen::Vector3d(0, 0.5, 3)).norm(), 0, 1e-15);
  EXPECT_NEAR((*R - Eigen::Vector3d(-1, -1, 1).asDiagonal().toDenseMatrix()).norm(), 0, 1e-15);
}

TEST_F(SceneFileDirectives, MayReferToInlineBodiesAndObjects) {
  const std::string path = folder_.write(
      "scene.deft.yaml",
      "deft: 1\ndirectives:\n- add_weld: {parent: table, child: ball_link, X_PC: {translation: [0, 0, 1]}}\n"
      "bodies: {table: {joint: fixed, shape: {box: {size: [1, 1, 1]}}}}\nobjects: [{name: ball, file: ball.sdf}]\n");
  const auto spec = read_good(path);
  ASSERT_EQ(spec.world.welds.size(), 1u);
  EXPECT_EQ(spec.world.welds[0].parent, "table::table");
  EXPECT_EQ(spec.world.welds[0].child, "ball::ball_link");
}

}  // namespace scene_file_directives_test
}  // namespace deft::io
