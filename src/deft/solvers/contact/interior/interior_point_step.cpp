// One step of the interior point: scaling, Newton direction, step length, and the test of the multipliers as a ray.

#include <algorithm>
#include <cmath>

#include "deft/solvers/contact/interior/interior_point.hpp"

namespace deft::solvers::contact {
namespace {

constexpr double kEqualityCompliance = 1e-9;  // proximal weight of equality multipliers: rows close by this factor per
                                              // step
constexpr double kFarkasLength = 30;          // multipliers this large are tested as proofs
constexpr double kRayTolerance = 1e-8;        // error of a proof
constexpr double kFarthest = 2.0;             // how far the boundary is looked for, in full steps

}  // namespace

// Nesterov–Todd scaling of cones, D of rays, and the curvature of all blocks.
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

// The right-hand side of a cone: K (W (λ̄ \ (t e − λ̄ ∘ λ̄ − second-order term)) − rp), all products of the cone's
// algebra.
void InteriorPoint::cone_right_hand_side(const PackedBlock& block, std::size_t i, double target, bool corrector) {
  const int first = block.first_slack, rows = block.rows;
  double rc[linear::kMaxConeRows], p[linear::kMaxConeRows];
  const double* bar = lambda_bar_.data() + first;
  linear::jordan_product(rows, bar, bar, rc);
  for (int k = 0; k < rows; ++k) rc[k] = (k == 0 ? target : 0.0) - rc[k];
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
  K_[i].apply(rows, rc, q_.data() + first);
}

// q of dλ = q − C ds for s ∘ λ = max(final target, σμ) e, and its forces along the rows in y.
void InteriorPoint::right_hand_side(const PackedProgram& program, double sigma_mu, bool corrector) {
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    const PackedBlock& block = program.blocks[i];
    const int first = block.first_slack;
    double* q = q_.data() + first;
    const double t = std::max(final_target(program, block), sigma_mu);
    if (block.law == Law::kEquality) {
      q[0] = -rp_[first] * curvature_[i].C[0];
    } else if (block.law == Law::kCone) {
      cone_right_hand_side(block, i, t, corrector);
    } else {
      for (int k = 0; k < block.slacks; ++k) {
        const int j = first + k;
        const double second = corrector ? ds_[j] * dl_[j] : 0.0;
        q[k] = D_[j] * ((t - second) / x_.lambda[j] - s_[j] - rp_[j]);
      }
    }
    rows_of_slacks(program, block, q, y_.data() + block.first_row);
  }
}

// Newton direction to s ∘ λ = max(final target, σμ) e; `corrector` subtracts the second-order term of the direction now
// in ds, dλ.
void InteriorPoint::direction(const PackedProgram& program, NewtonSystem& system, double sigma_mu, bool corrector) {
  right_hand_side(program, sigma_mu, corrector);
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

// Longest step, at most `limit`, that leaves no slack or multiplier outside its cone.
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

// Step length that keeps a share of the way to the boundary of the cones, at most 1.
double InteriorPoint::step_to_boundary(const PackedProgram& program, double share) const {
  return std::min(1.0, share * step_length(program, kFarthest));
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

}  // namespace deft::solvers::contact
