// The rules of LcsPropagation, from the program.

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/solvers/lcs/bounds.hpp"
#include "deft/solvers/lcs/propagation.hpp"

namespace deft::solvers::lcs {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double kCancelled = 1e-12;  // of the largest entry: an elimination left nothing

/// The factors of an elimination, without what rounding left of entries that cancel.
Eigen::RowVectorXd cleaned(Eigen::RowVectorXd factors, double scale) {
  for (Index j = 0; j < factors.size(); ++j) {
    if (std::abs(factors[j]) <= kCancelled * scale) factors[j] = 0;
  }
  return factors;
}

double scale_of(const MatrixXd& matrix) { return matrix.size() > 0 ? matrix.cwiseAbs().maxCoeff() : 0.0; }

}  // namespace

LcsPropagation::LcsPropagation(const LcsMpcProgram& program, bool without_loss)
    : nx_(program.system.nx()),
      nu_(program.system.nu()),
      ng_(program.system.pairs()),
      N_(program.N),
      stride_(nx_ + nu_ + 2 * ng_),
      without_loss_(without_loss),
      program_(&program),
      is_idle_(to_size(ng_)),
      capped_(to_size(ng_)),
      forces_(program.system) {
  for (int i = 0; i < ng_; ++i) capped_[i] = program.gamma_max.size() > 0 && std::isfinite(program.gamma_max(i));
  add_rows(program.system);
  add_substituted_slacks(program.system);
  add_rows_without_forces(program.system);
  for (Row& row : rows_) {
    for (const Term& term : row.terms) row.mask |= bit(term.offset);
  }
  if (without_loss) find_idle(program.system);
}

void LcsPropagation::append(Row& row, int offset, const Eigen::Ref<const Eigen::RowVectorXd>& factors) const {
  for (Index j = 0; j < factors.size(); ++j) {
    if (factors[j] != 0) row.terms.push_back({offset + static_cast<int>(j), factors[j]});
  }
}

void LcsPropagation::add_rows(const LinearComplementaritySystem& s) {
  for (int i = 0; i < nx_; ++i) {
    Row row{.terms = {{x(1, i), 1}}, .rhs = s.F[i]};
    append(row, x(0, 0), -s.A.row(i));
    append(row, u(0, 0), -s.B.row(i));
    append(row, gamma(0, 0), -s.C.row(i));
    rows_.push_back(std::move(row));
  }
  for (int i = 0; i < ng_; ++i) {
    Row row{.terms = {{slack(0, i), 1}}, .rhs = s.alpha[i]};
    append(row, x(0, 0), -s.D0.row(i));
    append(row, x(1, 0), -s.D.row(i));
    append(row, u(0, 0), -s.H.row(i));
    append(row, gamma(0, 0), -s.E.row(i));
    rows_.push_back(std::move(row));
  }
}

void LcsPropagation::add_substituted_slacks(const LinearComplementaritySystem& s) {
  substituted_.assign(ng_, -1);
  for (int i = 0; i < ng_; ++i) {
    if (s.D.row(i).isZero(0)) continue;
    const double size = s.D.row(i).cwiseAbs().maxCoeff();
    Row row{.terms = {{slack(0, i), 1}}, .rhs = s.alpha[i] + s.D.row(i).dot(s.F)};
    append(row, x(0, 0), -cleaned(s.D0.row(i) + s.D.row(i) * s.A, size * scale_of(s.A)));
    append(row, u(0, 0), -cleaned(s.H.row(i) + s.D.row(i) * s.B, size * scale_of(s.B)));
    append(row, gamma(0, 0), -cleaned(s.E.row(i) + s.D.row(i) * s.C, size * scale_of(s.C)));
    substituted_[i] = static_cast<int>(rows_.size());
    rows_.push_back(std::move(row));
  }
  for (Row& row : rows_) {
    if (row.terms[0].offset < slack(0, 0) || row.terms[0].offset >= stride_) continue;
    for (std::size_t t = 1; t < row.terms.size(); ++t) {
      if (row.terms[t].offset == row.terms[0].offset - ng_) row.own = static_cast<int>(t);
    }
  }
}

/// Combinations Z of the dynamics with Z C = 0, by elimination with the largest pivots: the forces do not enter there,
/// so that positions follow from velocities though no force has a bound.
void LcsPropagation::add_rows_without_forces(const LinearComplementaritySystem& s) {
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
    Row row{.terms = {}, .rhs = z.dot(s.F)};
    append(row, x(1, 0), z);
    append(row, x(0, 0), -cleaned(z * s.A, size * scale_of(s.A)));
    append(row, u(0, 0), -cleaned(z * s.B, size * scale_of(s.B)));
    rows_.push_back(std::move(row));
  }
}

void LcsPropagation::find_idle(const LinearComplementaritySystem& s) {
  is_idle_ = idle_multipliers(s);
  for (int i = 0; i < ng_; ++i) {
    if (!is_idle_[i]) continue;
    Idle one{.offset = gamma(0, i), .slacks = {}};
    for (int j = 0; j < ng_; ++j) {
      if (s.E(j, i) == 0) continue;
      one.slacks.emplace_back(j, s.E(j, i));
      one.mask |= rows_[nx_ + j].mask;
      if (const int r = substituted_[j]; r >= 0) one.mask |= rows_[r].mask;
    }
    idle_.push_back(std::move(one));
  }
}

LcsIntervals LcsPropagation::start() const {
  const auto size = to_size(N_ * stride_ + nx_);
  LcsIntervals out{std::vector<double>(size, -kInfinity), std::vector<double>(size, kInfinity),
                   std::vector<LcsPending>(N_)};
  const LcsMpcProgram& p = *program_;
  const auto set = [&](int place, double lo, double hi) {
    out.lo[place] = lo;
    out.hi[place] = hi;
  };
  for (int i = 0; i < nx_; ++i) {
    set(x(0, i), p.x0(i), p.x0(i));
    if (p.x_price.size() > 0 && std::isfinite(p.x_price(i))) continue;
    for (int k = 1; k <= N_; ++k)
      set(x(k, i), p.x_min.size() > 0 ? p.x_min(i) : -kInfinity, p.x_max.size() > 0 ? p.x_max(i) : kInfinity);
  }
  for (int k = 0; k < N_; ++k) {
    for (int j = 0; j < nu_; ++j)
      set(u(k, j), p.u_min.size() > 0 ? p.u_min(j, k) : -kInfinity, p.u_max.size() > 0 ? p.u_max(j, k) : kInfinity);
    for (int i = 0; i < ng_; ++i) {
      set(gamma(k, i), 0, p.gamma_max.size() > 0 ? p.gamma_max(i) : kInfinity);
      set(slack(k, i), 0, kInfinity);
    }
  }
  return out;
}

}  // namespace deft::solvers::lcs
