#include "deft/solvers/lcp/energy_bound.hpp"

#include <algorithm>
#include <cmath>

#include "deft/math/dense.hpp"

namespace deft::solvers::lcp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNoDiagonal = 1e-13;  // smaller diagonal entries count as zero, scaled
constexpr double kCancelled = 1e-13;   // of two entries: their sum is rounding
constexpr double kLeft = 1e-14;        // of the diagonal: smaller pivots are rounding
constexpr double kRelaxed = 1e-9;      // of the energies of a cut, which is relaxed by as much
constexpr double kUndecided = 1e-9;    // of a row: a larger rest is not decided by Sz

Eigen::Map<const VectorXd> view(std::span<const double> z, Index n) { return {z.data(), n}; }

/// Cholesky's method, the largest pivot first: what is left when none is, must be rounding. @pre the diagonal is one or
/// zero.
bool is_semidefinite(MatrixXd T) {
  const Index n = T.rows();
  for (Index k = 0; k < n; ++k) {
    Index at = 0;
    const double pivot = T.diagonal().maxCoeff(&at);
    if (pivot <= kLeft) break;
    const VectorXd column = T.col(at);
    T.noalias() -= (column / pivot) * column.transpose();
    T.row(at).setZero();
    T.col(at).setZero();
  }
  return n == 0 || T.cwiseAbs().maxCoeff() <= 10 * kLeft;
}

}  // namespace

bool EnergyBound::assign(const ScaledComplementarity& problem) {
  const Index n = problem.n;
  weight_.resize(n);
  q_.resize(n);
  for (Index i = 0; i < n; ++i) weight_(i) = problem.row[i] * problem.col[i];
  const double largest_weight = n > 0 ? weight_.maxCoeff() : 0.0;
  if (!(largest_weight > 0 && std::isfinite(largest_weight))) return false;
  weight_ /= largest_weight;
  S_.resize(n, n);
  N_.setZero(n, n);
  for (Index i = 0; i < n; ++i) q_(i) = weight_(i) * problem.q[i];
  const auto entry = [&](Index i, Index j) { return weight_(i) * problem.M_row(static_cast<int>(i))[j]; };
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double a = entry(i, j), b = entry(j, i), size = std::abs(a) + std::abs(b);
      double value = std::abs(a + b) <= kCancelled * size ? 0.0 : 0.5 * (a + b);
      // Rows without a diagonal cannot belong to S ⪰ 0.
      const bool bare =
          problem.M_row(static_cast<int>(i))[i] <= kNoDiagonal || problem.M_row(static_cast<int>(j))[j] <= kNoDiagonal;
      if (bare && value != 0) {
        if (i != j && (problem.free[i] || problem.free[j] || value < 0)) return false;
        if (i == j && value < -kNoDiagonal * weight_(i)) return false;
        if (i != j) N_(i, j) = N_(j, i) = value;
        value = 0;
      }
      S_(i, j) = S_(j, i) = value;
    }
  }
  // S ⪰ 0, looked at with ones on the diagonal.
  VectorXd unit(n);
  for (Index i = 0; i < n; ++i) unit(i) = S_(i, i) > 0 ? 1 / std::sqrt(S_(i, i)) : 0.0;
  return is_semidefinite(unit.asDiagonal() * S_ * unit.asDiagonal());
}

double EnergyBound::value(std::span<const double> z) const {
  const auto x = view(z, q_.size());
  return x.dot(S_ * x) + q_.dot(x);
}

void EnergyBound::tangent(std::span<const double> y, Cut& cut) const {
  const auto x = view(y, q_.size());
  const VectorXd Sx = S_ * x;
  const double curved = x.dot(Sx), size = std::max(curved, q_.cwiseAbs().dot(x.cwiseAbs()));
  const VectorXd slope = -(q_ + 2 * Sx);
  const double unit = slope.size() > 0 ? slope.lpNorm<Eigen::Infinity>() : 0.0;
  cut.slope.assign(slope.data(), slope.data() + slope.size());
  cut.constant = curved + kRelaxed * size;
  if (!(unit > 0)) return;
  for (double& entry : cut.slope) entry /= unit;
  cut.constant = cut.constant / unit + kRelaxed;
}

// E along the segment is a parabola, E(inside) ≤ 0 < E(outside).
void EnergyBound::border(std::span<const double> inside, std::span<const double> outside,
                         std::vector<double>& y) const {
  const auto a = view(inside, q_.size()), b = view(outside, q_.size());
  const VectorXd d = b - a, Sd = S_ * d;
  const double curved = d.dot(Sd), linear = q_.dot(d) + 2 * a.dot(Sd), start = std::min(0.0, value(inside));
  const double root = std::sqrt(std::max(0.0, linear * linear - 4 * curved * start));
  // The positive root of curved t² + linear t + start, without cancellation.
  const double t = linear > 0 ? -2 * start / (linear + root) : (root - linear) / (2 * curved);
  const VectorXd point = a + (std::isfinite(t) ? std::clamp(t, 0.0, 1.0) : 1.0) * d;
  y.assign(point.data(), point.data() + point.size());
}

bool EnergyBound::is_frictionless(std::span<const double> z) const { return (N_ * view(z, q_.size())).isZero(0); }

double EnergyBound::dissipation(std::span<const double> z) const {
  const auto x = view(z, q_.size());
  return x.dot(N_ * x);
}

bool EnergyBound::decides(const MatrixXd& rows) const {
  if (rows.isZero(0)) return true;
  const LeastSquares factor(S_);
  const MatrixXd rest = rows.transpose() - S_ * factor.solve(MatrixXd(rows.transpose()));
  for (Index k = 0; k < rows.rows(); ++k)
    if (!(rest.col(k).lpNorm<Eigen::Infinity>() <= kUndecided * rows.row(k).lpNorm<Eigen::Infinity>())) return false;
  return true;
}

}  // namespace deft::solvers::lcp
