#include "deft/solvers/horizon/qp_solver.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/solvers/horizon/certificate.hpp"
#include "deft/solvers/horizon/interior_point.hpp"
#include "deft/solvers/horizon/newton.hpp"

namespace deft::solvers::horizon {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr int kNewton = 8;            // factorisations until the interior point takes over
constexpr double kPolish = 1e-6;      // complementarity from which Newton's method is tried from the interior point
constexpr double kNextPolish = 1e-2;  // factor of it after every trial
constexpr int kPolishNewton = 3;      // factorisations of a trial
constexpr double kRelaxed = 1e-3;     // a soft row begins a trial as relaxed if its multiplier is this near to ρ,
                                      // relatively
constexpr double kMargin = 0.1;       // of the tolerance: residual at which the interior point ends
constexpr double kLostStep = 1e-12;   // length of a step below which an iteration ends
constexpr int kRayPeriod = 4;         // steps of the interior point between trials of its multipliers as a ray
constexpr double kRayEntry = 1e-9;    // of a ray's largest entry: below it counts as 0
constexpr int kViolationRounds = 3;   // of the search for the least violation, each from the last one's inputs
constexpr double kViolationResidual = 1e-12;  // at which a round ends

/// Gives a list `count` entries; one that has them is left alone.
void fit(std::vector<VectorXd>& list, std::size_t count) {
  if (list.size() != count) list.resize(count);
}

}  // namespace

struct HorizonQpSolver::Work {
  HorizonIterate at;
  HorizonNewton newton;
  HorizonInteriorPoint interior;
  HorizonCertifier certifier;
  std::vector<double> z_saved, y;

  void solve(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& out) {
    at.program.assign(qp);
    at.iterations = at.factorizations = 0;
    begin(qp, options, out);
    out.status = HorizonStatus::kIterationLimit;
    y.assign(at.l.size(), 0.0);
    spread(qp, y, out.ray);
    if (contradiction(qp, options, out)) return;
    if (newton.run(at, options.tolerance, kNewton) && accept(qp, options, out)) return;
    if (iterate(qp, options, out)) return;
    if (least_violation(qp, options, out)) return;
    if (out.status == HorizonStatus::kBreakdown) write_start(qp, out);
  }

  /// The multipliers of the start, as far as they fit.
  void begin(const HorizonQp& qp, const HorizonQpOptions& options, const HorizonSolution& start) {
    at.l.assign(at.program.count(), 0.0);
    if (options.start == HorizonStart::kCold) return;
    const std::size_t T = qp.stages.size() - 1;
    const int later = options.start == HorizonStart::kShifted ? 1 : 0;
    for (int i = 0; i < at.program.count(); ++i) {
      // Beyond the end of the horizon the last stage with inputs stands for the next one.
      const auto t = to_size(at.program.stage_of(i));
      const std::size_t from = t < T ? std::min(t + to_size(later), T - 1) : T;
      if (from >= start.multiplier.size() || at.program.place_of(i) >= start.multiplier[from].size()) continue;
      const double l = start.multiplier[from](at.program.place_of(i));
      if (l > 0) at.l[i] = l;
    }
  }

  /// Writes the iterate into `out`, and its certificate, and the gains by the last factor. @returns whether the iterate
  /// is within tolerance, with finite gains.
  bool accept(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& out) {
    write(qp, out);
    const HorizonCertificate certificate = certifier.certify(qp, out);
    out.gradient = std::max(certificate.gradient, certificate.dynamics);
    out.violation = certificate.violation;
    out.complementarity = std::max(certificate.complementarity, certificate.multiplier);
    if (!(certificate.largest() <= options.tolerance)) return false;
    for (int t = 0; t < at.program.steps() && options.feedback; ++t) {
      at.riccati.feedback(at.program, t, out.feedback[t]);
      if (!out.feedback[t].allFinite()) return false;
    }
    out.status = HorizonStatus::kSolved;
    return true;
  }

