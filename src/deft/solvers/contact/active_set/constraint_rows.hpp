#pragma once
// The inequality and equality rows of an exact polyhedral program, one by one. Private to src/deft/solvers.

#include <cmath>
#include <cstdint>
#include <vector>

#include "deft/solvers/contact/active_set/metric_inverse.hpp"
#include "deft/solvers/contact/interior/warm_memory.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"
#include "deft/solvers/contact/program/ray_layout.hpp"

namespace deft::solvers::contact {

/// What a row is: ray `ray` of contact `index`, linear row or equality `index`, lower or upper bound of column `index`.
struct RowName {
  /// The list that a row belongs to.
  enum class Kind : std::uint8_t { kRay, kLinear, kEquality, kLower, kUpper };
  Kind kind = Kind::kRay;  // which list
  int index = 0, ray = 0;  // place in the list; the ray of a contact
};

/// Rows that depend on no others (row_islands.hpp): contacts, other rows, and the columns they move.
struct RowIsland {
  std::span<const int> contacts;    // indices in the program, ascending
  std::span<const RowName> others;  // equalities come first
  std::span<const int> columns;     // of δ, ascending
};

/// Rows g_rᵀδ + c_r (+ R_r λ_r) ≥ 0 of one program, with their slacks [m, rad] and multipliers [N, N·m] in physical
/// units. Keeps scratch.
class ConstraintRows {
 public:
  using Kind = RowName::Kind;  // of a row

  /// Takes a checked program, which must outlive the use. @returns false where it is smoothed, has cones in space, or
  /// more than 64 rays.
  bool assign(const ContactProgram& program);
  /// The program last assigned.
  const ContactProgram& program() const { return *program_; }
  /// Lists the equalities, linear rows and finite bounds, in this order.
  void list_others(std::vector<RowName>& names) const;

  /// Calls visit(column, g) for the entries of a row.
  template <class Visit>
  void for_each_entry(const RowName& row, Visit visit) const;
  /// Columns of a row, in the order of for_each_entry.
  std::span<const int> cols(const RowName& row) const;
  /// c_r [m, rad].
  double offset(const RowName& row) const;
  /// Number of rows of J that the law of contact i uses: 1 without friction.
  int rows_of(int i) const { return layouts_[i].rows; }
  /// Number of rays of contact i.
  int rays_of(int i) const { return layouts_[i].slacks; }
  /// μ cos θ and μ sin θ of a ray: its row is n + `along` t₁ + `across` t₂.
  double along(const RowName& ray) const { return layouts_[ray.index].mu * cosine(layouts_[ray.index], ray.ray); }
  /// As `along`.
  double across(const RowName& ray) const { return layouts_[ray.index].mu * sine(layouts_[ray.index], ray.ray); }
  /// R_r [m/N], 0 for all rows but rays.
  double compliance(const RowName& row) const { return row.kind == Kind::kRay ? layouts_[row.index].compliance : 0.0; }
  /// Σ g_c² (Q⁻¹)_cc: the squared scale of a row where Q⁻¹g is not needed, not below 1e-12 of its parts (rays).
  double rough_square(const RowName& row, const MetricInverse& inverse);
  /// |c_r| + Σ |g_k δ_k|: what rounding in a slack is relative to.
  double magnitude(const RowName& row, const double* delta) const;

  /// Computes the slacks of an island at δ (without R λ).
  void evaluate(const RowIsland& island, const double* delta);
  /// g_rᵀδ + c_r at the δ of the last `evaluate`.
  double slack(const RowName& row) const {
    return row.kind == Kind::kRay ? ray_slack(row.index, row.ray) : other_slack(row);
  }
  /// Calls visit(name, slack) for every row of an island but the equalities whose slack is at most `most`.
  template <class Visit>
  void for_each_inequality(const RowIsland& island, double most, Visit visit) const;
  /// Calls visit(name) for the inequalities of an island with a negative slack, of a contact for its first ray.
  template <class Visit>
  void for_each_violated(const RowIsland& island, Visit visit) const;

  /// Whether a row is active: a flag per row, cleared by `assign`.
  bool active(const RowName& row) const { return active_[kind_of(row)][at(row)] != 0; }
  /// Sets the flag of a row.
  void set_active(const RowName& row, bool on) { active_[kind_of(row)][at(row)] = on; }

