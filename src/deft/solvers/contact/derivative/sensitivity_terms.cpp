#include "deft/solvers/contact/derivative/sensitivity_terms.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace deft::solvers::contact {
namespace {

using Eigen::Matrix4d;
using Eigen::Vector3d;
using Eigen::Vector4d;

constexpr double kFaint = 1e-7;  // scaled slack and multiplier both below it: strict complementarity fails
// Stiffness of a barrier, scaled, above which it stays out of H: there it would leave this many times the rounding in
// whatever it does not resist.
constexpr double kStiff = 1e6;
constexpr double kParallel = 1e-14;  // length of what a ray adds to the span of those before it, relative

enum class Activity { kOpen, kActive, kWeak };

bool has_one_ray(const ContactProgram& program, int i) {
  return program.contacts[i].frictionless || program.J.rows(i) == 1;
}

/// Adds the part of e that is orthogonal to the active rows, as a row of length one.
void add_active_row(const Vector4d& e, ContactTerm& term) {
  Vector4d rest = e;
  for (int pass = 0; pass < 2; ++pass) {
    for (int r = 0; r < term.num_active; ++r) rest -= term.E.row(r).dot(rest) * term.E.row(r).transpose();
  }
  const double length = rest.norm();
  if (!(length > kParallel * e.norm()) || term.num_active == term.rows) return;
  term.E.row(term.num_active++) = rest.transpose() / length;
}

/// EᵀE += eeᵀ, E upper triangular, by rotations. Rows of very different size keep their digits if the longest come
/// first.
void add_to_root(Vector4d e, Matrix4d& E) {
  for (int k = 0; k < 4; ++k) {
    if (e(k) == 0) continue;
    const double length = std::hypot(E(k, k), e(k)), c = E(k, k) / length, s = e(k) / length;
    const Eigen::RowVector4d row = E.row(k);
    E.row(k) = c * row + s * e.transpose();
    e = c * e - s * row.transpose();
    e(k) = 0;
  }
}

/// dy = −C (dz₀ + R dy).
Matrix4d with_compliance(const Matrix4d& C, double R) {
  if (R == 0) return C;
  const Matrix4d system = Matrix4d::Identity() + R * C;
  return system.ldlt().solve(C);
}

/// Classifies the rows of one program as active, weakly active or inactive, and computes their terms.
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
        t_(terms),
        resisting_(terms.resisting) {}

  void classify() {
    fill_metric();
    t_.directions.clear();
    for (int j = 0; j < p_.rays; ++j) {
      const double angle = 2 * std::numbers::pi * j / p_.rays;
      t_.directions.emplace_back(std::cos(angle), std::sin(angle));
    }
    const double* beta = x_.ray_multipliers.data();
    t_.contacts.resize(p_.contacts.size());
    t_.ray_active.clear();
    for (int i = 0; i < static_cast<int>(p_.contacts.size()); ++i) {
      add_contact(i, beta);
      if (!is_cone(p_, i)) beta += count_rays(p_, i);
    }
    for (int v = 0; v < p_.nv; ++v) add_bound(v);
    for (int i = 0; i < p_.linear.rows.size(); ++i) add_linear(i);
    for (int i = 0; i < p_.equality.rows.size(); ++i) t_.equality.push_back({.index = i, .is_active = true});
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
    return m > s ? Activity::kActive : Activity::kOpen;
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

    if (has_cone_law(p_, i))
      add_cone(i, s, term);
    else
      add_rays(i, s, beta, term);
    term.acts = term.num_active > 0 || !term.C.isZero(0);
  }

  void add_rays(int i, const Vector4d& s, const double* beta, ContactTerm& term) {
    const double R = p_.contacts[i].compliance;
    const bool has_beta = !is_cone(p_, i);
    const Matrix4d W = metric_of(i);
    resisting_.clear();
    for (int j = 0; j < count_rays(p_, i); ++j) {
      const Vector4d e = t_.ray(p_, i, j);
      const double b = has_beta ? beta[j] : x_.force[i][0];
      if (has_beta && smoothed_) t_.ray_active.push_back(false);
      if (smoothed_) {
        const double c = p_.kappa * b * b / ray_weight(p_, i);
        resist(std::sqrt(c / (1 + c * R)) * e);
        continue;
      }
      const Activity found = activity(e.dot(s) + R * b, b, width(W, e));
      if (has_beta) t_.ray_active.push_back(found == Activity::kActive);
      switch (found) {
        case Activity::kActive:
          if (R > 0)
            term.C += e * e.transpose() / R;
          else
            add_active_row(e, term);
          break;
        case Activity::kWeak:
          t_.redundant.push_back({i, e});
          break;
        case Activity::kOpen:
          break;
      }
    }
    add_barriers(W, term);
  }

