// Joints that follow others: what a step keeps, what it costs, and its derivatives.

#include "deft/scene/configuration.hpp"
#include "derivative_bench.hpp"
#include "parameter_differences.hpp"

namespace deft::dynamics {
namespace coupled_joints_test {

/// An arm of three joints, of which the last follows the first, that leans on a brick.
scene::SceneSpec gripping(double kappa, scene::ModelKind kind) {
  scene::SceneSpec spec = leaning(kappa);
  multibody::ModelSpec& model = spec.world.models[0];
  model.couplings = {{.follower = model.joints[2].axes[0].coordinate,
                      .leader = model.joints[0].axes[0].coordinate,
                      .ratio = -0.6,
                      .offset = 0.1}};
  spec.step.model = kind;
  spec.step.robot_gravity = true;
  spec.step.joint_damping.all = 3;
  if (kind == scene::ModelKind::kConvexSecondOrder) spec.step.h = 0.02;
  return spec;
}

TEST(CoupledJoints, TakeNoCommandAndFollowInConfigurations) {
  const scene::Scene scene = test::build(gripping(kInfinity, scene::ModelKind::kConvex));
  const multibody::Coupling& coupling = scene.model().couplings()[0];
  EXPECT_EQ(scene.nu(), 2);
  EXPECT_EQ(scene.robots()[0].nv, 3);
  EXPECT_EQ(scene.actuated()[1], scene.robots()[0].first_v + 1);
  EXPECT_EQ(scene.command_shares()[coupling.v].command, 0);
  EXPECT_EQ(scene.command_shares()[coupling.v].ratio, -0.6);
  const VectorXd q = scene.initial_configuration();
  EXPECT_DOUBLE_EQ(q(coupling.q), 0.1 - 0.6 * q(coupling.leader_q));
  EXPECT_EQ(scene.names_u().size(), 2u);
}

TEST(CoupledJoints, StatedConfigurationsStandAndAreWarnedOf) {
  scene::SceneSpec spec = gripping(kInfinity, scene::ModelKind::kConvex);
  const std::string leader = spec.world.models[0].joints[0].name, follower = spec.world.models[0].joints[2].name;
  scene::ConfigurationSpec configuration{.name = "start"};
  configuration.models["arm"].joints.by_name = {{leader, 0.5}};
  scene::ConfigurationSpec stated = configuration;
  stated.name = "stated";
  stated.models["arm"].joints.by_name[follower] = 0.3;
  spec.configurations = {configuration, stated};
  Diagnostics diagnostics;
  const scene::Scene scene = scene::Scene::build(std::move(spec), diagnostics);
  EXPECT_EQ(diagnostics.all().size(), 1u);
  EXPECT_NE(diagnostics.all()[0].message.find("arm/joint2 is stated as 0.3, but its coupling puts it at -0."),
            std::string::npos)
      << diagnostics.all()[0].message;
  const int at = scene.model().couplings()[0].q;
  EXPECT_DOUBLE_EQ(scene.configuration("start")(at), -0.2);
  EXPECT_DOUBLE_EQ(scene.configuration("stated")(at), 0.3);
}

TEST(CoupledJoints, AreKeptByEveryModelUnderLoad) {
  for (const scene::ModelKind kind :
       {scene::ModelKind::kConvex, scene::ModelKind::kConvexSecondOrder, scene::ModelKind::kImpedance,
        scene::ModelKind::kStewartTrinkle, scene::ModelKind::kPerfectTracking}) {
    scene::SceneSpec spec = gripping(kInfinity, kind);
    if (kind == scene::ModelKind::kPerfectTracking) spec.step.joint_damping.all.reset();
    const scene::Scene scene = test::build(std::move(spec));
    const multibody::Coupling& coupling = scene.model().couplings()[0];
    const auto model = make_step_model(scene);
    State state{.q = scene.initial_configuration()};
    if (model->second_order()) state.v = VectorXd::Zero(scene.nv());
    state.q(coupling.q) += 0.05;  // a start that is off is pulled in
    VectorXd u(2);
    u << 0.3, -0.1;
    StepResult result;
    for (int k = 0; k < 10; ++k) {
      model->step(state, u, result);
      ASSERT_EQ(result.status, solvers::Status::kSolved) << scene::to_string(kind) << " step " << k;
      state.q = result.q_next;
      state.v = result.v_next;
    }
    EXPECT_NEAR(state.q(coupling.q), coupling.at(state.q), 1e-5) << scene::to_string(kind);
    EXPECT_GT(std::abs(state.q(coupling.leader_q)), 1e-2) << scene::to_string(kind);
  }
}

/// At rest without contacts the leader's spring carries its own weight and, by the ratio, that of its follower.
TEST(CoupledJoints, BalanceWithTheSpringOfTheirLeader) {
  scene::SceneSpec spec = gripping(kInfinity, scene::ModelKind::kConvex);
  spec.step.joint_damping.all = 0;
  spec.world.models.resize(1);
  const scene::Scene scene = test::build(std::move(spec));
  const multibody::Coupling& coupling = scene.model().couplings()[0];
  const auto model = make_step_model(scene);
  State state{.q = scene.initial_configuration()};
  const VectorXd u = VectorXd::Constant(2, 0.2);
  StepResult result;
  for (int k = 0; k < 100; ++k) {
    model->step(state, u, result);
    state.q = result.q_next;
  }
  scene::SceneState at = scene.make_state();
  scene.update(state.q, at);
  VectorXd tau;
  scene.model().gravity_force(at.kinematics, scene.spec().gravity_W, tau);
  const double K = scene.robots()[0].stiffness(0);
  EXPECT_NEAR(K * (u(0) - state.q(coupling.leader_q)) + tau(coupling.leader_v) + coupling.ratio * tau(coupling.v), 0,
              1e-6);
  EXPECT_GT(std::abs(tau(coupling.v)), 1e-3);
}

/// Soft drives of heavy links leave the couplings digits enough: no step fails for rounding.
TEST(CoupledJoints, AreKeptWhateverTheStiffness) {
  for (const double stiffness : {3.0, 30.0, 1e3, 1e5}) {
    scene::SceneSpec spec = test::scene_spec(
        {test::body("arm", JointKind::kAxes, {test::slide("x", {1, 0, 0}), test::turn("theta", {0, 1, 0})},
                    multibody::SphereSpec{0.05}, 5, 0.02, 0.5)},
        {{"arm", stiffness}});
    spec.world.models[0].couplings = {{.follower = "theta", .leader = "x", .ratio = 2, .offset = 0.1}};
    const scene::Scene scene = test::build(spec);
    const auto model = make_step_model(scene);
    for (int k = 0; k < 50; ++k) {
      StepResult result;
      const double u = -3 + 0.1237 * k;
      model->step(scene.initial_configuration(), VectorXd(VectorXd::Constant(1, u)), result);
      ASSERT_EQ(result.status, solvers::Status::kSolved) << stiffness << " " << u;
      EXPECT_NEAR(result.q_next(0), u, 1e-6);
      EXPECT_NEAR(result.q_next(1), 0.1 + 2 * u, 1e-6);
    }
  }
}

TEST(CoupledJointsDerivative, FollowsDifferences) {
  for (const scene::ModelKind kind : {scene::ModelKind::kConvex, scene::ModelKind::kConvexSecondOrder}) {
    for (const double kappa : {300.0, 1e4, kInfinity}) {
      Bench bench(gripping(kappa, kind));
      if (kind == scene::ModelKind::kConvexSecondOrder) bench.v = VectorXd::LinSpaced(bench.scene.nv(), 0.8, -0.7);
      // A coupling is 1e6 times as stiff as the rest, which multiplies the rounding of the differences.
      bench.check(fmt::format("{} kappa {}", scene::to_string(kind), kappa), 1e-5);
      EXPECT_GT(bench.result.problem.contacts.size(), 2u);
      EXPECT_EQ(bench.scene.nu(), 2);
    }
  }
}

TEST(CoupledJoints, MistakesNameTheJoint) {
  const auto errors = [](const std::vector<multibody::CouplingSpec>& couplings) {
    scene::SceneSpec spec = gripping(kInfinity, scene::ModelKind::kConvex);
    spec.world.models[0].couplings = couplings;
    return test::build_errors(std::move(spec));
  };
  scene::SceneSpec spec = gripping(kInfinity, scene::ModelKind::kConvex);
  const auto& joints = spec.world.models[0].joints;
  const std::string a = joints[0].name, b = joints[1].name, c = joints[2].name;
  EXPECT_NE(errors({{.follower = a, .leader = "other"}}).find("there is no joint 'other'"), std::string::npos);
  EXPECT_NE(errors({{.follower = a, .leader = b}, {.follower = a, .leader = c}}).find("follows two others"),
            std::string::npos);
  EXPECT_NE(errors({{.follower = a, .leader = b}, {.follower = b, .leader = a}}).find("follows itself"),
            std::string::npos);
  EXPECT_NE(errors({{.follower = a, .leader = b}, {.follower = c, .leader = b}, {.follower = b, .leader = ""}})
                .find("every joint follows another or is held"),
            std::string::npos);
  spec.robots[0].stiffness.all.reset();
  spec.robots[0].stiffness.by_name = {{a, 10.0}, {b, 10.0}, {c, 10.0}};
  EXPECT_NE(test::build_errors(spec).find("follows another: it takes no command"), std::string::npos);
  spec.robots[0].stiffness.by_name.clear();
  spec.robots[0].stiffness.list = {10.0, 10.0, 10.0};
  EXPECT_NE(test::build_errors(spec).find("2 values expected (one per joint), the list has 3"), std::string::npos);
}

TEST(CoupledJoints, ChainsAreResolved) {
  scene::SceneSpec spec = gripping(kInfinity, scene::ModelKind::kConvex);
  const auto& joints = spec.world.models[0].joints;
  const std::string a = joints[0].name, b = joints[1].name, c = joints[2].name;
  spec.world.models[0].couplings = {{.follower = c, .leader = b, .ratio = 2, .offset = 0.1},
                                    {.follower = b, .leader = a, .ratio = -3, .offset = 0.2}};
  const scene::Scene scene = test::build(std::move(spec));
  const auto couplings = scene.model().couplings();
  ASSERT_EQ(couplings.size(), 2u);
  EXPECT_EQ(couplings[1].leader_v, scene.robots()[0].first_v);
  EXPECT_DOUBLE_EQ(couplings[1].ratio, -6);
  EXPECT_DOUBLE_EQ(couplings[1].offset, 0.5);
}

}  // namespace coupled_joints_test
}  // namespace deft::dynamics
