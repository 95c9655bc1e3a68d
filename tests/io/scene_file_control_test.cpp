// `control:` and robots driven by forces in scene files.

#include <gtest/gtest.h>

#include "deft/io/settings/settings_file.hpp"
#include "deft/scene/control_table.hpp"
#include "io/scene_file_support.hpp"

namespace deft::io {
namespace scene_file_control_test {

using Eigen::Vector2d;
using Eigen::VectorXd;
using test::Folder;

constexpr const char* kScene = R"(deft: 1
bodies:
  disc: {shape: {sphere: {radius: 0.6}}, mass: 1, joint: {translation: xy}, mu: 0.8}
  box: {shape: {box: {size: [1, 1, 1]}}, mass: 2, joint: {planar: xy}, mu: 0.8}
  ball: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: free, mu: 0.8, pose: {translation: [9, 9, 0]}}
robots: [{name: disc, drive: force}]
step: {h: 0.1, model: stewart-trinkle}
configurations:
  start: {disc: {x: -2, y: -4}, box: {x: 3, y: 0, theta: 0}}
  end: {disc: {x: 1, y: 2, velocity: [0.5, 0]}}
initial: start
)";

scene::Scene load(const std::string& control, const Folder& folder) {
  Diagnostics diagnostics;
  return load_scene(folder.write("scene.deft.yaml", kScene + control + "\n"), {}, diagnostics);
}

std::string error_of(const std::string& control) {
  const Folder folder;
  try {
    load(control, folder);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SceneFileControl, WeightsAndBoundsAreReadByName) {
  const Folder folder;
  const scene::Scene scene = load(R"(control:
  N: 7
  Q: {disc: {x: 1, y: 2, velocity: {y: 0.5}}, box: [3, 4, 5]}
  R: [[2, 1], [1, 2]]
  Qf: 9
  x_min: {disc: {velocity: -1}, ball: {z: 0, wx: -2, velocity: {vz: -3}}}
  x_max: {disc: {x: 5, y: .inf, velocity: [1, 2]}}
  x_price: {disc: {x: 100}}
  u_min: {disc: -1}
  u_max: [1, 2]
  gap: 1e-3
  time_limit_s: 0.5
  threads: 2
  contact_margin: 3
  fallback: hold
  goal: end)",
                                  folder);
  const scene::ControlSettings& settings = *scene.settings().control;
  EXPECT_EQ(settings.N, 7);
  EXPECT_EQ(settings.gap, 1e-3);
  EXPECT_EQ(settings.time_limit_s, 0.5);
  EXPECT_EQ(settings.threads, 2);
  EXPECT_EQ(settings.contact_margin, 3);
  EXPECT_EQ(settings.fallback, scene::Fallback::kHold);
  const scene::ControlTable& table = *scene.control();
  VectorXd Q = VectorXd::Zero(22);  // disc x y, box x y theta, ball wx wy wz x y z, then velocities
  Q.head(5) << 1, 2, 3, 4, 5;
  Q(12) = 0.5;
  EXPECT_EQ(table.Q, Eigen::MatrixXd(Q.asDiagonal()));
  EXPECT_EQ(table.R, (Eigen::Matrix2d() << 2, 1, 1, 2).finished());
  EXPECT_EQ(table.Qf, Eigen::MatrixXd(9 * Eigen::MatrixXd::Identity(22, 22)));
  VectorXd lower = VectorXd::Constant(22, -kInfinity);
  lower.segment(11, 2).setConstant(-1);
  lower(10) = 0;
  lower(5) = -2;
  lower(21) = -3;
  EXPECT_EQ(table.x_min, lower);
  EXPECT_EQ(table.x_max(0), 5);
  EXPECT_EQ(table.x_max(1), kInfinity);
  EXPECT_EQ(table.x_max.segment(11, 2), Vector2d(1, 2));
  EXPECT_EQ(table.x_price(0), 100);
  EXPECT_EQ(table.x_price.tail(21), VectorXd::Constant(21, kInfinity));
  EXPECT_EQ(table.u_min, Vector2d(-1, -1));
  EXPECT_EQ(table.u_max, Vector2d(1, 2));
  VectorXd q, v;
  table.reference(scene.model(), 3, 0.1, q, v);
  EXPECT_EQ(q.head(3), Eigen::Vector3d(1, 2, 3));  // the box is not named: where it starts
  EXPECT_EQ(v.head(2), Vector2d(0.5, 0));
}

TEST(SceneFileControl, PathsAreLinearBetweenKnotsWithTheirVelocity) {
  const Folder folder;
  const scene::Scene scene = load(
      "control: {Q: 1, R: 1, path: [{t: 1, disc: {x: 0, y: 1}}, {t: 3, disc: {x: 4}, box: {x: 5}}, {t: 4, disc: {y: "
      "2}}]}",
      folder);
  const scene::ControlTable& table = *scene.control();
  EXPECT_EQ(table.last_time(), 4);
  VectorXd q, v;
  const auto at = [&](double t) {
    table.reference(scene.model(), t, 0.1, q, v);
    return q;
  };
  EXPECT_EQ(at(0).head(2), Vector2d(0, 1));
  EXPECT_EQ(v.head(2), Vector2d(0, 0));
  EXPECT_LT((at(2).head(3) - Eigen::Vector3d(2, 1, 4)).norm(), 1e-14);
  EXPECT_LT((v.head(3) - Eigen::Vector3d(2, 0, 1)).norm(), 1e-13);
  EXPECT_LT((at(3.5).head(3) - Eigen::Vector3d(4, 1.5, 5)).norm(), 1e-14);  // what a knot does not name stays
  EXPECT_EQ(at(9).head(2), Vector2d(4, 2));
  EXPECT_EQ(v, VectorXd::Zero(11));
}

