// The linear system behind a solution:  H = Q + Σ JᵀCJ,  G the rows that are held,
//
//   [H −Gᵀ; −G 0] [dδ; dλ] = [−(dg + Σ JᵀC ds); E ds],   df = −C (J dδ + ds) + Eᵀ dλ.

#include "deft/solvers/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>

namespace deft::solvers {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kWeak = 1e-7;        // scaled slack and multiplier both below it: strict complementarity fails
constexpr double kSingular = 1e-12;   // pivots of the scaled H below it are zero
constexpr double kDependent = 1e-10;  // rows of S dependent to this are redundant
constexpr double kAgree = 1e-7;       // redundant rows whose rates differ by less agree
constexpr double kFree = 1e-9;        // share of Q̃ that decides about motions that nothing else does

/// Number of multipliers of a contact in ContactSolution::ray_multipliers.
int count_rays(const ContactProgram& program, int i) {
  const int rows = program.J.rows(i);
  return program.contacts[i].frictionless || rows == 1 ? 1 : rows == 2 ? 2 : program.rays;
}

}  // namespace

/// Fills terms, bounds and held rows from a program and its solution.
class Sensitivity::Builder {
 public:
  Builder(Sensitivity& s, const ContactProgram& program, const ContactSolution& solution, double energy_J)
      : s_(s),
        program_(program),
        solution_(solution),
        root_(std::sqrt(energy_J)),
        smoothed_(std::isfinite(program.kappa)) {}

  void build() {
    fill_metric();
    s_.H_.setZero(program_.nv, program_.nv);
    for (int k = 0; k < program_.Q.num_blocks(); ++k)
      s_.H_.block(program_.Q.start(k), program_.Q.start(k), program_.Q.size(k), program_.Q.size(k)) =
          program_.Q.block(k);
    const double* beta = solution_.ray_multipliers.data();
    for (std::size_t i = 0; i < program_.contacts.size(); ++i) {
      add_contact(static_cast<int>(i), beta);
      if (!is_cone(program_, static_cast<int>(i))) beta += count_rays(program_, static_cast<int>(i));
    }
    for (int v = 0; v < program_.nv; ++v) add_bound(v);
    for (int i = 0; i < program_.linear.rows.size(); ++i) add_linear(i);
    for (int i = 0; i < program_.equality.rows.size(); ++i) {
      held_.push_back(wide(program_.equality.rows.cols(i), program_.equality.rows.block(i).row(0).transpose()));
    }
    s_.G_.resize(static_cast<Eigen::Index>(held_.size()), program_.nv);
    for (std::size_t k = 0; k < held_.size(); ++k) s_.G_.row(k) = held_[k];
  }

 private:
  void fill_metric() {
    s_.metric_.setZero(program_.nv);
    for (const BlockDiagonal* blocks : {&program_.Q, &program_.masses}) {
      for (int k = 0; k < blocks->num_blocks(); ++k) {
        auto part = s_.metric_.segment(blocks->start(k), blocks->size(k));
        part = (part.array() > 0).select(part, blocks->block(k).diagonal());
      }
    }
    const double mean = s_.metric_.size() > 0 ? s_.metric_.mean() : 1.0;
    s_.metric_ = (s_.metric_.array() > 0).select(s_.metric_, mean > 0 ? mean : 1.0);
  }

  VectorXd wide(std::span<const int> cols, const VectorXd& row) const {
    VectorXd all = VectorXd::Zero(program_.nv);
    for (std::size_t k = 0; k < cols.size(); ++k) all(cols[k]) += row(k);
    return all;
  }
  double width(const VectorXd& row) const { return std::sqrt(row.cwiseAbs2().cwiseQuotient(s_.metric_).sum()); }

  Activity activity(double slack, double multiplier, double width) const {
    if (!(width > 0)) return Activity::kOpen;  // nothing moves this row
    const double s = slack / (width * root_), m = multiplier * width / root_;
    if (std::max(s, m) < kWeak) return Activity::kWeak;
    return m > s ? Activity::kHeld : Activity::kOpen;
  }

