#include "deft/solvers/contact/interior/interior_point.hpp"

#include <algorithm>
#include <cmath>

namespace deft::solvers::contact {
namespace {

constexpr double kEqualityCompliance = 1e-9;  // proximal weight of equality multipliers: rows close by this factor per
                                              // step
constexpr double kColdSlack = 0.3;            // slack and multiplier of a row that touches, at a cold start
constexpr double kSmallestMu = 1e-16;         // exact targets go no lower
constexpr double kBarrierCentrality = 1e-12;  // relative, at the end of a smoothed solve
constexpr double kRowRounding = 1e-13;
constexpr double kPoorStep = 0.1;
constexpr double kConeRounding = 2e-15;
constexpr double kSlackRounding = 1e-15;
constexpr double kNearTheEnd = 1e-7;
constexpr double kBarrierRows = 1e-11;  // |rp|/s there, beyond rounding
constexpr double kFarkasLength = 30;    // multipliers this large are tested as proofs
constexpr double kRayTolerance = 1e-8;
constexpr int kWarmIterations = 14;  // a warm start that needs more was a bad one: start cold

// A slack of this size follows the motion in steps of its rounding; what that leaves of s λ/t is of second order.
double unreachable(double slack) {
  const double step = kSlackRounding / std::max(slack, kSlackRounding);
  return step * step;
}

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
      // The products of a cone cancel: below rounding nothing can be asked of them.
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

void InteriorPoint::scale(const PackedProgram& program) {
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const PackedBlock& block = program.blocks[i];
    const int first = block.first_slack;
    const double R = block.compliance + proximal_;
    if (block.law == Law::kEquality) {
      curvature_[i].zero = false;
      curvature_[i].C[0] = 1 / (kEqualityCompliance + block.compliance);
    } else if (block.law == Law::kCone) {
      const double *s = s_.data() + first, *lambda = x_.lambda.data() + first;
      double* bar = lambda_bar_.data() + first;
      tails_[i].s = linear::tail_norm(block.rows, s);
      tails_[i].lambda = linear::tail_norm(block.rows, lambda);
      W_[i] = linear::nesterov_todd(block.rows, s, tails_[i].s, lambda, tails_[i].lambda);
      K_[i] = W_[i].map([R](double w) { return 1 / (w * w + R); });
      curvature_[i].zero = false;
      K_[i].to_matrix(block.rows, curvature_[i].C);
      W_[i].apply(block.rows, lambda, bar);
      tails_[i].bar = linear::tail_norm(block.rows, bar);
    } else {
      for (int k = first; k < first + block.slacks; ++k) D_[k] = x_.lambda[k] / (s_[k] + R * x_.lambda[k]);
      curvature_of_rays(program, block, D_.data() + first, curvature_[i]);
    }
  }
}

// Newton direction to s ∘ λ = max(final target, σμ) e; `corrector` subtracts the second-order term of the direction now
// in ds, dλ.
void InteriorPoint::direction(const PackedProgram& program, NewtonSystem& system, double sigma_mu, bool corrector) {
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const PackedBlock& block = program.blocks[i];
    const int first = block.first_slack, rows = block.rows;
    double* q = q_.data() + first;
    const double t = std::max(final_target(program, block), sigma_mu);
    if (block.law == Law::kEquality) {
      q[0] = -rp_[first] * curvature_[i].C[0];
    } else if (block.law == Law::kCone) {
      double rc[linear::kMaxConeRows], p[linear::kMaxConeRows];
      const double* bar = lambda_bar_.data() + first;
      linear::jordan_product(rows, bar, bar, rc);
      for (int k = 0; k < rows; ++k) rc[k] = (k == 0 ? t : 0.0) - rc[k];
      if (corrector) {
        double a[linear::kMaxConeRows], b[linear::kMaxConeRows], second[linear::kMaxConeRows];
        W_[i].map([](double w) { return 1 / w; }).apply(rows, ds_.data() + first, a);
        W_[i].apply(rows, dl_.data() + first, b);
        linear::jordan_product(rows, a, b, second);
        for (int k = 0; k < rows; ++k) rc[k] -= second[k];
      }
      linear::jordan_divide(rows, bar, tails_[i].bar, rc, p);
      W_[i].apply(rows, p, rc);
      for (int k = 0; k < rows; ++k) rc[k] -= rp_[first + k];
      K_[i].apply(rows, rc, q);
    } else {
      for (int k = 0; k < block.slacks; ++k) {
        const int j = first + k;
        const double second = corrector ? ds_[j] * dl_[j] : 0.0;
        q[k] = D_[j] * ((t - second) / x_.lambda[j] - s_[j] - rp_[j]);
      }
    }
    rows_of_slacks(program, block, q, y_.data() + block.first_row);
  }
  for (int i = 0; i < program.nv; ++i) dv_[i] = -state_.gradient[i];
  system.add_transposed(program, y_, dv_);
  system.solve(program, dv_);
  system.multiply(program, dv_, z_);
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const PackedBlock& block = program.blocks[i];
    const int first = block.first_slack;
    double* ds = ds_.data() + first;
    double* dl = dl_.data() + first;
    slacks_of_rows(program, block, z_.data() + block.first_row, ds);
    if (block.law == Law::kEquality) {
      dl[0] = q_[first] - ds[0] * curvature_[i].C[0];
      ds[0] = 0;
      continue;
    }
    if (block.law == Law::kCone) {
      K_[i].apply(block.rows, ds, dl);
      for (int k = 0; k < block.rows; ++k) dl[k] = q_[first + k] - dl[k];
    } else {
      for (int k = 0; k < block.slacks; ++k) dl[k] = q_[first + k] - D_[first + k] * ds[k];
    }
    for (int k = 0; k < block.slacks; ++k) ds[k] += rp_[first + k] + (block.compliance + proximal_) * dl[k];
  }
}

