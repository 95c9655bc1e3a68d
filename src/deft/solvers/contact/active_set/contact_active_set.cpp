#include "deft/solvers/contact/active_set/contact_active_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

using Kind = RowName::Kind;

constexpr int kMaxColumns = 256, kMaxContacts = 512, kMaxRows = 128, kSlots = 136;
// Measured on benchmarks/data and on random problems: the active set costs its rows squared per change of a row, and
// needs few changes from a neighbouring solution; from nothing it needs about three changes per column.
constexpr int kMostRows = 30, kMostColumns = 30;    // of an island
constexpr int kFewIterations = 40, kThorough = 25;  // a thorough solve has 25 times as many
constexpr double kSmallestEnergy = 1e-12;           // floor of E0 [J]
constexpr double kNegative = 1e-13;                 // a row with a scaled multiplier below −this leaves
constexpr double kExact = 1e-13;                    // scaled slack of the rows of A that needs no refinement
constexpr double kStationary = 1e-11;               // error of Q⁻¹ beyond which the outcome is inconclusive
constexpr double kComplementary = 1e-10;  // |s λ| beyond which the same happens: rows that nearly depend on each other
constexpr double kConfirmed = 5e-9;       // the same for a thorough solve: half of what the certificate confirms
constexpr int kRefinements = 3;           // at most so many steps of iterative refinement

}  // namespace

// Whether the method is expected to be quicker than the interior point. From an interior point all rows of a contact
// carry force, far more than A can hold: there the interior point goes on with its own solution.
bool ContactActiveSet::is_worthwhile(bool known) const {
  for (int k = 0; k < islands_.size(); ++k) {
    const RowIsland island = islands_[k];
    if (known ? constraints_.num_loaded(island) > kMostRows : static_cast<int>(island.columns.size()) > kMostColumns)
      return false;
  }
  return true;
}

void ContactActiveSet::prepare(Effort effort) {
  const ContactProgram& program = constraints_.program();
  iterations_ = 0;
  limit_ = kIterationsPerColumn * program.nv + kFewIterations;
  if (effort == Effort::kThorough) limit_ *= kThorough;
  rows_.clear();
  w_.resize(kMaxRows);
  target_.resize(kMaxRows);
  by_slot_.resize(kSlots);
  local_.resize(program.nv);
  free_motion_.assign(program.nv, 0.0);
  for (int c = 0; c < program.nv; ++c) {
    if (program.b[c] != 0) inverse_.add_column(c, -program.b[c], free_motion_.data() + inverse_.start(c));
  }
  delta_ = free_motion_;
  residual_.assign(program.b.data(), program.b.data() + program.nv);
  double energy = 0;
  for (int c = 0; c < program.nv; ++c) energy -= program.b[c] * free_motion_[c];
  for (std::size_t i = 0; i < program.contacts.size(); ++i) {
    const double gap = program.contacts[i].gap;
    if (gap >= 0) continue;
    const double squared = constraints_.rough_square({Kind::kRay, static_cast<int>(i), 0}, inverse_);
    if (squared > 0) energy = std::max(energy, gap * gap / squared);
  }
  root_E0_ = std::sqrt(std::max(energy, kSmallestEnergy));
}

// Starts another island with an empty A.
void ContactActiveSet::begin_island(const RowIsland& island) {
  island_ = island;
  const int n = static_cast<int>(island.columns.size());
  ld_ = std::max(kernels::kLane, kernels::padded(n));
  factor_.clear(kMaxRows);
  clear_active_set();
  scan_.begin(constraints_, island_, inverse_, root_E0_ * root_E0_);
  g_.resize(std::max(g_.size(), to_size(n) * kSlots));
  z_.resize(std::max(z_.size(), to_size(kSlots) * ld_));
  island_free_motion_.assign(ld_, 0.0);
  island_delta_.assign(ld_, 0.0);
  for (int k = 0; k < n; ++k) {
    local_[island.columns[k]] = k;
    island_free_motion_[k] = free_motion_[island.columns[k]];
  }
}

