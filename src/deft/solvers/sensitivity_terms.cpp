#include "deft/solvers/sensitivity_terms.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace deft::solvers {
namespace {

using Eigen::Matrix4d;
using Eigen::Vector4d;

constexpr double kFaint = 1e-7;      // scaled slack and multiplier both below it: strict complementarity fails
constexpr double kParallel = 1e-14;  // length of what a ray adds to the span of those before it, relative

enum class Activity { kOpen, kHeld, kWeak };

/// Number of multipliers of a contact in ContactSolution::ray_multipliers.
int count_rays(const ContactProgram& program, int i) {
  const int rows = program.J.rows(i);
  return program.contacts[i].frictionless || rows == 1 ? 1 : rows == 2 ? 2 : program.rays;
}

/// Adds the part of e that is orthogonal to the held rows, as a row of length one.
void hold(const Vector4d& e, ContactTerm& term) {
  Vector4d rest = e;
  for (int pass = 0; pass < 2; ++pass) {
    for (int r = 0; r < term.num_held; ++r) rest -= term.E.row(r).dot(rest) * term.E.row(r).transpose();
  }
  const double length = rest.norm();
  if (!(length > kParallel * e.norm()) || term.num_held == term.rows) return;
  term.E.row(term.num_held++) = rest.transpose() / length;
}

/// dy = −C (dz₀ + R dy).
Matrix4d compliant(const Matrix4d& C, double R) {
  if (R == 0) return C;
  const Matrix4d system = Matrix4d::Identity() + R * C;
  return system.ldlt().solve(C);
}

/// Judges the rows of one program.
class Classifier {
 public:
  Classifier(const ContactProgram& program, const ContactSolution& solution, double energy_J, double residual,
             SensitivityTerms& terms)
      : p_(program),
        x_(solution),
        root_(std::sqrt(energy_J)),
        faint_(std::max(kFaint, 3 * std::sqrt(residual))),
        smoothed_(std::isfinite(program.kappa)),
        barriers_(smoothed_ && !program.hard),
        t_(terms) {}

  void classify() {
    fill_metric();
    t_.directions.clear();
    for (int j = 0; j < p_.rays; ++j) {
      const double angle = 2 * std::numbers::pi * j / p_.rays;
      t_.directions.emplace_back(std::cos(angle), std::sin(angle));
    }
    const double* beta = x_.ray_multipliers.data();
    t_.contacts.resize(p_.contacts.size());
    for (int i = 0; i < static_cast<int>(p_.contacts.size()); ++i) {
      add_contact(i, beta);
      if (!is_cone(p_, i)) beta += count_rays(p_, i);
    }
    for (int v = 0; v < p_.nv; ++v) add_bound(v);
    for (int i = 0; i < p_.linear.rows.size(); ++i) add_linear(i);
    for (int i = 0; i < p_.equality.rows.size(); ++i) t_.equality.push_back({.index = i, .is_held = true});
  }

 private:
  void fill_metric() {
    t_.metric.assign(p_.nv, 0.0);
    double sum = 0;
    for (const BlockDiagonal* blocks : {&p_.Q, &p_.masses}) {
      for (int k = 0; k < blocks->num_blocks(); ++k) {
        for (int i = 0; i < blocks->size(k); ++i) {
          double& entry = t_.metric[blocks->start(k) + i];
          if (entry <= 0) entry = blocks->block(k)(i, i);
        }
      }
    }
    for (const double entry : t_.metric) sum += entry;
    const double mean = p_.nv > 0 && sum > 0 ? sum / p_.nv : 1.0;
    for (double& entry : t_.metric) entry = entry > 0 ? entry : mean;
  }

  /// |Jᵀe|² in the metric Q̃⁻¹ is eᵀWe for the rows J of a contact.
  Matrix4d metric_of(int contact) const {
    const auto cols = p_.J.cols(contact);
    const auto block = p_.J.block(contact);
    Matrix4d W = Matrix4d::Zero();
    for (std::size_t c = 0; c < cols.size(); ++c) {
      const Vector4d own = column(block, c);
      W += own * (own / t_.metric[cols[c]]).transpose();
    }
    return W;
  }
  static double width(const Matrix4d& W, const Vector4d& e) { return std::sqrt(e.dot(W * e)); }

  Activity activity(double slack, double multiplier, double width) const {
    if (!(width > 0)) return Activity::kOpen;  // nothing moves this row
    const double s = slack / (width * root_), m = multiplier * width / root_;
    if (std::max(s, m) < faint_) return Activity::kWeak;
    return m > s ? Activity::kHeld : Activity::kOpen;
  }

