// A fingertip on springs pushes a box along the ground: load a scene, step it, take a derivative.

#include <cstdio>
#include <string>

#include "deft/core/resources.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/io/scene/scene_file.hpp"

constexpr const char* kScene = R"(
deft: 1
name: push
bodies:
  ground: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.5}
  box:    {shape: {box: {size: [0.1, 0.1, 0.1]}}, mass: 0.5, joint: free, mu: 0.5}
  tip:    {shape: {sphere: {radius: 0.02}}, joint: {translation: xyz}, mu: 0.5}
robots:  [{name: tip, stiffness: 500}]
objects: [{name: box}]
step: {h: 0.1}
configurations:
  start: {tip: [-0.1, 0, 0.05], box: {position: [0, 0, 0.05], quat_wxyz: [1, 0, 0, 0]}}
initial: start
)";

int main() {
  deft::io::SceneFileOptions options;
  options.bundled_scenes = deft::resource("scenes");
  options.texts["push.deft.yaml"] = kScene;  // instead of what a file of this name holds
  deft::Diagnostics warnings;
  const deft::scene::Scene scene = deft::io::load_scene("push.deft.yaml", options, warnings);
  const auto model = deft::dynamics::make_step_model(scene);

  deft::dynamics::State state{.q = scene.initial_configuration()};
  Eigen::VectorXd u(scene.nu());
  scene.command(0, model->h(), u);
  deft::dynamics::StepResult step;
  for (int k = 0; k < 20; ++k) {  // two seconds
    u(0) += 0.0075;               // the target of the tip's spring [m]
    model->step(state, u, step);
    state.q = step.q_next;
  }
  std::printf("the box has moved %.3f m, status %s\n", state.q(4), std::string(deft::solvers::to_string(step.status)).c_str());

  model->step(state, u, step);
  deft::dynamics::StepDerivative derivative;
  model->differentiate(state, u, step, {}, derivative);
  std::printf("a target 1 mm further moves it %.2f mm more\n", derivative.B(3, 0));
}