// Fills the row and its vectors g and z = Q⁻¹g, in the slot on trial.
ContactActiveSet::Row ContactActiveSet::make_row(const RowName& name) {
  Row row{.name = name, .offset = constraints_.offset(name), .compliance = constraints_.compliance(name)};
  row.slot = free_slots_.back();
  row.is_free = name.kind == Kind::kEquality;
  double* g = g_.data() + row.slot;
  double* z = z_.data() + to_size(row.slot) * ld_;
  std::fill(z, z + ld_, 0.0);
  for (std::size_t k = 0; k < island_.columns.size(); ++k) g[k * kSlots] = 0.0;
  constraints_.for_each_entry(name, [&](int c, double value) {
    const int k = local_[c];
    g[to_size(k) * kSlots] = value;
    inverse_.add_column(c, value, z + (k - (c - inverse_.start(c))));
  });
  double squared = row.compliance;
  for (const int c : constraints_.cols(name)) {
    const std::size_t k = local_[c];
    squared += g[k * kSlots] * z[k];
  }
  row.norm = std::sqrt(squared);
  return row;
}

// g δ for all slots, δ of the island.
const double* ContactActiveSet::values_at(const double* delta) {
  std::fill(by_slot_.begin(), by_slot_.begin() + kernels::padded(slots_), 0.0);
  kernels::dense_kernels().multiply_many(1, static_cast<int>(island_.columns.size()), 1.0, delta, 0, 1, g_.data(),
                                         kSlots, by_slot_.data(), 0, slots_);
  return by_slot_.data();
}

// −(c + g δ₀), what W_AA λ must be for a slack of zero.
double ContactActiveSet::right_hand_side(const Row& row) const {
  double rhs = -row.offset;
  constraints_.for_each_entry(row.name, [&](int c, double value) { rhs -= value * island_free_motion_[local_[c]]; });
  return rhs;
}

bool ContactActiveSet::is_independent(const Row& row) {
  const double* products = values_at(z_.data() + to_size(row.slot) * ld_);
  const int n = factor_.size();
  int first = n;
  for (int a = n - 1; a >= 0; --a) {
    w_[a] = products[rows_[a].slot];
    if (w_[a] != 0) first = a;
  }
  return row.norm > 0 && factor_.independent(w_.data(), first, row.norm * row.norm);
}

void ContactActiveSet::set_active(const Row& row, bool on) {
  constraints_.set_active(row.name, on);
  scan_.set_active(row.name, on);
}

void ContactActiveSet::add_row(const Row& row) {
  free_slots_.pop_back();
  if (free_slots_.empty()) free_slots_.push_back(slots_++);
  rows_.push_back(row);
  set_active(row, true);
  ++iterations_;
}

// @returns false where the row depends on A, or A is full.
bool ContactActiveSet::add_if_independent(const Row& row) {
  if (factor_.full() || !is_independent(row)) return false;
  append_row(row);
  return true;
}

// Of a row that was found independent.
void ContactActiveSet::append_row(const Row& row) {
  factor_.append(right_hand_side(row));
  add_row(row);
}

void ContactActiveSet::remove_row(int k) {
  factor_.remove(k);
  set_active(rows_[k], false);
  free_slots_.insert(free_slots_.end() - 1, rows_[k].slot);  // the row on trial keeps its own
  rows_.erase(rows_.begin() + k);
  ++iterations_;
}

void ContactActiveSet::clear_active_set() {
  for (const Row& row : rows_) set_active(row, false);
  rows_.clear();
  free_slots_.assign(1, 0);
  slots_ = 1;
}

// A becomes the rows that carried force last time, with their multipliers: all at once, or one by one where they depend
// on each other. @returns false where an equality depends on others.
bool ContactActiveSet::recall_active_set() {
  recalled_.clear();
  constraints_.take_multipliers(island_,
                                [&](const RowName& name, double lambda) { recalled_.push_back({name, lambda}); });
  if (recalled_.empty() || add_remembered_at_once()) return true;
  for (const Remembered& old : recalled_) {
    Row row = make_row(old.name);
    row.lambda = old.lambda;
    if (is_loaded(row) && !add_if_independent(row) && row.is_free) return false;
  }
  return true;
}

// By one factorisation. @returns false, with A empty, where the rows are too many or not independent.
bool ContactActiveSet::add_remembered_at_once() {
  if (recalled_.size() > to_size(kMaxRows)) return false;
  for (const Remembered& old : recalled_) {
    Row row = make_row(old.name);
    row.lambda = old.lambda;
    if (is_loaded(row)) add_row(row);
  }
  const int n = static_cast<int>(rows_.size());
  const double* free_values = values_at(island_free_motion_.data());
  for (int k = 0; k < n; ++k) target_[k] = -rows_[k].offset - free_values[k];  // slots are in the order of rows_
  factor_.begin(n);
  kernels::dense_kernels().multiply_many(n, static_cast<int>(island_.columns.size()), 1.0, z_.data(), ld_, 1, g_.data(),
                                         kSlots, &factor_.entry(0, 0), factor_.stride(), n);
  for (int k = 0; k < n; ++k) factor_.entry(k, k) = rows_[k].norm * rows_[k].norm;
  if (factor_.factorise(n, target_.data())) return true;
  clear_active_set();
  return false;
}