  void add_contact(int i, const double* beta) {
    const int rows = p_.J.rows(i);
    ContactTerm& term = t_.contacts[i] = {.first_row = t_.num_rows, .rows = rows};
    t_.num_rows += rows;
    // Values of the rows: s = φe₁ + Jδ + (0, o).
    const auto cols = p_.J.cols(i);
    const auto block = p_.J.block(i);
    Vector4d s = p_.contacts[i].gap * Vector4d::Unit(0);
    for (std::size_t k = 0; k < cols.size(); ++k) s += column(block, k) * x_.delta(cols[k]);
    for (int r = 1; r < rows; ++r) s(r) += p_.contacts[i].offset[r - 1];

    if (!is_cone(p_, i) || p_.contacts[i].frictionless || rows == 1)
      add_rays(i, s, beta, term);
    else
      add_cone(i, s, term);
    term.acts = term.num_held > 0 || !term.C.isZero(0);
  }

  void add_rays(int i, const Vector4d& s, const double* beta, ContactTerm& term) {
    const ContactLaw& law = p_.contacts[i];
    const int rows = p_.J.rows(i);
    const bool single = law.frictionless || rows == 1;
    const int rays = single ? 1 : count_rays(p_, i);
    const bool has_beta = !is_cone(p_, i);
    const Matrix4d W = smoothed_ ? Matrix4d::Zero() : metric_of(i);
    for (int j = 0; j < rays; ++j) {
      Vector4d e = Vector4d::Unit(0);
      if (!single) e(1) = law.mu * (rows == 2 ? (j == 0 ? 1.0 : -1.0) : t_.directions[static_cast<std::size_t>(j)].x());
      if (!single && rows > 2) e(2) = law.mu * t_.directions[static_cast<std::size_t>(j)].y();
      const double b = has_beta ? beta[j] : x_.force[i][0];
      const double R = law.compliance;
      if (smoothed_) {
        // A cone contact of one row carries the cone's weight 2 unless it is declared frictionless.
        const double weight = has_beta || law.frictionless ? 1.0 : 2.0;
        const double c = p_.kappa * b * b / weight;
        term.C += c / (1 + c * R) * e * e.transpose();
        continue;
      }
      switch (activity(e.dot(s) + R * b, b, width(W, e))) {
        case Activity::kHeld:
          if (R > 0)
            term.C += e * e.transpose() / R;
          else
            hold(e, term);
          break;
        case Activity::kWeak:
          t_.implied.push_back({i, e});
          break;
        case Activity::kOpen:
          break;
      }
    }
  }

  /// In scaled rows z = D s + R y, y = D⁻¹ f, D = diag(1, μe): both in the second-order cone.
  void add_cone(int i, const Vector4d& s, ContactTerm& term) {
    const ContactLaw& law = p_.contacts[i];
    const int rows = p_.J.rows(i);
    Vector4d D = Vector4d::Unit(0), y;
    for (int k = 1; k < rows; ++k) D(k) = law.mu * law.ellipsoid[k - 1];
    for (int k = 0; k < 4; ++k) y(k) = D(k) > 0 ? x_.force[i][k] / D(k) : 0.0;
    const double R = law.compliance;
    const Matrix4d scaling = D.asDiagonal();
    const Vector4d z = D.cwiseProduct(s) + R * y;
    if (smoothed_) {
      // y = (2/κ) z⁻¹, so −dy/dz = (κ/2) P(y), P(y) = 2 yyᵀ − det(y) diag(1, −1, …). Near the border of the cone y_n −
      // ‖y_t‖ is rounding; it is 2/κ over z_n + ‖z_t‖.
      Matrix4d P = 2 * y * y.transpose();
      const double det = (y(0) + y.tail<3>().norm()) * (2 / p_.kappa) / (z(0) + z.tail<3>().norm());
      P(0, 0) -= det;
      P.diagonal().tail<3>().array() += det;
      term.C = scaling * compliant(0.5 * p_.kappa * P, R) * scaling;
      return;
    }
    const double z_t = z.tail<3>().norm(), y_t = y.tail<3>().norm();
    const double w = std::sqrt(metric_of(i)(0, 0));
    const Activity touching = activity(z(0) - z_t, y(0) + y_t, w), sticking = activity(z(0) + z_t, y(0) - y_t, w);
    if (touching == Activity::kOpen) return;
    if (touching == Activity::kWeak) return add_weak_cone(i, rows, sticking);
    if (sticking == Activity::kHeld) {
      if (R > 0) term.C = scaling * scaling / R;
      for (int k = 0; R == 0 && k < rows; ++k) {
        if (D(k) > 0) hold(Vector4d::Unit(k), term);
      }
      return;
    }
    if (sticking == Activity::kWeak || z_t == 0) t_.kink = true;
    // Sliding: one row a = (1, −ŝ) is held, and turning it costs y_n/‖z_t‖ across ŝ.
    Vector4d a = Vector4d::Unit(0);
    Matrix4d N = Matrix4d::Zero();
    if (z_t > 0) {
      const Eigen::Vector3d along = z.tail<3>() / z_t;
      a.tail<3>() = -along;
      N.bottomRightCorner<3, 3>() = y(0) / z_t * (Eigen::Matrix3d::Identity() - along * along.transpose());
    }
    term.bends = R == 0 && rows > 2;
    term.C = scaling * compliant(N, R) * scaling;
    const Vector4d row = D.cwiseProduct(a);
    if (R > 0)
      term.C += row * row.transpose() / (R * a.squaredNorm());
    else
      hold(row, term);
  }

