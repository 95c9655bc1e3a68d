// P9: steps of a scene without commands, in two stretches: a first (falling) and, after more steps, a last one
// (settled).
//   pile_benchmark SCENE FIRST BETWEEN LAST REST [KEY=VALUE…]    numbers of steps, settings of the scene; one JSON
//   object on standard output: the stretches, q at the end of the last one and how far each coordinate went from where
//   it began, and the time at which all velocities fell below 1e-8 m/s, rad/s: null if not within REST steps more.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/io/scene/scene_file.hpp"

namespace {

using deft::dynamics::State;
using deft::dynamics::StepModel;
using deft::dynamics::StepResult;

constexpr double kAtRest = 1e-8;  // [m/s, rad/s]

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  const std::size_t k = static_cast<std::size_t>(p * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(k), values.end());
  return values[k];
}

/// What a stretch of steps did.
struct Stretch {
  std::vector<double> step_ms, solve_ms, contacts, loaded, iterations;
  double worst_residual = 0, deepest = 0;
  double largest_speed = 0, last_speed = 0;  // of any velocity coordinate, δ/h [rad/s, m/s]
  int failed = 0;

  void add(const StepResult& result, double h) {
    step_ms.push_back(result.step_us / 1000);
    solve_ms.push_back(result.solve_us / 1000);
    contacts.push_back(static_cast<double>(result.problem.contacts.size()));
    loaded.push_back(static_cast<double>(std::count_if(result.solution.force.begin(), result.solution.force.end(),
                                                       [](const auto& force) { return force[0] > 0; })));
    iterations.push_back(result.iterations);
    worst_residual = std::max(worst_residual, result.certificate.max_scaled());
    last_speed = result.delta.lpNorm<Eigen::Infinity>() / h;
    largest_speed = std::max(largest_speed, last_speed);
    for (const auto& contact : result.problem.contacts) deepest = std::max(deepest, -contact.gap);
    failed += !deft::solvers::usable(result.status);
  }

  std::string json() const {
    return fmt::format(
        R"({{"steps": {}, "step_ms": {:.4f}, "step_ms_p95": {:.4f}, "total_ms": {:.4f}, "solve_ms": {:.4f}, "contacts": {}, "loaded": {}, "iterations": {}, "iterations_max": {}, "residual": {:.3e}, "largest_speed": {:.3e}, "deepest_m": {:.3e}, "failed": {}}})",
        step_ms.size(), percentile(step_ms, 0.5), percentile(step_ms, 0.95),
        std::accumulate(step_ms.begin(), step_ms.end(), 0.0), percentile(solve_ms, 0.5), percentile(contacts, 0.5),
        percentile(loaded, 0.5), percentile(iterations, 0.5), percentile(iterations, 1.0), worst_residual,
        largest_speed, deepest, failed);
  }
};

Stretch run(StepModel& model, State& state, int steps, Eigen::ArrayXd& drift) {
  const Eigen::ArrayXd start = state.q.array();
  drift.setZero(start.size());
  Stretch stretch;
  StepResult result;
  Eigen::VectorXd u;
  for (int k = 0; k < steps; ++k) {
    model.scene().command(state.t, model.h(), u);
    model.step(state, u, result);
    stretch.add(result, model.h());
    if (std::getenv("DEFT_BENCH_STEPS"))
      fmt::print(stderr,
                 "{:.3f}: {} contacts, {} iterations, {:.1f} ms, solve {:.1f}, residual {:.1e}, speed {:.1e}, {}\n",
                 state.t, result.problem.contacts.size(), result.iterations, result.step_us / 1000,
                 result.solve_us / 1000, result.certificate.max_scaled(),
                 result.delta.lpNorm<Eigen::Infinity>() / model.h(), deft::solvers::to_string(result.status));
    state.q = result.q_next;
    state.v = result.v_next;
    state.t += model.h();
    drift = drift.max((state.q.array() - start).abs());
  }
  return stretch;
}

/// Steps on until the bodies rest. @returns the time [s], or "null" where `most` steps were not enough.
std::string time_of_rest(StepModel& model, State& state, double speed, int most) {
  Eigen::ArrayXd drift;
  for (int k = 0; k < most && !(speed < kAtRest); ++k) speed = run(model, state, 1, drift).last_speed;
  return speed < kAtRest ? fmt::format("{:.2f}", state.t) : "null";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: pile_benchmark SCENE FIRST BETWEEN LAST REST [KEY=VALUE…]\n");
    return 2;
  }
  try {
    deft::io::SceneFileOptions options;
    options.settings.assign(argv + 6, argv + argc);
    options.bundled_scenes = DEFT_SCENES_DIR;
    deft::Diagnostics diagnostics;
    Eigen::ArrayXd drift;
    const deft::scene::Scene scene = deft::io::load_scene(argv[1], options, diagnostics);
    const auto model = deft::dynamics::make_step_model(scene);
    State state{.q = scene.initial_configuration(), .v = scene.initial_velocity()};
    const Stretch first = run(*model, state, std::atoi(argv[2]), drift);
    const Stretch between = run(*model, state, std::atoi(argv[3]), drift);
    const Stretch last = run(*model, state, std::atoi(argv[4]), drift);
    fmt::print("{{\"falling\": {}, \"between\": {}, \"settled\": {}, \"q\": [{:.17g}], \"drift\": [{:.3e}], ",
               first.json(), between.json(), last.json(), fmt::join(state.q, ", "), fmt::join(drift, ", "));
    fmt::print("\"rest_s\": {}}}\n", time_of_rest(*model, state, last.last_speed, std::atoi(argv[5])));
  } catch (const deft::InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
