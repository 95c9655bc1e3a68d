#include "deft/solvers/contact_active_set.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers {
namespace {

using Kind = RowName::Kind;

constexpr int kMaxColumns = 256, kMaxContacts = 512, kMaxRows = 128;
constexpr int kIterationsPerColumn = 4, kFewIterations = 40, kThorough = 25;  // a thorough solve has 25 times as many
constexpr double kSmallestEnergy = 1e-12;                                     // floor of E0 [J]
constexpr double kViolated = 1e-11;  // scaled slack below −this calls for a row
constexpr double kRounding =
    8 * std::numeric_limits<double>::epsilon();  // of the terms of a slack: nothing below it is known
constexpr double kNegative = 1e-13;              // scaled multiplier below −this asks its row to leave
constexpr double kLoaded = 1e-10;                // scaled multiplier above this is a force
constexpr double kTouching = 1e-9;               // scaled slack below this is closed
constexpr double kExact = 1e-13;                 // scaled slack of the rows of A that needs no refinement
constexpr double kStationary = 1e-11;            // error of Q⁻¹ beyond which the answer is left to others
constexpr double kComplementary = 1e-10;  // |s λ| beyond which the same happens: rows that nearly depend on each other
constexpr double kConfirmed = 5e-9;       // the same for a thorough solve: half of what the certificate confirms
constexpr double kShare = 0.7;            // rows violated by less than this part of the worst wait
constexpr double kLongestRow = 1e6;       // |g| up to which a closed row is recognised as such
constexpr int kRefinements = 3;

}  // namespace

void ContactActiveSet::prepare() {
  const ContactProgram& program = constraints_.program();
  const int nv = program.nv;
  width_ = constraints_.width();
  ld_ = padded(nv);
  iterations_ = 0;
  limit_ = kIterationsPerColumn * nv + kFewIterations;
  factor_.clear(kMaxRows);
  rows_.clear();
  empty_set();
  g_.resize(std::max(g_.size(), static_cast<std::size_t>(kMaxRows + 1) * width_));
  z_.resize(std::max(z_.size(), static_cast<std::size_t>(kMaxRows + 1) * ld_));
  w_.resize(kMaxRows);
  target_.resize(kMaxRows);
  delta_.resize(ld_);
  free_motion_.assign(ld_, 0.0);
  for (int c = 0; c < nv; ++c) {
    if (program.b[c] != 0) inverse_.add_column(c, -program.b[c], free_motion_.data());
  }
  double energy = 0;
  for (int c = 0; c < nv; ++c) energy -= program.b[c] * free_motion_[c];
  for (std::size_t i = 0; i < program.contacts.size(); ++i) {
    const double gap = program.contacts[i].gap;
    if (gap >= 0) continue;
    const double squared = rough_square({Kind::kRay, static_cast<int>(i), 0});
    if (squared > 0) energy = std::max(energy, gap * gap / squared);
  }
  root_E0_ = std::sqrt(std::max(energy, kSmallestEnergy));
}

// Fills the row and its vectors g and z = Q⁻¹g, in the slot on trial.
ContactActiveSet::Row ContactActiveSet::make_row(const RowName& name) {
  Row row{.name = name,
          .cols = constraints_.cols(name),
          .offset = constraints_.offset(name),
          .compliance = constraints_.compliance(name)};
  row.slot = free_slots_.back();
  row.free = name.kind == Kind::kEquality;
  double* g = this->g(row);
  double* z = this->z(row);
  std::fill(z, z + ld_, 0.0);
  constraints_.for_each_entry(name, [&, k = 0](int c, double value) mutable {
    g[k++] = value;
    inverse_.add_column(c, value, z);
    row.touches |= std::uint64_t{1} << (inverse_.block(c) % 64);
  });
  double squared = row.compliance;
  for (std::size_t k = 0; k < row.cols.size(); ++k) squared += g[k] * z[row.cols[k]];
  row.norm = std::sqrt(squared);
  return row;
}

// g_otherᵀ Q⁻¹ g_row.
double ContactActiveSet::product(const Row& other, const Row& row) {
  if (!(other.touches & row.touches)) return 0.0;
  const double* g = this->g(other);
  const double* z = this->z(row);
  const int* cols = other.cols.data();
  double total = 0;
  for (std::size_t k = 0; k < other.cols.size(); ++k) total += g[k] * z[cols[k]];
  return total;
}