  void add_contact(int i, const double* beta) {
    const auto block = program_.J.block(i);
    const int rows = program_.J.rows(i);
    Term& term = s_.terms_.emplace_back();
    term.first_row = s_.num_rows_;
    s_.num_rows_ += rows;
    term.C.setZero(rows, rows);
    term.E.resize(0, rows);
    // Values of the rows: s = φe₁ + Jδ + (0, o).
    Eigen::Vector4d s = Eigen::Vector4d::Zero();
    const auto cols = program_.J.cols(i);
    for (std::size_t k = 0; k < cols.size(); ++k) s.head(rows) += block.col(k) * solution_.delta(cols[k]);
    s(0) += program_.contacts[i].gap;
    for (int r = 1; r < rows; ++r) s(r) += program_.contacts[i].offset[r - 1];

    if (!is_cone(program_, i) || program_.contacts[i].frictionless || rows == 1)
      add_rays(i, s, beta, term);
    else
      add_cone(i, s, term);
    term.first_held = static_cast<int>(held_.size());
    for (int r = 0; r < term.E.rows(); ++r) held_.push_back(wide(cols, block.transpose() * term.E.row(r).transpose()));
    const MatrixXd CJ = term.C * block;
    for (std::size_t c = 0; c < cols.size(); ++c)
      for (std::size_t d = 0; d < cols.size(); ++d) s_.H_(cols[c], cols[d]) += block.col(c).dot(CJ.col(d));
  }

  void add_rays(int i, const Eigen::Vector4d& s, const double* beta, Term& term) {
    const ContactLaw& law = program_.contacts[i];
    const int rows = program_.J.rows(i);
    const bool single = law.frictionless || rows == 1;
    const int rays = single ? 1 : count_rays(program_, i);
    const bool has_beta = !is_cone(program_, i);
    Eigen::Matrix<double, 4, Eigen::Dynamic> held(4, rays);
    int count = 0;
    for (int j = 0; j < rays; ++j) {
      const double angle = 2 * std::numbers::pi * j / rays;
      Eigen::Vector4d e = Eigen::Vector4d::UnitX();
      if (!single) e(1) = law.mu * (rows == 2 ? (j == 0 ? 1.0 : -1.0) : std::cos(angle));
      if (!single && rows > 2) e(2) = law.mu * std::sin(angle);
      const double b = has_beta ? beta[j] : solution_.force[i][0];
      const double R = law.compliance;
      const Eigen::VectorXd e_rows = e.head(rows);
      if (smoothed_) {
        // A cone contact of one row carries the cone's weight 2 unless it is declared frictionless.
        const double weight = has_beta || law.frictionless ? 1.0 : 2.0;
        const double c = program_.kappa * b * b / weight;
        term.C += c / (1 + c * R) * e_rows * e_rows.transpose();
        continue;
      }
      const VectorXd row = wide(program_.J.cols(i), program_.J.block(i).transpose() * e_rows);
      switch (activity(e.dot(s) + R * b, b, width(row))) {
        case Activity::kHeld:
          if (R > 0)
            term.C += e_rows * e_rows.transpose() / R;
          else
            held.col(count++) = e;
          break;
        case Activity::kWeak:
          s_.implied_.push_back({row, i, e});
          break;
        case Activity::kOpen:
          break;
      }
    }
    set_held(held.topLeftCorner(rows, count), term);
  }

  /// E: an orthonormal basis of the columns.
  static void set_held(const MatrixXd& columns, Term& term) {
    if (columns.cols() == 0) return;
    const Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
    const MatrixXd Q = qr.householderQ();
    term.E = Q.leftCols(qr.rank()).transpose();
  }

