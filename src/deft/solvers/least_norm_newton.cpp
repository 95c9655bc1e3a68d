// min ½|λ|²  subject to  Aᵀλ = g,  λ ∈ K has a dual without constraints,
//
//   max_z  gᵀz − ½|P_K(Az)|²,   λ = P_K(Az),
//
// whose gradient is the residual of the balance. Newton's method (semismooth) with a line search on it.

#include "deft/solvers/least_norm_newton.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "deft/solvers/arrow.hpp"

namespace deft::solvers {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kBalanced = 1e-13;  // residual over the forces at which Newton's method stops
constexpr double kNear = 1e-6;       // residual below which a step that does not halve it is the last one
constexpr double kAccepted = 1e-9;   // residual that counts as success
constexpr double kRegular = 1e-13;   // weight on directions of z that no row sees
constexpr int kMaxSteps = 100, kMaxHalvings = 40;

/// Projection on a cone and its derivative there.
VectorXd project(const VectorXd& x) {
  const double tail = x.tail(x.size() - 1).norm();
  if (tail <= x[0]) return x;
  if (tail <= -x[0]) return VectorXd::Zero(x.size());
  VectorXd out = x;
  out[0] = 0.5 * (x[0] + tail);
  out.tail(x.size() - 1) *= out[0] / tail;
  return out;
}
MatrixXd projection_slope(const VectorXd& x) {
  const int rows = static_cast<int>(x.size());
  MatrixXd D = MatrixXd::Identity(rows, rows);
  const double tail = x.tail(rows - 1).norm();
  if (tail <= x[0]) return D;
  if (tail <= -x[0]) return MatrixXd::Zero(rows, rows);
  Arrow slope{.plus = 1, .minus = 0, .perp = 0.5 * (x[0] + tail) / tail};
  tail_direction(rows, x.data(), slope.u);
  slope.to_matrix(rows, D.data());
  return D;
}

VectorXd project(GeneratorKind kind, const VectorXd& x) {
  if (kind == GeneratorKind::kLine) return x;
  return kind == GeneratorKind::kRay ? VectorXd(x.cwiseMax(0.0)) : project(x);
}
MatrixXd slope(GeneratorKind kind, const VectorXd& x) {
  if (kind == GeneratorKind::kCone) return projection_slope(x);
  return MatrixXd::Constant(1, 1, kind == GeneratorKind::kLine || x[0] > 0 ? 1.0 : 0.0);
}

/// The search for generators that share columns.
class ShortestMultipliers {
 public:
  ShortestMultipliers(std::vector<Generator*> generators, std::vector<int> cols, const std::vector<double>& scale)
      : generators_(std::move(generators)), cols_(std::move(cols)), g_(VectorXd::Zero(cols_.size())) {
    for (const Generator* generator : generators_) {
      MatrixXd A = MatrixXd::Zero(generator->rows.rows(), g_.size());
      for (std::size_t c = 0; c < generator->cols.size(); ++c) {
        const auto at = std::lower_bound(cols_.begin(), cols_.end(), generator->cols[c]) - cols_.begin();
        A.col(at) = generator->rows.col(static_cast<Eigen::Index>(c)) * scale[generator->cols[c]];
      }
      const VectorXd share = A.transpose() * generator->given;
      size_ += share.squaredNorm();
      g_ += share;
      A_.push_back(std::move(A));
    }
  }

  /// Newton's method from z = 0. @returns whether the forces balance.
  bool solve() {
    const double size = std::sqrt(size_);  // of the forces, which may cancel
    VectorXd z = VectorXd::Zero(g_.size());
    evaluate(z);
    double error = residual_.norm();
    for (int step = 0; step < kMaxSteps && error > kBalanced * size; ++step) {
      const VectorXd direction = newton_direction(z, step == 0);
      if (!search(direction, z)) break;
      const double next = residual_.norm();
      const bool stalled = error <= kNear * size && next >= 0.5 * error;
      error = next;
      if (stalled) break;
    }
    for (std::size_t i = 0; i < generators_.size(); ++i) generators_[i]->shortest = lambda_[i];
    return error <= kAccepted * size;
  }

 private:
  /// λ, the residual g − Aᵀλ and the dual's value at z.
  void evaluate(const VectorXd& z) {
    lambda_.resize(A_.size());
    residual_ = g_;
    value_ = g_.dot(z);
    for (std::size_t i = 0; i < A_.size(); ++i) {
      lambda_[i] = project(generators_[i]->kind, A_[i] * z);
      residual_.noalias() -= A_[i].transpose() * lambda_[i];
      value_ -= 0.5 * lambda_[i].squaredNorm();
    }
  }

  VectorXd newton_direction(const VectorXd& z, bool first) const {
    MatrixXd H = MatrixXd::Zero(g_.size(), g_.size());
    for (std::size_t i = 0; i < A_.size(); ++i) {
      // At the apex every cone counts as inside: the first step is the least-norm solution without cones.
      if (first) {
        H.noalias() += A_[i].transpose() * A_[i];
      } else {
        H.noalias() += A_[i].transpose() * slope(generators_[i]->kind, A_[i] * z) * A_[i];
      }
    }
    H.diagonal().array() += kRegular * std::max(H.trace(), 1e-300) / static_cast<double>(H.rows());
    const Eigen::LDLT<MatrixXd> factor(H);
    return factor.solve(residual_);
  }

  /// Moves z along the direction, halving until the dual rises enough. @returns whether it did.
  bool search(const VectorXd& direction, VectorXd& z) {
    const double value = value_, rise = residual_.dot(direction), error = residual_.norm();
    if (!(rise > 0)) return false;
    double length = 1;
    for (int k = 0; k < kMaxHalvings; ++k, length *= 0.5) {
      const VectorXd next = z + length * direction;
      evaluate(next);
      // Near the end the values differ by rounding only; there the residual decides.
      if (value_ >= value + 1e-4 * length * rise || residual_.norm() <= 0.9 * error) {
        z = next;
        return true;
      }
    }
    evaluate(z);
    return false;
  }

  std::vector<Generator*> generators_;
  std::vector<int> cols_;
  VectorXd g_, residual_;
  std::vector<MatrixXd> A_;
  std::vector<VectorXd> lambda_;
  double value_ = 0, size_ = 0;
};

}  // namespace

bool find_shortest(std::vector<Generator*> generators, std::vector<int> cols, const std::vector<double>& scale) {
  return ShortestMultipliers(std::move(generators), std::move(cols), scale).solve();
}

}  // namespace deft::solvers
