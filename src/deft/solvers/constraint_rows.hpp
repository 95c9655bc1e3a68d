#pragma once
// The inequality and equality rows of an exact polyhedral program, one by one. Private to src/deft/solvers.

#include <cmath>
#include <cstdint>
#include <vector>

#include "deft/solvers/program.hpp"
#include "deft/solvers/ray_layout.hpp"
#include "deft/solvers/warm_memory.hpp"

namespace deft::solvers {

/// What a row is: ray `ray` of contact `index`, linear row or equality `index`, lower or upper bound of column `index`.
struct RowName {
  enum class Kind : std::uint8_t { kRay, kLinear, kEquality, kLower, kUpper };
  Kind kind = Kind::kRay;
  int index = 0, ray = 0;
};

/// Rows g_rᵀδ + c_r (+ R_r λ_r) ≥ 0 of one program, with their slacks and multipliers in physical units. Keeps scratch.
class ConstraintRows {
 public:
  using Kind = RowName::Kind;

  /// Takes a checked program, which must outlive the use. @returns false where it is smoothed, has cones in space, or
  /// more than 64 rays.
  bool assign(const ContactProgram& program);
  const ContactProgram& program() const { return *program_; }
  /// Largest number of columns of a row.
  int width() const { return width_; }

  /// Calls visit(column, g) for the entries of a row.
  template <class Visit>
  void for_each_entry(const RowName& row, Visit visit) const;
  /// Columns of a row, in the order of for_each_entry.
  std::span<const int> cols(const RowName& row) const;
  double offset(const RowName& row) const;
  /// How many rows of J the law of contact i uses.
  int rows_of(int i) const { return layouts_[i].rows; }
  double compliance(const RowName& row) const { return row.kind == Kind::kRay ? layouts_[row.index].compliance : 0.0; }

  /// Computes the slacks at δ (without R λ).
  void evaluate(const double* delta);
  double slack(const RowName& row) const;
  /// Calls visit(name, slack) for every row but the equalities whose slack is at most `most`.
  template <class Visit>
  void for_each_inequality(double most, Visit visit) const;
  /// Calls visit(name, slack) for the rows that are not active and have a negative slack; of each contact for the worst
  /// one.
  template <class Visit>
  void for_each_violated(Visit visit) const;

  /// Which rows are active: a flag per row.
  bool active(const RowName& row) const { return flags(row)[at(row)] != 0; }
  void set_active(const RowName& row, bool on) { flags(row)[at(row)] = on; }

  /// Multipliers of all rows, from those of the active ones.
  void clear_multipliers();
  void set_multiplier(const RowName& row, double lambda);
  /// Identical contacts share their forces evenly.
  void share_among_twins();
  /// Contact i repeats an earlier one that carries force (after share_among_twins).
  bool is_twin(int i) const { return twin_[i] != 0; }
  /// Calls visit(name, λ) for every equality, then for every remembered row with λ > 0; λ is 0 for equalities nobody
  /// remembers.
  template <class Visit>
  void recall(WarmMemory* memory, Visit visit) const;
  void store(const double* delta, WarmMemory& memory) const;
  /// Fills everything but the uniqueness flags; `evaluate` at δ came before.
  void unpack(const double* delta, ContactSolution& solution) const;

 private:
  double cosine(const RayLayout& layout, int k) const { return layout.rows == 2 ? (k == 0 ? 1.0 : -1.0) : ray_cos_[k]; }
  double sine(const RayLayout& layout, int k) const { return layout.rows == 3 ? ray_sin_[k] : 0.0; }
  std::size_t at(const RowName& row) const {
    return row.kind == Kind::kRay ? first_ray_[row.index] + row.ray : row.index;
  }
  const std::vector<char>& flags(const RowName& row) const { return active_[static_cast<int>(row.kind)]; }
  std::vector<char>& flags(const RowName& row) { return active_[static_cast<int>(row.kind)]; }
  int num_others() const;
  /// No ray of contact i has a smaller slack.
  double least_slack(int i) const {
    const double* value = values_.data() + 3 * i;
    return value[0] - layouts_[i].mu * (std::abs(value[1]) + std::abs(value[2]));
  }
  template <class Visit>
  void for_each_other(Visit visit) const;

