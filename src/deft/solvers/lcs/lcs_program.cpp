#include "deft/solvers/lcs/lcs_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "deft/math/dense.hpp"

namespace deft::solvers::lcs {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSymmetric = 1e-9;  // relative: asymmetry that is rounding
constexpr double kNegative = 1e-12;  // relative: a negative eigenvalue that is rounding

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument("lcs program: " + message); }

void check_size(const MatrixXd& matrix, const char* name, Eigen::Index rows, Eigen::Index cols) {
  if (matrix.rows() != rows || matrix.cols() != cols)
    refuse(fmt::format("{} is {} × {}, needs {} × {}", name, matrix.rows(), matrix.cols(), rows, cols));
  if (!matrix.allFinite()) refuse(fmt::format("{}: a value is not finite", name));
}

void check_weight(const MatrixXd& weight, const char* name, Eigen::Index size) {
  check_size(weight, name, size, size);
  const double scale = weight.size() > 0 ? weight.cwiseAbs().maxCoeff() : 0.0;
  if (scale == 0) return;
  if ((weight - weight.transpose()).cwiseAbs().maxCoeff() > kSymmetric * scale)
    refuse(fmt::format("{} is not symmetric", name));
  const double least = symmetric_eigenvalues(weight).minCoeff();
  if (least < -kNegative * scale)
    refuse(
        fmt::format("{} has the negative eigenvalue {:.6g}: the cost is not convex and may have no lower bound; "
                    "weights must be positive semidefinite",
                    name, least));
}

/// Bounds may be infinite, but not numbers that are none.
void check_bounds(const MatrixXd& bounds, const char* name, Eigen::Index rows, Eigen::Index cols) {
  if (bounds.size() == 0) return;
  if (bounds.rows() != rows || bounds.cols() != cols)
    refuse(fmt::format("{} is {} × {}, needs {} × {}, or nothing", name, bounds.rows(), bounds.cols(), rows, cols));
  if (bounds.array().isNaN().any()) refuse(fmt::format("{}: a value is not a number", name));
}

double violation(double value, double lower, double upper) { return std::max({0.0, lower - value, value - upper}); }

}  // namespace

void check(const LcsMpcProgram& program) {
  const LinearComplementaritySystem& s = program.system;
  const Eigen::Index nx = s.A.rows(), nu = s.B.cols(), ng = s.C.cols(), N = program.N;
  if (N < 1) refuse(fmt::format("N is {}, needs at least 1", N));
  if (nx < 1) refuse("A has no rows");
  check_size(s.A, "A", nx, nx);
  check_size(s.B, "B", nx, nu);
  check_size(s.C, "C", nx, ng);
  check_size(s.F, "F", nx, 1);
  check_size(s.D0, "D0", ng, nx);
  check_size(s.D, "D", ng, nx);
  check_size(s.E, "E", ng, ng);
  check_size(s.H, "H", ng, nu);
  check_size(s.alpha, "alpha", ng, 1);
  check_weight(program.Q, "Q", nx);
  check_weight(program.R, "R", nu);
  check_weight(program.Qf, "Qf", nx);
  check_size(program.x0, "x0", nx, 1);
  check_size(program.x_goal, "x_goal", nx, N + 1);
  check_bounds(program.x_min, "x_min", nx, 1);
  check_bounds(program.x_max, "x_max", nx, 1);
  check_bounds(program.x_price, "x_price", nx, 1);
  if (program.x_price.size() > 0 && program.x_price.minCoeff() < 0)
    refuse(fmt::format("x_price: {} is negative", program.x_price.minCoeff()));
  check_bounds(program.u_min, "u_min", nu, N);
  check_bounds(program.u_max, "u_max", nu, N);
  check_bounds(program.gamma_max, "gamma_max", ng, 1);
}

double LcsCertificate::max() const {
  const double largest = std::max({dynamics, primal, complementarity});
  return std::isfinite(largest) && std::isfinite(cost) ? largest : std::numeric_limits<double>::infinity();
}

LcsCertificate certify(const LcsMpcProgram& program, const LcsTrajectory& point) {
  const LinearComplementaritySystem& s = program.system;
  const Eigen::Index nx = s.nx(), nu = s.nu(), ng = s.pairs(), N = program.N;
  check_size(point.x, "trajectory x", nx, N + 1);
  check_size(point.u, "trajectory u", nu, N);
  check_size(point.gamma, "trajectory gamma", ng, N);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto bound = [](const MatrixXd& bounds, Eigen::Index i, Eigen::Index k, double none) {
    return bounds.size() > 0 ? bounds(i, k) : none;
  };
  LcsCertificate out;
  out.dynamics = (point.x.col(0) - program.x0).cwiseAbs().maxCoeff();
  for (Eigen::Index k = 0; k <= N; ++k) {
    const VectorXd e = point.x.col(k) - program.x_goal.col(k);
    out.cost += e.dot((k < N ? program.Q : program.Qf) * e);
    if (k == N) break;
    const VectorXd x = point.x.col(k), next = point.x.col(k + 1), u = point.u.col(k), gamma = point.gamma.col(k);
    out.cost += u.dot(program.R * u);
    out.dynamics = std::max(out.dynamics, (next - (s.A * x + s.B * u + s.C * gamma + s.F)).cwiseAbs().maxCoeff());
    const VectorXd slack = s.D0 * x + s.D * next + s.E * gamma + s.H * u + s.alpha;
    for (Eigen::Index i = 0; i < ng; ++i) {
      out.primal = std::max({out.primal, violation(gamma(i), 0, bound(program.gamma_max, i, 0, kNone)), -slack(i)});
      out.complementarity = std::max(out.complementarity, std::min(gamma(i), slack(i)));
    }
    for (Eigen::Index i = 0; i < nu; ++i)
      out.primal =
          std::max(out.primal, violation(u(i), bound(program.u_min, i, k, -kNone), bound(program.u_max, i, k, kNone)));
    for (Eigen::Index i = 0; i < nx; ++i) {
      const double by = violation(next(i), bound(program.x_min, i, 0, -kNone), bound(program.x_max, i, 0, kNone));
      const double price = bound(program.x_price, i, 0, kNone);
      if (std::isfinite(price))
        out.cost += price * by;
      else
        out.primal = std::max(out.primal, by);
    }
  }
  return out;
}

}  // namespace deft::solvers::lcs
