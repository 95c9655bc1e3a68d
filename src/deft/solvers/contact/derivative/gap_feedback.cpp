#include "deft/solvers/contact/derivative/gap_feedback.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/math/dense.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

using Eigen::Index;

constexpr double kSeveral = 1e-8;  // pivots of 1 − M, whose diagonal is about 1: below, several x are as good

void set_rows(const Eigen::MatrixXd& A, bool transposed, linear::DenseLu& lu) {
  const auto n = static_cast<int>(A.rows());
  lu.resize(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) lu.row(i)[j] = transposed ? A(j, i) : A(i, j);
  }
}

}  // namespace

/// g_iᵀ J_i dδ along one direction.
double GapFeedback::rate_along(const ContactProgram& program, int contact, const Directions& moved,
                               Index column) const {
  const Eigen::Vector4d& g = rates_[to_size(contact)];
  const auto cols = program.J.cols(contact);
  const auto block = program.J.block(contact);
  double sum = 0;
  for (std::size_t c = 0; c < cols.size(); ++c) {
    double along = 0;
    for (Index r = 0; r < block.rows(); ++r) along += g(r) * block(r, static_cast<Index>(c));
    sum += along * moved(cols[c], column);
  }
  return sum;
}

bool GapFeedback::factor(const ContactProgram& program, const ContactSolution& solution,
                         std::span<const Eigen::Vector4d> rates, Sensitivity& sensitivity) {
  if (rates.size() != program.contacts.size())
    throw std::invalid_argument("gap feedback: one rate per contact is needed");
  rates_.assign(rates.begin(), rates.end());
  has_transposed_ = false;
  contacts_.clear();
  const bool exact = std::isinf(program.kappa);
  for (int i = 0; i < program.J.size(); ++i) {
    if (!exact || solution.force[to_size(i)][0] > 0) contacts_.push_back(i);
  }
  const auto n = static_cast<Index>(contacts_.size());
  units_.gradient.setZero(program.nv, n);
  units_.rows.setZero(sensitivity.num_rows(), n);
  for (Index k = 0; k < n; ++k) units_.rows(sensitivity.first_row(contacts_[to_size(k)]), k) = 1;
  no_contacts_.assign(program.contacts.size(), 0);
  sensitivity.probe(program, units_, responses_, no_contacts_);
  coupling_.setIdentity(n, n);
  for (Index i = 0; i < n; ++i) {
    const int contact = contacts_[to_size(i)];
    if (rates_[to_size(contact)].isZero(0)) continue;
    for (Index k = 0; k < n; ++k) coupling_(i, k) -= rate_along(program, contact, responses_.delta, k);
  }
  set_rows(coupling_, false, lu_);
  return is_regular_ = lu_.factor(kSeveral);
}

void GapFeedback::feed(const ContactProgram& program, Sensitivity& sensitivity, ProgramChange& change) {
  const Index columns = change.rows.cols();
  SolutionChange& moved = moved_along(columns);
  sensitivity.probe(program, change, moved, no_contacts_);
  const int ld = kernels::padded(static_cast<int>(columns));
  x_.assign(contacts_.size() * to_size(ld), 0.0);
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    if (rates_[to_size(contacts_[k])].isZero(0)) continue;
    for (Index c = 0; c < columns; ++c)
      x_[k * to_size(ld) + to_size(c)] = rate_of(program, contacts_[k], sensitivity, change, c);
  }
  solve_coupling(lu_, false, columns);
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    for (Index c = 0; c < columns; ++c) {
      const double dx = x_[k * to_size(ld) + to_size(c)];
      change.rows(sensitivity.first_row(contacts_[k]), c) += dx;
      for (int v = 0; v < program.nv; ++v) moved.delta(v, c) += dx * responses_.delta(v, static_cast<Index>(k));
    }
  }
  feed_others(program, sensitivity, change);
}

/// g_iᵀ(J_i dδ + ds_i) along one direction, dδ in moved_.
double GapFeedback::rate_of(const ContactProgram& program, int contact, const Sensitivity& sensitivity,
                            const ProgramChange& change, Index column) {
  const int first = sensitivity.first_row(contact);
  double rate = rate_along(program, contact, moved_along(change.rows.cols()).delta, column);
  for (int r = 0; r < program.J.rows(contact); ++r)
    rate += rates_[to_size(contact)](r) * change.rows(first + r, column);
  return rate;
}