double InteriorPoint::step_length(const PackedProgram& program, double limit) const {
  double alpha = limit;
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const PackedBlock& block = program.blocks[i];
    const int first = block.first_slack;
    if (block.law == Law::kEquality) continue;
    if (block.law == Law::kCone) {
      alpha = linear::cone_step(block.rows, s_.data() + first, tails_[i].s, ds_.data() + first, alpha);
      alpha = linear::cone_step(block.rows, x_.lambda.data() + first, tails_[i].lambda, dl_.data() + first, alpha);
      continue;
    }
    for (int k = first; k < first + block.slacks; ++k) {
      if (ds_[k] < 0) alpha = std::min(alpha, -s_[k] / ds_[k]);
      if (dl_[k] < 0) alpha = std::min(alpha, -x_.lambda[k] / dl_[k]);
    }
  }
  return alpha;
}

// Farkas: multipliers y in the dual cone with Jᵀy = 0 and gᵀy < 0. Any motion that satisfies the rows is longer than
// −gᵀy/|Jᵀy|; beyond 1/kRayTolerance times the natural length it does not exist. The multipliers λ/|λ| become such a y
// when the part of Jᵀλ that the rows can carry is taken out, y = λ − C J H⁻¹Jᵀλ, with the factor at hand.
bool InteriorPoint::proves_infeasible(const PackedProgram& program, NewtonSystem& system) {
  double largest = 0;
  for (const double l : x_.lambda) largest = std::max(largest, std::abs(l));
  if (largest < kFarkasLength || infeasibility_ < kRayTolerance) return false;
  // dl_ holds y, in slack space.
  for (int k = 0; k < program.num_slacks; ++k) dl_[k] = x_.lambda[k] / largest;
  const auto transposed = [&] {
    for (const PackedBlock& block : program.blocks)
      rows_of_slacks(program, block, dl_.data() + block.first_slack, y_.data() + block.first_row);
    ray_.assign(program.nv, 0.0);
    system.add_transposed(program, y_, ray_);
  };
  transposed();
  system.solve(program, ray_);
  system.multiply(program, ray_, z_);
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const PackedBlock& block = program.blocks[i];
    double* y = dl_.data() + block.first_slack;
    double* pull = ds_.data() + block.first_slack;
    slacks_of_rows(program, block, z_.data() + block.first_row, pull);
    if (block.law == Law::kEquality) {
      y[0] -= pull[0] * curvature_[i].C[0];
    } else if (block.law == Law::kCone) {
      double change[linear::kMaxConeRows];
      K_[i].apply(block.rows, pull, change);
      for (int k = 0; k < block.rows; ++k) y[k] -= change[k];
      y[0] = std::max(y[0], linear::tail_norm(block.rows, y));  // stays a multiplier; what that costs shows in Jᵀy
    } else {
      for (int k = 0; k < block.slacks; ++k) {
        y[k] -= D_[block.first_slack + k] * pull[k];
        y[k] = std::max(y[k], 0.0);
      }
    }
  }
  transposed();
  double value = 0;
  for (const PackedBlock& block : program.blocks) {
    for (int k = block.first_slack; k < block.first_slack + block.slacks; ++k)
      value += dl_[k] * program.g[k] + block.compliance * dl_[k] * dl_[k] * largest;
  }
  return value < 0 && std::sqrt(program.metric_norm_squared(ray_, scratch_)) <= -kRayTolerance * value;
}

// The best point of a run that ended in rounding noise.
IpmOutcome InteriorPoint::give_up(IpmOutcome outcome) {
  if (best_merit_ < kNearTheEnd) {
    x_.v = best_x_.v;
    x_.lambda = best_x_.lambda;
    s_ = best_s_;
  }
  return outcome;
}

