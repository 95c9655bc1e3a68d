#pragma once
// The metric Q̃ of the certifier (README.md, "Scales") and rows as dense vectors. The solvers have their own, so that no
// error is shared.

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"

namespace deft::solvers::contact {

/// Q̃ = Q with zero rows replaced by those of M (without M: by the mean of Q's diagonal), as independent diagonal blocks
/// with their Cholesky factors. One object per thread: products use scratch of the object.
class CertificateMetric {
 public:
  CertificateMetric() = default;
  /// The metric of `program`; it keeps no reference to it.
  explicit CertificateMetric(const ContactProgram& program) { update(program); }

  /// Takes the metric of another program and factors its blocks. No allocation once grown.
  void update(const ContactProgram& program) {
    const int nv = program.nv;
    last_.resize(nv);  // last index of the block that must contain i
    for (int i = 0; i < nv; ++i) last_[i] = i;
    for (const BlockDiagonal* D : {&program.Q, &program.masses}) {
      for (int k = 0; k < D->num_blocks(); ++k)
        last_[D->start(k)] = std::max(last_[D->start(k)], D->start(k) + D->size(k) - 1);
    }
    double trace = 0;
    for (int k = 0; k < program.Q.num_blocks(); ++k) trace += program.Q.block(k).trace();
    mean_ = trace > 0 ? trace / nv : 1.0;
    blocks_.clear();
    block_of_.resize(nv);
    L_.clear();
    for (int start = 0; start < nv;) {
      int end = start;
      for (int i = start; i <= end; ++i) end = std::max(end, last_[i]);
      std::fill(block_of_.begin() + start, block_of_.begin() + end + 1, static_cast<int>(blocks_.size()));
      blocks_.push_back({start, end - start + 1, L_.size()});
      L_.resize(L_.size() + to_size(blocks_.back().size) * blocks_.back().size, 0.0);
      factor(program, blocks_.back());
      start = end + 1;
    }
    x_.assign(nv, 0.0);
  }

  /// vᵀQ̃⁻¹v, v of size nv.
  double squared(const Eigen::VectorXd& v) const {
    double total = 0;
    for (const Block& block : blocks_) {
      const auto piece = v.segment(block.start, block.size);
      if (piece.isZero(0)) continue;
      std::copy_n(piece.data(), block.size, x_.data());
      total += forward(block, 0, x_.data());
    }
    return total;
  }
  /// The same of a row that is nonzero in the ascending columns `cols` only; value(k) is its entry in cols[k].
  template <typename Value>
  double squared(std::span<const int> cols, Value value) const {
    double total = 0;
    for (std::size_t k = 0; k < cols.size();) {
      const Block& block = blocks_[block_of_[cols[k]]];
      const int first = cols[k] - block.start;
      std::fill_n(x_.data(), block.size, 0.0);
      for (; k < cols.size() && cols[k] < block.start + block.size; ++k) x_[cols[k] - block.start] = value(k);
      total += forward(block, first, x_.data());
    }
    return total;
  }
  /// The same of the unit vector of column i.
  double squared_unit(int i) const {
    return squared(std::span<const int>(&i, 1), [](std::size_t) { return 1.0; });
  }

  /// dᵀQ̃d, d of size nv.
  double energy(const Eigen::VectorXd& d) const {
    double total = 0;
    for (const Block& block : blocks_) {
      const double* L = L_.data() + block.first;
      for (int c = 0; c < block.size; ++c) {
        double sum = 0;
        for (int r = c; r < block.size; ++r) sum += L[r * block.size + c] * d[block.start + r];
        total += sum * sum;
      }
    }
    return total;
  }

 private:
  struct Block {
    int start, size;
    std::size_t first;  // of its factor, row-major
  };

  // |L⁻¹x|², in place; x is zero before `first`.
  double forward(const Block& block, int first, double* x) const {
    double total = 0;
    for (int r = first; r < block.size; ++r) {
      const double* row = L_.data() + block.first + to_size(r) * block.size;
      double value = x[r];
      for (int c = first; c < r; ++c) value -= row[c] * x[c];
      x[r] = value / row[r];
      total += x[r] * x[r];
    }
    return total;
  }

  void factor(const ContactProgram& program, const Block& block) {
    const int n = block.size;
    part(program.Q, block, Q_);
    part(program.masses, block, M_);
    for (int r = 0; r < n; ++r) {
      bool is_zero = true;
      for (int c = 0; c < n; ++c) is_zero &= Q_[r * n + c] == 0;
      zero_[r] = is_zero;
    }
    for (int r = 0; r < n; ++r) {
      if (zero_[r] == 0) continue;
      for (int c = 0; c < n; ++c) {
        if (zero_[c] != 0) Q_[r * n + c] = M_[r * n + c];
      }
      if (!(M_[r * n + r] > 0)) Q_[r * n + r] = mean_;
    }
    // Still singular: the mean on the whole block.
    double* L = L_.data() + block.first;
    if (cholesky(n, Q_.data(), L)) return;
    for (int r = 0; r < n; ++r) Q_[r * n + r] += mean_;
    cholesky(n, Q_.data(), L);
  }

  // @returns whether Q is definite beyond rounding.
  static bool cholesky(int n, const double* Q, double* L) {
    bool is_definite = true;
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c <= r; ++c) {
        double sum = Q[r * n + c];
        for (int k = 0; k < c; ++k) sum -= L[r * n + k] * L[c * n + k];
        if (c < r) {
          L[r * n + c] = sum / L[c * n + c];
        } else {
          is_definite &= sum > 0 && sum >= 1e-12 * Q[r * n + r];
          L[r * n + r] = std::sqrt(sum);
        }
      }
    }
    return is_definite;
  }

  // The symmetric part of D on the block.
  void part(const BlockDiagonal& D, const Block& block, std::vector<double>& out) {
    const int n = block.size;
    out.assign(to_size(n) * n, 0.0);
    zero_.resize(n);
    for (int k = 0; k < D.num_blocks(); ++k) {
      const int at = D.start(k) - block.start;
      if (at < 0 || at >= n) continue;
      const auto own = D.block(k);
      for (int r = 0; r < D.size(k); ++r) {
        for (int c = 0; c < D.size(k); ++c) out[(at + r) * n + at + c] = 0.5 * (own(r, c) + own(c, r));
      }
    }
  }

  double mean_ = 1;
  std::vector<Block> blocks_;
  std::vector<int> last_, block_of_;
  std::vector<double> L_, Q_, M_;
  std::vector<char> zero_;
  mutable std::vector<double> x_;
};

/// Row r of block i of J, dense: size nv.
inline Eigen::VectorXd dense_row(const RowBlocks& J, int i, int r, int nv) {
  Eigen::VectorXd row = Eigen::VectorXd::Zero(nv);
  const auto cols = J.cols(i);
  for (std::size_t k = 0; k < cols.size(); ++k) row[cols[k]] = J.block(i)(r, k);
  return row;
}

/// Fills `infeasible` and `unbounded` of `certificate`, whose E0 is known, if `solution` carries a proof. Allocates.
void check_proof(const ContactProgram& program, const ContactSolution& solution, Certificate& certificate);

}  // namespace deft::solvers::contact