  /// In scaled rows z = D s + R y, y = D⁻¹ f, D = diag(1, μe): both in the second-order cone.
  void add_cone(int i, const Eigen::Vector4d& s, Term& term) {
    const ContactLaw& law = program_.contacts[i];
    const int rows = program_.J.rows(i), tangents = rows - 1;
    Eigen::VectorXd D = Eigen::VectorXd::Ones(rows), y(rows);
    for (int k = 0; k < tangents; ++k) D(k + 1) = law.mu * law.ellipsoid[k];
    for (int k = 0; k < rows; ++k) y(k) = D(k) > 0 ? solution_.force[i][k] / D(k) : 0.0;
    const double R = law.compliance;
    const Small scaling = D.asDiagonal();
    const Eigen::VectorXd z = D.cwiseProduct(s.head(rows)) + R * y;
    if (smoothed_) {
      // y = (2/κ) z⁻¹, so −dy/dz = (κ/2) P(y), P(y) = 2 yyᵀ − det(y) diag(1, −1, …). Near the border of the cone y_n −
      // ‖y_t‖ is rounding; it is 2/κ over z_n + ‖z_t‖.
      Small P = 2 * y * y.transpose();
      const double det = (y(0) + y.tail(tangents).norm()) * (2 / program_.kappa) / (z(0) + z.tail(tangents).norm());
      P(0, 0) -= det;
      P.diagonal().tail(tangents).array() += det;
      term.C = scaling * compliant(0.5 * program_.kappa * P, R) * scaling;
      return;
    }
    const double z_t = z.tail(tangents).norm(), y_t = y.tail(tangents).norm();
    const VectorXd normal = wide(program_.J.cols(i), program_.J.block(i).row(0).transpose());
    const double w = width(normal);
    const Activity touching = activity(z(0) - z_t, y(0) + y_t, w), sticking = activity(z(0) + z_t, y(0) - y_t, w);
    if (touching == Activity::kOpen) return;
    if (touching == Activity::kWeak) return add_weak_cone(i, D, sticking);
    if (sticking == Activity::kHeld) {
      if (R > 0)
        term.C = scaling * scaling / R;
      else
        term.E = MatrixXd::Identity(rows, rows);
      for (int k = 0; k < tangents; ++k)
        if (D(k + 1) == 0 && R == 0) term.E = MatrixXd::Identity(1, rows);
      return;
    }
    if (sticking == Activity::kWeak || z_t == 0) s_.kink_ = true;
    // Sliding: one row a = (1, −ŝ) is held, and turning it costs y_n/‖z_t‖ across ŝ.
    Eigen::VectorXd a = Eigen::VectorXd::Unit(rows, 0);
    Small N = Small::Zero(rows, rows);
    if (z_t > 0) {
      const Eigen::VectorXd along = z.tail(tangents) / z_t;
      a.tail(tangents) = -along;
      N.bottomRightCorner(tangents, tangents) =
          y(0) / z_t * (Small::Identity(tangents, tangents) - along * along.transpose());
    }
    term.C = scaling * compliant(N, R) * scaling;
    const Eigen::VectorXd row = D.cwiseProduct(a);
    if (R > 0)
      term.C += row * row.transpose() / (R * a.squaredNorm());
    else
      set_held(row, term);
  }

  /// dy = −C (dz₀ + R dy).
  static Small compliant(const Small& C, double R) {
    if (R == 0) return C;
    const Small I = Small::Identity(C.rows(), C.cols());
    return (I + R * C).ldlt().solve(C);
  }

  /// No force and no slack along the normal: implied by others if the contact does not slide, a kink otherwise.
  void add_weak_cone(int i, const VectorXd& D, Activity sticking) {
    if (sticking != Activity::kWeak) {
      s_.kink_ = true;
      return;
    }
    for (int r = 0; r < D.size(); ++r) {
      const VectorXd row = wide(program_.J.cols(i), program_.J.block(i).row(r).transpose());
      s_.implied_.push_back({row, i, Eigen::Vector4d::Unit(r)});
    }
  }

