#include "goal_bindings.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "arrays.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/core/index.hpp"
#include "deft/planning/feasibility/goal.hpp"

namespace deft::python {
namespace {

using nb::literals::operator""_a;

/// A goal and the scene that it belongs to.
struct HeldGoal {
  scene::Scene scene;  // shares what it holds
  std::string name;
  planning::Goal goal;
};

HeldGoal make_goal(const scene::Scene& scene, const std::string& name) {
  const scene::GoalSpec& spec = goal_of(scene, name);
  return {scene, spec.target.name, planning::Goal(scene, spec, scene.settings().plan.wrap_angles)};
}

/// A number per row, or one of shape ().
template <typename Function>
nb::object per_row(const HeldGoal& held, nb::handle q, Function&& function) {
  const Rows rows = read_rows(q, "q", held.scene.nq());
  if (!rows.is_batch) return nb::cast(function(Eigen::VectorXd(rows.row(0))));
  const auto count = static_cast<std::size_t>(rows.columns.cols());
  return new_array({count}, [&](double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = function(rows.row(static_cast<Eigen::Index>(i)));
  });
}

Array residual(const HeldGoal& held, nb::handle q) {
  const Rows rows = read_rows(q, "q", held.scene.nq());
  const auto size = to_size(held.goal.size());
  Eigen::VectorXd e(held.goal.size());
  std::vector<std::size_t> shape{size};
  if (rows.is_batch) shape.insert(shape.begin(), static_cast<std::size_t>(rows.columns.cols()));
  return new_array(shape, [&](double* out) {
    for (Eigen::Index i = 0; i < (rows.is_batch ? rows.columns.cols() : 1); ++i) {
      held.goal.residual(rows.row(i), held.goal.q(), e);
      out = std::copy(e.begin(), e.end(), out);
    }
  });
}

}  // namespace

const scene::GoalSpec& goal_of(const scene::Scene& scene, const std::string& name) {
  const std::vector<scene::GoalSpec>& goals = scene.spec().goals;
  std::vector<std::string> names;
  for (const scene::GoalSpec& goal : goals) {
    if (goal.target.name == name || (name.empty() && names.empty())) return goal;
    names.push_back(goal.target.name);
  }
  throw InputError({}, name.empty() ? "goal: the scene has no goals"
                                    : fmt::format("goal: there is no '{}'{}", name, did_you_mean(name, names)));
}

void bind_goals(nb::module_& module) {
  nb::class_<HeldGoal>(module, "Goal")
      .def_prop_ro(
          "name", [](const HeldGoal& g) { return g.name; }, "Of the scene's goal.")
      .def_prop_ro(
          "q", [](const HeldGoal& g) { return to_array(g.goal.q()); },
          "A configuration at the goal, (n_q,); what it leaves free is as at the start.")
      .def_prop_ro(
          "size", [](const HeldGoal& g) { return g.goal.size(); }, "Entries of the residual.")
      .def_prop_ro(
          "tolerance_m", [](const HeldGoal& g) { return g.goal.tolerance_m(); },
          "Distance of what is just within one tolerance [m].")
      .def("residual", &residual, "q"_a,
           "W (q_goal - q) along world tangents, (size,) or (batch, size) [m]: rotations and joints in the unit in "
           "which "
           "their tolerance is that of positions.")
      .def(
          "distance",
          [](const HeldGoal& g, nb::handle q) {
            return per_row(g, q, [&](const Eigen::VectorXd& row) { return g.goal.distance(row); });
          },
          "q"_a, "Norm of the residual [m], a number or (batch,).")
      .def(
          "error",
          [](const HeldGoal& g, nb::handle q) {
            const planning::GoalError error = g.goal.error(read_vector(q, "q", g.scene.nq()));
            return nb::make_tuple(error.position_m, error.rotation_rad, error.joint);
          },
          "q"_a,
          "The largest errors: of positions [m], rotations [rad], joints [rad, m]; NaN of what the goal does not name.")
      .def(
          "reached",
          [](const HeldGoal& g, nb::handle q) -> nb::object {
            const Rows rows = read_rows(q, "q", g.scene.nq());
            if (!rows.is_batch) return nb::cast(g.goal.reached(rows.row(0)));
            std::vector<bool> found;
            for (Eigen::Index i = 0; i < rows.columns.cols(); ++i) found.push_back(g.goal.reached(rows.row(i)));
            return nb::cast(found);
          },
          "q"_a, "Whether every part is within its tolerance: a bool, or a list of them.");
  module.def("make_goal", &make_goal, "scene"_a, "name"_a);
}

}  // namespace deft::python
