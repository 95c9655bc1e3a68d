#include "track_bindings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "arrays.hpp"
#include "controller.hpp"
#include "deft/core/index.hpp"
#include "deft/core/version.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/execution/tracked_run.hpp"
#include "deft/io/scene/disturbance_file.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/viewer/visual_json.hpp"
#include "interruptibly.hpp"
#include "plan_bindings.hpp"
#include "python_plant.hpp"
#include "run_bindings.hpp"
#include "step_bindings.hpp"

namespace deft::python {
namespace {

using nb::literals::operator""_a;

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

/// The command of a policy in this period.
void ask_policy(const nb::object& policy, const scene::Scene& scene, double t, const Eigen::VectorXd& q,
                const Eigen::VectorXd& v, Eigen::VectorXd& u) {
  const nb::object given = policy.attr("command")(t, to_array(q), to_array(v));
  read_vector(given, "policy.command", scene.nu(), u);
}

/// @param plant, controller  a word, or an object of Python in its place. @returns the run and, where Python code ended
/// it, what that raised.
nb::tuple track(const Plan& plan, nb::object plant, nb::object controller, const std::string& disturbance,
                std::uint64_t seed, double max_duration_s, int threads) {
  execution::TrackedRunOptions options{.max_duration_s = max_duration_s, .threads = threads};
  Raised raised;
  if (nb::isinstance<nb::str>(plant))
    options.plant = named(plant::kPlantKinds, "plant", nb::cast<std::string>(plant));
  else
    options.make_plant = [&](const scene::Scene& world, const plant::PlantOptions&) {
      const nb::gil_scoped_acquire lock;
      return std::make_unique<PythonPlant>(plant, world, seed, raised);
    };
  if (nb::isinstance<nb::str>(controller)) {
    options.controller = named(control::kControllers, "controller", nb::cast<std::string>(controller));
  } else {
    const scene::Scene& scene = plan.scene;
    controller.attr("reset")(nb::cast(scene), plan.goal, to_array(scene.initial_configuration()), seed);
    options.policy = [&](double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& u) {
      raised.guard([&] { ask_policy(controller, scene, t, q, v, u); });
    };
  }
  Tracked out;
  interruptibly(raised.stop, [&] {
    const scene::DisturbanceSpec wrong =
        disturbance.empty() ? scene::DisturbanceSpec{} : io::read_disturbance(disturbance);
    const execution::TrackedTask task =
        execution::make_task(plan.scene, motion_of(plan), options, {plan.scene.spec().file, "plan", plan.goal});
    execution::TrackedRun run = execution::run(task, options, wrong, seed,
                                               {.stop = [&] { return raised.stop.load(); }, .record_contacts = true});
    out.outcome = execution::outcome_of(run, seed);
    out.settings = run.settings;
    out.run.header = {plan.scene.spec().name, plan.scene.spec().merged_yaml, viewer::visual_json(plan.scene),
                      version()};
    out.run.motion = std::move(run.motion);
  });
  out.run.status = to_string(out.outcome.status);
  out.run.reason = out.outcome.success ? "Completed" : out.outcome.reason.empty() ? out.run.status : out.outcome.reason;
  out.run.complete = true;
  nb::object error = nb::none();
  if (raised.thrown()) {
    try {
      std::rethrow_exception(raised.thrown());
    } catch (nb::python_error& python) {
      error = nb::borrow(python.value());
    } catch (const nb::builtin_exception& builtin) {
      error = nb::module_::import_("builtins")
                  .attr(builtin.type() == nb::exception_type::type_error ? "TypeError" : "ValueError")(builtin.what());
    } catch (const std::exception& other) {
      error = nb::module_::import_("builtins").attr("RuntimeError")(other.what());
    }
  }
  return nb::make_tuple(nb::cast(std::move(out)), error);
}

std::unique_ptr<Controller> make_controller(const Plan& plan, const std::string& name, std::uint64_t seed,
                                            int threads) {
  const control::Controller controller = named(control::kControllers, "controller", name);
  execution::TrackedTask task = execution::make_task(plan.scene, motion_of(plan), {.controller = controller},
                                                     {plan.scene.spec().file, "plan", plan.goal});
  return std::make_unique<Controller>(std::move(task), controller, seed, threads);
}

Array update(Controller& self, nb::handle q, int periods) {
  const Eigen::VectorXd measured = read_vector(q, "q_measured", self.scene().nq());
  const Eigen::VectorXd u = [&] {
    const nb::gil_scoped_release unlocked;
    return self.update(measured, periods);
  }();
  return to_array(u);
}

nb::dict error_of(const control::ObjectError& error) {
  nb::dict out;
  out["position_m"] = error.position_m;
  out["rotation_rad"] = error.rotation_rad;
  return out;
}

/// A plant of the library, on its own.
struct NativePlant {
  scene::Scene scene;
  plant::PlantKind kind;
  std::unique_ptr<plant::Plant> plant;
  std::atomic<bool> taken{false};