  void add_bound(int v) {
    const double low = program_.lower.size() > 0 ? program_.lower(v) : -INFINITY,
                 up = program_.upper.size() > 0 ? program_.upper(v) : INFINITY;
    if (!std::isfinite(low) && !std::isfinite(up)) return;
    const double m = solution_.bound_multipliers(v), s_low = solution_.delta(v) - low, s_up = up - solution_.delta(v);
    Bound bound{.index = v};
    if (smoothed_ && !program_.hard) {
      // The net multiplier is exact for the nearer bound; the farther one follows from its slack.
      const double far = 1 / (program_.kappa * std::max(s_low, s_up));
      const double low_beta = s_low < s_up ? m + far : far, up_beta = s_low < s_up ? far : far - m;
      bound.lower_stiffness = std::isfinite(low) ? program_.kappa * low_beta * low_beta : 0.0;
      bound.upper_stiffness = std::isfinite(up) ? program_.kappa * up_beta * up_beta : 0.0;
      s_.H_(v, v) += bound.lower_stiffness + bound.upper_stiffness;
    } else {
      const VectorXd row = VectorXd::Unit(program_.nv, v);
      const bool upper = s_up < s_low;
      const Activity found = activity(std::min(s_low, s_up), upper ? -m : m, width(row));
      if (found == Activity::kWeak) s_.kink_ = true;
      if (found != Activity::kHeld) return;
      bound.held = static_cast<int>(held_.size());
      bound.holds_upper = upper;
      held_.push_back(row);
    }
    s_.bounds_.push_back(bound);
  }

  void add_linear(int i) {
    const VectorXd row = wide(program_.linear.rows.cols(i), program_.linear.rows.block(i).row(0).transpose());
    const double m = solution_.linear_multipliers(i);
    if (smoothed_ && !program_.hard) {
      s_.H_ += program_.kappa * m * m * row * row.transpose();
      return;
    }
    const Activity found = activity(row.dot(solution_.delta) - program_.linear.rhs[i], m, width(row));
    if (found == Activity::kWeak) s_.kink_ = true;
    if (found == Activity::kHeld) held_.push_back(row);
  }

  Sensitivity& s_;
  const ContactProgram& program_;
  const ContactSolution& solution_;
  double root_;
  bool smoothed_;
  std::vector<VectorXd> held_;
};

void Sensitivity::factor(const ContactProgram& program, const ContactSolution& solution, double energy_J) {
  if (solution.delta.size() != program.nv || solution.force.size() != program.contacts.size() || !(energy_J > 0)) {
    throw std::invalid_argument("sensitivity: the solution is not one of this program, or its energy is not positive");
  }
  nv_ = program.nv;
  num_rows_ = 0;
  kink_ = false;
  unique_ = true;
  terms_.clear();
  bounds_.clear();
  implied_.clear();
  Builder(*this, program, solution, energy_J).build();
  factor_system(program);
}

