#pragma once
// Dual active-set method for the exact polyhedral contact program. Private to src/deft/solvers.

#include <cstdint>
#include <optional>
#include <vector>

#include "deft/solvers/contact/active_set/constraint_rows.hpp"
#include "deft/solvers/contact/active_set/metric_inverse.hpp"
#include "deft/solvers/contact/active_set/row_islands.hpp"
#include "deft/solvers/contact/active_set/row_scan.hpp"
#include "deft/solvers/linear/delassus_factor.hpp"

namespace deft::solvers::contact {

/// How an active-set solve ended. kNotApplicable: the program is not of the method's kind, or another method is
/// expected to be quicker. kInconclusive says nothing about the program: it may be infeasible, degenerate, or need more
/// changes of A than allowed.
enum class ActiveSetOutcome { kSolved, kNotApplicable, kInconclusive };

/// How much a solve may cost. kCheap: it does nothing where another method is expected to be quicker. kThorough: it may
/// change A 25 times as often, and accepts complementarity of 5e-9 instead of 1e-10, which multipliers of 1e4 and more
/// cost.
enum class Effort { kCheap, kUsual, kThorough };

/// Rows g_rᵀδ + c_r ≥ 0 (rays, bounds, linear rows) and equalities; δ(λ) = Q⁻¹(Gᵀλ − b), slacks s = Wλ + d with W =
/// GQ⁻¹Gᵀ + R. The dual max −½λᵀWλ − dᵀλ over λ ≥ 0 is climbed on a set A of independent rows: to the maximum on A, or
/// to the first multiplier that becomes zero, whose row then leaves; at the maximum the row violated most joins. A
/// violated row that depends on A moves the multipliers along the null vector until one becomes zero. The dual value
/// never falls. Islands are solved one after the other. (D. Goldfarb, A. Idnani, Math. Program. 27 (1983); the dual
/// view: D. Arnström, A. Bemporad, D. Axehill, IEEE TAC 67 (2022).) Keeps scratch: one object per thread; no allocation
/// when sizes repeat.
class ContactActiveSet {
 public:
  /// Solves a checked `program` from the multipliers in `memory` if they are valid for it, otherwise from zero. If it
  /// is solved, `solution` and `memory` hold the solution, else both are as before. Not applicable to cones in space,
  /// smoothed programs, singular Q (relative pivots of 1e-12), bounds at the wrong infinity, and more than 64 rays, 256
  /// columns or 512 contacts.
  ActiveSetOutcome solve(const ContactProgram& program, WarmMemory& memory, ContactSolution& solution,
                         Effort effort = Effort::kUsual);
  /// Number of rows that joined or left A in the last solve.
  int iterations() const { return iterations_; }

 private:
  struct Row {
    RowName name;
    double offset = 0, compliance = 0;  // c_r, R_r
    double norm = 0;                    // √W_rr
    int slot = 0;                       // of g and z = Q⁻¹g
    bool is_free = false;               // its multiplier may have either sign: an equality
    double lambda = 0;
  };
  struct Remembered {
    RowName name;
    double lambda = 0;
  };

  static constexpr double kLoaded = 1e-10;   // scaled multiplier above this is a force
  static constexpr double kTouching = 1e-9;  // scaled slack below this is closed
  static constexpr int kIterationsPerColumn = 4;

  // A solve.
  bool is_applicable(const ContactProgram& program);
  bool is_worthwhile(bool known) const;
  void prepare(Effort effort);
  void begin_island(const RowIsland& island);
  bool solve_island(double complementary);

  // Goldfarb and Idnani's method.
  bool recall_active_set();
  bool optimise();
  bool climb();
  void update_motion();
  std::optional<RowName> most_violated();
  bool exchange(const Row& row);
  std::optional<RowName> refine();
  bool refine_once();

  // Changes of A.
  Row make_row(const RowName& name);
  const double* values_at(const double* delta);
  double right_hand_side(const Row& row) const;
  bool is_loaded(const Row& row) const { return row.is_free || row.lambda * row.norm > kLoaded * root_E0_; }
  bool is_independent(const Row& row);
  void set_active(const Row& row, bool on);
  void add_row(const Row& row);
  bool add_if_independent(const Row& row);
  void append_row(const Row& row);
  bool add_remembered_at_once();
  void remove_row(int k);
  void clear_active_set();

  // Acceptance.
  double stationarity();
  double complementarity();
  bool hand_over_multipliers();

  // Uniqueness of the forces (contact_active_set_uniqueness.cpp).
  void add_directions(int contact, std::uint64_t closed, std::uint64_t loaded);
  void gather_closed();
  bool are_forces_unique();
  bool no_other_forces();
  bool can_open_all();

  ConstraintRows constraints_;
  MetricInverse inverse_;
  RowIslands islands_;
  RowScan scan_;
  linear::DelassusFactor factor_;
  double root_E0_ = 0;
  int iterations_ = 0, limit_ = 0;
  std::vector<double> free_motion_, delta_;  // −Q⁻¹b, δ
  std::vector<double> residual_, scaled_residual_;
  std::vector<int> local_;  // place of a column in its island

  // The island at hand.
  RowIsland island_;
  int ld_ = 0;                   // of z: its columns, padded
  int slots_ = 0;                // used so far, that of the row on trial included
  std::vector<Row> rows_;        // A, in the order of the factor
  std::vector<int> free_slots_;  // the last one is that of the row on trial
  std::vector<Remembered> recalled_;
  std::vector<double> g_, z_;  // g: a column per slot; z: a row per slot
  std::vector<double> island_free_motion_, island_delta_;
  std::vector<double> w_, target_, by_slot_;
  std::vector<RowName> closed_, two_sided_;  // rows without force whose forces may grow, or change either way
  std::vector<double> closed_norms_;
};

}  // namespace deft::solvers::contact
