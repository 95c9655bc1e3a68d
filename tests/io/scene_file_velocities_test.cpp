// Limit surfaces, admittances and velocity commands in scene files.

#include <gtest/gtest.h>

#include "io/scene_file_support.hpp"

namespace deft::io {
namespace scene_file_velocities_test {

using test::Folder;

constexpr const char* kScene = R"(deft: 1
bodies:
  peg: {shape: {box: {size: [2, 6, 0.1]}}, joint: {planar: xy}, mu: 1, limit_surface: [1, 2, 3]}
  plate: {shape: {box: {size: [1, 1, 0.1]}}, joint: {planar: xy}, mu: 1}
  tip: {shape: {sphere: {radius: 0}}, joint: {translation: xy}, mu: 1}
  hand: {shape: {sphere: {radius: 0.1}}, joint: {planar: xy}, mu: 1}
robots: [{name: tip, admittance: [1, 2]}, {name: hand, admittance: 0.5}]
objects: [{name: plate, limit_surface: {support: {rectangle: [1, 0.5]}, pressure: uniform, mu: 0.3, force: 4}}]
step: {h: 0.05, model: limit-surface, gain: 0.01, form: velocity, relinearize: true}
configurations: {start: {peg: [5, 0, 0.5], plate: [-5, 0, 0], tip: [1, 2], hand: [0, 4, 0]}}
initial: start
)";

scene::Scene load(const std::string& text, const Folder& folder) {
  Diagnostics diagnostics;
  return load_scene(folder.write("scene.deft.yaml", text), {}, diagnostics);
}

std::string error_of(const std::string& text) {
  const Folder folder;
  try {
    load(text, folder);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SceneFileVelocities, LimitSurfacesAndAdmittancesAreRead) {
  const Folder folder, elsewhere;
  const scene::Scene scene = load(kScene, folder);
  ASSERT_EQ(scene.objects().size(), 2u);
  EXPECT_EQ(scene.objects()[0].limit_surface->ellipsoid.diagonal(), Eigen::Vector3d(1, 2, 3));
  const auto& support = scene.objects()[1].limit_surface->support;
  ASSERT_TRUE(support);
  EXPECT_EQ(support->polygon.size(), 4u);
  EXPECT_EQ(support->polygon[2], Eigen::Vector2d(0.5, 0.25));
  EXPECT_EQ(support->mu, 0.3);
  EXPECT_EQ(support->force_N, 4);
  EXPECT_EQ(scene.robots()[0].admittance, Eigen::Vector2d(1, 2));
  EXPECT_EQ(scene.robots()[1].admittance, Eigen::Vector3d::Constant(0.5));
  EXPECT_EQ(scene.settings().step.form, scene::LimitSurfaceForm::kVelocity);
  EXPECT_EQ(scene.settings().step.relinearize, scene::StepSettings::kUntilSettled);
  test::expect_round_trip(scene.description(), elsewhere);
}

TEST(SceneFileVelocities, AMatrixMustBeSymmetricAndPositiveDefinite) {
  const auto with = [](const std::string& matrix) {
    std::string text = kScene;
    return text.replace(text.find("[1, 2, 3]}"), 9, matrix);
  };
  const Folder folder;
  EXPECT_EQ(load(with("[[2, 0.5, 0], [0.5, 1, 0], [0, 0, 3]]"), folder).objects()[0].limit_surface->ellipsoid(0, 1),
            0.5);
  EXPECT_NE(error_of(with("[[2, 0.5, 0], [0, 1, 0], [0, 0, 3]]")).find("must be symmetric"), std::string::npos);
  EXPECT_NE(error_of(with("[[1, 2, 0], [2, 1, 0], [0, 0, 3]]")).find("positive definite"), std::string::npos);
  EXPECT_NE(error_of(with("{support: {square: 1, disc: 2}}")).find("give one of square"), std::string::npos);
  EXPECT_NE(error_of(with("{pressure: uniform}")).find("'support'"), std::string::npos);
}

TEST(SceneFileVelocities, KnotsAndFormulasGiveVelocities) {
  const Folder folder;
  Eigen::VectorXd u(5);
  const scene::Scene knots = load(std::string(kScene) +
                                      "commands: {type: velocity, interpolation: hold, until: 7, knots: [{t: 1, tip: "
                                      "[1, -1]}, {t: 2, hand: {theta: 3}}]}\n",
                                  folder);
  EXPECT_TRUE(knots.velocity_commands());
  EXPECT_EQ(knots.last_knot_time(), 7);
  knots.command(3, 0.1, u);
  EXPECT_EQ(u, (Eigen::Matrix<double, 5, 1>(1, -1, 0, 0, 3)));
  const scene::Scene formulas = load(
      std::string(kScene) + "commands: {type: velocity, formulas: {tip: [2*t, 1], hand: {theta: cos(t)}}}\n", folder);
  formulas.command(3, 0.1, u);
  EXPECT_EQ(u, (Eigen::Matrix<double, 5, 1>(6, 1, 0, 0, std::cos(3.0))));
}

TEST(SceneFileVelocities, ServosDriveTowardsPosesAndJoints) {
  const Folder folder;
  const scene::Scene scene = load(std::string(kScene) + R"(commands:
  type: velocity
  servo:
    gain: 2
    phases:
      - {until: 1, base: peg, targets: {tip: [1, 0], hand: {place: [0, 2, 0.25], gain: [1, 1, 3]}}}
      - {until: 2, base: [1, 1, 0], targets: {tip: [0, 0]}}
      - {targets: {hand: [0, 5, 1]}}
)",
                                  folder);
  EXPECT_EQ(scene.last_knot_time(), 2);
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  Eigen::VectorXd u(5);
  scene.command(1.0, 0.05, state, u);  // `until` is inclusive
  const double c = std::cos(0.5), s = std::sin(0.5);
  EXPECT_NEAR(u(0), 2 * (5 + c - 1), 1e-14);
  EXPECT_NEAR(u(1), 2 * (s - 2), 1e-14);
  EXPECT_NEAR(u(2), 2 * (5 - 2 * s), 1e-14);
  EXPECT_NEAR(u(3), 2 * (2 * c - 4), 1e-14);
  EXPECT_NEAR(u(4), 6 * 0.75, 1e-14);
  scene.command(1.05, 0.05, state, u);
  EXPECT_EQ(u, (Eigen::Matrix<double, 5, 1>(0, -2, 0, 0, 0)));
  scene.command(9, 0.05, state, u);
  EXPECT_EQ(u, (Eigen::Matrix<double, 5, 1>(0, 0, 0, 2, 2)));
}

TEST(SceneFileVelocities, WrongCommandsAreNamed) {
  const struct {
    const char* commands;
    const char* message;
  } cases[] = {{"{knots: [{t: 0, tip: [1, 1]}]}", "takes velocities; say type: velocity"},
               {"{formulas: {tip: [1, 1]}}", "say commands.type: velocity"},
               {"{type: velocity, formulas: {tip: [sine(t), 1]}}", "expected one of t, pi, sin"},
               {"{type: velocity, formulas: {tap: [1, 1]}}", "there is no robot 'tap'; did you mean 'tip'?"},
               {"{type: velocity, formulas: {tip: [1]}}", "2 expected (one per joint)"},
               {"{type: velocity, servo: {phases: [{base: pag, targets: {tip: [0, 0]}}]}}",
                "there is no model 'pag'; did you mean 'peg'?"},
               {"{type: velocity, servo: {phases: [{base: peg, targets: {tip: [0, 0, 0]}}]}}",
                "the target of 'tip' needs 2 numbers"},
               {"{type: velocity, servo: {phases: [{until: 2, base: peg}, {until: 1, base: peg}]}}",
                "phases must end one after the other"}};
  for (const auto& c : cases) {
    const std::string message = error_of(std::string(kScene) + "commands: " + c.commands + "\n");
    EXPECT_NE(message.find(c.message), std::string::npos) << c.commands << "\n" << message;
  }
}

}  // namespace scene_file_velocities_test
}  // namespace deft::io
