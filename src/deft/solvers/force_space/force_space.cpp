#include "deft/solvers/force_space/force_space.hpp"

#include <algorithm>
#include <cmath>

#include "deft/solvers/linear/spectral_cone_operator.hpp"

namespace deft::solvers::force_space {
namespace {

using Eigen::VectorXd;

constexpr double kSmallestEnergy = 1e-12;
constexpr double kRoundingShare = 1e-15, kWorstRounding = 1e-6;  // of |r|, and what is called solved at worst
constexpr double kNothing = 1e-17;  // scaled entries of W below this are rounding of what is not coupled

// Distance of x from the standard cone along its axis.
double outside(int rows, const double* x) { return std::max(0.0, linear::tail_norm(rows, x) - x[0]); }

}  // namespace

void ForceSpace::scale(const DelassusProgram& program) {
  const int n = static_cast<int>(program.mu.size());
  const VectorXd diagonal = program.W.diagonal();
  contacts.assign(n, {});
  std::vector<int> scaled_of(program.q.size(), -1);
  VectorXd factor_of(program.q.size());
  int rows = 0;
  double E0 = kSmallestEnergy;
  for (int i = 0; i < n; ++i) {
    Contact& c = contacts[i];
    c.raw = i * program.dim;
    c.mu = program.mu[i];
    c.rows = c.mu > 0 ? program.dim : 1;
    c.first = rows;
    rows += c.rows;
    const double trace = diagonal.segment(c.raw, program.dim).sum() / program.dim;
    c.w = trace > 0 ? std::sqrt(trace) : 1.0;
    E0 = std::max(E0, program.q.segment(c.raw, program.dim).squaredNorm() / (c.w * c.w));
    for (int k = 0; k < c.rows; ++k) {
      scaled_of[c.raw + k] = c.first + k;
      factor_of[c.raw + k] = (k == 0 ? 1.0 : c.mu) / c.w;
    }
  }
  root_E0 = std::sqrt(E0);
  q.resize(rows);
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(program.W.nonZeros());
  for (int k = 0; k < program.W.outerSize(); ++k) {
    if (scaled_of[k] < 0) continue;
    q[scaled_of[k]] = program.q[k] * factor_of[k] / root_E0;
    for (Eigen::SparseMatrix<double>::InnerIterator it(program.W, k); it; ++it) {
      const auto row = static_cast<int>(it.row());
      if (scaled_of[row] < 0) continue;
      const double value = 0.5 * it.value() * factor_of[row] * factor_of[k];
      if (std::abs(value) <= kNothing) continue;
      entries.emplace_back(scaled_of[row], scaled_of[k], value);
      entries.emplace_back(scaled_of[k], scaled_of[row], value);
    }
  }
  W.resize(rows, rows);
  W.setFromTriplets(entries.begin(), entries.end());
}

void ForceSpace::unpack(const DelassusProgram& program, const VectorXd& r, DelassusSolution& solution) const {
  solution.r.setZero(program.q.size());
  for (const Contact& c : contacts) {
    for (int k = 0; k < c.rows; ++k) solution.r[c.raw + k] = r[c.first + k] * root_E0 / c.w * (k == 0 ? 1.0 : c.mu);
  }
  solution.u = 0.5 * (program.W * solution.r + program.W.transpose() * solution.r) + program.q;
}

double ForceSpace::residual(const VectorXd& r, const VectorXd& de_saxce) const {
  const VectorXd u = W * r + q + de_saxce;
  double worst = 0;
  for (const Contact& c : contacts) {
    const double *rc = r.data() + c.first, *uc = u.data() + c.first;
    const double size = std::sqrt(linear::dot(c.rows, rc, rc)),
                 product = std::abs(linear::dot(c.rows, rc, uc)) / std::max(1.0, size);
    const double beyond = (c.rows > 1 ? c.mu : 1.0) * outside(c.rows, rc);  // as raw forces see it
    const double error = std::max({beyond, outside(c.rows, uc), product});
    if (!(error <= worst)) worst = error;  // NaN stays
  }
  return worst;
}

double ForceSpace::coulomb_residual(const VectorXd& r) const {
  VectorXd de_saxce = VectorXd::Zero(r.size());
  const VectorXd u = W * r + q;
  for (const Contact& c : contacts) de_saxce[c.first] = linear::tail_norm(c.rows, u.data() + c.first);
  return residual(r, de_saxce);
}

void BestForces::start(const VectorXd& from) {
  r = from;
  error = std::numeric_limits<double>::infinity();
  solved = false;
}

bool BestForces::offer(const ForceSpace& space, double tolerance, const VectorXd& candidate) {
  const double found = space.coulomb_residual(candidate);
  if (found < error) {
    error = found;
    r = candidate;
  }
  solved |= found <= reachable(tolerance, candidate);
  return solved;
}

double reachable(double tolerance, const VectorXd& r) {
  const double largest = r.lpNorm<Eigen::Infinity>();
  return std::max(tolerance, std::min(kRoundingShare * largest, kWorstRounding));
}

}  // namespace deft::solvers::force_space
