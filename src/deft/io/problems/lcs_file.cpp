#include "deft/io/problems/lcs_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/io/problems/problem_file.hpp"
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

constexpr int kMaxSize = 4096;  // states, inputs, pairs: dense matrices
constexpr int kMaxSteps = 100000;
constexpr double kSymmetricRounding = 1e-9;   // relative to the largest entry: averaged silently
constexpr double kSymmetricTolerated = 1e-6;  // averaged with a note
constexpr double kNegative = 1e-12;           // relative: a negative eigenvalue that is rounding, as for the solver

/// A matrix of `rows` rows; `meaning` says why. Negative `cols`: any number of columns.
MatrixXd read_dense(const JsonField& field, int rows, const char* meaning, int cols = -1,
                    const char* cols_meaning = "") {
  const int found = field.at("cols").integer(0, kMaxSize);
  if (cols >= 0 && found != cols) field.at("cols").fail(fmt::format("is {}, needs {} ({})", found, cols, cols_meaning));
  const SparseMatrix given = read_matrix(field, kMaxSize, found);
  if (given.rows != rows) field.at("rows").fail(fmt::format("is {}, needs {} ({})", given.rows, rows, meaning));
  MatrixXd out = MatrixXd::Zero(given.rows, given.cols);
  for (const MatrixEntry& entry : given.entries) out(entry.row, entry.col) = entry.value;
  return out;
}

VectorXd read_vector(const JsonField& field, Index size, const char* meaning) {
  const std::vector<double> values = field.numbers(to_size(size), meaning);
  return Eigen::Map<const VectorXd>(values.data(), size);
}

/// Symmetric and positive semidefinite, both to rounding.
MatrixXd read_weight(const JsonField& root, const char* key, Index size, const char* meaning,
                     std::vector<std::string>& notes) {
  const JsonField field = root.at(key);
  const int n = static_cast<int>(size);
  MatrixXd weight = read_dense(field, n, meaning, n, meaning);
  const double scale = n > 0 ? weight.cwiseAbs().maxCoeff() : 0.0;
  if (scale == 0) return weight;
  const double relative = (weight / scale - weight.transpose() / scale).cwiseAbs().maxCoeff();
  if (!(relative <= kSymmetricTolerated)) {
    field.fail(
        fmt::format("is not symmetric: entries across the diagonal differ by {:.3g} of the largest one (up to {:g} "
                    "would be averaged)",
                    relative, kSymmetricTolerated));
  }
  if (relative > kSymmetricRounding)
    notes.push_back(fmt::format("{} was symmetrised: entries across the diagonal differ by {:.3g} of the largest one",
                                key, relative));
  weight = (0.5 * weight + 0.5 * weight.transpose()).eval();
  const double least = symmetric_eigenvalues(MatrixXd(weight / scale)).minCoeff();
  if (least < -kNegative) {
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
  const int nx = root.at("A").at("rows").integer(1, kMaxSize);
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

/// Its entries that are not zero.
Json triplets(const MatrixXd& matrix) {
  Json entries = Json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) {
      if (matrix(i, j) != 0) entries.push_back({i, j, matrix(i, j)});
    }
  }
  return {{"rows", matrix.rows()}, {"cols", matrix.cols()}, {"triplets", entries}};
}

template <class Vector>
Json numbers(const Vector& values) {
  Json result = Json::array();
  for (Index i = 0; i < values.size(); ++i) result.push_back(json_number(values(i)));
  return result;
}

/// A list per column.
Json columns(const MatrixXd& values) {
  Json result = Json::array();
  for (Index k = 0; k < values.cols(); ++k) result.push_back(numbers(values.col(k)));
  return result;
}

/// One column if all are the same.
Json columns_or_one(const MatrixXd& values) {
  return values == values.col(0).replicate(1, values.cols()) ? numbers(values.col(0)) : columns(values);
}

Json residuals(const solvers::lcs::LcsCertificate& certificate, double scale) {
  return {{"stationarity", json_number(certificate.dynamics / scale)},
          {"primal", json_number(certificate.primal / scale)},
          {"complementarity", json_number(certificate.complementarity / scale)}};
}

double largest(const MatrixXd& values) { return values.size() > 0 ? values.cwiseAbs().maxCoeff() : 0.0; }

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
  Json file{{"format", "deft-problem"}, {"version", 1}, {"kind", "lcs_mpc"}, {"name", name}, {"source", source}};
  file["A"] = triplets(s.A);
  file["B"] = triplets(s.B);
  file["C"] = triplets(s.C);
  if (!s.F.isZero(0)) file["F"] = numbers(s.F);
  if (!s.D0.isZero(0)) file["D0"] = triplets(s.D0);
  file["D"] = triplets(s.D);
  file["E"] = triplets(s.E);
  if (!s.H.isZero(0)) file["H"] = triplets(s.H);
  file["alpha"] = numbers(s.alpha);
  file["N"] = program.N;
  file["Q"] = triplets(program.Q);
  file["R"] = triplets(program.R);
  file["Qf"] = triplets(program.Qf);
  file["x0"] = numbers(program.x0);
  file["x_goal"] = columns_or_one(program.x_goal);
  if (program.x_min.size() > 0) file["x_min"] = numbers(program.x_min);
  if (program.x_max.size() > 0) file["x_max"] = numbers(program.x_max);
  if (program.x_price.size() > 0) file["x_price"] = numbers(program.x_price);
  if (program.u_min.size() > 0) file["u_min"] = columns_or_one(program.u_min);
  if (program.u_max.size() > 0) file["u_max"] = columns_or_one(program.u_max);
  if (program.gamma_max.size() > 0) file["gamma_max"] = numbers(program.gamma_max);
  write_text(path, to_text(file));
}

double LcsAnswer::scale() const {
  return has_incumbent ? std::max({1.0, largest(point.x), largest(point.u), largest(point.gamma)}) : 1.0;
}

std::string lcs_result_json(const LcsProblemFile& file, const LcsAnswer& answer) {
  const bool any = answer.has_incumbent;
  solvers::lcs::LcsCertificate certificate{
      .dynamics = kInfinity, .primal = kInfinity, .complementarity = kInfinity, .cost = kInfinity};
  if (any) certificate = answer.certificate;
  Json out{{"name", file.name}, {"kind", "lcs_mpc"}, {"status", std::string(solvers::to_string(answer.status))}};
  out["message"] = std::string(lcs_sentence(answer));
  out["time_s"] = json_number(answer.time_s);
  out["iterations"] = answer.iterations;
  out["residuals"] = {{"scaled", residuals(certificate, answer.scale())}, {"absolute", residuals(certificate, 1)}};
  Json solution{{"cost", json_number(any ? answer.cost : kInfinity)},
                {"bound", json_number(answer.bound)},
                {"gap", json_number(answer.gap)}};
  solution["x"] = any ? columns(answer.point.x) : Json(nullptr);
  solution["u"] = any ? columns(answer.point.u) : Json(nullptr);
  solution["gamma"] = any ? columns(answer.point.gamma) : Json(nullptr);
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
