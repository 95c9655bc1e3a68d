// deft linearize SCENE: one step at the start configuration under the first command, with its derivatives.

#include <CLI/CLI.hpp>
#include <memory>

#include "bundle_report.hpp"
#include "command.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "json.hpp"
#include "options.hpp"

namespace deft::cli {
namespace {

using dynamics::StepDerivative;
using dynamics::StepResult;

struct LinearizeOptions {
  OutputOptions output;
  SceneOptions scene;
  double mu_gradient = 0;
  BundleArguments bundle;
};

int exit_code(solvers::Status status) {
  if (solvers::usable(status)) return kDone;
  return status == solvers::Status::kInfeasible || status == solvers::Status::kUnbounded ? kNotReached
                                                                                         : kNumericalFailure;
}

/// Per contact its rows of a stacked matrix.
Json by_contact(const Eigen::MatrixXd& stacked, const StepDerivative& derivative, const StepResult& step, bool world) {
  Json list = Json::array();
  for (std::size_t i = 0; i < derivative.first_row.size(); ++i) {
    const Eigen::Index first = world ? 3 * static_cast<Eigen::Index>(i) : derivative.first_row[i];
    const Eigen::Index rows = world ? 3 : step.patch() == nullptr ? step.program.J.rows(static_cast<int>(i)) : 4;
    if (stacked.rows() > 0) list.push_back(matrix(stacked.middleRows(first, rows)));
  }
  return list;
}

/// Contacts of the model equivalent-contact-point, at the end of the step; `force` in their frame (n, t, o, spin).
Json patches(const scene::Scene& scene, const dynamics::PatchDetail& detail, double h) {
  const std::vector<std::string> names = scene.names_bodies();
  Json list = Json::array();
  for (const dynamics::PatchContact& c : detail.contacts) {
    list.push_back({{"a", names[c.body_a]},
                    {"b", names[c.body_b]},
                    {"gap", number(c.gap)},
                    {"gap_next", number(c.gap)},
                    {"normal", numbers(c.n_W)},
                    {"tangents", {numbers(c.t_W), numbers(c.o_W)}},
                    {"point", numbers(c.point_W)},
                    {"mu", number(c.mu)},
                    {"force", numbers(std::vector<double>{c.p_n / h, c.p_f(0) / h, c.p_f(1) / h, c.p_f(2) / h})},
                    {"force_W", numbers(Eigen::Vector3d((c.p_n * c.n_W + c.p_f(0) * c.t_W + c.p_f(1) * c.o_W) / h))}});
  }
  return list;
}

Json contacts(const scene::Scene& scene, const StepResult& step) {
  const std::vector<std::string> names = scene.names_bodies();
  Json list = Json::array();
  for (std::size_t i = 0; i < step.problem.contacts.size(); ++i) {
    const contact::Contact& contact = step.problem.contacts[i];
    const auto& f = step.solution.force[i];
    const Eigen::Vector3d point = 0.5 * (contact.p_WA + contact.p_WB);
    const Eigen::Vector3d force_W = f[0] * contact.n_W + f[1] * contact.t1_W + f[2] * contact.t2_W;
    const auto rows = to_size(step.program.J.rows(static_cast<int>(i)));
    list.push_back({{"a", names[contact.body_a]},
                    {"b", names[contact.body_b]},
                    {"gap", number(contact.gap)},
                    {"gap_next", number(step.solution.gap[i])},
                    {"normal", numbers(contact.n_W)},
                    {"tangents", {numbers(contact.t1_W), numbers(contact.t2_W)}},
                    {"point", numbers(point)},
                    {"mu", number(contact.mu)},
                    {"force", numbers(std::vector<double>(f.begin(), f.begin() + rows))},
                    {"force_W", numbers(force_W)}});
  }
  return list;
}

Json describe(const scene::Scene& scene, const dynamics::State& start, const Eigen::VectorXd& u, const StepResult& step,
              double h, const StepDerivative* derivative, const dynamics::DerivativeReport& report) {
  Json result{{"names_q", scene.names_q()},
              {"names_v", scene.names_v()},
              {"names_u", scene.names_u()},
              {"q", numbers(start.q)},
              {"u", numbers(u)},
              {"q_next", derivative != nullptr ? numbers(step.q_next) : Json(nullptr)}};
  if (derivative != nullptr) {
    result["A"] = matrix(derivative->A);
    result["B"] = matrix(derivative->B);
    result["dforce_dq"] = by_contact(derivative->dforce_dq, *derivative, step, false);
    result["dforce_du"] = by_contact(derivative->dforce_du, *derivative, step, false);
    result["dforce_W_dq"] = by_contact(derivative->dforce_W_dq, *derivative, step, true);
    result["dforce_W_du"] = by_contact(derivative->dforce_W_du, *derivative, step, true);
    result["contacts"] = step.patch() != nullptr ? patches(scene, *step.patch(), h) : contacts(scene, step);
  } else {
    for (const char* key : {"A", "B", "dforce_dq", "dforce_du", "dforce_W_dq", "dforce_W_du", "contacts"})
      result[key] = nullptr;
  }
  result["kink"] = report.is_nonsmooth;
  result["kinks"] = report.nonsmooth_points;
  result["status"] = solvers::to_string(step.status);
  if (derivative == nullptr || step.v_next.size() == 0) return result;
  // Second order: the velocity is part of the state.
  result["v"] = numbers(start.v);
  result["v_next"] = numbers(step.v_next);
  result["A_v"] = matrix(derivative->A_v);
  result["dv_dq"] = matrix(derivative->dv_dq);
  result["dv_dv"] = matrix(derivative->dv_dv);
  result["dv_du"] = matrix(derivative->dv_du);
  result["dforce_dv"] = by_contact(derivative->dforce_dv, *derivative, step, false);
  return result;
}

void print_matrix(const char* name, const Json& rows, const Json& row_names, const Json& column_names) {
  fmt::print("\n{}\n  {:<20}", name, "");
  for (const Json& column : column_names) fmt::print(" {:>14}", column.get<std::string>());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    fmt::print("\n  {:<20}", row_names[r].get<std::string>());
    for (const Json& value : rows[r]) fmt::print(" {:>14.6g}", value.is_number() ? value.get<double>() : std::nan(""));
  }
  fmt::print("\n");
}

void print_linearization(const Json& result) {
  fmt::print("{}  nv {}  nu {}\n", result["status"].get<std::string>(), result["names_v"].size(),
             result["names_u"].size());
  if (result["A"].is_null()) return;
  print_matrix("A = ∂q⁺/∂q (world tangents)", result["A"], result["names_v"], result["names_v"]);
  print_matrix("B = ∂q⁺/∂u", result["B"], result["names_v"], result["names_u"]);
  fmt::print("\ncontacts\n");
  for (const Json& contact : result["contacts"]) {
    fmt::print("  {:<24} {:<24} gap {:.6g} m  force {} N\n", contact["a"].get<std::string>(),
               contact["b"].get<std::string>(), contact["gap"].get<double>(), contact["force"].dump());
  }
  for (const Json& nonsmooth : result["kinks"]) fmt::print("kink: {}\n", nonsmooth.get<std::string>());
  if (!result.contains("bundle") || result["bundle"]["B"].is_null()) return;
  const Json& bundle = result["bundle"];
  fmt::print("\nbundle: {}, sigma {}, {} of {} samples\n", bundle["order"].get<std::string>(), bundle["sigma"].dump(),
             bundle["used"].dump(), bundle["samples"].dump());
  print_matrix("B = E[∂q⁺/∂u]", bundle["B"], result["names_v"], result["names_u"]);
  print_matrix("standard errors of B", bundle["B_standard_error"], result["names_v"], result["names_u"]);
}

int run(const LinearizeOptions& options) {
  apply(options.output);
  Diagnostics diagnostics;
  const scene::Scene scene = load(options.scene, options.output, diagnostics);
  const std::unique_ptr<dynamics::StepModel> model = dynamics::make_step_model(scene);
  const dynamics::State start = dynamics::initial_state(*model);
  Eigen::VectorXd u(scene.nu());
  scene.command(0, model->h(), u);

  StepResult step;
  model->step(start, u, step);
  Json result;
  int code = exit_code(step.status);
  if (solvers::usable(step.status)) {
    StepDerivative derivative;
    const dynamics::DerivativeReport report =
        model->differentiate(start, u, step, {.mu_gradient = options.mu_gradient}, derivative);
    result = describe(scene, start, u, step, model->h(), &derivative, report);
    if (!options.bundle.order.empty()) {
      const BundleReport bundle = report_bundle(scene, start, u, options.bundle, options.scene, options.mu_gradient);
      result["bundle"] = bundle.json;
      code = bundle.exit_code;
      if (!bundle.trouble.empty()) fmt::print(stderr, "{}\n", bundle.trouble);
    }
  } else {
    result = describe(scene, start, u, step, model->h(), nullptr, {});
    if (!options.bundle.order.empty()) result["bundle"] = nullptr;
    if (!options.output.json) fmt::print(stderr, "{}\n", solvers::sentence(step.status));
  }
  if (options.output.json)
    print_json(result);
  else
    print_linearization(result);
  return code;
}

}  // namespace

Command add_linearize(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("linearize", "One step at the start and its derivatives by configuration and command");
  const auto options = std::make_shared<LinearizeOptions>();
  add_scene_options(*command, options->scene, true);
  command
      ->add_option("--mu-gradient", options->mu_gradient,
                   "Barrier weight [J] of the gradient where an exact step has none (0: 1e-6 of its energy)")
      ->type_name("JOULE")
      ->check(CLI::Range(0.0, 1e12));
  add_bundle_options(*command, options->bundle);
  add_output_options(*command, options->output);
  return {command, [options] { return run(*options); }};
}

}  // namespace deft::cli