// g_row δ + c_r + R_r λ_r.
double ContactActiveSet::slack(const Row& row) {
  const double* g = this->g(row);
  double slack = row.offset + row.compliance * row.lambda;
  for (std::size_t k = 0; k < row.cols.size(); ++k) slack += g[k] * delta_[row.cols[k]];
  return slack;
}

// |g|² in the metric of the diagonal of Q⁻¹: the scale of a row that needs no z.
double ContactActiveSet::rough_square(const RowName& name) const {
  double squared = 0;
  constraints_.for_each_entry(name, [&](int c, double value) { squared += value * value * inverse_.diagonal(c); });
  return squared;
}

// −(c + g δ₀), what W_AA λ must be for a slack of zero.
double ContactActiveSet::right_hand_side(const Row& row) {
  double rhs = -row.offset;
  const double* g = this->g(row);
  for (std::size_t k = 0; k < row.cols.size(); ++k) rhs -= g[k] * free_motion_[row.cols[k]];
  return rhs;
}

bool ContactActiveSet::independent(const Row& row) {
  const int n = factor_.size();
  int first = n;
  for (int a = 0; a < n; ++a) {
    w_[a] = product(rows_[a], row);
    if (first == n && w_[a] != 0) first = a;
  }
  return row.norm > 0 && factor_.independent(w_.data(), first, row.norm * row.norm);
}

void ContactActiveSet::join(const Row& row) {
  free_slots_.pop_back();
  rows_.push_back(row);
  constraints_.set_active(row.name, true);
  ++iterations_;
}

// Lets the row join A unless it depends on A.
bool ContactActiveSet::admit(const Row& row) {
  if (factor_.full() || !independent(row)) return false;
  factor_.append(right_hand_side(row));
  join(row);
  return true;
}

void ContactActiveSet::leave(int k) {
  factor_.remove(k);
  constraints_.set_active(rows_[k].name, false);
  free_slots_.push_back(rows_[k].slot);
  rows_.erase(rows_.begin() + k);
  ++iterations_;
}

void ContactActiveSet::empty_set() {
  for (const Row& row : rows_) constraints_.set_active(row.name, false);
  rows_.clear();
  free_slots_.clear();
  for (int slot = kMaxRows; slot >= 0; --slot) free_slots_.push_back(slot);
}

// The rows that carried force last time, with their multipliers: all at once, or one by one where they depend on each
// other.
// @returns false where an equality depends on others.
bool ContactActiveSet::recall(WarmMemory* memory) {
  recalled_.clear();
  constraints_.recall(memory, [&](const RowName& name, double lambda) { recalled_.push_back({name, lambda}); });
  if (recalled_.size() <= static_cast<std::size_t>(kMaxRows)) {
    int n = 0;
    for (const Remembered& old : recalled_) {
      Row row = make_row(old.name);
      if (!row.free && !(old.lambda * row.norm > kLoaded * root_E0_)) continue;
      row.lambda = old.lambda;
      for (int a = 0; a < n; ++a) factor_.entry(a, n) = product(rows_[a], row);
      factor_.entry(n, n) = row.norm * row.norm;
      target_[n++] = right_hand_side(row);
      join(row);
    }
    if (factor_.factorise(n, target_.data())) return true;
    empty_set();
  }
  for (const Remembered& old : recalled_) {
    Row row = make_row(old.name);
    row.lambda = old.lambda;
    if (!row.free && !(row.lambda * row.norm > kLoaded * root_E0_)) continue;
    if (!admit(row) && row.free) return false;
  }
  return true;
}

// To the maximum of the dual on A, dropping the rows whose multipliers want to be negative. @returns false at the
// limit.
bool ContactActiveSet::climb() {
  while (iterations_ < limit_) {
    factor_.solve(target_.data());
    double step = 1;
    int blocking = -1;
    for (int k = 0; k < factor_.size(); ++k) {
      const Row& row = rows_[k];
      if (row.free || target_[k] * row.norm >= -kNegative * root_E0_) continue;
      const double reach = row.lambda / (row.lambda - target_[k]);
      if (reach < step) {
        step = reach;
        blocking = k;
      }
    }
    for (int k = 0; k < factor_.size(); ++k) rows_[k].lambda += step * (target_[k] - rows_[k].lambda);
    if (blocking < 0) return true;
    leave(blocking);
  }
  return false;
}

