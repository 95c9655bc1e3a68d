// Is a program in force space well formed, and what are the residuals of a solution? Shares no code with the solver.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/solvers/force_space/delassus_program.hpp"

namespace deft::solvers::force_space {
namespace {

using Eigen::VectorXd;

constexpr double kLeastEnergy = 1e-12;  // floor of E0

}  // namespace

void check(const DelassusProgram& p) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument("delassus program: " + what); };
  if (p.dim != 2 && p.dim != 3) fail(fmt::format("dim = {} must be 2 or 3", p.dim));
  const Eigen::Index n = p.dim * static_cast<Eigen::Index>(p.mu.size());
  if (p.q.size() != n) fail(fmt::format("q has size {}, expected {} for {} contacts", p.q.size(), n, p.mu.size()));
  if (p.W.rows() != n || p.W.cols() != n)
    fail(fmt::format("W is {} × {}, expected {} × {}", p.W.rows(), p.W.cols(), n, n));
  if (!p.q.allFinite()) fail("q: a value is not finite");
  for (int k = 0; k < p.W.outerSize(); ++k) {
    for (Eigen::SparseMatrix<double>::InnerIterator it(p.W, k); it; ++it) {
      if (!std::isfinite(it.value())) fail(fmt::format("W({}, {}) is not finite", it.row(), it.col()));
    }
  }
  for (std::size_t i = 0; i < p.mu.size(); ++i) {
    if (!(p.mu[i] >= 0) || !std::isfinite(p.mu[i]))
      fail(fmt::format("mu[{}] = {} must be finite and not negative", i, p.mu[i]));
  }
}

double DelassusCertificate::max_scaled() const { return std::max({stationarity, primal, dual, complementarity}); }

DelassusCertificate certify(const DelassusProgram& program, const DelassusSolution& solution) {
  check(program);
  if (solution.r.size() != program.q.size() || solution.u.size() != program.q.size())
    throw std::invalid_argument("delassus certificate: r and u must have the size of q");
  DelassusCertificate out;
  const int dim = program.dim;
  const VectorXd difference =
      solution.u - program.q - 0.5 * (program.W * solution.r) - 0.5 * (program.W.transpose() * solution.r);
  const VectorXd diagonal = program.W.diagonal();
  double E0 = kLeastEnergy;
  std::vector<double> w(program.mu.size());
  for (std::size_t i = 0; i < w.size(); ++i) {
    const Eigen::Index at = static_cast<Eigen::Index>(i) * dim;
    const double trace = diagonal.segment(at, dim).sum() / dim;
    w[i] = trace > 0 ? std::sqrt(trace) : 1.0;
    E0 = std::max(E0, program.q.segment(at, dim).squaredNorm() / (w[i] * w[i]));
  }
  const double root = std::sqrt(E0);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const Eigen::Index at = static_cast<Eigen::Index>(i) * dim;
    const double mu = program.mu[i];
    const VectorXd r = solution.r.segment(at, dim);
    VectorXd u = solution.u.segment(at, dim);
    const double sliding = u.tail(dim - 1).norm();
    if (program.law == SlidingLaw::kCoulomb) u[0] += mu * sliding;
    const double outside = std::max(0.0, mu * sliding - u[0]),
                 beyond = std::max(0.0, r.tail(dim - 1).norm() - mu * r[0]);
    const double product = std::abs(u.dot(r)), rest = difference.segment(at, dim).norm();
    out.stationarity_abs = std::max(out.stationarity_abs, rest);
    out.primal_abs = std::max(out.primal_abs, outside);
    out.complementarity_abs = std::max(out.complementarity_abs, product);
    out.stationarity = std::max(out.stationarity, rest / (w[i] * root));
    out.primal = std::max(out.primal, outside / (w[i] * root));
    out.dual = std::max({out.dual, beyond * w[i] / root, -r[0] * w[i] / root});
    out.complementarity = std::max(out.complementarity, product / std::max(E0, w[i] * r.norm() * root));
  }
  return out;
}

}  // namespace deft::solvers::force_space
