#include "deft/solvers/contact/certificate/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/solvers/contact/certificate/certificate_metric.hpp"

namespace deft::solvers::contact {
namespace {

using Eigen::VectorXd;

// One constraint's share, in physical units; `w` turns them into scaled ones.
struct Share { double w = 1, violation_m = 0, violation_N = 0, complementarity_J = 0; };

// A row of the program: its entries stand in the ascending columns `cols`, `step` apart.
struct Row {
  std::span<const int> cols;
  const double* values;
  double operator()(std::size_t k) const { return values[k]; }
  double dot(const VectorXd& x) const {
    double sum = 0;
    for (std::size_t k = 0; k < cols.size(); ++k) sum += values[k] * x[cols[k]];
    return sum;
  }
  void subtract_from(VectorXd& x, double factor) const {
    for (std::size_t k = 0; k < cols.size(); ++k) x[cols[k]] -= factor * values[k];
  }
};
Row row_of(const RowBlocks& J, int i, int r) {
  const auto cols = J.cols(i);
  return {cols, J.block(i).data() + to_size(r) * cols.size()};
}

bool complete(const ContactProgram& p, const ContactSolution& x) {
  const bool bounded = p.lower.size() > 0 || p.upper.size() > 0;
  return x.delta.size() == p.nv && x.force.size() == p.contacts.size() &&
         x.linear_multipliers.size() == p.linear.rows.size() &&
         x.equality_multipliers.size() == p.equality.rows.size() && x.bound_multipliers.size() == (bounded ? p.nv : 0);
}

bool finite(const ContactSolution& x) {
  bool ok = x.delta.allFinite() && x.linear_multipliers.allFinite() && x.equality_multipliers.allFinite() &&
            x.bound_multipliers.allFinite();
  for (const auto& f : x.force) {
    for (double value : f) ok = ok && std::isfinite(value);
  }
  for (double beta : x.ray_multipliers) ok = ok && std::isfinite(beta);
  return ok;
}

double no_nan(double x) { return std::isnan(x) ? kInfinity : x; }

}  // namespace

// Adds up the residuals of all constraints of a program.
class Certifier::Residuals {
 public:
  Certificate measure(const ContactProgram& program, const ContactSolution& solution) {
    metric_.update(program);
    p_ = &program;
    x_ = &solution;
    shares_.clear();
    violation_energy_ = 0;
    broken_ = false;
    gradient_ = program.b;
    for (int k = 0; k < p_->Q.num_blocks(); ++k) {
      const auto block = p_->Q.block(k);
      const int start = p_->Q.start(k), n = p_->Q.size(k);
      for (int r = 0; r < n; ++r) {
        for (int c = 0; c < n; ++c) gradient_[start + r] += 0.5 * (block(r, c) + block(c, r)) * x_->delta[start + c];
      }
    }
    std::size_t first_ray = 0;
    for (std::size_t i = 0; i < p_->contacts.size(); ++i) contact(static_cast<int>(i), first_ray);
    for (int i = 0; i < p_->linear.rows.size(); ++i) {
      one_sided(row_of(p_->linear.rows, i, 0), p_->linear.rhs[i], x_->linear_multipliers[i]);
    }
    for (int i = 0; i < p_->equality.rows.size(); ++i) {
      equality(row_of(p_->equality.rows, i, 0), p_->equality.rhs[i], x_->equality_multipliers[i]);
    }
    bounds();

    Certificate c;
    c.E0_J = std::max({metric_.squared(p_->b), violation_energy_, target(), 1e-12});
    const double root = std::sqrt(c.E0_J);
    c.stationarity = std::sqrt(metric_.squared(gradient_)) / root;
    c.stationarity_N = p_->nv > 0 ? gradient_.cwiseAbs().maxCoeff() : 0.0;
    for (const Share& s : shares_) {
      c.primal = std::max({c.primal, s.violation_m / (s.w * root), s.violation_N * s.w / root});
      c.primal_m = std::max(c.primal_m, s.violation_m);
      c.complementarity = std::max(c.complementarity, s.complementarity_J / c.E0_J);
      c.complementarity_J = std::max(c.complementarity_J, s.complementarity_J);
    }
    c.primal = std::max(c.primal, broken_ ? kInfinity : 0.0);
    return c;
  }