  void resist(const Vector4d& e) {
    if (!e.isZero(0)) resisting_.push_back(e);
  }
  /// C = Σ eeᵀ over the rows of a barrier, or its root where one of them is stiff.
  void add_barriers(const Matrix4d& W, ContactTerm& term) {
    // Not eᵀWe: nearly jammed bodies are those that a stiff row hardly moves, and rounding is of the size of its terms.
    const double moves = W.trace();
    term.stiff = std::any_of(resisting_.begin(), resisting_.end(),
                             [&](const Vector4d& e) { return e.squaredNorm() * moves > kStiff; });
    if (!term.stiff) {
      for (const Vector4d& e : resisting_) term.C += e * e.transpose();
      return;
    }
    std::sort(resisting_.begin(), resisting_.end(),
              [](const Vector4d& a, const Vector4d& b) { return a.squaredNorm() > b.squaredNorm(); });
    for (const Vector4d& e : resisting_) add_to_root(e, term.E);
    for (int k = 0; k < 4; ++k) {
      if (!term.E.row(k).isZero(0)) term.E.row(term.num_active++) = Eigen::RowVector4d(term.E.row(k));
    }
  }

  /// A contact in scaled rows, in which its cone is the standard one: z = D s + R y and y = D⁻¹ f, D = diag(1, μe).
  struct ScaledContact {
    Vector4d D = Vector4d::Unit(0), z, y = Vector4d::Zero();
    double compliance = 0;  // R
    int rows = 0;
  };

  void add_cone(int i, const Vector4d& s, ContactTerm& term) {
    const ContactLaw& law = p_.contacts[i];
    ScaledContact scaled;
    scaled.rows = p_.J.rows(i);
    scaled.compliance = law.compliance;
    for (int k = 1; k < scaled.rows; ++k) scaled.D(k) = law.mu * law.ellipsoid[k - 1];
    for (int k = 0; k < 4; ++k) scaled.y(k) = scaled.D(k) > 0 ? x_.force[i][k] / scaled.D(k) : 0.0;
    scaled.z = scaled.D.cwiseProduct(s) + scaled.compliance * scaled.y;
    if (smoothed_)
      add_smoothed_cone(i, scaled, term);
    else
      add_exact_cone(i, scaled, term);
  }

  /// y = (2/κ) z⁻¹, so −dy/dz = (κ/2) P(y) with eigenvalues y₊² along (1, ŷ), y₋² along (1, −ŷ) and y₊y₋ across, y± =
  /// y_n ± ‖y_t‖. Near the border of the cone that difference is rounding; it is 2/κ over z_n + ‖z_t‖.
  void add_smoothed_cone(int i, const ScaledContact& scaled, ContactTerm& term) {
    const Vector4d &z = scaled.z, &y = scaled.y;
    const double tail = y.tail<3>().norm(), plus = y(0) + tail;
    const double minus = (2 / p_.kappa) / (z(0) + z.tail<3>().norm());
    const Vector3d along = tail > 0 ? Vector3d(y.tail<3>() / tail) : Vector3d::UnitX();
    const Vector3d across = along.unitOrthogonal();
    resisting_.clear();
    const auto add = [&](double eigenvalue, double normal, const Vector3d& tangent) {
      const double c = 0.5 * p_.kappa * eigenvalue;
      const Vector4d axis(normal, tangent(0), tangent(1), tangent(2));
      resist(std::sqrt(c / (1 + c * scaled.compliance)) * scaled.D.cwiseProduct(axis.normalized()));
    };
    add(plus * plus, 1, along);
    add(minus * minus, 1, -along);
    add(plus * minus, 0, across);
    add(plus * minus, 0, along.cross(across));
    add_barriers(metric_of(i), term);
  }

  /// Open, sticking or sliding, or weakly active.
  void add_exact_cone(int i, const ScaledContact& scaled, ContactTerm& term) {
    const Vector4d &z = scaled.z, &y = scaled.y;
    const double z_t = z.tail<3>().norm(), y_t = y.tail<3>().norm();
    const double w = std::sqrt(metric_of(i)(0, 0));
    const Activity touching = activity(z(0) - z_t, y(0) + y_t, w), sticking = activity(z(0) + z_t, y(0) - y_t, w);
    if (touching == Activity::kOpen) return;
    if (touching == Activity::kWeak) return add_weak_cone(i, scaled.rows, sticking);
    if (sticking == Activity::kActive) return add_sticking_cone(scaled, term);
    if (sticking == Activity::kWeak || z_t == 0) t_.nonsmooth = true;
    add_sliding_cone(scaled, z_t, term);
  }

