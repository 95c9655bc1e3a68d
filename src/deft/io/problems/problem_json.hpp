#pragma once
// What the writers of problem files and of results share. Internal to io.

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "deft/solvers/status.hpp"

namespace deft::io {

/// The head of a problem file: format, version, kind, name, source.
nlohmann::ordered_json problem_head(std::string_view kind, const std::string& name, const std::string& source);

/// The head of a result: name, kind, status, message (one sentence for people), wall time [s], iterations.
nlohmann::ordered_json result_head(const std::string& name, std::string_view kind, solvers::Status status,
                                   std::string_view message, double time_s, std::int64_t iterations);

/// {"stationarity", "primal", "complementarity"}.
nlohmann::ordered_json residuals_json(double stationarity, double primal, double complementarity);

/// A list of numbers as `json_number` writes them.
nlohmann::ordered_json numbers_json(const Eigen::Ref<const Eigen::VectorXd>& values);
nlohmann::ordered_json numbers_json(std::span<const double> values);  // the same

/// {"rows", "cols", "triplets"} of the entries that are not zero, row by row; all must be finite.
nlohmann::ordered_json triplets_json(const Eigen::MatrixXd& matrix);

}  // namespace deft::io