  void scale(const ContactProgram& program, RowScales& w) {
    metric_.update(program);
    for (auto* list : {&w.contacts, &w.linear, &w.equality, &w.bounds}) list->clear();
    w.E0_J = std::max(metric_.squared(program.b), 1e-12);
    const auto add = [&](std::vector<double>& list, double scale, double violation) {
      list.push_back(scale);
      if (violation > 0) w.E0_J = std::max(w.E0_J, violation * violation / (scale * scale));
    };
    for (int i = 0; i < program.J.size(); ++i) {
      const ContactLaw& law = program.contacts[i];
      add(w.contacts, row_scale(program.J, i, law.frictionless ? 1 : program.J.rows(i)), -law.gap);
    }
    for (int i = 0; i < program.linear.rows.size(); ++i)
      add(w.linear, row_scale(program.linear.rows, i, 1), program.linear.rhs[i]);
    for (int i = 0; i < program.equality.rows.size(); ++i)
      add(w.equality, row_scale(program.equality.rows, i, 1), std::abs(program.equality.rhs[i]));
    for (int i = 0; i < program.nv; ++i) {
      const double lower = program.lower.size() ? program.lower[i] : -kInfinity;
      const double upper = program.upper.size() ? program.upper[i] : kInfinity;
      add(w.bounds, std::sqrt(metric_.squared_unit(i)), std::max(lower, -upper));
    }
  }

 private:
  double squared(const Row& row) const { return metric_.squared(row.cols, row); }
  double target() const { return std::isfinite(p_->kappa) ? 1 / p_->kappa : 0.0; }

  // Records the share of a row set whose mean squared norm and initial violation are given; rows that nothing moves
  // count as absolute ones (w = 1).
  Share& begin(double norm_squared, double initial_violation) {
    const double w = norm_squared > 0 ? std::sqrt(norm_squared) : 1.0;
    if (initial_violation > 0 && std::isfinite(initial_violation) && norm_squared > 0)
      violation_energy_ = std::max(violation_energy_, initial_violation * initial_violation / norm_squared);
    shares_.push_back({w, 0, 0, 0});
    return shares_.back();
  }

  void contact(int i, std::size_t& first_ray) {
    const ContactLaw& law = p_->contacts[i];
    const int rows = p_->J.rows(i);
    const auto& f = x_->force[i];
    double z[4] = {};
    for (int r = 0; r < rows; ++r) z[r] = row_of(p_->J, i, r).dot(x_->delta) + (r == 0 ? law.gap : law.offset[r - 1]);
    const bool as_cone = is_cone(*p_, i);
    if (is_apart(law, rows, z, f, as_cone, first_ray)) return;
    double norm_squared = 0;
    for (int r = 0; r < rows; ++r) {
      const Row row = row_of(p_->J, i, r);
      if (!law.frictionless || r == 0) norm_squared += squared(row) / (law.frictionless ? 1 : rows);
      row.subtract_from(gradient_, f[r]);
    }
    Share& share = begin(norm_squared, -law.gap);
    if (as_cone && !law.frictionless) return cone(law, rows, z, f, share);
    rays(law, rows, z, f, as_cone, share, first_ray);
  }

  /// Whether a contact of an exact program adds nothing to any residual: no force, open before and after. Its rays are
  /// passed then.
  bool is_apart(const ContactLaw& law, int rows, const double* z, const std::array<double, 4>& f, bool as_cone,
                std::size_t& first_ray) const {
    if (target() != 0 || !(law.gap >= 0) || f != std::array<double, 4>{}) return false;
    double slid = 0;  // at least what sliding closes, in any direction
    for (int r = 1; r < rows; ++r) slid += law.mu * std::abs(z[r]) * (as_cone ? law.ellipsoid[r - 1] : 1.0);
    if (!(z[0] >= slid)) return false;
    if (as_cone) return true;
    const auto count = to_size(num_rays(law, rows));
    if (first_ray + count > x_->ray_multipliers.size()) return false;
    for (std::size_t k = first_ray; k < first_ray + count; ++k)
      if (x_->ray_multipliers[k] != 0) return false;
    first_ray += count;
    return true;
  }

