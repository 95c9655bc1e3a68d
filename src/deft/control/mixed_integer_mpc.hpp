#pragma once
// Model predictive control through contact by mixed-integer programs (README.md): each period the scene is linearised
// where it is, the program of solvers/lcs/lcs_program.hpp over the next N steps is solved to proven optimality, and the
// first input is applied.

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "deft/control/scene_lcs.hpp"
#include "deft/solvers/lcs/mpc_solver.hpp"

namespace deft::control {

/// What one period found.
struct MpcResult {
  Eigen::VectorXd u;  // the command of this step, size nu [rad, m; N, N·m of joints driven by forces]
  /// Solved: the plan is proven optimal; TimeLimit: the best plan so far, with its gap, or none; Infeasible: proven
  /// that no plan keeps the bounds; NumericalFailure.
  solvers::Status status = solvers::Status::kNumericalFailure;
  bool fallback = false;                      // no plan: `u` is the safe command of control.fallback
  solvers::lcs::LcsMpcProgram program;        // what was solved
  std::vector<dynamics::HorizonPair> pairs;   // of its system
  solvers::lcs::LcsTrajectory plan;           // x, u, γ; empty with `fallback`
  Eigen::MatrixXd slack;                      // s_{k+1} of the plan, pairs × N
  std::vector<solvers::lcs::PairMode> modes;  // pairs · N, step after step: the side that is zero (both: the
                                              // multiplier)
  solvers::lcs::LcsCertificate certificate;   // of the plan
  double cost = 0, bound = 0, gap = 0;        // of the plan; no plan costs less than `bound`; as LcsMpcResult::gap
  std::int64_t nodes = 0;                     // of the branch and bound
  double time_s = 0;                          // of the whole period
};

/// The record of a result for a trajectory, with predicted poses. @param q  the configuration at which the period
/// began, size nq.
dynamics::HorizonRecord record_of(const MpcResult& result, const scene::Scene& scene, const Eigen::VectorXd& q);

/// The controller that `control:` of a scene describes. One object per thread.
class MixedIntegerMpc {
 public:
  /// @param scene  must outlive this object. @throws InputError without `control:`, for another step.model than
  /// stewart-trinkle, or weights that are not positive semidefinite.
  explicit MixedIntegerMpc(const scene::Scene& scene);
  ~MixedIntegerMpc();
  MixedIntegerMpc(MixedIntegerMpc&&) noexcept;
  MixedIntegerMpc& operator=(MixedIntegerMpc&&) noexcept;

  /// One period from the measured state (q, v, t): builds and solves the program within control.time_limit_s, starting
  /// from the last inputs shifted by one step. The result is valid until the next call. @throws std::invalid_argument
  /// for wrong sizes.
  const MpcResult& control(const dynamics::State& measured);
  /// Forgets the last plan and the last command.
  void reset();
  /// N, the steps of the program.
  int horizon() const;
  /// Names of the program's states, size 2 nv, as state_names.
  std::vector<std::string> names_x() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::control
