#pragma once
// What the interior point solver keeps between solves, and the stages of one. Private to src/deft/solvers.

#include "deft/solvers/contact/interior/contact_ipm.hpp"
#include "deft/solvers/contact/interior/interior_point.hpp"
#include "deft/solvers/contact/interior/rank_test.hpp"
#include "deft/solvers/contact/interior/screening.hpp"
#include "deft/solvers/contact/interior/semismooth_newton.hpp"
#include "deft/solvers/contact/interior/warm_memory.hpp"

namespace deft::solvers::contact {

inline constexpr int kPolishFactors = 6;
inline constexpr double kRoundingSlack = 10;  // times the tolerance: accepted where multipliers of 1e4 and more magnify
                                              // rounding

/// Scratch, and the stages of a solve as its functions.
struct ContactIpm::Workspace {
  InnerSolver inner;  // of programs on optimal faces
  PackedProgram packed;
  NewtonSystem system;
  InteriorPoint interior;
  SemismoothNewton semismooth;
  KktState state;
  RankTest rank_test;
  WarmMemory* memory = nullptr;
  Screening screening;
  Iterate x, candidate;
  int iterations = 0;
  bool impatient = false;  // an exact solve gives up soon, to ask first whether there is a solution

  Status solve(const ContactProgram& program, const SolverSettings& settings, WarmMemory& memory_of_sequence,
               ContactSolution& solution);

  // An exact solve that is not over after a few iterations mostly has no solution: asked for a proof before it is tried
  // with all means. @returns whether there is one; `packed` then holds all contacts.
  bool has_no_solution(const ContactProgram& program, const SolverSettings& settings, ContactSolution& solution);

  // One packed program; Infeasible is a suspicion.
  Status solve_kept(const ContactProgram& program, const SolverSettings& settings, bool warm,
                    ContactSolution& solution);
  Status solve_packed(const ContactProgram& program, const SolverSettings& settings, bool warm,
                      ContactSolution& solution);
  Status solve_exact(const ContactProgram& program, const SolverSettings& settings, bool warm);
  Status solve_smoothed(const ContactProgram& program, const SolverSettings& settings, bool warm);
  Status run_smoothed(const SolverSettings& settings);
  bool take_better(double& best, const Iterate& from);
  bool rests(double& best, double good_enough);
  void drop_small_forces(double accepted);
  double polish(double& best, int max_factors, bool trust_forces = false);
  void finish(const ContactProgram& program, const std::vector<double>& slack, ContactSolution& solution);

  // contact_ipm_proofs.cpp: singular Q, and what a failure means.
  Status solve_proximal(const ContactProgram& program, const SolverSettings& settings, bool warm,
                        ContactSolution* solution);
  Status choose_motion(ContactSolution& solution);
  Status verdict(const ContactProgram& program, Status failure, ContactSolution& solution);
  bool prove_infeasible(const ContactProgram& program, ContactSolution& solution);
  bool prove_unbounded(const ContactProgram& program, ContactSolution& solution);
  void move_elastically(const SolverSettings& settings);
  void solve_elastic(int max_iterations);
};

}  // namespace deft::solvers::contact
