// Robots whose base floats, and free bodies that their files bring along: who is who, what a step does, derivatives.

#include "deft/dynamics/models/make_step_model.hpp"
#include "derivative_bench.hpp"

namespace deft::dynamics {
namespace floating_robot_test {

using solvers::Status;

/// The arm of `leaning` without its weld, its base with mass; a die beside it in the same model.
scene::SceneSpec floating(double kappa, scene::ModelKind kind = scene::ModelKind::kConvex) {
  scene::SceneSpec spec = leaning(kappa);
  multibody::ModelSpec& model = spec.world.models[0];
  spec.world.welds.clear();
  model.links[0] = lopsided("base", multibody::SphereSpec{0.02}, pose({0, 0, 0}, {0, 0, 0}), 1.3);
  model.links.push_back(lopsided("die", multibody::BoxSpec{{0.05, 0.06, 0.07}}, pose({0.3, 0.2, 0.1}, {0, 0, 0}), 0.4));
  model.links.back().X_ML = pose({0, 0, 0}, {0.4, 0.5, 0.6});
  model.X_WModel = pose({0.1, -0.2, 0.3}, {0.05, 0.02, 0.0});
  spec.step.model = kind;
  if (kind == scene::ModelKind::kConvexSecondOrder) spec.step.h = 0.02;
  return spec;
}

TEST(FloatingRobot, ItsBaseAndOtherFreeBodiesAreObjects) {
  const scene::Scene scene = test::build(floating(kInfinity));
  ASSERT_EQ(scene.robots().size(), 1u);
  const scene::Robot& robot = scene.robots()[0];
  EXPECT_EQ(robot.nu, 3);
  EXPECT_EQ(robot.nv, 3);
  EXPECT_EQ(robot.first_q, 14);
  EXPECT_EQ(robot.first_v, 12);
  ASSERT_EQ(scene.objects().size(), 3u);
  const scene::Object &base = scene.objects()[0], &die = scene.objects()[1], &brick = scene.objects()[2];
  EXPECT_EQ(base.name, "arm/base");
  EXPECT_TRUE(base.is_base);
  EXPECT_EQ(base.bodies.size(), 4u);
  EXPECT_NEAR(base.mass, 1.3 + 3 * 0.8, 1e-12);
  EXPECT_EQ(die.name, "arm/die");
  EXPECT_FALSE(die.is_base);
  EXPECT_NEAR(die.mass, 0.4, 1e-12);
  EXPECT_EQ(die.first_q, 7);
  EXPECT_TRUE(brick.floating);
  EXPECT_EQ(scene.object_of(scene.model().find_body("arm/link1")), &base);
  EXPECT_EQ(scene.object_of(scene.model().find_body("arm/die")), &die);
  EXPECT_EQ(scene.object_of(scene.model().find_body("ground")), nullptr);
  EXPECT_EQ(scene.model().coordinates()[7].name, "arm/die/qw");
}

/// A robot keeps from touching itself, not from touching what lies beside it in its file.
TEST(FloatingRobot, TouchesWhatItsFileBrings) {
  const scene::Scene scene = test::build(floating(kInfinity));
  const auto geometries = scene.collision_world().geometries();
  const auto at = [&](const char* body) {
    const int index = scene.model().find_body(body);
    for (std::size_t g = 0; g < geometries.size(); ++g)
      if (geometries[g].body == index) return static_cast<int>(g);
    return -1;
  };
  EXPECT_TRUE(scene.collision_world().may_touch(at("arm/link2"), at("arm/die")));
  EXPECT_TRUE(scene.collision_world().may_touch(at("arm/base"), at("arm/die")));
  EXPECT_FALSE(scene.collision_world().may_touch(at("arm/link2"), at("arm/base")));
}

TEST(FloatingRobot, AloneInItsFileItsBaseGoesByItsName) {
  scene::SceneSpec spec = floating(kInfinity);
  spec.world.models[0].links.pop_back();
  const scene::Scene scene = test::build(spec);
  EXPECT_EQ(scene.objects()[0].name, "arm");
  EXPECT_EQ(scene.model().coordinates()[0].name, "arm/qw");
  EXPECT_EQ(scene.model().coordinates()[7].name, "arm/joint0");
}

TEST(FloatingRobot, ConfigurationsNameTheFreeBodies) {
  scene::SceneSpec spec = floating(kInfinity);
  scene::ConfigurationSpec start{.name = "start"};
  start.models["arm"].joints.list = {0.1, 0.2, 0.3};
  start.models["arm/die"].position = Vector3d(1, 2, 3);
  start.models["arm/base"].joints.by_name = {{"z", 0.7}};
  spec.configurations = {start};
  const VectorXd q = test::build(spec).configuration("start");
  EXPECT_EQ(q.segment(11, 3), Vector3d(1, 2, 3));
  EXPECT_EQ(q(6), 0.7);
  EXPECT_EQ(q.segment(14, 3), Vector3d(0.1, 0.2, 0.3));
  spec.configurations[0].models["arm/lid"].position = Vector3d(1, 2, 3);
  EXPECT_NE(test::build_errors(spec).find("there is no model 'arm/lid'"), std::string::npos);
}

/// A cart that floats and a hammer on a slide that pushes a wall: ½ m/h² x² + ½ K (x_hammer − e)² with x + x_hammer =
/// 0, so that the cart goes back by K e/(m/h² + K), m the mass of both.
TEST(FloatingRobot, PushesItselfOff) {
  constexpr double kStiffness = 400, kCart = 3, kHammer = 2, kCommand = 0.05;
  ModelSpec model;
  model.name = "cart";
  const auto link = [](const char* name, double mass) {
    multibody::LinkSpec made{.name = name};
    made.inertial = multibody::InertialSpec{mass, Vector3d::Zero(), Matrix3d::Identity()};
    return made;
  };
  model.links = {link("body", kCart), link("hammer", kHammer)};
  multibody::GeometrySpec tip;
  tip.name = "tip";
  tip.shape = multibody::SphereSpec{0.1};
  model.links[1].collisions = {tip};
  multibody::JointSpec joint{.name = "push", .kind = JointKind::kAxes, .parent = "body", .child = "hammer"};
  joint.axes = {test::slide("push", Vector3d::UnitX())};
  model.joints = {joint};
  scene::SceneSpec spec = test::scene_spec(
      {model, test::fixed_body("wall", multibody::HalfSpaceSpec{-Vector3d::UnitX(), -0.1}, 0)}, {{"cart", kStiffness}});
  const scene::Scene scene = test::build(spec);
  const auto step = make_step_model(scene);
  StepResult result;
  step->step(scene.initial_configuration(), VectorXd(VectorXd::Constant(1, kCommand)), result);
  ASSERT_EQ(result.status, Status::kSolved);
  const double expected = kStiffness * kCommand / ((kCart + kHammer) / (0.1 * 0.1) + kStiffness);
  EXPECT_NEAR(result.q_next(4), -expected, 1e-9);
  EXPECT_NEAR(result.q_next(7), expected, 1e-9);
}

/// Its weight is that of all it carries, whether or not its joints carry theirs.
TEST(FloatingRobot, FallsAsOne) {
  scene::SceneSpec spec = floating(kInfinity);
  spec.world.models.resize(1);
  const scene::Scene scene = test::build(spec);
  const auto step = make_step_model(scene);
  StepResult result;
  const VectorXd q = scene.initial_configuration();
  step->step(q, VectorXd(q.tail(3)), result);
  ASSERT_EQ(result.status, Status::kSolved);
  EXPECT_LT((result.q_next.segment(4, 3) - q.segment(4, 3) - 0.01 * spec.gravity_W).norm(), 1e-9);
  EXPECT_LT((result.q_next.segment(11, 3) - q.segment(11, 3) - 0.01 * spec.gravity_W).norm(), 1e-9);
  EXPECT_LT((result.q_next.tail(3) - q.tail(3)).norm(), 1e-9);
}

/// As an arm on a base that stands in the world, whatever the model.
TEST(FloatingRobot, FrozenItsBaseStays) {
  for (const scene::ModelKind kind :
       {scene::ModelKind::kConvex, scene::ModelKind::kConvexSecondOrder, scene::ModelKind::kStewartTrinkle}) {
    scene::SceneSpec spec = floating(kInfinity, kind), fixed = spec;
    spec.objects = {{.name = "arm/base", .frozen = true}};
    fixed.world.welds = {{.parent = "world", .child = "arm::base", .X_PC = pose({0.1, -0.2, 0.3}, {0.05, 0.02, 0.0})}};
    const auto joints_after = [](const scene::SceneSpec& of) {
      const scene::Scene scene = test::build(of);
      const auto step = make_step_model(scene);
      State state{.q = scene.initial_configuration()};
      if (step->second_order()) state.v = VectorXd::Zero(scene.nv());
      StepResult result;
      step->step(state, VectorXd(VectorXd::Constant(3, 0.1)), result);
      EXPECT_EQ(result.status, Status::kSolved);
      EXPECT_TRUE(!scene.objects()[0].is_base || (result.q_next.head(7) - state.q.head(7)).norm() < 1e-14);
      return VectorXd(result.q_next.segment(scene.robots()[0].first_q, 3));
    };
    const VectorXd joints = joints_after(spec);
    EXPECT_LT((joints - joints_after(fixed)).norm(), 1e-8) << scene::to_string(kind);
    EXPECT_GT(joints.norm(), 1e-4) << scene::to_string(kind);
  }
}

TEST(FloatingRobot, VelocitiesNameTheFreeBodies) {
  scene::SceneSpec spec = floating(kInfinity, scene::ModelKind::kConvexSecondOrder);
  scene::ConfigurationSpec start{.name = "start"};
  start.models["arm/die"].velocity = VectorXd::LinSpaced(6, 1, 6);
  spec.configurations = {start};
  spec.initial = "start";
  EXPECT_EQ(test::build(spec).initial_velocity().segment(6, 6), VectorXd(VectorXd::LinSpaced(6, 1, 6)));
  spec.configurations[0].models["arm/die"].velocity = VectorXd::LinSpaced(5, 1, 5);
  EXPECT_NE(test::build_errors(spec).find("velocity of 'arm/die': 6 finite numbers expected"), std::string::npos);
}

TEST(FloatingRobotDerivative, FollowsDifferences) {
  for (const scene::ModelKind kind : {scene::ModelKind::kConvex, scene::ModelKind::kConvexSecondOrder}) {
    for (const double kappa : {300.0, 1e4, kInfinity}) {
      Bench bench(floating(kappa, kind));
      if (kind == scene::ModelKind::kConvexSecondOrder) bench.v = VectorXd::LinSpaced(bench.scene.nv(), 0.8, -0.7);
      bench.check(fmt::format("{} kappa {}", scene::to_string(kind), kappa));
      EXPECT_GT(bench.result.problem.contacts.size(), 2u);
    }
  }
  scene::SceneSpec scaled = floating(300);
  scaled.step.unactuated_mass_scale = 5;
  Bench(scaled).check("unactuated_mass_scale");
}

}  // namespace floating_robot_test
}  // namespace deft::dynamics
