#include "deft/dynamics/complementarity/force_response.hpp"

#include <Eigen/Cholesky>

#include "deft/math/block_parts.hpp"

namespace deft::dynamics {
namespace {

constexpr double kSingular = 1e-15;  // share of a diagonal entry of Q below which a pivot is rounding

/// F = L⁻ᵀ of Q = L Lᵀ, for one block. @returns whether Q is positive definite.
bool invert_root(const BlockDiagonal::ConstBlock& Q, BlockDiagonal::Block F) {
  F = Q;
  Eigen::Ref<Eigen::MatrixXd> in_place(F);
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(in_place);
  if (llt.info() != Eigen::Success) return false;
  // Column c of L⁻ᵀ is row c of L⁻¹: it goes above the diagonal, where L is not.
  for (Eigen::Index c = 0; c < F.cols(); ++c) {
    const double diagonal = F(c, c);
    if (!(diagonal * diagonal > kSingular * Q(c, c))) return false;
    for (Eigen::Index r = 0; r < c; ++r) {
      double sum = 0;
      for (Eigen::Index k = r; k < c; ++k) sum += F(c, k) * F(r, k);
      F(r, c) = -sum / diagonal;
    }
    F(c, c) = 1 / diagonal;
  }
  F.triangularView<Eigen::StrictlyLower>().setZero();
  return true;
}

}  // namespace

bool ForceResponse::from_energy(const contact::ContactProblem& problem) {
  const BlockDiagonal& Q = problem.Q;
  factor.clear();
  free.clear();
  load = problem.b;
  drift.setZero(problem.nv);
  int next = 0;
  const auto free_until = [&](int end) {
    for (; next < end; ++next) free.push_back(next);
  };
  for (int k = 0; k < Q.num_blocks(); ++k) {
    free_until(Q.start(k));
    next = Q.start(k) + Q.size(k);
    if (!invert_root(Q.block(k), factor.append(Q.start(k), Q.size(k)))) return false;
    drift.segment(Q.start(k), Q.size(k)) = -problem.b.segment(Q.start(k), Q.size(k));
  }
  free_until(problem.nv);
  apply_mobility(drift);
  return true;
}

void ForceResponse::prescribe(int velocity, double delta) {
  std::erase(free, velocity);
  if (const int k = block_at(factor, velocity); k >= 0) factor.block(k).row(velocity - factor.start(k)).setZero();
  drift(velocity) = delta;
}

void ForceResponse::apply_mobility(Eigen::VectorXd& x) const {
  int next = 0;
  const auto clear_until = [&](int end) {
    for (; next < end; ++next) x(next) = 0;
  };
  for (int k = 0; k < factor.num_blocks(); ++k) {
    const auto F = factor.block(k);
    const int start = factor.start(k), n = factor.size(k);
    clear_until(start);
    next = start + n;
    // Fᵀx from the bottom up, then F(Fᵀx) from the top down: both in place, since F is upper triangular or 1 × 1. Any
    // other F would need scratch.
    for (int i = n - 1; i >= 0; --i) {
      double sum = 0;
      for (int r = 0; r <= i; ++r) sum += F(r, i) * x(start + r);
      x(start + i) = sum;
    }
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int c = i; c < n; ++c) sum += F(i, c) * x(start + c);
      x(start + i) = sum;
    }
  }
  clear_until(static_cast<int>(x.size()));
}

}  // namespace deft::dynamics
