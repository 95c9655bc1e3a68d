#include "deft/solvers/force_space/coulomb_newton.hpp"

#include <algorithm>
#include <cmath>

namespace deft::solvers::force_space {
namespace {

using Eigen::VectorXd;

constexpr int kMostRows = 3;                          // of a contact
constexpr double kDenseShare = 0.2;                   // of nonzeros, above which a sparse factor does not pay
constexpr int kSmall = 60;                            // rows, up to which it does not either
constexpr double kDecrease = 1e-4, kShortest = 1e-3;  // of ‖Φ‖² per step length; least step length
constexpr int kStalled = 6;                           // steps without progress that end a solve
constexpr double kRegular = 1e-10;                    // on W in the Jacobian only: redundant contacts stay solvable

}  // namespace

// Φ, u, û and the derivative of the projection at r. @returns ‖Φ‖².
double CoulombNewton::evaluate(const ForceSpace& space, const VectorXd& r) {
  u_ = space.W * r + space.q;
  opening_ = u_;
  phi_.resize(r.size());
  for (std::size_t i = 0; i < space.contacts.size(); ++i) {
    const ForceSpace::Contact& c = space.contacts[i];
    double z[linear::kMaxConeRows] = {}, projected[linear::kMaxConeRows];
    opening_[c.first] += linear::tail_norm(c.rows, u_.data() + c.first);
    for (int k = 0; k < c.rows; ++k) z[k] = r[c.first + k] - opening_[c.first + k];
    pattern_[i] = linear::project_on_cone(c.rows, z, projected, derivative_[i]);
    for (int k = 0; k < c.rows; ++k) phi_[c.first + k] = r[c.first + k] - projected[k];
  }
  return phi_.squaredNorm();
}

// [(1 − P') + P'(1 + N)W] dr = −Φ with N = e_n (u_t/‖u_t‖)ᵀ. Open contacts (P' = 0): dr = −Φ. @returns false where the
// system cannot be solved.
bool CoulombNewton::direction(const ForceSpace& space) {
  const int size = place_rows(space);
  dr_ = -phi_;
  if (size == 0) return true;
  assemble(space, size);
  if (!solve_reduced(size)) return false;
  for (Eigen::Index k = 0; k < dr_.size(); ++k) {
    if (place_[k] >= 0) dr_[k] = solution_[place_[k]];
  }
  return dr_.allFinite();
}

// Numbers the rows of contacts that are not open. @returns how many there are.
int CoulombNewton::place_rows(const ForceSpace& space) {
  place_.assign(phi_.size(), -1);
  int size = 0;
  for (std::size_t i = 0; i < space.contacts.size(); ++i) {
    if (pattern_[i] == linear::kInactive) continue;
    for (int k = 0; k < space.contacts[i].rows; ++k) place_[space.contacts[i].first + k] = size++;
  }
  return size;
}

// The system of those rows; what open contacts change is known.
void CoulombNewton::assemble(const ForceSpace& space, int size) {
  const Eigen::Index n = phi_.size();
  VectorXd given = VectorXd::Zero(n);
  for (Eigen::Index k = 0; k < n; ++k) given[k] = place_[k] < 0 ? dr_[k] : 0.0;
  pulled_ = space.W * given;
  rhs_.resize(size);
  entries_.clear();
  entries_.reserve(space.W.nonZeros());
  for (std::size_t i = 0; i < space.contacts.size(); ++i) {
    if (pattern_[i] != linear::kInactive) add_contact(space, i);
  }
}

// The rows of contact i: (1 − P') + M W with M = P'(1 + N), row-major.
void CoulombNewton::add_contact(const ForceSpace& space, std::size_t i) {
  const ForceSpace::Contact& c = space.contacts[i];
  double P[kMostRows * kMostRows], M[kMostRows * kMostRows], d[kMostRows - 1] = {0, 0};
  derivative_[i].to_matrix(c.rows, P);
  const double slide = linear::tail_norm(c.rows, u_.data() + c.first);
  for (int k = 1; k < c.rows; ++k) d[k - 1] = slide > 0 ? u_[c.first + k] / slide : 0.0;
  for (int a = 0; a < c.rows; ++a) {
    double moved = 0;
    for (int b = 0; b < c.rows; ++b) {
      M[a * c.rows + b] = P[a * c.rows + b] + (b > 0 ? P[a * c.rows] * d[b - 1] : 0.0);
      moved += M[a * c.rows + b] * pulled_[c.first + b];
      entries_.emplace_back(place_[c.first + a], place_[c.first + b],
                            (a == b ? 1.0 : 0.0) - P[a * c.rows + b] + kRegular * M[a * c.rows + b]);
    }
    rhs_[place_[c.first + a]] = -phi_[c.first + a] - moved;
  }
  for (int b = 0; b < c.rows; ++b) {  // columns of W are its rows
    for (Eigen::SparseMatrix<double>::InnerIterator it(space.W, c.first + b); it; ++it) {
      const int column = place_[it.row()];
      if (column < 0) continue;
      for (int a = 0; a < c.rows; ++a)
        entries_.emplace_back(place_[c.first + a], column, M[a * c.rows + b] * it.value());
    }
  }
}

// Dense where a sparse factor does not pay. @returns false where the sparse factor fails.
bool CoulombNewton::solve_reduced(int size) {
  const auto full = static_cast<double>(size) * size;
  if (size <= kSmall || static_cast<double>(entries_.size()) > kDenseShare * 3 * full) {
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(size, size);
    for (const auto& entry : entries_) A(entry.row(), entry.col()) += entry.value();
    dense_.compute(A);
    solution_ = dense_.solve(rhs_);
    return true;
  }
  jacobian_.resize(size, size);
  jacobian_.setFromTriplets(entries_.begin(), entries_.end());
  jacobian_.makeCompressed();
  sparse_.compute(jacobian_);
  if (sparse_.info() != Eigen::Success) return false;
  solution_ = sparse_.solve(rhs_);
  return true;
}

CoulombNewton::Outcome CoulombNewton::solve(const ForceSpace& space, double aim, int max_steps, VectorXd& r) {
  Outcome out;
  derivative_.resize(space.contacts.size());
  pattern_.resize(space.contacts.size());
  VectorXd x = r;
  double merit = evaluate(space, x), best = merit;
  out.error = phi_.lpNorm<Eigen::Infinity>();
  int stalled = 0;
  for (; out.steps < max_steps && out.error > aim && stalled < kStalled; ++out.steps) {
    if (!direction(space)) break;
    const VectorXd from = x, step = dr_;
    double alpha = 1, trial = 0;
    for (;; alpha *= 0.5) {
      x = from + alpha * step;
      trial = evaluate(space, x);
      if (trial <= (1 - kDecrease * alpha) * merit || alpha <= kShortest) break;
    }
    if (!std::isfinite(trial)) break;
    stalled = trial < 0.9 * best ? 0 : stalled + 1;
    merit = trial;
    if (trial < best) {
      best = trial;
      r = x;
      out.error = phi_.lpNorm<Eigen::Infinity>();
    }
  }
  return out;
}

}  // namespace deft::solvers::force_space
