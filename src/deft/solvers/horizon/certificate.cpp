#include "deft/solvers/horizon/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/infinity.hpp"

namespace deft::solvers::horizon {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kFar = 1e6;           // u beyond so many of its sizes counts as none
constexpr double kLeastSize = 1e-300;  // sizes are at least this, against division by zero

double ratio(double error, double size) {
  if (!std::isfinite(error)) return kInfinity;
  return error == 0 ? 0 : error / std::max(size, kLeastSize);
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
      if (s.upper(i) < kInfinity) visit(Row{t, i, u, s.upper(i), kInfinity, size, 1.0});
      if (s.lower(i) > -kInfinity) visit(Row{t, nu + i, -u, -s.lower(i), kInfinity, size, 1.0});
      if (s.change.size() == 0 || !(s.change(i) < kInfinity)) continue;
      visit(Row{t, 2 * nu + i, u - before(i), s.change(i), kInfinity, size, 1.0});
      visit(Row{t, 3 * nu + i, before(i) - u, s.change(i), kInfinity, size, 1.0});
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
      visit(Row{t, first + r, value, s.d(r), s.rho(r), size, norm});
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
  result.dynamics = dynamics_error(qp, solution);
  const Gradient gradient = reduced_gradient(qp, solution);
  result.gradient = ratio(gradient.error, gradient.size);
  for_each_row(qp, solution, [&](const Row& row) {
    add_row_errors(row, solution.multiplier[row.stage](row.place), gradient.size, result);
  });
  return result;
}

double HorizonCertifier::dynamics_error(const HorizonQp& qp, const HorizonSolution& solution) {
  const double x_size = peak(x_size_);
  double error = ratio(peak(solution.x[0] - qp.x_start), x_size);
  for (std::size_t t = 0; t + 1 < qp.stages.size(); ++t) {
    const HorizonStage& s = qp.stages[t];
    term_ = s.c - solution.x[t + 1];
    term_.noalias() += s.A * solution.x[t];
    term_.noalias() += s.B * solution.u[t];
    // Of what inputs of their size move, too: where the solution is x = 0 its own size is no measure.
    double reach = 0;
    for (Index i = 0; i < s.B.rows(); ++i) reach = std::max(reach, s.B.row(i).cwiseAbs().dot(u_size_));
    error = std::max(error, ratio(peak(term_), x_size + peak(s.c) + reach));
  }
  return error;
}

HorizonCertifier::Gradient HorizonCertifier::reduced_gradient(const HorizonQp& qp, const HorizonSolution& solution) {
  const Index nx = qp.x_start.size(), nu = qp.u_before.size();
  const std::size_t T = qp.stages.size() - 1;
  Gradient out;
  vx_.setZero(nx);
  vp_.setZero(nu);
  for (std::size_t t = T + 1; t-- > 0;) {
    const HorizonStage& s = qp.stages[t];
    gx_ = s.q;
    gx_.noalias() += s.Q * solution.x[t];
    gp_.setZero(nu);
    gu_.setZero(nu);
    if (t < T) {
      out.size = std::max(out.size, add_input_cost(s, solution.u[t], t == 0 ? qp.u_before : solution.u[t - 1]));
      ru_.noalias() = s.B.transpose() * vx_;
      out.size = std::max(out.size, adjoint_size(s, qp.stages[t + 1], solution.x[t + 1]));
      ru_ += gu_ + vp_;
    }
    gu_.setZero(nu);
    add_rows(qp, t, solution.multiplier[t]);
    if (t < T) {
      out.size = std::max(out.size, peak(gu_));
      ru_ += gu_;
      out.error = std::max(out.error, ratio(peak(ru_), 1));
      vx_old_ = vx_;
      vx_ = gx_;
      vx_.noalias() += s.A.transpose() * vx_old_;
    } else {
      vx_ = gx_;
    }
    vp_ = gp_;
  }
  return out;
}

double HorizonCertifier::add_input_cost(const HorizonStage& s, const VectorXd& u, const VectorXd& before) {
  if (s.S.size() > 0) gu_ += s.S.cwiseProduct(u);
  double size = peak(gu_);
  if (s.s.size() > 0) {
    gu_ += s.s;
    size = std::max(size, peak(s.s));
  }
  if (s.R.size() > 0) {
    gu_ += s.R.cwiseProduct(u - before);
    gp_ -= s.R.cwiseProduct(u - before);
    size = std::max(size, peak(gp_));
  }
  return size;
}

double HorizonCertifier::adjoint_size(const HorizonStage& s, const HorizonStage& next, const VectorXd& x_next) {
  double size = std::max(peak(ru_), peak(vp_));
  // The adjoint is itself a sum that may cancel: its terms count too.
  term_.noalias() = next.Q * x_next;
  term_ = term_.cwiseAbs() + next.q.cwiseAbs();
  for (Index i = 0; i < s.B.cols(); ++i) {
    double sum = 0;
    for (Index j = 0; j < s.B.rows(); ++j) sum += std::abs(s.B(j, i)) * term_(j);
    size = std::max(size, sum);
  }
  return size;
}

void HorizonCertifier::add_row_errors(const Row& row, double multiplier, double size, HorizonCertificate& result) {
  const double excess = row.value - row.d;
  const double force = std::max(size, kLeastSize) / std::max(row.norm, kLeastSize);  // the multiplier that would be of
                                                                                     // this size
  if (!(row.rho < kInfinity)) {
    result.violation = std::max(result.violation, ratio(std::max(0.0, excess), row.size));
    const double product = multiplier * std::max(0.0, -excess);
    result.complementarity = std::max(result.complementarity, ratio(product, row.size * force));
    result.multiplier = std::max(result.multiplier, ratio(std::max(0.0, -multiplier), force));
    return;
  }
  const double product = excess < 0 ? multiplier * -excess : (row.rho - multiplier) * excess;
  const double price = std::max(force, row.rho);
  result.complementarity = std::max(result.complementarity, ratio(std::abs(product), row.size * price));
  result.multiplier = std::max(result.multiplier, ratio(std::max({0.0, -multiplier, multiplier - row.rho}), price));
}

double HorizonCertifier::farkas(const HorizonQp& qp, const HorizonSolution& solution, double tolerance) {
  measure_sizes(qp, solution);
  const Index nx = qp.x_start.size(), nu = qp.u_before.size();
  const std::size_t T = qp.stages.size() - 1;
  double gap = 0, allowed = 0;
  bool valid = true;
  for_each_row(qp, solution, [&](const Row& row) {
    const double y = solution.ray[row.stage](row.place);
    if (!(y >= 0) || (row.rho < kInfinity && y != 0)) valid = false;
    if (y == 0) return;
    gap += y * (row.value - row.d);
    allowed += tolerance * y * row.size;
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
