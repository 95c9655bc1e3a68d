#pragma once
// The plain truth about small complementarity problems: every one of the 2ⁿ modes, one linear program each. Shares
// nothing with the solver.

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "deft/solvers/lcp/complementarity_program.hpp"

namespace deft::testing {

/// max cᵀx with Ax = b, x ≥ 0, by the two-phase simplex method with Bland's rule on a dense tableau.
class PlainSimplex {
 public:
  /// @returns nothing if infeasible; infinity if unbounded.
  static std::optional<double> maximise(Eigen::MatrixXd A, Eigen::VectorXd b, const Eigen::VectorXd& c) {
    const Eigen::Index rows = A.rows(), cols = A.cols();
    for (Eigen::Index i = 0; i < rows; ++i) {
      if (b[i] < 0) {
        b[i] = -b[i];
        A.row(i) *= -1;
      }
    }
    Eigen::MatrixXd T = Eigen::MatrixXd::Zero(rows + 1, cols + rows + 1);
    T.topLeftCorner(rows, cols) = A;
    T.block(0, cols, rows, rows).setIdentity();
    T.topRightCorner(rows, 1) = b;
    std::vector<Eigen::Index> basis(rows);
    for (Eigen::Index i = 0; i < rows; ++i) basis[i] = cols + i;
    for (Eigen::Index i = 0; i < rows; ++i) T.row(rows) -= T.row(i);  // phase 1: minus the sum of the artificial ones
    T.block(rows, cols, 1, rows).setZero();
    run(T, basis, cols);
    if (T(rows, cols + rows) < -kTolerance) return std::nullopt;
    for (Eigen::Index i = 0; i < rows; ++i) {  // artificial ones at zero leave where they can
      for (Eigen::Index j = 0; j < cols && basis[i] >= cols; ++j) {
        if (std::abs(T(i, j)) > kTolerance) pivot(T, basis, i, j);
      }
    }
    T.row(rows).setZero();
    T.row(rows).head(cols) = -c.transpose();
    for (Eigen::Index i = 0; i < rows; ++i) {
      const Eigen::Index j = basis[i];
      if (j < cols) T.row(rows) += c[j] * T.row(i);
    }
    if (!run(T, basis, cols)) return std::numeric_limits<double>::infinity();
    return T(rows, cols + rows);
  }

 private:
  static constexpr double kTolerance = 1e-9;

  static void pivot(Eigen::MatrixXd& T, std::vector<Eigen::Index>& basis, Eigen::Index r, Eigen::Index s) {
    T.row(r) /= T(r, s);
    for (Eigen::Index i = 0; i < T.rows(); ++i) {
      if (i != r) T.row(i) -= T(i, s) * T.row(r);
    }
    basis[r] = s;
  }

  /// Costs in the last row, to be made nonnegative. @returns false if unbounded.
  static bool run(Eigen::MatrixXd& T, std::vector<Eigen::Index>& basis, Eigen::Index cols) {
    const Eigen::Index rows = T.rows() - 1, last = T.cols() - 1;
    for (;;) {
      Eigen::Index s = 0;
      while (s < cols && T(rows, s) >= -kTolerance) ++s;
      if (s == cols) return true;
      Eigen::Index r = -1;
      for (Eigen::Index i = 0; i < rows; ++i) {
        if (T(i, s) <= kTolerance) continue;
        const double ratio = T(i, last) / T(i, s);
        const double best = r < 0 ? 0 : T(r, last) / T(r, s);
        if (r < 0 || ratio < best - 1e-12 || (ratio < best + 1e-12 && basis[i] < basis[r])) r = i;
      }
      if (r < 0) return false;
      pivot(T, basis, r, s);
    }
  }
};

/// What all modes together say.
struct ModesTruth {
  bool feasible = false;
  double spread = 0;  // the widest range of a motion (P z)_k over all solutions; may be infinite
};

/// Enumerates. @pre at most some twelve pairs.
inline ModesTruth enumerate_modes(const solvers::lcp::ComplementarityProgram& p) {
  const Eigen::Index n = p.q.size();
  std::vector<char> is_free(n, 0);
  for (const int i : p.free) is_free[i] = 1;
  std::vector<Eigen::Index> pairs;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!is_free[i]) pairs.push_back(i);
  }
  const Eigen::MatrixXd P = p.motion.size() > 0 ? p.motion : Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n));
  Eigen::VectorXd low = Eigen::VectorXd::Constant(P.rows(), std::numeric_limits<double>::infinity()), high = -low;
  ModesTruth truth;
  for (std::uint64_t mode = 0; mode < (std::uint64_t{1} << pairs.size()); ++mode) {
    std::vector<char> basic(n, 0);
    std::vector<Eigen::Index> chosen;
    for (std::size_t k = 0; k < pairs.size(); ++k) basic[pairs[k]] = (mode >> k & 1) != 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (is_free[i] || basic[i]) chosen.push_back(i);
    }
    const auto size = static_cast<Eigen::Index>(chosen.size());
    Eigen::MatrixXd block(size, size);
    Eigen::VectorXd rhs(size);
    for (Eigen::Index k = 0; k < size; ++k) {
      for (Eigen::Index l = 0; l < size; ++l) block(k, l) = p.M(chosen[k], chosen[l]);
      rhs[k] = -p.q[chosen[k]];
    }
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(size > 0 ? block : Eigen::MatrixXd(Eigen::MatrixXd::Identity(1, 1)));
    if (lu.isInvertible()) {
      Eigen::VectorXd z = Eigen::VectorXd::Zero(n);
      if (size > 0) {
        const Eigen::VectorXd x = lu.solve(rhs);
        for (Eigen::Index k = 0; k < size; ++k) z[chosen[k]] = x[k];
      }
      const Eigen::VectorXd w = p.M * z + p.q;
      bool holds = true;
      for (const Eigen::Index i : pairs) holds = holds && z[i] >= -1e-9 && w[i] >= -1e-9;
      if (!holds) continue;
      truth.feasible = true;
      low = low.cwiseMin(P * z);
      high = high.cwiseMax(P * z);
      continue;
    }
    // A system that is singular: columns z (free ones twice), then the slacks of the other rows.
    std::vector<std::pair<Eigen::Index, double>> columns;
    for (const Eigen::Index j : chosen) {
      columns.emplace_back(j, 1);
      if (is_free[j]) columns.emplace_back(j, -1);
    }
    const auto num_z = static_cast<Eigen::Index>(columns.size());
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, num_z + n - size), Pz = Eigen::MatrixXd::Zero(P.rows(), A.cols());
    for (Eigen::Index l = 0; l < num_z; ++l) {
      A.col(l) = columns[l].second * p.M.col(columns[l].first);
      Pz.col(l) = columns[l].second * P.col(columns[l].first);
    }
    Eigen::Index slack = num_z;
    for (const Eigen::Index i : pairs) {
      if (!basic[i]) A(i, slack++) = -1;
    }
    for (Eigen::Index k = 0; k < P.rows(); ++k) {
      const auto top = PlainSimplex::maximise(A, -p.q, Pz.row(k).transpose());
      if (!top) break;
      truth.feasible = true;
      const auto bottom = PlainSimplex::maximise(A, -p.q, -Pz.row(k).transpose());
      high[k] = std::max(high[k], *top);
      low[k] = std::min(low[k], -bottom.value_or(0));
    }
  }
  if (truth.feasible) truth.spread = (high - low).maxCoeff();
  return truth;
}

}  // namespace deft::testing
