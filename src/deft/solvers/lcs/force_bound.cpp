#include "deft/solvers/lcs/force_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/math/dense.hpp"

namespace deft::solvers::lcs {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double kEigenvalueRounding = 1e-9;  // of an eigenvalue
constexpr double kSingular = 1e-12;           // of the largest pivot: rounding of a singular matrix
constexpr double kDefect = 1e-6;              // of an inverse: worse ones prove nothing
constexpr double kMostBases = 5000;
constexpr double kTermsError = 1e-12;         // of the terms of a sum: its error
constexpr double kNegativeMultiplier = 1e-7;  // a multiplier that is surely below −this cannot be

/// Σ_s (n over s)(m over s).
double systems(int n, int m) {
  double sum = 0, term = 1;
  for (int s = 1; s <= std::min(n, m); ++s) {
    term *= static_cast<double>(n - s + 1) * (m - s + 1) / (static_cast<double>(s) * s);
    sum += term;
  }
  return sum;
}

/// The next subset of {0 … n−1}, ascending entries, in lexicographic order. @returns false after the last.
bool next_subset(std::vector<int>& subset, int n) {
  const int size = static_cast<int>(subset.size());
  int i = size - 1;
  while (i >= 0 && subset[i] == n - size + i) --i;
  if (i < 0) return false;
  ++subset[i];
  for (int j = i + 1; j < size; ++j) subset[j] = subset[j - 1] + 1;
  return true;
}

std::vector<int> first_subset(int size) {
  std::vector<int> subset(to_size(size));
  for (int i = 0; i < size; ++i) subset[i] = i;
  return subset;
}

using Square = std::array<std::array<double, LcsForceBound::kMostRows>, LcsForceBound::kMostRows>;

/// Gauss and Jordan with the largest pivots, rows scaled to one. @returns false where the matrix is singular but for
/// rounding.
bool invert(Square a, int n, Square& inverse) {
  std::array<int, LcsForceBound::kMostRows> row_of{}, column_of{};
  std::array<double, LcsForceBound::kMostRows> scale{};
  std::array<bool, LcsForceBound::kMostRows> row_done{}, column_done{};
  Square right{};
  double first = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) scale[i] = std::max(scale[i], std::abs(a[i][j]));
    if (scale[i] == 0) return false;
    for (int j = 0; j < n; ++j) a[i][j] /= scale[i];
    right[i][i] = 1 / scale[i];
  }
  for (int step = 0; step < n; ++step) {
    double pivot = 0;
    int row = 0, column = 0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n && !row_done[i]; ++j) {
        if (!column_done[j] && std::abs(a[i][j]) > std::abs(pivot)) pivot = a[i][j], row = i, column = j;
      }
    }
    first = step == 0 ? std::abs(pivot) : first;
    if (std::abs(pivot) <= kSingular * first) return false;
    row_done[row] = column_done[column] = true;
    row_of[step] = row, column_of[step] = column;
    for (int i = 0; i < n; ++i) {
      const double factor = i == row ? 0.0 : a[i][column] / pivot;
      if (factor == 0) continue;
      for (int j = 0; j < n; ++j) {
        a[i][j] -= factor * a[row][j];
        right[i][j] -= factor * right[row][j];
      }
    }
  }
  for (int step = 0; step < n; ++step) {
    const std::size_t row = to_size(row_of[step]), column = to_size(column_of[step]);
    for (int j = 0; j < n; ++j) inverse[column][j] = right[row][j] / a[row][column];
  }
  return true;
}

