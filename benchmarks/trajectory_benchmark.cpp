// P5: trajectory optimisation over twenty steps at the published settings, beside the baseline iMPC (Pang et al. 2023)
// and its published figures.
//   trajectory_benchmark [--iterations N] [--repeat N] [--threads N] [--gradient analytic|first|zero|exact] [-v]
//   [NAME…]

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/trajectory/trajectory_optimizer.hpp"
#include "peers/baseline_impc.hpp"

namespace {

using namespace deft;
using Eigen::VectorXd;

/// A task at the settings of the published examples, and what the paper's Table II reports of it.
struct Task {
  std::string name, scene;
  double h;
  VectorXd object_weight;  // per velocity of the object; rotations: a quarter of that of the quaternion's numbers,
                           // because a turn by θ changes ‖·‖² of a quaternion by θ²/4
  double robot_weight, command_weight, offset;
  double kappa_first, kappa_last;
  VectorXd move;  // of the object from start to goal: a displacement
  struct Published { double cost, seconds; };
  std::array<Published, 4> table;  // Table II: smoothed by a barrier, by samples of first and of zero order, exact
  std::vector<double> joints{};    // where the robot starts, if elsewhere than in the scene
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
           {{{11.74, 2.17}, {11.73, 4.64}, {12.86, 4.61}, {31.64, 1.88}}},
           {0, -0.1}},
          {"PlanarHand",
           "planar_hand",
           0.1,
           vector({10, 10, 10}),
           1e-3,
           10,
           0.2,
           500,
           1000,
           vector({-0.3, 0, 0.5}),
           {{{26.55, 5.20}, {17.87, 23.09}, {18.29, 11.93}, {18.49, 5.91}}}},
          {"AllegroHand",
           "allegro_ball",
           0.1,
           vector({2.5, 2.5, 2.5, 10, 10, 10}),
           0.01,
           10,
           0.1,
           100,
           2000,
           vector({0, 0, pi / 4, 0, -0.01, 0}),
           {{{5.78, 19.59}, {8.42, 40.07}, {28.21, 34.05}, {44.68, 12.92}}}}};
}

struct Arguments {
  int iterations = 20, repeat = 5, threads = 0;
  planning::GradientKind gradient = planning::GradientKind::kAnalytic;
  bool verbose = false, json = false;
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

/// The same task in coordinates, for the baseline.
peers::BaselineProblem baseline_problem_of(const Task& task, const scene::Scene& scene,
                                           const planning::TrajectoryProblem& problem, int iterations) {
  peers::BaselineProblem out;
  out.q_start = problem.q_start;
  out.q_desired = problem.q_desired.front();
  const auto in_coordinates = [&](const VectorXd& weight) {
    VectorXd w = VectorXd::Zero(scene.nq());
    for (int v = 0; v < scene.nv(); ++v) {
      const int at = scene.model().velocities()[v].q_index;
      if (at >= 0) w(at) = weight(v);
    }
    // A free body's quaternion comes first in q and in v.
    const scene::Object& object = scene.objects().front();
    if (object.nq == 7) w.segment<4>(object.first_q).setConstant(4 * weight(object.first_v));
    return w;
  };
  out.weight = in_coordinates(problem.state_weight);
  out.final_weight = in_coordinates(problem.final_weight);
  out.command_weight = problem.command_weight;
  out.offset = problem.limits.offset;
  out.steps = problem.steps;
  out.iterations = iterations;
  out.kappa_first = task.kappa_first;
  out.kappa_last = task.kappa_last;
  return out;
}

void print_end(const scene::Scene& scene, const VectorXd& q, const VectorXd& q_desired) {
  const scene::Object& object = scene.objects().front();
  const VectorXd error = scene.model().difference(q, q_desired);
  fmt::print("  error of the object at the end:");
  for (int i = 0; i < object.nv; ++i) fmt::print(" {:.4f}", error(object.first_v + i));
  fmt::print("\n");
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

  const Task::Published& published = task.table[to_size(arguments.gradient)];
  const peers::BaselineProblem in_coordinates = baseline_problem_of(task, scene, problem, arguments.iterations);
  const double cost = peers::baseline_cost(in_coordinates, result.q, result.u, problem.u_before);
  const Stopwatch watch;
  // The loop is the published one only where it is smoothed by a barrier.
  const bool compares = arguments.gradient == planning::GradientKind::kAnalytic;
  const peers::BaselineResult loop = compares ? peers::baseline_impc(scene, in_coordinates) : peers::BaselineResult{};
  const double loop_s = watch.seconds();
  if (arguments.json) {
    std::vector<double> costs;
    for (const auto& row : result.history) costs.push_back(row.cost);
    fmt::print(
        "{{\"task\": \"{}\", \"cost\": {}, \"cost_coordinates\": {}, \"costs\": [{}], \"ms\": {}, \"solves\": {}, "
        "\"table_cost\": {}, \"table_s\": {}, \"loop_cost\": {}, \"loop_s\": {}, \"loop_costs\": [{}]}}\n",
        task.name, result.cost, cost, fmt::join(costs, ", "), times_ms[times_ms.size() / 2], result.solves,
        published.cost, published.seconds, loop.cost, loop_s, fmt::join(loop.history, ", "));
    return;
  }
  fmt::print("| {} | {:.4g} | {:.4g} | {} | {:.4g} | {:.1f}, {:.1f} | {:.2f} | {:.2f} |\n", task.name, result.cost,
             cost, compares ? fmt::format("{:.4g}", loop.cost) : "-", published.cost, times_ms[times_ms.size() / 2],
             times_ms.back(), loop_s, published.seconds);
  if (arguments.verbose) {
    fmt::print("  {}, {} steps solved; cost (share of the step; iterations of the program):",
               planning::name(result.status), result.solves);
    for (const auto& row : result.history)
      fmt::print(" {:.4g} ({:.2g}; {})", row.cost, row.step, row.program_iterations);
    fmt::print("\n");
    print_end(scene, result.q.back(), problem.q_desired.front());
    if (compares) {
      fmt::print("  baseline iMPC, {} programs not solved:", loop.unsolved);
      for (const double loop_cost : loop.history) fmt::print(" {:.4g}", loop_cost);
      fmt::print("\n");
      print_end(scene, loop.q.back(), problem.q_desired.front());
    }
  }
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
      else if (word == "--json")
        arguments.json = true;
      else if (word == "-v")
        arguments.verbose = true;
      else
        arguments.names.push_back(word);
    }
    if (!arguments.json)
      fmt::print(
          "P5 trajectory optimisation, {} iterations. Costs: deft's, turns by rotation vectors; the others in "
          "coordinates, as published\n"
          "| task | deft | deft, coordinates | baseline iMPC | Table II | deft ms p50, max | baseline s | published s "
          "|\n"
          "|---|---|---|---|---|---|---|---|\n",
          arguments.iterations);
    for (const Task& task : tasks()) {
      if (arguments.names.empty() || std::count(arguments.names.begin(), arguments.names.end(), task.name) > 0)
        run(task, arguments);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
