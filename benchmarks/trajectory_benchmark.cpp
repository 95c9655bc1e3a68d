// P5: trajectory optimisation over twenty steps at the published settings; cost after every iteration, and time.
//   trajectory_benchmark [--iterations N] [--repeat N] [--threads N] [--gradient analytic|first|zero|exact] [NAME…]

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/io/scene_file.hpp"
#include "deft/planning/fingers.hpp"
#include "deft/planning/planning_steps.hpp"
#include "deft/planning/trajectory_optimizer.hpp"

namespace {

using namespace deft;
using Eigen::VectorXd;

/// A task at its published settings. Weights are those of the squared coordinate errors; the published examples weigh
/// quaternions, of which a turn by θ changes ‖·‖² by θ²/4: a quarter of their weight stands here.
struct Task {
  std::string name, scene;
  double h;
  VectorXd object_weight;  // per velocity of the object
  double robot_weight, command_weight, offset;
  double kappa_first, kappa_last;
  VectorXd move;                 // of the object from start to goal: a displacement
  std::vector<double> joints{};  // where the robot starts, if elsewhere than in the scene
};

VectorXd vector(std::initializer_list<double> values) {
  VectorXd v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
}

std::vector<Task> tasks() {
  constexpr double pi = std::numbers::pi;
  return {{"PlanarPushing",
           "planar_pushing",
           0.1,
           vector({20, 20, 30}),
           1e-3,
           10,
           0.2,
           100,
           2000,
           vector({0.5, 0.5, -pi / 4}),
           {0, -0.1}},
          {"PlanarHand", "planar_hand", 0.1, vector({10, 10, 10}), 1e-3, 10, 0.2, 500, 1000, vector({-0.3, 0, 0.5})},
          {"AllegroHand", "allegro_ball", 0.1, vector({2.5, 2.5, 2.5, 10, 10, 10}), 0.01, 10, 0.1, 100, 2000,
           vector({0, 0, pi / 4, 0, -0.01, 0})}};
}

struct Arguments {
  int iterations = 20, repeat = 5, threads = 0;
  planning::GradientKind gradient = planning::GradientKind::kAnalytic;
  std::vector<std::string> names;
};

planning::TrajectoryProblem problem_of(const Task& task, const scene::Scene& scene) {
  planning::TrajectoryProblem problem;
  problem.q_start = scene.initial_configuration();
  if (!task.joints.empty())
    planning::set_joint_positions(scene, Eigen::Map<const VectorXd>(task.joints.data(), scene.nu()), problem.q_start);
  problem.u_before = planning::joint_positions(scene, problem.q_start);
  problem.steps = 20;
  const scene::Object& object = scene.objects().front();
  VectorXd move = VectorXd::Zero(scene.nv()), goal;
  move.segment(object.first_v, object.nv) = task.move;
  scene.model().integrate(problem.q_start, move, goal);
  problem.q_desired = {goal};
  problem.state_weight.setConstant(scene.nv(), task.robot_weight);
  problem.state_weight.segment(object.first_v, object.nv) = task.object_weight;
  problem.final_weight = problem.state_weight;
  problem.final_weight.segment(object.first_v, object.nv) *= 100;
  problem.command_weight.setConstant(scene.nu(), task.command_weight);
  problem.limits.offset.setConstant(scene.nu(), task.offset);
  return problem;
}

void run(const Task& task, const Arguments& arguments) {
  Diagnostics diagnostics;
  const std::string folder = std::string(DEFT_SCENES_DIR);
  const scene::Scene scene = planning::planning_scene(io::load_scene(
      folder + "/planning/" + task.scene + ".deft.yaml",
      {.overlays = {}, .settings = {fmt::format("step.h={}", task.h)}, .package_paths = {}, .bundled_scenes = folder},
      diagnostics));
  const planning::TrajectoryProblem problem = problem_of(task, scene);
  planning::TrajectoryOptions options;
  options.iterations = arguments.iterations;
  options.kappa_first = task.kappa_first;
  options.kappa_last = task.kappa_last;
  options.threads = arguments.threads;
  options.gradient.kind = arguments.gradient;
  options.gradient.use_A =
      arguments.gradient == planning::GradientKind::kAnalytic || arguments.gradient == planning::GradientKind::kExact;
  options.gradient.sigma_u = 0.2;
  planning::TrajectoryOptimizer optimizer(scene);
  planning::TrajectoryResult result;
  std::vector<double> times_ms;
  for (int k = 0; k < arguments.repeat; ++k) {
    const Stopwatch watch;
    result = optimizer.optimize(problem, options);
    times_ms.push_back(1e-3 * watch.microseconds());
  }
  std::sort(times_ms.begin(), times_ms.end());
  const VectorXd error = scene.model().difference(result.q.back(), problem.q_desired.front());
  const scene::Object& object = scene.objects().front();
  fmt::print(
      "{}: {}, cost {:.4g} from {:.4g}, {} iterations, {:.1f} ms (least of {}; largest {:.1f}), {} steps solved\n",
      task.name, planning::name(result.status), result.cost, result.history.front().cost, result.history.size() - 1,
      times_ms.front(), times_ms.size(), times_ms.back(), result.solves);
  fmt::print("  error of the object at the end:");
  for (const double e : error.segment(object.first_v, object.nv)) fmt::print(" {:.4f}", e);
  fmt::print("\n  cost (share of the step; iterations of the program):");
  for (const auto& row : result.history) fmt::print(" {:.4g} ({:.2g}; {})", row.cost, row.step, row.program_iterations);
  fmt::print("\n");
  std::fflush(stdout);
}

planning::GradientKind gradient_of(const std::string& word) {
  using enum planning::GradientKind;
  if (word == "analytic") return kAnalytic;
  if (word == "first") return kBundledFirst;
  if (word == "zero") return kBundledZero;
  if (word == "exact") return kExact;
  throw InputError({}, fmt::format("--gradient {}: valid: analytic, first, zero, exact", word));
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
      if (word == "--iterations")
        arguments.iterations = std::atoi(value().c_str());
      else if (word == "--repeat")
        arguments.repeat = std::max(1, std::atoi(value().c_str()));
      else if (word == "--threads")
        arguments.threads = std::atoi(value().c_str());
      else if (word == "--gradient")
        arguments.gradient = gradient_of(value());
      else
        arguments.names.push_back(word);
    }
    for (const Task& task : tasks()) {
      if (arguments.names.empty() || std::count(arguments.names.begin(), arguments.names.end(), task.name) > 0)
        run(task, arguments);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
