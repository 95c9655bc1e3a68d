#include <gtest/gtest.h>

#include <numbers>

#include "deft/multibody/model.hpp"
#include "model_files.hpp"
#include "spec_builder.hpp"

namespace deft::multibody {
namespace load_urdf_test {

class LoadUrdf : public ModelFiles {
 protected:
  /// `inside` starts in line 2.
  std::optional<ModelSpec> robot(const std::string& inside) {
    return load("m.urdf", "<robot name='m'>\n" + inside + "\n</robot>\n");
  }
};

TEST_F(LoadUrdf, ReadsLinksAndJoints) {
  write("skin.stl", "");
  const auto m = robot(R"(<material name="red"><color rgba="1 0 0 1"/></material>
<link name="base"/>
<link name="arm">
  <inertial><origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/></inertial>
  <collision name="shell"><origin xyz="0 0 0.2"/><geometry><box size="1 2 3"/></geometry>
    <drake:proximity_properties><drake:mu_static value="0.9"/><drake:mu_dynamic value="0.6"/></drake:proximity_properties></collision>
  <collision><geometry><capsule radius="0.1" length="0.4"/></geometry></collision>
  <visual><geometry><mesh filename="skin.stl" scale="0.001 0.001 0.001"/></geometry><material name="red"/></visual>
</link>
<joint name="elbow" type="revolute"><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><parent link="base"/><child link="arm"/><axis xyz="0 0 2"/>
  <limit lower="-1" upper="2" effort="30" velocity="5"/><dynamics damping="0.7" friction="0"/></joint>)");
  ASSERT_TRUE(m) << testing::PrintToString(lines_);
  EXPECT_EQ(lines_, Lines{});
  const LinkSpec& arm = m->links[1];
  EXPECT_TRUE(arm.inertial->I_Com_L.isApprox(Matrix3d(Vector3d(2, 1, 2.5).asDiagonal()), 1e-14));
  EXPECT_EQ(arm.inertial->p_LCom.x(), 0.1);
  EXPECT_EQ(arm.collisions[0].name, "shell");
  EXPECT_EQ(arm.collisions[0].mu_static, 0.9);
  EXPECT_EQ(arm.collisions[0].mu_dynamic, 0.6);
  EXPECT_EQ(arm.collisions[0].X_LG.translation().z(), 0.2);
  EXPECT_EQ(arm.collisions[1].name, "collision_1");
  EXPECT_EQ(std::get<CapsuleSpec>(arm.collisions[1].shape).length, 0.4);
  EXPECT_EQ(std::get<MeshSpec>(arm.visuals[0].shape).scale.x(), 0.001);
  EXPECT_EQ(arm.visuals[0].rgba, (std::array{1.0, 0.0, 0.0, 1.0}));
  const JointSpec& elbow = m->joints[0];
  EXPECT_TRUE(elbow.X_PJ.isApprox(pose({0.1, 0.2, 0.3}, {0, 0, 1}), 1e-14));
  EXPECT_TRUE(elbow.X_CJ.isApprox(RigidTransform::Identity()));
  EXPECT_EQ(elbow.axes[0].coordinate, "elbow");
  EXPECT_EQ(elbow.axes[0].upper, 2);
  EXPECT_EQ(elbow.axes[0].effort_limit, 30);
  EXPECT_EQ(elbow.axes[0].velocity_limit, 5);
  EXPECT_EQ(elbow.axes[0].damping, 0.7);
}

TEST_F(LoadUrdf, ReadsEveryJointType) {
  const auto m =
      robot(R"(<link name="world"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/><link name="e"/>
<joint name="weld" type="fixed"><parent link="world"/><child link="a"/></joint>
<joint name="wheel" type="continuous"><parent link="a"/><child link="b"/><limit effort="1"/></joint>
<joint name="rail" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/><limit lower="-1e16" upper="0.5" effort="1e16" velocity="2"/></joint>
<joint name="table" type="planar"><origin xyz="0 0 1"/><parent link="c"/><child link="d"/><axis xyz="0 0 1"/></joint>
<joint name="loose" type="floating"><origin xyz="0 0 3"/><parent link="world"/><child link="e"/></joint>)");
  ASSERT_TRUE(m) << testing::PrintToString(lines_);
  EXPECT_EQ(m->links.size(), 5u);  // a link named world is the world
  EXPECT_EQ(m->joints[0].kind, JointKind::kFixed);
  EXPECT_EQ(m->joints[1].axes[0].axis_J, Vector3d(1, 0, 0));  // URDF's default axis
  EXPECT_EQ(m->joints[1].axes[0].upper, kInfinity);
  EXPECT_EQ(m->joints[1].axes[0].velocity_limit, kInfinity);
  EXPECT_FALSE(m->joints[2].axes[0].rotational);
  EXPECT_EQ(m->joints[2].axes[0].lower, -kInfinity);  // 1e16 is none
  EXPECT_EQ(m->joints[2].axes[0].upper, 0.5);
  EXPECT_EQ(m->joints[2].axes[0].effort_limit, kInfinity);
  ASSERT_EQ(m->joints[3].axes.size(), 3u);
  EXPECT_EQ(m->joints[3].axes[2].coordinate, "table_theta");
  ModelSpec heavy = *m;
  heavy.links[4] = heavy_link("e");
  const Model model = build({.models = {heavy}});
  EXPECT_EQ(model.nv(), 6 + 1 + 1 + 3);
  EXPECT_EQ(model.default_configuration()[6], 3);
}

TEST_F(LoadUrdf, TurnsAPlanarJointIntoTwoSlidesAndATurnAboutTheNormal) {
  const auto m = robot(R"(<link name="a"/><link name="b"/>
<joint name="j" type="planar"><origin xyz="1 2 3" rpy="0.4 0 0"/><parent link="a"/><child link="b"/><axis xyz="1 0 0"/></joint>)");
  ASSERT_TRUE(m);
  const JointSpec& joint = m->joints[0];
  EXPECT_TRUE((joint.X_PJ * joint.X_CJ.inverse()).isApprox(pose({0.4, 0, 0}, {1, 2, 3}), 1e-14));  // at zero the child
                                                                                                   // is at the origin
                                                                                                   // given
  EXPECT_TRUE(
      (joint.X_PJ.linear() * joint.axes[2].axis_J).isApprox(rotation_from_rpy({0.4, 0, 0}) * Vector3d(1, 0, 0), 1e-14));
}

TEST_F(LoadUrdf, ReadsWhatAJointFollows) {
  const auto m = robot(R"(<link name="a"/><link name="b"/><link name="c"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>
<mimic joint="j" multiplier="-0.5" offset="0.1"/></joint>)");
  ASSERT_TRUE(m);
  ASSERT_EQ(m->couplings.size(), 1u);
  EXPECT_EQ(m->couplings[0].follower, "k");
  EXPECT_EQ(m->couplings[0].leader, "j");
  EXPECT_EQ(m->couplings[0].ratio, -0.5);
  EXPECT_EQ(m->couplings[0].offset, 0.1);
  EXPECT_EQ(m->couplings[0].where.line, 5);
}

TEST_F(LoadUrdf, WarnsOncePerTagItDoesNotReadAndOfMimicsThatMoveNothing) {
  const auto m = robot(R"(<transmission/><transmission/><gazebo/>
<link name="a"/><link name="b"/>
<joint name="j" type="fixed"><parent link="a"/><child link="b"/>
<mimic joint="other"/></joint>)");
  ASSERT_TRUE(m);
  EXPECT_EQ(lines_, (Lines{"m.urdf:2: warning: <transmission> inside <robot> is not read",
                           "m.urdf:2: warning: <gazebo> inside <robot> is not read",
                           "m.urdf:5: warning: joint 'j' is fixed: its <mimic> moves nothing"}));
}

TEST_F(LoadUrdf, WhatIsOnlyDrawnStopsNothing) {
  const auto m = robot(R"(<material name="blue"><color rgba="0 0 1"/></material>
<link name="a">
  <visual><geometry><sphere radius="0.1"/></geometry><material name="blue"/></visual>
  <visual><geometry><sphere radius="-1"/></geometry></visual>
  <visual><geometry><box size="1 1 1"/></geometry><material name="x"><color rgba="red"/></material></visual>
  <visual/>
</link>)");
  ASSERT_TRUE(m);
  const auto& visuals = m->links[0].visuals;
  ASSERT_EQ(visuals.size(), 2u);
  EXPECT_EQ(visuals[0].rgba, (std::array{0.0, 0.0, 1.0, 1.0}));  // three numbers: opaque
  EXPECT_FALSE(visuals[1].rgba);
  EXPECT_EQ(lines_, (Lines{"m.urdf:5: warning: <sphere>: radius must be at least 0, not -1",
                           "m.urdf:6: warning: <color>: 'red' is not a number",
                           "m.urdf:7: warning: <visual> needs a <geometry>"}));
}

TEST_F(LoadUrdf, ARobotWithoutANameIsCalledAsItsFile) {
  const auto m = load("arm.urdf", "<robot><link name='a'/></robot>");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->name, "arm");
  EXPECT_EQ(lines_, Lines{"arm.urdf:1: warning: <robot> has no name; it is called 'arm' as its file"});
}

TEST_F(LoadUrdf, NamesEachMistakeAndItsLine) {
  const std::string joint = "<link name='a'/><link name='b'/>\n<joint name='j' type=";
  const struct {
    std::string inside, complaint;
  } cases[] = {
      {"", "m.urdf:1: error: robot 'm' has no link"},
      {"<link/>", "m.urdf:2: error: <link> needs the attribute 'name'"},
      {"<link name='a'><inertial>\n<mass value='1 2'/></inertial></link>",
       "m.urdf:3: error: <mass>: 1 number expected, 2 given"},
      {"<link name='a'><inertial>\n<mass/></inertial></link>", "m.urdf:3: error: <mass> needs the attribute 'value'"},
      {"<link name='a'><inertial>\n<mass value='nan'/></inertial></link>",
       "m.urdf:3: error: <mass>: 'nan' is not a finite number"},
      {"<link name='a'><inertial><mass value='1'/>\n<inertia ixx='1' ixy='x' iyy='1' izz='1'/></inertial></link>",
       "m.urdf:3: error: <inertia>: 'x' is not a number"},
      {"<link name='a'><collision>\n<geometry><box size='1 1'/></geometry></collision></link>",
       "m.urdf:3: error: <box>: 3 numbers expected, 2 given"},
      {"<link name='a'><collision>\n<geometry><cone/></geometry></collision></link>",
       "m.urdf:3: error: geometry <cone> is not supported; valid: box, sphere, cylinder, capsule, ellipsoid, mesh"},
      {"<link name='a'><collision>\n<geometry><cylinder radius='0' length='1'/></geometry></collision></link>",
       "m.urdf:3: error: <cylinder>: radius must be positive, not 0"},
      {"<link name='a'><collision>\n<geometry><drake:ellipsoid a='1' b='-2' c='1'/></geometry></collision></link>",
       "m.urdf:3: error: <drake:ellipsoid>: b must be positive, not -2"},
      {"<link name='a'><collision>\n<geometry><mesh filename='gone.stl'/></geometry></collision></link>",
       "m.urdf:3: error: mesh 'gone.stl' not found; tried gone.stl"},
      {joint + "'hinge'><parent link='a'/><child link='b'/></joint>",
       "m.urdf:3: error: joint 'j': type 'hinge' is not supported; valid: revolute, continuous, prismatic, fixed, "
       "floating, planar"},
      {joint + "'fixed'><parent link='a'/></joint>", "m.urdf:3: error: joint 'j' needs a <child>"},
      {joint + "'revolute'><parent link='a'/><child link='b'/>\n<axis xyz='0 0 0'/></joint>",
       "m.urdf:4: error: joint 'j': the axis is zero"},
      {joint + "'revolute'><parent link='a'/><child link='b'/>\n<limit lower='-nan' upper='1'/></joint>",
       "m.urdf:4: error: <limit>: '-nan' is not a finite number"},
      {joint + "'fixed'><origin xyz='0 0 0' rpy='a b c'/><parent link='a'/><child link='b'/></joint>",
       "m.urdf:3: error: <origin>: 'a' is not a number"},
  };
  for (const auto& c : cases) {
    EXPECT_FALSE(robot(c.inside)) << c.inside;
    EXPECT_EQ(lines_, Lines{c.complaint}) << c.inside;
  }
}

class LoadModel : public ModelFiles {};

TEST_F(LoadModel, ChoosesTheReaderByExtensionOrRootElement) {
  EXPECT_TRUE(load("a.urdf", "<robot name='r'><link name='l'/></robot>"));
  EXPECT_TRUE(load("a.xml", "<robot name='r'><link name='l'/></robot>"));
  EXPECT_TRUE(load("a.xml", "<sdf version='1.7'><model name='r'><link name='l'/></model></sdf>"));
  EXPECT_TRUE(load("a.xml", "<mujoco><worldbody><body name='b'/></worldbody></mujoco>"));
  EXPECT_TRUE(load("a.mjcf", "<mujoco/>"));
  EXPECT_FALSE(load("a.xml", "<house/>"));
  EXPECT_EQ(lines_, Lines{"a.xml:1: error: <house> is no model; valid: <robot> (URDF), <sdf>, <mujoco> (MJCF)"});
  EXPECT_FALSE(load("a.step", ""));
  EXPECT_EQ(lines_, Lines{"a.step: error: unknown kind of model file '.step'; valid: .urdf, .sdf, .mjcf, .xml"});
  EXPECT_FALSE(load("a.urdf", "<sdf/>"));
  EXPECT_EQ(lines_, Lines{"a.urdf:1: error: a URDF file starts with <robot>, not <sdf>"});
}

TEST_F(LoadModel, SaysThatAFileIsMissing) {
  Diagnostics diagnostics;
  EXPECT_FALSE(load_model((folder_ / "gone.sdf").string(), packages_, diagnostics));
  keep(diagnostics);
  EXPECT_EQ(lines_, Lines{"gone.sdf: error: cannot open the model file: there is no such file"});
}

}  // namespace load_urdf_test
}  // namespace deft::multibody