  /// No force and no slack along the normal: implied by others if the contact does not slide, a kink otherwise.
  void add_weak_cone(int i, int rows, Activity sticking) {
    if (sticking != Activity::kWeak) {
      t_.kink = true;
      return;
    }
    for (int r = 0; r < rows; ++r) t_.implied.push_back({i, Vector4d::Unit(r)});
  }

  void add_bound(int v) {
    const double low = p_.lower.size() > 0 ? p_.lower(v) : -INFINITY, up = p_.upper.size() > 0 ? p_.upper(v) : INFINITY;
    if (!std::isfinite(low) && !std::isfinite(up)) return;
    const double m = x_.bound_multipliers(v), s_low = x_.delta(v) - low, s_up = up - x_.delta(v);
    RowTerm bound{.index = v};
    if (barriers_) {
      // The net multiplier is exact for the nearer bound; the farther one follows from its slack.
      const double far = 1 / (p_.kappa * std::max(s_low, s_up));
      const double low_beta = s_low < s_up ? m + far : far, up_beta = s_low < s_up ? far : far - m;
      bound.lower_stiffness = std::isfinite(low) ? p_.kappa * low_beta * low_beta : 0.0;
      bound.upper_stiffness = std::isfinite(up) ? p_.kappa * up_beta * up_beta : 0.0;
    } else {
      bound.holds_upper = s_up < s_low;
      const Activity found = activity(std::min(s_low, s_up), bound.holds_upper ? -m : m, 1 / std::sqrt(t_.metric[v]));
      if (found == Activity::kWeak && low != up) t_.kink = true;
      if (found != Activity::kHeld && low != up) return;
      bound.is_held = true;
    }
    t_.bounds.push_back(bound);
  }

  void add_linear(int i) {
    RowTerm row{.index = i};
    const double m = x_.linear_multipliers(i);
    if (barriers_) {
      row.lower_stiffness = p_.kappa * m * m;
    } else {
      const auto cols = p_.linear.rows.cols(i);
      const auto values = p_.linear.rows.block(i).row(0);
      double slack = -p_.linear.rhs[i];
      for (std::size_t k = 0; k < cols.size(); ++k) slack += values(static_cast<Eigen::Index>(k)) * x_.delta(cols[k]);
      double squared = 0;
      for (std::size_t k = 0; k < cols.size(); ++k)
        squared += values(static_cast<Eigen::Index>(k)) * values(static_cast<Eigen::Index>(k)) / t_.metric[cols[k]];
      const Activity found = activity(slack, m, std::sqrt(squared));
      if (found == Activity::kWeak) t_.kink = true;
      if (found != Activity::kHeld) return;
      row.is_held = true;
    }
    t_.linear.push_back(row);
  }

  const ContactProgram& p_;
  const ContactSolution& x_;
  double root_, faint_;
  bool smoothed_, barriers_;
  SensitivityTerms& t_;
};

}  // namespace

void SensitivityTerms::classify(const ContactProgram& program, const ContactSolution& solution, double energy_J,
                                double residual) {
  for (auto* rows : {&bounds, &linear, &equality}) rows->clear();
  implied.clear();
  num_rows = 0;
  kink = false;
  Classifier(program, solution, energy_J, residual, *this).classify();
}

}  // namespace deft::solvers
