#include "step_bindings.hpp"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/contact_records.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "errors.hpp"

namespace deft::python {
namespace {

using nb::literals::operator""_a;

/// Raises deft.SolveError for a step that has no derivative.
[[noreturn]] void raise_failed(const dynamics::StepResult& result) {
  raise_solve_error("the step failed: " + std::string(solvers::to_string(result.status)) + ". " +
                        std::string(solvers::sentence(result.status)),
                    result.status, result.certificate.max_scaled());
}

Contacts contacts_of(const Step& step) {
  if (!step.scene) throw nb::value_error("this result is of no step yet");
  Contacts contacts{*step.scene, step.start.q, {}, {}};
  for (const contact::Contact& c : step.result.problem.contacts) {
    contacts.pairs.push_back({.geometry_a = c.geometry_a,
                              .geometry_b = c.geometry_b,
                              .body_a = c.body_a,
                              .body_b = c.body_b,
                              .gap = c.gap,
                              .nhat_BA_W = c.n_W,
                              .p_WA = c.p_WA,
                              .p_WB = c.p_WB,
                              .id = c.id,
                              .weight = c.weight});
    contacts.mu.push_back(c.mu);
  }
  return contacts;
}

Array forces_of(const Step& step) {
  const std::size_t count = step.result.problem.contacts.size();
  const bool failed = !solvers::usable(step.result.status);
  return new_array({count, 3}, [&](double* out) {
    for (std::size_t i = 0; i < count; ++i)
      Eigen::Map<Eigen::Vector3d>(out + 3 * i) =
          failed ? Eigen::Vector3d::Constant(std::nan("")) : dynamics::contact_force(step.result, i).force_W;
  });
}

Array view(const StepResult& self, const Eigen::VectorXd& values) {
  return view_of(values.data(), {to_size(values.size())}, self.step);
}

/// A Jacobian of the motion; None where the model has none.
template <auto Member>
std::optional<Array> jacobian(const Derivatives& d) {
  return to_array_or_none(d.jacobians.*Member);
}

/// Three rows per contact in shape (n_c, 3, columns).
Array by_contact(const Eigen::MatrixXd& rows) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return new_array({to_size(rows.rows() / 3), 3, to_size(rows.cols())},
                   [&](double* out) { Eigen::Map<RowMajor>(out, rows.rows(), rows.cols()) = rows; });
}

/// A Jacobian of the forces; None if it was not asked for.
template <auto Member>
std::optional<Array> force_jacobian(const Derivatives& d) {
  const Eigen::MatrixXd& rows = d.jacobians.*Member;
  return d.has_forces ? std::optional(by_contact(rows)) : std::nullopt;
}

}  // namespace

Model::Model(scene::Scene scene) : scene_(std::move(scene)), steps_(dynamics::make_step_model(scene_)) {}

void Model::read(nb::handle q, nb::handle u, nb::handle v, Step& step) {
  read_vector(q, "q", scene_.nq(), given_.q);
  read_vector(u, "u", scene_.nu(), given_u_);
  if (v.is_none())
    given_.v.resize(0);
  else
    read_vector(v, "v", scene_.nv(), given_.v);
  step.scene = scene_;
  step.start = given_;
  step.u = given_u_;
}

void Model::step(nb::handle q, nb::handle u, nb::handle v, Step& step) {
  const Turn turn(taken_);
  read(q, u, v, step);
  const nb::gil_scoped_release unlocked;
  const Stopwatch watch;
  steps_->step(step.start, step.u, step.result);
  step.time_s = watch.seconds();
}

Derivatives Model::derivatives(nb::handle q, nb::handle u, nb::handle v, bool by_configuration, bool motion_only,
                               bool by_parameters) {
  const Turn turn(taken_);
  if (by_parameters) parameters();
  read(q, u, v, scratch_);
  {
    const nb::gil_scoped_release unlocked;
    steps_->reset();
    steps_->step(scratch_.start, scratch_.u, scratch_.result);
  }
  if (!solvers::usable(scratch_.result.status)) raise_failed(scratch_.result);
  const nb::gil_scoped_release unlocked;
  Derivatives out;
  out.report = steps_->differentiate(scratch_.start, scratch_.u, scratch_.result,
                                     {.configuration = by_configuration, .motion_only = motion_only}, out.jacobians);
  out.has_forces = !motion_only;
  if (by_parameters) differentiate_by_parameters(out);
  return out;
}

