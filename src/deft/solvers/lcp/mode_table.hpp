#pragma once
// The linear program of a set of contact modes, kept as a dictionary along a path of the tree of modes. Internal to
// solvers.

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "deft/solvers/lcp/energy_bound.hpp"
#include "deft/solvers/lcp/scaled_complementarity.hpp"
#include "deft/solvers/linear/pivot_table.hpp"

namespace deft::solvers::lcp {

/// w = Mz + q with z, w ≥ 0, some of them fixed at zero, z of free indices of any sign, and cuts that all solutions
/// obey, all scaled. Variables are z_i: i, w_i: n + i, the slack of cut k: 2n + k. The dictionary has two costs: a
/// random positive one, whose dual feasibility survives every fixing and lets the dual simplex method restore the rows
/// without ties, and the motion that `climb` maximises. Copies are cheap where sizes agree.
class ModeTable {
 public:
  /// What `restore` found.
  enum class End {
    kFeasible,    // a point
    kInfeasible,  // multipliers that prove that there is none
    kStalled,     // neither, by rounding or after too many pivots
  };
  /// What `climb` found.
  enum class Top {
    kBest,       // the point with the largest motion
    kUnbounded,  // a ray along which it grows without bound
    kStalled,    // a point only, after too many pivots
  };

  /// All modes. @param motion  n coefficients of z, or empty. @param seed  of the random cost. @pre the problem
  /// outlives this.
  void start(const ScaledComplementarity& problem, std::span<const double> motion, std::uint64_t seed);
  /// From now on z_i (variable i) or w_i (variable n + i) is zero.
  void fix(int variable) { kind_[variable] = Kind::kZero; }
  /// Adds the cuts that are new since the last call; `restore` then makes the point obey them. @pre `cuts` is always
  /// the same list, which only grows and outlives this.
  void add_cuts(const std::deque<Cut>& cuts);

  /// Removes the constraint from the cuts added so far: their slacks become free.
  void ignore_cuts();
  /// The dual simplex method to a point of the modes, or to a proof (`multipliers`) that there is none.
  End restore();
  /// The primal simplex method: sign times the motion is maximised from the point that `restore` found. Destroys the
  /// positive cost: work on a copy.
  Top climb(double sign);

  /// The value of a variable; after kUnbounded one unit along the ray.
  double value(int variable) const;
  /// motionᵀz of the point; after kUnbounded where the ray begins.
  double motion() const { return table_.value(problem_->n + 1); }
  /// The point z [n]; after kUnbounded `length` units along the ray.
  void point(std::vector<double>& z, double length = 1) const;
  /// Basic z and nonbasic w: the columns and rows of the point's equations.
  void basis(std::vector<int>& rows, std::vector<int>& cols) const;
  /// After kInfeasible: multipliers y of the rows of w [n], then of the cuts.
  const std::vector<double>& multipliers() const { return multipliers_; }
  /// After kInfeasible: Mᵀy + Σ_k multiplier_k slope_k [n, padded].
  const std::vector<double>& slopes() const { return along_; }
  /// After kInfeasible: −qᵀy − Σ_k multiplier_k constant_k > 0.
  double gained() const { return gained_; }
  int pivots() const { return pivots_; }  // of both methods since `start`
  /// Multiplications of one pivot.
  double pivot_work() const { return static_cast<double>(table_.rows()) * table_.ld(); }

 private:
  enum class Kind : char { kNonnegative, kZero, kFree };

  void build();
  void append(const Cut& cut);
  /// The same basis computed again from the problem, against rounding.
  void refresh();
  bool is_cost(int row) const { return row == problem_->n || row == problem_->n + 1; }
  int violated_row(double& sign) const;
  int dual_column(int row, double sign) const;
  bool read_multipliers(int row, double sign);
  int ascending_column(double sign, bool bland, double& direction) const;
  int blocking_row(int column, double direction, bool bland, double& step);
  void take_ray(int column, double direction);
  Kind kind(int variable) const { return kind_[variable]; }

  const ScaledComplementarity* problem_ = nullptr;
  const std::deque<Cut>* cuts_ = nullptr;
  std::size_t num_cuts_ = 0;  // of them that are in
  linear::PivotTable table_;
  std::vector<Kind> kind_;
  std::vector<double> cost_, motion_, multipliers_, along_;
  std::vector<char> wanted_;
  std::vector<double> ray_;  // of kUnbounded, per variable
  double gained_ = 0;
  int pivots_ = 0, since_refresh_ = 0;
};

}  // namespace deft::solvers::lcp
