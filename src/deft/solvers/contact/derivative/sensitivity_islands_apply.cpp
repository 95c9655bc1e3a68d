// The linear map of all islands: right-hand sides, solves, and the motions, forces and weights that follow.

#include <algorithm>
#include <cmath>

#include "deft/solvers/contact/derivative/sensitivity_islands.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

constexpr double kRowsAgree = 1e-7;  // redundant rows whose motion differs by less from that of the active ones agree

void add(std::size_t n, double factor, const double* a, double* b) {
  for (std::size_t i = 0; i < n; ++i) b[i] += factor * a[i];
}

bool has_entries(const Directions* changes) { return changes != nullptr && changes->size() > 0; }

}  // namespace

void Sensitivity::Islands::apply(const ContactProgram& program, const Request& request, const Answer& answer) {
  const Eigen::Index k = request.gradient.cols();
  answer.delta.setZero(program.nv, k);
  answer.force.setZero(terms_.num_rows, k);
  if (answer.bounds != nullptr) {
    answer.bounds->lower.setZero(program.nv, k);
    answer.bounds->upper.setZero(program.nv, k);
  }
  if (k == 0) return;
  for (std::size_t i = 0; i < count_; ++i) apply_island(program, islands_[i], request, answer);
  if (request.rows.size() > 0) apply_unmoved(program, request, answer.force);
}

// Contacts that move nothing still press harder when they close.
void Sensitivity::Islands::apply_unmoved(const ContactProgram& program, const Request& request,
                                         Directions& force) const {
  for (std::size_t i = 0; i < terms_.contacts.size(); ++i) {
    const ContactTerm& term = terms_.contacts[i];
    if (!term.acts || !program.J.cols(static_cast<int>(i)).empty()) continue;
    for (int a = 0; a < term.rows; ++a) {
      for (int b = 0; b < term.rows; ++b)
        force.row(term.first_row + a) -= term.C(a, b) * request.rows.row(term.first_row + b);
    }
  }
}

void Sensitivity::Islands::apply_island(const ContactProgram& program, Island& island, const Request& request,
                                        const Answer& answer) {
  find_directions(program, island, request);
  if (columns_.empty()) return;
  x_.assign(to_size(island.system.size()) * ld_, 0.0);
  y_.assign(to_size(island.num_active) * ld_, 0.0);
  for (const int v : island.velocities) gather(request.sign, request.gradient.row(v).data(), motion(v));
  if (request.rows.size() > 0) {
    for (const int i : island.contacts) add_contact_change(program, i, request);
  }
  for (const int i : island.bounds) add_bound_change(terms_.bounds[i], request);

  if (!island.system.solve(static_cast<int>(columns_.size()), static_cast<int>(ld_), x_.data(), y_.data()))
    is_nonsmooth_ = true;

  for (const int v : island.velocities) scatter(1, motion(v), answer.delta.row(v).data());
  for (const int i : island.contacts) {
    if (request.wanted.empty() || request.wanted[i] != 0) add_force(program, i, request, answer.force);
  }
  if (answer.bounds == nullptr) return;
  for (const int i : island.bounds) add_bound_weights(terms_.bounds[i], *answer.bounds);
}

/// The directions that reach an island: entries that are not zero in any of its rows.
void Sensitivity::Islands::find_directions(const ContactProgram& program, const Island& island,
                                           const Request& request) {
  const Eigen::Index k = request.gradient.cols();
  reached_.assign(k, 0);
  const auto look = [&](const double* row) {
    for (Eigen::Index c = 0; c < k; ++c) reached_[c] |= row[c] != 0;
  };
  for (const int v : island.velocities) look(request.gradient.row(v).data());
  for (std::size_t n = 0; request.rows.size() > 0 && n < island.contacts.size(); ++n) {
    const int i = island.contacts[n];
    for (int r = 0; r < program.J.rows(i); ++r) look(request.rows.row(terms_.contacts[i].first_row + r).data());
  }
  for (const Directions* bound : {request.lower, request.upper}) {
    if (!has_entries(bound)) continue;
    for (const int i : island.bounds) look(bound->row(terms_.bounds[i].index).data());
  }
  columns_.clear();
  for (Eigen::Index c = 0; c < k; ++c) {
    if (reached_[c] != 0) columns_.push_back(static_cast<int>(c));
  }
  is_dense_ = columns_.size() == reached_.size();
  ld_ = to_size(kernels::padded(static_cast<int>(columns_.size())));
}

/// packed += factor · row in the directions of the island.
void Sensitivity::Islands::gather(double factor, const double* row, double* packed) const {
  if (is_dense_) return add(columns_.size(), factor, row, packed);
  for (std::size_t c = 0; c < columns_.size(); ++c) packed[c] += factor * row[columns_[c]];
}

/// row += factor · packed in the directions of the island.
void Sensitivity::Islands::scatter(double factor, const double* packed, double* row) const {
  if (is_dense_) return add(columns_.size(), factor, packed, row);
  for (std::size_t c = 0; c < columns_.size(); ++c) row[columns_[c]] += factor * packed[c];
}

/// Calls run(first, count) for neighbours among `cols` that are neighbours in the island too.
template <class Run>
void Sensitivity::Islands::for_each_run(std::span<const int> cols, Run run) const {
  int first = 0;
  const int size = static_cast<int>(cols.size());
  for (int c = 1; c <= size; ++c) {
    if (c < size && local_[cols[c]] == local_[cols[c - 1]] + 1) continue;
    run(first, c - first);
    first = c;
  }
}