// A violated row that depends on A joins by driving another one out. @returns false where none can leave: no motion
// satisfies them all.
bool ContactActiveSet::exchange(const Row& row) {
  if (factor_.full() || independent(row)) return admit(row);
  factor_.null_direction(target_.data());
  double step = std::numeric_limits<double>::infinity();
  int blocking = -1;
  for (int k = 0; k < factor_.size(); ++k) {
    if (rows_[k].free || !(target_[k] < 0)) continue;
    const double reach = -rows_[k].lambda / target_[k];
    if (reach < step) {
      step = reach;
      blocking = k;
    }
  }
  if (blocking < 0) return false;
  for (int k = 0; k < factor_.size(); ++k) rows_[k].lambda += step * target_[k];
  leave(blocking);
  Row again = make_row(row.name);  // in the slot that is on trial now
  again.offset = row.offset;
  again.lambda = step;
  return admit(again);
}

// δ = Q⁻¹(Gᵀλ − b).
void ContactActiveSet::move() {
  std::copy(free_motion_.begin(), free_motion_.begin() + ld_, delta_.begin());
  int end = 0;
  for (const Row& row : rows_) end = std::max(end, row.slot + 1);
  by_slot_.assign(end, 0.0);
  for (const Row& row : rows_) by_slot_[row.slot] = row.lambda;
  dense_kernels().multiply_transposed(end, ld_, z_.data(), by_slot_.data(), delta_.data());
}

// The rows outside A that δ violates by more than rounding; of each contact the worst one.
void ContactActiveSet::find_violated() {
  violations_.clear();
  constraints_.evaluate(delta_.data());
  constraints_.for_each_violated([&](const RowName& name, double slack) {
    double squared = 0, size = std::abs(constraints_.offset(name));
    constraints_.for_each_entry(name, [&](int c, double value) {
      squared += value * value * inverse_.diagonal(c);
      size += std::abs(value * delta_[c]);
    });
    const double scale = std::sqrt(squared) * root_E0_;
    if (-slack > std::max(kViolated * scale, kRounding * size)) violations_.push_back({name, -slack / scale});
  });
}

// The badly violated rows join A together, or else the worst one by exchange. @returns false where that is impossible.
bool ContactActiveSet::let_in_violated() {
  const auto less = [](const Violation& a, const Violation& b) { return a.scaled < b.scaled; };
  const Violation worst = *std::max_element(violations_.begin(), violations_.end(), less);
  bool joined = false;
  for (const Violation& violation : violations_) {
    if (violation.scaled >= kShare * worst.scaled) joined = admit(make_row(violation.name)) || joined;
  }
  return joined || exchange(make_row(worst.name));
}

// One step of iterative refinement on the rows of A. @returns whether it was needed.
bool ContactActiveSet::refine() {
  double largest = 0;
  for (int k = 0; k < factor_.size(); ++k) {
    const Row& row = rows_[k];
    target_[k] = -slack(row);
    largest = std::max(largest, std::abs(target_[k]) / row.norm);
  }
  if (largest <= kExact * root_E0_) return false;
  factor_.solve_for(target_.data());
  for (int k = 0; k < factor_.size(); ++k) rows_[k].lambda += target_[k];
  move();
  return true;
}

bool ContactActiveSet::optimise() {
  while (climb()) {
    move();
    find_violated();
    if (violations_.empty()) {
      bool refined = false;
      for (int k = 0; k < kRefinements && refine(); ++k) refined = true;
      if (refined) find_violated();
      if (violations_.empty()) return true;
    }
    if (!let_in_violated()) return false;
  }
  return false;
}

