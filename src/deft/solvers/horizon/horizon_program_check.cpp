#include <fmt/core.h>

#include <stdexcept>

#include "deft/solvers/horizon/horizon_program.hpp"

namespace deft::solvers::horizon {

using Eigen::Index;
using Eigen::VectorXd;

void check(const HorizonQp& qp) {
  const Index nx = qp.x_start.size(), nu = qp.u_before.size();
  if (qp.stages.size() < 2) throw std::invalid_argument("horizon program: needs at least one step (two stages)");
  if (nx == 0 || nu == 0) throw std::invalid_argument("horizon program: x_start and u_before must not be empty");
  if (!qp.x_start.allFinite() || !qp.u_before.allFinite())
    throw std::invalid_argument("horizon program: x_start and u_before must be finite");
  for (std::size_t t = 0; t < qp.stages.size(); ++t) {
    const HorizonStage& s = qp.stages[t];
    const bool last = t + 1 == qp.stages.size();
    const auto require = [t](bool ok, const char* what) {
      if (!ok) throw std::invalid_argument(fmt::format("horizon program: stage {}: {}", t, what));
    };
    require(s.Q.rows() == nx && s.Q.cols() == nx && s.q.size() == nx, "Q must be nx × nx and q of size nx");
    require(s.Q.allFinite() && s.q.allFinite(), "Q and q must be finite");
    const Index m = s.d.size();
    require(s.X.rows() == m && s.rho.size() == m && (s.P.size() == 0 || s.P.rows() == m),
            "X, P, d and rho must have the same rows");
    require(m == 0 || (s.X.cols() == nx && (s.P.size() == 0 || s.P.cols() == nu)), "X must have nx columns and P nu");
    require(s.X.allFinite() && s.P.allFinite() && (s.d.array() > -std::numeric_limits<double>::infinity()).all(),
            "X, P and d must be finite (d: or infinity)");
    require((s.rho.array() > 0).all(), "rho must be positive (infinity: hard)");
    if (last) continue;
    require(s.A.rows() == nx && s.A.cols() == nx && s.B.rows() == nx && s.B.cols() == nu && s.c.size() == nx,
            "A must be nx × nx, B nx × nu and c of size nx");
    require(s.A.allFinite() && s.B.allFinite() && s.c.allFinite(), "A, B and c must be finite");
    const auto optional = [nu](const VectorXd& v) { return v.size() == 0 || v.size() == nu; };
    require(s.lower.size() == nu && s.upper.size() == nu && optional(s.change) && optional(s.R) && optional(s.S) &&
                optional(s.s),
            "lower and upper must be of size nu, and R, S, s and change of that size or empty");
    require(s.s.allFinite() && s.R.allFinite() && s.S.allFinite(), "R, S and s must be finite");
    require((s.R.array() >= 0).all() && (s.S.array() >= 0).all(), "R and S must not be negative");
    for (Index i = 0; i < nu; ++i)
      require((s.R.size() > 0 ? s.R(i) : 0) + (s.S.size() > 0 ? s.S(i) : 0) > 0, "R + S must be positive");
    require((s.change.array() > 0).all(), "change must be positive");
    require((s.lower.array() < s.upper.array()).all(), "lower must be below upper");
    require(s.U.rows() == m && (m == 0 || s.U.cols() == nu) && s.U.allFinite(),
            "U must have the rows of X and nu columns, and be finite");
  }
}

void check(const HorizonQpOptions& options) {
  if (!(options.tolerance > 0))
    throw std::invalid_argument(fmt::format("tolerance = {}: must be positive", options.tolerance));
  if (options.iterations < 1)
    throw std::invalid_argument(fmt::format("iterations = {}: must be at least 1", options.iterations));
}

}  // namespace deft::solvers::horizon
