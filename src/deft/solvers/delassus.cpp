#include "deft/solvers/delassus.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/arrow.hpp"
#include "deft/solvers/kernels/dense_kernels.hpp"
#include "deft/solvers/tile_cholesky.hpp"

namespace deft::solvers {
namespace {

using Eigen::VectorXd;

constexpr double kSmallestEnergy = 1e-12;
constexpr double kNoise = 1e-15;
constexpr double kProximal = 1e-10;  // on the scaled forces in the polish: redundant contacts stay solvable
constexpr double kOutside = 1e4;  // stands for an infinite weight where the projection is flat: larger ones cost digits
                                  // in the other directions of a cone
constexpr double kLoose = 1e-8;   // scaled complementarity at which the polish begins
constexpr double kTight = 1e-13;
constexpr double kNearTheEnd = 1e-5;  // below it rounding may be what stops the progress
constexpr double kWorthPolishing = 1e-3;
constexpr double kBalance = 1e-3;
constexpr double kPolished = 1e-5;
constexpr double kForceRounding = 1e-12;
constexpr double kStarts[] = {0.3, 100, 1e4};
constexpr int kRefinements = 3, kPolishSteps = 12, kMaxFixedPoints = 200, kInteriorSteps = 60;
constexpr double kRay = 1e-8;  // √(rᵀWr) against −qᵀr of a ray that proves infeasibility

}  // namespace

// The scaled problem: r = ρ √E0/w · S r̂, u = w √E0 S⁻¹ û with S = diag(1, μ, μ), so that both cones are the standard
// one and the blocks of Ŵ have diagonals near one. A contact without friction keeps its normal row only.
struct DelassusSolver::Workspace {
  struct Contact {
    int first = 0, rows = 0;  // in the scaled vectors
    int raw = 0;              // in the program
    double w = 1, mu = 0;
  };
  std::vector<Contact> contacts;
  Eigen::SparseMatrix<double> W;
  VectorXd q, r, u, best_r;
  double root_E0 = 1, reached = 0;
  TileCholesky factor;
  std::vector<int> tile_of_row;
  std::vector<Arrow> scaling, weight;
  VectorXd rhs, dr, du, bar, residual, shift;
  int iterations = 0, limit = 0, solves = 0;  // solves: of the fixed point
  Stopwatch clock;
  double time_limit_s = 0;