// |Qδ + b − Gᵀλ| in the metric of Q⁻¹ over √E0: what rounding in Q⁻¹ left.
double ContactActiveSet::stationarity() {
  const ContactProgram& program = constraints_.program();
  residual_.assign(program.b.data(), program.b.data() + program.nv);
  for (int k = 0; k < program.Q.num_blocks(); ++k) {
    const int start = program.Q.start(k), n = program.Q.size(k);
    const double* Q = program.Q.block(k).data();
    for (int c = 0; c < n; ++c) {
      for (int r = 0; r < n; ++r) residual_[start + r] += 0.5 * (Q[c * n + r] + Q[r * n + c]) * delta_[start + c];
    }
  }
  for (const Row& row : rows_) {
    const double* g = this->g(row);
    for (std::size_t k = 0; k < row.cols.size(); ++k) residual_[row.cols[k]] -= g[k] * row.lambda;
  }
  scaled_residual_.assign(ld_, 0.0);
  for (int c = 0; c < program.nv; ++c) inverse_.add_column(c, residual_[c], scaled_residual_.data());
  double squared = 0;
  for (int c = 0; c < program.nv; ++c) squared += residual_[c] * scaled_residual_[c];
  return std::sqrt(std::abs(squared)) / root_E0_;
}

// max |s_r λ_r| over A, over E0: what the refinement left where multipliers are large.
double ContactActiveSet::complementarity() {
  double largest = 0;
  for (const Row& row : rows_) largest = std::max(largest, std::abs(slack(row) * row.lambda));
  return largest / (root_E0_ * root_E0_);
}

ActiveSetOutcome ContactActiveSet::solve(const ContactProgram& program, WarmMemory& memory, ContactSolution& solution,
                                         bool thorough) {
  if (program.nv > kMaxColumns || program.contacts.size() > kMaxContacts || !constraints_.assign(program) ||
      !inverse_.update(program))
    return ActiveSetOutcome::kNotApplicable;
  for (const Eigen::VectorXd* bound : {&program.lower, &program.upper}) {
    const double closed = bound == &program.lower ? 1.0 : -1.0;  // +∞ below or −∞ above: nothing is feasible
    for (const double x : *bound) {
      if (std::isinf(x) && x * closed > 0) return ActiveSetOutcome::kNotApplicable;
    }
  }
  prepare();
  if (thorough) limit_ *= kThorough;
  const bool known = memory.valid_for(program);
  if (!recall(known ? &memory : nullptr) || !optimise()) return ActiveSetOutcome::kGaveUp;
  if (!(stationarity() <= kStationary) || !(complementarity() <= (thorough ? kConfirmed : kComplementary)))
    return ActiveSetOutcome::kGaveUp;
  constraints_.clear_multipliers();
  for (Row& row : rows_) {
    if (!row.free && row.lambda * row.norm < -kTouching * root_E0_) return ActiveSetOutcome::kGaveUp;
    if (!row.free) row.lambda = std::max(0.0, row.lambda);  // a rounding error below zero
    constraints_.set_multiplier(row.name, row.lambda);
  }
  constraints_.share_among_twins();
  constraints_.store(delta_.data(), memory);
  constraints_.unpack(delta_.data(), solution);
  solution.motion_unique = true;
  const int iterations = iterations_;
  solution.forces_unique = forces_unique();
  iterations_ = iterations;
  return ActiveSetOutcome::kSolved;
}

// What the closed rays of a contact in space allow its force to do, beyond the span of the loaded ones: to grow along a
// ray (closed_), or to change along it either way (loose_). More rays would only repeat directions of the cone.
void ContactActiveSet::add_directions(int contact, std::uint64_t closed, std::uint64_t loaded) {
  const auto bits = [](std::uint64_t first, std::uint64_t end) {
    return (end < 64 ? (std::uint64_t{1} << end) - 1 : ~std::uint64_t{0}) & ~((std::uint64_t{1} << first) - 1);
  };
  const auto grow = [&](int ray) { closed_.push_back({Kind::kRay, contact, ray}); };
  const int count = std::popcount(loaded);
  if (count == 0) {
    for (std::uint64_t rest = closed; rest != 0; rest &= rest - 1) grow(std::countr_zero(rest));
  } else if (count == 1) {  // the force lies on an edge of the cone: its neighbours span the rest
    const int ray = std::countr_zero(loaded);
    const std::uint64_t after = closed & bits(ray + 1, 64), before = closed & bits(0, ray);
    if ((after | before) == 0) return;
    const int next = std::countr_zero(after != 0 ? after : before);
    const int previous = 63 - std::countl_zero(before != 0 ? before : after);
    grow(next);
    if (previous != next) grow(previous);
  } else if (count == 2) {  // on a facet, or between rays on both sides
    const int first = std::countr_zero(loaded), last = 63 - std::countl_zero(loaded);
    const std::uint64_t inside = closed & bits(first + 1, last), outside = closed & ~bits(first, last + 1);
    if ((inside | outside) == 0) return;
    const RowName ray{Kind::kRay, contact, std::countr_zero(inside | outside)};
    (inside != 0 && outside != 0 ? loose_ : closed_).push_back(ray);
  }
}

