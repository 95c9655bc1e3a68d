#include "deft/solvers/horizon/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/infinity.hpp"

namespace deft::solvers::horizon {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kFar = 1e6;  // u beyond so many of its sizes counts as none

double ratio(double error, double size) {
  if (!std::isfinite(error)) return kInfinity;
  return error == 0 ? 0 : error / std::max(size, 1e-300);
}

template <class Vector>
double peak(const Vector& v) {
  return v.size() == 0 ? 0.0 : v.cwiseAbs().maxCoeff();
}

}  // namespace

double HorizonCertificate::largest() const {
  return std::max({dynamics, gradient, violation, complementarity, multiplier});
}

void HorizonCertifier::measure_sizes(const HorizonQp& qp, const HorizonSolution& solution) {
  x_size_.setZero(qp.x_start.size());
  u_size_ = qp.u_before.cwiseAbs();
  for (const VectorXd& x : solution.x) x_size_ = x_size_.cwiseMax(x.cwiseAbs());
  for (const VectorXd& u : solution.u) u_size_ = u_size_.cwiseMax(u.cwiseAbs());
  for (std::size_t t = 0; t + 1 < qp.stages.size(); ++t) {
    const HorizonStage& s = qp.stages[t];
    for (Index i = 0; i < u_size_.size(); ++i) {
      for (const double bound : {s.lower(i), s.upper(i), s.change.size() > 0 ? s.change(i) : kInfinity})
        if (std::isfinite(bound)) u_size_(i) = std::max(u_size_(i), std::abs(bound));
    }
  }
}

template <class Visit>
void HorizonCertifier::for_each_row(const HorizonQp& qp, const HorizonSolution& solution, Visit visit) const {
  const Index nu = qp.u_before.size();
  const std::size_t T = qp.stages.size() - 1;
  for (std::size_t t = 0; t <= T; ++t) {
    const HorizonStage& s = qp.stages[t];
    const VectorXd& before = t == 0 ? qp.u_before : solution.u[t - 1];
    const Index first = t < T ? 4 * nu : 0;
    for (Index i = 0; i < nu && t < T; ++i) {
      const double u = solution.u[t](i), size = u_size_(i);
      if (s.upper(i) < kInfinity) visit(t, i, u, s.upper(i), kInfinity, size, 1.0);
      if (s.lower(i) > -kInfinity) visit(t, nu + i, -u, -s.lower(i), kInfinity, size, 1.0);
      if (s.change.size() == 0 || !(s.change(i) < kInfinity)) continue;
      visit(t, 2 * nu + i, u - before(i), s.change(i), kInfinity, size, 1.0);
      visit(t, 3 * nu + i, before(i) - u, s.change(i), kInfinity, size, 1.0);
    }
    for (Index r = 0; r < s.d.size(); ++r) {
      if (!(s.d(r) < kInfinity)) continue;
      double value = 0, size = std::abs(s.d(r)), norm = 0;
      const auto add = [&](double g, double z, double z_size) {
        value += g * z;
        size += std::abs(g) * z_size;
        norm = std::max(norm, std::abs(g));
      };
      for (Index j = 0; j < s.X.cols(); ++j) add(s.X(r, j), solution.x[t](j), x_size_(j));
      for (Index j = 0; j < s.P.cols(); ++j) add(s.P(r, j), before(j), u_size_(j));
      if (t < T)
        for (Index j = 0; j < s.U.cols(); ++j) add(s.U(r, j), solution.u[t](j), u_size_(j));
      visit(t, first + r, value, s.d(r), s.rho(r), size, norm);
    }
  }
}

void HorizonCertifier::add_rows(const HorizonQp& qp, std::size_t t, const VectorXd& y) {
  const HorizonStage& s = qp.stages[t];
  const Index nu = qp.u_before.size(), m = s.d.size();
  if (t + 1 < qp.stages.size()) {
    gu_ += y.segment(0, nu) - y.segment(nu, nu) + y.segment(2 * nu, nu) - y.segment(3 * nu, nu);
    gp_ += y.segment(3 * nu, nu) - y.segment(2 * nu, nu);
    if (m > 0) gu_.noalias() += s.U.transpose() * y.tail(m);
  }
  if (m == 0) return;
  gx_.noalias() += s.X.transpose() * y.tail(m);
  if (s.P.cols() > 0) gp_.noalias() += s.P.transpose() * y.tail(m);
}

