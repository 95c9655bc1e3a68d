// Every kind of wrong input is reported with its place and, where there is one, the right word.

#include <gtest/gtest.h>

#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "scene_file_support.hpp"

namespace deft::io {
namespace scene_file_error_test {

using test::Folder;

struct BadScene {
  const char* what;
  const char* text;
  std::vector<const char*> reports;  // "line:column: error: …", each must be in the report, and no other error
};

/// Reads `text` as a scene beside models/arm.sdf (two joints) and models/ball.sdf.
std::string report_of(const std::string& text, const SceneFileOptions& options = {}) {
  Folder folder;
  folder.write("models/arm.sdf", test::arm_sdf("arm", 2));
  folder.write("models/ball.sdf", test::ball_sdf("ball"));
  folder.write("models/broken.sdf", "<sdf version='1.7'><model name='x'>");
  folder.write("loop_a.yml", "directives:\n- add_directives: {file: loop_b.yml}\n");
  folder.write("loop_b.yml", "directives:\n- add_directives: {file: loop_a.yml}\n");
  std::string report;
  const auto spec = test::read(folder.write("scene.yaml", text), options, report);
  EXPECT_FALSE(spec.has_value()) << text;
  // Messages without the temporary folder's name.
  for (auto at = report.find(folder.at("")); at != report.npos; at = report.find(folder.at("")))
    report.erase(at, folder.at("").size());
  return report;
}

void expect_reports(const BadScene& bad, const std::string& report) {
  for (const char* expected : bad.reports)
    EXPECT_NE(report.find(expected), report.npos) << bad.what << ": expected\n  " << expected << "\nin\n" << report;
  EXPECT_EQ(to_size(std::count(report.begin(), report.end(), '\n')), bad.reports.size()) << bad.what << ":\n" << report;
}

// A scene with one robot and one free ball; the cases below go behind it, from line 4.
constexpr const char* kStart =
    "deft: 1\n"
    "directives: [add_model: {name: arm, file: models/arm.sdf}, add_weld: {parent: world, child: 'arm::base'}]\n"
    "objects: [{name: ball, file: models/ball.sdf}]\n";

TEST(SceneFileErrors, NameThePlaceAndTheRightWord) {
  const BadScene cases[] = {
      {"unknown key", "setp: {h: 0.1}", {"scene.yaml:4:1: error: a scene has no key 'setp'; did you mean 'step'?"}},
      {"unknown setting",
       "step:\n  kapa: 0.1",
       {"scene.yaml:5:3: error: step has no key 'kapa'; did you mean 'kappa'?"}},
      {"wrong type", "step: {h: abc}", {"scene.yaml:4:11: error: step.h: expected a number, got 'abc'"}},
      {"list for a number", "step: {h: [1]}", {"4:11: error: step.h: expected a number, got a list of 1"}},
      {"number out of range",
       "step: {h: 0, kappa: -1}",
       {"4:11: error: step.h: must be > 0, got 0", "4:21: error: step.kappa: must be > 0 or inf, got -1"}},
      {"infinite step", "step: {h: inf}", {"4:11: error: step.h: must be > 0, got inf"}},
      {"odd rays", "step: {rays: 3}", {"4:14: error: step.rays: must be an even number >= 2, got 3"}},
      {"broken rays", "step: {rays: 2.5}", {"4:14: error: step.rays: expected a whole number >= 2, got 2.5"}},
      {"no arm of friction",
       "step: {friction_arm: 0}",
       {"4:22: error: step.friction_arm: must be above 0, at most 1, got 0"}},
      {"friction beyond the corners",
       "step: {friction_arm: 1.5}",
       {"4:22: error: step.friction_arm: must be above 0, at most 1, got 1.5"}},
      {"negative number of linearisations",
       "step: {relinearize: -1}",
       {"4:21: error: step.relinearize: expected a whole number >= 0, got -1"}},
      {"number of linearisations in words",
       "step: {relinearize: twice}",
       {"4:21: error: step.relinearize: must be an integer >= 0, true or false, got 'twice'"}},
      {"unknown word",
       "step: {model: konvex}",
       {"4:15: error: step.model: 'konvex' is none of the choices; did you mean 'convex'?"}},
      {"not a flag", "step: {joint_limits: 3}", {"4:22: error: step.joint_limits: expected true or false, got '3'"}},
      {"map for a list", "gravity: {x: 1}", {"4:10: error: gravity: expected a list of 3 numbers, got a map"}},
      {"wrong list length", "gravity: [0, -9.81]", {"4:10: error: gravity: expected 3 numbers, got 2"}},
      {"NaN", "gravity: [0, 0, .nan]", {"4:17: error: gravity: is not a number (NaN)"}},
      {"infinite gravity", "gravity: [0, 0, -.inf]", {"4:17: error: gravity: must be a finite number, got -.inf"}},
      {"duplicate key", "step: {h: 1}\nstep: {h: 2}", {"5:1: error: duplicate key 'step', first used in line 4"}},
      {"YAML syntax", "step: {h: 1", {"error: YAML: did not find expected ',' or '}' while parsing a flow mapping"}},
      {"tab in YAML", "step:\n\th: 1", {"error: YAML:"}},
      {"plane", "plane: zx", {"4:8: error: plane: 'zx' is none of the choices"}},

      {"unknown robot",
       "robots: [{name: amr, stiffness: 1}]",
       {"4:17: error: robots: there is no model 'amr'; did you mean 'arm'?"}},
      {"stiffness count",
       "robots: [{name: arm, Kp: [1, 2, 3]}]",
       {"4:26: error: stiffness of 'arm': expected 2 numbers, got 3"}},
      {"stiffness sign",
       "robots: [{name: arm, Kp: [1, -2]}]",
       {"4:30: error: stiffness of 'arm': must be > 0, got -2"}},
      {"velocity limit sign",
       "robots: [{name: arm, stiffness: 1, velocity_limit: [1, 0]}]",
       {"4:56: error: velocity_limit of 'arm': must be > 0 or inf, got 0"}},
      {"velocity limit not a number",
       "robots: [{name: arm, stiffness: 1, velocity_limit: .nan}]",
       {"4:52: error: velocity_limit of 'arm': "}},
      {"velocity limit joint",
       "robots: [{name: arm, stiffness: 1, velocity_limit: {joint_9: 1}}]",
       {"4:53: error: velocity_limit of 'arm' has no key 'joint_9'; did you mean 'joint_0'?"}},
      {"stiffness missing", "robots: [{name: arm}]", {"4:10: error: robot 'arm' needs 'stiffness'"}},
      {"admittance alone",
       "robots: [{name: arm, admittance: 1}]",
       {"4:10: error: robot 'arm' has an admittance alone, which is for step.model: limit-surface"}},
      {"stiffness twice",
       "robots: [{name: arm, Kp: 1, stiffness: 1}]",
       {"4:26: error: give either stiffness or Kp, not both"}},
      {"stiffness joint",
       "robots: [{name: arm, stiffness: {joint_0: 1, joint_2: 1}}]",
       {"4:46: error: stiffness of 'arm' has no key 'joint_2'; did you mean 'joint_0'?"}},
      {"stiffness of some joints",
       "robots: [{name: arm, stiffness: {joint_0: 1}}]",
       {"4:33: error: stiffness of 'arm' leaves out some of its 2 joints: joint_0, joint_1"}},
      {"robot twice",
       "robots: [{name: arm, Kp: 1}, {name: arm, Kp: 1}]",
       {"4:37: error: robots: duplicate name 'arm'"}},
      {"robot and object",
       "robots: [{name: ball, Kp: 1}]",
       {"3:18: error: 'ball' is listed both as robot and as object"}},

      {"model in configuration",
       "configurations: {s: {bal: [1, 0, 0, 0, 0, 0, 0]}}",
       {"4:22: error: s: there is no model 'bal'; did you mean 'ball'?"}},
      {"joint in configuration",
       "configurations: {s: {arm: {joint_3: 1}}}",
       {"4:28: error: s arm has no key 'joint_3'; did you mean 'joint_0'?"}},
      {"configuration length",
       "configurations: {s: {arm: [1]}}",
       {"4:27: error: s arm: expected 2 numbers (joint_0, joint_1), got 1"}},
      {"pose length",
       "configurations: {s: {ball: [1, 0, 0]}}",
       {"4:28: error: s ball: expected 7 numbers (qw, qx, qy, qz, x, y, z), got 3"}},
      {"bare quat",
       "configurations: {s: {ball: {quat: [1, 0, 0, 0]}}}",
       {"4:29: error: s ball: 'quat' does not say its order; write quat_wxyz: [w, x, y, z]"}},
      {"quaternion norm",
       "configurations: {s: {ball: {quat_wxyz: [1, 1, 0, 0]}}}",
       {"4:40: error: quat_wxyz: the norm must be 1 to within 0.001, it is 1.41421"}},
      {"quaternion norm in a list",
       "configurations: {s: {ball: [0.5, 0, 0, 0, 1, 2, 3]}}",
       {"4:28: error: quaternion [qw, qx, qy, qz]: the norm must be 1"}},
      {"NaN in a configuration",
       "configurations: {s: {arm: [0, .nan]}}",
       {"4:31: error: s arm: is not a number (NaN)"}},
      {"position of a jointed model",
       "configurations: {s: {arm: {position: [0, 0, 0]}}}",
       {"4:28: error: s arm has no key 'position'"}},
      {"rpy without a tag",
       "configurations: {s: {ball: {rotation: [0, 0, 90]}}}",
       {"4:39: error: rotation: cannot read a list of 3; write !Rpy {deg: [roll, pitch, yaw]}"}},
      {"random rotation",
       "configurations: {s: {ball: {rotation: !Uniform {}}}}",
       {"4:39: error: rotation: !Uniform stands for a random rotation"}},
      {"random position",
       "configurations: {s: {ball: {position: !UniformVector {min: [0], max: [1]}}}}",
       {"4:39: error: position: !UniformVector stands for a random value"}},
      {"unknown start",
       "configurations: {start: {}}\ninitial: strat",
       {"5:10: error: initial: there is no configuration 'strat'; did you mean 'start'?"}},

      {"command of an object",
       "robots: [{name: arm, Kp: 1}]\ncommands: {knots: [{t: 0, ball: 1}]}",
       {"5:27: error: commands: 'ball' is not among the robots"}},
      {"command of nobody",
       "robots: [{name: arm, Kp: 1}]\ncommands: {knots: [{t: 0, amr: 1}]}",
       {"5:27: error: commands: there is no robot 'amr'; did you mean 'arm'?"}},
      {"command length",
       "robots: [{name: arm, Kp: 1}]\ncommands: {knots: [{t: 0, arm: [1]}]}",
       {"5:32: error: command of 'arm': expected 2 numbers, got 1"}},
      {"time order",
       "robots: [{name: arm, Kp: 1}]\ncommands: {knots: [{t: 1, arm: 1}, {t: 1, arm: 1}]}",
       {"5:40: error: knots must have ascending times, 1 follows 1"}},
      {"no time",
       "commands: {knots: [{arm: 1}]}",
       {"4:20: error: a knot needs 't' [s]", "4:21: error: commands: 'arm' is not among the robots"}},
      {"velocity commands",
       "commands: {type: velocity}",
       {"4:18: error: commands.type: velocity is for step.model: limit-surface"}},
      {"interpolation",
       "commands: {interpolation: cubic}",
       {"4:27: error: commands.interpolation: 'cubic' is none of the choices; valid: linear, hold"}},
      {"goal",
       "goals: {g: {balls: {position: [0, 0, 0]}, tolerance: {postion: 1}}}",
       {"4:13: error: g: there is no model 'balls'; did you mean 'ball'?",
        "4:55: error: tolerance has no key 'postion'; did you mean 'position'?"}},
      {"friction pair",
       "friction: {pairs: [{between: [arm, bell], mu: 0.1}]}",
       {"4:36: error: friction.pairs: 'bell' matches no body; did you mean 'ball'?"}},
      {"friction of one",
       "friction: {pairs: [{between: [arm], mu: 0.1}]}",
       {"4:30: error: friction.pairs: 'between' takes a list of two names"}},
      {"negative resistance to rolling",
       "friction: {rolling: -0.1}",
       {"4:21: error: friction.rolling: must be >= 0, got -0.1"}},
      {"negative friction", "friction: {default: -0.1}", {"4:21: error: friction.default: must be >= 0, got -0.1"}},

      {"no joint", "bodies: {a: {shape: {sphere: {radius: 1}}, mass: 1}}", {"4:13: error: body 'a' needs 'joint'"}},
      {"unknown joint",
       "bodies: {a: {joint: {planer: xy}}}",
       {"4:21: error: joint: cannot read a map; valid: free, fixed"}},
      {"unknown shape",
       "bodies: {a: {joint: fixed, shape: {spere: {radius: 1}}}}",
       {"4:36: error: a shape has no key 'spere'; did you mean 'sphere'?",
        "4:35: error: a shape is one of {sphere: …} {box: …}"}},
      {"two shapes in one",
       "bodies: {a: {joint: fixed, shape: {sphere: {radius: 1}, box: {size: [1, 1, 1]}}}}",
       {"4:35: error: a shape is one of"}},
      {"box size",
       "bodies: {a: {joint: fixed, shape: {box: {size: [1, 0, 1]}}}}",
       {"4:52: error: box size: must be > 0, got 0"}},
      {"dented prism",
       "bodies: {a: {joint: fixed, shape: {prism: {vertices: [[0, 0], [2, 0], [0.1, 0.1], [0, 2]], height: 1}}}}",
       {"4:54: error: prism vertices: expected the corners of a convex polygon"}},
      {"negative mass",
       "bodies: {a: {joint: free, shape: {sphere: {radius: 1}}, mass: -1}}",
       {"4:63: error: mass: must be >= 0, got -1"}},
      {"massless free body",
       "bodies: {a: {joint: free, shape: {sphere: {radius: 1}}, mass: 0}}",
       {"4:10: error: non-positive mass: 'a' moves freely"}},
      {"mesh not there",
       "bodies: {a: {joint: fixed, shape: {mesh: {file: nut.obj}}}}",
       {"4:49: error: mesh 'nut.obj' not found; tried nut.obj"}},
      {"limits",
       "bodies: {a: {joint: {translation: x}, limits: {y: [0, 1]}}}",
       {"4:48: error: limits has no key 'y'; valid: x"}},
      {"color", "bodies: {a: {joint: fixed, color: [1, 2, 3]}}", {"4:35: error: color: expected [r, g, b]"}},
      {"name of two bodies", "bodies: {arm: {joint: fixed}}", {"4:10: error: duplicate model name 'arm'"}},
      {"body called world", "bodies: {world: {joint: fixed}}", {"4:10: error: 'world' cannot be the name of a model"}},
      {"wrench without body", "wrenches: [{force_W: [0, 0, 1]}]", {"4:12: error: wrenches: each item needs 'body'"}},
      {"wrench without force", "wrenches: [{body: ball}]", {"4:12: error: wrenches: give 'force_W' [N]"}},
      {"force at a time",
       "wrenches: [{body: ball, force_W: [0, 0, 1], at: 2}]",
       {"4:49: error: wrenches: 'at' is for impulses"}},
      {"impulse for a while",
       "wrenches: [{body: ball, impulse_W: [0, 0, 1], from: 2}]",
       {"4:12: error: wrenches: an impulse needs 'at' [s]", "4:53: error: wrenches: 'from' is for forces"}},
      {"force and impulse",
       "wrenches: [{body: ball, impulse_W: [0, 0, 1], force_W: [1, 0, 0], at: 0}]",
       {"4:56: error: wrenches: 'force_W' is a force"}},
      {"condition that is no text",
       "wrenches: [{body: ball, impulse_W: [0, 0, 1], when: [x, 1]}]",
       {"4:53: error: wrenches 'when'"}},
      {"conditional impulse for a while",
       "wrenches: [{body: ball, impulse_W: [0, 0, 1], when: 'x > 1', to: 2}]",
       {"4:66: error: wrenches: 'to' is for forces"}},
      {"ellipsoid of zero",
       "friction: {ellipsoid: [1, 0, 0.1]}",
       {"4:27: error: friction.ellipsoid: must be > 0, got 0"}},
      {"axis of zero",
       "friction: {ellipsoid_axis: [0, 0, 0]}",
       {"4:28: error: friction.ellipsoid_axis: must not be zero"}},
      {"pair of nothing",
       "friction: {pairs: [{between: [arm, arm]}]}",
       {"4:20: error: friction.pairs: give 'mu', 'ellipsoid', 'frictionless' or 'rolling'"}},
  };
  for (const BadScene& bad : cases) {
    expect_reports(bad, report_of(std::string(kStart) + bad.text + '\n'));
  }
}

TEST(SceneFileErrors, OfDirectivesNameThePlaceAndTheRightWord) {
  const BadScene cases[] = {
      {"missing model",
       "deft: 1\ndirectives:\n- add_model: {name: a, file: models/amr.sdf}",
       {"scene.yaml:3:30: error: model file 'models/amr.sdf' not found; tried models/amr.sdf"}},
      {"missing package",
       "deft: 1\ndirectives:\n- add_model: {name: a, file: 'package://nowhere/a.sdf'}",
       {"3:30: error: model file 'package://nowhere/a.sdf' not found; tried "}},
      {"missing directives",
       "model_directive: gone.yml\nrobots: [{name: arm, Kp: [1, 2]}]\ninitial: {ball: {position: [0, 0, 1]}}",
       {"1:18: error: model directives 'gone.yml' not found; tried gone.yml"}},
      {"broken model",
       "deft: 1\ndirectives:\n- add_model: {name: a, file: models/broken.sdf}\nrobots: [{name: a, Kp: 1}]",
       {"models/broken.sdf:"}},
      {"cycle",
       "deft: 1\nmodel_directive: loop_a.yml",
       {"loop_b.yml:2:26: error: add_directives forms a cycle: loop_a.yml → loop_b.yml → loop_a.yml"}},
      {"duplicate model",
       "directives:\n- add_model: {name: a, file: models/arm.sdf}\n- add_model: {name: a, file: models/ball.sdf}",
       {"3:21: error: duplicate model name 'a'"}},
      {"unknown directive",
       "directives:\n- add_modle: {name: a}",
       {"2:3: error: a directive has no key 'add_modle'; did you mean 'add_model'?"}},
      {"unknown key",
       "directives:\n- add_model: {nam: a, file: models/ball.sdf}",
       {"2:15: error: add_model has no key 'nam'; did you mean 'name'?"}},
      {"weld child",
       "directives:\n- add_model: {name: a, file: models/arm.sdf}\n- add_weld:\n    parent: world\n    child: a::bse",
       {"5:12: error: add_weld child 'a::bse' not found; did you mean 'a::base'?"}},
      {"weld parent",
       "directives:\n- add_model: {name: a, file: models/arm.sdf}\n- add_weld: {parent: wrld, child: 'a::base'}",
       {"3:22: error: add_weld parent 'wrld' not found; did you mean 'world'?"}},
      {"weld without child", "directives:\n- add_weld: {parent: world}", {"2:13: error: add_weld needs 'child'"}},
      {"ambiguous child",
       "directives:\n- add_model: {name: a, file: models/arm.sdf}\n- add_model: {name: b, file: models/arm.sdf}\n- "
       "add_weld: {parent: world, child: base}",
       {"4:36: error: add_weld child 'base' not found; several models have it: a::base, b::base"}},
      {"weld twice",
       "directives:\n- add_model: {name: a, file: models/arm.sdf}\n- add_weld: {parent: world, child: 'a::base'}\n- "
       "add_weld: {parent: world, child: 'a::base'}",
       {"4:13: error: add_weld child 'a::base' is already held"}},
      {"cyclic weld",
       "directives:\n- add_model: {name: a, file: models/arm.sdf}\n- add_model: {name: b, file: models/arm.sdf}\n- "
       "add_weld: {parent: 'b::link_1', child: 'a::base'}\n- add_weld: {parent: 'a::link_1', child: 'b::base'}",
       {"error: a kinematic loop"}},
      {"frame without base",
       "directives:\n- add_frame: {name: f, X_PF: {translation: [0, 0, 1]}}",
       {"2:30: error: add_frame: X_PF needs a base_frame"}},
      {"frame on nothing",
       "directives:\n- add_frame: {name: f, X_PF: {base_frame: wolrd}}",
       {"2:43: error: add_frame base_frame 'wolrd' not found; did you mean 'world'?"}},
      {"duplicate frame",
       "directives:\n- add_frame: {name: f, X_PF: {base_frame: world}}\n- add_frame: {name: f, X_PF: {base_frame: "
       "world}}",
       {"3:21: error: duplicate frame 'f'"}},
      {"bare rpy",
       "directives:\n- add_frame: {name: f, X_PF: {base_frame: world, rpy: [0, 0, 1]}}",
       {"2:50: error: X_PF has no key 'rpy'"}},
      {"default joint",
       "directives:\n- add_model: {name: a, file: models/arm.sdf, default_joint_positions: {joint_7: [1]}}",
       {"2:72: error: default_joint_positions of 'a' has no key 'joint_7'"}},
      {"default joint length",
       "directives:\n- add_model: {name: a, file: models/arm.sdf, default_joint_positions: {joint_0: [1, 2]}}",
       {"2:81: error: default position of 'joint_0': expected 1 numbers, got 2"}},
      {"moving base",
       "directives:\n- add_model: {name: a, file: models/arm.sdf}\n- add_model: {name: b, file: models/ball.sdf, "
       "default_free_body_pose: {ball_link: {base_frame: 'a::link_1'}}}",
       {"3:96: error: base_frame 'a::link_1' can move"}},
      {"group member",
       "directives:\n- add_model: {name: a, file: models/arm.sdf}\n- add_collision_filter_group: {name: g, members: "
       "['a::link_9']}",
       {"3:51: error: add_collision_filter_group member 'a::link_9' not found; did you mean 'a::link_0'?"}},
      {"not a scene", "hello: 1", {"scene.yaml:1:1: error: not a scene: expected 'deft: 1'"}},
      {"a list", "- 1", {"scene.yaml:1:1: error: scene: expected a map (key: value), got a list of 1"}},
      {"a newer version",
       "deft: 2",
       {"scene.yaml:1:7: error: deft: this program reads version 1 of scene files, got '2'"}},
      {"two documents", "deft: 1\n---\ndeft: 1", {"error: only one YAML document per file"}},
  };
  for (const BadScene& bad : cases) expect_reports(bad, report_of(std::string(bad.text) + '\n'));
}

TEST(SceneFileErrors, OfSettingsSaySo) {
  struct Case {
    const char* setting;
    const char* expected;
  };
  const Case cases[] = {{"step.h=abc", "--set step.h=abc: error: step.h: expected a number, got 'abc'"},
                        {"step.kapa=1", "--set step.kapa=1: error: step has no key 'kapa'; did you mean 'kappa'?"},
                        {"step.h", "--set step.h: error: expected key.path=VALUE"},
                        {"step.h=[1", "--set step.h=[1: error: YAML:"},
                        {"objects.7.frozen=true",
                         "--set objects.7.frozen=true: error: 'objects' is a list of 1; '7' is not an index of it"},
                        {"deft.x=1", "--set deft.x=1: error: 'deft' is a value, it has no 'x'"},
                        {"initial={ball: {position: [1, 2]}}",
                         "--set initial={ball: {position: [1, 2]}}: error: position: expected 3 numbers, got 2"}};
  for (const Case& c : cases) {
    SceneFileOptions options;
    options.settings = {c.setting};
    expect_reports({c.setting, "", {c.expected}}, report_of(kStart, options));
  }
}

TEST(SceneFileErrors, AreAllReportedAtOnce) {
  const std::string report =
      report_of(std::string(kStart) +
                "step: {h: -1}\ngravity: [1]\nrobots: [{name: x, Kp: 1}]\nconfigurations: {a: {arm: {j: 1}}}\n");
  for (const char* expected : {"4:11: error", "5:10: error", "6:17: error", "7:28: error"})
    EXPECT_NE(report.find(expected), report.npos) << report;
}

TEST(SceneFileErrors, OfMissingFilesNameEveryPathTried) {
  Diagnostics diagnostics;
  SceneFileOptions options;
  EXPECT_FALSE(read_scene_file("nowhere/scene.yaml", options, diagnostics).has_value());
  ASSERT_EQ(diagnostics.error_count(), 1);
  EXPECT_NE(diagnostics.all()[0].message.find("scene not found; tried " + std::filesystem::current_path().string() +
                                              "/nowhere/scene.yaml"),
            std::string::npos);

  Folder folder;
  folder.write("scene.yaml", "deft: 1\nmodel_directive: package://hands/hand.yml\n");
  options.package_paths = {folder.at("first"), folder.at("second")};
  std::string report;
  test::read(folder.at("scene.yaml"), options, report);
  EXPECT_NE(report.find(folder.at("first") + "/hands/hand.yml"), report.npos) << report;
  EXPECT_NE(report.find(folder.at("second") + "/hands/hand.yml"), report.npos) << report;
  EXPECT_NE(report.find(folder.at("hands/hand.yml")), report.npos) << report;
}

TEST(SceneFileErrors, InOverlaysNameTheOverlay) {
  Folder folder;
  const std::string scene = folder.write("scene.yaml", "deft: 1\nstep:\n  h: 0.1\n");
  SceneFileOptions options;
  options.overlays = {folder.write("over.yaml", "\nstep:\n    h: fast\n")};
  std::string report;
  test::read(scene, options, report);
  EXPECT_EQ(report, folder.at("over.yaml") + ":3:8: error: step.h: expected a number, got 'fast'\n");
}

TEST(SceneFileErrors, LoadSceneThrowsThemAll) {
  Folder folder;
  Diagnostics diagnostics;
  try {
    load_scene(folder.write("scene.yaml", "deft: 1\nstep: {h: -1}\ngravity: 3\n"), {}, diagnostics);
    FAIL() << "expected InputError";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().size(), 2u);
  }
}

}  // namespace scene_file_error_test
}  // namespace deft::io
