#include "deft/solvers/lcs_bound_propagation.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace deft::solvers {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;     // relative: how far bounds are moved outwards
constexpr double kSum = 1e-12;         // of the terms of a sum: its error
constexpr double kCancelled = 1e-12;   // of the largest entry: an elimination left nothing
constexpr double kNoticeable = 1e-3;   // of an interval: less does not keep a run going
constexpr double kEmpty = 1e-7;        // how far lower and upper must cross, relative, at least absolute, to prove that there is no point
constexpr double kPositive = 1e-8;     // a lower bound above it is positive

/// The factors of an elimination, without what rounding left of entries that cancel.
Eigen::RowVectorXd cleaned(Eigen::RowVectorXd factors, double scale) {
  for (Index j = 0; j < factors.size(); ++j) {
    if (std::abs(factors[j]) <= kCancelled * scale) factors[j] = 0;
  }
  return factors;
}

double scale_of(const MatrixXd& matrix) { return matrix.size() > 0 ? matrix.cwiseAbs().maxCoeff() : 0.0; }

}  // namespace

LcsBoundPropagation::LcsBoundPropagation(const LcsMpcProgram& program, bool lower_idle)
    : nx_(program.system.nx()), nu_(program.system.nu()), ng_(program.system.pairs()), N_(program.N) {
  u0_ = (N_ + 1) * nx_;
  gamma0_ = u0_ + N_ * nu_;
  slack0_ = gamma0_ + N_ * ng_;
  const auto total = static_cast<std::size_t>(slack0_ + N_ * ng_);
  lower_.assign(total, -kNone);
  upper_.assign(total, kNone);
  for (int i = 0; i < nx_; ++i) lower_[static_cast<std::size_t>(x(0, i))] = upper_[static_cast<std::size_t>(x(0, i))] = program.x0[i];
  for (int k = 0; k < N_; ++k) {
    for (int i = 0; i < nx_; ++i) {
      if (program.x_price.size() > 0 && std::isfinite(program.x_price[i])) continue;
      if (program.x_min.size() > 0) set_lower(x(k + 1, i), program.x_min[i]);
      if (program.x_max.size() > 0) set_upper(x(k + 1, i), program.x_max[i]);
    }
    for (int i = 0; i < nu_; ++i) {
      if (program.u_min.size() > 0) set_lower(u(k, i), program.u_min(i, k));
      if (program.u_max.size() > 0) set_upper(u(k, i), program.u_max(i, k));
    }
    for (int i = 0; i < ng_; ++i) {
      lower_[static_cast<std::size_t>(gamma(k, i))] = lower_[static_cast<std::size_t>(slack(k, i))] = 0;
      if (program.gamma_max.size() > 0) set_upper(gamma(k, i), program.gamma_max[i]);
    }
  }
  idle_ = idle_multipliers(program.system);
  if (!lower_idle) idle_.assign(idle_.size(), false);
  add_rows(program.system);
  add_rows_without_forces(program.system);
  add_own_slacks();
  add_holders(program.system);
  M_ = program.system.D * program.system.C + program.system.E;
}

void LcsBoundPropagation::append(Row& row, Kind kind, const Eigen::Ref<const Eigen::RowVectorXd>& factors) const {
  for (Index j = 0; j < factors.size(); ++j) {
    if (factors[j] != 0) row.terms.push_back({kind, static_cast<int>(j), factors[j]});
  }
}

/// The dynamics, the slacks, and the slacks with the dynamics for x_{k+1}.
void LcsBoundPropagation::add_rows(const LinearComplementaritySystem& s) {
  for (int i = 0; i < nx_; ++i) {
    Row row{.terms = {{kNext, i, -1}}, .rhs = -s.F[i]};
    append(row, kX, s.A.row(i));
    append(row, kU, s.B.row(i));
    append(row, kGamma, s.C.row(i));
    rows_.push_back(std::move(row));
  }
  for (int i = 0; i < ng_; ++i) {
    Row row{.terms = {{kSlack, i, -1}}, .rhs = -s.alpha[i]};
    append(row, kX, s.D0.row(i));
    append(row, kNext, s.D.row(i));
    append(row, kU, s.H.row(i));
    append(row, kGamma, s.E.row(i));
    rows_.push_back(std::move(row));
    if (s.D.row(i).isZero(0)) continue;
    const double size = s.D.row(i).cwiseAbs().maxCoeff();
    Row substituted{.terms = {{kSlack, i, -1}}, .rhs = -s.alpha[i] - s.D.row(i).dot(s.F)};
    append(substituted, kX, cleaned(s.D0.row(i) + s.D.row(i) * s.A, size * scale_of(s.A)));
    append(substituted, kU, cleaned(s.H.row(i) + s.D.row(i) * s.B, size * scale_of(s.B)));
    append(substituted, kGamma, cleaned(s.E.row(i) + s.D.row(i) * s.C, size * scale_of(s.C)));
    rows_.push_back(std::move(substituted));
  }
}

