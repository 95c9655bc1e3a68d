#include "deft/solvers/contact/derivative/refinement.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

namespace deft::solvers::contact {
namespace {

constexpr int kMostSteps = 8;
constexpr double kGain = 0.25;               // a step longer than this part of the last one is rounding
constexpr double kConverged = 1e-18;         // scaled length of a step that changes no digit
constexpr double kSettled = 1e-9;            // scaled length of the last step above which the active rows were wrong
constexpr double kResidualRounding = 1e-12;  // scaled residual that the rounding of a solution may leave
constexpr double kNoise = 16;     // how much larger the residual of the better solution may be where both are rounding
constexpr double kExact = 1e-15;  // scaled length of the last step below which the solution has the digits of a double
constexpr double kIndependent = 1e-9;  // relative eigenvalue below which rays of a contact depend on each other

bool has_barriers(const ContactProgram& program) { return std::isfinite(program.kappa); }
/// Either list of bounds may be empty: then that side is unbounded.
bool has_bounds(const ContactProgram& program) { return program.lower.size() > 0 || program.upper.size() > 0; }
double lower_bound(const ContactProgram& program, int v) {
  return program.lower.size() > 0 ? program.lower(v) : -std::numeric_limits<double>::infinity();
}
double upper_bound(const ContactProgram& program, int v) {
  return program.upper.size() > 0 ? program.upper(v) : std::numeric_limits<double>::infinity();
}

/// diag(1, μe): from raw rows to those of the standard cone.
std::array<double, 4> scaling(const ContactProgram& program, int contact) {
  const ContactLaw& law = program.contacts[contact];
  std::array<double, 4> D{1, 0, 0, 0};
  for (int k = 1; k < program.J.rows(contact); ++k) D[k] = law.mu * law.ellipsoid[k - 1];
  return D;
}

template <typename Number>
Number tail_of(const std::array<double, 4>& D, const std::array<Number, 4>& s) {
  return std::sqrt(D[1] * s[1] * D[1] * s[1] + D[2] * s[2] * D[2] * s[2] + D[3] * s[3] * D[3] * s[3]);
}

}  // namespace

void Refinement::start(const ContactProgram& program, const ContactSolution& solution) {
  trial_ = solution;
  delta_.assign(solution.delta.begin(), solution.delta.end());
  force_.resize(program.contacts.size());
  s_.resize(program.contacts.size());
  for (std::size_t i = 0; i < force_.size(); ++i) std::copy_n(solution.force[i].begin(), 4, force_[i].begin());
  bound_.assign(program.nv, 0);
  gradient_.resize(program.nv);
  change_.gradient.setZero(program.nv, 1);
  change_.lower.setZero(has_bounds(program) ? program.nv : 0, 1);
  change_.upper.setZero(has_bounds(program) ? program.nv : 0, 1);
}

void Refinement::measure_rows(const ContactProgram& program) {
  for (int i = 0; i < program.J.size(); ++i) {
    const auto cols = program.J.cols(i);
    const auto block = program.J.block(i);
    Rows& s = s_[i] = {program.contacts[i].gap, 0, 0, 0};
    for (int r = 0; r < program.J.rows(i); ++r) {
      if (r > 0) s[r] = program.contacts[i].offset[r - 1];
      for (std::size_t c = 0; c < cols.size(); ++c) s[r] += Real(block(r, c)) * delta_[cols[c]];
    }
  }
}

bool Refinement::apply_laws(const ContactProgram& program) {
  measure_rows(program);
  change_.rows.setZero(terms_.num_rows, 1);
  double* beta = trial_.ray_multipliers.data();
  for (int i = 0; i < program.J.size(); ++i) {
    if (!(has_cone_law(program, i) ? apply_cone(program, i) : apply_rays(program, i, beta))) return false;
    if (!is_cone(program, i)) beta += count_rays(program, i);
  }
  return apply_bounds(program);
}

bool Refinement::apply_rays(const ContactProgram& program, int contact, double* beta) {
  const Rows& s = s_[contact];
  const ContactTerm& term = terms_.contacts[contact];
  if (!has_barriers(program)) {
    if (term.num_active == 0) force_[contact] = {};
    for (int r = 0; term.num_active > 0 && r < term.rows; ++r) change_.rows(term.first_row + r) = double(s[r]);
    return true;
  }
  force_[contact] = {};
  for (int j = 0; j < count_rays(program, contact); ++j) {
    const Eigen::Vector4d e = terms_.ray(program, contact, j);
    Real slack = 0;
    for (int r = 0; r < 4; ++r) slack += e(r) * s[r];
    if (!(slack > 0)) return false;
    const Real force = ray_weight(program, contact) / (program.kappa * slack);
    if (!is_cone(program, contact)) beta[j] = double(force);
    for (int r = 0; r < 4; ++r) force_[contact][r] += e(r) * force;
  }
  return true;
}

bool Refinement::apply_cone(const ContactProgram& program, int contact) {
  const Rows& s = s_[contact];
  Rows& f = force_[contact];
  const ContactTerm& term = terms_.contacts[contact];
  const auto D = scaling(program, contact);
  const Real tail = tail_of(D, s);
  if (has_barriers(program)) {  // y = (2/κ) z⁻¹
    if (!(s[0] > tail)) return false;
    const Real factor = 2 / (program.kappa * (s[0] - tail) * (s[0] + tail));
    f[0] = factor * s[0];
    for (int k = 1; k < 4; ++k) f[k] = -factor * D[k] * D[k] * s[k];
  } else if (term.slides) {
    change_.rows(term.first_row) = double(s[0] - tail);
    for (int k = 1; k < 4; ++k) f[k] = -f[0] * D[k] * (D[k] * s[k] / tail);
  } else if (term.num_active > 0) {
    for (int r = 0; r < term.rows; ++r) change_.rows(term.first_row + r) = double(s[r]);
  } else {
    f = {};
  }
  return true;
}

bool Refinement::apply_bounds(const ContactProgram& program) {
  if (!has_bounds(program)) return true;
  if (has_barriers(program) && !program.hard) {
    for (int v = 0; v < program.nv; ++v) {
      const Real below = delta_[v] - Real(lower_bound(program, v)), above = Real(upper_bound(program, v)) - delta_[v];
      if (!(below > 0 && above > 0)) return false;
      bound_[v] = (1 / below - 1 / above) / program.kappa;
    }
    return true;
  }
  for (const RowTerm& bound : terms_.bounds) {
    const int v = bound.index;
    if (bound.at_upper)
      change_.upper(v) = double(Real(upper_bound(program, v)) - delta_[v]);
    else
      change_.lower(v) = double(Real(lower_bound(program, v)) - delta_[v]);
  }
  return true;
}

void Refinement::measure_gradient(const ContactProgram& program) {
  for (int v = 0; v < program.nv; ++v) gradient_[v] = Real(program.b(v)) - bound_[v];
  for (int k = 0; k < program.Q.num_blocks(); ++k) {
    const int start = program.Q.start(k), n = program.Q.size(k);
    const auto block = program.Q.block(k);
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c)
        gradient_[start + r] += (Real(block(r, c)) + Real(block(c, r))) / 2 * delta_[start + c];
    }
  }
  for (int i = 0; i < program.J.size(); ++i) {
    const auto cols = program.J.cols(i);
    const auto block = program.J.block(i);
    for (int r = 0; r < program.J.rows(i); ++r) {
      for (std::size_t c = 0; c < cols.size(); ++c) gradient_[cols[c]] -= Real(block(r, c)) * force_[i][r];
    }
  }
  for (int v = 0; v < program.nv; ++v) change_.gradient(v) = double(gradient_[v]);
}

