#pragma once
// --bundle of deft linearize: the bundled gradient at the start, as JSON.

#include <optional>

#include "deft/dynamics/step_model.hpp"
#include "json.hpp"
#include "options.hpp"

namespace deft::cli {

/// --bundle ORDER --sigma S --samples N.
struct BundleArguments {
  std::string order;  // empty: no bundle
  double sigma = 0;   // of every command [rad, m]
  int samples = 100;  // noisy steps, at least 1
};
/// Adds --bundle, --sigma and --samples to a command; the last two need --bundle, which needs --sigma.
void add_bundle_options(CLI::App& command, BundleArguments& arguments);

/// The bundled gradient and how it ended.
struct BundleReport {
  Json json;            // as report_bundle says
  int exit_code = 0;    // an ExitCode
  std::string trouble;  // a sentence where the exit code is not 0
};
/// {"order", "sigma", "samples", "used", "invalid": {status or "Error": count}, "seed", "B", "B_standard_error"}; the
/// matrices are null when too few samples are valid (exit code 1) or after Ctrl-C.
BundleReport report_bundle(const scene::Scene& scene, const dynamics::State& start, const Eigen::VectorXd& u,
                           const BundleArguments& arguments, const SceneOptions& options, double mu_gradient);

/// A matrix as a list of its rows.
Json matrix(const Eigen::Ref<const Eigen::MatrixXd>& values);

}  // namespace deft::cli
