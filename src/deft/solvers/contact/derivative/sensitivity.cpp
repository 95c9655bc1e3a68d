// The linear system behind a solution, island by island:  H = Q + Σ JᵀCJ,  G the rows that are held,
//
//   [H −Gᵀ; −G 0] [dδ; dλ] = [−(dg + Σ JᵀC ds); E ds],   df = −C (J dδ + ds) + Eᵀ dλ.

#include "deft/solvers/contact/derivative/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/solvers/contact/derivative/active_system.hpp"
#include "deft/solvers/contact/derivative/sensitivity_terms.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

constexpr double kRowsAgree = 1e-7;  // rows without force that move by less against those that hold them agree
constexpr double kShared = 1e-6;     // part of a force that others may carry as well
constexpr double kFree = 1e-9;       // share of Q̃ that decides about motions that nothing else does

void add(std::size_t n, double factor, const double* a, double* b) {
  for (std::size_t i = 0; i < n; ++i) b[i] += factor * a[i];
}

/// A change of the data, or weights on the solution.
struct Data {
  const Directions& gradient;
  double sign;  // of the gradient on the right-hand side
  const Directions& rows;
  const Directions *lower, *upper;
};

}  // namespace

/// The islands of one program and their factors.
class Sensitivity::Islands {
 public:
  void factor(const ContactProgram& program, const ContactSolution& solution, double energy_J, double residual) {
    terms_.classify(program, solution, energy_J, residual);
    is_nonsmooth_ = terms_.nonsmooth;
    is_unique_ = true;
    find_islands(program);
    for (std::size_t k = 0; k < count_; ++k) factor_island(program, islands_[k]);
    std::erase_if(terms_.redundant, [&](const RedundantRow& redundant) {
      const bool is_free = is_free_row(program, redundant);
      is_nonsmooth_ |= is_free;
      return is_free;
    });
  }

  /// dδ and df, or their transposes; weights on the bounds too, if asked.
  void apply(const ContactProgram& program, const Data& data, std::span<const char> wanted, Directions& delta,
             Directions& force, ProgramChange* bounds = nullptr) {
    const Eigen::Index k = data.gradient.cols();
    delta.setZero(program.nv, k);
    force.setZero(terms_.num_rows, k);
    if (bounds != nullptr) {
      bounds->lower.setZero(program.nv, k);
      bounds->upper.setZero(program.nv, k);
    }
    if (k == 0) return;
    for (std::size_t i = 0; i < count_; ++i) apply_island(program, islands_[i], data, wanted, delta, force, bounds);
    // Contacts that move nothing still press harder when they close.
    for (std::size_t i = 0; data.rows.size() > 0 && i < terms_.contacts.size(); ++i) {
      const ContactTerm& term = terms_.contacts[i];
      if (!term.acts || !program.J.cols(static_cast<int>(i)).empty()) continue;
      for (int a = 0; a < term.rows; ++a) {
        for (int b = 0; b < term.rows; ++b)
          force.row(term.first_row + a) -= term.C(a, b) * data.rows.row(term.first_row + b);
      }
    }
  }

