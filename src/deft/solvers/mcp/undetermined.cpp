#include "deft/solvers/mcp/undetermined.hpp"

#include <Eigen/LU>

namespace deft::solvers::mcp {
namespace {

constexpr int kLargest = 600;         // unknowns: above, a dense factorisation takes too long
constexpr double kRank = 1e-10;       // of the largest pivot
constexpr double kZero = 1e-8;        // of an entry of a null vector whose largest is 1
constexpr double kConsistent = 1e-8;  // of the right-hand side

}  // namespace

bool solve_undetermined(const McpMatrix& J, const double* a, const double* b, const Eigen::MatrixXd& R,
                        Eigen::MatrixXd& X, std::vector<char>& determined) {
  const int n = J.size();
  determined.assign(n, 0);
  if (n > kLargest) return false;
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
  if (J.dense()) {
    for (int i = 0; i < n; ++i) A.row(i) = b[i] * Eigen::Map<const Eigen::RowVectorXd>(J.row(i), n);
  } else {
    for (const McpJacobian::Entry& entry : J.entries()) A(entry.row, entry.column) += b[entry.row] * entry.value;
  }
  A.diagonal() += Eigen::Map<const Eigen::VectorXd>(a, n);
  if (!A.allFinite()) return false;
  Eigen::VectorXd unit(n);
  for (int i = 0; i < n; ++i) {
    const double largest = A.row(i).lpNorm<Eigen::Infinity>();
    unit[i] = largest > 0 ? 1 / largest : 1;
  }
  A.array().colwise() *= unit.array();
  const Eigen::MatrixXd right = unit.asDiagonal() * R;
  Eigen::FullPivLU<Eigen::MatrixXd> factor;
  factor.setThreshold(kRank);
  factor.compute(A);
  X = factor.solve(right);
  const double size = 1 + right.lpNorm<Eigen::Infinity>() + (A.cwiseAbs() * X.cwiseAbs()).lpNorm<Eigen::Infinity>();
  if (!((A * X - right).lpNorm<Eigen::Infinity>() <= kConsistent * size)) return false;
  determined.assign(n, 1);
  if (factor.dimensionOfKernel() == 0) return true;
  const Eigen::MatrixXd kernel = factor.kernel();
  for (Eigen::Index c = 0; c < kernel.cols(); ++c) {
    const double largest = kernel.col(c).lpNorm<Eigen::Infinity>();
    for (int i = 0; i < n; ++i)
      if (std::abs(kernel(i, c)) > kZero * largest) determined[i] = 0;
  }
  return true;
}

}  // namespace deft::solvers::mcp