/// Combinations Z of the dynamics with Z C = 0, by elimination with the largest pivots: the forces do not enter there, so that positions
/// follow from velocities though no force has a bound.
void LcsBoundPropagation::add_rows_without_forces(const LinearComplementaritySystem& s) {
  const double scale = scale_of(s.C);
  if (scale == 0) return;  // no force enters any row
  MatrixXd C = s.C, Z = MatrixXd::Identity(nx_, nx_);
  int rank = 0;
  for (; rank < std::min(nx_, ng_); ++rank) {
    Index row = 0, col = 0;
    if (C.bottomRows(nx_ - rank).cwiseAbs().maxCoeff(&row, &col) <= kCancelled * scale) break;
    row += rank;
    C.row(rank).swap(C.row(row));
    Z.row(rank).swap(Z.row(row));
    for (int i = rank + 1; i < nx_; ++i) {
      const double factor = C(i, col) / C(rank, col);
      if (factor == 0) continue;
      C.row(i) -= factor * C.row(rank);
      C(i, col) = 0;
      Z.row(i) -= factor * Z.row(rank);
    }
  }
  for (int i = rank; i < nx_; ++i) {
    const Eigen::RowVectorXd z = Z.row(i);
    if ((z.array() != 0).count() < 2) continue;  // a row of the dynamics itself
    const double size = z.cwiseAbs().maxCoeff();
    Row row{.terms = {}, .rhs = -z.dot(s.F)};
    append(row, kNext, -z);
    append(row, kX, cleaned(z * s.A, size * scale_of(s.A)));
    append(row, kU, cleaned(z * s.B, size * scale_of(s.B)));
    rows_.push_back(std::move(row));
  }
}

void LcsBoundPropagation::add_own_slacks() {
  for (const Row& row : rows_) {
    if (row.terms.empty() || row.terms[0].kind != kSlack) continue;
    OwnSlack own{.pair = row.terms[0].index, .factor = 0, .rest = row};
    own.rest.terms.erase(own.rest.terms.begin());
    std::erase_if(own.rest.terms, [&](const Term& term) {
      const bool same = term.kind == kGamma && term.index == own.pair;
      if (same) own.factor = term.factor;
      return same;
    });
    own_.push_back(std::move(own));
  }
}

void LcsBoundPropagation::add_holders(const LinearComplementaritySystem& s) {
  for (int i = 0; i < ng_; ++i) {
    if (!idle_[static_cast<std::size_t>(i)]) continue;
    for (int j = 0; j < ng_; ++j) {
      if (s.E(j, i) == 0) continue;
      Holder holder{.pair = i, .row = j, .factor = s.E(j, i), .rest = {}, .rest_substituted = {}};
      for (Row* rest : {&holder.rest, &holder.rest_substituted}) {
        // The rows of slack j in rows_: the raw one first, the substituted one after it if there is one.
        for (const Row& row : rows_) {
          if (row.terms[0].kind != kSlack || row.terms[0].index != j) continue;
          *rest = row;
          if (rest == &holder.rest) break;
        }
        rest->terms.erase(rest->terms.begin());
        std::erase_if(rest->terms, [&](const Term& term) { return term.kind == kGamma && term.index == i; });
      }
      holders_.push_back(std::move(holder));
    }
  }
}

int LcsBoundPropagation::place(int k, const Term& term) const {
  switch (term.kind) {
    case kX:
      return x(k, term.index);
    case kU:
      return u(k, term.index);
    case kGamma:
      return gamma(k, term.index);
    case kNext:
      return x(k + 1, term.index);
    case kSlack:
      break;
  }
  return slack(k, term.index);
}

bool LcsBoundPropagation::raise_lower(int place, double bound, double error) { return set_lower(place, bound - error - kRounding * std::abs(bound)); }
bool LcsBoundPropagation::reduce_upper(int place, double bound, double error) { return set_upper(place, bound + error + kRounding * std::abs(bound)); }