  /// Rows without force must move with those that hold them.
  void check_implied(const ContactProgram& program, const ProgramChange& change, const SolutionChange& result) {
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

  bool is_nonsmooth() const { return is_nonsmooth_; }
  bool is_unique() const { return is_unique_; }
  const SensitivityTerms& terms() const { return terms_; }

 private:
  /// Velocities that depend on each other, and what acts on them.
  struct Island {
    std::vector<int> velocities, contacts;
    std::vector<int> bounds, linear, equality;  // indices of terms
    int num_active = 0, num_yielding = 0;
    ActiveSystem system;
    void clear() {
      for (auto* list : {&velocities, &contacts, &bounds, &linear, &equality}) list->clear();
      num_active = num_yielding = 0;
    }
  };

  int root(int v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void join(std::span<const int> cols) {
    for (const int c : cols) parent_[root(c)] = root(cols.front());
  }

  void find_islands(const ContactProgram& program) {
    parent_.resize(program.nv);
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const BlockDiagonal* blocks : {&program.Q, &program.masses}) {
      for (int k = 0; k < blocks->num_blocks(); ++k) {
        for (int i = 1; i < blocks->size(k); ++i) parent_[root(blocks->start(k) + i)] = root(blocks->start(k));
      }
    }
    for (int i = 0; i < program.J.size(); ++i) {
      if (terms_.contacts[i].acts) join(program.J.cols(i));
    }
    for (const RedundantRow& redundant : terms_.redundant) join(program.J.cols(redundant.contact));
    for (const RowTerm& row : terms_.linear) join(program.linear.rows.cols(row.index));
    for (const RowTerm& row : terms_.equality) join(program.equality.rows.cols(row.index));

    count_ = 0;
    island_of_.assign(program.nv, -1);
    local_.resize(program.nv);
    for (int v = 0; v < program.nv; ++v) {
      const int r = root(v);
      if (island_of_[r] < 0) {
        if (count_ == islands_.size()) islands_.emplace_back();
        islands_[count_].clear();
        island_of_[r] = static_cast<int>(count_++);
      }
      island_of_[v] = island_of_[r];
      Island& island = islands_[island_of_[v]];
      local_[v] = static_cast<int>(island.velocities.size());
      island.velocities.push_back(v);
    }
    const auto hold = [](Island& island, int rows) {
      const int first = island.num_active;
      island.num_active += rows;
      return first;
    };
    for (int i = 0; i < program.J.size(); ++i) {
      ContactTerm& term = terms_.contacts[i];
      if (!term.acts || program.J.cols(i).empty()) continue;
      Island& island = islands_[island_of_[program.J.cols(i).front()]];
      island.contacts.push_back(i);
      term.first_held = hold(island, term.num_active);
      if (term.stiff) island.num_yielding += term.num_active;
    }
    const auto place = [&](std::vector<RowTerm>& rows, std::vector<int> Island::* list, const auto& cols) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::span<const int> moved = cols(rows[i].index);
        if (moved.empty()) continue;  // a row without columns says nothing about any velocity
        Island& island = islands_[island_of_[moved.front()]];
        (island.*list).push_back(static_cast<int>(i));
        if (rows[i].is_held) rows[i].held = hold(island, 1);
      }
    };
    place(terms_.bounds, &Island::bounds, [](const int& v) { return std::span(&v, 1); });
    place(terms_.linear, &Island::linear, [&](int i) { return program.linear.rows.cols(i); });
    place(terms_.equality, &Island::equality, [&](int i) { return program.equality.rows.cols(i); });
  }

  void fill(const ContactProgram& program, Island& island) {
    ActiveSystem& system = island.system;
    system.reset(static_cast<int>(island.velocities.size()) + island.num_yielding, island.num_active,
                 island.num_yielding);
    add_blocks(program.Q, island, 1);
    for (const int i : island.contacts) {
      const ContactTerm& term = terms_.contacts[i];
      const auto cols = program.J.cols(i);
      const auto block = program.J.block(i);
      block_.clear();
      for (std::size_t c = 0; c < cols.size(); ++c) block_.push_back(column(block, c));
      for (std::size_t c = 0; c < cols.size(); ++c) {
        const Eigen::Vector4d turned = term.C * block_[c];
        const int v = local_[cols[c]];
        system.H(v)[v] += turned.dot(block_[c]);
        for (std::size_t d = 0; d < c; ++d) {
          const int w = local_[cols[d]];
          const double value = turned.dot(block_[d]);
          system.H(v)[w] += value;
          system.H(w)[v] += value;
        }
        for (int r = 0; r < term.num_active; ++r) system.G(term.first_held + r)[v] = term.E.row(r).dot(block_[c]);
      }
      for (int r = 0; term.stiff && r < term.num_active; ++r) system.yield(term.first_held + r);
    }
    for (const int i : island.bounds) {
      const RowTerm& bound = terms_.bounds[i];
      const int v = local_[bound.index];
      system.H(v)[v] += bound.lower_stiffness + bound.upper_stiffness;
      if (bound.is_held) system.G(bound.held)[v] = 1;
    }
    for (const int i : island.linear) add_row(program.linear.rows, terms_.linear[i], system);
    for (const int i : island.equality) add_row(program.equality.rows, terms_.equality[i], system);
    metric_.clear();
    for (const int v : island.velocities) metric_.push_back(terms_.metric[v]);
    metric_.resize(system.size(), 1.0);
  }

  void add_blocks(const BlockDiagonal& blocks, Island& island, double factor) {
    for (int k = 0; k < blocks.num_blocks(); ++k) {
      if (blocks.size(k) == 0 || &islands_[island_of_[blocks.start(k)]] != &island) continue;
      const auto block = blocks.block(k);
      for (int r = 0; r < blocks.size(k); ++r) {
        double* H = island.system.H(local_[blocks.start(k) + r]);
        for (int c = 0; c < blocks.size(k); ++c) H[local_[blocks.start(k) + c]] += factor * block(r, c);
      }
    }
  }

  void add_row(const RowBlocks& rows, const RowTerm& row, ActiveSystem& system) {
    const auto cols = rows.cols(row.index);
    const auto values = rows.block(row.index);
    for (std::size_t c = 0; c < cols.size(); ++c) {
      const double value = values(0, static_cast<Eigen::Index>(c));
      for (std::size_t d = 0; d < cols.size(); ++d)
        system.H(local_[cols[c]])[local_[cols[d]]] +=
            row.lower_stiffness * value * values(0, static_cast<Eigen::Index>(d));
      if (row.is_held) system.G(row.held)[local_[cols[c]]] = value;
    }
  }

  /// Where H is singular, penalties on the held rows change nothing in the answer; what they leave free gets the least
  /// motion.
  void factor_island(const ContactProgram& program, Island& island) {
    fill(program, island);
    ActiveSystem& system = island.system;
    if (!system.factor()) {
      system.add_penalties(metric_.data());
      if (!system.factor()) {
        is_unique_ = false;
        add_blocks(program.masses, island, kFree);
        if (!system.factor()) {
          for (int i = 0; i < system.size(); ++i) system.H(i)[i] += kFree * metric_[i];
          system.factor();
        }
      }
    }
    system.eliminate();
    // Sliding cones that share a load turn it differently for each way to share it, and each direction chooses its own.
    for (const int i : island.contacts) {
      const ContactTerm& term = terms_.contacts[i];
      is_nonsmooth_ |= term.bends && system.free_multiplier(term.first_held) > kShared;
    }
  }

  /// Whether the rows that are held say nothing about this one.
  bool is_free_row(const ContactProgram& program, const RedundantRow& redundant) {
    const auto cols = program.J.cols(redundant.contact);
    Island& island = islands_[island_of_[cols.front()]];
    row_.assign(island.system.size(), 0.0);
    metric_.clear();
    for (const int v : island.velocities) metric_.push_back(terms_.metric[v]);
    metric_.resize(row_.size(), 1.0);
    for (std::size_t c = 0; c < cols.size(); ++c)
      row_[local_[cols[c]]] = column(program.J.block(redundant.contact), c).dot(redundant.e);
    return island.system.free_share(row_.data(), metric_.data()) > kRowsAgree;
  }

  /// The directions that reach an island: entries that are not zero in any of its rows.
  void find_columns(const ContactProgram& program, const Island& island, const Data& data) {
    const Eigen::Index k = data.gradient.cols();
    reached_.assign(k, 0);
    const auto look = [&](const double* row) {
      for (Eigen::Index c = 0; c < k; ++c) reached_[c] |= row[c] != 0;
    };
    for (const int v : island.velocities) look(data.gradient.row(v).data());
    for (std::size_t n = 0; data.rows.size() > 0 && n < island.contacts.size(); ++n) {
      const int i = island.contacts[n];
      for (int r = 0; r < program.J.rows(i); ++r) look(data.rows.row(terms_.contacts[i].first_row + r).data());
    }
    for (const Directions* bound : {data.lower, data.upper}) {
      if (bound == nullptr || bound->size() == 0) continue;
      for (const int i : island.bounds) look(bound->row(terms_.bounds[i].index).data());
    }
    columns_.clear();
    for (Eigen::Index c = 0; c < k; ++c) {
      if (reached_[c] != 0) columns_.push_back(static_cast<int>(c));
    }
    is_dense_ = columns_.size() == reached_.size();
    ld_ = to_size(kernels::padded(static_cast<int>(columns_.size())));
  }
  /// run(first, count): neighbours among `cols` that are neighbours in the island too.
  template <class Run>
  void for_each_run(std::span<const int> cols, Run run) const {
    int first = 0;
    const int size = static_cast<int>(cols.size());
    for (int c = 1; c <= size; ++c) {
      if (c < size && local_[cols[c]] == local_[cols[c - 1]] + 1) continue;
      run(first, c - first);
      first = c;
    }
  }
  void gather(double factor, const double* row, double* packed) const {
    if (is_dense_) return add(columns_.size(), factor, row, packed);
    for (std::size_t c = 0; c < columns_.size(); ++c) packed[c] += factor * row[columns_[c]];
  }
  void scatter(double factor, const double* packed, double* row) const {
    if (is_dense_) return add(columns_.size(), factor, packed, row);
    for (std::size_t c = 0; c < columns_.size(); ++c) row[columns_[c]] += factor * packed[c];
  }

  void apply_island(const ContactProgram& program, Island& island, const Data& data, std::span<const char> wanted,
                    Directions& delta, Directions& force, ProgramChange* bounds) {
    find_columns(program, island, data);
    if (columns_.empty()) return;
    const kernels::DenseKernels& kernels = kernels::dense_kernels();
    const int ld = static_cast<int>(ld_);
    ActiveSystem& system = island.system;
    x_.assign(to_size(system.size()) * ld_, 0.0);
    y_.assign(to_size(island.num_active) * ld_, 0.0);
    const auto x = [&](int v) { return x_.data() + to_size(local_[v]) * ld_; };
    const auto y = [&](int held) { return y_.data() + to_size(held) * ld_; };
    for (const int v : island.velocities) gather(data.sign, data.gradient.row(v).data(), x(v));
    for (const int i : island.contacts) {
      if (data.rows.size() == 0) break;
      const ContactTerm& term = terms_.contacts[i];
      const auto cols = program.J.cols(i);
      const auto block = program.J.block(i);
      load_rows(term, data);
      // Commands move no rows.
      if (std::all_of(s_.begin(), s_.end(), [](double s) { return s == 0; })) continue;
      pull_.resize(cols.size() * to_size(term.rows));  // JᵀC
      for (std::size_t c = 0; c < cols.size(); ++c) {
        const Eigen::Vector4d turned = term.C.transpose() * column(block, c);
        std::copy_n(turned.data(), term.rows, pull_.data() + c * to_size(term.rows));
      }
      for_each_run(cols, [&](int first, int count) {
        kernels.multiply_many(count, term.rows, -1, pull_.data() + first * term.rows, term.rows, 1, s_.data(), ld,
                              x(cols[first]), ld, ld);
      });
      if (term.num_active > 0)
        kernels.multiply_many(term.num_active, term.rows, 1, term.E.data(), 1, 4, s_.data(), ld, y(term.first_held), ld,
                              ld);
    }
    for (const int i : island.bounds) {
      const RowTerm& bound = terms_.bounds[i];
      for (const bool upper : {false, true}) {
        const Directions* given = upper ? data.upper : data.lower;
        if (given == nullptr || given->size() == 0) continue;
        const double* row = given->row(bound.index).data();
        gather(upper ? bound.upper_stiffness : bound.lower_stiffness, row, x(bound.index));
        if (bound.is_held && bound.holds_upper == upper) gather(-1, row, y(bound.held));
      }
    }

    if (!system.solve(static_cast<int>(columns_.size()), static_cast<int>(ld_), x_.data(), y_.data()))
      is_nonsmooth_ = true;

    for (const int v : island.velocities) scatter(1, x(v), delta.row(v).data());
    for (const int i : island.contacts) {
      if (!wanted.empty() && wanted[i] == 0) continue;
      const ContactTerm& term = terms_.contacts[i];
      const auto cols = program.J.cols(i);
      const auto block = program.J.block(i);
      load_rows(term, data);  // becomes J dδ + ds
      for_each_run(cols, [&](int first, int count) {
        kernels.multiply_many(term.rows, count, 1, block.data() + first, static_cast<int>(cols.size()), 1,
                              x(cols[first]), ld, s_.data(), ld, ld);
      });
      force_.assign(s_.size(), 0.0);
      kernels.multiply_many(term.rows, term.rows, -1, term.C.data(), 1, 4, s_.data(), ld, force_.data(), ld, ld);
      if (term.num_active > 0)
        kernels.multiply_many(term.rows, term.num_active, 1, term.E.data(), 4, 1, y(term.first_held), ld, force_.data(),
                              ld, ld);
      for (int a = 0; a < term.rows; ++a)
        scatter(1, force_.data() + to_size(a) * ld_, force.row(term.first_row + a).data());
    }
    for (std::size_t n = 0; bounds != nullptr && n < island.bounds.size(); ++n) {
      const RowTerm& bound = terms_.bounds[island.bounds[n]];
      double *lower = bounds->lower.row(bound.index).data(), *upper = bounds->upper.row(bound.index).data();
      scatter(bound.lower_stiffness, x(bound.index), lower);
      scatter(bound.upper_stiffness, x(bound.index), upper);
      if (bound.is_held) scatter(-1, y(bound.held), bound.holds_upper ? upper : lower);
    }
  }

  /// The packed rows of a contact's change.
  void load_rows(const ContactTerm& term, const Data& data) {
    s_.assign(to_size(term.rows) * ld_, 0.0);
    if (data.rows.size() == 0) return;
    for (int b = 0; b < term.rows; ++b)
      gather(1, data.rows.row(term.first_row + b).data(), s_.data() + to_size(b) * ld_);
  }

  SensitivityTerms terms_;
  bool is_nonsmooth_ = false, is_unique_ = true;
  std::vector<Island> islands_;  // the first count_ are in use
  std::size_t count_ = 0;
  std::vector<int> parent_, island_of_, local_;
  std::vector<int> columns_;
  std::vector<char> reached_;
  std::size_t ld_ = 0;     // padded number of columns_
  bool is_dense_ = false;  // columns_ are all there are
  std::vector<Eigen::Vector4d> block_;
  std::vector<double> metric_, row_, x_, y_, s_, pull_, force_;
};

