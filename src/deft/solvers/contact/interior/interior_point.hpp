#pragma once
// Mehrotra's primal–dual interior point on a packed program, exact and smoothed. Private to src/deft/solvers.

#include <algorithm>
#include <limits>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/contact/interior/kkt_state.hpp"

namespace deft::solvers::contact {

/// Why an interior-point run ended.
enum class IpmOutcome { kConverged, kInfeasible, kStalled, kIterationLimit, kTimeLimit };

/// When an interior-point run ends; scaled units of PackedProgram.
struct IpmLimits {
  double complementarity = 1e-10;  // exact: largest sᵀλ of a row at the end
  double residual = 1e-10;         // rows and stationarity
  int max_iterations = 60;
  int max_short_steps = 12;  // in a row
  double proximal = 1e-10;   // proximal weight of inequality multipliers: bounds the curvature of H, residuals stay
                             // exact
};

/// The iteration with its point and scratch; one per thread, no allocation when sizes repeat.
class InteriorPoint {
 public:
  /// Cold start: centred slacks around the origin; rows that touch get a slack and a multiplier of `size`. Problems
  /// with a thin feasible set need large multipliers and a large start.
  void start_cold(const PackedProgram& program, double size = 0.3);
  /// Lifts an iterate of a neighbouring program onto the central path at `mu` (README.md: "Warm start").
  void start_warm(const PackedProgram& program, NewtonSystem& system, const Iterate& x, double mu);
  /// From now on runs may take `limit_s` seconds in all, then they end with kTimeLimit.
  void start_clock(double limit_s) {
    clock_.restart();
    time_limit_s_ = limit_s;
  }
  double time_left_s() const { return std::max(0.0, time_limit_s_ - clock_.seconds()); }
  bool out_of_time() const { return clock_.seconds() > time_limit_s_; }
  /// Runs from the current point; may be called again with tighter limits to go on.
  IpmOutcome run(const PackedProgram& program, NewtonSystem& system, const IpmLimits& limits);

  /// The multipliers of the current point, as a ray, prove that no motion satisfies all rows (artificial compliance
  /// aside).
  bool proves_infeasible(const PackedProgram& program, NewtonSystem& system);

  const Iterate& iterate() const { return x_; }
  const std::vector<double>& slacks() const { return s_; }
  int iterations() const { return iterations_; }
  /// max |s∘λ − t|/t over the smoothed rows.
  double centrality() const { return centrality_; }
  double stationarity() const { return state_.stationarity; }
  double infeasibility() const { return infeasibility_; }

 private:
  IpmOutcome give_up(IpmOutcome outcome);
  void resize(const PackedProgram& program);
  void measure(const PackedProgram& program, NewtonSystem& system);
  void scale(const PackedProgram& program);
  void direction(const PackedProgram& program, NewtonSystem& system, double sigma_mu, bool corrector);
  double step_length(const PackedProgram& program, double limit) const;
  double final_target(const PackedProgram& program, const PackedBlock& block) const {
    return block.weight * program.target;
  }

  Iterate x_, best_x_;
  std::vector<double> best_s_;
  double best_merit_ = 0;
  std::vector<double> s_;
  KktState state_;
  double proximal_ = 0;
  double mu_ = 0, excess_ = 0, centrality_ = 0, infeasibility_ = 0, worst_complementarity_ = 0, row_error_ = 0;
  int iterations_ = 0, short_steps_ = 0;
  Stopwatch clock_;
  double time_limit_s_ = std::numeric_limits<double>::infinity();
  bool warm_ = false;

  std::vector<double> rp_, D_, q_, y_, z_, dv_, ds_, dl_, lambda_bar_, ray_, scratch_;
  /// tail_norm of a cone's slack, multiplier and scaled multiplier.
  struct Tails { double s = 0, lambda = 0, bar = 0; };
  std::vector<linear::SpectralConeOperator> W_, K_;
  std::vector<Tails> tails_;
  std::vector<BlockCurvature> curvature_;
};

}  // namespace deft::solvers::contact
