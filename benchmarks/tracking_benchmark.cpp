// P6: how long a period of the tracking controller takes on one core, over whole disturbed runs.
//   tracking_benchmark [--runs N] [--repeat N] [SCENE…]
// A run is the same every time, so that a period's time is the least of its repetitions: what other programs take from
// the core is not the controller's. The column "raw" is p99 of all repetitions as they are.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "deft/control/tracking_loop.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/planning/planner.hpp"
#include "deft/plant/plant.hpp"

namespace {

using namespace deft;

/// A scene, its goal, and the settings under which a bar is stated.
struct Task {
  std::string name, scene, goal;
  int horizon;
  double bar_hz;
  scene::TrackLinearization linearization;
};

std::vector<Task> tasks() {
  using scene::TrackLinearization;
  return {{"hand + ball", "allegro_ball", "sixth", 10, 200, TrackLinearization::kMeasured},
          {"hand + ball", "allegro_ball", "sixth", 1, 1000, TrackLinearization::kMeasured},
          {"hand + ball", "allegro_ball", "sixth", 10, 200, TrackLinearization::kReference},
          {"hand + ball", "allegro_ball", "sixth", 1, 1000, TrackLinearization::kReference},
          {"pushing", "planar_pushing", "down", 20, 500, TrackLinearization::kMeasured},
          {"pushing", "planar_pushing", "down", 20, 500, TrackLinearization::kReference}};
}

/// Shares of the times that are below tenths of the bar [µs], and above it.
std::string distribution(const std::vector<double>& times, double bar) {
  constexpr int kBins = 10;
  std::vector<int> count(kBins + 1, 0);
  for (const double us : times) ++count[std::min(double(kBins), us / bar * kBins)];
  std::string text;
  for (const int n : count) text += fmt::format("{:6.1f}", 100.0 * n / double(times.size()));
  return text;
}

double percentile(std::vector<double>& values, double p) {
  const auto rank = static_cast<std::size_t>(p * double(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

/// One row of the table. @returns the distribution in words.
std::string measure(const Task& task, int runs, int repeat) {
  Diagnostics diagnostics;
  io::SceneFileOptions options;
  options.bundled_scenes = DEFT_SCENES_DIR;
  scene::SceneSpec spec =
      *io::read_scene_file(fmt::format("{}/planning/{}.deft.yaml", DEFT_SCENES_DIR, task.scene), options, diagnostics);
  spec.track.horizon = task.horizon;
  spec.track.linearization = task.linearization;
  spec.track.replan = false;
  spec.plan.first = true;
  const scene::Scene scene = scene::Scene::build(std::move(spec), diagnostics);
  const auto& goals = scene.spec().goals;
  const auto goal = std::find_if(goals.begin(), goals.end(), [&](const auto& g) { return g.target.name == task.goal; });
  const planning::Plan plan = planning::make_plan(scene, *goal, {.seed = 1}).plan;
  const control::TrackedPlan tracked{plan.h, plan.q, plan.commands, plan.u_start};

  std::vector<double> times, raw;
  int held = 0, periods = 0;
  for (int k = 0; k < runs; ++k) {
    const plant::Disturbance disturbance = plant::draw_disturbance(
        {.offset_m = 0.003, .friction = 0.2, .mass = 0.2, .noise_m = 0.001, .noise_rad = 0.0175, .delay_s = 0.05},
        static_cast<std::uint64_t>(k));
    const scene::Scene world = scene::Scene::build(plant::disturbed(scene, disturbance), diagnostics);
    const auto plant =
        plant::make_plant(plant::PlantKind::kQuasidynamic, world, {.step = scene.settings().track.period});
    const Eigen::VectorXd q = plant::disturbed_start(world, plan.q.front(), disturbance).value();
    control::TrackOptions track{.controller = control::Controller::kMpc, .disturbance = disturbance};
    track.record_contacts = false;
    const std::size_t first = times.size();
    for (int repetition = 0; repetition < repeat; ++repetition) {
      dynamics::Trajectory motion = control::start_tracking(*plant, control::ReferencePath(scene, tracked), q);
      const control::TrackEnd end = control::track(*plant, scene, tracked, q, track, motion);
      if (repetition == 0) {
        held += end.holds;
        periods += static_cast<int>(motion.tracks.size());
      }
      for (std::size_t i = 0; i < motion.tracks.size(); ++i) {
        const double us = motion.tracks[i].period_us;
        raw.push_back(us);
        if (repetition == 0) times.push_back(us);
        times.at(first + i) = std::min(times.at(first + i), us);
      }
    }
  }
  const double p99 = percentile(times, 0.99);
  fmt::print("| {} | {} | {} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {} of {} |\n",
             task.name, task.horizon, to_string(task.linearization), percentile(times, 0.5), percentile(times, 0.9),
             p99, percentile(times, 0.999), percentile(times, 1), percentile(raw, 0.99), 1e6 / p99, task.bar_hz, held,
             periods);
  std::fflush(stdout);
  return fmt::format("{}, N = {}, {}: {}", task.name, task.horizon, to_string(task.linearization),
                     distribution(times, 1e6 / task.bar_hz));
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 10, repeat = 5;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--runs" && i + 1 < argc)
      runs = std::max(1, std::atoi(argv[++i]));
    else if (word == "--repeat" && i + 1 < argc)
      repeat = std::max(1, std::atoi(argv[++i]));
    else
      names.push_back(word);
  }
  fmt::print(
      "P6: a period of the tracking controller on one core, {} disturbed runs each, the least of {} repetitions [µs]; "
      "rate at p99 [Hz]\n",
      runs, repeat);
  fmt::print(
      "| task | horizon | linearised | p50 | p90 | p99 | p99.9 | max | raw | rate | bar | held |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  std::vector<std::string> distributions;
  for (const Task& task : tasks())
    if (names.empty() || std::find(names.begin(), names.end(), task.scene) != names.end())
      distributions.push_back(measure(task, runs, repeat));
  fmt::print("Shares of the periods [%] by tenths of the bar's time; the last column: longer than it\n");
  for (const std::string& line : distributions) fmt::print("{}\n", line);
}
