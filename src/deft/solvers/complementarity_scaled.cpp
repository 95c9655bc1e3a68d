#include "deft/solvers/complementarity_scaled.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "deft/solvers/kernels/dense_kernels.hpp"

namespace deft::solvers {
namespace {

constexpr double kNoise = 1e-9;       // entries below this of the largest of their row are rounding, for the choice of units
constexpr double kZero = 1e-14;       // entries below this, in natural units, are rounding of zero and left out
constexpr int kPasses = 2;             // more change little
constexpr int kLargestExponent = 900;  // factors stay far from overflow

/// ⌊log₂ x⌋ of a positive number that is not denormal.
int exponent_of(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52) - 1023; }

/// 2ᵏ. @pre |k| ≤ kLargestExponent.
double power_of_two(int k) { return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52); }

/// A power of two near 1/√(a b), a ≥ b > 0.
double balancing(double a, double b) {
  const int exponent = -((exponent_of(a) + exponent_of(b) + 1) >> 1);
  return power_of_two(std::clamp(exponent, -kLargestExponent, kLargestExponent));
}

}  // namespace

void ScaledComplementarity::assign(const ComplementarityProgram& program) {
  n = static_cast<int>(program.q.size());
  ld = padded(n);
  const auto size = static_cast<std::size_t>(n);
  M.assign(size * static_cast<std::size_t>(ld), 0.0);
  for (int j = 0; j < n; ++j) {
    const double* column = program.M.data() + static_cast<std::ptrdiff_t>(j) * program.M.rows();
    for (int i = 0; i < n; ++i) M_row(i)[j] = column[i];
  }
  free.assign(size, 0);
  for (const int i : program.free) free[static_cast<std::size_t>(i)] = 1;
  num_free = static_cast<int>(program.free.size());
  equilibrate();
  for (double& entry : M) entry = std::abs(entry) > kZero ? entry : 0;

  q.resize(size);
  for (std::size_t i = 0; i < size; ++i) q[i] = program.q[static_cast<Eigen::Index>(i)] / row[i];
  normalise_parts();
}

void ScaledComplementarity::normalise_parts() {
  row_seen_.assign(static_cast<std::size_t>(n), 0);
  col_seen_.assign(static_cast<std::size_t>(n), 0);
  for (int first = 0; first < n; ++first) {
    if (row_seen_[static_cast<std::size_t>(first)]) continue;
    collect_part(first);
    double drive = 0, any = 0;
    for (const int i : rows_) {
      const auto k = static_cast<std::size_t>(i);
      drive = std::max(drive, free[k] ? std::abs(q[k]) : -q[k]);
      any = std::max(any, std::abs(q[k]));
    }
    if (drive == 0) drive = any;
    if (drive == 0) continue;
    const double unit = std::ldexp(1.0, std::clamp(std::ilogb(drive), -kLargestExponent, kLargestExponent));
    for (const int i : rows_) {
      row[static_cast<std::size_t>(i)] *= unit;
      q[static_cast<std::size_t>(i)] /= unit;
    }
    for (const int j : cols_) col[static_cast<std::size_t>(j)] *= unit;
  }
}

// Rows and columns that entries connect with a row.
void ScaledComplementarity::collect_part(int first) {
  rows_.assign(1, first);
  cols_.clear();
  row_seen_[static_cast<std::size_t>(first)] = 1;
  std::size_t next_col = 0;
  for (std::size_t next = 0; next < rows_.size(); ++next) {
    const double* values = M_row(rows_[next]);
    for (int j = 0; j < n; ++j) {
      if (std::abs(values[j]) <= kNoise || col_seen_[static_cast<std::size_t>(j)]) continue;
      col_seen_[static_cast<std::size_t>(j)] = 1;
      cols_.push_back(j);
    }
    for (; next_col < cols_.size(); ++next_col) {
      const double* entry = M.data() + cols_[next_col];
      for (int i = 0; i < n && rows_.size() < static_cast<std::size_t>(n); ++i) {
        if (row_seen_[static_cast<std::size_t>(i)] || std::abs(entry[static_cast<std::ptrdiff_t>(i) * ld]) <= kNoise) continue;
        row_seen_[static_cast<std::size_t>(i)] = 1;
        rows_.push_back(i);
      }
    }
  }
}

void ScaledComplementarity::equilibrate() {
  const auto size = static_cast<std::size_t>(n);
  row.assign(size, 1.0);
  col.assign(size, 1.0);
  high_.resize(static_cast<std::size_t>(ld));
  low_.resize(static_cast<std::size_t>(ld));
  // The first pass makes the largest entry of each row and column one: then what is rounding can be told.
  for (int pass = 0; pass <= kPasses; ++pass) {
    for (int i = 0; i < n; ++i) {
      double* values = M_row(i);
      double high = 0, low = std::numeric_limits<double>::infinity();
      for (int j = 0; j < n; ++j) high = std::max(high, std::abs(values[j]));
      const double least = pass == 0 ? high : kNoise * high;
      if (pass == 0) low = high;
      for (int j = 0; j < n; ++j) {
        const double entry = std::abs(values[j]);
        low = entry > least ? std::min(low, entry) : low;
      }
      const double factor = high > 0 ? balancing(high, low) : 1;
      if (factor == 1) continue;
      row[static_cast<std::size_t>(i)] /= factor;
      for (int j = 0; j < n; ++j) values[j] *= factor;
    }
    const double least = pass == 0 ? 0.999 : kNoise;  // of the largest entry
    std::fill(high_.begin(), high_.end(), 0.0);
    std::fill(low_.begin(), low_.end(), std::numeric_limits<double>::infinity());
    for (int i = 0; i < n; ++i) {
      const double* values = M_row(i);
      for (int j = 0; j < ld; ++j) high_[static_cast<std::size_t>(j)] = std::max(high_[static_cast<std::size_t>(j)], std::abs(values[j]));
    }
    for (int i = 0; i < n; ++i) {
      const double* values = M_row(i);
      for (int j = 0; j < n; ++j) {
        const double entry = std::abs(values[j]);
        double& low = low_[static_cast<std::size_t>(j)];
        low = entry > least * high_[static_cast<std::size_t>(j)] ? std::min(low, entry) : low;
      }
    }
    bool moved = false;
    for (int j = 0; j < n; ++j) {
      double& factor = high_[static_cast<std::size_t>(j)];
      factor = factor > 0 ? balancing(factor, low_[static_cast<std::size_t>(j)]) : 1;
      col[static_cast<std::size_t>(j)] *= factor;
      moved = moved || factor != 1;
    }
    if (!moved && pass > 0) break;
    for (int j = n; j < ld; ++j) high_[static_cast<std::size_t>(j)] = 1;
    for (int i = 0; i < n; ++i) {
      double* values = M_row(i);
      for (int j = 0; j < ld; ++j) values[j] *= high_[static_cast<std::size_t>(j)];
    }
  }
}

}  // namespace deft::solvers
