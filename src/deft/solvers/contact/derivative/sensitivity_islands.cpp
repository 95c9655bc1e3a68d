// Which velocities depend on each other at a solution, and the factors of their systems.

#include "deft/solvers/contact/derivative/sensitivity_islands.hpp"

#include <numeric>

namespace deft::solvers::contact {
namespace {

constexpr double kImplied = 1e-7;  // part of a redundant row outside the span of the active ones that is rounding
constexpr double kShared = 1e-6;   // part of a force that others may carry as well
constexpr double kFree = 1e-9;     // share of Q̃ that decides about motions that nothing else does

}  // namespace

void Sensitivity::Islands::Island::clear() {
  for (auto* list : {&velocities, &contacts, &bounds, &linear, &equality}) list->clear();
  num_active = num_compliant = 0;
}

int Sensitivity::Islands::Island::add_active_rows(int rows) {
  const int first = num_active;
  num_active += rows;
  return first;
}

void Sensitivity::Islands::factor(const ContactProgram& program, const ContactSolution& solution, double energy_J,
                                  double residual) {
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

int Sensitivity::Islands::root(int v) {
  while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
  return v;
}

void Sensitivity::Islands::join(std::span<const int> cols) {
  for (const int c : cols) parent_[root(c)] = root(cols.front());
}

// By blocks of inertia, by contacts that act and by all other rows.
void Sensitivity::Islands::couple_velocities(const ContactProgram& program) {
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
}

// In the order of their first velocities.
void Sensitivity::Islands::number_islands(int nv) {
  count_ = 0;
  island_of_.assign(nv, -1);
  local_.resize(nv);
  for (int v = 0; v < nv; ++v) {
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
}

void Sensitivity::Islands::place_contacts(const ContactProgram& program) {
  for (int i = 0; i < program.J.size(); ++i) {
    ContactTerm& term = terms_.contacts[i];
    if (!term.acts || program.J.cols(i).empty()) continue;
    Island& island = islands_[island_of_[program.J.cols(i).front()]];
    island.contacts.push_back(i);
    term.first_active = island.add_active_rows(term.num_active);
    if (term.stiff) island.num_compliant += term.num_active;
  }
}

/// Rows without columns say nothing about any velocity and are in no island.
template <class Cols>
void Sensitivity::Islands::place_rows(std::vector<RowTerm>& rows, std::vector<int> Island::* list, Cols cols) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<const int> moved = cols(rows[i].index);
    if (moved.empty()) continue;
    Island& island = islands_[island_of_[moved.front()]];
    (island.*list).push_back(static_cast<int>(i));
    if (rows[i].is_active) rows[i].active_row = island.add_active_rows(1);
  }
}

void Sensitivity::Islands::find_islands(const ContactProgram& program) {
  couple_velocities(program);
  number_islands(program.nv);
  place_contacts(program);
  place_rows(terms_.bounds, &Island::bounds, [](const int& v) { return std::span(&v, 1); });
  place_rows(terms_.linear, &Island::linear, [&](int i) { return program.linear.rows.cols(i); });
  place_rows(terms_.equality, &Island::equality, [&](int i) { return program.equality.rows.cols(i); });
}

void Sensitivity::Islands::add_blocks(const BlockDiagonal& blocks, Island& island, double factor) {
  for (int k = 0; k < blocks.num_blocks(); ++k) {
    if (blocks.size(k) == 0 || &islands_[island_of_[blocks.start(k)]] != &island) continue;
    const auto block = blocks.block(k);
    for (int r = 0; r < blocks.size(k); ++r) {
      double* H = island.system.H(local_[blocks.start(k) + r]);
      for (int c = 0; c < blocks.size(k); ++c) H[local_[blocks.start(k) + c]] += factor * block(r, c);
    }
  }
}

// H += JᵀCJ, G = EJ.
void Sensitivity::Islands::add_contact(const ContactProgram& program, int contact, ActiveSystem& system) {
  const ContactTerm& term = terms_.contacts[contact];
  const auto cols = program.J.cols(contact);
  const auto block = program.J.block(contact);
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
    for (int r = 0; r < term.num_active; ++r) system.G(term.first_active + r)[v] = term.E.row(r).dot(block_[c]);
  }
  for (int r = 0; term.stiff && r < term.num_active; ++r) system.make_compliant(term.first_active + r);
}

