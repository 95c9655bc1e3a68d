#include "deft/solvers/lcp/scaled_complementarity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/dense_kernels.hpp"

namespace deft::solvers::lcp {
namespace {

constexpr double kNoise = 1e-9;  // entries below this of the largest of their row are rounding, for the choice of units
constexpr double kZero = 1e-14;  // scaled entries below this are rounding of zero and left out
constexpr double kAlike = 4;     // times larger or smaller: largest entries that are about as large as before
constexpr int kPasses = 2;       // more change little
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

// Separate results per lane, so that the compiler may vectorise.
constexpr int kOwn = 8;

double largest(const double* values, int count) {
  double own[kOwn] = {};
  for (int j = 0; j < count; j += kOwn)
    for (int k = 0; k < kOwn; ++k) own[k] = std::max(own[k], std::abs(values[j + k]));
  return *std::max_element(own, own + kOwn);
}

/// The smallest one above `noise`. @pre there is one.
double least_above(const double* values, int count, double noise) {
  double own[kOwn];
  std::fill_n(own, kOwn, std::numeric_limits<double>::infinity());
  for (int j = 0; j < count; j += kOwn) {
    for (int k = 0; k < kOwn; ++k) {
      const double entry = std::abs(values[j + k]);
      own[k] = std::min(own[k], entry > noise ? entry : own[k]);
    }
  }
  return *std::min_element(own, own + kOwn);
}

}  // namespace

void ScaledComplementarity::assign(const ComplementarityProgram& program, bool like_last) {
  copy(program);
  const auto size = to_size(n);
  if (!(like_last && plain_row_.size() == size && scale_like_last())) {
    equilibrate();
    find_peaks();
    last_peaks_ = peaks_;
    plain_row_ = row;
    plain_col_ = col;
  }
  for (double& entry : M) entry = std::abs(entry) > kZero ? entry : 0;
  q.resize(size);
  for (std::size_t i = 0; i < size; ++i) q[i] = program.q[static_cast<Eigen::Index>(i)] / row[i];
  normalise_parts();
}

void ScaledComplementarity::copy(const ComplementarityProgram& program) {
  n = static_cast<int>(program.q.size());
  ld = kernels::padded(n);
  M.assign(to_size(n) * to_size(ld), 0.0);
  for (int j = 0; j < n; ++j) {
    const double* column = program.M.data() + static_cast<std::ptrdiff_t>(j) * program.M.rows();
    for (int i = 0; i < n; ++i) M_row(i)[j] = column[i];
  }
  free.assign(n, 0);
  for (const int i : program.free) free[i] = 1;
  num_free = static_cast<int>(program.free.size());
}

// @returns false, with M as it was, if the factors do not fit any more.
bool ScaledComplementarity::scale_like_last() {
  high_.assign(ld, 1.0);
  std::copy(plain_col_.begin(), plain_col_.end(), high_.begin());
  const auto multiply = [&](bool back) {
    for (int i = 0; i < n; ++i) {
      double* values = M_row(i);
      const double own = plain_row_[i], *factor = high_.data();
      if (back) {
        for (int j = 0; j < ld; ++j) values[j] = values[j] / factor[j] * own;
      } else {
        const double inverse = 1 / own;
        for (int j = 0; j < ld; ++j) values[j] *= factor[j] * inverse;
      }
    }
  };
  multiply(false);
  find_peaks();
  for (std::size_t k = 0; k < peaks_.size(); ++k) {
    if (peaks_[k] <= kAlike * last_peaks_[k] && kAlike * peaks_[k] >= last_peaks_[k]) continue;
    multiply(true);
    return false;
  }
  row = plain_row_;
  col = plain_col_;
  return true;
}

void ScaledComplementarity::find_peaks() {
  peaks_.assign(n + ld, 0.0);
  double* columns = peaks_.data() + n;
  for (int i = 0; i < n; ++i) {
    const double* values = M_row(i);
    peaks_[i] = largest(values, ld);
    for (int j = 0; j < ld; ++j) columns[j] = std::max(columns[j], std::abs(values[j]));
  }
}

void ScaledComplementarity::normalise_parts() {
  row_seen_.assign(n, 0);
  col_seen_.assign(n, 0);
  row_unit_.assign(n, 1.0);
  col_unit_.assign(ld, 1.0);
  for (int first = 0; first < n; ++first) {
    if (row_seen_[first]) continue;
    collect_part(first);
    double drive = 0, any = 0;
    for (const int i : rows_) {
      const auto k = to_size(i);
      drive = std::max(drive, free[k] ? std::abs(q[k]) : -q[k]);
      any = std::max(any, std::abs(q[k]));
    }
    if (drive == 0) drive = any;
    if (drive == 0) continue;
    const double unit = std::ldexp(1.0, std::clamp(std::ilogb(drive), -kLargestExponent, kLargestExponent));
    for (const int i : rows_) {
      row[i] *= unit;
      q[i] /= unit;
      row_unit_[i] = unit;
    }
    for (const int j : cols_) {
      col[j] *= unit;
      col_unit_[j] = unit;
    }
  }
  // Entries between parts, too small to connect them.
  for (int i = 0; i < n; ++i) {
    const double own = row_unit_[i];
    double* values = M_row(i);
    for (int j = 0; j < n; ++j) {
      const double unit = col_unit_[j];
      if (values[j] != 0 && unit != own) values[j] *= unit / own;
    }
  }
}

// Rows and columns that entries connect with a row.
void ScaledComplementarity::collect_part(int first) {
  rows_.assign(1, first);
  cols_.clear();
  row_seen_[first] = 1;
  std::size_t next_col = 0;
  for (std::size_t next = 0; next < rows_.size(); ++next) {
    const double* values = M_row(rows_[next]);
    for (int j = 0; j < n; ++j) {
      if (std::abs(values[j]) <= kNoise || col_seen_[j]) continue;
      col_seen_[j] = 1;
      cols_.push_back(j);
    }
    for (; next_col < cols_.size(); ++next_col) {
      const double* entry = M.data() + cols_[next_col];
      for (int i = 0; i < n && rows_.size() < to_size(n); ++i) {
        if (row_seen_[i] || std::abs(entry[static_cast<std::ptrdiff_t>(i) * ld]) <= kNoise) continue;
        row_seen_[i] = 1;
        rows_.push_back(i);
      }
    }
  }
}

void ScaledComplementarity::equilibrate() {
  const auto size = to_size(n);
  row.assign(size, 1.0);
  col.assign(size, 1.0);
  high_.resize(ld);
  low_.resize(ld);
  // The first pass makes the largest entry of each row and column one: then small entries are known to be rounding.
  for (int pass = 0; pass <= kPasses; ++pass) {
    for (int i = 0; i < n; ++i) {
      double* values = M_row(i);
      const double high = largest(values, ld);
      if (!(high > 0)) continue;
      const double factor = balancing(high, pass == 0 ? high : least_above(values, ld, kNoise * high));
      if (factor == 1) continue;
      row[i] /= factor;
      for (int j = 0; j < ld; ++j) values[j] *= factor;
    }
    double *high = high_.data(), *low = low_.data();
    std::fill_n(high, ld, 0.0);
    for (int i = 0; i < n; ++i) {
      const double* values = M_row(i);
      for (int j = 0; j < ld; ++j) high[j] = std::max(high[j], std::abs(values[j]));
    }
    std::copy_n(high, ld, low);
    for (int i = 0; i < n && pass > 0; ++i) {
      const double* values = M_row(i);
      for (int j = 0; j < ld; ++j) {
        const double entry = std::abs(values[j]);
        low[j] = std::min(low[j], entry > kNoise * high[j] ? entry : low[j]);
      }
    }
    bool moved = false;
    for (int j = 0; j < n; ++j) {
      double& factor = high_[j];
      factor = factor > 0 ? balancing(factor, low_[j]) : 1;
      col[j] *= factor;
      moved = moved || factor != 1;
    }
    if (!moved && pass > 0) break;
    for (int j = n; j < ld; ++j) high_[j] = 1;
    for (int i = 0; i < n; ++i) {
      double* values = M_row(i);
      for (int j = 0; j < ld; ++j) values[j] *= high_[j];
    }
  }
}

}  // namespace deft::solvers::lcp
