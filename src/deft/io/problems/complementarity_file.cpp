#include "deft/io/problems/complementarity_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "deft/io/problems/problem_file.hpp"
#include "deft/io/problems/problem_json.hpp"
#include "deft/io/text/json_matrix.hpp"
#include "deft/io/text/json_text.hpp"

namespace deft::io {
namespace {

using Json = nlohmann::ordered_json;
using solvers::lcp::ComplementarityProgram;

constexpr std::size_t kMaxUnknowns = 4096;  // dense: the solver keeps some n² numbers several times
constexpr int kMaxMotions = 1 << 16;

}  // namespace

ComplementarityProgram read_complementarity(const JsonField& root, bool mixed) {
  ComplementarityProgram program;
  const JsonField q = root.at("q");
  const std::size_t size = q.list_size();
  if (size > kMaxUnknowns) q.fail(fmt::format("has {} numbers, at most {} are possible", size, kMaxUnknowns));
  const int n = static_cast<int>(size);
  program.q = read_vector(q, n, "any");
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
  Json file = problem_head(mixed ? "mcp" : "lcp", name, source);
  file["M"] = triplets_json(program.M);
  file["q"] = numbers_json(program.q);
  if (mixed) file["free"] = program.free;
  if (program.motion.size() > 0) file["motion"] = triplets_json(program.motion);
  write_text(path, to_text(file));
}

std::string complementarity_result_json(const ComplementarityProblemFile& file, solvers::Status status, double time_s,
                                        int iterations, int modes,
                                        const solvers::lcp::ComplementarityCertificate& certificate,
                                        const solvers::lcp::ComplementaritySolution& solution,
                                        std::string_view solver) {
  Json result = result_head(file.name, file.kind, status, solvers::lcp::sentence(status, solution.uniqueness), time_s,
                            iterations);
  result["modes"] = modes;
  result["residuals"] = {
      {"scaled", residuals_json(certificate.stationarity, certificate.primal, certificate.complementarity)},
      {"absolute",
       residuals_json(certificate.stationarity_abs, certificate.primal_abs, certificate.complementarity_abs)}};
  Json answer{{"z", numbers_json(solution.z)}, {"w", numbers_json(solution.w)}};
  answer["uniqueness"] = std::string(solvers::lcp::to_string(solution.uniqueness));
  answer["second"] = nullptr;
  if (solution.second_z.size() > 0)
    answer["second"] = {{"z", numbers_json(solution.second_z)}, {"w", numbers_json(solution.second_w)}};
  if (!solution.proof.empty()) {
    Json proof = Json::array();
    for (const solvers::lcp::RefutedModes& part : solution.proof)
      proof.push_back({{"z_zero", part.z_zero}, {"w_zero", part.w_zero}, {"y", numbers_json(part.y)}});
    answer["proof"] = std::move(proof);
    result["proof_error"] = json_number(certificate.infeasible);
  }
  result["solution"] = std::move(answer);
  result["solver"] = std::string(solver);
  result["notes"] = file.notes;
  return to_text(result);
}

}  // namespace deft::io