  int num_rays(const ContactLaw& law, int rows) const {
    return law.frictionless || rows == 1 ? 1 : rows == 2 ? 2 : p_->rays;
  }

  void rays(const ContactLaw& law, int rows, const double* z, const std::array<double, 4>& f, bool cone_model,
            Share& share, std::size_t& first_ray) {
    const int n = num_rays(law, rows);
    if (cone_model) {  // declared frictionless: one row with the barrier weight 1
      const double slack = z[0] + law.compliance * f[0];
      share.violation_m = std::max(0.0, -slack);
      share.violation_N = std::max(0.0, -f[0]);
      for (int r = 1; r < 4; ++r) share.violation_N = std::max(share.violation_N, std::abs(f[r]));  // no friction
      share.complementarity_J = std::abs(slack * f[0] - target());
      return;
    }
    // A contact of one row that is not declared frictionless stands for all its rays, which coincide: their barriers
    // add up.
    const double weight = rows == 1 && !law.frictionless ? p_->rays : 1;
    double sum[3] = {};
    for (int k = 0; k < n; ++k) {
      if (first_ray >= x_->ray_multipliers.size()) {
        broken_ = true;
        return;
      }
      const double beta = x_->ray_multipliers[first_ray++];
      const double c = n == 1 ? 0 : std::cos(2 * std::numbers::pi * k / n),
                   s = n < 3 ? 0 : std::sin(2 * std::numbers::pi * k / n);
      const double slack = z[0] + law.mu * (c * z[1] + s * z[2]) + law.compliance * beta;
      sum[0] += beta, sum[1] += law.mu * c * beta, sum[2] += law.mu * s * beta;
      share.violation_m = std::max(share.violation_m, -slack);
      share.violation_N = std::max(share.violation_N, -beta);
      share.complementarity_J = std::max(share.complementarity_J, std::abs(slack * beta - weight * target()));
    }
    // The forces must be those of the rays.
    for (int r = 0; r < 4; ++r)
      share.violation_N = std::max(share.violation_N, std::abs(f[r] - (r < 3 ? sum[r] : 0.0)));
  }

  void cone(const ContactLaw& law, int rows, const double* z, const std::array<double, 4>& f, Share& share) {
    double s[4] = {z[0], 0, 0, 0}, y[4] = {f[0], 0, 0, 0};
    double s_tail = 0, y_tail = 0, product = 0;
    for (int r = 1; r < rows; ++r) {
      const double factor = law.mu * law.ellipsoid[r - 1];
      s[r] = factor * z[r];
      if (factor < 1e-12) {
        share.violation_N = std::max(share.violation_N, std::abs(f[r]));  // no friction in this direction
      } else {
        y[r] = f[r] / factor;
      }
    }
    for (int r = 0; r < rows; ++r) s[r] += law.compliance * y[r], product += s[r] * y[r];
    for (int r = 1; r < rows; ++r) s_tail += s[r] * s[r], y_tail += y[r] * y[r];
    share.violation_m = std::max(0.0, std::sqrt(s_tail) - s[0]);
    share.violation_N = std::max(share.violation_N, std::sqrt(y_tail) - y[0]);
    const double off = product - 2 * target();
    double cross = 0;
    for (int r = 1; std::isfinite(p_->kappa) && r < rows; ++r)
      cross += (s[0] * y[r] + y[0] * s[r]) * (s[0] * y[r] + y[0] * s[r]);
    share.complementarity_J = std::sqrt(off * off + cross);
  }

  void one_sided(const Row& row, double rhs, double multiplier) {
    Share& share = begin(squared(row), rhs);
    row.subtract_from(gradient_, multiplier);
    const double slack = row.dot(x_->delta) - rhs;
    share.violation_m = std::max(0.0, -slack);
    share.violation_N = std::max(0.0, -multiplier);
    share.complementarity_J = std::abs(slack * multiplier - (p_->hard ? 0.0 : target()));
  }