  void scale(const DelassusProgram& program);
  void analyse();
  void factor_with_weights(double proximal);
  bool out_of_time() const { return clock.seconds() > time_limit_s; }
  double complementarity() const;
  double natural_residual(const VectorXd& x, VectorXd& out);
  void start_cold(double size);
  void direction(double target, bool corrector);
  double step_length(double limit_alpha) const;
  bool proves_infeasible() const;
  Status interior(double aim);
  double polish(double aim);
  Status associated(bool warm, double tolerance);
  Status coulomb(double tolerance);
  void unpack(const DelassusProgram& program, DelassusSolution& solution) const;
};

void DelassusSolver::Workspace::scale(const DelassusProgram& program) {
  const int n = static_cast<int>(program.mu.size());
  const VectorXd diagonal = program.W.diagonal();
  contacts.assign(n, {});
  std::vector<int> scaled_of(program.q.size(), -1);
  VectorXd factor_of(program.q.size());
  int rows = 0;
  double E0 = kSmallestEnergy;
  for (int i = 0; i < n; ++i) {
    Contact& c = contacts[i];
    c.raw = i * program.dim;
    c.mu = program.mu[i];
    c.rows = c.mu > 0 ? program.dim : 1;
    c.first = rows;
    rows += c.rows;
    const double trace = diagonal.segment(c.raw, program.dim).sum() / program.dim;
    c.w = trace > 0 ? std::sqrt(trace) : 1.0;
    E0 = std::max(E0, program.q.segment(c.raw, program.dim).squaredNorm() / (c.w * c.w));
    for (int k = 0; k < c.rows; ++k) {
      scaled_of[c.raw + k] = c.first + k;
      factor_of[c.raw + k] = (k == 0 ? 1.0 : c.mu) / c.w;
    }
  }
  root_E0 = std::sqrt(E0);
  q.resize(rows);
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(program.W.nonZeros());
  for (int k = 0; k < program.W.outerSize(); ++k) {
    if (scaled_of[k] < 0) continue;
    q[scaled_of[k]] = program.q[k] * factor_of[k] / root_E0;
    for (Eigen::SparseMatrix<double>::InnerIterator it(program.W, k); it; ++it) {
      const auto row = static_cast<int>(it.row());
      if (scaled_of[row] < 0) continue;
      const double value = 0.5 * it.value() * factor_of[row] * factor_of[k];
      entries.emplace_back(scaled_of[row], scaled_of[k], value);
      entries.emplace_back(scaled_of[k], scaled_of[row], value);
    }
  }
  W.resize(rows, rows);
  W.setFromTriplets(entries.begin(), entries.end());
  analyse();
}

// Tiles of whole contacts, and W in the factor.
void DelassusSolver::Workspace::analyse() {
  std::vector<int> sizes;
  tile_of_row.resize(W.rows());
  for (const Contact& c : contacts) {
    if (sizes.empty() || sizes.back() + c.rows > kLane) sizes.push_back(0);
    sizes.back() += c.rows;
    for (int k = 0; k < c.rows; ++k) tile_of_row[c.first + k] = static_cast<int>(sizes.size()) - 1;
  }
  std::vector<std::pair<int, int>> pairs;
  for (int k = 0; k < W.outerSize(); ++k) {
    int last = -1;
    for (Eigen::SparseMatrix<double>::InnerIterator it(W, k); it; ++it) {
      const int a = tile_of_row[it.row()], b = tile_of_row[k];
      if (a < b && a != last) pairs.emplace_back(a, b);
      last = a;
    }
  }
  factor.start(sizes, pairs);
  for (int k = 0; k < W.outerSize(); ++k) {
    for (Eigen::SparseMatrix<double>::InnerIterator it(W, k); it; ++it) {
      if (it.row() > k) break;
      const int cols[2] = {static_cast<int>(it.row()), k};
      const double values[4] = {0, it.value(), 0, 0};
      if (it.row() == k) {
        factor.add_diagonal(k, it.value());
      } else {
        factor.add(2, cols, values, 2);
      }
    }
  }
  factor.remember();
}

void DelassusSolver::Workspace::factor_with_weights(double proximal) {
  factor.recall();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    double D[kMaxConeRows * kMaxConeRows];
    weight[i].to_matrix(c.rows, D);
    int cols[kMaxConeRows];
    for (int k = 0; k < c.rows; ++k) {
      cols[k] = c.first + k;
      D[k * (c.rows + 1)] += proximal;
    }
    factor.add(c.rows, cols, D, c.rows);
  }
  ++iterations;
  factor.factor(kNoise);
}

double DelassusSolver::Workspace::complementarity() const {
  double worst = 0;
  for (const Contact& c : contacts)
    worst = std::max(worst, std::abs(dot(c.rows, r.data() + c.first, u.data() + c.first)));
  return worst;
}

// Forces and openings of `size`.
void DelassusSolver::Workspace::start_cold(double size) {
  r.setZero(W.rows());
  u = q + shift;
  for (const Contact& c : contacts) {
    double* uc = u.data() + c.first;
    const double tail = tail_norm(c.rows, uc);
    r[c.first] = size;
    uc[0] = std::max(uc[0], tail + size);
  }
}

