#include "deft/scene/scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "support/scene_builder.hpp"

namespace deft::scene {
namespace scene_test {

using Eigen::Vector3d;
using multibody::BoxSpec;
using multibody::SphereSpec;
using test::at;
using test::ball_and_finger;
using test::body;
using test::fixed_body;
using test::free_body;
using test::slide;
using test::slider;
using test::turn;

TEST(Scene, OrdersCoordinatesByDeclarationAndSplitsRobotsFromObjects) {
  const Scene scene = test::build(ball_and_finger());
  EXPECT_EQ(scene.names_q(), (std::vector<std::string>{"ball/qw", "ball/qx", "ball/qy", "ball/qz", "ball/x", "ball/y",
                                                       "ball/z", "finger/x", "finger/y"}));
  EXPECT_EQ(scene.nv(), 8);
  ASSERT_EQ(scene.nu(), 2);
  EXPECT_EQ(scene.actuated()[0], 6);
  EXPECT_EQ(scene.command_coordinates()[1], 8);
  ASSERT_EQ(scene.objects().size(), 1u);
  EXPECT_EQ(scene.objects()[0].name, "ball");
  EXPECT_DOUBLE_EQ(scene.robots()[0].stiffness(1), 100);
}

TEST(Scene, CombinesFrictionByTheHarmonicRuleAndPairsOverride) {
  SceneSpec spec = ball_and_finger();
  EXPECT_NEAR(test::build(spec).friction(0, 1).mu, 2 * 0.5 * 1.0 / 1.5, 1e-15);
  spec.friction.pairs.push_back({.between = {"finger", "ball"}, .mu = 0.8});
  EXPECT_DOUBLE_EQ(test::build(spec).friction(1, 0).mu, 0.8);
  SceneSpec smooth =
      test::scene_spec({free_body("a", SphereSpec{0.1}, 1, 1, 0), free_body("b", SphereSpec{0.1}, 1, 1, 0)});
  EXPECT_DOUBLE_EQ(test::build(smooth).friction(0, 1).mu, 0);
}

TEST(Scene, TakesTheDynamicCoefficientAndWarnsWhenTheyDiffer) {
  SceneSpec spec = ball_and_finger();
  auto& geometry = spec.world.models[0].links[0].collisions[0];
  geometry.mu.reset();
  geometry.mu_static = 0.9;
  geometry.mu_dynamic = 0.5;
  Diagnostics diagnostics;
  const Scene scene = Scene::build(spec, diagnostics);
  EXPECT_NEAR(scene.friction(0, 1).mu, 2 * 0.5 / 1.5, 1e-15);
  EXPECT_EQ(std::count_if(diagnostics.all().begin(), diagnostics.all().end(),
                          [](const auto& d) { return d.message.find("differ") != std::string::npos; }),
            1);
  spec.friction.prefer_static = true;
  EXPECT_NEAR(test::build(spec).friction(0, 1).mu, 2 * 0.9 / 1.9, 1e-15);
}

TEST(Scene, MissingFrictionTakesTheDefaultAndNamesTheGeometry) {
  SceneSpec spec = ball_and_finger();
  spec.world.models[0].links[0].collisions[0].mu.reset();
  spec.friction.fallback = 0.25;
  Diagnostics diagnostics;
  const Scene scene = Scene::build(spec, diagnostics);
  EXPECT_NEAR(scene.friction(0, 1).mu, 2 * 0.25 / 1.25, 1e-15);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_NE(diagnostics.all()[0].message.find("ball#collision"), std::string::npos);
}

int candidates(const Scene& scene) {
  SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  scene.find_contacts(100.0, state);
  return static_cast<int>(state.contacts.size());
}

/// Two links one after the other, each with a sphere, and a third.
multibody::ModelSpec chain() {
  multibody::ModelSpec model =
      body("arm", multibody::JointKind::kAxes, {turn("j1", Vector3d::UnitZ())}, SphereSpec{0.1}, 1, 1, 1, at(5, 0, 0));
  model.inline_body = false;
  for (int i = 2; i <= 3; ++i) {
    multibody::LinkSpec link = model.links[0];
    link.name = "link" + std::to_string(i);
    multibody::JointSpec joint;
    joint.name = "j" + std::to_string(i);
    joint.kind = multibody::JointKind::kAxes;
    joint.parent = model.links.back().name;
    joint.child = link.name;
    joint.X_PJ = at(0.5, 0, 0);
    joint.axes = {turn(joint.name, Vector3d::UnitZ())};
    model.links.push_back(link);
    model.joints.push_back(joint);
  }
  return model;
}

TEST(Scene, FiltersNeighboursAndARobotAgainstItself) {
  EXPECT_EQ(candidates(test::build(test::scene_spec({chain()}))), 1)
      << "an object's links 1 and 3 may touch, neighbours not";
  SceneSpec robot = test::scene_spec({chain()}, {{"arm", 10}});
  EXPECT_EQ(candidates(test::build(robot)), 0);
  robot.robots[0].self_collision = true;
  EXPECT_EQ(candidates(test::build(robot)), 1);
}

TEST(Scene, FiltersImmovablePairsButNotBodiesJointedToTheWorld) {
  EXPECT_EQ(candidates(test::build(test::scene_spec(
                {fixed_body("floor", BoxSpec{{1, 1, 1}}, 1), fixed_body("wall", BoxSpec{{1, 1, 1}}, 1)}))),
            0);
  EXPECT_GT(candidates(test::build(test::scene_spec({fixed_body("floor", BoxSpec{{1, 1, 1}}, 1), slider("puck")}))), 0);
}

TEST(Scene, AppliesFilterGroups) {
  SceneSpec spec = ball_and_finger();
  EXPECT_EQ(candidates(test::build(spec)), 1);
  spec.filter_groups.push_back({.name = "all", .members = {"ball", "finger"}, .ignored = {"all"}});
  EXPECT_EQ(candidates(test::build(spec)), 0);
  spec.filter_groups[0].members[1] = "fingre";
  EXPECT_NE(test::build_errors(spec).find("did you mean 'finger'"), std::string::npos) << test::build_errors(spec);
}

TEST(Scene, InfersThePlaneOfMotion) {
  const auto planar = [](const Vector3d& a, const Vector3d& b, const Vector3d& normal) {
    SceneSpec spec =
        test::scene_spec({body("puck", multibody::JointKind::kAxes,
                               {slide("a", a), slide("b", b), turn("theta", normal)}, SphereSpec{0.1}, 1, 1, 1)});
    return test::build(spec).plane();
  };
  EXPECT_EQ(planar(Vector3d::UnitX(), Vector3d::UnitY(), Vector3d::UnitZ()), Plane::kXY);
  EXPECT_EQ(planar(Vector3d::UnitY(), Vector3d::UnitZ(), Vector3d::UnitX()), Plane::kYZ);
  EXPECT_EQ(planar(Vector3d::UnitX(), Vector3d::UnitZ(), Vector3d::UnitY()), Plane::kXZ);
  EXPECT_EQ(planar(Vector3d::UnitX(), Vector3d::UnitY(), Vector3d::UnitX()), Plane::kSpace);
  EXPECT_EQ(test::build(ball_and_finger()).plane(), Plane::kSpace);
  SceneSpec two_rays = ball_and_finger();
  two_rays.step.rays = 2;
  EXPECT_NE(test::build_errors(two_rays).find("step.rays"), std::string::npos);
  two_rays.plane = Plane::kSpace;
  EXPECT_NE(test::build_errors(two_rays).find("step.rays"), std::string::npos) << "stated or inferred";
}

TEST(Scene, ReportsANumberOfRaysThatSpaceDoesNotTakeOnce) {
  const struct {
    int rays;
    Severity severity;
  } cases[] = {{2, Severity::kError}, {6, Severity::kWarning}};
  for (const auto& [rays, severity] : cases) {
    for (const bool stated : {false, true}) {
      SceneSpec spec = ball_and_finger();
      spec.step.rays = rays;
      if (stated) spec.plane = Plane::kSpace;
      Diagnostics diagnostics;
      try {
        Scene::build(spec, diagnostics);
      } catch (const InputError&) {
        EXPECT_EQ(severity, Severity::kError) << rays;
      }
      std::vector<Severity> found;
      for (const Diagnostic& d : diagnostics.all())
        if (d.message.find("step.rays") != std::string::npos) found.push_back(d.severity);
      EXPECT_EQ(found, std::vector{severity}) << rays << (stated ? ", plane stated" : "");
    }
  }
}

TEST(Scene, InterpolatesCommandsAtTheEndOfTheStepAndHoldsOutside) {
  SceneSpec spec = ball_and_finger();
  spec.configurations.push_back({.name = "start"});
  spec.configurations[0].models["finger"].joints.by_name["y"] = 7;
  spec.initial = "start";
  KnotSpec first{.t = 1.0}, second{.t = 2.0};
  first.robots["finger"].by_name["x"] = 1.0;
  second.robots["finger"].by_name["x"] = 3.0;
  spec.commands.knots = {first, second};
  const Scene scene = test::build(spec);
  Eigen::VectorXd u;
  const auto x = [&](const Scene& s, double t) {
    s.command(t, 0.5, u);
    return u(0);
  };
  EXPECT_DOUBLE_EQ(x(scene, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(x(scene, 1.0), 2.0);
  EXPECT_DOUBLE_EQ(u(1), 7.0) << "a joint that no knot names keeps its start";
  EXPECT_DOUBLE_EQ(x(scene, 3.0), 3.0);
  spec.commands.interpolation = Interpolation::kHold;
  const Scene hold = test::build(spec);
  EXPECT_DOUBLE_EQ(x(hold, 1.9), 1.0);
  EXPECT_DOUBLE_EQ(x(hold, 2.0), 3.0);
  EXPECT_DOUBLE_EQ(x(hold, 2.0 - 1e-13), 3.0) << "equal but for rounding";
  EXPECT_DOUBLE_EQ(hold.last_knot_time(), 2.0);
}

TEST(Scene, ReportsEveryMistakeWithTheValidChoices) {
  struct Row {
    const char* what;
    void (*break_it)(SceneSpec&);
    const char* expected;
  };
  const Row rows[] = {
      {"unknown robot", [](SceneSpec& s) { s.robots[0].name = "fingr"; }, "did you mean 'finger'"},
      {"robot twice", [](SceneSpec& s) { s.robots.push_back(s.robots[0]); }, "listed twice"},
      {"robot without joints", [](SceneSpec& s) { s.robots[0].name = "ball"; }, "has no movable joint"},
      {"stiffness", [](SceneSpec& s) { s.robots[0].stiffness.all = 0; }, "stiffness must be positive"},
      {"stiffness list", [](SceneSpec& s) { s.robots[0].stiffness = {.list = {1, 2, 3}}; }, "2 values expected"},
      {"unknown object", [](SceneSpec& s) { s.objects.push_back({.name = "bal"}); }, "did you mean 'ball'"},
      {"robot as object", [](SceneSpec& s) { s.objects.push_back({.name = "finger"}); }, "both as robot and as object"},
      {"massless object",
       [](SceneSpec& s) {
         s.robots.clear();
         s.world.models[1].links[0].inertial.reset();
       },
       "mass"},
      {"unknown initial", [](SceneSpec& s) { s.initial = "nowhere"; }, "there is no configuration 'nowhere'"},
      {"unknown joint",
       [](SceneSpec& s) {
         s.configurations.push_back({.name = "c"});
         s.configurations[0].models["finger"].joints.by_name["z"] = 1;
       },
       "no coordinate 'z'"},
      {"pose of a slider",
       [](SceneSpec& s) {
         s.configurations.push_back({.name = "c"});
         s.configurations[0].models["finger"].position = Vector3d(0, 0, 0);
       },
       "not a free body"},
      {"negative friction", [](SceneSpec& s) { s.world.models[0].links[0].collisions[0].mu = -1; }, "not negative"},
      {"friction pair", [](SceneSpec& s) { s.friction.pairs.push_back({.between = {"ball", "figner"}, .mu = 1.0}); },
       "did you mean 'finger'"},
      {"knots", [](SceneSpec& s) { s.commands.knots = {KnotSpec{.t = 1}, KnotSpec{.t = 1}}; }, "must increase"},
      {"plane", [](SceneSpec& s) { s.plane = Plane::kXY; }, "out of it"},
  };
  for (const Row& row : rows) {
    SceneSpec spec = ball_and_finger();
    row.break_it(spec);
    const std::string errors = test::build_errors(spec);
    EXPECT_NE(errors.find(row.expected), std::string::npos) << row.what << ": " << errors;
  }
}

TEST(Scene, AConfigurationMayBeAListWithOrWithoutTheFreeBase) {
  SceneSpec spec = ball_and_finger();
  spec.configurations.push_back({.name = "c"});
  spec.configurations[0].models["ball"].joints.list = {0, 2, 0, 0, 4, 5, 6};
  spec.configurations[0].models["finger"].joints.list = {0.5, 0.25};
  EXPECT_NE(test::build_errors(spec).find("norm"), std::string::npos) << "a quaternion of norm 2 is a mistake";
  spec.configurations[0].models["ball"].joints.list = {0, 1, 0, 0, 4, 5, 6};
  const Eigen::VectorXd q = test::build(spec).configuration("c");
  EXPECT_EQ(q, (Eigen::VectorXd(9) << 0, 1, 0, 0, 4, 5, 6, 0.5, 0.25).finished());
}

TEST(Scene, OtherSettingsShareTheWorld) {
  SceneSpec spec = ball_and_finger();
  spec.step.h = 0.1;
  const Scene scene = test::build(spec);
  const Scene other = scene.with([](SceneSettings& settings) {
    settings.step.h = 0.2;
    settings.plan.nodes = 3;
    settings.step.object_damping = {.all = 7};
  });
  EXPECT_EQ(&other.model(), &scene.model());
  EXPECT_EQ(&other.collision_world(), &scene.collision_world());
  EXPECT_EQ(other.settings().step.h, 0.2);
  EXPECT_EQ(other.settings().plan.nodes, 3);
  EXPECT_EQ(other.objects()[0].damping, 7);  // what follows from settings follows
  EXPECT_EQ(scene.settings().step.h, 0.1);
  EXPECT_FALSE(scene.objects()[0].damping);

  // The same as a world that is built for them.
  spec.step.h = 0.2;
  spec.plan.nodes = 3;
  spec.step.object_damping = {.all = 7};
  const Scene built = test::build(spec);
  EXPECT_EQ(other.robots()[0].stiffness, built.robots()[0].stiffness);
  EXPECT_EQ(other.initial_configuration(), built.initial_configuration());
  EXPECT_EQ(other.description().plan.nodes, built.description().plan.nodes);
}

TEST(Scene, CopiesLiveAsLongAsTheyAreUsed) {
  std::optional<Scene> scene = test::build(ball_and_finger());
  const Scene copy = *scene;
  const Scene other = scene->with(scene->settings());
  scene.reset();
  EXPECT_EQ(copy.names_u(), (std::vector<std::string>{"finger/x", "finger/y"}));
  EXPECT_EQ(other.names_u(), copy.names_u());
  EXPECT_EQ(&copy.model(), &other.model());
}

TEST(Scene, SettingsThatTheWorldDoesNotAllowAreRefused) {
  const Scene scene = test::build(ball_and_finger());
  const auto refusal = [&](const auto& change) {
    try {
      scene.with(change);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal([](SceneSettings& s) { s.step.model = ModelKind::kLimitSurface; }).find("motion in a plane"),
            std::string::npos);
  EXPECT_NE(
      refusal([](SceneSettings& s) { s.step.object_damping.by_name["box"] = 1; }).find("there is no object 'box'"),
      std::string::npos);
}

TEST(Scene, StartsElsewhere) {
  SceneSpec spec = ball_and_finger();
  spec.configurations.push_back({.name = "raised"});
  spec.configurations.back().models["finger"].joints.by_name["y"] = 0.3;
  const Scene scene = test::build(spec);
  const Scene raised = scene.starting_at(spec.configurations.back());
  EXPECT_EQ(&raised.model(), &scene.model());
  EXPECT_EQ(raised.initial_configuration(), scene.configuration("raised"));
  EXPECT_NE(raised.initial_configuration(), scene.initial_configuration());
  Eigen::VectorXd u(2);
  raised.command(0, 0.1, u);
  EXPECT_EQ(u(1), 0.3);  // robots that nothing is commanded to stay where they start
  ASSERT_NE(raised.start(), nullptr);
  EXPECT_EQ(raised.start()->name, "raised");
  EXPECT_EQ(test::build(raised.description()).initial_configuration(), raised.initial_configuration());
  EXPECT_EQ(test::build(scene.description()).initial_configuration(), scene.initial_configuration());
  ConfigurationSpec unknown{.name = "nowhere"};
  unknown.models["box"] = {};
  EXPECT_THROW(scene.starting_at(unknown), InputError);
}

}  // namespace scene_test
}  // namespace deft::scene