bool LcsBoundPropagation::set_lower(int place, double bound) {
  double &lower = lower_[static_cast<std::size_t>(place)], &upper = upper_[static_cast<std::size_t>(place)];
  if (!(bound > lower)) return false;
  if (bound > upper) {
    // Crossed by rounding: the interval between them, which holds both.
    empty_ = empty_ || bound > upper + kEmpty * std::max({1.0, std::abs(bound), std::abs(upper)});
    lower = std::exchange(upper, bound);
    return false;
  }
  const bool noticeable = !std::isfinite(lower) || bound - lower > kNoticeable * (upper - lower);
  lower = bound;
  return noticeable;
}

bool LcsBoundPropagation::set_upper(int place, double bound) {
  double &lower = lower_[static_cast<std::size_t>(place)], &upper = upper_[static_cast<std::size_t>(place)];
  if (!(bound < upper)) return false;
  if (bound < lower) {
    empty_ = empty_ || bound < lower - kEmpty * std::max({1.0, std::abs(bound), std::abs(lower)});
    upper = std::exchange(lower, bound);
    return false;
  }
  const bool noticeable = !std::isfinite(upper) || upper - bound > kNoticeable * (upper - lower);
  upper = bound;
  return noticeable;
}

/// Each entry of the row against what the others leave.
bool LcsBoundPropagation::propagate(int k, const Row& row) {
  double low = 0, high = 0, terms = std::abs(row.rhs);
  int low_open = 0, high_open = 0;  // how many terms have no bound
  const auto range = [&](const Term& term) {
    const int at = place(k, term);
    double a = term.factor * lower(at), b = term.factor * upper(at);
    if (term.factor < 0) std::swap(a, b);
    return std::pair(a, b);
  };
  for (const Term& term : row.terms) {
    const auto [a, b] = range(term);
    std::isfinite(a) ? void(low += a) : void(++low_open);
    std::isfinite(b) ? void(high += b) : void(++high_open);
    terms += (std::isfinite(a) ? std::abs(a) : 0) + (std::isfinite(b) ? std::abs(b) : 0);
  }
  if (low_open > 1 && high_open > 1) return false;
  const double error = kSum * terms;
  bool moved = false;
  for (const Term& term : row.terms) {
    const auto [a, b] = range(term);
    const int at = place(k, term), open_low = low_open - !std::isfinite(a), open_high = high_open - !std::isfinite(b);
    const double size = std::abs(term.factor), slop = error / size;
    // factor · entry ∈ [rhs − others' largest, rhs − others' least]
    const double most = open_low > 0 ? kNone : row.rhs - (low - (std::isfinite(a) ? a : 0));
    const double less = open_high > 0 ? -kNone : row.rhs - (high - (std::isfinite(b) ? b : 0));
    const double from = term.factor > 0 ? less / term.factor : most / term.factor;
    const double to = term.factor > 0 ? most / term.factor : less / term.factor;
    if (std::isfinite(from)) moved = raise_lower(at, from, slop) || moved;
    if (std::isfinite(to)) moved = reduce_upper(at, to, slop) || moved;
    if (empty_) return false;
    // Narrower intervals would only help the entries after this one; the sums of before are valid too.
  }
  return moved;
}

/// The least (sign 1) or largest (sign −1) value of Σ factor · entry − rhs, rounded outwards; ∓infinity where it has no bound.
double LcsBoundPropagation::extreme(int k, const Row& row, double sign) const {
  double sum = -row.rhs, terms = std::abs(row.rhs);
  for (const Term& term : row.terms) {
    const int at = place(k, term);
    const double value = term.factor * (sign * term.factor > 0 ? lower(at) : upper(at));
    if (!std::isfinite(value)) return -sign * kNone;
    sum += value;
    terms += std::abs(value);
  }
  return sum - sign * kSum * terms;
}

/// One side of each pair is zero: where γ > 0, 0 = rest + factor γ, and where s > 0, s = rest.
bool LcsBoundPropagation::complement(int k) {
  bool moved = false;
  for (int i = 0; i < ng_; ++i) {
    if (lower(slack(k, i)) > kPositive) moved = set_upper(gamma(k, i), 0) || moved;
    if (lower(gamma(k, i)) > kPositive) moved = set_upper(slack(k, i), 0) || moved;
  }
  for (const OwnSlack& own : own_) {
    const double room = extreme(k, own.rest, -1);
    if (room < kNone) moved = reduce_upper(slack(k, own.pair), std::max(0.0, room), 0) || moved;
    if (own.factor == 0) continue;
    const double force = own.factor > 0 ? -extreme(k, own.rest, 1) / own.factor : room / -own.factor;
    if (force < kNone) moved = reduce_upper(gamma(k, own.pair), std::max(0.0, force), 0) || moved;
  }
  return moved;
}