// To the maximum of the dual on A; rows whose multipliers would become negative leave. @returns false at the limit.
bool ContactActiveSet::climb() {
  while (iterations_ < limit_) {
    factor_.solve(target_.data());
    double step = 1;
    int blocking = -1;
    for (int k = 0; k < factor_.size(); ++k) {
      const Row& row = rows_[k];
      if (row.is_free || target_[k] * row.norm >= -kNegative * root_E0_) continue;
      const double reach = row.lambda / (row.lambda - target_[k]);
      if (reach < step) {
        step = reach;
        blocking = k;
      }
    }
    for (int k = 0; k < factor_.size(); ++k) rows_[k].lambda += step * (target_[k] - rows_[k].lambda);
    if (blocking < 0) return true;
    remove_row(blocking);
  }
  return false;
}

// A violated row joins; one that depends on A in place of the first row whose multiplier becomes zero. @returns false
// where none does: no motion satisfies them all.
bool ContactActiveSet::exchange(const Row& row) {
  if (factor_.full()) return false;
  if (is_independent(row)) {
    append_row(row);
    return true;
  }
  factor_.null_direction(target_.data());
  double step = std::numeric_limits<double>::infinity();
  int blocking = -1;
  for (int k = 0; k < factor_.size(); ++k) {
    if (rows_[k].is_free || !(target_[k] < 0)) continue;
    const double reach = -rows_[k].lambda / target_[k];
    if (reach < step) {
      step = reach;
      blocking = k;
    }
  }
  if (blocking < 0) return false;
  for (int k = 0; k < factor_.size(); ++k) rows_[k].lambda += step * target_[k];
  remove_row(blocking);
  Row again = row;
  again.lambda = step;
  return add_if_independent(again);
}

// δ = Q⁻¹(Gᵀλ − b), of the island.
void ContactActiveSet::update_motion() {
  std::copy(island_free_motion_.begin(), island_free_motion_.end(), island_delta_.begin());
  std::fill(by_slot_.begin(), by_slot_.begin() + slots_, 0.0);
  for (const Row& row : rows_) by_slot_[row.slot] = row.lambda;
  kernels::dense_kernels().multiply_many(1, slots_, 1.0, by_slot_.data(), 0, 1, z_.data(), ld_, island_delta_.data(), 0,
                                         ld_);
}

// The row outside A that δ violates most, and by more than rounding.
std::optional<RowName> ContactActiveSet::most_violated() {
  for (std::size_t k = 0; k < island_.columns.size(); ++k) delta_[island_.columns[k]] = island_delta_[k];
  return scan_.most_violated(island_delta_.data(), delta_.data());
}

// One step of iterative refinement on the rows of A. @returns whether it was needed.
bool ContactActiveSet::refine_once() {
  double largest = 0;
  const double* values = values_at(island_delta_.data());
  for (int k = 0; k < factor_.size(); ++k) {
    const Row& row = rows_[k];
    target_[k] = -(values[row.slot] + row.offset + row.compliance * row.lambda);
    largest = std::max(largest, std::abs(target_[k]) / row.norm);
  }
  if (largest <= kExact * root_E0_) return false;
  factor_.solve_for(target_.data());
  for (int k = 0; k < factor_.size(); ++k) rows_[k].lambda += target_[k];
  update_motion();
  return true;
}

// At what seems to be the optimum: its last digits, and the row that is violated then.
std::optional<RowName> ContactActiveSet::refine() {
  bool refined = false;
  for (int k = 0; k < kRefinements && refine_once(); ++k) refined = true;
  return refined ? most_violated() : std::nullopt;
}

// The dual active-set method. @returns false where rows cannot be satisfied together, or at the limit.
bool ContactActiveSet::optimise() {
  while (climb()) {
    update_motion();
    std::optional<RowName> worst = most_violated();
    if (!worst) worst = refine();
    if (!worst) return true;
    if (!exchange(make_row(*worst))) return false;
  }
  return false;
}