  void equality(const Row& row, double rhs, double multiplier) {
    Share& share = begin(squared(row), std::abs(rhs));
    row.subtract_from(gradient_, multiplier);
    share.violation_m = std::abs(row.dot(x_->delta) - rhs);
  }

  // A bound multiplier is the sum of the lower one (≥ 0) and minus the upper one (≥ 0): exact, each takes its sign's
  // part; smoothed, both follow from their slacks and the sum must match.
  void bounds() {
    for (int i = 0; i < x_->bound_multipliers.size(); ++i) {
      const double m = x_->bound_multipliers[i];
      const double lower = p_->lower.size() ? p_->lower[i] : -kInfinity,
                   upper = p_->upper.size() ? p_->upper[i] : kInfinity;
      const double one = 1;
      const Row row{{&i, 1}, &one};
      if (lower == upper) {
        equality(row, lower, m);
        continue;
      }
      const double below = x_->delta[i] - lower, above = upper - x_->delta[i];
      row.subtract_from(gradient_, m);
      Share& share = begin(squared(row), std::max(lower, -upper));
      share.violation_m = std::max({0.0, -below, -above});
      if (p_->hard || target() == 0) {
        if (m > 0) share.complementarity_J = std::isfinite(lower) ? std::abs(m * below) : kInfinity;
        if (m < 0) share.complementarity_J = std::isfinite(upper) ? std::abs(m * above) : kInfinity;
      } else {
        // m = t/below − t/above, multiplied by the smaller slack.
        const double nearest = std::min(below, above);
        if (std::isfinite(nearest))
          share.complementarity_J = std::abs(nearest * (m - target() / below + target() / above));
      }
    }
  }

  // √ of the mean of |row|² in the metric over the first `rows` rows of a block.
  double row_scale(const RowBlocks& J, int i, int rows) const {
    double total = 0;
    for (int r = 0; r < rows; ++r) total += squared(row_of(J, i, r)) / rows;
    return total > 0 ? std::sqrt(total) : 1.0;
  }

  const ContactProgram* p_ = nullptr;
  const ContactSolution* x_ = nullptr;
  CertificateMetric metric_;
  VectorXd gradient_;
  std::vector<Share> shares_;
  double violation_energy_ = 0;
  bool broken_ = false;
};

double Certificate::max_scaled() const { return std::max({stationarity, primal, complementarity}); }

Status confirmed(Status claimed, const Certificate& certificate, double tolerance) {
  double error = 0.0, limit = kCertified;
  if (usable(claimed)) error = certificate.max_scaled(), limit = std::max(limit, tolerance);
  if (claimed == Status::kInfeasible) error = certificate.infeasible;
  if (claimed == Status::kUnbounded) error = certificate.unbounded;
  return error <= limit ? claimed : Status::kNumericalFailure;
}

Certifier::Certifier() : residuals_(std::make_unique<Residuals>()) {}
Certifier::~Certifier() = default;
Certifier::Certifier(Certifier&&) noexcept = default;
Certifier& Certifier::operator=(Certifier&&) noexcept = default;

Certificate Certifier::certify(const ContactProgram& program, const ContactSolution& solution) {
  if (!complete(program, solution) || !finite(solution)) {
    return {kInfinity, kInfinity, kInfinity, kInfinity, kInfinity, kInfinity, 0.0};
  }
  Certificate c = residuals_->measure(program, solution);
  check_proof(program, solution, c);
  for (double* value :
       {&c.stationarity, &c.primal, &c.complementarity, &c.stationarity_N, &c.primal_m, &c.complementarity_J, &c.E0_J})
    *value = no_nan(*value);
  return c;
}

void Certifier::row_scales(const ContactProgram& program, RowScales& scales) { residuals_->scale(program, scales); }

Certificate certify(const ContactProgram& program, const ContactSolution& solution) {
  return Certifier().certify(program, solution);
}

RowScales row_scales(const ContactProgram& program) {
  RowScales scales;
  Certifier().row_scales(program, scales);
  return scales;
}

}  // namespace deft::solvers::contact
