#include "deft/dynamics/complementarity/surface_contact_lcs.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <cmath>
#include <stdexcept>

namespace deft::dynamics {
namespace {

constexpr double kUnit = 1e-9;       // |n|² − 1 that is rounding
constexpr double kSymmetric = 1e-9;  // relative

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument("surface_contact_lcs: " + message); }

void check(const SurfaceContactModel& model) {
  const Eigen::Matrix2d& M = model.mass;
  if (!M.allFinite() || std::abs(M(0, 1) - M(1, 0)) > kSymmetric * M.cwiseAbs().maxCoeff() || !(M(0, 0) > 0) ||
      !(M.determinant() > 0))
    refuse(fmt::format("mass [[{}, {}], [{}, {}]] must be symmetric and positive definite", M(0, 0), M(0, 1), M(1, 0),
                       M(1, 1)));
  if (!std::isfinite(model.h) || model.h <= 0) refuse(fmt::format("h is {} s, must be positive", model.h));
  if (!model.force.allFinite()) refuse(fmt::format("force ({}, {}) N is not finite", model.force[0], model.force[1]));
  for (std::size_t i = 0; i < model.surfaces.size(); ++i) {
    const FlatSurface& s = model.surfaces[i];
    if (!(std::abs(s.normal.squaredNorm() - 1) <= kUnit))
      refuse(fmt::format("surfaces[{}].normal ({}, {}) is not a unit vector", i, s.normal[0], s.normal[1]));
    if (!std::isfinite(s.offset)) refuse(fmt::format("surfaces[{}].offset is {} m", i, s.offset));
    if (!std::isfinite(s.mu) || s.mu < 0) refuse(fmt::format("surfaces[{}].mu is {}, must not be negative", i, s.mu));
  }
}

Eigen::Vector2d tangent(const Eigen::Vector2d& normal) {
  const Eigen::Vector2d t(-normal[1], normal[0]);
  const bool negative = t[0] != 0 ? t[0] < 0 : t[1] < 0;
  return negative ? Eigen::Vector2d(-t) : t;
}

}  // namespace

solvers::lcs::LinearComplementaritySystem surface_contact_lcs(const SurfaceContactModel& model) {
  check(model);
  using Eigen::Matrix2d;
  using Eigen::MatrixXd;
  using Eigen::VectorXd;
  const Eigen::Index n = static_cast<Eigen::Index>(model.surfaces.size()), pairs = 4 * n, beta = n, lambda = 3 * n;
  const Matrix2d inverse = model.mass.inverse();
  const double h = model.h;

  // Directions of the impulses in the plane, and the slack rows.
  MatrixXd directions = MatrixXd::Zero(2, pairs);
  solvers::lcs::LinearComplementaritySystem s;
  s.D0 = s.D = MatrixXd::Zero(pairs, 4);
  s.E = MatrixXd::Zero(pairs, pairs);
  s.H = MatrixXd::Zero(pairs, 2);
  s.alpha = VectorXd::Zero(pairs);
  for (Eigen::Index i = 0; i < n; ++i) {
    const FlatSurface& surface = model.surfaces[i];
    directions.col(i) = surface.normal;
    s.D.row(i).head<2>() = surface.normal.transpose();
    s.alpha[i] = surface.offset;
    for (Eigen::Index side = 0; side < 2; ++side) {
      const Eigen::Index row = beta + 2 * i + side;
      directions.col(row) = (side == 0 ? 1.0 : -1.0) * tangent(surface.normal);
      s.D.row(row).tail<2>() = directions.col(row).transpose();
      s.E(row, lambda + i) = 1;
      s.E(lambda + i, row) = -1;
    }
    s.E(lambda + i, i) = surface.mu;
  }

  s.A = MatrixXd::Identity(4, 4);
  s.A.topRightCorner<2, 2>() = h * Matrix2d::Identity();
  s.B.resize(4, 2);
  s.B << h * h * inverse, h * inverse;
  s.C.resize(4, pairs);
  s.C << h * inverse * directions, inverse * directions;
  s.F.resize(4);
  s.F << h * h * inverse * model.force, h * inverse * model.force;
  return s;
}

}  // namespace deft::dynamics