/// Gaps that move nothing follow the motion: what asks whether redundant rows move together needs them.
void GapFeedback::feed_others(const ContactProgram& program, const Sensitivity& sensitivity, ProgramChange& change) {
  std::size_t k = 0;
  for (int i = 0; i < program.J.size(); ++i) {
    if (k < contacts_.size() && contacts_[k] == i) {
      ++k;
    } else if (!rates_[to_size(i)].isZero(0)) {
      for (Index c = 0; c < change.rows.cols(); ++c)
        change.rows(sensitivity.first_row(i), c) += rate_of(program, i, sensitivity, change, c);
    }
  }
}

/// x_ ← (1 − M)⁻¹ x_, or its transpose; where there are several, the least.
void GapFeedback::solve_coupling(linear::DenseLu& lu, bool transposed, Index columns) {
  if (contacts_.empty()) return;
  const int ld = kernels::padded(static_cast<int>(columns));
  if (is_regular_) {
    lu.solve_many(x_.data(), ld, static_cast<int>(columns));
    return;
  }
  Eigen::Map<Directions, 0, Eigen::OuterStride<>> x(x_.data(), static_cast<Index>(contacts_.size()), columns,
                                                    Eigen::OuterStride<>(ld));
  const Eigen::MatrixXd A = transposed ? Eigen::MatrixXd(coupling_.transpose()) : coupling_;
  x = LeastSquares(A, kSeveral).solve(Eigen::MatrixXd(x));
}

void GapFeedback::solve_transposed(const ContactProgram& program, const Directions& delta, const Directions& force,
                                   Sensitivity& sensitivity, ProgramChange& result) {
  sensitivity.solve_transposed(program, delta, force, result);
  if (contacts_.empty()) return;
  if (is_regular_ && !has_transposed_) {
    set_rows(coupling_, true, lu_transposed_);
    has_transposed_ = lu_transposed_.factor(kSeveral);
  }
  const Index columns = delta.cols();
  const int ld = kernels::padded(static_cast<int>(columns));
  x_.assign(contacts_.size() * to_size(ld), 0.0);
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const int first = sensitivity.first_row(contacts_[k]);
    for (Index c = 0; c < columns; ++c) x_[k * to_size(ld) + to_size(c)] = result.rows(first, c);
  }
  solve_coupling(lu_transposed_, true, columns);
  // What weighs on dx weighs on J_i dδ₀ + ds_i by g_i.
  weights_.setZero(delta.rows(), columns);
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const int contact = contacts_[k], first = sensitivity.first_row(contact);
    const Eigen::Vector4d& g = rates_[to_size(contact)];
    const auto cols = program.J.cols(contact);
    const auto block = program.J.block(contact);
    for (Index r = 0; r < block.rows(); ++r) {
      for (Index c = 0; c < columns; ++c) {
        const double weight = g(r) * x_[k * to_size(ld) + to_size(c)];
        result.rows(first + r, c) += weight;
        for (std::size_t j = 0; j < cols.size(); ++j) weights_(cols[j], c) += weight * block(r, static_cast<Index>(j));
      }
    }
  }
  no_force_.resize(0, 0);
  sensitivity.solve_transposed(program, weights_, no_force_, back_);
  result.gradient += back_.gradient;
  result.rows += back_.rows;
  result.lower += back_.lower;
  result.upper += back_.upper;
}

void GapFeedback::newton_step(const ContactProgram& program, const Eigen::VectorXd& error, Eigen::VectorXd& dx) {
  dx = error;
  if (contacts_.empty()) return;
  x_.assign(contacts_.size(), 0.0);
  for (std::size_t k = 0; k < contacts_.size(); ++k) x_[k] = error(contacts_[k]);
  if (is_regular_) {
    lu_.solve(x_.data());
  } else {
    Eigen::Map<Eigen::VectorXd> x(x_.data(), static_cast<Index>(x_.size()));
    x = LeastSquares(coupling_, kSeveral).solve(Eigen::VectorXd(x));
  }
  Directions& moved = moved_along(1).delta;
  moved.setZero(program.nv, 1);
  for (std::size_t k = 0; k < contacts_.size(); ++k)
    moved.col(0) += x_[k] * responses_.delta.col(static_cast<Index>(k));
  std::size_t k = 0;
  for (int i = 0; i < program.J.size(); ++i) {
    if (k < contacts_.size() && contacts_[k] == i)
      dx(i) = x_[k++];
    else if (!rates_[to_size(i)].isZero(0))
      dx(i) += rate_along(program, i, moved, 0);
  }
}

}  // namespace deft::solvers::contact
