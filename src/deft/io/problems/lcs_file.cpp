#include "deft/io/problems/lcs_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/io/problems/problem_file.hpp"
#include "deft/io/problems/problem_json.hpp"
#include "deft/io/text/json_matrix.hpp"
#include "deft/io/text/json_text.hpp"
#include "deft/math/dense.hpp"

namespace deft::io {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Json = nlohmann::ordered_json;
using solvers::lcs::LcsMpcProgram;

constexpr int kMaxDimension = 4096;  // states, inputs, pairs: dense matrices
constexpr int kMaxSteps = 100000;
constexpr double kNegativeEigenvalue = 1e-12;  // of the largest entry: rounding, as for the solver

/// The largest absolute value of an entry; 0 without entries.
double largest_size(const MatrixXd& values) { return values.size() > 0 ? values.cwiseAbs().maxCoeff() : 0.0; }

/// A matrix of `rows` rows; `meaning` says why. Negative `cols`: any number of columns.
MatrixXd read_dense(const JsonField& field, int rows, const char* meaning, int cols = -1,
                    const char* cols_meaning = "") {
  const int found = field.at("cols").integer(0, kMaxDimension);
  if (cols >= 0 && found != cols) field.at("cols").fail(fmt::format("is {}, needs {} ({})", found, cols, cols_meaning));
  const SparseMatrix given = read_matrix(field, kMaxDimension, found);
  if (given.rows != rows) field.at("rows").fail(fmt::format("is {}, needs {} ({})", given.rows, rows, meaning));
  return dense(given);
}

/// Symmetric and positive semidefinite, both to rounding.
MatrixXd read_weight(const JsonField& root, const char* key, Index size, const char* meaning,
                     std::vector<std::string>& notes) {
  const JsonField field = root.at(key);
  const int n = static_cast<int>(size);
  const MatrixXd given = read_dense(field, n, meaning, n, meaning);
  const double scale = largest_size(given);
  if (scale == 0) return given;
  const MatrixXd weight = symmetrised(given, field, key, notes);
  const double least = symmetric_eigenvalues(MatrixXd(weight / scale)).minCoeff();
  if (least < -kNegativeEigenvalue) {
    field.fail(
        fmt::format("has the negative eigenvalue {:.6g}: the cost is not convex and may have no lower bound; weights "
                    "must be positive "
                    "semidefinite",
                    least * scale));
  }
  return weight;
}

enum class Side { kLower, kUpper };

/// A bound, which the infinity of the other side cannot be.
double read_bound(const JsonField& field, Side side) {
  const double value = field.bound();
  if (value == (side == Side::kLower ? kInfinity : -kInfinity))
    field.fail(fmt::format("{} bound cannot be {}inf", side == Side::kLower ? "a lower" : "an upper",
                           side == Side::kLower ? "" : "-"));
  return value;
}

VectorXd read_bounds(const JsonField& field, Index size, const char* meaning, Side side) {
  if (field.list_size() != to_size(size))
    field.fail(fmt::format("has {} numbers, needs {} ({})", field.list_size(), size, meaning));
  VectorXd out(size);
  for (Index i = 0; i < size; ++i) out[i] = read_bound(field.element(to_size(i)), side);
  return out;
}

/// Whether `field` is a list of lists, one per step.
bool stepwise(const JsonField& field) { return field.list_size() > 0 && field.element(0).is_list(); }

void check_steps(const JsonField& field, int steps, const char* meaning) {
  if (field.list_size() != to_size(steps))
    field.fail(fmt::format("has {} vectors, needs one vector, or {} of them ({})", field.list_size(), steps, meaning));
}

MatrixXd read_goal(const JsonField& field, Index size, int steps) {
  if (!stepwise(field)) return read_vector(field, size, "the states").replicate(1, steps);
  check_steps(field, steps, "N + 1");
  MatrixXd out(size, steps);
  for (int k = 0; k < steps; ++k) out.col(k) = read_vector(field.element(to_size(k)), size, "the states");
  return out;
}

MatrixXd read_input_bounds(const JsonField& field, Index size, int steps, Side side) {
  if (!stepwise(field)) return read_bounds(field, size, "the inputs", side).replicate(1, steps);
  check_steps(field, steps, "N");
  MatrixXd out(size, steps);
  for (int k = 0; k < steps; ++k) out.col(k) = read_bounds(field.element(to_size(k)), size, "the inputs", side);
  return out;
}

/// One number for all, or one each.
VectorXd read_uppers(const JsonField& field, Index size, const char* meaning) {
  if (!field.is_list()) return VectorXd::Constant(size, read_bound(field, Side::kUpper));
  return read_bounds(field, size, meaning, Side::kUpper);
}

void read_system(const JsonField& root, solvers::lcs::LinearComplementaritySystem& s) {
  const int nx = root.at("A").at("rows").integer(1, kMaxDimension);
  s.A = read_dense(root.at("A"), nx, "square", nx, "square");
  s.B = read_dense(root.at("B"), nx, "the states, rows of A");
  s.C = read_dense(root.at("C"), nx, "the states, rows of A");
  const int nu = s.nu(), pairs = s.pairs();
  constexpr const char* kRows = "the pairs, columns of C";
  s.D = read_dense(root.at("D"), pairs, kRows, nx, "the states");
  s.E = read_dense(root.at("E"), pairs, kRows, pairs, kRows);
  s.alpha = read_vector(root.at("alpha"), pairs, kRows);
  const auto D0 = root.find("D0"), H = root.find("H"), F = root.find("F");
  s.D0 = D0 ? read_dense(*D0, pairs, kRows, nx, "the states") : MatrixXd::Zero(pairs, nx);
  s.H = H ? read_dense(*H, pairs, kRows, nu, "the inputs, columns of B") : MatrixXd::Zero(pairs, nu);
  s.F = F ? read_vector(*F, nx, "the states") : VectorXd::Zero(nx);
}

/// A list per column.
Json columns_json(const MatrixXd& values) {
  Json result = Json::array();
  for (Index k = 0; k < values.cols(); ++k) result.push_back(numbers_json(values.col(k)));
  return result;
}

/// One column if all are the same.
Json columns_or_one_json(const MatrixXd& values) {
  return values == values.col(0).replicate(1, values.cols()) ? numbers_json(values.col(0)) : columns_json(values);
}

Json scaled_residuals(const solvers::lcs::LcsCertificate& certificate, double scale) {
  return residuals_json(certificate.dynamics / scale, certificate.primal / scale, certificate.complementarity / scale);
}

}  // namespace

