#include "deft/io/problems/problem_json.hpp"

#include <nlohmann/json.hpp>

#include "deft/core/index.hpp"
#include "deft/io/text/json_text.hpp"

namespace deft::io {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json problem_head(std::string_view kind, const std::string& name, const std::string& source) {
  return {{"format", "deft-problem"}, {"version", 1}, {"kind", std::string(kind)}, {"name", name}, {"source", source}};
}

Json result_head(const std::string& name, std::string_view kind, solvers::Status status, std::string_view message,
                 double time_s, std::int64_t iterations) {
  return {{"name", name},
          {"kind", std::string(kind)},
          {"status", std::string(solvers::to_string(status))},
          {"message", std::string(message)},
          {"time_s", json_number(time_s)},
          {"iterations", iterations}};
}

Json residuals_json(double stationarity, double primal, double complementarity) {
  return {{"stationarity", json_number(stationarity)},
          {"primal", json_number(primal)},
          {"complementarity", json_number(complementarity)}};
}

Json numbers_json(const Eigen::Ref<const Eigen::VectorXd>& values) {
  return numbers_json(std::span(values.data(), to_size(values.size())));
}

Json numbers_json(std::span<const double> values) {
  Json result = Json::array();
  for (const double value : values) result.push_back(json_number(value));
  return result;
}

Json triplets_json(const Eigen::MatrixXd& matrix) {
  Json entries = Json::array();
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      if (matrix(i, j) != 0) entries.push_back({i, j, matrix(i, j)});
    }
  }
  return {{"rows", matrix.rows()}, {"cols", matrix.cols()}, {"triplets", entries}};
}

}  // namespace deft::io
