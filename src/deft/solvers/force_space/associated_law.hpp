#pragma once
// The associated law in force space, K* ∋ Wr + q ⟂ r ∈ K. Private to src/deft/solvers.

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/force_space/force_space.hpp"
#include "deft/solvers/linear/spectral_cone_operator.hpp"
#include "deft/solvers/linear/tile_cholesky.hpp"
#include "deft/solvers/status.hpp"

namespace deft::solvers::force_space {

/// Mehrotra's interior point (SIAM J. Optim. 2 (1992)) for min ½rᵀWr + (q + de_saxce)ᵀr over the cones, Newton matrices
/// W + D in sparse tiles, and Newton's method on r = P(r − u) for the last digits. All vectors are scaled (ForceSpace).
class AssociatedLaw {
 public:
  /// What a solve may cost, and what it has cost so far.
  struct Budget {
    Stopwatch clock;                // started with the solve
    double time_limit_s = 0;        // [s]
    int iterations = 0, limit = 0;  // factorisations
    /// Whether the time limit has passed.
    bool out_of_time() const { return clock.seconds() > time_limit_s; }
    /// Whether either limit has been reached.
    bool over() const { return iterations >= limit || out_of_time(); }
  };

  /// Takes a problem, which must outlive the use, with no De Saxcé correction. Allocates.
  void start(const ForceSpace& space);
  /// Solves with q + de_saxce, from the forces in r if `warm`, to ForceSpace::residual ≤ reachable(tolerance, r);
  /// leaves the best point in r and u. Newton's method at the end goes on to `polished` times the tolerance, if it can.
  /// @returns Solved, also where only kAcceptedResidual was reached; Infeasible, IterationLimit, TimeLimit or
  /// NumericalFailure.
  Status solve(bool warm, double tolerance, Budget& budget, double polished = 1e-5);

  /// Factors the law linearised at r and u, those of the last solve unless a caller has set them; then `respond` may
  /// follow.
  void linearise();
  /// x ← (∂r/∂q) x, the change of the forces with q or de_saxce.
  void respond(Eigen::VectorXd& x);

  Eigen::VectorXd r, u;      // forces, and u = Wr + q + de_saxce
  Eigen::VectorXd de_saxce;  // De Saxcé correction: what Coulomb's law adds to q at the normals; zero after start

 private:
  void centre(double epsilon);
  void lift(double mu);
  bool keep(double tolerance);
  bool descend(double tolerance);
  Status search(bool warm, double tolerance);
  void factor_with_weights(double proximal);
  void weigh_projection(const Eigen::VectorXd& x);
  double complementarity() const;
  double natural_residual(const Eigen::VectorXd& x, Eigen::VectorXd& out);
  void start_cold(double size);
  void direction(double target, bool corrector);
  double step_length(double limit_alpha) const;
  bool proves_infeasible() const;
  void scale_and_factor();
  double affine_share(double total);
  double correct(double target, double mu, bool stalls);
  Status interior(double aim);
  double polish(double aim);

  const ForceSpace* space_ = nullptr;
  Budget* budget_ = nullptr;
  linear::TileCholesky factor_;
  std::vector<int> tile_of_row_;
  std::vector<linear::SpectralConeOperator> scaling_, weight_;
  Eigen::VectorXd rhs_, dr_, du_, bar_, residual_, best_r_, q_, kept_r_;
  double reached_ = 0, epsilon_ = 0, kept_ = 0, polished_ = 1;
};

}  // namespace deft::solvers::force_space