/// s_ = ds of a contact, packed.
void Sensitivity::Islands::load_rows(const ContactTerm& term, const Request& request) {
  s_.assign(to_size(term.rows) * ld_, 0.0);
  if (request.rows.size() == 0) return;
  for (int b = 0; b < term.rows; ++b)
    gather(1, request.rows.row(term.first_row + b).data(), s_.data() + to_size(b) * ld_);
}

/// x −= JᵀC ds, y += E ds.
void Sensitivity::Islands::add_contact_change(const ContactProgram& program, int contact, const Request& request) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const int ld = static_cast<int>(ld_);
  const ContactTerm& term = terms_.contacts[contact];
  const auto cols = program.J.cols(contact);
  const auto block = program.J.block(contact);
  load_rows(term, request);
  // Commands move no rows.
  if (std::all_of(s_.begin(), s_.end(), [](double s) { return s == 0; })) return;
  pull_.resize(cols.size() * to_size(term.rows));  // JᵀC
  for (std::size_t c = 0; c < cols.size(); ++c) {
    const Eigen::Vector4d turned = term.C.transpose() * column(block, c);
    std::copy_n(turned.data(), term.rows, pull_.data() + c * to_size(term.rows));
  }
  for_each_run(cols, [&](int first, int count) {
    kernels.multiply_many(count, term.rows, -1, pull_.data() + first * term.rows, term.rows, 1, s_.data(), ld,
                          motion(cols[first]), ld, ld);
  });
  if (term.num_active > 0)
    kernels.multiply_many(term.num_active, term.rows, 1, term.E.data(), 1, 4, s_.data(), ld,
                          multiplier(term.first_active), ld, ld);
}

/// Barriers push by their stiffness, an active bound moves its velocity.
void Sensitivity::Islands::add_bound_change(const RowTerm& bound, const Request& request) {
  for (const bool upper : {false, true}) {
    const Directions* given = upper ? request.upper : request.lower;
    if (!has_entries(given)) continue;
    const double* row = given->row(bound.index).data();
    gather(upper ? bound.upper_stiffness : bound.lower_stiffness, row, motion(bound.index));
    if (bound.is_active && bound.at_upper == upper) gather(-1, row, multiplier(bound.active_row));
  }
}

/// df = −C (J dδ + ds) + Eᵀ dλ of a contact.
void Sensitivity::Islands::add_force(const ContactProgram& program, int contact, const Request& request,
                                     Directions& force) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const int ld = static_cast<int>(ld_);
  const ContactTerm& term = terms_.contacts[contact];
  const auto cols = program.J.cols(contact);
  const auto block = program.J.block(contact);
  load_rows(term, request);  // becomes J dδ + ds
  for_each_run(cols, [&](int first, int count) {
    kernels.multiply_many(term.rows, count, 1, block.data() + first, static_cast<int>(cols.size()), 1,
                          motion(cols[first]), ld, s_.data(), ld, ld);
  });
  force_.assign(s_.size(), 0.0);
  kernels.multiply_many(term.rows, term.rows, -1, term.C.data(), 1, 4, s_.data(), ld, force_.data(), ld, ld);
  if (term.num_active > 0)
    kernels.multiply_many(term.rows, term.num_active, 1, term.E.data(), 4, 1, multiplier(term.first_active), ld,
                          force_.data(), ld, ld);
  for (int a = 0; a < term.rows; ++a)
    scatter(1, force_.data() + to_size(a) * ld_, force.row(term.first_row + a).data());
}

void Sensitivity::Islands::add_bound_weights(const RowTerm& bound, ProgramChange& weights) {
  double *lower = weights.lower.row(bound.index).data(), *upper = weights.upper.row(bound.index).data();
  scatter(bound.lower_stiffness, motion(bound.index), lower);
  scatter(bound.upper_stiffness, motion(bound.index), upper);
  if (bound.is_active) scatter(-1, multiplier(bound.active_row), bound.at_upper ? upper : lower);
}

void Sensitivity::Islands::check_implied(const ContactProgram& program, const ProgramChange& change,
                                         const SolutionChange& result) {
  for (const RedundantRow& redundant : terms_.redundant) {
    const int first = terms_.contacts[redundant.contact].first_row;
    const auto cols = program.J.cols(redundant.contact);
    const auto block = program.J.block(redundant.contact);
    const auto k = to_size(result.delta.cols());
    x_.assign(k, 0.0);  // eᵀ(J dδ + ds)
    s_.assign(k, 0.0);  // and the size of its parts
    for (int r = 0; r < program.J.rows(redundant.contact); ++r)
      add(k, redundant.e(r), change.rows.row(first + r).data(), x_.data());
    for (std::size_t d = 0; d < k; ++d) s_[d] = std::abs(x_[d]);
    for (std::size_t c = 0; c < cols.size(); ++c) {
      const double value = column(block, c).dot(redundant.e);
      const double* moved = result.delta.row(cols[c]).data();
      for (std::size_t d = 0; d < k; ++d) {
        x_[d] += value * moved[d];
        s_[d] += std::abs(value * moved[d]);
      }
    }
    double most = 0, large = 0;
    for (std::size_t d = 0; d < k; ++d) most = std::max(most, std::abs(x_[d])), large = std::max(large, s_[d]);
    is_nonsmooth_ |= most > kRowsAgree * large;
  }
}

}  // namespace deft::solvers::contact