  const ContactProgram* program_ = nullptr;
  int width_ = 1;
  std::vector<int> column_;  // 0, 1, 2 …: columns of the bounds
  std::vector<RayLayout> layouts_;
  std::vector<double> ray_cos_, ray_sin_;
  std::vector<int> first_ray_;
  std::vector<double> values_;  // 3 per contact: φ + nδ, t₁δ + o₁, t₂δ + o₂
  const double* delta_ = nullptr;
  std::vector<char> active_[5];
  std::vector<double> lambda_[5];
  std::vector<char> twin_;
  std::vector<int> twins_;
};

/// As declared above.
template <class Visit>
void ConstraintRows::for_each_entry(const RowName& row, Visit visit) const {
  if (row.kind == Kind::kLower || row.kind == Kind::kUpper)
    return visit(row.index, row.kind == Kind::kLower ? 1.0 : -1.0);
  if (row.kind != Kind::kRay) {
    const RowBlocks& J = row.kind == Kind::kLinear ? program_->linear.rows : program_->equality.rows;
    const auto cols = J.cols(row.index);
    const double* g = J.block(row.index).data();
    for (std::size_t k = 0; k < cols.size(); ++k) visit(cols[k], g[k]);
    return;
  }
  const RayLayout& layout = layouts_[row.index];
  const auto cols = program_->J.cols(row.index);
  const std::size_t count = cols.size();
  const double* n = program_->J.block(row.index).data();
  const double t = layout.mu * cosine(layout, row.ray), o = layout.mu * sine(layout, row.ray);
  if (layout.rows == 1) {
    for (std::size_t k = 0; k < count; ++k) visit(cols[k], n[k]);
  } else if (layout.rows == 2) {
    for (std::size_t k = 0; k < count; ++k) visit(cols[k], n[k] + t * n[count + k]);
  } else {
    for (std::size_t k = 0; k < count; ++k) visit(cols[k], n[k] + t * n[count + k] + o * n[2 * count + k]);
  }
}

/// As declared above.
template <class Visit>
void ConstraintRows::for_each_inequality(double most, Visit visit) const {
  for (int i = 0; i < static_cast<int>(layouts_.size()); ++i) {
    if (least_slack(i) > most) continue;
    for (int k = 0; k < layouts_[i].slacks; ++k) {
      const RowName name{Kind::kRay, i, k};
      if (const double s = slack(name); s <= most) visit(name, s);
    }
  }
  for_each_other([&](const RowName& name) {
    if (const double s = slack(name); s <= most) visit(name, s);
  });
}

/// As declared above.
template <class Visit>
void ConstraintRows::for_each_violated(Visit visit) const {
  for (int i = 0; i < static_cast<int>(layouts_.size()); ++i) {
    if (least_slack(i) >= 0) continue;
    double worst = 0;
    int at = -1;
    for (int k = 0; k < layouts_[i].slacks; ++k) {
      const RowName name{Kind::kRay, i, k};
      const double s = slack(name);
      if (s < worst && !active(name)) {
        worst = s;
        at = k;
      }
    }
    if (at >= 0) visit(RowName{Kind::kRay, i, at}, worst);
  }
  for_each_other([&](const RowName& name) {
    if (const double s = slack(name); s < 0 && !active(name)) visit(name, s);
  });
}

/// As declared above.
template <class Visit>
void ConstraintRows::for_each_other(Visit visit) const {
  for (const Kind kind : {Kind::kLinear, Kind::kLower, Kind::kUpper}) {
    const int count = static_cast<int>(active_[static_cast<int>(kind)].size());
    for (int i = 0; i < count; ++i) visit(RowName{kind, i, 0});
  }
}

/// As declared above.
template <class Visit>
void ConstraintRows::recall(WarmMemory* memory, Visit visit) const {
  const int linear = static_cast<int>(program_->linear.rhs.size()),
            equality = static_cast<int>(program_->equality.rhs.size());
  const bool known = memory != nullptr && static_cast<int>(memory->num_others()) == num_others();
  for (int i = 0; i < equality; ++i) visit(RowName{Kind::kEquality, i, 0}, known ? memory->other(linear + i) : 0.0);
  if (memory == nullptr) return;
  std::size_t guess = 0;
  for (int i = 0; i < static_cast<int>(layouts_.size()); ++i) {
    if (program_->contacts[i].id == 0) continue;
    const auto lambda = memory->find(program_->contacts[i].id, guess);
    if (static_cast<int>(lambda.size()) != layouts_[i].slacks) continue;
    for (int k = 0; k < layouts_[i].slacks; ++k) {
      if (lambda[k] > 0) visit(RowName{Kind::kRay, i, k}, lambda[k]);
    }
  }
  if (!known) return;
  std::size_t at = 0;
  for (const Kind kind : {Kind::kLinear, Kind::kEquality, Kind::kLower, Kind::kUpper}) {
    const int count = static_cast<int>(active_[static_cast<int>(kind)].size());
    for (int i = 0; i < count; ++i, ++at) {
      if (kind != Kind::kEquality && memory->other(at) > 0) visit(RowName{kind, i, 0}, memory->other(at));
    }
  }
}

}  // namespace deft::solvers
