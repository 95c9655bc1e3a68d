#pragma once
// The plain method for nonlinear complementarity problems. Internal to solvers.
// Source: T. De Luca, F. Facchinei, C. Kanzow, Math. Program. 75 (1996); L. Grippo, F. Lampariello, S. Lucidi, SIAM J.
// Numer. Anal. 23 (1986), the non-monotone search; N. Yamashita, M. Fukushima, Computing Suppl. 15 (2001), the weight
// of damped steps.

#include <array>
#include <limits>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/mcp/linear_system.hpp"
#include "deft/solvers/mcp/scaled_mcp.hpp"

namespace deft::solvers::mcp {

/// When a method has to stop.
struct McpBudget {
  int iterations = 60;     // of this method
  int patience = 1000000;  // iterations without halving ½|Φ|², after which other methods may do better
  double time_limit_s = std::numeric_limits<double>::infinity();  // on the clock
  const Stopwatch* clock = nullptr;                               // no time limit without one
  /// Whether the clock is beyond the limit.
  bool out_of_time() const {
    return time_limit_s < std::numeric_limits<double>::infinity() && clock && clock->seconds() > time_limit_s;
  }
};

/// Newton's method on Φ(y) = 0, Φ_i = y_i + f_i − √(y_i² + f_i²), Φ_i = f_i on free rows. An iteration tries in turn
/// the step of the active set (f_i = 0 where y_i > f_i, y_i = 0 elsewhere) if it at least halves |Φ|; the Newton step
/// of Φ; the damped one (AᵀA + min(1e-2, |Φ|)) p = −AᵀΦ, which also converges fast to one of several solutions that are
/// not isolated. The last two are shortened until ½|Φ|² falls below the largest of the last five values.
class McpSemismooth {
 public:
  /// Why a solve ended.
  enum class End {
    kSolved,      // the residual is at most the target
    kStalled,     // no step descends, progress is too slow, or f is not defined at the start
    kIterations,  // the budget of iterations is spent
    kTime,        // the time is over
  };
  /// From `start` (scaled, size of the problem; complementary entries ≥ 0). Ends at a residual of at most `target`,
  /// polished.
  End solve(ScaledMcp& problem, const double* start, double target, const McpBudget& budget);
  /// The point with the least residual, scaled, padded with zeros.
  const std::vector<double>& y() const { return best_; }
  /// f there; empty if it is not defined at the start.
  const std::vector<double>& f() const { return best_f_; }
  double residual() const { return best_residual_; }  // there, infinite if f is not defined at the start
  int iterations() const { return iterations_; }      // of the last call, polishing steps included

 private:
  bool advance();
  bool active_set_step();
  bool newton_step();
  bool damped_step();
  bool search(int halvings, double slope);
  double slope() const;
  void gradient();
  void keep_best();
  void polish();
  void active_rows();

  static constexpr int kMemory = 5;
  ScaledMcp* problem_ = nullptr;
  int n_ = 0, iterations_ = 0;
  McpPoint now_, trial_;
  McpLinear linear_;
  std::vector<double> a_, b_, step_, gradient_, product_;
  std::vector<double> best_, best_f_;
  double best_residual_ = 0;
  std::array<double, kMemory> merits_{};
};

}  // namespace deft::solvers::mcp