void Sensitivity::Islands::add_row(const RowBlocks& rows, const RowTerm& row, ActiveSystem& system) {
  const auto cols = rows.cols(row.index);
  const auto values = rows.block(row.index);
  for (std::size_t c = 0; c < cols.size(); ++c) {
    const double value = values(0, static_cast<Eigen::Index>(c));
    for (std::size_t d = 0; d < cols.size(); ++d)
      system.H(local_[cols[c]])[local_[cols[d]]] +=
          row.lower_stiffness * value * values(0, static_cast<Eigen::Index>(d));
    if (row.is_active) system.G(row.active_row)[local_[cols[c]]] = value;
  }
}

void Sensitivity::Islands::fill(const ContactProgram& program, Island& island) {
  ActiveSystem& system = island.system;
  system.reset(static_cast<int>(island.velocities.size()) + island.num_compliant, island.num_active,
               island.num_compliant);
  add_blocks(program.Q, island, 1);
  for (const int i : island.contacts) add_contact(program, i, system);
  for (const int i : island.bounds) {
    const RowTerm& bound = terms_.bounds[i];
    const int v = local_[bound.index];
    system.H(v)[v] += bound.lower_stiffness + bound.upper_stiffness;
    if (bound.is_active) system.G(bound.active_row)[v] = 1;
  }
  for (const int i : island.linear) add_row(program.linear.rows, terms_.linear[i], system);
  for (const int i : island.equality) add_row(program.equality.rows, terms_.equality[i], system);
}

// Of the variables of an island: Q̃, and 1 for those of compliant rows.
void Sensitivity::Islands::set_metric(const Island& island, int size) {
  metric_.clear();
  for (const int v : island.velocities) metric_.push_back(terms_.metric[v]);
  metric_.resize(size, 1.0);
}

// Where H is singular, penalties on the active rows change nothing in the answer; motions that are free even then
// become the least ones, measured by `masses`, or else by Q̃.
void Sensitivity::Islands::make_definite(const ContactProgram& program, Island& island) {
  ActiveSystem& system = island.system;
  if (system.factor()) return;
  system.add_penalties(metric_.data());
  if (system.factor()) return;
  is_unique_ = false;
  add_blocks(program.masses, island, kFree);
  if (system.factor()) return;
  for (int i = 0; i < system.size(); ++i) system.H(i)[i] += kFree * metric_[i];
  system.factor();
}

void Sensitivity::Islands::factor_island(const ContactProgram& program, Island& island) {
  fill(program, island);
  set_metric(island, island.system.size());
  make_definite(program, island);
  island.system.eliminate();
  // Sliding cones that share a load turn it differently for each way to share it, and each direction chooses its own.
  for (const int i : island.contacts) {
    const ContactTerm& term = terms_.contacts[i];
    is_nonsmooth_ |= term.bends && island.system.free_multiplier(term.first_active) > kShared;
  }
}

/// Whether the active rows say nothing about this one.
bool Sensitivity::Islands::is_free_row(const ContactProgram& program, const RedundantRow& redundant) {
  const auto cols = program.J.cols(redundant.contact);  // not empty
  Island& island = islands_[island_of_[cols.front()]];
  row_.assign(island.system.size(), 0.0);
  set_metric(island, island.system.size());
  for (std::size_t c = 0; c < cols.size(); ++c)
    row_[local_[cols[c]]] = column(program.J.block(redundant.contact), c).dot(redundant.e);
  return island.system.free_share(row_.data(), metric_.data()) > kImplied;
}

}  // namespace deft::solvers::contact