LcsMpcProgram read_lcs_mpc(const JsonField& root, std::vector<std::string>& notes) {
  LcsMpcProgram p;
  read_system(root, p.system);
  const Index nx = p.system.nx(), nu = p.system.nu();
  p.N = root.at("N").integer(1, kMaxSteps);
  p.Q = read_weight(root, "Q", nx, "the states", notes);
  p.R = read_weight(root, "R", nu, "the inputs", notes);
  p.Qf = read_weight(root, "Qf", nx, "the states", notes);
  p.x0 = read_vector(root.at("x0"), nx, "the states");
  p.x_goal = read_goal(root.at("x_goal"), nx, p.N + 1);
  if (const auto field = root.find("x_min")) p.x_min = read_bounds(*field, nx, "the states", Side::kLower);
  if (const auto field = root.find("x_max")) p.x_max = read_bounds(*field, nx, "the states", Side::kUpper);
  if (const auto field = root.find("u_min")) p.u_min = read_input_bounds(*field, nu, p.N, Side::kLower);
  if (const auto field = root.find("u_max")) p.u_max = read_input_bounds(*field, nu, p.N, Side::kUpper);
  if (const auto field = root.find("gamma_max")) p.gamma_max = read_uppers(*field, p.system.pairs(), "the pairs");
  if (const auto field = root.find("x_price")) {
    p.x_price = read_uppers(*field, nx, "the states");
    for (Index i = 0; i < nx; ++i) {
      if (p.x_price[i] < 0)
        (field->is_list() ? field->element(to_size(i)) : *field)
            .fail(fmt::format("must not be negative, found {}", p.x_price[i]));
    }
  }
  return p;
}