// W⁻² dr + du = W⁻¹ (λ \ rc) with du = Ŵ dr + residual.
void DelassusSolver::Workspace::direction(double target, bool corrector) {
  rhs = -residual;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    double rc[kMaxConeRows], p[kMaxConeRows];
    const double* lambda = bar.data() + c.first;
    const Arrow inverse = scaling[i].map([](double x) { return 1 / x; });
    jordan_product(c.rows, lambda, lambda, rc);
    for (int k = 0; k < c.rows; ++k) rc[k] = (k == 0 ? target : 0.0) - rc[k];
    if (corrector) {
      double a[kMaxConeRows], b[kMaxConeRows], second[kMaxConeRows];
      inverse.apply(c.rows, dr.data() + c.first, a);
      scaling[i].apply(c.rows, du.data() + c.first, b);
      jordan_product(c.rows, a, b, second);
      for (int k = 0; k < c.rows; ++k) rc[k] -= second[k];
    }
    jordan_divide(c.rows, lambda, rc, p);
    inverse.apply(c.rows, p, rc);
    for (int k = 0; k < c.rows; ++k) rhs[c.first + k] += rc[k];
  }
  dr = rhs;
  factor.solve(dr.data());
  du = W * dr + residual;
}

double DelassusSolver::Workspace::step_length(double limit_alpha) const {
  double alpha = limit_alpha;
  for (const Contact& c : contacts) {
    alpha = cone_step(c.rows, r.data() + c.first, dr.data() + c.first, alpha);
    alpha = cone_step(c.rows, u.data() + c.first, du.data() + c.first, alpha);
  }
  return alpha;
}

// r as a ray: with W = LLᵀ and u = Lv + q, u·r ≥ 0 asks v·Lᵀr ≥ −q·r, so that |v| would be 1e8 times the natural
// length.
bool DelassusSolver::Workspace::proves_infeasible() const {
  const double fall = -(q + shift).dot(r);
  return fall > 0 && std::sqrt(std::max(0.0, r.dot(W * r))) <= kRay * fall;
}

// From the current point to the scaled residuals `aim`; leaves the best point in r and u, its residual in `reached`.
Status DelassusSolver::Workspace::interior(double aim) {
  const auto n = static_cast<double>(contacts.size());
  VectorXd best_u;
  int unimproved = 0;
  double patience = 0;
  reached = std::numeric_limits<double>::infinity();
  const auto end = [&](Status status) {
    r = best_r;
    u = best_u;
    return status;
  };
  for (int step = 0;; ++step) {
    residual = W * r + q + shift - u;
    const double mu = r.dot(u) / n, merit = std::max(complementarity(), residual.lpNorm<Eigen::Infinity>());
    if (!std::isfinite(merit + mu)) return end(Status::kNumericalFailure);
    if (merit < reached) {
      unimproved = merit < 0.9 * reached ? 0 : unimproved + 1;
      reached = merit;
      best_r = r;
      best_u = u;
    } else {
      ++unimproved;
    }
    if (merit <= aim) return Status::kSolved;
    if (proves_infeasible()) return Status::kInfeasible;
    if (iterations >= limit || step >= kInteriorSteps) return end(Status::kIterationLimit);
    if (out_of_time()) return end(Status::kTimeLimit);
    if (reached < kNearTheEnd && unimproved >= 4) return end(Status::kNumericalFailure);
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const Contact& c = contacts[i];
      scaling[i] = nesterov_todd(c.rows, r.data() + c.first, u.data() + c.first);
      weight[i] = scaling[i].map([](double x) { return 1 / (x * x); });
      scaling[i].apply(c.rows, u.data() + c.first, bar.data() + c.first);
    }
    factor_with_weights(0.0);
    direction(0.0, false);
    const double affine = step_length(1.0);
    const double ratio = std::max(0.0, (r + affine * dr).dot(u + affine * du) / (n * mu));
    // Complementarity must not run ahead of feasibility.
    const double size = residual.lpNorm<Eigen::Infinity>();
    if (step == 0) patience = size > 0 ? kBalance * mu / size : 0.0;
    direction(std::max({ratio * ratio * ratio * mu, patience * size, 1e-18}), true);
    double alpha = std::min(1.0, 0.995 * step_length(2.0));
    if (alpha < 0.1 || unimproved >= 3) {  // the second-order term misled: plain centring
      direction(0.5 * mu, false);
      alpha = std::min(1.0, 0.995 * step_length(2.0));
    }
    if (!(alpha > 1e-12)) return end(Status::kNumericalFailure);
    r += alpha * dr;
    u += alpha * du;
  }
}