const std::vector<NamedParameter>& Model::parameters() {
  if (parameters_.empty()) parameters_ = parameters_of(scene_);
  return parameters_;
}

void Model::differentiate_by_parameters(Derivatives& out) {
  if (!differentiator_) differentiator_ = std::make_unique<dynamics::StepDifferentiator>(scene_);
  differentiator_->linearize(*steps_, scratch_.start, scratch_.u, scratch_.result);
  // Friction of pairs that are not near moves nothing.
  const auto is_near = [&](const dynamics::Parameter& p) {
    const auto& contacts = scratch_.result.problem.contacts;
    return p.kind != dynamics::Parameter::Kind::kFriction ||
           std::any_of(contacts.begin(), contacts.end(), [&](const contact::Contact& c) {
             return std::minmax(c.geometry_a, c.geometry_b) == std::minmax(p.index, p.second);
           });
  };
  std::vector<dynamics::Parameter> asked;
  std::vector<Eigen::Index> column;
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    for (const dynamics::Parameter& parameter : parameters_[i].of) {
      if (!is_near(parameter)) continue;
      asked.push_back(parameter);
      column.push_back(static_cast<Eigen::Index>(i));
    }
  }
  Eigen::MatrixXd dq, df;
  differentiator_->parameters(asked, dq, df);
  const contact::ContactProblem& problem = scratch_.result.problem;
  const auto count = static_cast<Eigen::Index>(parameters_.size());
  out.dq_dtheta = Eigen::MatrixXd::Zero(scene_.nv(), count);
  out.df_dtheta = Eigen::MatrixXd::Zero(3 * static_cast<Eigen::Index>(problem.contacts.size()), count);
  for (std::size_t k = 0; k < column.size(); ++k) {
    const auto from = static_cast<Eigen::Index>(k), to = column[k];
    out.dq_dtheta.col(to) += dq.col(from);
    Eigen::Index row = 0;
    for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
      const contact::Contact& c = problem.contacts[i];
      const Eigen::Index rows = scratch_.result.program.J.rows(static_cast<int>(i));
      auto force = out.df_dtheta.col(to).segment<3>(3 * static_cast<Eigen::Index>(i));
      force += df(row, from) * c.n_W;
      if (rows > 1) force += df(row + 1, from) * c.t1_W;
      if (rows > 2 && c.t2_W.squaredNorm() > 0) force += df(row + 2, from) * c.t2_W;
      row += rows;
    }
  }
}

void Model::linearize(const Eigen::VectorXd& q, const Eigen::VectorXd& u) {
  if (!differentiator_) differentiator_ = std::make_unique<dynamics::StepDifferentiator>(scene_);
  scratch_.start = {.q = q};
  scratch_.u = u;
  {
    const nb::gil_scoped_release unlocked;
    steps_->reset();
    steps_->step(scratch_.start, u, scratch_.result);
  }
  if (!solvers::usable(scratch_.result.status)) raise_failed(scratch_.result);
  const nb::gil_scoped_release unlocked;
  differentiator_->linearize(*steps_, scratch_.start, u, scratch_.result, {.motion_only = true});
}

Array Model::jvp(nb::handle q, nb::handle u, nb::handle dq, nb::handle du) {
  const Turn turn(taken_);
  const Rows at = read_rows(q, "q", scene_.nq()), under = read_rows(u, "u", scene_.nu());
  const Rows by_q = dq.is_none() ? Rows{} : read_rows(dq, "dq", scene_.nv());
  const Rows by_u = du.is_none() ? Rows{} : read_rows(du, "du", scene_.nu());
  const Eigen::Index count = common_rows({{"q", &at}, {"u", &under}, {"dq", &by_q}, {"du", &by_u}});
  Eigen::MatrixXd out(scene_.nv(), count);
  Eigen::VectorXd moved;
  for (Eigen::Index i = 0; i < count; ++i) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    linearize(at.row(i), under.row(i));
    differentiator_->forward(by_q.row(i), by_u.row(i), moved);
    out.col(i) = moved;
  }
  const bool is_batch = at.is_batch || under.is_batch || by_q.is_batch || by_u.is_batch;
  return is_batch ? to_array(Eigen::MatrixXd(out.transpose())) : to_array(Eigen::VectorXd(out.col(0)));
}