Sensitivity::Sensitivity() : islands_(std::make_unique<Islands>()) {}
Sensitivity::~Sensitivity() = default;
Sensitivity::Sensitivity(Sensitivity&&) noexcept = default;
Sensitivity& Sensitivity::operator=(Sensitivity&&) noexcept = default;

bool Sensitivity::is_nonsmooth() const { return islands_->is_nonsmooth(); }
bool Sensitivity::is_unique() const { return islands_->is_unique(); }
int Sensitivity::num_rows() const { return islands_->terms().num_rows; }
int Sensitivity::first_row(int contact) const { return islands_->terms().contacts[contact].first_row; }

void Sensitivity::factor(const ContactProgram& program, const ContactSolution& solution, double energy_J,
                         double residual) {
  if (solution.delta.size() != program.nv || solution.force.size() != program.contacts.size() || !(energy_J > 0)) {
    throw std::invalid_argument("sensitivity: the solution is not one of this program, or its energy is not positive");
  }
  islands_->factor(program, solution, energy_J, residual);
}

void Sensitivity::solve(const ContactProgram& program, const ProgramChange& change, SolutionChange& result,
                        std::span<const char> wanted) {
  if (!wanted.empty() && wanted.size() != program.contacts.size())
    throw std::invalid_argument("sensitivity: one entry of `wanted` per contact, or none");
  islands_->apply(program, {change.gradient, -1, change.rows, &change.lower, &change.upper}, wanted, result.delta,
                  result.force);
  islands_->check_implied(program, change, result);
}

void Sensitivity::solve_transposed(const ContactProgram& program, const Directions& delta, const Directions& force,
                                   ProgramChange& result) {
  islands_->apply(program, {delta, 1, force, nullptr, nullptr}, {}, result.gradient, result.rows, &result);
  result.gradient *= -1;
}

}  // namespace deft::solvers::contact