// x − P(x − u(x)) with u = Wx + q, which is zero at the solution; fills u and `out`. @returns its largest norm per
// contact, times that of the force where it exceeds 1: an error of complementarity.
double DelassusSolver::Workspace::natural_residual(const VectorXd& x, VectorXd& out) {
  u = W * x + q + shift;
  out.resize(x.size());
  double worst = 0;
  for (const Contact& c : contacts) {
    double z[kMaxConeRows] = {}, projected[kMaxConeRows];
    Arrow derivative;
    for (int k = 0; k < c.rows; ++k) z[k] = x[c.first + k] - u[c.first + k];
    project_on_cone(c.rows, z, projected, derivative);
    for (int k = 0; k < c.rows; ++k) out[c.first + k] = x[c.first + k] - projected[k];
    const double error = out.segment(c.first, c.rows).norm() * std::max(1.0, x.segment(c.first, c.rows).norm());
    if (!(error <= worst)) worst = error;  // NaN stays
  }
  return worst;
}

// Newton's method on r = P(r − u). Keeps the best iterate in r. @returns its residual.
double DelassusSolver::Workspace::polish(double aim) {
  VectorXd x = r;
  double best = natural_residual(x, residual);
  best_r = x;
  int worse = 0;
  for (int step = 0; step < kPolishSteps && best > aim && iterations < limit && !out_of_time(); ++step) {
    rhs.resize(x.size());
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const Contact& c = contacts[i];
      double z[kMaxConeRows] = {}, projected[kMaxConeRows];
      Arrow derivative;
      for (int k = 0; k < c.rows; ++k) z[k] = x[c.first + k] - u[c.first + k];
      project_on_cone(c.rows, z, projected, derivative);
      // (W + D) dx = (1 + D)(P − x) with D = (1 − p)/p in each direction.
      weight[i] = derivative.map([](double p) { return std::min((1 - p) / std::max(p, 1e-300), kOutside); });
      double away[kMaxConeRows], out[kMaxConeRows];
      for (int k = 0; k < c.rows; ++k) away[k] = -residual[c.first + k];
      weight[i].apply(c.rows, away, out);
      for (int k = 0; k < c.rows; ++k) rhs[c.first + k] = away[k] + out[k];
    }
    factor_with_weights(kProximal);
    dr = rhs;
    factor.solve(dr.data());
    for (int k = 0; k < kRefinements; ++k) {  // takes the proximal weight out again where rows are independent
      du = rhs - W * dr;
      for (std::size_t i = 0; i < contacts.size(); ++i) {
        const Contact& c = contacts[i];
        double out[kMaxConeRows];
        weight[i].apply(c.rows, dr.data() + c.first, out);
        for (int j = 0; j < c.rows; ++j) du[c.first + j] -= out[j];
      }
      factor.solve(du.data());
      dr += du;
    }
    x += dr;
    const double error = natural_residual(x, residual);
    if (!std::isfinite(error)) break;
    if (error < best) {
      worse = error < 0.5 * best ? 0 : worse + 1;
      best = error;
      best_r = x;
    } else {
      ++worse;
    }
    if (worse >= 4 || error > 1e3 * (1 + best)) break;
  }
  r = best_r;
  return natural_residual(r, residual);
}

Status DelassusSolver::Workspace::associated(bool warm, double tolerance) {
  const double aim = kPolished * tolerance;  // the last steps are the cheapest
  if (warm && polish(aim) <= tolerance) return Status::kSolved;
  Status status = Status::kNumericalFailure;
  for (const double size : kStarts) {
    start_cold(size);
    for (const double loose : {kLoose, kTight}) {
      status = interior(loose);
      if (status == Status::kInfeasible || status == Status::kTimeLimit) return status;
      if (reached > kWorthPolishing) break;
      const VectorXd before = r, u_before = u;
      if (polish(aim) <= tolerance) return Status::kSolved;
      r = before;
      u = u_before;
      // Large forces, as nearly jammed bodies have, cost digits of their product with u.
      if (loose == kTight && reached <= std::max(tolerance, kForceRounding * r.lpNorm<Eigen::Infinity>()))
        return Status::kSolved;
    }
  }
  return status == Status::kSolved ? Status::kNumericalFailure : status;
}