nb::tuple Model::vjp(nb::handle q, nb::handle u, nb::handle cotangent) {
  const Turn turn(taken_);
  const Rows at = read_rows(q, "q", scene_.nq()), under = read_rows(u, "u", scene_.nu()),
             weights = read_rows(cotangent, "cotangent", scene_.nv());
  const Eigen::Index count = common_rows({{"q", &at}, {"u", &under}, {"cotangent", &weights}});
  Eigen::MatrixXd q_bars(count, scene_.nv()), u_bars(count, scene_.nu());
  Eigen::VectorXd q_bar, u_bar;
  for (Eigen::Index i = 0; i < count; ++i) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    linearize(at.row(i), under.row(i));
    differentiator_->backward(weights.row(i), {}, q_bar, u_bar);
    q_bars.row(i) = q_bar;
    u_bars.row(i) = u_bar;
  }
  if (at.is_batch || under.is_batch || weights.is_batch) return nb::make_tuple(to_array(q_bars), to_array(u_bars));
  return nb::make_tuple(to_array(Eigen::VectorXd(q_bars.row(0))), to_array(Eigen::VectorXd(u_bars.row(0))));
}

void bind_steps(nb::module_& module) {
  nb::list words;
  for (int i = 0; i < solvers::kNumStatuses; ++i)
    words.append(std::string(solvers::to_string(static_cast<solvers::Status>(i))));
  module.attr("status_words") = words;

  nb::class_<StepResult>(module, "StepResult", "One step, at its end.")
      .def_prop_ro(
          "q", [](const StepResult& self) { return view(self, self.step->result.q_next); },
          "q⁺, shape (n_q,), read-only; of a failed step q.")
      .def_prop_ro(
          "v",
          [](const StepResult& self) {
            const Eigen::VectorXd& v = self.step->result.v_next;
            return v.size() == 0 ? std::nullopt : std::optional(view(self, v));
          },
          "v⁺, shape (n_v,), read-only; None for models of first order.")
      .def_prop_ro(
          "dq", [](const StepResult& self) { return view(self, self.step->result.delta); },
          "δ with q⁺ = q ⊕ δ [rad, m], shape (n_v,), read-only.")
      .def_prop_ro(
          "status", [](const StepResult& s) { return status_of(s.step->result.status); },
          nb::for_getter(nb::sig("def status(self) -> deft._errors.Status")), "deft.Status of the solve.")
      .def_prop_ro(
          "residual", [](const StepResult& s) { return s.step->result.certificate.max_scaled(); },
          "Largest scaled residual of the certificate [-].")
      .def_prop_ro(
          "contacts", [](const StepResult& s) { return contacts_of(*s.step); }, "Contacts at the start of the step.")
      .def_prop_ro(
          "forces", [](const StepResult& s) { return forces_of(*s.step); },
          "Forces on a at a's witness point in the world [N], shape (n_c, 3), in the order of `contacts`; NaN "
          "of a failed step.")
      .def_prop_ro(
          "time_s", [](const StepResult& s) { return s.step->time_s; },
          "Time that the step took in C++, its certificate included [s].");

  nb::class_<Derivatives>(module, "Derivatives", "Jacobians of a step along world tangents (a free body: [θ, v]).")
      .def_prop_ro("dq_dq", &jacobian<&dynamics::StepDerivative::A>, "∂q⁺/∂q, (n_v, n_v); None if not asked for.")
      .def_prop_ro("dq_du", &jacobian<&dynamics::StepDerivative::B>, "∂q⁺/∂u, (n_v, n_u).")
      .def_prop_ro("dq_dv", &jacobian<&dynamics::StepDerivative::A_v>,
                   "∂q⁺/∂v, (n_v, n_v); None for models of first order.")
      .def_prop_ro("dv_dq", &jacobian<&dynamics::StepDerivative::dv_dq>, "∂v⁺/∂q, likewise.")
      .def_prop_ro("dv_du", &jacobian<&dynamics::StepDerivative::dv_du>, "∂v⁺/∂u, (n_v, n_u), likewise.")
      .def_prop_ro("dv_dv", &jacobian<&dynamics::StepDerivative::dv_dv>, "∂v⁺/∂v, likewise.")
      .def_prop_ro("df_dq", &force_jacobian<&dynamics::StepDerivative::dforce_W_dq>,
                   "∂f/∂q in the world [N/rad, N/m], (n_c, 3, n_v).")
      .def_prop_ro("df_du", &force_jacobian<&dynamics::StepDerivative::dforce_W_du>, "∂f/∂u, (n_c, 3, n_u).")
      .def_prop_ro(
          "dq_dtheta", [](const Derivatives& d) { return to_array_or_none(d.dq_dtheta); },
          "∂q⁺/∂θ, (n_v, n_θ), columns in the order of StepModel.params; None if not asked for.")
      .def_prop_ro(
          "df_dtheta",
          [](const Derivatives& d) {
            return d.dq_dtheta.rows() == 0 ? std::nullopt : std::optional(by_contact(d.df_dtheta));
          },
          "∂f/∂θ, (n_c, 3, n_θ).")
      .def_prop_ro(
          "nonsmooth", [](const Derivatives& d) { return d.report.is_nonsmooth; },
          "Whether they are one-sided or those of a smoothed step.")
      .def_prop_ro(
          "nonsmooth_points", [](const Derivatives& d) { return d.report.nonsmooth_points; }, "Why, one line each.");

  module.def("with_parameters", &with_parameters, "scene"_a, "values"_a);
  nb::class_<Model>(module, "StepModel")
      .def(nb::init<scene::Scene>(), "scene"_a)
      .def(
          "step",
          [](Model& model, nb::handle q, nb::handle u, nb::handle v, nb::object out) {
            if (out.is_none()) out = nb::cast(StepResult());
            StepResult* result = nullptr;
            if (!nb::try_cast(out, result)) throw nb::type_error("out: expected what an earlier step returned");
            const Turn turn(*result->taken);
            // Of another scene: arrays of that step keep their memory.
            const Step& earlier = *result->step;
            const bool fits = !earlier.scene || (earlier.result.q_next.size() == model.scene().nq() &&
                                                 earlier.result.delta.size() == model.scene().nv());
            const std::shared_ptr<Step> step = fits ? result->step : std::make_shared<Step>();
            model.step(q, u, v, *step);
            result->step = step;
            return out;
          },
          "q"_a.none(), "u"_a.none(), "v"_a = nb::none(), "out"_a = nb::none(),
          nb::sig("def step(self, q: numpy.typing.ArrayLike, u: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike | "
                  "None = None, "
                  "out: StepResult | None = None) -> StepResult"),
          "One step of length h from (q, v) under the commands u: a StepResult, `out` if given.")
      .def(
          "reset",
          [](Model& model) {
            const Turn turn(model.taken());
            model.steps().reset();
          },
          "Forgets warm starts.")
      .def("_derivatives", &Model::derivatives, "q"_a.none(), "u"_a.none(), "v"_a.none(), "by_configuration"_a,
           "motion_only"_a, "by_parameters"_a)
      .def("jvp", &Model::jvp, "q"_a.none(), "u"_a.none(), "dq"_a = nb::none(), "du"_a = nb::none(),
           nb::sig("def jvp(self, q: numpy.typing.ArrayLike, u: numpy.typing.ArrayLike, dq: numpy.typing.ArrayLike | "
                   "None = None, "
                   "du: numpy.typing.ArrayLike | None = None) -> numpy.ndarray"),
           "∂q⁺/∂q dq + ∂q⁺/∂u du, shape (n_v,) or (batch, n_v).")
      .def("vjp", &Model::vjp, "q"_a.none(), "u"_a.none(), "cotangent"_a.none(),
           nb::sig("def vjp(self, q: numpy.typing.ArrayLike, u: numpy.typing.ArrayLike, cotangent: "
                   "numpy.typing.ArrayLike) -> "
                   "tuple[numpy.ndarray, numpy.ndarray]"),
           "(∂q⁺/∂q)ᵀ w and (∂q⁺/∂u)ᵀ w, shapes (n_v,) and (n_u,) or with a batch in front.")
      .def_prop_ro(
          "params",
          [](Model& model) {
            const Turn turn(model.taken());
            nb::dict out;
            for (const NamedParameter& parameter : model.parameters()) out[parameter.name.c_str()] = parameter.value;
            return out;
          },
          "θ: name → value, in the order of the columns of dq_dtheta.")
      .def_prop_ro(
          "h", [](Model& model) { return model.steps().h(); }, "Length of a step [s].")
      .def_prop_ro(
          "kappa", [](Model& model) { return model.steps().kappa(); },
          "Weight of the smoothing barrier [1/J]; infinity: exact.")
      .def_prop_ro(
          "second_order", [](Model& model) { return model.steps().second_order(); },
          "Whether velocities are part of the state.");
}

}  // namespace deft::python