TEST(SceneFileControl, TheMergedTextReadsBack) {
  const Folder folder, elsewhere;
  const scene::SceneSpec spec = test::read_good(
      folder.write("scene.deft.yaml", std::string(kScene) + "control: {N: 3, Q: 1, R: 1, goal: end}\n"));
  test::expect_round_trip(spec, elsewhere);
  const scene::SceneSpec again = test::read_good(elsewhere.at("config.yaml"));
  ASSERT_TRUE(again.control.has_value());
  EXPECT_EQ(again.control->N, 3);
  EXPECT_EQ(again.robots[0].drive, scene::Drive::kForce);
}

TEST(SceneFileControl, WrongInputIsReportedWhereItStands) {
  const struct {
    const char* control;
    const char* message;
  } cases[] = {
      {"control: {R: 1, goal: end}", "control: needs 'Q'"},
      {"control: {Q: 1, goal: end}", "control: needs 'R'"},
      {"control: {Q: 1, R: 1}", "control: needs a 'goal', or a 'path'"},
      {"control: {Q: 1, R: 1, goal: end, path: [{t: 0}]}", "either 'goal' or 'path'"},
      {"control: {Q: 1, R: 1, goal: ende}", "control.goal: there is no configuration 'ende'; did you mean 'end'?"},
      {"control: {Q: 1, R: 1, goal: end, horizon: 3}", "'horizon'"},
      {"control: {Q: 1, R: 1, goal: end, N: 0}", "control.N"},
      {"control: {Q: 1, R: 1, goal: end, type: lqr}", "control.type"},
      {"control: {Q: -1, R: 1, goal: end}", "control.Q: must be >= 0"},
      {"control: {Q: [1, 2], R: 1, goal: end}", "control.Q: expected 22 numbers, the list has 2"},
      {"control: {Q: [[1, 2], [3, 4]], R: 1, goal: end}", "control.Q: expected 22 rows of 22 numbers, got 2 of 2"},
      {"control: {Q: 1, R: [[1, 2], [0, 1]], goal: end}", "control.R: must be symmetric"},
      {"control: {Q: {disk: 1}, R: 1, goal: end}", "control.Q: there is no model 'disk'; did you mean 'disc'?"},
      {"control: {Q: {disc: {z: 1}}, R: 1, goal: end}", "control.Q disc: there is no 'z'; valid: x, y"},
      {"control: {Q: 1, R: {box: 1}, goal: end}", "control.R: 'box' is not among the robots; valid: disc"},
      {"control: {Q: 1, R: 1, goal: end, x_min: 2, x_max: 1}", "x_min 2 is above x_max 1"},
      {"control: {Q: 1, R: 1, goal: end, time_limit_s: 0}", "control.time_limit_s: must be > 0 or inf"},
      {"control: {Q: 1, R: 1, goal: end, fallback: brake}", "control.fallback"},
      {"control: {Q: 1, R: 1, path: [{t: 1, disc: {x: 0}}, {t: 1, disc: {x: 1}}]}", "times must increase"},
      {"control: {Q: 1, R: 1, path: [{disc: {x: 0}}]}", "needs 't'"},
      {"control: {Q: 1, R: 1, path: []}", "at least one knot"},
  };
  for (const auto& [control, message] : cases)
    EXPECT_NE(error_of(control).find(message), std::string::npos) << control << "\n" << error_of(control);
}

TEST(SceneFileControl, DrivesAreWordsAndForcesHaveNoSprings) {
  const Folder folder;
  std::string report;
  std::string text = kScene;
  text.replace(text.find("drive: force"), 12, "drive: torque");
  test::read(folder.write("a.deft.yaml", text), {}, report);
  EXPECT_NE(report.find("drive of 'disc'"), std::string::npos) << report;
  EXPECT_NE(report.find("position, force"), std::string::npos) << report;
  text = kScene;
  text.replace(text.find("drive: force"), 12, "drive: force, stiffness: 3");
  Diagnostics diagnostics;
  EXPECT_THROW(load_scene(folder.write("b.deft.yaml", text), {}, diagnostics), InputError);
}

TEST(SceneFileControl, TheHelpNamesEverySetting) {
  const std::string help = control_settings_help();
  for (const char* key : {"N", "Q", "R", "Qf", "x_min", "x_max", "x_price", "u_min", "u_max", "goal", "path", "gap",
                          "time_limit_s", "threads", "contact_margin", "fallback"})
    EXPECT_NE(help.find(std::string("control.") + key + " "), std::string::npos) << key;
}

}  // namespace scene_file_control_test
}  // namespace deft::io