// s = ‖u_t‖ in scaled units: the fixed point of s → associated(q_n + s).
Status DelassusSolver::Workspace::coulomb(double tolerance) {
  Status status = Status::kIterationLimit;
  VectorXd s = VectorXd::Zero(static_cast<Eigen::Index>(contacts.size())), g(s.size()), last_s, last_f;
  for (int k = 0; k < kMaxFixedPoints; ++k) {
    shift.setZero(W.rows());
    for (std::size_t i = 0; i < contacts.size(); ++i) shift[contacts[i].first] = s[static_cast<Eigen::Index>(i)];
    status = associated(k > 0, tolerance);
    ++solves;
    if (status != Status::kSolved) return status;
    for (std::size_t i = 0; i < contacts.size(); ++i)
      g[static_cast<Eigen::Index>(i)] = tail_norm(contacts[i].rows, u.data() + contacts[i].first);
    const VectorXd f = g - s;
    if (f.size() == 0 || f.lpNorm<Eigen::Infinity>() <= tolerance) return Status::kSolved;
    if (iterations >= limit) return Status::kIterationLimit;
    if (out_of_time()) return Status::kTimeLimit;
    // Anderson's extrapolation over one step, kept between standing still and twice the step.
    VectorXd next = g;
    if (last_f.size() == f.size()) {
      const VectorXd change = f - last_f;
      const double squared = change.squaredNorm();
      const double theta = squared > 0 ? std::clamp(f.dot(change) / squared, -1.0, 0.5) : 0.0;
      next = (g - theta * (g - (last_s + last_f))).cwiseMax(0.0);
    }
    last_s = s;
    last_f = f;
    s = next;
  }
  return status == Status::kSolved ? Status::kIterationLimit : status;
}

void DelassusSolver::Workspace::unpack(const DelassusProgram& program, DelassusSolution& solution) const {
  solution.r.setZero(program.q.size());
  for (const Contact& c : contacts) {
    for (int k = 0; k < c.rows; ++k) solution.r[c.raw + k] = r[c.first + k] * root_E0 / c.w * (k == 0 ? 1.0 : c.mu);
  }
  solution.u = 0.5 * (program.W * solution.r + program.W.transpose() * solution.r) + program.q;
}

DelassusSolver::DelassusSolver() : work_(std::make_unique<Workspace>()) {}
DelassusSolver::~DelassusSolver() = default;

DelassusInfo DelassusSolver::solve(const DelassusProgram& program, const DelassusSettings& settings,
                                   DelassusSolution& solution) {
  check(program);
  Workspace& work = *work_;
  DelassusInfo info;
  work.clock.restart();
  work.time_limit_s = settings.time_limit_s;
  work.iterations = work.solves = 0;
  work.limit = settings.max_iterations;
  work.scale(program);
  work.scaling.resize(work.contacts.size());
  work.weight.resize(work.contacts.size());
  work.bar.resize(work.W.rows());
  work.shift.setZero(work.W.rows());
  work.r = work.u = work.q;
  if (program.mu.empty()) {
    info.status = Status::kSolved;
    work.unpack(program, solution);
    return info;
  }
  info.status = program.law == SlidingLaw::kCoulomb ? work.coulomb(settings.tolerance)
                                                    : work.associated(false, settings.tolerance);
  work.unpack(program, solution);
  info.iterations = work.iterations;
  info.associated_solves = std::max(1, work.solves);
  info.solve_us = work.clock.microseconds();
  return info;
}

}  // namespace deft::solvers