  /// Sets the multipliers of all rows to those of the last solution (null: zeros). A contact whose id or number of rays
  /// is not remembered gets zeros.
  void recall(WarmMemory* memory);
  /// Sets the multiplier of a row, of the next solution.
  void set_multiplier(const RowName& row, double lambda) { lambda_[kind_of(row)][at(row)] = lambda; }
  /// Calls take(name, λ) for the equalities of an island and its rows with λ > 0, and sets these to zero.
  template <class Take>
  void take_multipliers(const RowIsland& island, Take take);
  /// Number of rows of an island with a positive multiplier.
  int num_loaded(const RowIsland& island) const;
  /// Shares the force of contact i evenly among all contacts of the island that are identical to it.
  void share_among_duplicates(const RowIsland& island, int i);
  /// Whether contact i repeats an earlier one that carries force (after share_among_duplicates).
  bool is_duplicate(int i) const { return duplicate_[i] != 0; }
  /// Stores δ [nv] and the multipliers in the memory.
  void store(const double* delta, WarmMemory& memory) const;
  /// Fills `solution` except for its proof and the uniqueness flags. @pre all islands have been evaluated at `delta`
  /// [nv].
  void unpack(const double* delta, ContactSolution& solution) const;

 private:
  double cosine(const RayLayout& layout, int k) const { return layout.rows == 2 ? (k == 0 ? 1.0 : -1.0) : ray_cos_[k]; }
  double sine(const RayLayout& layout, int k) const { return layout.rows == 3 ? ray_sin_[k] : 0.0; }
  static int kind_of(const RowName& row) { return static_cast<int>(row.kind); }
  std::size_t at(const RowName& row) const {
    return row.kind == Kind::kRay ? first_ray_[row.index] + row.ray : row.index;
  }
  double ray_slack(int i, int k) const {
    const RayLayout& layout = layouts_[i];
    const double* value = values_.data() + 3 * i;
    return value[0] + layout.mu * (cosine(layout, k) * value[1] + sine(layout, k) * value[2]);
  }
  double other_slack(const RowName& row) const;
  std::size_t num_others() const;
  /// No ray of contact i has a smaller slack.
  double least_slack(int i) const {
    const double* value = values_.data() + 3 * i;
    return value[0] - layouts_[i].mu * (std::abs(value[1]) + std::abs(value[2]));
  }

  // Products of the rows (n, t, o) of a contact in the metric of the diagonal of Q⁻¹.
  struct Gram {
    bool known = false;
    double nn = 0, nt = 0, no = 0, tt = 0, to = 0, oo = 0;
  };

  const ContactProgram* program_ = nullptr;
  std::vector<int> column_;  // 0, 1, 2 …: columns of the bounds
  std::vector<RayLayout> layouts_;
  std::vector<double> ray_cos_, ray_sin_;
  std::vector<int> first_ray_;
  std::vector<Gram> grams_;
  std::vector<double> values_;  // 3 per contact: φ + nδ, t₁δ + o₁, t₂δ + o₂
  const double* delta_ = nullptr;
  std::vector<char> active_[5];
  std::vector<double> lambda_[5];
  bool recalled_ = false;  // whether multipliers may be other than zero before the solve
  std::vector<char> duplicate_;
  std::vector<int> duplicates_;
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
void ConstraintRows::for_each_inequality(const RowIsland& island, double most, Visit visit) const {
  for (const int i : island.contacts) {
    if (least_slack(i) > most) continue;
    for (int k = 0; k < layouts_[i].slacks; ++k) {
      if (const double s = ray_slack(i, k); s <= most) visit(RowName{Kind::kRay, i, k}, s);
    }
  }
  for (const RowName& name : island.others) {
    if (name.kind == Kind::kEquality) continue;
    if (const double s = other_slack(name); s <= most) visit(name, s);
  }
}

/// As declared above.
template <class Visit>
void ConstraintRows::for_each_violated(const RowIsland& island, Visit visit) const {
  for (const int i : island.contacts) {
    if (least_slack(i) < 0) visit(RowName{Kind::kRay, i, 0});
  }
  for (const RowName& name : island.others) {
    if (name.kind != Kind::kEquality && other_slack(name) < 0) visit(name);
  }
}

/// As declared above.
template <class Take>
void ConstraintRows::take_multipliers(const RowIsland& island, Take take) {
  for (const RowName& name : island.others) {
    double& lambda = lambda_[kind_of(name)][name.index];
    if (name.kind == Kind::kEquality || lambda > 0) take(name, lambda);
    lambda = 0;
  }
  for (const int i : recalled_ ? island.contacts : std::span<const int>()) {
    double* lambda = lambda_[0].data() + first_ray_[i];
    for (int k = 0; k < layouts_[i].slacks; ++k) {
      if (lambda[k] > 0) take(RowName{Kind::kRay, i, k}, lambda[k]);
      lambda[k] = 0;
    }
  }
}

}  // namespace deft::solvers::contact
