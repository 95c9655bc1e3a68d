// Problem files and results as JSON text.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/io/problems/problem_file.hpp"
#include "deft/io/problems/problem_json.hpp"
#include "deft/io/text/json_text.hpp"

namespace deft::io {
namespace {

using Json = nlohmann::ordered_json;
using solvers::contact::ContactLaw;
using solvers::contact::ContactProgram;
using solvers::contact::FrictionModel;

/// Refuses what a problem file cannot hold, naming it.
double finite(double value, const char* what) {
  if (!std::isfinite(value))
    throw std::invalid_argument(
        fmt::format("write_contact_problem: {} is {}, which a problem file cannot hold", what, value));
  return value;
}

/// A list of numbers, which must be finite.
Json finite_numbers(std::span<const double> values, const char* what) {
  Json result = Json::array();
  for (const double value : values) result.push_back(finite(value, what));
  return result;
}

/// `{cols, vals}` of row r of a block.
Json row(const RowBlocks& rows, int block, int r, const char* what) {
  Json cols = Json::array(), vals = Json::array();
  const RowBlocks::ConstBlock values = rows.block(block);
  for (std::size_t k = 0; k < rows.cols(block).size(); ++k) {
    const double value = finite(values(r, static_cast<Eigen::Index>(k)), what);
    if (value == 0) continue;
    cols.push_back(rows.cols(block)[k]);
    vals.push_back(value);
  }
  return {{"cols", cols}, {"vals", vals}};
}

/// A list of {start, size, data}, row by row.
Json blocks(const BlockDiagonal& matrix, const char* what) {
  Json result = Json::array();
  for (int k = 0; k < matrix.num_blocks(); ++k) {
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> data = matrix.block(k);
    result.push_back({{"start", matrix.start(k)},
                      {"size", matrix.size(k)},
                      {"data", finite_numbers({data.data(), to_size(data.size())}, what)}});
  }
  return result;
}

/// The law and the rows of contact i.
Json contact(const ContactProgram& program, int i) {
  const ContactLaw& law = program.contacts[i];
  Json result{{"gap", finite(law.gap, "a gap")},
              {"mu", finite(law.mu, "mu")},
              {"normal", row(program.J, i, 0, "a normal row")}};
  const int tangential = program.J.rows(i) - 1;
  if (law.frictionless) {
    result["frictionless"] = true;
  } else {
    Json tangents = Json::array();
    for (int r = 1; r <= std::min(tangential, 2); ++r) tangents.push_back(row(program.J, i, r, "a tangent row"));
    result["tangents"] = tangents;
    if (tangential == 3) result["spin"] = row(program.J, i, 3, "a spin row");
  }
  if (law.cone) result["cone"] = true;
  if (is_cone(program, i) && law.ellipsoid != std::array<double, 3>{1, 1, 1})
    result["ellipsoid"] = finite_numbers(law.ellipsoid, "an ellipsoid");
  const std::span<const double> offset(law.offset.data(), law.frictionless ? 0 : to_size(tangential));
  if (std::any_of(offset.begin(), offset.end(), [](double o) { return o != 0; }))
    result["offset"] = finite_numbers(offset, "an offset");
  if (law.compliance != 0) result["compliance"] = finite(law.compliance, "a compliance");
  return result;
}

/// `{rows, cols, triplets}` of many sparse rows.
Json linear_triplets(const solvers::contact::LinearRows& linear, int nv, const char* what) {
  Json entries = Json::array();
  for (int i = 0; i < linear.rows.size(); ++i) {
    const auto cols = linear.rows.cols(i);
    for (std::size_t k = 0; k < cols.size(); ++k) {
      entries.push_back({i, cols[k], finite(linear.rows.block(i)(0, static_cast<Eigen::Index>(k)), what)});
    }
  }
  return {{"rows", linear.rows.size()}, {"cols", nv}, {"triplets", entries}};
}

/// The force of each contact by its rows.
Json forces(const ContactProgram& program, const solvers::contact::ContactSolution& solution) {
  Json result = Json::array();
  for (std::size_t i = 0; i < solution.force.size(); ++i) {
    const ContactLaw& law = program.contacts[i];
    const int rows = law.frictionless ? 1 : program.J.rows(static_cast<int>(i));
    Json force = Json::array();
    for (int r = 0; r < rows; ++r) force.push_back(json_number(solution.force[i][r]));
    result.push_back(force);
  }
  return result;
}

/// ½δᵀQδ + bᵀδ [J]; not-a-number without a motion.
double energy(const ContactProgram& program, const Eigen::VectorXd& delta) {
  if (delta.size() != program.nv) return std::nan("");
  double value = program.b.dot(delta);
  for (int k = 0; k < program.Q.num_blocks(); ++k) {
    const auto part = delta.segment(program.Q.start(k), program.Q.size(k));
    value += 0.5 * part.dot(program.Q.block(k) * part);
  }
  return value;
}

}  // namespace

void write_contact_problem(const std::string& path, const std::string& name, const std::string& source,
                           const ContactProgram& program, const ContactLabels& labels) {
  Json file = problem_head("contact", name, source);
  file["nv"] = program.nv;
  file["Q_blocks"] = blocks(program.Q, "an entry of Q");
  file["b"] = finite_numbers({program.b.data(), to_size(program.b.size())}, "an entry of b");
  Json contacts = Json::array();
  for (std::size_t i = 0; i < program.contacts.size(); ++i) {
    Json entry = contact(program, static_cast<int>(i));
    if (i < labels.bodies.size()) entry["bodies"] = {labels.bodies[i].first, labels.bodies[i].second};
    if (i < labels.labels.size() && !labels.labels[i].empty()) entry["label"] = labels.labels[i];
    contacts.push_back(std::move(entry));
  }
  file["contacts"] = std::move(contacts);
  file["model"] = program.model == FrictionModel::kCone ? "cone" : "pyramid";
  if (program.model == FrictionModel::kPyramid) file["rays"] = program.rays;
  file["kappa"] = std::isinf(program.kappa) ? Json(nullptr) : Json(finite(program.kappa, "kappa"));
  if (program.lower.size() > 0) file["bounds"]["lower"] = numbers_json(program.lower);
  if (program.upper.size() > 0) file["bounds"]["upper"] = numbers_json(program.upper);
  if (program.linear.rows.size() > 0)
    file["linear"] = {{"G", linear_triplets(program.linear, program.nv, "an entry of G")},
                      {"g", finite_numbers(program.linear.rhs, "an entry of g")}};
  if (program.equality.rows.size() > 0)
    file["equality"] = {{"A", linear_triplets(program.equality, program.nv, "an entry of A")},
                        {"a", finite_numbers(program.equality.rhs, "an entry of a")}};
  if (program.hard) file["hard"] = true;
  if (program.masses.num_blocks() > 0) file["masses_blocks"] = blocks(program.masses, "a mass");
  write_text(path, to_text(file));
}

std::string contact_result_json(const ContactProblemFile& file, solvers::Status status, double time_s, int iterations,
                                const solvers::contact::Certificate& certificate,
                                const solvers::contact::ContactSolution& solution, std::string_view solver) {
  Json answer{{"delta", numbers_json(solution.delta)},
              {"force", forces(file.program, solution)},
              {"gap", numbers_json(solution.gap)}};
  answer["bound_multipliers"] = numbers_json(solution.bound_multipliers);
  answer["linear_multipliers"] = numbers_json(solution.linear_multipliers);
  answer["equality_multipliers"] = numbers_json(solution.equality_multipliers);
  answer["motion_unique"] = solution.motion_unique;
  answer["forces_unique"] = solution.forces_unique;
  if (!solvers::usable(status) && solution.proof.size() > 0) answer["proof"] = numbers_json(solution.proof);

  Json result = result_head(file.name, "contact", status, solvers::sentence(status), time_s, iterations);
  result["residuals"] = {
      {"scaled", residuals_json(certificate.stationarity, certificate.primal, certificate.complementarity)},
      {"absolute", residuals_json(certificate.stationarity_N, certificate.primal_m, certificate.complementarity_J)}};
  result["energy"] = json_number(energy(file.program, solution.delta));
  result["E0"] = json_number(certificate.E0_J);
  result["solution"] = std::move(answer);
  result["solver"] = std::string(solver);
  result["notes"] = file.notes;
  return to_text(result);
}

std::string delassus_result_json(const DelassusProblemFile& file, solvers::Status status, double time_s, int iterations,
                                 const solvers::force_space::DelassusCertificate& certificate,
                                 const solvers::force_space::DelassusSolution& solution) {
  Json result = result_head(file.name, "delassus", status, solvers::sentence(status), time_s, iterations);
  result["residuals"] = {
      {"scaled", residuals_json(certificate.stationarity, std::max(certificate.primal, certificate.dual),
                                certificate.complementarity)},
      {"absolute",
       residuals_json(certificate.stationarity_abs, certificate.primal_abs, certificate.complementarity_abs)}};
  result["solution"] = {{"r", numbers_json(solution.r)}, {"u", numbers_json(solution.u)}};
  result["solver"] = "ipm";
  result["notes"] = file.notes;
  return to_text(result);
}

}  // namespace deft::io
