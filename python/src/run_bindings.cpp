#include "run_bindings.hpp"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>

#include "arrays.hpp"
#include "deft/core/index.hpp"
#include "deft/core/version.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/viewer/visual_json.hpp"
#include "errors.hpp"
#include "run_page.hpp"
#include "step_bindings.hpp"

namespace deft::python {
namespace {

using nb::literals::operator""_a;
using dynamics::ContactRecord;
using dynamics::Trajectory;

/// Contacts of the step that ends at time t.
struct StepContacts {
  std::vector<std::pair<std::string, std::string>> bodies;
  std::vector<ContactRecord> records;
};

StepContacts contacts_at(const Run& run, double t) {
  const Trajectory& motion = run.motion;
  if (!(t >= motion.t.front() - 1e-12 && t <= motion.t.back() + 1e-9))
    throw nb::value_error(
        fmt::format("t: {} s is not within the run, {} to {} s", t, motion.t.front(), motion.t.back()).c_str());
  const auto end = std::lower_bound(motion.t.begin(), motion.t.end(), t - 1e-9);
  const auto k = end - motion.t.begin();
  StepContacts out;
  if (k < 1) return out;  // no step ends at the start
  const std::size_t first = motion.contact_offset[to_size(k - 1)], last = motion.contact_offset[to_size(k)];
  for (std::size_t i = first; i < last; ++i) {
    const ContactRecord& record = motion.contacts[i];
    out.records.push_back(record);
    out.bodies.emplace_back(motion.names_bodies[to_size(record.a)], motion.names_bodies[to_size(record.b)]);
  }
  return out;
}

template <auto Member>
Array vectors(const StepContacts& contacts) {
  return new_array({contacts.records.size(), 3}, [&](double* out) {
    for (const ContactRecord& record : contacts.records)
      out = std::copy((record.*Member).begin(), (record.*Member).end(), out);
  });
}
template <auto Member>
Array scalars(const StepContacts& contacts) {
  return new_array({contacts.records.size()}, [&](double* out) {
    for (const ContactRecord& record : contacts.records) *out++ = record.*Member;
  });
}

/// The commands of a roll-out: the scene's, rows of an array, or those of a callable (t, q) → u.
struct Commands {
  std::vector<Eigen::VectorXd> rows;
  nb::object call = nb::none();
};

Commands read_commands(const scene::Scene& scene, nb::handle commands) {
  Commands out;
  if (commands.is_none()) return out;
  if (PyCallable_Check(commands.ptr())) {
    out.call = nb::borrow(commands);
    return out;
  }
  const Rows given = read_rows(commands, "commands", scene.nu());
  if (!given.is_batch)
    throw nb::value_error(
        fmt::format("commands: expected shape (steps, {}), got ({},)", scene.nu(), scene.nu()).c_str());
  for (Eigen::Index k = 0; k < given.columns.cols(); ++k) out.rows.emplace_back(given.columns.col(k));
  return out;
}

Run simulate(const scene::Scene& scene, nb::handle q0, nb::handle v0, nb::handle given, int steps, nb::object on_step) {
  const std::unique_ptr<dynamics::StepModel> model = dynamics::make_step_model(scene);
  dynamics::State start = dynamics::initial_state(*model);
  if (!q0.is_none()) start.q = read_vector(q0, "q0", scene.nq());
  if (!v0.is_none()) start.v = read_vector(v0, "v0", scene.nv());
  const Commands commands = read_commands(scene, given);
  if (steps < 0) steps = static_cast<int>(commands.rows.size());
  if (!commands.rows.empty() && steps > static_cast<int>(commands.rows.size()))
    throw nb::value_error(fmt::format("steps: {}, but commands has {} rows", steps, commands.rows.size()).c_str());

  Run run{{scene.spec().name, scene.spec().merged_yaml, viewer::visual_json(scene), version()},
          dynamics::start_trajectory(*model, start),
          {},
          {},
          true};
  dynamics::RolloutOptions options{.steps = steps, .on_step = {}, .commands = commands.rows};
  options.on_step = [&](int k, const dynamics::StepResult& result, const Trajectory& motion) {
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (on_step.is_none()) return true;
    const auto vector = [](const std::vector<double>& values) -> Eigen::VectorXd {
      return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
    };
    StepResult shown;
    const auto at = to_size(k);
    *shown.step = {.scene = scene,
                   .start = {.q = vector(motion.q[at]), .t = motion.t[at]},
                   .u = vector(motion.u[at]),
                   .result = result};
    const nb::object keep = on_step(k, nb::cast(std::move(shown)));
    return keep.is_none() || nb::cast<bool>(nb::bool_(keep));
  };
  if (!commands.call.is_none())
    options.controller = [&](const dynamics::State& state, Eigen::VectorXd& u, Trajectory&) {
      const nb::gil_scoped_acquire lock;
      read_vector(commands.call(state.t, to_array(state.q)), "commands(t, q)", scene.nu(), u);
    };
  const dynamics::RolloutEnd end = [&] {
    const nb::gil_scoped_release unlocked;
    return dynamics::rollout(*model, start, options, run.motion);
  }();
  run.status = end.interrupted ? "Interrupted"
               : end.completed ? "Completed"
                               : std::string(solvers::to_string(end.status));
  run.reason = end.completed || !end.reason.empty() ? end.reason : run.status;
  return run;
}

void save(const Run& run, const std::string& path, bool force) {
  const std::string folder = io::make_run_folder(path, run.header.name, force);
  io::publish_text((std::filesystem::path(folder) / "config.yaml").string(), run.header.scene_yaml);
  io::RunWriter writer(folder, run.header, run.motion);
  writer.append(run.motion);
  writer.close();
}

Run open_run(const std::string& path) {
  const nb::gil_scoped_release unlocked;
  io::Run stored = io::read_run(path);
  return {std::move(stored.header), std::move(stored.trajectory), {}, {}, stored.complete};
}

std::string page(const Run& run, const std::string& folder, const Run* beside, const std::string& title,
                 const std::string& title_here) {
  const nb::gil_scoped_release unlocked;
  std::optional<viewer::Beside> other;
  if (beside != nullptr) {
    if (beside->motion.names_bodies != run.motion.names_bodies)
      throw InputError({}, "beside: this run has other bodies");
    other = {.title = title, .title_here = title_here, .trajectory = &beside->motion};
  }
  return cli::page_of(folder, run.header, run.motion, folder.empty() ? std::nullopt : io::read_plan(folder), other);
}

}  // namespace

void bind_runs(nb::module_& module) {
  nb::class_<StepContacts>(module, "RunContacts", "Contacts of one step of a run, at its end.")
      .def("__len__", [](const StepContacts& c) { return c.records.size(); })
      .def_ro("bodies", &StepContacts::bodies, "The names (a, b) of the two bodies of each contact.")
      .def_prop_ro("gap", &scalars<&ContactRecord::gap>, "φ + J_n δ [m], (n_c,).")
      .def_prop_ro("mu", &scalars<&ContactRecord::mu>, "Coefficient of friction, (n_c,).")
      .def_prop_ro("point", &vectors<&ContactRecord::point_W>,
                   "Midpoints of the witness points in the world [m], (n_c, 3).")
      .def_prop_ro("normal", &vectors<&ContactRecord::normal_W>, "Unit normals from b to a in the world, (n_c, 3).")
      .def_prop_ro("force", &vectors<&ContactRecord::force_W>, "Forces on a in the world [N], (n_c, 3).")
      .def_prop_ro("torque", &vectors<&ContactRecord::torque_W>,
                   "Torques on a about `point` in the world [N·m], (n_c, 3).");
  nb::class_<Run>(module, "Run")
      .def_prop_ro("t",
                   [](const Run& r) {
                     return to_array(Eigen::Map<const Eigen::VectorXd>(r.motion.t.data(),
                                                                       static_cast<Eigen::Index>(r.motion.t.size()))
                                         .eval());
                   })
      .def_prop_ro("q", [](const Run& r) { return rows_array(r.motion.q, r.motion.names_q.size()); })
      .def_prop_ro("v",
                   [](const Run& r) {
                     return r.motion.v.empty() ? std::nullopt
                                               : std::optional(rows_array(r.motion.v, r.motion.names_v.size()));
                   })
      .def_prop_ro("u", [](const Run& r) { return rows_array(r.motion.u, r.motion.names_u.size()); })
      .def_prop_ro("names_q", [](const Run& r) { return r.motion.names_q; })
      .def_prop_ro("names_u", [](const Run& r) { return r.motion.names_u; })
      .def_prop_ro("bodies", [](const Run& r) { return r.motion.names_bodies; })
      .def_prop_ro("name", [](const Run& r) { return r.header.name; })
      .def_prop_ro("scene_yaml", [](const Run& r) { return r.header.scene_yaml; })
      .def_ro("status", &Run::status)
      .def_ro("reason", &Run::reason)
      .def_ro("complete", &Run::complete)
      .def("contacts", &contacts_at, "t"_a)
      .def("_save", &save, "path"_a, "force"_a)
      .def("_page", &page, "folder"_a, "beside"_a.none(), "title"_a, "title_here"_a);
  module.def("simulate", &simulate, "scene"_a, "q0"_a.none(), "v0"_a.none(), "commands"_a.none(), "steps"_a,
             "on_step"_a.none());
  module.def("open_run", &open_run, "path"_a);
  module.def("visual_json", [](const scene::Scene& scene) { return viewer::visual_json(scene); }, "scene"_a);
}

}  // namespace deft::python