void Sensitivity::factor_system(const ContactProgram& program) {
  // Where H is singular, penalties on the held rows change nothing in the answer; what they leave free gets the least
  // motion.
  const auto is_definite = [&] {
    const double largest = H_.size() > 0 ? H_.diagonal().maxCoeff() : 1.0;
    scale_ = (H_.diagonal().array() > 1e-300 * largest).select(H_.diagonal().cwiseSqrt().cwiseInverse(), 1.0);
    H_factor_.compute(scale_.asDiagonal() * H_ * scale_.asDiagonal());
    return nv_ == 0 || H_factor_.vectorD().minCoeff() > kSingular;
  };
  const int m = static_cast<int>(G_.rows());
  penalty_.setZero(m);
  if (!is_definite()) {
    for (int k = 0; k < m; ++k) penalty_(k) = 1 / G_.row(k).transpose().cwiseAbs2().cwiseQuotient(metric_).sum();
    H_ += G_.transpose() * penalty_.asDiagonal() * G_;
    if (!is_definite()) {
      unique_ = false;
      for (int k = 0; k < program.masses.num_blocks(); ++k) {
        H_.block(program.masses.start(k), program.masses.start(k), program.masses.size(k), program.masses.size(k)) +=
            kFree * program.masses.block(k);
      }
      if (!is_definite()) {
        H_.diagonal() += kFree * metric_;
        is_definite();
      }
    }
  }
  W_.resize(G_.cols(), 0);
  row_scale_.resize(0);
  if (m > 0) {
    W_ = scale_.asDiagonal() * H_factor_.solve(scale_.asDiagonal() * G_.transpose());
    MatrixXd S = G_ * W_;
    row_scale_ = S.diagonal().cwiseSqrt().cwiseInverse();
    S = (row_scale_.asDiagonal() * S * row_scale_.asDiagonal()).eval();
    S_factor_.setThreshold(kDependent);
    S_factor_.compute(S);
  }
  // Rows without slack and multiplier: a kink unless the held rows imply them.
  std::erase_if(implied_, [&](const Implied& implied) {
    const VectorXd x = scale_.asDiagonal() * H_factor_.solve(scale_.asDiagonal() * implied.row);
    VectorXd rest = implied.row;
    if (m > 0) {
      const VectorXd y = row_scale_.asDiagonal() * S_factor_.solve(row_scale_.asDiagonal() * (G_ * x));
      rest -= G_.transpose() * y;
    }
    const double left = rest.cwiseAbs2().cwiseQuotient(metric_).sum(),
                 all = implied.row.cwiseAbs2().cwiseQuotient(metric_).sum();
    const bool is_free = left > kAgree * kAgree * all;
    kink_ |= is_free;
    return is_free;
  });
}

bool Sensitivity::solve_system(const MatrixXd& p, const MatrixXd& r, MatrixXd& x, MatrixXd& y) const {
  const auto H_solve = [&](const MatrixXd& rhs) -> MatrixXd {
    return scale_.asDiagonal() * H_factor_.solve(scale_.asDiagonal() * rhs);
  };
  y.setZero(G_.rows(), p.cols());
  if (p.cols() == 0) {
    x.resize(p.rows(), 0);
    return true;
  }
  if (G_.rows() == 0) {
    x = H_solve(p);
    return true;
  }
  x = H_solve(p - G_.transpose() * (penalty_.asDiagonal() * r));
  const MatrixXd Gx = G_ * x;
  const MatrixXd rhs = -(row_scale_.asDiagonal() * (r + Gx));
  const MatrixXd scaled = S_factor_.solve(rhs);
  y = row_scale_.asDiagonal() * scaled;
  x += W_ * y;
  // Redundant rows must be served by the others.
  const MatrixXd left = row_scale_.asDiagonal() * (G_ * x + r);
  const double size =
      (row_scale_.asDiagonal() * r).cwiseAbs().maxCoeff() + (row_scale_.asDiagonal() * Gx).cwiseAbs().maxCoeff();
  return !(left.cwiseAbs().maxCoeff() > kAgree * size);
}

