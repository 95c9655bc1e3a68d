// P2: the full step (kinematics, distances, assembly, solve) along a scene's own command, repeated; medians in µs.
//   step_benchmark [--repeat N] SCENE…

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "deft/dynamics/step_model.hpp"
#include "deft/io/scene_file.hpp"

namespace {

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  const std::size_t k = static_cast<std::size_t>(p * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(k), values.end());
  return values[k];
}

int steps_of(const deft::scene::Scene& scene, double h) {
  return std::max(1, static_cast<int>(std::ceil(scene.last_knot_time() / h - 1e-9)));
}

void measure(const std::string& path, int repeat) {
  deft::io::SceneFileOptions options;
  options.bundled_scenes = DEFT_SCENES_DIR;
  deft::Diagnostics diagnostics;
  const deft::scene::Scene scene = deft::io::load_scene(path, options, diagnostics);
  const auto model = deft::dynamics::make_step_model(scene);
  const int steps = steps_of(scene, model->h());
  std::vector<double> step_us, solve_us, contacts;
  double worst = 0;
  deft::dynamics::StepResult result;
  Eigen::VectorXd u;
  for (int r = 0; r < repeat; ++r) {
    model->reset();
    deft::dynamics::State state{.q = scene.initial_configuration(), .v = scene.initial_velocity()};
    for (int k = 0; k < steps; ++k) {
      state.t = k * model->h();
      scene.command(state.t, model->h(), u);
      model->step(state, u, result);
      state.q = result.q_next;
      state.v = result.v_next;
      step_us.push_back(result.step_us);
      solve_us.push_back(result.solve_us);
      contacts.push_back(static_cast<double>(result.problem.contacts.size()));
      worst = std::max(worst, result.certificate.max_scaled());
    }
  }
  fmt::print("| {} | {} | {:.0f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1e} |\n", scene.spec().name, scene.nv(),
             percentile(contacts, 0.5), percentile(step_us, 0.5), percentile(step_us, 0.95), percentile(solve_us, 0.5),
             percentile(solve_us, 0.95), worst);
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
      "P2 full step [µs]\n| scene | velocities | contacts p50 | step p50 | step p95 | solve p50 | solve p95 | worst "
      "residual |\n|---|---|---|---|---|---|---|---|\n");
  try {
    for (const std::string& scene : scenes) measure(scene, repeat);
  } catch (const deft::InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