void write_lcs_problem(const std::string& path, const std::string& name, const std::string& source,
                       const LcsMpcProgram& program) {
  check(program);
  const auto& s = program.system;
  Json file = problem_head("lcs_mpc", name, source);
  file["A"] = triplets_json(s.A);
  file["B"] = triplets_json(s.B);
  file["C"] = triplets_json(s.C);
  if (!s.F.isZero(0)) file["F"] = numbers_json(s.F);
  if (!s.D0.isZero(0)) file["D0"] = triplets_json(s.D0);
  file["D"] = triplets_json(s.D);
  file["E"] = triplets_json(s.E);
  if (!s.H.isZero(0)) file["H"] = triplets_json(s.H);
  file["alpha"] = numbers_json(s.alpha);
  file["N"] = program.N;
  file["Q"] = triplets_json(program.Q);
  file["R"] = triplets_json(program.R);
  file["Qf"] = triplets_json(program.Qf);
  file["x0"] = numbers_json(program.x0);
  file["x_goal"] = columns_or_one_json(program.x_goal);
  if (program.x_min.size() > 0) file["x_min"] = numbers_json(program.x_min);
  if (program.x_max.size() > 0) file["x_max"] = numbers_json(program.x_max);
  if (program.x_price.size() > 0) file["x_price"] = numbers_json(program.x_price);
  if (program.u_min.size() > 0) file["u_min"] = columns_or_one_json(program.u_min);
  if (program.u_max.size() > 0) file["u_max"] = columns_or_one_json(program.u_max);
  if (program.gamma_max.size() > 0) file["gamma_max"] = numbers_json(program.gamma_max);
  write_text(path, to_text(file));
}

double LcsAnswer::scale() const {
  return has_incumbent ? std::max({1.0, largest_size(point.x), largest_size(point.u), largest_size(point.gamma)}) : 1.0;
}

std::string lcs_result_json(const LcsProblemFile& file, const LcsAnswer& answer) {
  const bool any = answer.has_incumbent;
  solvers::lcs::LcsCertificate certificate{
      .dynamics = kInfinity, .primal = kInfinity, .complementarity = kInfinity, .cost = kInfinity};
  if (any) certificate = answer.certificate;
  Json out = result_head(file.name, "lcs_mpc", answer.status, lcs_sentence(answer), answer.time_s, answer.iterations);
  out["residuals"] = {{"scaled", scaled_residuals(certificate, answer.scale())},
                      {"absolute", scaled_residuals(certificate, 1)}};
  Json solution{{"cost", json_number(any ? answer.cost : kInfinity)},
                {"bound", json_number(answer.bound)},
                {"gap", json_number(answer.gap)}};
  solution["x"] = any ? columns_json(answer.point.x) : Json(nullptr);
  solution["u"] = any ? columns_json(answer.point.u) : Json(nullptr);
  solution["gamma"] = any ? columns_json(answer.point.gamma) : Json(nullptr);
  solution["nodes"] = answer.nodes;
  out["solution"] = std::move(solution);
  out["solver"] = "bnb";
  out["notes"] = file.notes;
  return to_text(out);
}

std::string_view lcs_sentence(const LcsAnswer& answer) {
  using solvers::Status;
  switch (answer.status) {
    case Status::kSolved:
      return "A trajectory was found and no other costs less, but for the gap asked for.";
    case Status::kInfeasible:
      return "A proof that no trajectory satisfies all constraints was found.";
    case Status::kTimeLimit:
      return answer.has_incumbent
                 ? "The time limit struck before the proof was finished; the best trajectory is returned."
                 : "The time limit struck before a trajectory was found.";
    case Status::kIterationLimit:
      return answer.has_incumbent
                 ? "The limit of nodes struck before the proof was finished; the best trajectory is returned."
                 : "The limit of nodes struck before a trajectory was found.";
    default:
      return solvers::sentence(answer.status);
  }
}

}  // namespace deft::io
