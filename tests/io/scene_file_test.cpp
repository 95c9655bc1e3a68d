#include "deft/io/scene/scene_file.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "deft/io/settings/settings_file.hpp"
#include "scene_file_support.hpp"

namespace deft::io {
namespace scene_file_test {

using test::Folder;
using test::read_good;

// Every key of deft's own dialect at least once.
constexpr const char* kDeftScene = R"(deft: 1
name: everything
description: every key once
directives:
  - add_model: {name: hand, file: models/arm.sdf, default_joint_positions: {joint_1: [0.25]}}
  - add_weld: {parent: world, child: "hand::base", X_PC: {translation: [0, 0, 0.1], rotation: !Rpy {deg: [0, -90, 0]}}}
  - add_collision_filter_group: {name: tips, members: ["hand::link_1", table], ignored_collision_filter_groups: [tips]}
bodies:
  ball: {shape: {sphere: {radius: 0.06}}, mass: 0.5, joint: free, mu: 1.0, color: "#ff8000", pose: {translation: [0, 0, 1]}}
  table: {shape: {half_space: {normal: [0, 0, 2], offset: 0.5}}, joint: fixed, mu: 0.5}
  peg: {shape: {prism: {vertices: [[-1, -3], [1, -3], [1, 3], [-1, 3]], height: 0.1}}, joint: {planar: xy}, mass: 1, mu: 1, limit_surface: [1, 1, 1]}
  tip: {shape: {sphere: {radius: 0}}, joint: {translation: xy}, mu: 1, limits: {x: [-1, 2]}}
  door: {shapes: [{box: {size: [1, 0.1, 2]}, pose: {position: [0.5, 0, 0]}}, {capsule: {radius: 0.1, length: 0.3}, mu: 0.2}], joint: {revolute: [0, 0, 3]}, mass: 2}
  slider: {shape: {cylinder: {radius: 0.1, length: 0.3}}, joint: {prismatic: [0, 1, 0]}, mass: 2, com: [0, 0, 0.1], inertia: [1, 2, 3, 0.1, 0.2, 0.3]}
robots:
  - {name: hand, stiffness: {joint_0: 100, joint_1: 50}, self_collision: true}
  - {name: tip, Kp: 10}
objects: [{name: ball}, {name: peg, frozen: true}]
gravity: [0, 0, -9.7]
friction: {default: 0.4, pairs: [{between: ["hand::*", ball], mu: 0.8}]}
step: {h: 0.1, dynamics: quasistatic, cone: cone, kappa: 100, contact_margin: inf, unactuated_mass_scale: null, joint_damping: [1, 2]}
configurations:
  start: {hand: {joint_0: 0.75, joint_1: 0.74}, ball: {position: [-0.08, 0.001, 0.071], quat_wxyz: [1, 0, 0, 0]}, peg: [1, 2, 3], tip: 0.5}
initial: start
commands: {interpolation: hold, knots: [{t: 0, hand: [0.1, 0.2], tip: {y: 3}}, {t: 2, hand: {joint_1: 1.2}}]}
goals:
  half_turn: {ball: {rotation: !Rpy {deg: [0, 0, 180]}, position: [0, 0, 0.071]}, tolerance: {position: 0.02, rotation: 0.2}}
  opened: {door: {theta: -1.3}, tolerance: {joint: 0.3}}
  ajar: {door: {theta: -0.3}, tolerance: {joint: {theta: 0.02}}}
plan: {nodes: 100}
track: {horizon: 3}
)";

Folder& deft_folder() {
  static Folder folder;
  folder.write("models/arm.sdf", test::arm_sdf("arm", 2));
  return folder;
}

TEST(SceneFile, ReadsEveryKeyOfItsOwnDialect) {
  const scene::SceneSpec spec = read_good(deft_folder().write("everything.deft.yaml", kDeftScene));
  EXPECT_EQ(spec.name, "everything");
  EXPECT_FALSE(spec.is_q_sys);
  ASSERT_EQ(spec.world.models.size(), 7u);  // the directive's model first, then the bodies
  EXPECT_EQ(spec.world.models[0].name, "hand");
  EXPECT_EQ(spec.world.models[1].name, "ball");
  EXPECT_EQ(spec.world.models[6].name, "slider");
  EXPECT_DOUBLE_EQ(spec.defaults.models.at("hand").joints.by_name.at("joint_1"), 0.25);
  ASSERT_EQ(spec.world.welds.size(), 1u);
  EXPECT_EQ(spec.world.welds[0].child, "hand::base");
  EXPECT_NEAR((spec.world.welds[0].X_PC * Eigen::Vector3d::UnitX() - Eigen::Vector3d(0, 0, 1.1)).norm(), 0, 1e-15);
  ASSERT_EQ(spec.filter_groups.size(), 1u);
  EXPECT_EQ(spec.filter_groups[0].members, (std::vector<std::string>{"hand::link_1", "table::table"}));
  EXPECT_EQ(spec.gravity_W, Eigen::Vector3d(0, 0, -9.7));
  EXPECT_DOUBLE_EQ(spec.friction.fallback, 0.4);
  EXPECT_EQ(spec.friction.pairs.at(0).mu, 0.8);
  EXPECT_EQ(spec.step.h, 0.1);
  EXPECT_EQ(spec.step.dynamics, scene::Dynamics::kQuasistatic);
  EXPECT_EQ(spec.step.cone, scene::Cone::kCone);
  EXPECT_EQ(spec.step.kappa, 100);
  EXPECT_EQ(spec.step.contact_margin, kInfinity);
  EXPECT_EQ(spec.step.joint_damping.list, (std::vector<double>{1, 2}));
  ASSERT_EQ(spec.robots.size(), 2u);
  EXPECT_EQ(spec.robots[0].stiffness.by_name.at("joint_1"), 50);
  EXPECT_TRUE(spec.robots[0].self_collision);
  EXPECT_EQ(spec.robots[1].stiffness.all, 10);
  EXPECT_TRUE(spec.objects.at(1).frozen);
  EXPECT_EQ(spec.initial, "start");
  const auto& start = spec.configurations.at(0).models;
  EXPECT_EQ(start.at("ball").position, Eigen::Vector3d(-0.08, 0.001, 0.071));
  EXPECT_EQ(start.at("peg").joints.list, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(start.at("tip").joints.all, 0.5);
  EXPECT_EQ(spec.commands.interpolation, scene::Interpolation::kHold);
  ASSERT_EQ(spec.commands.knots.size(), 2u);
  EXPECT_EQ(spec.commands.knots[1].robots.at("hand").by_name.at("joint_1"), 1.2);
  ASSERT_EQ(spec.goals.size(), 3u);
  EXPECT_EQ(spec.goals[0].target.name, "half_turn");
  EXPECT_NEAR((*spec.goals[0].target.models.at("ball").rotation)(0, 0), -1, 1e-15);
  EXPECT_FALSE(spec.goals[1].target.models.at("door").position.has_value());
  EXPECT_EQ(spec.goals[1].tolerance_joint, 0.3);
  EXPECT_TRUE(spec.goals[1].tolerance_joints.empty());
  EXPECT_EQ(spec.goals[2].tolerance_joint, 0.1);
  EXPECT_EQ(spec.goals[2].tolerance_joints.at("theta"), 0.02);
}

TEST(SceneFile, ReadsFrictionOfPatchesWrenchesAndEffortLimits) {
  const test::Folder folder;
  const scene::SceneSpec spec = read_good(folder.write("scene.yaml", R"(deft: 1
bodies:
  ball: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: free, mu: 0.5}
  cart: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: {translation: xy}, mu: 0.5}
robots: [{name: cart, stiffness: 10, effort_limit: [inf, 3], velocity_limit: {y: 0.2}}]
friction:
  ellipsoid: [1, 0.5, 0.02]
  ellipsoid_axis: [0, 2, 0]
  pairs:
  - {between: [ball, cart], frictionless: true}
  - {between: [cart, cart], ellipsoid: [1, 2, 3]}
step: {effort_limits: true}
wrenches:
- {body: ball, force_W: [1, 2, 3], torque_W: [4, 5, 6], from: 0.5, to: 2}
- {body: cart, force_W: [1, 0, 0]}
- {body: ball, impulse_W: [7, 8, 9], angular_impulse_W: [1, 0, 1], at: 0.25}
- {body: ball, impulse_W: [0, 0, 1], when: "z < 0.5"}
- {body: ball, force_W: [0, 0, 1], from: 0.1, to: 0.2, when: "x > 1 and not t < 0.15"}
)"));
  EXPECT_EQ(spec.friction.ellipsoid, (std::array<double, 3>{1, 0.5, 0.02}));
  EXPECT_EQ(spec.friction.ellipsoid_axis, Eigen::Vector3d::UnitY());
  EXPECT_TRUE(spec.friction.pairs.at(0).frictionless);
  EXPECT_EQ(spec.friction.pairs.at(1).ellipsoid, (std::array<double, 3>{1, 2, 3}));
  EXPECT_EQ(spec.robots.at(0).effort_limit.list, (std::vector<double>{kInfinity, 3}));
  ASSERT_EQ(spec.wrenches.size(), 5u);
  EXPECT_EQ(spec.wrenches[0].force_W, Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ(spec.wrenches[0].torque_W, Eigen::Vector3d(4, 5, 6));
  EXPECT_EQ(std::pair(spec.wrenches[0].from, spec.wrenches[0].to), std::pair(0.5, 2.0));
  EXPECT_EQ(std::pair(spec.wrenches[1].from, spec.wrenches[1].to), std::pair(0.0, kInfinity));
  EXPECT_TRUE(spec.wrenches[2].impulse);
  EXPECT_EQ(spec.wrenches[2].force_W, Eigen::Vector3d(7, 8, 9));
  EXPECT_EQ(spec.wrenches[2].from, 0.25);
  EXPECT_FALSE(spec.wrenches[2].when.has_value());
  EXPECT_TRUE(spec.wrenches[3].impulse);
  EXPECT_EQ(spec.wrenches[3].when->text, "z < 0.5");
  EXPECT_EQ(spec.wrenches[4].when->text, "x > 1 and not t < 0.15");
  EXPECT_EQ(spec.wrenches[4].when->where.line, 18);
  Diagnostics diagnostics;
  const scene::Scene scene = scene::Scene::build(spec, diagnostics);
  EXPECT_EQ(scene.wrenches().size(), 5u);
  EXPECT_TRUE(scene.wrenches()[3].when && scene.wrenches()[4].when && !scene.wrenches()[2].when);
  EXPECT_TRUE(scene.friction(0, 1).frictionless);
  EXPECT_EQ(scene.robots()[0].effort_limit[1], 3);
  EXPECT_EQ(scene.robots()[0].velocity_limit, Eigen::Vector2d(kInfinity, 0.2));
}

TEST(SceneFile, BuildsInlineBodiesWithTheirJointsAndCoordinates) {
  const scene::SceneSpec spec = read_good(deft_folder().write("everything.deft.yaml", kDeftScene));
  const auto& models = spec.world.models;
  EXPECT_TRUE(models[1].inline_body);
  EXPECT_TRUE(models[1].joints.empty());  // free
  EXPECT_EQ(models[1].X_WModel.translation(), Eigen::Vector3d(0, 0, 1));
  EXPECT_NEAR(models[1].links[0].inertial->I_Com_L(0, 0), 0.4 * 0.5 * 0.06 * 0.06, 1e-15);
  EXPECT_NEAR(models[1].links[0].collisions[0].rgba->at(1), 128.0 / 255, 1e-15);
  const auto& half_space = std::get<multibody::HalfSpaceSpec>(models[2].links[0].collisions[0].shape);
  EXPECT_EQ(half_space.normal, Eigen::Vector3d(0, 0, 1));
  EXPECT_EQ(half_space.offset, 0.25);  // 2 z ≤ 0.5
  EXPECT_EQ(models[2].joints.at(0).kind, multibody::JointKind::kFixed);
  std::vector<std::string> coordinates;
  for (std::size_t i = 3; i < models.size(); ++i) {
    for (const auto& axis : models[i].joints.at(0).axes) coordinates.push_back(models[i].name + "/" + axis.coordinate);
  }
  EXPECT_EQ(coordinates,
            (std::vector<std::string>{"peg/x", "peg/y", "peg/theta", "tip/x", "tip/y", "door/theta", "slider/s"}));
  EXPECT_EQ(models[4].joints[0].axes[0].lower, -1);
  EXPECT_EQ(models[4].joints[0].axes[1].lower, -kInfinity);
  EXPECT_EQ(models[5].joints[0].axes[0].axis_J, Eigen::Vector3d::UnitZ());
  EXPECT_EQ(models[5].links[0].collisions[1].mu, 0.2);
  EXPECT_EQ(models[6].links[0].inertial->I_Com_L(1, 2), 0.3);
  EXPECT_EQ(models[6].links[0].inertial->p_LCom, Eigen::Vector3d(0, 0, 0.1));
}

TEST(SceneFile, ReadsPublishedSystemsUnedited) {
  Folder folder;
  test::write_published_files(folder);
  std::string report;
  const auto spec = test::read(folder.at("models/q_sys/planar_hand_ball.yml"), {}, report);
  ASSERT_TRUE(spec.has_value()) << report;
  EXPECT_EQ(report, "");
  EXPECT_EQ(spec->name, "planar_hand_ball");
  EXPECT_TRUE(spec->is_q_sys);
  EXPECT_EQ(spec->friction.fallback, 1.0);
  EXPECT_TRUE(spec->friction.prefer_static);
  EXPECT_FALSE(spec->friction.warn_missing);
  EXPECT_EQ(spec->gravity_W, Eigen::Vector3d::Zero());
  EXPECT_EQ(spec->step.rays, 2);
  EXPECT_EQ(spec->step.contact_margin, 10);
  EXPECT_FALSE(spec->step.unactuated_mass_scale.has_value());
  EXPECT_FALSE(spec->step.h.has_value());
  EXPECT_EQ(spec->step.dynamics, scene::Dynamics::kQuasidynamic);
  ASSERT_EQ(spec->world.models.size(), 3u);
  EXPECT_EQ(spec->world.models[2].name, "ball");  // the file calls it sphere
  EXPECT_EQ(spec->robots.at(1).stiffness.list, (std::vector<double>{50, 25}));
}

TEST(SceneFile, ReadsWhatPublishedParametersReallyHold) {
  struct Case {
    const char* parameter;
    double (*value)(const scene::StepSettings&);
    double expected;
  };
  const auto mass = [](const scene::StepSettings& s) {
    return s.objects_move ? s.unactuated_mass_scale.value_or(-1) : 0;
  };
  const auto margin = [](const scene::StepSettings& s) { return s.contact_margin; };
  const auto kappa = [](const scene::StepSettings& s) { return s.kappa; };
  const auto h = [](const scene::StepSettings& s) { return s.h.value_or(-1); };
  const auto quasistatic = [](const scene::StepSettings& s) {
    return s.dynamics == scene::Dynamics::kQuasistatic ? 1.0 : 0.0;
  };
  const Case cases[] = {{"unactuated_mass_scale: .NAN", mass, -1},
                        {"unactuated_mass_scale: null", mass, -1},
                        {"unactuated_mass_scale:", mass, -1},
                        {"unactuated_mass_scale: 5", mass, 5},
                        {"unactuated_mass_scale: 0", mass, 0},
                        {"contact_detection_tolerance: .inf", margin, kInfinity},
                        {"log_barrier_weight: 100", kappa, 100},
                        {"log_barrier_weight: .nan", kappa, kInfinity},
                        {"h: 0.05", h, 0.05},
                        {"is_quasi_dynamic: false", quasistatic, 1},
                        {"is_quasi_dynamic: True", quasistatic, 0}};
  Folder folder;
  for (const Case& c : cases) {
    const std::string path =
        folder.write("system.yml", fmt::format("robots:\nobjects:\nquasistatic_sim_params:\n  {}\n", c.parameter));
    const scene::SceneSpec spec = read_good(path);
    EXPECT_EQ(c.value(spec.step), c.expected) << c.parameter;
    test::expect_round_trip(spec, folder);
  }
}

TEST(SceneFile, WarnsOnceOfPublishedParametersItDoesNotUse) {
  Folder folder;
  std::string report;
  const auto spec = test::read(
      folder.write("s.yml", "objects:\nquasistatic_sim_params:\n  mode: 1\n  use_free_solvers: true\n"), {}, report);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(report, folder.at("s.yml") + ":3:3: warning: quasistatic_sim_params: 'mode' is not used\n" +
                        folder.at("s.yml") + ":4:3: warning: quasistatic_sim_params: 'use_free_solvers' is not used\n");
}

TEST(SceneFile, ReadsBareDirectivesAndModelFiles) {
  Folder folder;
  test::write_published_files(folder);
  const scene::SceneSpec directives = read_good(folder.at("models/planar_hand.yml"));
  EXPECT_EQ(directives.world.models.size(), 2u);
  EXPECT_FALSE(directives.is_q_sys);
  EXPECT_EQ(directives.friction.fallback, 0.5);
  const scene::SceneSpec model = read_good(folder.at("models/sphere.sdf"));
  EXPECT_EQ(model.world.models.at(0).name, "sphere");
  EXPECT_EQ(model.name, "sphere");
}

TEST(SceneFile, MergedTextReadsBackToTheSameSceneFromAnywhere) {
  Folder folder, elsewhere;
  test::write_published_files(folder);
  test::expect_round_trip(read_good(deft_folder().write("everything.deft.yaml", kDeftScene)), elsewhere);
  test::expect_round_trip(read_good(folder.at("models/q_sys/planar_hand_ball.yml")), elsewhere);
  test::expect_round_trip(read_good(folder.at("models/planar_hand.yml")), elsewhere);
  test::expect_round_trip(read_good(folder.at("models/arm.sdf")), elsewhere);
  SceneFileOptions options;
  options.overlays = {folder.write(
      "over.yaml",
      "name: pushed\nstep: {h: 0.1, kappa: 50}\ninitial: {ball: {position: [0, 0, 1]}}\n"
      "commands: {knots: [{t: 0, arm_left: [0, 1]}]}\ngoals: {up: {ball: {position: [0, 0, 2]}}}\nplan: {nodes: 3}\n")};
  options.settings = {"robots.1.Kp=[1, 2]", "step.model=impedance"};
  const scene::SceneSpec overlaid = read_good(folder.at("models/q_sys/planar_hand_ball.yml"), options);
  test::expect_round_trip(overlaid, elsewhere);
  EXPECT_NE(overlaid.merged_yaml.find("nodes: 3"), std::string::npos);
}

TEST(SceneFile, MergedTextRemembersPackagePaths) {
  Folder folder, elsewhere;
  folder.write("pkg/hands/arm.sdf", test::arm_sdf("arm", 1));
  folder.write("pkg/hands/hand.yml", "directives:\n- add_model: {name: arm, file: package://hands/arm.sdf}\n");
  const std::string scene =
      folder.write("scenes/s.yml", "directives:\n- add_directives: {file: package://hands/hand.yml}\n");
  SceneFileOptions options;
  options.package_paths = {folder.at("pkg")};
  test::expect_round_trip(read_good(scene, options), elsewhere);
}

TEST(SceneFile, OverlaysAndSettingsWinInTheirOrder) {
  Folder folder;
  test::write_published_files(folder);
  const std::string system = folder.at("models/q_sys/planar_hand_ball.yml");
  SceneFileOptions options;
  options.overlays = {
      folder.write("a.yaml", "step: {h: 0.1, rays: 4}\nquasistatic_sim_params: {contact_detection_tolerance: 0.5}\n"),
      folder.write("b.yaml", "step: {h: 0.2}\n")};
  scene::SceneSpec spec = read_good(system, options);
  EXPECT_EQ(spec.step.h, 0.2);
  EXPECT_EQ(spec.step.rays, 4);
  EXPECT_EQ(spec.step.contact_margin, 0.5);
  options.settings = {"step.h=0.3", "quasistatic_sim_params.nd_per_contact=8", "robots.0.Kp=7", "step={kappa: 20}",
                      "gravity=[0, 0, -1]"};
  spec = read_good(system, options);
  EXPECT_EQ(spec.step.h, 0.3);
  EXPECT_EQ(spec.step.rays, 8);
  EXPECT_EQ(spec.step.kappa, 20);
  EXPECT_EQ(spec.step.contact_margin, 0.5);
  EXPECT_EQ(spec.gravity_W.z(), -1);
  EXPECT_EQ(spec.robots[0].stiffness.all, 7);
  EXPECT_EQ(spec.robots[1].stiffness.list, (std::vector<double>{50, 25}));
}

TEST(SceneFile, OverlaysApplyToEveryDialect) {
  Folder folder;
  test::write_published_files(folder);
  const std::string overlay = folder.write("over.yaml",
                                           "deft: 1\nstep: {h: 0.25}\nbodies: {crate: {shape: {box: {size: [1, 1, "
                                           "1]}}, joint: free, mass: 1}}\ninitial: {crate: {position: [0, 0, 3]}}\n");
  const std::string deft = folder.write("own.deft.yaml", "deft: 1\nbodies: {crate: {mass: 5, mu: 0.5}}\n");
  for (const std::string& scene : {deft, folder.at("models/q_sys/planar_hand_ball.yml"),
                                   folder.at("models/planar_hand.yml"), folder.at("models/sphere.sdf")}) {
    SceneFileOptions options;
    options.overlays = {overlay};
    const scene::SceneSpec spec = read_good(scene, options);
    EXPECT_EQ(spec.step.h, 0.25) << scene;
    EXPECT_EQ(spec.configurations.at(0).models.at("crate").position->z(), 3) << scene;
    EXPECT_EQ(spec.is_q_sys, scene.find("q_sys") != scene.npos);
    test::expect_round_trip(spec, folder);
  }
}

TEST(SceneFile, ListsEverySettingWithUnitAndDefault) {
  const std::string help = settings_help();
  for (const char* expected :
       {"step.h ", "default none; range: > 0", "[1/J]", "default .inf", "default 0.025", "pyramid, cone",
        "quasidynamic, quasistatic", "step.unactuated_mass_scale", "equivalent-contact-point", "even number"}) {
    EXPECT_NE(help.find(expected), std::string::npos) << expected << '\n' << help;
  }
}

TEST(SceneFile, WrittenSettingsReadBack) {
  scene::StepSettings settings;
  settings.h = 0.3;
  settings.cone = scene::Cone::kCone;
  settings.uniqueness_check = true;
  settings.forces = scene::Forces::kAny;
  settings.joint_damping.by_name["hand/joint_1"] = 4;
  settings.object_damping.list = {0, 2};
  Diagnostics diagnostics;
  scene::StepSettings again;
  read_settings(write_settings(settings), YamlReader(diagnostics), again);
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_TRUE(equal_yaml(write_settings(again), write_settings(settings)));
  EXPECT_FALSE(equal_yaml(write_settings(again), write_settings({})));
  for (const int n : {0, 2, scene::StepSettings::kUntilSettled}) {
    settings.relinearize = n;
    read_settings(write_settings(settings), YamlReader(diagnostics), again);
    EXPECT_EQ(again.relinearize, n);
  }
}

}  // namespace scene_file_test
}  // namespace deft::io