  void write(const HorizonQp& qp, HorizonSolution& out) {
    const std::size_t T = qp.stages.size() - 1;
    const Index nu = qp.u_before.size(), nx = qp.x_start.size();
    fit(out.x, T + 1);
    fit(out.u, T);
    out.feedback.resize(T);
    for (std::size_t t = 0; t <= T; ++t) {
      const auto& stage = at.program.stage(static_cast<int>(t));
      const double* zeta = at.z.data() + stage.at;
      out.x[t] = Eigen::Map<const VectorXd>(zeta + stage.nu, nx);
      if (t < T) out.u[t] = Eigen::Map<const VectorXd>(zeta, nu);
    }
    spread(qp, at.l, out.multiplier);
    for (const auto& row : at.program.constants()) {
      const bool relaxed = row.excess > 0 && row.rho < kInfinity;
      if (relaxed) out.multiplier[row.stage](row.place) = row.rho;
    }
    out.iterations = at.iterations;
    out.factorizations = at.factorizations;
  }

  /// Values of the inequalities, at their places.
  void spread(const HorizonQp& qp, const std::vector<double>& values, std::vector<VectorXd>& out) {
    const std::size_t T = qp.stages.size() - 1;
    fit(out, T + 1);
    for (std::size_t t = 0; t <= T; ++t) out[t].setZero((t < T ? 4 * qp.u_before.size() : 0) + qp.stages[t].d.size());
    for (int i = 0; i < at.program.count(); ++i) {
      const auto t = to_size(at.program.stage_of(i));
      out[t](at.program.place_of(i)) = values[i];
    }
  }

  /// A hard row that no input moves, and that does not hold, is its own proof.
  bool contradiction(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& out) {
    for (const auto& row : at.program.constants()) {
      if (row.rho < kInfinity || !(row.excess > options.tolerance * row.size)) continue;
      newton.run(at, options.tolerance, 1);
      accept(qp, {.tolerance = 0}, out);
      out.ray[row.stage](row.place) = 1;
      out.status = HorizonStatus::kInfeasible;
      return true;
    }
    return false;
  }

  /// The interior point; once it separates active rows from inactive ones Newton's method ends it. @returns whether the
  /// program was solved or proven infeasible.
  bool iterate(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& out) {
    const auto fits = [&](const VectorXd& u) { return u.size() == qp.u_before.size() && u.allFinite(); };
    const bool knows_inputs = options.start != HorizonStart::kCold && out.u.size() + 1 == qp.stages.size() &&
                              std::all_of(out.u.begin(), out.u.end(), fits);
    roll_out(qp, knows_inputs ? &out.u : nullptr, options.start == HorizonStart::kShifted ? 1 : 0);
    interior.begin(at);
    double next_polish = kPolish;
    for (int k = 0; k < options.iterations; ++k) {
      const double error = interior.measure(at);
      if (!std::isfinite(error)) {
        out.status = HorizonStatus::kBreakdown;
        return false;
      }
      const bool done = error <= kMargin * options.tolerance;
      if (done || std::max(interior.complementarity(), interior.violation()) <= next_polish) {
        next_polish *= kNextPolish;
        z_saved = at.z;
        take_active_set();
        if (newton.run(at, options.tolerance, kPolishNewton) && accept(qp, options, out)) return true;
        std::swap(at.z, z_saved);
        if (done) {
          at.l.assign(interior.multiplier().begin(), interior.multiplier().end());
          if (options.feedback) interior.factor(at);  // in place of what Newton's method has tried
          if (accept(qp, options, out)) return true;
        }
      }
      const double length = interior.step(at);
      if (length < kLostStep) break;
      const bool may_be_infeasible = k % kRayPeriod == kRayPeriod - 1 && interior.violation() > options.tolerance;
      if (may_be_infeasible && infeasible(qp, options, out)) return true;
    }
    at.l.assign(interior.multiplier().begin(), interior.multiplier().end());
    accept(qp, options, out);
    return out.status == HorizonStatus::kSolved;
  }

  /// What a breakdown leaves: the start of the interior point, without multipliers, and its certificate.
  void write_start(const HorizonQp& qp, HorizonSolution& out) {
    roll_out(qp);
    at.l.assign(at.program.count(), 0.0);
    accept(qp, {.tolerance = 0}, out);
    out.status = HorizonStatus::kBreakdown;
  }