  /// The normal row and all rows with friction are active, or have the stiffness D²/R.
  void add_sticking_cone(const ScaledContact& scaled, ContactTerm& term) {
    const Matrix4d D = scaled.D.asDiagonal();
    if (scaled.compliance > 0) {
      term.C = D * D / scaled.compliance;
      return;
    }
    for (int k = 0; k < scaled.rows; ++k) {
      if (scaled.D(k) > 0) add_active_row(Vector4d::Unit(k), term);
    }
  }

  /// One row a = (1, −ŝ) is active, and turning it costs y_n/‖z_t‖ across ŝ.
  void add_sliding_cone(const ScaledContact& scaled, double z_t, ContactTerm& term) {
    const double R = scaled.compliance;
    const Matrix4d D = scaled.D.asDiagonal();
    Vector4d a = Vector4d::Unit(0);
    Matrix4d N = Matrix4d::Zero();
    if (z_t > 0) {
      const Vector3d along = scaled.z.tail<3>() / z_t;
      a.tail<3>() = -along;
      N.bottomRightCorner<3, 3>() = scaled.y(0) / z_t * (Eigen::Matrix3d::Identity() - along * along.transpose());
    }
    term.slides = R == 0;
    term.bends = R == 0 && scaled.rows > 2;
    term.C = D * with_compliance(N, R) * D;
    const Vector4d row = scaled.D.cwiseProduct(a);
    if (R > 0)
      term.C += row * row.transpose() / (R * a.squaredNorm());
    else
      add_active_row(row, term);
  }

  /// No force and no slack along the normal: redundant by others if the contact does not slide, a nonsmooth point
  /// otherwise.
  void add_weak_cone(int i, int rows, Activity sticking) {
    if (sticking != Activity::kWeak) {
      t_.nonsmooth = true;
      return;
    }
    for (int r = 0; r < rows; ++r) t_.redundant.push_back({i, Vector4d::Unit(r)});
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
      bound.at_upper = s_up < s_low;
      const Activity found = activity(std::min(s_low, s_up), bound.at_upper ? -m : m, 1 / std::sqrt(t_.metric[v]));
      if (found == Activity::kWeak && low != up) t_.nonsmooth = true;
      if (found != Activity::kActive && low != up) return;
      bound.is_active = true;
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
      if (found == Activity::kWeak) t_.nonsmooth = true;
      if (found != Activity::kActive) return;
      row.is_active = true;
    }
    t_.linear.push_back(row);
  }

  const ContactProgram& p_;
  const ContactSolution& x_;
  double root_, faint_;
  bool smoothed_, barriers_;
  SensitivityTerms& t_;
  std::vector<Vector4d>& resisting_;  // roots of the stiffness of one contact's barriers
};

}  // namespace

int count_rays(const ContactProgram& program, int i) {
  return has_one_ray(program, i) ? 1 : program.J.rows(i) == 2 ? 2 : program.rays;
}

bool has_cone_law(const ContactProgram& program, int i) { return is_cone(program, i) && !has_one_ray(program, i); }

double ray_weight(const ContactProgram& program, int i) {
  if (program.contacts[i].frictionless) return 1;
  if (is_cone(program, i)) return 2;
  return program.J.rows(i) == 1 ? program.rays : 1;
}

Vector4d SensitivityTerms::ray(const ContactProgram& program, int i, int j) const {
  Vector4d e = Vector4d::Unit(0);
  if (has_one_ray(program, i)) return e;
  const double mu = program.contacts[i].mu;
  const bool is_flat = program.J.rows(i) == 2;
  e(1) = mu * (is_flat ? (j == 0 ? 1.0 : -1.0) : directions[j].x());
  if (!is_flat) e(2) = mu * directions[j].y();
  return e;
}

void SensitivityTerms::classify(const ContactProgram& program, const ContactSolution& solution, double energy_J,
                                double residual) {
  for (auto* rows : {&bounds, &linear, &equality}) rows->clear();
  redundant.clear();
  num_rows = 0;
  nonsmooth = false;
  Classifier(program, solution, energy_J, residual, *this).classify();
}

}  // namespace deft::solvers::contact