  NativePlant(scene::Scene of, const std::string& name)
      : scene(std::move(of)), kind(named(plant::kPlantKinds, "plant", name)) {
    const auto model = dynamics::make_step_model(scene);
    plant = plant::make_plant(
        kind, scene,
        plant::tracked_options(kind, scene, scene.settings().track, model->second_order() ? kInfinity : model->h()));
  }
  Eigen::VectorXd v() const {
    const dynamics::State& state = plant->state();
    return state.v.size() > 0 ? state.v : Eigen::VectorXd(Eigen::VectorXd::Zero(scene.nv()));
  }
};

void reset(NativePlant& self, nb::handle q, nb::handle v, nb::handle u, std::uint64_t /*seed*/) {
  const Turn turn(self.taken);
  dynamics::State start{.q = read_vector(q, "q", self.scene.nq())};
  // The quasidynamic plant has no velocities.
  if (!v.is_none() && self.kind != plant::PlantKind::kQuasidynamic) start.v = read_vector(v, "v", self.scene.nv());
  self.plant->reset(start, read_vector(u, "u", self.scene.nu()));
}

void advance(NativePlant& self, nb::handle u, double dt) {
  if (!(dt > 0 && dt <= 1e3)) throw nb::value_error("dt: expected a number above 0, at most 1000 s");
  const Turn turn(self.taken);
  const Eigen::VectorXd command = read_vector(u, "u", self.scene.nu());
  const plant::PlantStatus status = [&] {
    const nb::gil_scoped_release unlocked;
    return self.plant->advance(command, dt);
  }();
  if (status == plant::PlantStatus::kOk) return;
  raise_solve_error("the plant's step ended: " + std::string(to_string(status)));
}

}  // namespace

void bind_tracking(nb::module_& module) {
  nb::class_<NativePlant>(module, "NativePlant")
      .def(nb::init<scene::Scene, const std::string&>(), "scene"_a, "name"_a)
      .def("reset", &reset, "q"_a.none(), "v"_a.none() = nb::none(), "u"_a.none() = nb::none(), "seed"_a = 0,
           "Puts the world at (q, v; None: at rest) with the springs at joint targets u.")
      .def("step", &advance, "u"_a.none(), "dt"_a,
           "Advances by dt [s]; joint targets go linearly from the last ones to u. Raises SolveError if the simulation "
           "fails.")
      .def_prop_ro(
          "q",
          [](NativePlant& p) {
            const Turn turn(p.taken);
            return to_array(p.plant->state().q);
          },
          "Configuration, (n_q,).")
      .def_prop_ro(
          "v",
          [](NativePlant& p) {
            const Turn turn(p.taken);
            return to_array(p.v());
          },
          "Velocity, (n_v,); 0 on plants of first order.")
      .def_prop_ro(
          "time", [](const NativePlant& p) { return p.plant->state().t; }, "Since `reset` [s].")
      .def_prop_ro(
          "settings", [](const NativePlant& p) { return p.plant->settings(); },
          "What the plant adds to the scene, a line each.");
  nb::class_<Controller>(module, "Controller")
      .def_prop_ro("period_s", &Controller::period_s)
      .def_prop_ro("duration_s", &Controller::duration_s)
      .def_prop_ro("plan", &Controller::plan)
      .def_prop_ro("status",
                   [](const Controller& c) -> std::optional<std::string> {
                     return c.end() ? std::optional(std::string(to_string(c.end()->status))) : std::nullopt;
                   })
      .def("update", &update, "q"_a.none(), "periods"_a);
  module.def("make_controller", &make_controller, "plan"_a, "controller"_a, "seed"_a, "threads"_a);
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