// |Qδ + b − Gᵀλ| in the metric of Q⁻¹ over √E0: what rounding in Q⁻¹ left. `residual_` is b − Gᵀλ.
double ContactActiveSet::stationarity() {
  const ContactProgram& program = constraints_.program();
  for (int k = 0; k < program.Q.num_blocks(); ++k) {
    const int start = program.Q.start(k), n = program.Q.size(k);
    const double* Q = program.Q.block(k).data();
    for (int c = 0; c < n; ++c) {
      for (int r = 0; r < n; ++r) residual_[start + r] += 0.5 * (Q[c * n + r] + Q[r * n + c]) * delta_[start + c];
    }
  }
  scaled_residual_.assign(program.nv, 0.0);
  for (int c = 0; c < program.nv; ++c)
    inverse_.add_column(c, residual_[c], scaled_residual_.data() + inverse_.start(c));
  double squared = 0;
  for (int c = 0; c < program.nv; ++c) squared += residual_[c] * scaled_residual_[c];
  return std::sqrt(std::abs(squared)) / root_E0_;
}

// max |s_r λ_r| over A, over E0: what the refinement left where multipliers are large.
double ContactActiveSet::complementarity() {
  double largest = 0;
  const double* values = values_at(island_delta_.data());
  for (const Row& row : rows_) {
    const double slack = values[row.slot] + row.offset + row.compliance * row.lambda;
    largest = std::max(largest, std::abs(slack * row.lambda));
  }
  return largest / (root_E0_ * root_E0_);
}

// Hands the multipliers of the island over. @returns false where one is negative.
bool ContactActiveSet::hand_over_multipliers() {
  for (Row& row : rows_) {
    constraints_.for_each_entry(row.name, [&](int c, double value) { residual_[c] -= value * row.lambda; });
    if (!row.is_free && row.lambda * row.norm < -kTouching * root_E0_) return false;
    if (!row.is_free) row.lambda = std::max(0.0, row.lambda);  // a rounding error below zero
    constraints_.set_multiplier(row.name, row.lambda);
  }
  int last = -1;
  for (const Row& row : rows_) {
    if (row.name.kind != Kind::kRay || row.name.index == last || !(row.lambda > 0)) continue;
    last = row.name.index;
    constraints_.share_among_duplicates(island_, last);
  }
  return true;
}

bool ContactActiveSet::is_applicable(const ContactProgram& program) {
  if (program.nv > kMaxColumns || program.contacts.size() > kMaxContacts || !constraints_.assign(program) ||
      !inverse_.update(program))
    return false;
  for (const Eigen::VectorXd* bound : {&program.lower, &program.upper}) {
    const double closed = bound == &program.lower ? 1.0 : -1.0;  // +∞ below or −∞ above: nothing is feasible
    for (const double x : *bound) {
      if (std::isinf(x) && x * closed > 0) return false;
    }
  }
  return true;
}

// @returns whether the optimum was found, to the given complementarity and with no negative multiplier.
bool ContactActiveSet::solve_island(double complementary) {
  return recall_active_set() && optimise() && complementarity() <= complementary && hand_over_multipliers();
}

ActiveSetOutcome ContactActiveSet::solve(const ContactProgram& program, WarmMemory& memory, ContactSolution& solution,
                                         Effort effort) {
  if (!is_applicable(program)) return ActiveSetOutcome::kNotApplicable;
  const bool known = memory.valid_for(program);
  islands_.split(constraints_, inverse_);
  constraints_.recall(known ? &memory : nullptr);
  if (effort == Effort::kCheap && !is_worthwhile(known)) return ActiveSetOutcome::kNotApplicable;
  prepare(effort);
  bool unique = true;
  for (int k = 0; k < islands_.size(); ++k) {
    begin_island(islands_[k]);
    if (!solve_island(effort == Effort::kThorough ? kConfirmed : kComplementary))
      return ActiveSetOutcome::kInconclusive;
    unique = unique && are_forces_unique();
  }
  if (!(stationarity() <= kStationary)) return ActiveSetOutcome::kInconclusive;
  constraints_.store(delta_.data(), memory);
  constraints_.unpack(delta_.data(), solution);
  solution.motion_unique = true;
  solution.forces_unique = unique;
  return ActiveSetOutcome::kSolved;
}

}  // namespace deft::solvers::contact