double Refinement::step(const ContactProgram& program, double energy_J) {
  sensitivity_.solve(program, change_, moved_);
  double squared = 0;
  for (int v = 0; v < program.nv; ++v) {
    delta_[v] += Real(moved_.delta(v));
    trial_.delta(v) = double(delta_[v]);
    squared += terms_.metric[v] * moved_.delta(v) * moved_.delta(v);
  }
  for (std::size_t i = 0; i < force_.size(); ++i) {
    const ContactTerm& term = terms_.contacts[i];
    for (int r = 0; r < term.rows; ++r) {
      force_[i][r] += Real(moved_.force(term.first_row + r));
      trial_.force[i][r] = double(force_[i][r]);
    }
  }
  // Barriers of bounds follow by their stiffness, as those of contacts do in moved_.force: computed from δ again, a
  // sharp one would magnify the rounding of δ.
  for (const RowTerm& bound : terms_.bounds)
    bound_[bound.index] -= Real(bound.lower_stiffness + bound.upper_stiffness) * Real(moved_.delta(bound.index));
  return std::sqrt(squared / energy_J);
}

void Refinement::store_rays(const ContactProgram& program, int contact, const char* active, double* beta,
                            double* slack) {
  const int rays = count_rays(program, contact);
  const auto weight = [&](double b) { return has_barriers(program) ? b * b : b > 0 ? 1.0 : 0.0; };
  Eigen::Vector4d missing;
  for (int r = 0; r < 4; ++r) missing(r) = double(force_[contact][r]);
  Eigen::Matrix4d squares = Eigen::Matrix4d::Zero();
  for (int j = 0; j < rays; ++j) {
    const Eigen::Vector4d e = terms_.ray(program, contact, j);
    Real value = 0;
    for (int r = 0; r < 4; ++r) value += e(r) * s_[contact][r];
    slack[j] = double(value);
    if (!has_barriers(program) && !active[j]) beta[j] = 0;
    missing -= beta[j] * e;
    squares += weight(beta[j]) * e * e.transpose();
  }
  if (squares.isZero(0)) return;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d> axes(squares);
  const double least = kIndependent * axes.eigenvalues()(3);
  Eigen::Vector4d share = axes.eigenvectors().transpose() * missing;
  for (int k = 0; k < 4; ++k) share(k) = axes.eigenvalues()(k) > least ? share(k) / axes.eigenvalues()(k) : 0.0;
  share = axes.eigenvectors() * share;
  for (int j = 0; j < rays; ++j)
    beta[j] = std::max(0.0, beta[j] + weight(beta[j]) * terms_.ray(program, contact, j).dot(share));
}

