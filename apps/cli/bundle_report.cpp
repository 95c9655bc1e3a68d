#include "bundle_report.hpp"

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "deft/dynamics/batch/bundled_gradient.hpp"
#include "interrupt.hpp"

namespace deft::cli {

using dynamics::BundleOrder;
using dynamics::BundleOutcome;

Json matrix(const Eigen::Ref<const Eigen::MatrixXd>& values) {
  Json rows = Json::array();
  for (Eigen::Index r = 0; r < values.rows(); ++r) rows.push_back(numbers(Eigen::VectorXd(values.row(r))));
  return rows;
}

void add_bundle_options(CLI::App& command, BundleArguments& arguments) {
  CLI::Option* bundle = command
                            .add_option("--bundle", arguments.order,
                                        "Also the gradient averaged over noisy commands, from Jacobians (first-order) "
                                        "or from motions (zero-order)")
                            ->check(CLI::IsMember({"first-order", "zero-order"}))
                            ->type_name("ORDER")
                            ->group("Bundle");
  CLI::Option* sigma =
      command.add_option("--sigma", arguments.sigma, "Standard deviation of the noise on every command [rad, m]")
          ->check(CLI::PositiveNumber)
          ->type_name("NUMBER")
          ->group("Bundle");
  command.add_option("--samples", arguments.samples, "Number of noisy steps")
      ->check(CLI::Range(1, 100000000))
      ->type_name("N")
      ->group("Bundle")
      ->needs(bundle);
  bundle->needs(sigma);
  sigma->needs(bundle);
}

BundleReport report_bundle(const scene::Scene& scene, const dynamics::State& start, const Eigen::VectorXd& u,
                           const BundleArguments& arguments, const SceneOptions& options, double mu_gradient) {
  catch_interrupts();
  std::stop_source stop;
  dynamics::BundleOptions bundle;
  bundle.order = arguments.order == "first-order" ? BundleOrder::kFirst : BundleOrder::kZero;
  bundle.sigma_u = Eigen::VectorXd::Constant(1, arguments.sigma);
  bundle.samples = arguments.samples;
  bundle.seed = options.seed;
  bundle.mu_gradient = mu_gradient;
  bundle.threads = options.threads;
  bundle.stop = stop.get_token();
  bundle.on_progress = [&stop](int, int) {
    if (interrupted()) stop.request_stop();
  };
  dynamics::Batch batch(scene);
  dynamics::BundleResult result;
  dynamics::bundle_gradient(scene, batch, start, u, bundle, result);

  Json invalid = Json::object();
  for (int s = 0; s < solvers::kNumStatuses; ++s) {
    const int count = result.invalid[s];
    if (count > 0) invalid[std::string(solvers::to_string(static_cast<solvers::Status>(s)))] = count;
  }
  if (result.errors > 0) invalid["Error"] = result.errors;
  const bool done = result.outcome == BundleOutcome::kDone;
  BundleReport report{.json = {{"order", arguments.order},
                               {"sigma", number(arguments.sigma)},
                               {"samples", arguments.samples},
                               {"used", result.used},
                               {"invalid", invalid},
                               {"seed", options.seed},
                               {"B", done ? matrix(result.B) : Json(nullptr)},
                               {"B_standard_error", done ? matrix(result.B_standard_error) : Json(nullptr)}}};
  if (result.outcome == BundleOutcome::kStopped) {
    report.exit_code = kInterrupted;
    report.trouble = "The bundle was interrupted.";
  } else if (!done) {
    report.exit_code = kNotReached;
    report.trouble = fmt::format("The bundle has no gradient: {} of {} samples are valid, too few.{}{}", result.used,
                                 arguments.samples, result.errors > 0 ? " " : "", result.first_error);
  }
  return report;
}

}  // namespace deft::cli
