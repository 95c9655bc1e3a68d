// MJCF: what is refused, with its place, and what is said of what is not read. That what is read agrees with MuJoCo is
// tested in tests/plant/mjcf_oracle_test.cpp.

#include "multibody/model_files.hpp"

namespace deft::multibody {
namespace load_mjcf_test {

class LoadMjcf : public ModelFiles {
 protected:
  /// A file with this in its worldbody, and this beside it.
  std::optional<ModelSpec> load_parts(const std::string& worldbody, const std::string& beside = "") {
    return load("m.xml", "<mujoco>" + beside + "\n<worldbody>\n" + worldbody + "\n</worldbody></mujoco>");
  }
};

TEST_F(LoadMjcf, NamesFileLineValueAndValidChoices) {
  EXPECT_FALSE(load_parts("<body name='b'>\n<geom type='cube' size='1 1 1'/></body>"));
  EXPECT_EQ(lines_,
            Lines{"m.xml:4: error: <geom>: type 'cube' is unknown; valid: plane, hfield, sphere, capsule, ellipsoid, "
                  "cylinder, box, mesh, sdf"});
  EXPECT_FALSE(load_parts("<body name='b'><geom size='0.1 x'/></body>"));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: <geom>: size 'x' is not a number"});
  EXPECT_FALSE(load_parts("<body name='b'><geom type='box' size='0.1 0.1'/></body>"));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: <geom type=\"box\">: size needs 3 positive numbers"});
  EXPECT_FALSE(load_parts("<body name='b' quat='1 0 0 0' euler='1 0 0'/>"));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: <body> states its orientation in 2 ways; one is allowed"});
  EXPECT_FALSE(load_parts("<body name='b'><joint axis='0 0 0'/></body>"));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: joint 'b_joint': the axis is zero"});
  EXPECT_FALSE(load_parts("<body name='b'><geom type='mesh' mesh='nose'/></body>",
                          "<asset><mesh name='hose' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>"));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: <geom>: there is no mesh 'nose'; did you mean 'hose'?"});
  EXPECT_FALSE(load_parts("<body name='b' childclass='soft'><geom size='1'/></body>"));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: default class 'soft' is unknown; valid: main"});
}

TEST_F(LoadMjcf, ConstraintsThatWouldBeMissingAreRefused) {
  const std::string two = "<body name='a'/><body name='b'><joint/></body>";
  EXPECT_FALSE(load_parts(two, "<equality><connect body1='a' body2='b' anchor='0 0 0'/></equality>"));
  EXPECT_EQ(lines_, Lines{"m.xml:1: error: <equality>: <connect> is not read: a constraint would be missing"});
  EXPECT_FALSE(load_parts("<body name='a'><joint/><geom type='hfield' hfield='h'/></body>"));
  EXPECT_EQ(lines_,
            Lines{"m.xml:3: error: <geom type=\"hfield\"> is not read; valid: plane, sphere, capsule, ellipsoid, "
                  "cylinder, box, mesh"});
  EXPECT_FALSE(load_parts("<flexcomp name='f'/>"));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: <flexcomp> is not read: what it holds would be missing"});
}

TEST_F(LoadMjcf, AttachmentsThatCannotBeAreRefused) {
  write("arm.xml", "<mujoco model='arm'><worldbody><body name='base'><freejoint/></body></worldbody></mujoco>");
  const std::string arm = "<asset><model name='a' file='arm.xml'/></asset>";
  EXPECT_FALSE(load_parts("<attach model='b' prefix='l_'/>", arm));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: <attach>: there is no model 'b'; valid: a"});
  EXPECT_FALSE(load_parts("<attach model='a' body='bose' prefix='l_'/>", arm));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: <attach>: model 'arm' has no body 'bose'; did you mean 'base'?"});
  EXPECT_FALSE(load_parts("<attach model='a'/>", arm));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: <attach> needs the attribute 'prefix'"});
  EXPECT_FALSE(load_parts("<body name='b'><attach model='a' prefix='l_'/></body>", arm));
  EXPECT_EQ(lines_,
            Lines{"m.xml:3: error: <attach>: joint 'l_base_joint' is free; it can only stand in the worldbody"});
  EXPECT_FALSE(load_parts("<attach model='a' prefix=''/>", "<asset><model name='a' file='leg.xml'/></asset>"));
  EXPECT_EQ(lines_, Lines{"m.xml:1: error: <model>: file 'leg.xml' not found"});
  EXPECT_FALSE(load_parts("<attach model='m' prefix='again_'/>", "<asset><model name='m' file='m.xml'/></asset>"));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: <attach>: file 'm.xml' attaches itself"});
}

TEST_F(LoadMjcf, WhatIsNotReadIsSaidOncePerKind) {
  ASSERT_TRUE(load_parts("<light/><light/><body name='b' gravcomp='1'><camera/><joint frictionloss='3'/></body>",
                         "<sensor><touch site='s'/></sensor>"));
  EXPECT_EQ(lines_, (Lines{"m.xml:1: warning: <touch> is not read", "m.xml:3: warning: <light> is not read",
                           "m.xml:3: warning: <light> is not read", "m.xml:3: warning: <camera> is not read",
                           "m.xml:3: warning: joint 'b_joint': frictionloss is not read",
                           "m.xml:3: warning: gravcomp is not read: gravity acts on body 'b'"}));
}

