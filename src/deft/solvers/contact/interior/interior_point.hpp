#pragma once
// Mehrotra's primal–dual interior point on a packed program, exact and smoothed.

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
  int max_iterations = 60;         // since the last start, in all runs together
  int max_short_steps = 12;        // in a row
  double proximal = 1e-10;  // proximal weight of inequality multipliers: bounds the curvature of H, residuals stay
                            // exact
};

/// Slack and multiplier of a row that touches, at a usual cold start.
inline constexpr double kColdSlack = 0.3;

/// The iteration with its point and scratch; one per thread, no allocation when sizes repeat.
class InteriorPoint {
 public:
  /// Cold start: centred slacks around the origin; rows that touch get a slack and a multiplier of `size`. Problems
  /// with a thin feasible set need large multipliers and a large start.
  void start_cold(const PackedProgram& program, double size = kColdSlack);
  /// Lifts an iterate of a neighbouring program onto the central path at `mu` (README.md: "Warm start").
  void start_warm(const PackedProgram& program, NewtonSystem& system, const Iterate& x, double mu);
  /// From now on runs may take `limit_s` seconds in all, then they end with kTimeLimit.
  void start_clock(double limit_s) {
    clock_.restart();
    time_limit_s_ = limit_s;
  }
  /// What the clock leaves [s], not below zero.
  double time_left_s() const { return std::max(0.0, time_limit_s_ - clock_.seconds()); }
  /// Whether the clock's limit is over.
  bool out_of_time() const { return clock_.seconds() > time_limit_s_; }
  /// Runs from the current point; may be called again with tighter limits to go on.
  IpmOutcome run(const PackedProgram& program, NewtonSystem& system, const IpmLimits& limits);

  /// Whether the multipliers of the current point, as a ray, prove that no motion satisfies all rows (artificial
  /// compliance aside). Uses the last factor in `system`.
  bool proves_infeasible(const PackedProgram& program, NewtonSystem& system);

  /// The current point.
  const Iterate& iterate() const { return x_; }
  /// Its slacks ŝ, positive; size num_slacks.
  const std::vector<double>& slacks() const { return s_; }
  /// Iterations since the last start, in all runs together.
  int iterations() const { return iterations_; }
  /// max |s∘λ − t|/t over the smoothed rows.
  double centrality() const { return centrality_; }
  /// |gradient| in the metric of Q̃⁻¹, as measured last.
  double stationarity() const { return state_.stationarity; }
  /// Largest difference between a slack and what the motion makes of its row, as measured last.
  double infeasibility() const { return infeasibility_; }

 private:
  /// Guards a run against stalls: near the end rounding takes over, and full Newton steps may cycle far from it. Merit
  /// is the larger of residual and complementarity (smoothed: distance from the central path).
  struct StallGuard {
    double best = std::numeric_limits<double>::infinity();                  // merit of this run
    double last = std::numeric_limits<double>::infinity(), earlier = last;  // merits of the last two iterations
    int unimproved = 0;                                                     // iterations without a clear gain
    bool note(double merit);
    bool at_rounding() const;
    bool stalled() const;
    double longest_step() const;
  };
  /// What the last iteration left, to see how fast it was.
  struct Previous {
    double step = 0;
    double residual = std::numeric_limits<double>::infinity(), infeasibility = residual;
  };

  void resize(const PackedProgram& program);
  void restart_cold(const PackedProgram& program);
  void measure(const PackedProgram& program, NewtonSystem& system);
  double residual() const { return std::max(state_.stationarity, infeasibility_); }
  bool converged(const PackedProgram& program, const IpmLimits& limits);
  void weaken_proximal(const IpmLimits& limits);
  void keep_if_best(const PackedProgram& program);
  IpmOutcome end_at_best(IpmOutcome outcome);
  bool follows_path(const PackedProgram& program) const;
  void scale(const PackedProgram& program);
  void direction(const PackedProgram& program, NewtonSystem& system, double sigma_mu, bool corrector);
  void right_hand_side(const PackedProgram& program, double sigma_mu, bool corrector);
  void cone_right_hand_side(const PackedBlock& block, std::size_t i, double target, bool corrector);
  double excess_after(const PackedProgram& program, double step) const;
  double centring(const PackedProgram& program) const;
  double step_length(const PackedProgram& program, double limit) const;
  double step_to_boundary(const PackedProgram& program, double share) const;
  bool too_short(double step, const IpmLimits& limits);
  void move(const PackedProgram& program, double step);
  double final_target(const PackedProgram& program, const PackedBlock& block) const {
    return block.weight * program.target;
  }

  Iterate x_, best_x_;
  std::vector<double> s_, best_s_;
  StallGuard guard_;
  Previous previous_;
  KktState state_;
  double proximal_ = 0;
  // Measured: mean complementarity, and its mean excess over the target; see centrality() and infeasibility().
  double mu_ = 0, excess_ = 0, centrality_ = 0, infeasibility_ = 0;
  double worst_complementarity_ = 0;  // largest |sᵀλ − t| of a row or cone
  double row_error_ = 0;              // largest |rp|/s of a smoothed ray, beyond rounding
  int iterations_ = 0, short_steps_ = 0, full_steps_ = 0;
  Stopwatch clock_;
  double time_limit_s_ = std::numeric_limits<double>::infinity();
  bool warm_ = false;  // since a warm start, which a cold one may replace

  // Per slack: what the rows leave, D of rays, right-hand sides, the direction, W λ of cones. Per row: y, z.
  std::vector<double> rp_, D_, q_, ds_, dl_, lambda_bar_, y_, z_;
  std::vector<double> dv_, ray_, scratch_;  // per column
  /// tail_norm of a cone's slack, multiplier and scaled multiplier.
  struct Tails { double s = 0, lambda = 0, bar = 0; };
  std::vector<linear::SpectralConeOperator> W_, K_;
  std::vector<Tails> tails_;
  std::vector<BlockCurvature> curvature_;
};

}  // namespace deft::solvers::contact