/// |1 − X·B|, the largest sum of a row.
double defect_of(const Square& X, const Square& B, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      double entry = i == j ? 1 : 0;
      for (int k = 0; k < n; ++k) entry -= X[i][k] * B[k][j];
      sum += std::abs(entry);
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

LcsForceBound::LcsForceBound(const LinearComplementaritySystem& s)
    : nx_(s.nx()), M_(s.D * s.C + s.E), rows_(s.nx() + s.pairs(), s.pairs()) {
  rows_ << s.C, s.E;
}

double LcsForceBound::least_eigenvalue(Scratch& scratch) const {
  const auto [found, is_new] = scratch.least.try_emplace(scratch.pairs, 0.0);
  if (is_new) {
    const MatrixXd part = M_(scratch.pairs, scratch.pairs), symmetric = 0.5 * part + 0.5 * part.transpose();
    const double least = symmetric_eigenvalues(symmetric).minCoeff();
    found->second = std::max(0.0, least - kEigenvalueRounding * symmetric.cwiseAbs().rowwise().sum().maxCoeff());
  }
  return found->second;
}

const LcsForceBound::Vertices& LcsForceBound::vertices(Scratch& scratch) const {
  const auto found = scratch.known.find(scratch.pairs);
  return found != scratch.known.end() ? found->second
                                      : scratch.known.emplace(scratch.pairs, find(scratch.pairs)).first->second;
}

LcsForceBound::Vertices LcsForceBound::find(const std::vector<int>& pairs) const {
  Vertices out;
  MatrixXd B = rows_(Eigen::all, pairs);
  // Of the dynamics, which hold anyway, as many rows as are independent, the longest first.
  out.rows = independent_columns(B.topRows(nx_).transpose(), kSingular);
  for (int i = nx_; i < B.rows(); ++i) {
    if (!B.row(i).isZero(0)) out.rows.push_back(i);
  }
  const int n = static_cast<int>(pairs.size()), m = static_cast<int>(out.rows.size());
  if (std::min(n, m) > kMostRows || !(systems(n, m) <= kMostBases)) return out;
  B = B(out.rows, Eigen::all).eval();
  for (int size = 1; size <= std::min(n, m); ++size) {
    if (!add_bases(B, size, out.bases)) return out;
  }
  out.known = true;
  return out;
}

/// @returns false where an inverse is not good enough.
bool LcsForceBound::add_bases(const MatrixXd& B, int size, std::vector<Basis>& bases) const {
  const auto n = to_size(size);
  Square square{}, inverse{};
  std::vector<int> columns = first_subset(size), rows;
  do {
    rows = first_subset(size);
    do {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) square[i][j] = B(rows[i], columns[j]);
      }
      if (!invert(square, size, inverse)) continue;
      Basis basis{columns, rows, {}, defect_of(inverse, square, size)};
      if (!(basis.defect <= kDefect)) return false;
      for (std::size_t i = 0; i < n; ++i)
        basis.inverse.insert(basis.inverse.end(), inverse[i].begin(), inverse[i].begin() + size);
      bases.push_back(std::move(basis));
    } while (next_subset(rows, static_cast<int>(B.rows())));
  } while (next_subset(columns, static_cast<int>(B.cols())));
  return true;
}

void LcsForceBound::bound(const Vertices& vertices, Scratch& scratch) const {
  std::vector<double>&most = scratch.bounds, &trial = scratch.trial;
  most.assign(scratch.pairs.size(), 0.0);
  for (const Basis& basis : vertices.bases) {
    const std::size_t size = basis.columns.size();
    trial.assign(size, 0.0);
    double largest = 0;
    for (std::size_t i = 0; i < size; ++i) {
      double terms = 0;
      for (std::size_t j = 0; j < size; ++j) {
        const double a = basis.inverse[i * size + j];
        const std::size_t row = to_size(basis.rows[j]);
        trial[i] += a * (a > 0 ? scratch.high : scratch.low)[row];
        terms += std::abs(a) * std::max(std::abs(scratch.low[row]), std::abs(scratch.high[row]));
      }
      trial[i] += kTermsError * terms;
      largest = std::max(largest, terms);
    }
    const double error = basis.defect * largest / (1 - basis.defect) + kNegativeMultiplier;
    // All of γ_S is positive at a vertex.
    if (*std::min_element(trial.begin(), trial.end()) + error < 0) continue;
    for (std::size_t i = 0; i < size; ++i)
      most[basis.columns[i]] = std::max(most[basis.columns[i]], trial[i] + error - kNegativeMultiplier);
  }
}

}  // namespace deft::solvers::lcs
