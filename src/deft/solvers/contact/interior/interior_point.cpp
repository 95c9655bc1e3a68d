#include "deft/solvers/contact/interior/interior_point.hpp"

#include <algorithm>
#include <cmath>

namespace deft::solvers::contact {
namespace {

constexpr double kSmallestMu = 1e-16;     // exact targets go no lower
constexpr double kConeRounding = 2e-15;   // of a cone's products, relative
constexpr double kSlackRounding = 1e-15;  // of a slack, in scaled units

// The end of a smoothed run.
constexpr double kCentral = 1e-9;             // centrality from which full Newton steps are tried
constexpr int kMostFullSteps = 4;             // of them
constexpr double kBarrierCentrality = 1e-12;  // centrality at the end
constexpr double kBarrierRows = 1e-11;        // |rp|/s at the end, beyond rounding

constexpr double kSlowFall = 0.3;  // a residual above this share of the last one hardly falls
// Rows that close slowly although steps are nearly full: the proximal term holds them, and its weight shrinks by this
// factor, down to that share of the first one.
constexpr double kNearlyFull = 0.9, kRowRounding = 1e-13, kWeaker = 0.1, kWeakest = 1e-4;

// Stalls: an iteration gains where its merit is below kGain times those of the last two. After kStallAfter and
// kLongStallAfter iterations without a gain steps are at most kStallStep and kLongStallStep long. A run whose merit has
// been below kNearTheEnd ends after kRoundingAfter such iterations.
constexpr double kGain = 0.9, kNearTheEnd = 1e-7;
constexpr int kStallAfter = 3, kLongStallAfter = 6, kRoundingAfter = 4;
constexpr double kStallStep = 0.5, kLongStallStep = 0.25;
constexpr double kShortStep = 0.05, kNoStep = 1e-12;  // steps that count as short, and as none
// A warm start that takes so many short steps in a row, or more iterations than these, was a bad one: start cold.
constexpr int kWarmShortSteps = 2, kWarmIterations = 14;

constexpr double kSuspicious = 0.5;       // after shorter steps the multipliers are tested as a proof of infeasibility
constexpr double kNearPath = 10;          // times the target: mean excess below which a smoothed run follows the path
constexpr double kPathShare = 0.95;       // of the way to the boundary, along the path
constexpr double kBoundaryShare = 0.995;  // otherwise
constexpr double kPoorStep = 0.1;         // a corrector that allows less misled
constexpr double kCentring = 0.8;         // σ of the step that replaces it
constexpr double kStallCentring = 0.1;    // σ of steps in a stall

// A slack of this size follows the motion in steps of its rounding; what that leaves of s λ/t is of second order.
double unreachable(double slack) {
  const double step = kSlackRounding / std::max(slack, kSlackRounding);
  return step * step;
}

// The least complementarity that centring aims at.
double smallest_mu(const PackedProgram& program) { return program.smoothed ? 0.0 : kSmallestMu; }

}  // namespace

void InteriorPoint::resize(const PackedProgram& program) {
  x_.v.resize(program.nv);
  dv_.resize(program.nv);
  for (auto* v : {&x_.lambda, &s_, &rp_, &D_, &q_, &ds_, &dl_, &lambda_bar_}) v->resize(program.num_slacks);
  for (auto* v : {&y_, &z_}) v->resize(program.num_rows);
  W_.resize(program.blocks.size());
  K_.resize(program.blocks.size());
  tails_.resize(program.blocks.size());
  curvature_.resize(program.blocks.size());
  iterations_ = short_steps_ = 0;
}

void InteriorPoint::start_cold(const PackedProgram& program, double size) {
  resize(program);
  warm_ = false;
  std::fill(x_.v.begin(), x_.v.end(), 0.0);
  for (const PackedBlock& block : program.blocks) {
    for (int k = 0; k < block.slacks; ++k) {
      double& s = s_[block.first_slack + k];
      double& lambda = x_.lambda[block.first_slack + k];
      if (block.law == Law::kEquality) {
        s = lambda = 0;
      } else if (block.law == Law::kCone && k > 0) {
        s = lambda = 0;
      } else {
        const double target = std::max(size * size, final_target(program, block));
        s = std::max(program.g[block.first_slack + k], std::sqrt(target));
        lambda = target / s;
      }
    }
  }
}

// A cold start that goes on counting iterations.
void InteriorPoint::restart_cold(const PackedProgram& program) {
  const int spent = iterations_;
  start_cold(program);
  iterations_ = spent;
}

void InteriorPoint::start_warm(const PackedProgram& program, NewtonSystem& system, const Iterate& x, double mu) {
  resize(program);
  warm_ = true;
  x_.v = x.v;
  x_.lambda = x.lambda;
  state_.evaluate(program, system, x_);
  // s, λ with s ∘ λ = t e and s − λ = d: both are spectral functions of d.
  for (const PackedBlock& block : program.blocks) {
    double* s = s_.data() + block.first_slack;
    double* lambda = x_.lambda.data() + block.first_slack;
    const double* slack = state_.slack.data() + block.first_slack;
    const double t = std::max(mu, final_target(program, block));
    const auto lift = [t](double d) {
      return d > 0 ? 0.5 * (d + std::sqrt(d * d + 4 * t)) : 2 * t / (std::sqrt(d * d + 4 * t) - d);
    };
    if (block.law == Law::kEquality) {
      s[0] = 0;
    } else if (block.law == Law::kCone) {
      double d[linear::kMaxConeRows], u[3];
      for (int k = 0; k < block.rows; ++k) d[k] = slack[k] - lambda[k];
      const double tail = linear::tail_direction(block.rows, d, u);
      const double plus = lift(d[0] + tail), minus = lift(d[0] - tail);
      s[0] = 0.5 * (plus + minus);
      lambda[0] = 0.5 * (t / plus + t / minus);
      for (int k = 1; k < block.rows; ++k) {
        s[k] = 0.5 * (plus - minus) * u[k - 1];
        lambda[k] = 0.5 * (t / plus - t / minus) * u[k - 1];
      }
    } else {
      for (int k = 0; k < block.slacks; ++k) {
        s[k] = lift(slack[k] - lambda[k]);
        lambda[k] = t / s[k];
      }
    }
  }
}

// Residuals, complementarity and its distance from the target.
void InteriorPoint::measure(const PackedProgram& program, NewtonSystem& system) {
  state_.evaluate(program, system, x_);
  double total = 0, weight = 0, excess = 0;
  centrality_ = infeasibility_ = worst_complementarity_ = row_error_ = 0;
  for (const PackedBlock& block : program.blocks) {
    const int first = block.first_slack;
    for (int k = 0; k < block.slacks; ++k) {
      rp_[first + k] = state_.slack[first + k] - s_[first + k];
      infeasibility_ = std::max(infeasibility_, std::abs(rp_[first + k]));
    }
    if (block.law == Law::kEquality) continue;
    const double t = final_target(program, block);
    if (block.law == Law::kCone) {
      double product[linear::kMaxConeRows];
      linear::jordan_product(block.rows, s_.data() + first, x_.lambda.data() + first, product);
      total += product[0];
      weight += 1;
      excess += std::max(0.0, product[0] - t);
      worst_complementarity_ = std::max(worst_complementarity_, std::abs(product[0] - t));
      if (!(t > 0)) continue;
      product[0] -= t;
      // The products of a cone cancel: what is below their rounding does not count.
      const double off =
          std::sqrt(linear::dot(block.rows, product, product)) - kConeRounding * s_[first] * x_.lambda[first];
      const double inside = s_[first] - linear::tail_norm(block.rows, s_.data() + first);
      centrality_ = std::max(centrality_, off / t - unreachable(inside));
      continue;
    }
    for (int k = 0; k < block.slacks; ++k) {
      const double product = s_[first + k] * x_.lambda[first + k];
      total += product;
      weight += 1;
      excess += std::max(0.0, product - t);
      worst_complementarity_ = std::max(worst_complementarity_, std::abs(product - t));
      if (t > 0) {
        centrality_ = std::max(centrality_, std::abs(product - t) / t - unreachable(s_[first + k]));
        const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(program.g[first + k]);
        row_error_ = std::max(row_error_, (std::abs(rp_[first + k]) - rounding) / s_[first + k]);
      }
    }
  }
  mu_ = weight > 0 ? total / weight : 0;
  excess_ = weight > 0 ? excess / weight : 0;
}

// Takes the merit of an iteration. @returns whether it is the best one so far.
bool InteriorPoint::StallGuard::note(double merit) {
  unimproved = merit < kGain * std::min(last, earlier) ? 0 : unimproved + 1;
  earlier = last;
  last = merit;
  if (!(merit < best)) return false;
  best = merit;
  return true;
}

// Near the end, where nothing improves any more.
bool InteriorPoint::StallGuard::at_rounding() const { return best < kNearTheEnd && unimproved >= kRoundingAfter; }

bool InteriorPoint::StallGuard::stalled() const { return unimproved >= kStallAfter; }

// Full Newton steps may cycle, damped ones descend.
double InteriorPoint::StallGuard::longest_step() const {
  if (!stalled()) return 1.0;
  return unimproved >= kLongStallAfter ? kLongStallStep : kStallStep;
}

// An exact run has converged at its limits; a smoothed one goes on from there with full Newton steps until rounding
// stops them.
bool InteriorPoint::converged(const PackedProgram& program, const IpmLimits& limits) {
  if (!program.smoothed) {
    if (!(worst_complementarity_ <= limits.complementarity && residual() <= limits.residual)) return false;
    warm_ = false;  // no later run from this point starts cold instead
    return true;
  }
  const bool hard_done = excess_ <= limits.complementarity || !program.has_hard_rows;
  if (!(hard_done && residual() <= limits.residual && centrality_ <= kCentral)) return false;
  const bool central = centrality_ <= kBarrierCentrality && row_error_ <= kBarrierRows;
  if ((central && residual() > kSlowFall * previous_.residual) || full_steps_ == kMostFullSteps) return true;
  ++full_steps_;
  proximal_ = 0;
  return false;
}

// Where rows close no faster than the proximal term lets them.
void InteriorPoint::weaken_proximal(const IpmLimits& limits) {
  if (previous_.step > kNearlyFull && infeasibility_ > kRowRounding &&
      infeasibility_ > kSlowFall * previous_.infeasibility)
    proximal_ = std::max(kWeaker * proximal_, limits.proximal * kWeakest);
}

void InteriorPoint::keep_if_best(const PackedProgram& program) {
  const double merit = std::max(residual(), program.smoothed ? centrality_ : excess_);
  if (!guard_.note(merit) || !(merit < kNearTheEnd)) return;
  best_x_.v = x_.v;
  best_x_.lambda = x_.lambda;
  best_s_ = s_;
}

// Back to the best point of a run that ends in rounding noise.
IpmOutcome InteriorPoint::end_at_best(IpmOutcome outcome) {
  if (guard_.best < kNearTheEnd) {
    x_.v = best_x_.v;
    x_.lambda = best_x_.lambda;
    s_ = best_s_;
  }
  return outcome;
}

// Close to the central path of a smoothed program plain Newton steps follow it; hard rows need the predictor.
bool InteriorPoint::follows_path(const PackedProgram& program) const {
  return program.smoothed && excess_ < kNearPath * program.target && !program.has_hard_rows;
}

// Mean excess of complementarity over the target after a step along the direction.
double InteriorPoint::excess_after(const PackedProgram& program, double step) const {
  double excess = 0, weight = 0;
  for (const PackedBlock& block : program.blocks) {
    if (block.law == Law::kEquality) continue;
    const int first = block.first_slack;
    const double target = final_target(program, block);
    if (block.law == Law::kCone) {
      double product = 0;
      for (int k = first; k < first + block.rows; ++k)
        product += (s_[k] + step * ds_[k]) * (x_.lambda[k] + step * dl_[k]);
      excess += std::max(0.0, product - target);
      weight += 1;
      continue;
    }
    for (int k = first; k < first + block.slacks; ++k) {
      excess += std::max(0.0, (s_[k] + step * ds_[k]) * (x_.lambda[k] + step * dl_[k]) - target);
      weight += 1;
    }
  }
  return excess / std::max(weight, 1.0);
}

// Mehrotra's choice: σμ is the mean excess times the cube of the share that the predictor leaves of it.
double InteriorPoint::centring(const PackedProgram& program) const {
  const double left = excess_after(program, step_length(program, 1.0));
  const double ratio = excess_ > 0 ? left / excess_ : 0;
  return std::max(ratio * ratio * ratio * excess_, smallest_mu(program));
}

// Whether a run ends because its steps are too short.
bool InteriorPoint::too_short(double step, const IpmLimits& limits) {
  if (!(step > 0)) return true;
  short_steps_ = step < kShortStep ? short_steps_ + 1 : 0;
  return step < kNoStep || short_steps_ > limits.max_short_steps;
}

void InteriorPoint::move(const PackedProgram& program, double step) {
  for (int i = 0; i < program.nv; ++i) x_.v[i] += step * dv_[i];
  for (int k = 0; k < program.num_slacks; ++k) {
    s_[k] += step * ds_[k];
    x_.lambda[k] += step * dl_[k];
  }
}

IpmOutcome InteriorPoint::run(const PackedProgram& program, NewtonSystem& system, const IpmLimits& limits) {
  proximal_ = limits.proximal;
  guard_ = {};
  previous_ = {};
  full_steps_ = 0;
  for (;; ++iterations_) {
    measure(program, system);
    if (!std::isfinite(residual() + mu_)) {
      restart_cold(program);  // something finite to return
      return end_at_best(IpmOutcome::kStalled);
    }
    if (converged(program, limits)) return IpmOutcome::kConverged;
    weaken_proximal(limits);
    keep_if_best(program);
    if (guard_.at_rounding()) return end_at_best(IpmOutcome::kStalled);
    if (iterations_ >= limits.max_iterations) return end_at_best(IpmOutcome::kIterationLimit);
    if (out_of_time()) return end_at_best(IpmOutcome::kTimeLimit);

    scale(program);
    system.factor(program, curvature_);
    if (previous_.step < kSuspicious && proves_infeasible(program, system)) return IpmOutcome::kInfeasible;

    direction(program, system, 0.0, false);  // predictor
    double step;
    if (follows_path(program)) {
      step = step_to_boundary(program, kPathShare);
    } else {
      const double sigma_mu = centring(program);
      direction(program, system, sigma_mu, true);  // corrector
      step = step_to_boundary(program, kBoundaryShare);
      if (step < kPoorStep || guard_.stalled()) {  // the second-order term misled: plain centring
        const double sigma = guard_.stalled() ? kStallCentring : kCentring;
        direction(program, system, std::max(sigma * excess_, smallest_mu(program)), false);
        step = step_to_boundary(program, kBoundaryShare);
      }
    }
    step = std::min(step, guard_.longest_step());
    if (too_short(step, limits)) return end_at_best(IpmOutcome::kStalled);
    move(program, step);
    previous_ = {step, residual(), infeasibility_};
    if (warm_ && (short_steps_ >= kWarmShortSteps || iterations_ > kWarmIterations)) restart_cold(program);
  }
}

}  // namespace deft::solvers::contact
