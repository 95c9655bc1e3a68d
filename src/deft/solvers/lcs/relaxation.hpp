#pragma once
// The convex relaxation of an LcsMpcProgram at one node of the search: rows of LcsStages within bounds, γ_i = 0 or s_i
// = 0 for pairs whose mode is fixed, and for open pairs with γ_i ≤ L, s_i ≤ S the hull of {γ_i s_i = 0}:  S γ_i + L s_i
// ≤ L S.  Internal to solvers.

#include <optional>
#include <span>
#include <vector>

#include "deft/solvers/lcs/propagation.hpp"
#include "deft/solvers/lcs/stages.hpp"
#include "deft/solvers/linear/delassus_factor.hpp"

namespace deft::solvers::lcs {

/// A row of the working set and its multiplier: ≥ 0 at its upper bound, ≤ 0 at its lower one.
struct LcsMultiplier {
  int row = 0;        // of LcsStages; from num_rows() on, the hull of pair row − num_rows()
  double lambda = 0;  // cost per unit of the row
};

/// The dual active-set method on the rows' responses to multipliers (LcsStages::column). Starts from any multipliers of
/// the right signs, climbs the dual, and ends early where its value proves that the node is not needed. One object per
/// thread.
class LcsRelaxation {
 public:
  /// How a solve ended: at the optimum, with a bound at the cutoff or above, with a proof that the node has no point,
  /// or without a status because of rounding.
  enum class End { kOptimal, kAbove, kInfeasible, kFailed };

  /// @param stages, layout  must outlive this object.
  LcsRelaxation(const LcsStages& stages, const LcsPropagation& layout);

  /// Takes the bounds of a node: those of the program, the modes, and L and S of `intervals`. @param cuts  whether open
  /// pairs get their hulls.
  void set(const LcsMpcProgram& program, const LcsIntervals& intervals, const std::vector<PairMode>& modes, bool cuts);
  /// The working set to start from; rows without the bound that belongs to a multiplier's sign, and dependent ones, are
  /// left out.
  void start(std::span<const LcsMultiplier> working);

  /// Minimises the relaxation's cost with a small proximal term, from the working set at hand.
  /// @param cutoff  the solve ends with kAbove as soon as bound() reaches it.
  /// @param exact  move the centre of the proximal term until the term does not matter any more; otherwise it stays at
  /// zero.
  End solve(double cutoff, bool exact = false);
  /// A value that no point of the node falls below. Valid after solve, whatever its end (kInfeasible: infinity).
  double bound() const { return bound_; }
  /// The minimiser for the last multipliers.
  const LcsStagePoint& point() const { return point_; }
  /// The working set of the last solve: where a child may start.
  std::vector<LcsMultiplier> working() const;
  /// An estimate of how much the dual grows when `row` is fixed at `target`: follows it until `pivots` rows of the
  /// working set have left, and without those that would join. @pre solve ended with kOptimal.
  double gain(int row, double target, int pivots);

  int gamma_row(int pair) const { return pair / ng_ * per_ + pair % ng_; }  // row of γ_i; pair: k·nγ + i
  int slack_row(int pair) const { return gamma_row(pair) + ng_; }           // row of s_i
  double multiplier(int row) const;                                         // of a row; 0 outside the working set
  long iterations() const { return iterations_; }                           // changes of the working set so far

 private:
  struct Cut {
    double gamma = 0, slack = 0, most = 0;  // gamma·γ + slack·s ≤ most; most = 0: none
  };
  struct Active {
    int row = 0, side = 0;  // side: 1 upper, −1 lower, 0 both
    double lambda = 0, target = 0;
  };

  struct Violation {
    int row = -1, side = 0;  // row −1: none; side as Active
    double target = 0;       // the bound that is violated
  };

  bool is_cut(int row) const { return row >= rows_; }
  double value(int row) const;
  double lower(int row) const { return is_cut(row) ? -std::numeric_limits<double>::infinity() : lo_[row]; }
  double upper(int row) const { return is_cut(row) ? cuts_[row - rows_].most : hi_[row]; }
  double tolerance(double bound) const;
  double diagonal(int row) const;
  double product(int row, int other);
  void products(int row, double* w);
  bool factorise();
  bool append(int row, double target, int side, double lambda);
  void join(int row, double target, int side, double lambda);
  void remove(std::size_t k);
  void evaluate();
  double dual() const;
  double safe_bound(double cutoff) const;
  End climb(double cutoff);
  double distance_to_centre() const;
  End recentre(double cutoff, int round);
  Violation most_violated() const;
  bool step_on_working_set();
  double largest_residual() const;
  std::optional<End> admit(const Violation& violation);
  bool step_along_null(int direction, double& length);
  double energy_of_step(int row);
  void add_to_rows(int row, double lambda);

  const LcsStages* stages_;
  const LcsPropagation* layout_;
  int ng_, per_, rows_, N_;
  std::vector<double> lo_, hi_;      // per row
  std::vector<double> z_lo_, z_hi_;  // per variable
  std::vector<double> price_;
  std::vector<Cut> cuts_;  // per pair
  std::vector<double> centre_, move_, last_move_;
  std::vector<Active> active_;
  std::vector<int> place_;     // of a row in active_, or −1
  std::vector<char> skipped_;  // dependent rows violated by rounding
  linear::DelassusFactor factor_, trial_factor_;
  std::vector<Active> trial_;
  std::vector<double> lambda_, residual_, step_, w_;
  LcsStagePoint point_;
  LcsStages::Scratch scratch_;
  double bound_ = 0, dual_ = 0;
  double rounding_ = 0;  // how much of dual_ rounding may have added
  long iterations_ = 0;
};

}  // namespace deft::solvers::lcs
