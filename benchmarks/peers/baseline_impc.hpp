#pragma once
// The baseline of trajectory optimisation, to compare with: iMPC of T. Pang, H. J. T. Suh, L. Yang,
// R. Tedrake, Global planning for contact-rich manipulation via local smoothing of quasi-dynamic contact models, T-RO
// 2023 (arXiv 2206.10787, section V), in the details in which the paper is silent as their public code irs_mpc2 has it
// (irs_mpc.py, mpc.py):
//
// - coordinates are vectors: quaternions are four numbers in the cost and in the dynamics, not normalised;
// - x' = A x + B u + c with A = 1 on objects and 0 on joints, rows of B of joints = 1, the object's rows from the step
//   smoothed at κ, c so that the exact step is met (their use_A = False, rollout_forward_dynamics_mode);
// - an iteration: for t = 0 … T − 1 the program over the remaining horizon is solved from the state reached, with
//   ‖u_t − q_a,t‖²_R for the first change, u within `offset` of the joints of the iteration before; its first command
//   is applied, an exact step is made, and the step is linearised there for the next iteration;
// - κ grows geometrically from iteration to iteration; the best cost is kept; there is no line search.
//
// The step and its derivative are deft's (theirs: the same convex program), the programs are solved by
// solvers/horizon (theirs: a commercial solver; the optimum is unique in u). So costs compare the methods; times do
// not compare the implementations.

#include <vector>

#include "deft/planning/trajectory/trajectory_optimizer.hpp"

namespace deft::peers {

/// What the baseline minimises, in coordinates: Σ ‖q_t − q^d‖²_Q + ‖u_t − u_{t−1}‖²_R + ‖q_T − q^d‖²_Qd, u_{−1} =
/// q_a,0.
struct BaselineProblem {
  Eigen::VectorXd q_start, q_desired;    // size nq
  Eigen::VectorXd weight, final_weight;  // diagonals of Q and Qd, size nq
  Eigen::VectorXd command_weight;        // diagonal of R, size nu
  Eigen::VectorXd offset;                // of |u_t − q_a,t of the iteration before|, size nu
  int steps = 20, iterations = 20;
  double kappa_first = 100, kappa_last = 2000;  // [1/J]
};

/// The best iterate.
struct BaselineResult {
  std::vector<Eigen::VectorXd> q, u;
  double cost = 0;              // in coordinates
  std::vector<double> history;  // of every iterate, the first commands first
  int unsolved = 0;             // programs that were not solved to tolerance
};

/// What commands and the configurations they lead to cost. @param joints_first  q_a,0
double baseline_cost(const BaselineProblem& problem, const std::vector<Eigen::VectorXd>& q,
                     const std::vector<Eigen::VectorXd>& u, const Eigen::VectorXd& joints_first);
/// @param scene  of planning::planning_scene. @throws std::runtime_error if a step fails.
BaselineResult baseline_impc(const scene::Scene& scene, const BaselineProblem& problem);

}  // namespace deft::peers
