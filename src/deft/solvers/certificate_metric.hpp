#pragma once
// The metric Q̃ of the judge (README.md, "Scales") and rows as dense vectors. Private to the certificate: the solvers
// have their own, so that no error is shared.

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <utility>
#include <vector>

#include "deft/solvers/certificate.hpp"

namespace deft::solvers {

/// Q̃ = Q with zero rows replaced by those of M (without M: by the mean of Q's diagonal), as independent diagonal
/// blocks.
class CertificateMetric {
 public:
  explicit CertificateMetric(const ContactProgram& program) {
    const int nv = program.nv;
    std::vector<int> last(nv);  // last index of the block that must contain i
    for (int i = 0; i < nv; ++i) last[i] = i;
    for (const BlockDiagonal* D : {&program.Q, &program.masses}) {
      for (int k = 0; k < D->num_blocks(); ++k)
        last[D->start(k)] = std::max(last[D->start(k)], D->start(k) + D->size(k) - 1);
    }
    double trace = 0;
    for (int k = 0; k < program.Q.num_blocks(); ++k) trace += program.Q.block(k).trace();
    const double mean = trace > 0 ? trace / nv : 1.0;
    for (int start = 0; start < nv;) {
      int end = start;
      for (int i = start; i <= end; ++i) end = std::max(end, last[i]);
      const int size = end - start + 1;
      Eigen::MatrixXd Q = part(program.Q, start, size);
      const Eigen::MatrixXd M = part(program.masses, start, size);
      const Eigen::VectorXd rows = Q.cwiseAbs().rowwise().sum();
      for (int r = 0; r < size; ++r) {
        if (rows[r] != 0) continue;
        for (int c = 0; c < size; ++c) {
          if (rows[c] == 0) Q(r, c) = M(r, c);
        }
        if (!(M(r, r) > 0)) Q(r, r) = mean;
      }
      // Still singular: the mean on the whole block.
      Eigen::LLT<Eigen::MatrixXd> factor(Q);
      if (factor.info() != Eigen::Success ||
          (factor.matrixLLT().diagonal().array().square() < 1e-12 * Q.diagonal().array()).any()) {
        factor.compute(Q + mean * Eigen::MatrixXd::Identity(size, size));
      }
      starts_.push_back(start);
      factors_.push_back(std::move(factor));
      start = end + 1;
    }
  }

  // vᵀQ̃⁻¹v.
  double squared(const Eigen::VectorXd& v) const {
    double total = 0;
    for (std::size_t k = 0; k < starts_.size(); ++k) {
      const auto piece = v.segment(starts_[k], factors_[k].rows());
      if (piece.isZero(0)) continue;
      total += Eigen::VectorXd(factors_[k].matrixL().solve(piece)).squaredNorm();
    }
    return total;
  }

  // dᵀQ̃d.
  double energy(const Eigen::VectorXd& d) const {
    double total = 0;
    for (std::size_t k = 0; k < starts_.size(); ++k)
      total += Eigen::VectorXd(factors_[k].matrixU() * d.segment(starts_[k], factors_[k].rows())).squaredNorm();
    return total;
  }

 private:
  static Eigen::MatrixXd part(const BlockDiagonal& D, int start, int size) {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(size, size);
    for (int k = 0; k < D.num_blocks(); ++k) {
      if (D.start(k) >= start && D.start(k) < start + size) {
        const Eigen::MatrixXd block = D.block(k);
        out.block(D.start(k) - start, D.start(k) - start, D.size(k), D.size(k)) = 0.5 * (block + block.transpose());
      }
    }
    return out;
  }
  std::vector<int> starts_;
  std::vector<Eigen::LLT<Eigen::MatrixXd>> factors_;
};

/// Row r of block i of J.
inline Eigen::VectorXd dense_row(const RowBlocks& J, int i, int r, int nv) {
  Eigen::VectorXd row = Eigen::VectorXd::Zero(nv);
  const auto cols = J.cols(i);
  for (std::size_t k = 0; k < cols.size(); ++k) row[cols[k]] = J.block(i)(r, k);
  return row;
}

/// Fills the proof fields of `certificate`, whose E0 is known.
void judge_proof(const ContactProgram& program, const ContactSolution& solution, Certificate& certificate);

}  // namespace deft::solvers
