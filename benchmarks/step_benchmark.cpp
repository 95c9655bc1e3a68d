// P2: the full step (kinematics, distances, assembly, solve) along a scene's own command, repeated, and the step with
// its derivatives; medians in µs.
//   step_benchmark [--repeat N] SCENE…

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/io/scene/scene_file.hpp"

namespace {

using namespace deft;

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  const std::size_t k = static_cast<std::size_t>(p * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(k), values.end());
  return values[k];
}

int steps_of(const scene::Scene& scene, double h) {
  return std::max(1, static_cast<int>(std::ceil(scene.last_knot_time() / h - 1e-9)));
}

/// One scene along its command.
struct Measurement {
  std::vector<double> step_us, solve_us, with_B_us, with_AB_us, contacts;
  double worst_residual = 0;
};

Measurement measure(const scene::Scene& scene, int repeat) {
  const auto model = dynamics::make_step_model(scene);
  dynamics::StepDifferentiator differentiator(scene);
  dynamics::StepDerivative derivative;
  const int steps = steps_of(scene, model->h());
  Measurement m;
  dynamics::StepResult result;
  Eigen::VectorXd u;
  const auto derivative_us = [&](const dynamics::State& state, bool configuration) {
    const Stopwatch watch;
    differentiator.linearize(*model, state, u, result, {.configuration = configuration});
    differentiator.jacobians(derivative);
    return watch.microseconds();
  };
  for (int r = 0; r < repeat; ++r) {
    model->reset();
    dynamics::State state{.q = scene.initial_configuration(), .v = scene.initial_velocity()};
    for (int k = 0; k < steps; ++k) {
      state.t = k * model->h();
      scene.command(state.t, model->h(), u);
      model->step(state, u, result);
      m.step_us.push_back(result.step_us);
      m.solve_us.push_back(result.solve_us);
      m.contacts.push_back(static_cast<double>(result.problem.contacts.size()));
      m.worst_residual = std::max(m.worst_residual, result.certificate.max_scaled());
      m.with_B_us.push_back(result.step_us + derivative_us(state, false));
      m.with_AB_us.push_back(result.step_us + derivative_us(state, true));
      state.q = result.q_next;
      state.v = result.v_next;
    }
  }
  return m;
}

void print(const scene::Scene& scene, const char* forces, const Measurement& m) {
  fmt::print("| {} | {} | {:.0f} | {} |", scene.spec().name, scene.nv(), percentile(m.contacts, 0.5), forces);
  for (const auto* times : {&m.step_us, &m.with_B_us, &m.with_AB_us, &m.solve_us})
    fmt::print(" {:.1f}, {:.1f} |", percentile(*times, 0.5), percentile(*times, 0.95));
  fmt::print(" {:.1e} |\n", m.worst_residual);
}

void measure_scene(const std::string& path, int repeat) {
  io::SceneFileOptions options;
  options.bundled_scenes = DEFT_SCENES_DIR;
  Diagnostics diagnostics;
  scene::SceneSpec spec = io::load_scene(path, options, diagnostics).description();
  for (const scene::Forces forces : {scene::Forces::kLeastNorm, scene::Forces::kAny}) {
    spec.step.forces = forces;
    const scene::Scene scene = scene::Scene::build(spec, diagnostics);
    print(scene, forces == scene::Forces::kAny ? "any" : "least norm", measure(scene, repeat));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = 20;
  std::vector<std::string> scenes;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--repeat") == 0 && i + 1 < argc) {
      repeat = std::max(1, std::atoi(argv[++i]));
    } else {
      scenes.emplace_back(argv[i]);
    }
  }
  if (scenes.empty()) {
    for (const char* name : {"allegro_ball", "planar_hand_ball", "pick_and_place"})
      scenes.push_back(std::string(DEFT_SCENES_DIR) + "/" + name + "/scene.deft.yaml");
  }
  fmt::print(
      "P2 full step [µs: p50, p95]\n| scene | velocities | contacts | forces | step | with B | with A and B | of the "
      "step, solving | "
      "worst residual |\n|---|---|---|---|---|---|---|---|---|\n");
  try {
    for (const std::string& scene : scenes) measure_scene(scene, repeat);
  } catch (const deft::InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
