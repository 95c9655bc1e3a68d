// Could other forces give the motion that the active set found?

#include <algorithm>
#include <bit>
#include <cmath>

#include "deft/solvers/contact/active_set/contact_active_set.hpp"

namespace deft::solvers::contact {
namespace {

using Kind = RowName::Kind;

// |g| up to which a row is recognised as closed by kTouching; of longer ones less slack is allowed.
constexpr double kLongestRow = 1e3;

}  // namespace

// What the closed rays of a contact in space allow its force to do, beyond the span of the loaded ones: to grow along a
// ray (closed_), or to change along it either way (two_sided_). More rays would only repeat directions of the cone.
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
    (inside != 0 && outside != 0 ? two_sided_ : closed_).push_back(ray);
  }
}

// The closed rows whose forces may grow (closed_) or change either way (two_sided_). Rows without force leave A,
// and so do compliant ones, whose forces the motion fixes.
void ContactActiveSet::gather_closed() {
  closed_.clear();
  two_sided_.clear();
  for (int k = factor_.size() - 1; k >= 0; --k) {
    const Row& row = rows_[k];
    if (row.is_free || (row.compliance == 0 && row.lambda * row.norm > kLoaded * root_E0_)) continue;
    remove_row(k);
  }
  double softest = 0;
  for (const int c : island_.columns) softest = std::max(softest, inverse_.diagonal(c));
  const double near = kLongestRow * kTouching * root_E0_ * std::sqrt(softest);
  int contact = -1;
  std::uint64_t closed = 0, loaded = 0;
  const auto end_contact = [&] {
    if (contact >= 0) add_directions(contact, closed, loaded);
    contact = -1;
    closed = loaded = 0;
  };
  constraints_.for_each_inequality(island_, near, [&](const RowName& name, double slack) {
    const bool in_space = name.kind == Kind::kRay && constraints_.rows_of(name.index) == 3;
    if (!in_space || name.index != contact) end_contact();
    if (constraints_.compliance(name) > 0 || (name.kind == Kind::kRay && constraints_.is_duplicate(name.index))) return;
    const bool active = constraints_.active(name);
    if (!active) {
      const double squared = constraints_.rough_square(name, inverse_);
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
// only grow. There is no such p exactly when some x has g_r x = 0 on the loaded and two-sided rows and g_r x ≥ norm_r
// on the others (Gordan): the same method finds x, or the dependent rows that show p. It uses up A and the island's δ.
bool ContactActiveSet::no_other_forces() {
  gather_closed();
  for (const RowName& name : two_sided_) {
    if (!add_if_independent(make_row(name))) return false;
  }
  closed_norms_.clear();
  for (const RowName& name : closed_) {
    const Row row = make_row(name);
    if (!is_independent(row)) return false;
    closed_norms_.push_back(row.norm);
  }
  return closed_.size() < 2 || can_open_all();
}

// Looks for the x above from the loaded rows and those that join them.
bool ContactActiveSet::can_open_all() {
  for (Row& row : rows_) {
    row.is_free = true;
    row.lambda = 0;
  }
  factor_.clear_rhs();
  std::fill(island_free_motion_.begin(), island_free_motion_.end(), 0.0);
  root_E0_ = 1;
  limit_ = iterations_ + kIterationsPerColumn * static_cast<int>(island_.columns.size() + closed_.size());
  while (climb()) {
    update_motion();
    std::size_t worst = closed_.size();
    double least = -kTouching;
    for (std::size_t i = 0; i < closed_.size(); ++i) {
      if (constraints_.active(closed_[i])) continue;
      double value = -closed_norms_[i];
      constraints_.for_each_entry(closed_[i], [&](int c, double g) { value += g * island_delta_[local_[c]]; });
      if (value < least * closed_norms_[i]) {
        least = value / closed_norms_[i];
        worst = i;
      }
    }
    if (worst == closed_.size()) return true;
    Row row = make_row(closed_[worst]);
    row.offset = -row.norm;
    if (!exchange(row)) return false;
  }
  return false;
}

// Counters and E0 are those of the solve again afterwards.
bool ContactActiveSet::are_forces_unique() {
  const int iterations = iterations_, limit = limit_;
  const double root_E0 = root_E0_;
  const bool unique = no_other_forces();
  iterations_ = iterations;
  limit_ = limit;
  root_E0_ = root_E0;
  return unique;
}

}  // namespace deft::solvers::contact