void Refinement::store(const ContactProgram& program) {
  double *beta = trial_.ray_multipliers.data(), *slack = trial_.slack.data();
  const char* active = terms_.ray_active.data();
  for (int i = 0; i < program.J.size(); ++i) {
    for (int r = 0; r < 4; ++r) trial_.force[i][r] = double(force_[i][r]);
    trial_.gap[i] = double(s_[i][0]);
    if (is_cone(program, i)) {
      const auto D = scaling(program, i);
      const int rows = program.contacts[i].frictionless ? 1 : program.J.rows(i);
      for (int r = 0; r < rows; ++r) *slack++ = double(D[r] * s_[i][r]);
    } else {
      store_rays(program, i, active, beta, slack);
      active += count_rays(program, i);
      beta += count_rays(program, i);
      slack += count_rays(program, i);
    }
  }
  if (!has_bounds(program)) return;
  if (!has_barriers(program) || program.hard) {
    for (const RowTerm& bound : terms_.bounds) bound_[bound.index] = bound.is_active ? gradient_[bound.index] : 0;
  }
  for (int v = 0; v < program.nv; ++v) trial_.bound_multipliers(v) = double(bound_[v]);
}

bool Refinement::refine(const ContactProgram& program, ContactSolution& solution) {
  const bool is_soft = std::any_of(program.contacts.begin(), program.contacts.end(),
                                   [](const ContactLaw& law) { return law.compliance > 0; });
  if (is_soft || program.linear.rows.size() > 0 || program.equality.rows.size() > 0) return false;
  const Certificate before = certifier_.certify(program, solution);
  const double residual = before.max_scaled();
  if (!(residual <= kCertified)) return false;
  start(program, solution);
  double last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kMostSteps; ++k) {
    terms_.classify(program, trial_, before.E0_J, residual);
    sensitivity_.factor(program, trial_, before.E0_J, residual);
    if (sensitivity_.is_nonsmooth() || !sensitivity_.is_unique() || !apply_laws(program)) return false;
    measure_gradient(program);
    const double length = step(program, before.E0_J);
    if (!std::isfinite(length)) return false;
    const bool gains = length < kGain * last;
    last = std::min(last, length);
    if (!gains || length <= kConverged) break;
  }
  if (!(last <= kSettled)) return false;
  measure_rows(program);
  measure_gradient(program);
  store(program);
  // The certificate computes in doubles: with forces far above the natural ones its own rounding is what it sees, of
  // either solution. Newton's last step in extended precision is then the better measure.
  const double noise = last <= kExact ? std::min(kNoise * residual, kCertified) : residual;
  if (!(certifier_.certify(program, trial_).max_scaled() <= std::max(kResidualRounding, noise))) return false;
  std::swap(solution, trial_);
  return true;
}

}  // namespace deft::solvers::contact
