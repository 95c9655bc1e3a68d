#include <gtest/gtest.h>

#include <numbers>

#include "deft/multibody/model.hpp"
#include "model_files.hpp"
#include "spec_builder.hpp"

namespace deft::multibody {
namespace load_sdf_test {

constexpr double kPi = std::numbers::pi;

class LoadSdf : public ModelFiles {
 protected:
  /// `inside` starts in line 3.
  std::optional<ModelSpec> model(const std::string& inside, const std::string& version = "1.7") {
    return load("m.sdf", "<sdf version='" + version + "'>\n<model name='m'>\n" + inside + "\n</model></sdf>\n");
  }
};

TEST_F(LoadSdf, ReadsAPublishedStyleObject) {
  const auto m = model(R"(<link name="ghost">
  <inertial><mass>1e-6</mass><inertia><ixx>1e-6</ixx><iyy>1e-6</iyy><izz>1e-6</izz></inertia></inertial>
</link>
<link name="ball">
  <pose>0 0 0.25 0 0 0</pose>
  <inertial>
    <pose>0.1 0 0 0 0 1.5707963267948966</pose>
    <mass>0.5</mass>
    <inertia><ixx>1</ixx><ixy>0.1</ixy><ixz>0.2</ixz><iyy>2</iyy><iyz>0.3</iyz><izz>2.5</izz></inertia>
  </inertial>
  <visual name="skin"><geometry><sphere><radius>0.1</radius></sphere></geometry><material><diffuse>0.9 0.8 0.7 0.6</diffuse></material></visual>
  <collision name="shell">
    <pose>0 0 0.01 0 0 0</pose>
    <geometry><sphere><radius>0.1</radius></sphere></geometry>
    <drake:proximity_properties><drake:mu_static>0.8</drake:mu_static><drake:mu_dynamic>0.7</drake:mu_dynamic></drake:proximity_properties>
    <surface><friction><ode><mu>0.4</mu></ode></friction></surface>
  </collision>
</link>
<joint name="y_slider" type="prismatic">
  <parent>world</parent><child>ghost</child>
  <axis><xyz>0 1 0</xyz><limit><lower>-1e16</lower><upper>1e16</upper><effort>0</effort><velocity>0.7</velocity></limit></axis>
</joint>
<joint name="spin" type="revolute">
  <parent>ghost</parent><child>ball</child>
  <axis><xyz>1 0 0</xyz><limit><lower>-0.5</lower><upper>inf</upper><effort>-1</effort><velocity>-1</velocity></limit><dynamics><damping>3</damping></dynamics></axis>
</joint>)");
  ASSERT_TRUE(m) << testing::PrintToString(lines_);
  EXPECT_EQ(lines_, Lines{});
  EXPECT_EQ(m->name, "m");
  const LinkSpec& ball = m->links[1];
  EXPECT_EQ(ball.name, "ball");
  EXPECT_EQ(ball.where.line, 6);
  EXPECT_EQ(ball.inertial->mass, 0.5);
  EXPECT_TRUE(ball.inertial->p_LCom.isApprox(Vector3d(0.1, 0, 0)));
  Matrix3d I;  // turned by 90° about z: x → y, y → −x
  I << 2, -0.1, -0.3, -0.1, 1, 0.2, -0.3, 0.2, 2.5;
  EXPECT_TRUE(ball.inertial->I_Com_L.isApprox(I, 1e-14));
  ASSERT_EQ(ball.collisions.size(), 1u);
  EXPECT_EQ(ball.collisions[0].name, "shell");
  EXPECT_EQ(std::get<SphereSpec>(ball.collisions[0].shape).radius, 0.1);
  EXPECT_EQ(ball.collisions[0].mu_static, 0.8);
  EXPECT_EQ(ball.collisions[0].mu_dynamic, 0.7);
  EXPECT_EQ(ball.collisions[0].mu, 0.4);
  EXPECT_EQ(ball.collisions[0].X_LG.translation().z(), 0.01);
  EXPECT_EQ(ball.visuals[0].rgba, (std::array{0.9, 0.8, 0.7, 0.6}));
  const JointSpec &slider = m->joints[0], &spin = m->joints[1];
  EXPECT_EQ(slider.parent, "world");
  EXPECT_FALSE(slider.axes[0].rotational);
  EXPECT_EQ(slider.axes[0].lower, -kInfinity);
  EXPECT_EQ(slider.axes[0].upper, kInfinity);
  EXPECT_EQ(slider.axes[0].effort_limit, 0);
  EXPECT_EQ(slider.axes[0].velocity_limit, 0.7);
  EXPECT_EQ(spin.axes[0].lower, -0.5);
  EXPECT_EQ(spin.axes[0].upper, kInfinity);
  EXPECT_EQ(spin.axes[0].effort_limit, kInfinity);
  EXPECT_EQ(spin.axes[0].velocity_limit, kInfinity);
  EXPECT_EQ(spin.axes[0].damping, 3);
  EXPECT_TRUE(spin.X_CJ.isApprox(RigidTransform::Identity()));  // a joint sits at its child
  EXPECT_EQ(spin.X_PJ.translation().z(), 0.25);
}

TEST_F(LoadSdf, ResolvesPosesThroughLinksFramesAndJoints) {
  // Every pose relative to something that comes later in the file.
  const auto m = model(R"(<link name="a"><pose relative_to="f">1 0 0 0 0 0</pose></link>
<link name="b"><pose relative_to="j">0 0 1 0 0 0</pose>
  <collision name="c"><pose relative_to="f">0 5 0 0 0 0</pose><geometry><box><size>1 1 1</size></box></geometry></collision></link>
<link name="c"/>
<frame name="f" attached_to="c"><pose>0 1 0 0 0 1.5707963267948966</pose></frame>
<frame name="g" attached_to="f"><pose relative_to="a">0 0 3 0 0 0</pose></frame>
<joint name="j" type="revolute"><pose relative_to="a">0 2 0 0.3 0 0</pose><parent>a</parent><child>b</child><axis><xyz expressed_in="f">0 0 1</xyz></axis></joint>
<joint name="k" type="fixed"><parent>f</parent><child>a</child></joint>)");
  ASSERT_TRUE(m) << testing::PrintToString(lines_);
  const RigidTransform X_MF = pose({0, 0, kPi / 2}, {0, 1, 0}), X_MA = X_MF * pose({0, 0, 0}, {1, 0, 0});
  const RigidTransform X_MJ = X_MA * pose({0.3, 0, 0}, {0, 2, 0}), X_MB = X_MJ * pose({0, 0, 0}, {0, 0, 1});
  EXPECT_TRUE(m->links[0].X_ML.isApprox(X_MA, 1e-14));
  EXPECT_TRUE(m->links[1].X_ML.isApprox(X_MB, 1e-14));
  EXPECT_TRUE((X_MB * m->links[1].collisions[0].X_LG).isApprox(X_MF * pose({0, 0, 0}, {0, 5, 0}), 1e-14));
  EXPECT_TRUE((X_MA * m->joints[0].X_PJ).isApprox(X_MJ, 1e-14));
  EXPECT_TRUE((X_MB * m->joints[0].X_CJ).isApprox(X_MJ, 1e-14));
  EXPECT_TRUE((X_MJ.linear() * m->joints[0].axes[0].axis_J).isApprox(X_MF.linear().col(2), 1e-14));
  EXPECT_EQ(m->joints[1].parent, "c");  // the link under frame f
  EXPECT_TRUE(m->joints[1].X_PJ.isApprox(X_MA, 1e-14));
  EXPECT_EQ(m->frames[1].attached_to, "c");
  EXPECT_TRUE(m->frames[1].X_AF.isApprox(X_MA * pose({0, 0, 0}, {0, 0, 3}), 1e-14));
  ModelSpec heavy = *m;
  heavy.links[2] = heavy_link("c");
  EXPECT_EQ(build({.models = {heavy}}).nv(), 1 + 6);
}

TEST_F(LoadSdf, IgnoresBlanksAroundNames) {
  const auto m = model(R"(<link name="a"/>
<link name=" b "><pose relative_to=" a ">1 0 0 0 0 0</pose></link>
<frame name=" f " attached_to=" b "><pose>0 1 0 0 0 1.5707963267948966</pose></frame>
<joint name=" j " type="revolute"><parent> a </parent><child> b </child><axis><xyz expressed_in=" f ">1 0 0</xyz></axis></joint>)");
  ASSERT_TRUE(m) << testing::PrintToString(lines_);
  EXPECT_TRUE(lines_.empty()) << testing::PrintToString(lines_);
  EXPECT_EQ(m->links[1].name, "b");
  EXPECT_TRUE(m->links[1].X_ML.isApprox(pose({0, 0, 0}, {1, 0, 0}), 1e-14));
  ASSERT_EQ(m->frames.size(), 1u);
  EXPECT_EQ(m->frames[0].name, "f");
  EXPECT_EQ(m->frames[0].attached_to, "b");
  EXPECT_TRUE(m->frames[0].X_AF.isApprox(pose({0, 0, kPi / 2}, {0, 1, 0}), 1e-14));
  EXPECT_EQ(m->joints[0].name, "j");
  EXPECT_EQ(m->joints[0].child, "b");
  EXPECT_TRUE(m->joints[0].axes[0].axis_J.isApprox(Eigen::Vector3d::UnitY(), 1e-14));
}

TEST_F(LoadSdf, ReadsEveryJointType) {
  const auto m = model(R"(<link name="a"/><link name="b"/><link name="c"/><link name="d"/><link name="e"/>
<joint name="w" type="continuous"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
<joint name="s" type="ball"><parent>b</parent><child>c</child></joint>
<joint name="u" type="universal"><parent>c</parent><child>d</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
<joint name="f" type="fixed"><parent>d</parent><child>e</child></joint>)");
  ASSERT_TRUE(m) << testing::PrintToString(lines_);
  EXPECT_EQ(m->joints[0].axes[0].upper, kInfinity);  // continuous: no limits
  EXPECT_EQ(m->joints[1].kind, JointKind::kBall);
  ASSERT_EQ(m->joints[2].axes.size(), 2u);
  EXPECT_EQ(m->joints[2].axes[1].coordinate, "u_2");
  EXPECT_EQ(m->joints[3].kind, JointKind::kFixed);
}

TEST_F(LoadSdf, ReadsTheGainsOfDrakesControllers) {
  const auto with = [&](const std::string& p) {
    return model(R"(<link name="a"/><link name="b"/><joint name="j" type="revolute"><parent>a</parent><child>b</child>
<axis><xyz>0 0 1</xyz></axis><drake:controller_gains p=")" +
                 p + R"(" d="1"/></joint>)");
  };
  const auto m = with("120");
  ASSERT_TRUE(m) << testing::PrintToString(lines_);
  EXPECT_EQ(m->joints[0].axes[0].stiffness, 120);
  EXPECT_FALSE(with("-1"));
}

TEST_F(LoadSdf, ReadsWhatAnAxisFollows) {
  const auto m = model(R"(<link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="k" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>
<mimic joint="u" axis="axis2"><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic></axis></joint>
<joint name="u" type="universal"><parent>b</parent><child>c</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
<joint name="l" type="prismatic"><parent>c</parent><child>d</child><axis><xyz>0 0 1</xyz><mimic joint="k"/></axis></joint>)");
  ASSERT_TRUE(m) << testing::PrintToString(lines_);
  ASSERT_EQ(m->couplings.size(), 2u);
  EXPECT_EQ(m->couplings[0].follower, "k");
  EXPECT_EQ(m->couplings[0].leader, "u_2");
  EXPECT_EQ(m->couplings[0].ratio, 2);
  EXPECT_DOUBLE_EQ(m->couplings[0].offset, 0.3);
  EXPECT_EQ(m->couplings[1].leader, "k");
  EXPECT_EQ(m->couplings[1].ratio, 1);
}

TEST_F(LoadSdf, ReadsEveryGeometry) {
  write("cube.obj", "");
  const auto m = model(R"(<link name="a">
<collision name="1"><geometry><box><size>1 2 3</size></box></geometry></collision>
<collision name="2"><geometry><cylinder><radius>0.1</radius><length>0.5</length></cylinder></geometry></collision>
<collision name="3"><geometry><capsule><radius>0.2</radius><length>0.6</length></capsule></geometry></collision>
<collision name="4"><geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry></collision>
<collision name="5"><geometry><plane><normal>0 0 2</normal></plane></geometry></collision>
<collision name="6"><geometry><mesh><uri>cube.obj</uri><scale>2 2 2</scale></mesh></geometry></collision>
<collision><geometry><sphere><radius>0</radius></sphere></geometry></collision>
</link>)");
  ASSERT_TRUE(m) << testing::PrintToString(lines_);
  const auto& c = m->links[0].collisions;
  ASSERT_EQ(c.size(), 7u);
  EXPECT_EQ(std::get<BoxSpec>(c[0].shape).size, Vector3d(1, 2, 3));
  EXPECT_EQ(std::get<CylinderSpec>(c[1].shape).length, 0.5);
  EXPECT_EQ(std::get<CapsuleSpec>(c[2].shape).radius, 0.2);
  EXPECT_EQ(std::get<EllipsoidSpec>(c[3].shape).radii, Vector3d(1, 2, 3));
  EXPECT_EQ(std::get<HalfSpaceSpec>(c[4].shape).normal, Vector3d(0, 0, 1));
  EXPECT_EQ(std::get<MeshSpec>(c[5].shape).path, (folder_ / "cube.obj").string());
  EXPECT_EQ(std::get<MeshSpec>(c[5].shape).scale, Vector3d(2, 2, 2));
  EXPECT_EQ(std::get<SphereSpec>(c[6].shape).radius, 0);
  EXPECT_EQ(c[6].name, "collision_6");
}

TEST_F(LoadSdf, PlacesTheModel) {
  EXPECT_TRUE(model("<pose>1 2 3 0 0 0</pose><static>true</static><link name='a'/>")->is_static);
  EXPECT_TRUE(model("<pose degrees='true'>1 2 3 0 0 90</pose><link name='a'/>")
                  ->X_WModel.isApprox(pose({0, 0, kPi / 2}, {1, 2, 3}), 1e-14));
  EXPECT_TRUE(model("<pose rotation_format='quat_xyzw'>1 2 3 0 0 1 0</pose><link name='a'/>")
                  ->X_WModel.isApprox(pose({0, 0, kPi}, {1, 2, 3}), 1e-14));
  const auto placed = load("m.sdf",
                           "<sdf version='1.8'><model name='m' placement_frame='foot' canonical_link='b'><pose>0 0 1 0 "
                           "0 0</pose><link name='a'/>"
                           "<link name='b'><pose>0 0 5 0 0 0</pose></link><frame name='foot'><pose>0 0 -2 0 0 "
                           "0</pose></frame></model></sdf>");
  ASSERT_TRUE(placed) << testing::PrintToString(lines_);
  EXPECT_EQ(placed->X_WModel.translation().z(), 3);
  EXPECT_EQ(placed->base, "b");
  EXPECT_EQ(placed->frames[0].attached_to, "b");  // by default the canonical link
  EXPECT_EQ(placed->frames[0].X_AF.translation().z(), -7);
  EXPECT_TRUE(
      load("m.sdf", "<sdf version='1.7'><world name='w'><model name='m'><link name='a'/></model></world></sdf>"));
}

TEST_F(LoadSdf, ExpressesAxesOfOldVersionsInTheModelFrame) {
  const std::string inside =
      "<link name='a'/><link name='b'><pose>0 0 0 0 0 1.5707963267948966</pose></link>"
      "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz>FLAG</axis></joint>";
  const auto axis = [&](const std::string& version, const std::string& flag) -> Vector3d {
    std::string text = inside;
    text.replace(text.find("FLAG"), 4, flag);
    return model(text, version)->joints[0].axes[0].axis_J;
  };
  EXPECT_TRUE(axis("1.7", "").isApprox(Vector3d(1, 0, 0), 1e-14));
  EXPECT_TRUE(axis("1.4", "").isApprox(Vector3d(0, -1, 0), 1e-14));
  EXPECT_TRUE(axis("1.5", "<use_parent_model_frame>1</use_parent_model_frame>").isApprox(Vector3d(0, -1, 0), 1e-14));
}

TEST_F(LoadSdf, WarnsOncePerTagItDoesNotRead) {
  const auto m = model(R"(<self_collide>false</self_collide>
<link name="a"><sensor name="s"/><sensor name="t"/><inertial><mass>1</mass></inertial>
  <visual name="v"><geometry><mesh><uri>package://absent/skin.dae</uri></mesh></geometry></visual>
  <visual name="w"><geometry><heightmap/></geometry></visual></link>
<link name="b"><sensor name="s"/></link>)");
  ASSERT_TRUE(m) << testing::PrintToString(lines_);
  EXPECT_TRUE(m->links[0].visuals.empty());
  ASSERT_EQ(lines_.size(), 5u) << testing::PrintToString(lines_);
  EXPECT_EQ(lines_[0], "m.sdf:3: warning: <self_collide> inside <model> is not read");
  EXPECT_EQ(lines_[1], "m.sdf:4: warning: <sensor> inside <link> is not read");
  EXPECT_EQ(lines_[2], "m.sdf:4: warning: <inertial> without <inertia>: 1 kg m² about every axis, SDFormat's default");
  EXPECT_TRUE(lines_[3].starts_with("m.sdf:5: warning: mesh 'package://absent/skin.dae' not found; tried "))
      << lines_[3];
  EXPECT_EQ(lines_[4],
            "m.sdf:6: warning: geometry <heightmap> is not supported; valid: box, sphere, cylinder, capsule, "
            "ellipsoid, plane, mesh");
}

TEST_F(LoadSdf, NamesEachMistakeAndItsLine) {
  const std::string joint = "<link name='a'/><link name='b'/>\n<joint name='j' type='";
  const struct {
    std::string inside, complaint;
  } cases[] = {
      {"", "m.sdf:2: error: model 'm' has no link"},
      {"<link/>", "m.sdf:3: error: <link> needs the attribute 'name'"},
      {"<link name='a'>\n<pose>0 0 0 0 0</pose></link>", "m.sdf:4: error: <pose>: 6 numbers expected, 5 given"},
      {"<link name='a'>\n<pose>0 0 0 0 0 nan</pose></link>", "m.sdf:4: error: <pose>: 'nan' is not a finite number"},
      {"<link name='a'>\n<pose>0 0 0 0 0 inf</pose></link>", "m.sdf:4: error: <pose>: 'inf' is not a finite number"},
      {"<link name='a'>\n<pose>0 0 0 0 0 1.0f</pose></link>", "m.sdf:4: error: <pose>: '1.0f' is not a number"},
      {"<link name='a'>\n<pose>0 0 0 0 0 0</pose>\n<pose>0 0 0 0 0 0</pose></link>",
       "m.sdf:5: error: a second <pose> inside <link>; one is allowed"},
      {"<link name='palm'/>\n<link name='b'><pose relative_to='plam'/></link>",
       "m.sdf:4: error: frame 'plam' not found; did you mean 'palm'?"},
      {"<link name='a'><pose relative_to='b'/></link>\n<link name='b'><pose relative_to='a'/></link>",
       "m.sdf:3: error: the pose of 'a' is given relative to itself, through 'b'"},
      {"<link name='a'/>\n<frame name='f' attached_to='f'><pose relative_to='a'/></frame>",
       "m.sdf:4: error: 'f' is attached to itself"},
      {"<link name='a'>\n<inertial><mass>heavy</mass><inertia/></inertial></link>",
       "m.sdf:4: error: <mass>: 'heavy' is not a number"},
      {"<link name='a'>\n<collision name='c'/></link>", "m.sdf:4: error: <collision> needs a <geometry>"},
      {"<link name='a'>\n<collision name='c'><geometry/></collision></link>",
       "m.sdf:4: error: <geometry> is empty; valid: box, sphere, cylinder, capsule, ellipsoid, plane, mesh"},
      {"<link name='a'>\n<collision name='c'><geometry><cone/></geometry></collision></link>",
       "m.sdf:4: error: geometry <cone> is not supported; valid: box, sphere, cylinder, capsule, ellipsoid, plane, "
       "mesh"},
      {"<link name='a'>\n<collision "
       "name='c'><geometry><sphere><radius>-1</radius></sphere></geometry></collision></link>",
       "m.sdf:4: error: <sphere>: radius must be at least 0, not -1"},
      {"<link name='a'>\n<collision name='c'><geometry><box><size>1 0 1</size></box></geometry></collision></link>",
       "m.sdf:4: error: <box>: every size must be positive, not 0"},
      {"<link name='a'>\n<collision name='c'><geometry><mesh><uri>gone.obj</uri></mesh></geometry></collision></link>",
       "m.sdf:4: error: mesh 'gone.obj' not found; tried gone.obj"},
      {joint + "screw'><parent>a</parent><child>b</child></joint>",
       "m.sdf:4: error: joint 'j': type 'screw' is not supported; valid: revolute, continuous, prismatic, universal, "
       "ball, fixed"},
      {joint + "fixed'><child>b</child></joint>", "m.sdf:4: error: joint 'j' needs a <parent>"},
      {joint + "revolute'><parent>a</parent><child>b</child></joint>", "m.sdf:4: error: joint 'j' needs an <axis>"},
      {joint + "revolute'><parent>a</parent><child>b</child><axis>\n<xyz>0 0 0</xyz></axis></joint>",
       "m.sdf:5: error: joint 'j': the axis is zero"},
      {joint + "fixed'><parent>a</parent><child>c</child></joint>",
       "m.sdf:4: error: frame 'c' not found; valid: __model__, a, b, j"},
      {"<static>maybe</static><link name='a'/>", "m.sdf:3: error: <static>: 'maybe' is neither true nor false"},
      {"<link name='a'/>\n<include/>",
       "m.sdf:4: error: <include> inside <model> is not supported: its links would be missing"},
      {"<link name='a'/>\n<model name='n'/>",
       "m.sdf:4: error: <model> inside <model> is not supported: its links would be missing"},
      {"<link name='a'/><pose relative_to='x'/>",
       "m.sdf:3: error: the pose of a model can only be relative to the world, not to 'x'"},
  };
  for (const auto& c : cases) {
    EXPECT_FALSE(model(c.inside)) << c.inside;
    EXPECT_EQ(lines_, Lines{c.complaint}) << c.inside;
  }
}

TEST_F(LoadSdf, ReportsAllMistakesOfAFile) {
  EXPECT_FALSE(model("<link name='a'><pose>x</pose></link>\n<joint name='j' type='odd'/>\n<static>?</static>"));
  EXPECT_GE(lines_.size(), 4u) << testing::PrintToString(lines_);
}

TEST_F(LoadSdf, RefusesFilesThatHoldNoSingleModel) {
  const struct {
    const char *text, *complaint;
  } cases[] = {
      {"<sdf version='1.7'>\n<model name='a'></sdf>",
       "m.sdf:2: error: not well-formed XML: XML_ERROR_MISMATCHED_ELEMENT"},
      {"<robot name='a'/>", "m.sdf:1: error: an SDFormat file starts with <sdf>, not <robot>"},
      {"<sdf version='1.7'/>", "m.sdf:1: error: the file holds no <model>"},
      {"<sdf version='1.7'>\n<model name='a'><link name='l'/></model>\n<model name='b'/></sdf>",
       "m.sdf:3: error: a second <model>; a file must hold exactly one"},
  };
  for (const auto& c : cases) {
    EXPECT_FALSE(load("m.sdf", c.text));
    EXPECT_EQ(lines_, Lines{c.complaint});
  }
}

}  // namespace load_sdf_test
}  // namespace deft::multibody