IpmOutcome InteriorPoint::run(const PackedProgram& program, NewtonSystem& system, const IpmLimits& limits) {
  proximal_ = limits.proximal;
  double previous_residual = std::numeric_limits<double>::infinity();
  best_merit_ = previous_residual;
  double alpha = 0, previous_infeasibility = previous_residual, last_merit = previous_residual,
         earlier_merit = previous_residual;
  int polished = 0, unimproved = 0;
  for (;; ++iterations_) {
    measure(program, system);
    const double residual = std::max(state_.stationarity, infeasibility_);
    if (!std::isfinite(residual + mu_)) {
      const int spent = iterations_;
      start_cold(program);  // something finite to return
      iterations_ = spent;
      return give_up(IpmOutcome::kStalled);
    }
    const bool hard_done = excess_ <= limits.complementarity || !(program.has_hard_rows || !program.smoothed);
    if (!program.smoothed && worst_complementarity_ <= limits.complementarity && residual <= limits.residual) {
      warm_ = false;  // from here on it goes straight
      return IpmOutcome::kConverged;
    }
    if (program.smoothed && hard_done && residual <= limits.residual && centrality_ <= 1e-9) {
      // Full Newton steps until rounding stops them.
      const bool central = centrality_ <= kBarrierCentrality && row_error_ <= kBarrierRows;
      if ((central && residual > 0.3 * previous_residual) || polished == 4) return IpmOutcome::kConverged;
      ++polished;
      proximal_ = 0;
    }
    previous_residual = residual;
    // Rows that close no faster than the proximal term lets them: weaken it.
    if (alpha > 0.9 && infeasibility_ > kRowRounding && infeasibility_ > 0.3 * previous_infeasibility)
      proximal_ = std::max(0.1 * proximal_, limits.proximal * 1e-4);
    previous_infeasibility = infeasibility_;
    // Near the end rounding takes over: stop when nothing improves any more.
    const double merit = std::max(residual, program.smoothed ? centrality_ : excess_);
    unimproved = merit < 0.9 * std::min(last_merit, earlier_merit) ? 0 : unimproved + 1;
    earlier_merit = last_merit;
    last_merit = merit;
    if (merit < best_merit_) {
      best_merit_ = merit;
      if (merit < kNearTheEnd) {
        best_x_.v = x_.v;
        best_x_.lambda = x_.lambda;
        best_s_ = s_;
      }
    }
    if (best_merit_ < kNearTheEnd && unimproved >= 4) return give_up(IpmOutcome::kStalled);
    if (iterations_ >= limits.max_iterations) return give_up(IpmOutcome::kIterationLimit);
    if (clock_.seconds() > time_limit_s_) return give_up(IpmOutcome::kTimeLimit);

    scale(program);
    system.factor(program, curvature_);
    if (alpha < 0.5 && proves_infeasible(program, system)) return IpmOutcome::kInfeasible;
    const bool near_target = program.smoothed && excess_ < 10 * program.target;
    if (near_target && !program.has_hard_rows) {
      direction(program, system, 0.0, false);
      alpha = std::min(1.0, 0.95 * step_length(program, 2.0));
    } else {
      direction(program, system, 0.0, false);
      const double affine = step_length(program, 1.0);
      double affine_excess = 0, weight = 0;
      for (const PackedBlock& block : program.blocks) {
        if (block.law == Law::kEquality) continue;
        const int first = block.first_slack;
        if (block.law == Law::kCone) {
          double product = 0;
          for (int k = first; k < first + block.rows; ++k)
            product += (s_[k] + affine * ds_[k]) * (x_.lambda[k] + affine * dl_[k]);
          affine_excess += std::max(0.0, product - final_target(program, block)), weight += 1;
          continue;
        }
        for (int k = first; k < first + block.slacks; ++k) {
          affine_excess += std::max(
              0.0, (s_[k] + affine * ds_[k]) * (x_.lambda[k] + affine * dl_[k]) - final_target(program, block)),
              weight += 1;
        }
      }
      affine_excess /= std::max(weight, 1.0);
      const double ratio = excess_ > 0 ? affine_excess / excess_ : 0;
      const double smallest = program.smoothed ? 0.0 : kSmallestMu;
      direction(program, system, std::max(ratio * ratio * ratio * excess_, smallest), true);
      alpha = std::min(1.0, 0.995 * step_length(program, 2.0));
      if (alpha < kPoorStep || unimproved >= 3) {  // the second-order term misled: plain centring
        direction(program, system, std::max((unimproved >= 3 ? 0.1 : 0.8) * excess_, smallest), false);
        alpha = std::min(1.0, 0.995 * step_length(program, 2.0));
      }
    }
    if (unimproved >= 3)
      alpha = std::min(alpha, unimproved >= 6 ? 0.25 : 0.5);  // full Newton steps may cycle, damped ones descend
    if (!(alpha > 0)) return give_up(IpmOutcome::kStalled);
    short_steps_ = alpha < 0.05 ? short_steps_ + 1 : 0;
    if (alpha < 1e-12 || short_steps_ > limits.max_short_steps) return give_up(IpmOutcome::kStalled);
    for (int i = 0; i < program.nv; ++i) x_.v[i] += alpha * dv_[i];
    for (int k = 0; k < program.num_slacks; ++k) {
      s_[k] += alpha * ds_[k];
      x_.lambda[k] += alpha * dl_[k];
    }
    if (warm_ && (short_steps_ >= 2 || iterations_ > kWarmIterations)) {
      const int spent = iterations_;
      start_cold(program);
      iterations_ = spent;
    }
  }
}

}  // namespace deft::solvers::contact
