#include "deft/io/problems/complementarity_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/io/problems/problem_file.hpp"
#include "deft/io/text/json_matrix.hpp"
#include "deft/io/text/json_text.hpp"

namespace deft::io {
namespace {

using Json = nlohmann::ordered_json;
using solvers::lcp::ComplementarityProgram;

constexpr std::size_t kMaxSize = 4096;  // dense: the solver keeps some n² numbers several times
constexpr int kMaxMotions = 1 << 16;

Eigen::MatrixXd dense(const SparseMatrix& matrix) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(matrix.rows, matrix.cols);
  for (const MatrixEntry& entry : matrix.entries) out(entry.row, entry.col) = entry.value;
  return out;
}

double finite(double value, const char* what) {
  if (!std::isfinite(value))
    throw std::invalid_argument(
        fmt::format("write_complementarity_problem: {} is {}, which a problem file cannot hold", what, value));
  return value;
}

/// Its entries that are not zero.
Json triplets(const Eigen::MatrixXd& matrix, const char* what) {
  Json entries = Json::array();
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      if (matrix(i, j) != 0) entries.push_back({i, j, finite(matrix(i, j), what)});
    }
  }
  return {{"rows", matrix.rows()}, {"cols", matrix.cols()}, {"triplets", entries}};
}

Json numbers(const Eigen::VectorXd& values) {
  Json result = Json::array();
  for (const double value : values) result.push_back(json_number(value));
  return result;
}

Json residuals(double stationarity, double primal, double complementarity) {
  return {{"stationarity", json_number(stationarity)},
          {"primal", json_number(primal)},
          {"complementarity", json_number(complementarity)}};
}

}  // namespace

ComplementarityProgram read_complementarity(const JsonField& root, bool mixed) {
  ComplementarityProgram program;
  const JsonField q = root.at("q");
  const std::size_t size = q.list_size();
  if (size > kMaxSize) q.fail(fmt::format("has {} numbers, at most {} are possible", size, kMaxSize));
  const int n = static_cast<int>(size);
  const std::vector<double> values = q.numbers(size, "any");
  program.q = Eigen::Map<const Eigen::VectorXd>(values.data(), n);
  const JsonField M = root.at("M");
  const SparseMatrix given = read_matrix(M, n, n);
  if (given.rows != n) M.at("rows").fail(fmt::format("is {}, needs {} (the size of q)", given.rows, n));
  program.M = dense(given);
  if (const auto motion = root.find("motion")) program.motion = dense(read_matrix(*motion, kMaxMotions, n));
  if (!mixed) return program;

  const JsonField free = root.at("free");
  for (std::size_t k = 0; k < free.list_size(); ++k) {
    const int index = free.element(k).integer(0, n - 1);
    if (std::find(program.free.begin(), program.free.end(), index) != program.free.end())
      free.element(k).fail(fmt::format("index {} stands in the list twice", index));
    program.free.push_back(index);
  }
  std::sort(program.free.begin(), program.free.end());
  return program;
}

void write_complementarity_problem(const std::string& path, const std::string& name, const std::string& source,
                                   const ComplementarityProgram& program) {
  check(program);
  const bool mixed = !program.free.empty();
  Json file{
      {"format", "deft-problem"}, {"version", 1}, {"kind", mixed ? "mcp" : "lcp"}, {"name", name}, {"source", source}};
  file["M"] = triplets(program.M, "an entry of M");
  file["q"] = numbers(program.q);
  if (mixed) file["free"] = program.free;
  if (program.motion.size() > 0) file["motion"] = triplets(program.motion, "an entry of motion");
  write_text(path, to_text(file));
}

std::string complementarity_result_json(const ComplementarityProblemFile& file, solvers::Status status, double time_s,
                                        int iterations, int modes,
                                        const solvers::lcp::ComplementarityCertificate& certificate,
                                        const solvers::lcp::ComplementaritySolution& solution,
                                        std::string_view solver) {
  Json result{{"name", file.name}, {"kind", file.kind}, {"status", std::string(solvers::to_string(status))}};
  result["message"] = std::string(solvers::lcp::sentence(status, solution.uniqueness));
  result["time_s"] = json_number(time_s);
  result["iterations"] = iterations;
  result["modes"] = modes;
  result["residuals"] = {
      {"scaled", residuals(certificate.stationarity, certificate.primal, certificate.complementarity)},
      {"absolute", residuals(certificate.stationarity_abs, certificate.primal_abs, certificate.complementarity_abs)}};
  Json answer{{"z", numbers(solution.z)}, {"w", numbers(solution.w)}};
  answer["uniqueness"] = std::string(solvers::lcp::to_string(solution.uniqueness));
  answer["second"] = nullptr;
  if (solution.second_z.size() > 0)
    answer["second"] = {{"z", numbers(solution.second_z)}, {"w", numbers(solution.second_w)}};
  if (!solution.proof.empty()) {
    Json proof = Json::array();
    for (const solvers::lcp::RefutedModes& part : solution.proof)
      proof.push_back({{"z_zero", part.z_zero}, {"w_zero", part.w_zero}, {"y", numbers(part.y)}});
    answer["proof"] = std::move(proof);
    result["proof_error"] = json_number(certificate.infeasible);
  }
  result["solution"] = std::move(answer);
  result["solver"] = std::string(solver);
  result["notes"] = file.notes;
  return to_text(result);
}

}  // namespace deft::io