  /// The multipliers for Newton's method from those of the interior point: 0 where a row is inactive, ρ where it is
  /// relaxed.
  void take_active_set() {
    for (int i = 0; i < at.program.count(); ++i) {
      const auto j = to_size(i);
      const double l = interior.multiplier()(i), rho = at.program.rho()[j];
      at.l[j] = !interior.is_active(i) ? 0 : l > (1 - kRelaxed) * rho ? rho : l;
    }
  }

  /// Whether the multipliers of the hard rows prove a contradiction.
  bool infeasible(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& out) {
    const Index hard = at.program.hard();
    if (hard == 0) return false;
    const double peak = interior.multiplier().head(hard).maxCoeff();
    y.assign(at.l.size(), 0.0);
    for (Index i = 0; i < hard; ++i) {
      const double l = interior.multiplier()(i) / peak;
      y[i] = l > kRayEntry ? l : 0;
    }
    write(qp, out);
    spread(qp, y, out.ray);
    if (!(certifier.farkas(qp, out, options.tolerance) < 1)) {
      y.assign(at.l.size(), 0.0);
      spread(qp, y, out.ray);
      return false;
    }
    at.l.assign(interior.multiplier().begin(), interior.multiplier().end());
    at.l.resize(at.program.count(), 0.0);
    accept(qp, {.tolerance = 0}, out);
    spread(qp, y, out.ray);
    out.status = HorizonStatus::kInfeasible;
    return true;
  }

  /// The least violation of the hard rows: where it is not 0 its excesses are a ray.
  bool least_violation(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& out) {
    if (at.program.hard() == 0) return false;
    roll_out(qp);
    const HorizonStatus status = out.status;
    for (int round = 0; round < kViolationRounds; ++round) {
      interior.begin_violation(at);
      for (int k = 0; k < options.iterations; ++k) {
        const double error = interior.measure(at);
        if (!std::isfinite(error)) return false;
        if (error <= kViolationResidual || interior.step(at) < kLostStep) break;
      }
      if (infeasible(qp, options, out)) return true;
    }
    out.status = status;
    return false;
  }

  /// The inputs as before the horizon, or halfway from there to those that are given, from stage `first` on (at their
  /// bounds the interior point would begin with slacks that are too small), moved into their bounds; with the states
  /// that follow.
  void roll_out(const HorizonQp& qp, const std::vector<VectorXd>* inputs = nullptr, std::size_t first = 0) {
    at.z.assign(at.program.size(), 0.0);
    const std::size_t T = qp.stages.size() - 1;
    VectorXd& x = state;
    x = qp.x_start;
    input = qp.u_before;
    for (std::size_t t = 0; t <= T; ++t) {
      const auto& stage = at.program.stage(static_cast<int>(t));
      double* zeta = at.z.data() + stage.at;
      Eigen::Map<VectorXd>(zeta + stage.nu, stage.nx) = x;
      Eigen::Map<VectorXd>(zeta + stage.nu + stage.nx, stage.np) = input.head(stage.np);
      if (t == T) break;
      const HorizonStage& s = qp.stages[t];
      if (inputs != nullptr) input = 0.5 * ((*inputs)[std::min(t + first, T - 1)] + qp.u_before);
      input = input.cwiseMax(s.lower).cwiseMin(s.upper);
      Eigen::Map<VectorXd>(zeta, stage.nu) = input;
      next = s.c;
      next.noalias() += s.A * x;
      next.noalias() += s.B * input;
      x.swap(next);
    }
  }
  VectorXd state, input, next;
};

std::string_view name(HorizonStatus status) {
  switch (status) {
    case HorizonStatus::kSolved:
      return "Solved";
    case HorizonStatus::kIterationLimit:
      return "IterationLimit";
    case HorizonStatus::kBreakdown:
      return "Breakdown";
    case HorizonStatus::kInfeasible:
      return "Infeasible";
  }
  return "?";
}

HorizonQpSolver::HorizonQpSolver() : work_(std::make_unique<Work>()) {}
HorizonQpSolver::~HorizonQpSolver() = default;

void HorizonQpSolver::solve(const HorizonQp& qp, const HorizonQpOptions& options, HorizonSolution& solution) {
  check(qp);
  check(options);
  work_->solve(qp, options, solution);
}

}  // namespace deft::solvers::horizon
