#pragma once
// Search for the row that a motion violates most. Private to src/deft/solvers.

#include <optional>
#include <vector>

#include "deft/solvers/contact/active_set/constraint_rows.hpp"

namespace deft::solvers::contact {

/// Inequalities of one island that some motion has violated so far, as matrices, so that their slacks s = gᵀδ + c cost
/// one product and one pass: an active-set method asks for the worst of them after each change. The others are looked
/// at, and listed, only when all of these are satisfied. Keeps scratch; no allocation when sizes repeat.
class RowScan {
 public:
  /// Takes the inequalities of an island. @param E0 energy [J] that makes slacks comparable. All must outlive the use.
  void begin(ConstraintRows& rows, const RowIsland& island, const MetricInverse& inverse, double E0);
  /// A row joined or left the active set; active ones are not looked at.
  void set_active(const RowName& name, bool on);
  /// Of the rows listed the one with the largest s²/(‖g‖² E0), ‖g‖² being `ConstraintRows::rough_square`, of those with
  /// s < 0 beyond 2e-12 of this scale and beyond rounding. None: no row of the island is violated, and its slacks are
  /// evaluated at `delta`. @param local  δ of the island's columns, in their order. @param delta  δ of all columns
  /// [nv].
  std::optional<RowName> most_violated(const double* local, const double* delta);

 private:
  bool list_violated();
  void pack();
  void pack_contact(int at);
  void pack_other(int at);
  void weigh(const RowName& name, std::size_t place);
  std::optional<RowName> worst_listed(const double* local, const double* delta);

  ConstraintRows* constraints_ = nullptr;
  const MetricInverse* inverse_ = nullptr;
  RowIsland island_;
  double E0_ = 0;
  int tangents_ = 0, rays_ = 0, stride_ = 0;            // most of a contact; entries, padded
  std::vector<RowName> entries_;                        // contacts by their first ray, and other inequalities
  std::vector<int> place_, entry_of_[5];                // of a column in the island; by kind, of a row
  std::vector<double> matrix_, offset_, value_;         // [column][normal, tangents][entry]
  std::vector<double> along_, across_, weight_, left_;  // [ray][entry]: μ cos, μ sin, 1/‖g‖²; the same, 0 where active
  std::vector<int> unknown_;
};

}  // namespace deft::solvers::contact