/// γ_i = 0, or one of its holders' slacks is zero.
bool LcsBoundPropagation::lower_idle(int k) {
  bool moved = false;
  for (int i = 0; i < ng_; ++i) {
    if (!idle_[static_cast<std::size_t>(i)]) continue;
    double bound = 0;
    for (const Holder& holder : holders_) {
      if (holder.pair != i) continue;
      const double rest = std::max(extreme(k, holder.rest, 1), extreme(k, holder.rest_substituted, 1));
      bound = std::max(bound, -rest / holder.factor);
    }
    if (std::isfinite(bound)) moved = reduce_upper(gamma(k, i), bound, 0) || moved;
  }
  return moved;
}

/// Of the symmetric part of M over some pairs, rounded down; 0 if that is not positive definite beyond rounding.
double LcsBoundPropagation::least_eigenvalue(const std::vector<int>& pairs) {
  if (pairs == judged_) return judged_eigenvalue_;
  judged_ = pairs;
  const MatrixXd part = M_(pairs, pairs), symmetric = 0.5 * part + 0.5 * part.transpose();
  const double least = Eigen::SelfAdjointEigenSolver<MatrixXd>(symmetric, Eigen::EigenvaluesOnly).eigenvalues().minCoeff();
  judged_eigenvalue_ = std::max(0.0, least - kRounding * symmetric.cwiseAbs().rowwise().sum().maxCoeff());
  return judged_eigenvalue_;
}

/// Multipliers without a bound, if M is positive definite over them: with s = Mγ + r there, 0 = γᵀs ≥ λ|γ|² − |γ| |max(0, −r)|.
bool LcsBoundPropagation::bound_by_energy(int k) {
  std::vector<int> open;
  for (int i = 0; i < ng_; ++i) {
    if (upper(gamma(k, i)) == kNone) open.push_back(i);
  }
  if (open.empty()) return false;
  const double least = least_eigenvalue(open);
  if (least == 0) return false;
  double squares = 0;
  for (const int i : open) {
    // The last row of this slack: with the dynamics put in where x_{k+1} enters.
    const auto own = std::find_if(own_.rbegin(), own_.rend(), [&](const OwnSlack& one) { return one.pair == i; });
    Row rest = own->rest;
    std::erase_if(rest.terms, [&](const Term& term) { return term.kind == kGamma && std::binary_search(open.begin(), open.end(), term.index); });
    const double missing = std::max(0.0, -extreme(k, rest, 1));
    if (missing == kNone) return false;
    squares += missing * missing;
  }
  for (const int i : open) reduce_upper(gamma(k, i), std::sqrt(squares) / least, 0);
  return true;
}

bool LcsBoundPropagation::pass(int k) {
  bool moved = false;
  for (const Row& row : rows_) {
    if (empty_) return false;
    moved = propagate(k, row) || moved;
  }
  moved = complement(k) || moved;
  moved = bound_by_energy(k) || moved;
  return lower_idle(k) || moved;
}

void LcsBoundPropagation::run(int rounds) {
  for (int round = 0; round < rounds && !empty_; ++round) {
    bool moved = false;
    for (int k = 0; k < N_; ++k) moved = pass(k) || moved;
    if (!moved) return;
    for (int k = N_ - 1; k >= 0; --k) moved = pass(k) || moved;
  }
}

LcsBounds LcsBoundPropagation::bounds() const {
  LcsBounds out;
  out.infeasible = empty_;
  out.idle = idle_;
  const auto copy = [&](const std::vector<double>& from, int start, int rows, int cols) {
    return MatrixXd(Eigen::Map<const MatrixXd>(from.data() + start, rows, cols));
  };
  out.x_lower = copy(lower_, 0, nx_, N_ + 1);
  out.x_upper = copy(upper_, 0, nx_, N_ + 1);
  out.u_lower = copy(lower_, u0_, nu_, N_);
  out.u_upper = copy(upper_, u0_, nu_, N_);
  out.gamma_lower = copy(lower_, gamma0_, ng_, N_).cwiseMax(0.0);
  out.gamma_upper = copy(upper_, gamma0_, ng_, N_).cwiseMax(0.0);
  out.slack_lower = copy(lower_, slack0_, ng_, N_).cwiseMax(0.0);
  out.slack_upper = copy(upper_, slack0_, ng_, N_).cwiseMax(0.0);
  return out;
}

}  // namespace deft::solvers