// The closed rows whose forces may grow (closed_) or change either way (loose_). Rows that carry nothing leave A, and
// so do compliant ones, whose forces the motion fixes.
void ContactActiveSet::gather_closed() {
  closed_.clear();
  loose_.clear();
  for (int k = factor_.size() - 1; k >= 0; --k) {
    const Row& row = rows_[k];
    if (row.free || (row.compliance == 0 && row.lambda * row.norm > kLoaded * root_E0_)) continue;
    leave(k);
  }
  double softest = 0;
  for (int c = 0; c < constraints_.program().nv; ++c) softest = std::max(softest, inverse_.diagonal(c));
  const double near = kLongestRow * kTouching * root_E0_ * std::sqrt(softest);
  int contact = -1;
  std::uint64_t closed = 0, loaded = 0;
  const auto end_contact = [&] {
    if (contact >= 0) add_directions(contact, closed, loaded);
    contact = -1;
    closed = loaded = 0;
  };
  constraints_.for_each_inequality(near, [&](const RowName& name, double slack) {
    const bool in_space = name.kind == Kind::kRay && constraints_.rows_of(name.index) == 3;
    if (!in_space || name.index != contact) end_contact();
    if (constraints_.compliance(name) > 0 || (name.kind == Kind::kRay && constraints_.is_twin(name.index))) return;
    const bool active = constraints_.active(name);
    if (!active) {
      const double squared = rough_square(name);
      if (!(squared > 0) || slack > kTouching * std::sqrt(squared) * root_E0_) return;
    }
    if (in_space) {
      contact = name.index;
      (active ? loaded : closed) |= std::uint64_t{1} << name.ray;
    } else if (!active) {
      closed_.push_back(name);
    }
  });
  end_contact();
}

// Could other forces give the same motion? They differ by p with Gᵀp = 0 over the closed rows, p ≥ 0 on those that may
// only grow. There is no such p exactly when some x has g_r x = 0 on the loaded and loose rows and g_r x ≥ norm_r on
// the others (Gordan): the same method finds x, or the dependent rows that show p. It uses up A and δ.
bool ContactActiveSet::forces_unique() {
  gather_closed();
  for (const RowName& name : loose_) {
    if (!admit(make_row(name))) return false;
  }
  for (const RowName& name : closed_) {
    if (!independent(make_row(name))) return false;
  }
  if (closed_.size() < 2) return true;
  for (Row& row : rows_) {
    row.free = true;
    row.lambda = 0;
  }
  factor_.clear_rhs();
  std::fill(free_motion_.begin(), free_motion_.end(), 0.0);
  root_E0_ = 1;
  limit_ = iterations_ + kIterationsPerColumn * (constraints_.program().nv + static_cast<int>(closed_.size()));
  while (climb()) {
    move();
    Row worst;
    double least = 0;
    for (const RowName& name : closed_) {
      if (constraints_.active(name)) continue;
      Row row = make_row(name);
      double value = 0;
      for (std::size_t k = 0; k < row.cols.size(); ++k) value += g(row)[k] * delta_[row.cols[k]];
      value = value / row.norm - 1;
      if (value < least - kTouching) {
        least = value;
        worst = row;
      }
    }
    if (least == 0) return true;
    worst = make_row(worst.name);
    worst.offset = -worst.norm;
    if (!exchange(worst)) return false;
  }
  return false;
}

}  // namespace deft::solvers