void Sensitivity::solve(const ContactProgram& program, const ProgramChange& change, SolutionChange& result) {
  const Eigen::Index k = change.gradient.cols();
  MatrixXd p = -change.gradient, r = MatrixXd::Zero(G_.rows(), k), y;
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const Term& term = terms_[i];
    const auto cols = program.J.cols(static_cast<int>(i));
    const auto block = program.J.block(static_cast<int>(i));
    const auto ds = change.rows.middleRows(term.first_row, term.C.rows());
    const MatrixXd pull = block.transpose() * (term.C * ds);
    for (std::size_t c = 0; c < cols.size(); ++c) p.row(cols[c]) -= pull.row(c);
    r.middleRows(term.first_held, term.E.rows()) = term.E * ds;
  }
  for (const Bound& bound : bounds_) {
    const bool has_lower = change.lower.size() > 0, has_upper = change.upper.size() > 0;
    if (has_lower) p.row(bound.index) += bound.lower_stiffness * change.lower.row(bound.index);
    if (has_upper) p.row(bound.index) += bound.upper_stiffness * change.upper.row(bound.index);
    if (bound.held >= 0 && (bound.holds_upper ? has_upper : has_lower))
      r.row(bound.held) = -(bound.holds_upper ? change.upper : change.lower).row(bound.index);
  }
  if (!solve_system(p, r, result.delta, y)) kink_ = true;

  result.force.resize(num_rows_, k);
  MatrixXd rates(num_rows_, k);  // J dδ + ds
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const Term& term = terms_[i];
    const auto cols = program.J.cols(static_cast<int>(i));
    const auto block = program.J.block(static_cast<int>(i));
    auto ds = rates.middleRows(term.first_row, term.C.rows());
    ds = change.rows.middleRows(term.first_row, term.C.rows());
    for (std::size_t c = 0; c < cols.size(); ++c) ds += block.col(c) * result.delta.row(cols[c]);
    result.force.middleRows(term.first_row, term.C.rows()) =
        -term.C * ds + term.E.transpose() * y.middleRows(term.first_held, term.E.rows());
  }
  for (const Implied& implied : implied_) {
    const Term& term = terms_[implied.contact];
    const auto rows = term.C.rows();
    const MatrixXd moves = implied.e.head(rows).transpose() * rates.middleRows(term.first_row, rows);
    const double size =
        (implied.e.head(rows).transpose() * change.rows.middleRows(term.first_row, rows)).cwiseAbs().maxCoeff() +
        (implied.row.cwiseAbs().transpose() * result.delta.cwiseAbs()).maxCoeff();
    if (moves.cwiseAbs().maxCoeff() > kAgree * size) kink_ = true;
  }
}

void Sensitivity::solve_transposed(const ContactProgram& program, const MatrixXd& delta, const MatrixXd& force,
                                   ProgramChange& result) const {
  const Eigen::Index k = delta.cols();
  const bool has_force = force.size() > 0;
  MatrixXd p = delta, r = MatrixXd::Zero(G_.rows(), k), x, y;
  for (std::size_t i = 0; has_force && i < terms_.size(); ++i) {
    const Term& term = terms_[i];
    const auto cols = program.J.cols(static_cast<int>(i));
    const auto wf = force.middleRows(term.first_row, term.C.rows());
    const MatrixXd pull = program.J.block(static_cast<int>(i)).transpose() * (term.C * wf);
    for (std::size_t c = 0; c < cols.size(); ++c) p.row(cols[c]) -= pull.row(c);
    r.middleRows(term.first_held, term.E.rows()) = term.E * wf;
  }
  solve_system(p, r, x, y);
  result.gradient = -x;
  result.rows.resize(num_rows_, k);
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const Term& term = terms_[i];
    const auto cols = program.J.cols(static_cast<int>(i));
    const auto block = program.J.block(static_cast<int>(i));
    MatrixXd Jx = MatrixXd::Zero(term.C.rows(), k);
    for (std::size_t c = 0; c < cols.size(); ++c) Jx += block.col(c) * x.row(cols[c]);
    if (has_force) Jx += force.middleRows(term.first_row, term.C.rows());
    result.rows.middleRows(term.first_row, term.C.rows()) =
        -term.C * Jx + term.E.transpose() * y.middleRows(term.first_held, term.E.rows());
  }
  result.lower = MatrixXd::Zero(nv_, k);
  result.upper = MatrixXd::Zero(nv_, k);
  for (const Bound& bound : bounds_) {
    result.lower.row(bound.index) = bound.lower_stiffness * x.row(bound.index);
    result.upper.row(bound.index) = bound.upper_stiffness * x.row(bound.index);
    if (bound.held >= 0) (bound.holds_upper ? result.upper : result.lower).row(bound.index) -= y.row(bound.held);
  }
}

}  // namespace deft::solvers
