#include "plan_bindings.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <exception>
#include <filesystem>

#include "arrays.hpp"
#include "deft/core/index.hpp"
#include "deft/core/version.hpp"
#include "deft/execution/plan_folder.hpp"
#include "deft/io/runs/plan_file.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/planning/feasibility/world.hpp"
#include "deft/planning/plan_optimizer.hpp"
#include "errors.hpp"
#include "goal_bindings.hpp"
#include "interruptibly.hpp"
#include "run_bindings.hpp"

namespace deft::python {
namespace {

using nb::literals::operator""_a;

Plan make_plan(const scene::Scene& scene, const std::string& goal_name, std::uint64_t seed, int threads,
               nb::object on_progress) {
  const scene::GoalSpec& goal = goal_of(scene, goal_name);
  Plan plan{scene, goal.target.name, seed, {}, {}, {}};
  std::atomic<bool> stop{false};
  planning::PlannerOptions options{.seed = seed, .threads = threads};
  options.stop = [&stop] { return stop.load(std::memory_order_relaxed); };
  std::exception_ptr thrown;
  if (!on_progress.is_none())
    options.on_progress = [&](int tried, double distance, double cost_s) {
      const nb::gil_scoped_acquire lock;
      if (thrown) return;
      try {
        const nb::object keep =
            on_progress(tried, distance, cost_s < 0 ? nb::object(nb::none()) : nb::object(nb::float_(cost_s)));
        if (!keep.is_none() && !nb::cast<bool>(nb::bool_(keep))) stop = true;
      } catch (...) {
        thrown = std::current_exception();
        stop = true;
      }
    };
  interruptibly(stop, [&] { plan.result = planning::make_plan(scene, goal, options); });
  if (thrown) std::rethrow_exception(thrown);
  return plan;
}

/// The commands of a run as a plan, simulated again. @param folder  of the run; a planner's says its goal and segments.
Plan plan_of_run(const scene::Scene& scene, const Run& run, const std::string& folder, const std::string& goal_name) {
  const std::optional<io::StoredPlan> stored = folder.empty() ? std::nullopt : io::read_plan(folder);
  const scene::GoalSpec& goal = goal_of(scene, goal_name.empty() && stored ? stored->header.goal : goal_name);
  Plan plan{scene, goal.target.name, stored ? stored->header.seed : 0, {}, {}, {}};
  const scene::Scene exact = planning::planning_scene(scene);
  const auto vector = [](const std::vector<double>& values) -> Eigen::VectorXd {
    return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  };
  if (run.motion.names_q != scene.names_q() || run.motion.num_steps() == 0)
    throw InputError({}, "run: it has no steps, or is not one of this scene");
  std::vector<Eigen::VectorXd> commands;
  for (const std::vector<double>& u : run.motion.u) commands.push_back(vector(u));
  std::vector<planning::Segment> segments;
  if (stored)
    segments = stored->segments;
  else
    segments.push_back({0, static_cast<int>(commands.size()), false, -1});
  std::atomic<bool> stop{false};
  interruptibly(stop, [&] {
    plan.result.plan = planning::check_plan(exact, planning::Goal(exact, goal, exact.settings().plan.wrap_angles),
                                            vector(run.motion.q.front()), std::move(commands), std::move(segments));
  });
  return plan;
}

/// A plan made better. `scene`: with its settings of `optimize:`.
Plan optimize_plan(const Plan& plan, const scene::Scene& scene, std::uint64_t seed, int threads, double time_limit_s) {
  const scene::GoalSpec& goal = goal_of(scene, plan.goal);
  const scene::Scene exact = planning::planning_scene(scene);
  planning::Plan given;
  std::atomic<bool> stop{false};
  planning::PlanOptimizerResult result;
  interruptibly(stop, [&] {
    given = planning::check_plan(exact, planning::Goal(exact, goal, exact.settings().plan.wrap_angles),
                                 scene.initial_configuration(), plan.result.plan.commands, plan.result.plan.segments,
                                 plan.result.plan.u_start);
    result = planning::optimize_plan(
        scene, goal, given,
        {.seed = seed, .threads = threads, .time_limit_s = time_limit_s, .stop = [&] { return stop.load(); }});
  });
  Plan better{scene, plan.goal, seed, {}, result.cost_before, result.cost};
  better.result.plan = std::move(result.plan);
  better.result.nodes = std::move(result.nodes);
  better.result.time_s = result.time_s;
  better.result.solves = result.solves;
  return better;
}

nb::dict error_of(const planning::GoalError& error) {
  nb::dict out;
  out["position_m"] = error.position_m;
  out["rotation_rad"] = error.rotation_rad;
  out["joint"] = error.joint;
  return out;
}

nb::list holds_of(const planning::Plan& plan) {
  nb::list list;
  const auto add = [&](const std::string& judge, bool success, const planning::GoalError& error, double time_s) {
    nb::dict row;
    row["judge"] = judge;
    row["success"] = success;
    row["goal_error"] = error_of(error);
    row["time_s"] = time_s;
    list.append(row);
    return row;
  };
  add("h", plan.success, plan.error, 0.0);
  for (const planning::StepHalvingCheck& check : plan.step_halving)
    add(fmt::format("h/{}", check.substeps), check.success, check.error, 0.0);
  for (const planning::Verdict& verdict : plan.verdicts) {
    nb::dict row = add(verdict.judge, verdict.success, verdict.error, verdict.time_s);
    if (verdict.share >= 0) row["share"] = verdict.share;
  }
  return list;
}

nb::list segments_of(const planning::Plan& plan) {
  nb::list list;
  for (const planning::Segment& segment : plan.segments) {
    nb::dict row;
    row["first"] = segment.first;
    row["last"] = segment.last;
    row["transit"] = segment.transit;
    row["node"] = segment.node;
    list.append(row);
  }
  return list;
}

nb::list reasons_of(const planning::PlannerResult& result) {
  nb::list list;
  for (const planning::Reason& reason : result.reasons) {
    nb::dict row;
    row["reason"] = reason.reason;
    row["count"] = reason.count;
    row["weight"] = reason.weight;
    row["detail"] = reason.detail;
    row["setting"] = reason.setting;
    list.append(row);
  }
  return list;
}

/// A run folder of the plan, with its tree, as deft plan writes it; without page and summary.
void save(const Plan& plan, const std::string& path, bool force) {
  const nb::gil_scoped_release unlocked;
  const std::string folder = io::make_run_folder(path, plan.scene.spec().name, force);
  const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  io::publish_text(file("config.yaml"), plan.scene.spec().merged_yaml);
  execution::PlanFolder published(folder, plan.scene, plan.goal, version());
  published.begin(plan.seed);
  published.finish(plan.result.plan, plan.result.nodes, 0);
  io::publish_text(file("plan.yaml"), io::plan_overlay(plan.result.plan, plan.scene.names_u()));
}

std::optional<double> seconds(double value) { return value < 0 ? std::nullopt : std::optional(value); }

}  // namespace

void bind_plans(nb::module_& module) {
  nb::class_<Plan>(module, "Plan")
      .def_prop_ro("success", [](const Plan& p) { return p.result.plan.holds(); })
      .def_prop_ro("status",
                   [](const Plan& p) { return std::string(planning::status_word(p.result.plan, p.result.end)); })
      .def_prop_ro("q", [](const Plan& p) { return rows_array(p.result.plan.q, to_size(p.scene.nq())); })
      .def_prop_ro("u", [](const Plan& p) { return rows_array(p.result.plan.commands, to_size(p.scene.nu())); })
      .def_prop_ro("u_start", [](const Plan& p) { return to_array(p.result.plan.u_start); })
      .def_prop_ro("h", [](const Plan& p) { return p.result.plan.h; })
      .def_prop_ro("goal", [](const Plan& p) { return p.goal; })
      .def_prop_ro("segments", [](const Plan& p) { return segments_of(p.result.plan); })
      .def_prop_ro("error", [](const Plan& p) { return error_of(p.result.plan.error); })
      .def_prop_ro("holds", [](const Plan& p) { return holds_of(p.result.plan); })
      .def_prop_ro("reasons", [](const Plan& p) { return reasons_of(p.result); })
      .def_prop_ro("first_solution_s", [](const Plan& p) { return seconds(p.result.first_solution_s); })
      .def_prop_ro("first_holding_s", [](const Plan& p) { return seconds(p.result.first_holding_s); })
      .def_prop_ro("time_s", [](const Plan& p) { return p.result.time_s; })
      .def_prop_ro("regrasps", [](const Plan& p) { return p.result.plan.regrasps; })
      .def_prop_ro("cost_s", [](const Plan& p) { return p.result.plan.cost_s; })
      .def_prop_ro("nodes", [](const Plan& p) { return p.result.nodes.size(); })
      .def_prop_ro("cost_before", [](const Plan& p) { return p.cost_before; })
      .def_prop_ro("cost_after", [](const Plan& p) { return p.cost_after; })
      .def_prop_ro("seed", [](const Plan& p) { return p.seed; })
      .def("_save", &save, "path"_a, "force"_a)
      .def_prop_ro("step_solves", [](const Plan& p) { return p.result.solves; });
  module.def("plan_of_run", &plan_of_run, "scene"_a, "run"_a, "folder"_a, "goal"_a);
  module.def("optimize_plan", &optimize_plan, "plan"_a, "scene"_a, "seed"_a, "threads"_a, "time_limit_s"_a);
  module.def("make_plan", &make_plan, "scene"_a, "goal"_a, "seed"_a, "threads"_a, "on_progress"_a.none());
}

}  // namespace deft::python
