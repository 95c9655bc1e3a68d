#include "track_bindings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "arrays.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/execution/tracked_run.hpp"
#include "deft/io/scene/disturbance_file.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/viewer/visual_json.hpp"
#include "interruptibly.hpp"
#include "plan_bindings.hpp"
#include "run_bindings.hpp"

namespace deft::python {
namespace {

using nb::literals::operator""_a;

constexpr std::array kPlants{plant::PlantKind::kQuasidynamic, plant::PlantKind::kConvexSecondOrder,
                             plant::PlantKind::kStewartTrinkle, plant::PlantKind::kMujoco, plant::PlantKind::kDrake};
constexpr std::array kControllers{control::Controller::kOpenLoop, control::Controller::kMpc};

template <typename Enum, std::size_t N>
Enum named(const std::array<Enum, N>& values, const char* what, const std::string& word) {
  std::vector<std::string_view> words;
  for (const Enum value : values) {
    if (to_string(value) == word) return value;
    words.push_back(to_string(value));
  }
  throw InputError({}, fmt::format("{}: there is no '{}'; valid: {}", what, word, fmt::join(words, ", ")));
}

/// A run of a plan on a plant.
struct Tracked {
  Run run;
  execution::TrackedOutcome outcome;
  std::vector<std::string> settings;
};

/// The plan's motion, as its commands make it with exact contact.
dynamics::Trajectory motion_of(const Plan& plan) {
  const scene::Scene exact = planning::planning_scene(plan.scene);
  const std::unique_ptr<dynamics::StepModel> model = dynamics::make_step_model(exact);
  const dynamics::State start = dynamics::initial_state(*model);
  dynamics::Trajectory motion = dynamics::start_trajectory(*model, start);
  const std::vector<Eigen::VectorXd>& commands = plan.result.plan.commands;
  dynamics::rollout(*model, start, {.steps = static_cast<int>(commands.size()), .on_step = {}, .commands = commands},
                    motion);
  return motion;
}

Tracked track(const Plan& plan, const std::string& plant, const std::string& controller, const std::string& disturbance,
              std::uint64_t seed, double max_duration_s, int threads) {
  const execution::TrackedRunOptions options{.plant = named(kPlants, "plant", plant),
                                             .controller = named(kControllers, "controller", controller),
                                             .max_duration_s = max_duration_s,
                                             .threads = threads};
  std::atomic<bool> stop{false};
  Tracked out;
  interruptibly(stop, [&] {
    const scene::DisturbanceSpec wrong =
        disturbance.empty() ? scene::DisturbanceSpec{} : io::read_disturbance(disturbance);
    const execution::TrackedTask task =
        execution::make_task(plan.scene, motion_of(plan), options, {plan.scene.spec().file, "plan", plan.goal});
    execution::TrackedRun run =
        execution::run(task, options, wrong, seed, {.stop = [&] { return stop.load(); }, .record_contacts = true});
    out.outcome = execution::outcome_of(run, seed);
    out.settings = run.settings;
    out.run.header = {plan.scene.spec().name, plan.scene.spec().merged_yaml, viewer::visual_json(plan.scene),
                      DEFT_VERSION};
    out.run.motion = std::move(run.motion);
  });
  out.run.status = to_string(out.outcome.status);
  out.run.reason = out.outcome.success ? "Completed" : out.outcome.reason.empty() ? out.run.status : out.outcome.reason;
  out.run.complete = true;
  return out;
}

nb::dict error_of(const control::ObjectError& error) {
  nb::dict out;
  out["position_m"] = error.position_m;
  out["rotation_rad"] = error.rotation_rad;
  return out;
}

}  // namespace

void bind_tracking(nb::module_& module) {
  nb::class_<Tracked>(module, "Tracked")
      .def_prop_ro("run", [](const Tracked& t) { return t.run; })
      .def_prop_ro("arrived", [](const Tracked& t) { return t.outcome.success; })
      .def_prop_ro("new_plans", [](const Tracked& t) { return t.outcome.replans; })
      .def_prop_ro("replan_s", [](const Tracked& t) { return t.outcome.replan_s; })
      .def_prop_ro("held_s", [](const Tracked& t) { return t.outcome.held_s; })
      .def_prop_ro("final_error", [](const Tracked& t) { return error_of(t.outcome.final); })
      .def_prop_ro("largest_error", [](const Tracked& t) { return error_of(t.outcome.largest); })
      .def_ro("settings", &Tracked::settings)
      .def_prop_ro("errors",
                   [](const Tracked& t) {
                     const std::vector<dynamics::TrackRecord>& tracks = t.run.motion.tracks;
                     return new_array({tracks.size(), 2}, [&](double* out) {
                       for (const dynamics::TrackRecord& record : tracks) {
                         *out++ = record.position_error_m;
                         *out++ = record.rotation_error_rad;
                       }
                     });
                   })
      .def_prop_ro("period_s", [](const Tracked& t) {
        const std::vector<dynamics::TrackRecord>& tracks = t.run.motion.tracks;
        return new_array({tracks.size()}, [&](double* out) {
          for (const dynamics::TrackRecord& record : tracks) *out++ = 1e-6 * record.period_us;
        });
      });
  module.def("track", &track, "plan"_a, "plant"_a, "controller"_a, "disturbance"_a, "seed"_a, "max_duration_s"_a,
             "threads"_a);
}

}  // namespace deft::python