HorizonCertificate HorizonCertifier::certify(const HorizonQp& qp, const HorizonSolution& solution) {
  HorizonCertificate result;
  measure_sizes(qp, solution);
  const Index nx = qp.x_start.size(), nu = qp.u_before.size();
  const std::size_t T = qp.stages.size() - 1;
  const double x_size = peak(x_size_);
  result.dynamics = ratio(peak(solution.x[0] - qp.x_start), x_size);
  double size = 0, error = 0;  // of the gradient
  vx_.setZero(nx);
  vp_.setZero(nu);
  for (std::size_t t = T + 1; t-- > 0;) {
    const HorizonStage& s = qp.stages[t];
    gx_ = s.q;
    gx_.noalias() += s.Q * solution.x[t];
    gp_.setZero(nu);
    gu_.setZero(nu);
    if (t < T) {
      // Next state and, for the adjoint, what comes from it.
      term_ = s.c - solution.x[t + 1];
      term_.noalias() += s.A * solution.x[t];
      term_.noalias() += s.B * solution.u[t];
      result.dynamics = std::max(result.dynamics, ratio(peak(term_), x_size + peak(s.c)));
      const VectorXd& before = t == 0 ? qp.u_before : solution.u[t - 1];
      if (s.S.size() > 0) gu_ += s.S.cwiseProduct(solution.u[t]);
      size = std::max(size, peak(gu_));
      if (s.s.size() > 0) {
        gu_ += s.s;
        size = std::max(size, peak(s.s));
      }
      if (s.R.size() > 0) {
        gu_ += s.R.cwiseProduct(solution.u[t] - before);
        gp_ -= s.R.cwiseProduct(solution.u[t] - before);
        size = std::max(size, peak(gp_));
      }
      ru_.noalias() = s.B.transpose() * vx_;
      size = std::max({size, peak(ru_), peak(vp_)});
      // The adjoint is itself a sum that may cancel: its terms count too.
      const HorizonStage& next = qp.stages[t + 1];
      term_.noalias() = next.Q * solution.x[t + 1];
      term_ = term_.cwiseAbs() + next.q.cwiseAbs();
      for (Index i = 0; i < nu; ++i) {
        double sum = 0;
        for (Index j = 0; j < nx; ++j) sum += std::abs(s.B(j, i)) * term_(j);
        size = std::max(size, sum);
      }
      ru_ += gu_ + vp_;
    }
    gu_.setZero(nu);
    add_rows(qp, t, solution.multiplier[t]);
    if (t < T) {
      size = std::max(size, peak(gu_));
      ru_ += gu_;
      error = std::max(error, ratio(peak(ru_), 1));
      vx_old_ = vx_;
      vx_ = gx_;
      vx_.noalias() += s.A.transpose() * vx_old_;
    } else {
      vx_ = gx_;
    }
    vp_ = gp_;
  }
  result.gradient = ratio(error, size);
  const auto judge = [&](std::size_t t, Index place, double value, double d, double rho, double row, double norm) {
    const double l = solution.multiplier[t](place), excess = value - d;
    const double force = std::max(size, 1e-300) / std::max(norm, 1e-300);
    if (!(rho < kInfinity)) {
      result.violation = std::max(result.violation, ratio(std::max(0.0, excess), row));
      result.complementarity = std::max(result.complementarity, ratio(l * std::max(0.0, -excess), row * force));
      result.multiplier = std::max(result.multiplier, ratio(std::max(0.0, -l), force));
    } else {
      const double product = excess < 0 ? l * -excess : (rho - l) * excess;
      result.complementarity = std::max(result.complementarity, ratio(std::abs(product), row * std::max(force, rho)));
      result.multiplier = std::max(result.multiplier, ratio(std::max({0.0, -l, l - rho}), std::max(force, rho)));
    }
  };
  for_each_row(qp, solution, judge);
  return result;
}

double HorizonCertifier::farkas(const HorizonQp& qp, const HorizonSolution& solution, double tolerance) {
  measure_sizes(qp, solution);
  const Index nx = qp.x_start.size(), nu = qp.u_before.size();
  const std::size_t T = qp.stages.size() - 1;
  double gap = 0, allowed = 0;
  bool valid = true;
  for_each_row(qp, solution, [&](std::size_t t, Index place, double value, double d, double rho, double size, double) {
    const double y = solution.ray[t](place);
    if (!(y >= 0) || (rho < kInfinity && y != 0)) valid = false;
    if (y == 0) return;
    gap += y * (value - d);
    allowed += tolerance * y * size;
  });
  if (!valid || !(gap > 0)) return kInfinity;
  vx_.setZero(nx);
  vp_.setZero(nu);
  for (std::size_t t = T + 1; t-- > 0;) {
    const HorizonStage& s = qp.stages[t];
    gx_.setZero(nx);
    gp_.setZero(nu);
    gu_.setZero(nu);
    add_rows(qp, t, solution.ray[t]);
    if (t < T) {
      gu_ += vp_;
      gu_.noalias() += s.B.transpose() * vx_;
      for (Index i = 0; i < nu; ++i) {
        const double u = solution.u[t](i), bound = gu_(i) < 0 ? s.upper(i) : s.lower(i);
        allowed += std::abs(gu_(i)) * (std::isfinite(bound) ? std::abs(bound - u) : kFar * u_size_(i));
      }
      vx_old_ = vx_;
      gx_.noalias() += s.A.transpose() * vx_old_;
    }
    vx_ = gx_;
    vp_ = gp_;
  }
  return ratio(allowed, gap);
}

}  // namespace deft::solvers::horizon