TEST_F(LoadMjcf, SpringsOfJointsAndJointsThatFollowAreRead) {
  const std::string bodies =
      "<body><joint name='a' stiffness='3' springref='90' ref='45'/><geom size='1'/>"
      "<body><joint name='b' type='slide'/><geom size='1'/></body></body>";
  const auto model = load_parts(bodies,
                                "<equality><joint joint1='b' joint2='a' polycoef='0.1 2 0 0 0'/>"
                                "<joint joint1='a' active='false'/></equality>");
  ASSERT_TRUE(model) << (lines_.empty() ? "" : lines_.front());
  constexpr double kPi = 3.14159265358979;
  EXPECT_EQ(model->joints[0].axes[0].spring_stiffness, 3);
  EXPECT_NEAR(model->joints[0].axes[0].spring_reference, kPi / 2, 1e-12);
  ASSERT_EQ(model->couplings.size(), 1u);
  EXPECT_EQ(model->couplings[0].follower, "b");
  EXPECT_EQ(model->couplings[0].leader, "a");
  EXPECT_EQ(model->couplings[0].ratio, 2);
  EXPECT_NEAR(model->couplings[0].offset, 0.1 - 2 * kPi / 4, 1e-12);
  EXPECT_FALSE(load_parts(bodies, "<equality><joint joint1='b' joint2='a' polycoef='0 1 2 0 0'/></equality>"));
  EXPECT_EQ(lines_, Lines{"m.xml:1: error: <equality>: joint 'b' follows 'a' by a curve; only straight lines are read "
                          "(polycoef \"a0 a1 0 0 0\")"});
}

TEST_F(LoadMjcf, IncludesStandInTheirPlaceAndMayNotIncludeThemselves) {
  write("parts/arm.xml", "<mujocoinclude><body name='arm'><include file='parts/tip.xml'/></body></mujocoinclude>");
  write("parts/tip.xml", "<mujocoinclude><geom name='tip' size='0.1'/></mujocoinclude>");
  const auto model = load_parts("<include file='parts/arm.xml'/>");
  ASSERT_TRUE(model) << (lines_.empty() ? "" : lines_.front());
  EXPECT_EQ(model->links.front().name, "arm");
  EXPECT_EQ(model->links.front().collisions.front().name, "tip");
  write("parts/arm.xml", "<mujocoinclude>\n<include file='arm.xml'/></mujocoinclude>");
  EXPECT_FALSE(load_parts("<include file='parts/arm.xml'/>"));
  EXPECT_EQ(lines_, Lines{"parts/arm.xml:2: error: file 'arm.xml' includes itself"});
  EXPECT_FALSE(load_parts("<include file='gone.xml'/>"));
  EXPECT_EQ(lines_, Lines{"m.xml:3: error: file 'gone.xml' not found; tried gone.xml"});
}

TEST_F(LoadMjcf, FrictionOfTurningIsReadWithCondim4) {
  const auto model = load_parts(
      "<body><joint/><geom name='a' size='1' condim='4' friction='0.8 0.02'/>"
      "<geom name='b' size='1' condim='3' friction='0.8 0.02'/>"
      "<geom name='c' size='1' condim='6' friction='0.5'/></body>",
      "<contact><pair geom1='a' geom2='b' condim='4' friction='0.4 0.4 0.1'/></contact>");
  ASSERT_TRUE(model) << (lines_.empty() ? "" : lines_.front());
  const auto& geometries = model->links[0].collisions;
  EXPECT_DOUBLE_EQ(geometries[0].torsion.value_or(0), 0.025);
  EXPECT_FALSE(geometries[1].torsion);
  EXPECT_DOUBLE_EQ(geometries[2].torsion.value_or(0), 0.01);
  EXPECT_DOUBLE_EQ(model->pairs[0].torsion.value_or(0), 0.25);
  EXPECT_EQ(lines_,
            Lines{"m.xml:3: warning: condim 6: friction of rolling is not read (the scene may state `rolling`)"});
}

TEST_F(LoadMjcf, KeyframesOfAnotherSizeAreRefused) {
  EXPECT_FALSE(load_parts("<body><joint/></body>", "<keyframe><key name='k' qpos='1 2'/></keyframe>"));
  EXPECT_EQ(lines_, Lines{"m.xml:1: error: <key>: qpos has 2 numbers; 1 expected"});
}

TEST_F(LoadMjcf, ActuatorsNameTheirJoint) {
  EXPECT_FALSE(load_parts("<body><joint name='hinge'/></body>", "<actuator><position joint='hinje'/></actuator>"));
  EXPECT_EQ(lines_, Lines{"m.xml:1: error: actuator 'position': there is no joint 'hinje'; did you mean 'hinge'?"});
  EXPECT_TRUE(load_parts("<body><joint name='hinge'/></body>", "<actuator><motor name='m' joint='hinge'/></actuator>"));
  EXPECT_EQ(lines_,
            Lines{"m.xml:1: warning: actuator 'm' holds no position: for a robot state a stiffness, or drive: force"});
}

}  // namespace load_mjcf_test
}  // namespace deft::multibody
