#pragma once
// What the interior point solver keeps between solves, and the stages of one. Only contact_ipm*.cpp include it.

#include "deft/solvers/contact/interior/contact_ipm.hpp"
#include "deft/solvers/contact/interior/interior_point.hpp"
#include "deft/solvers/contact/interior/rank_test.hpp"
#include "deft/solvers/contact/interior/screening.hpp"
#include "deft/solvers/contact/interior/semismooth_newton.hpp"
#include "deft/solvers/contact/interior/warm_memory.hpp"

namespace deft::solvers::contact {

inline constexpr int kPolishFactors = 6;      // factorisations of a polish after the interior point
inline constexpr double kRoundingSlack = 10;  // times the tolerance: accepted where multipliers of 1e4 and more magnify
                                              // rounding

/// The state of a solve, and its stages as functions: each reads and writes what stands here.
struct ContactIpm::Workspace {
  InnerSolver inner;             // of programs on optimal faces
  PackedProgram packed;          // the program at work, maybe of some contacts only
  NewtonSystem system;           // of `packed`; shared by both iterations
  InteriorPoint interior;        // step 3 of README.md
  SemismoothNewton semismooth;   // step 2, and the polish
  KktState state;                // mostly of x
  RankTest rank_test;            // step 5
  WarmMemory* memory = nullptr;  // the caller's, of the sequence
  Screening screening;           // step 1: the contacts of `packed`
  Iterate x;                     // the best point so far, in the units of `packed`
  Iterate candidate;             // scratch: a point that may become x
  int iterations = 0;            // of this solve, all methods together
  bool impatient = false;        // an exact solve ends after few iterations, since it may have no solution

  /// The whole course of README.md.
  Status solve(const ContactProgram& program, const SolverSettings& settings, WarmMemory& memory_of_sequence,
               ContactSolution& solution);

  /// An exact solve that is not over after a few iterations mostly has no solution: a certificate is searched before
  /// everything else is tried. @returns whether there is one; `packed` then holds all contacts.
  bool has_no_solution(const ContactProgram& program, const SolverSettings& settings, ContactSolution& solution);

  /// Packs and solves the program of the contacts that the screening keeps, remembers a solution, and diagnoses a
  /// failure if all contacts are kept.
  Status solve_kept(const ContactProgram& program, const SolverSettings& settings, bool warm,
                    ContactSolution& solution);
  /// Solves `packed` by what its Q and its barrier need. Infeasible is a suspicion, without a certificate.
  Status solve_packed(const ContactProgram& program, const SolverSettings& settings, bool warm,
                      ContactSolution& solution);
  /// Steps 2 and 3 of README.md for an exact program; `warm`: from the solution in `memory`.
  Status solve_exact(const ContactProgram& program, const SolverSettings& settings, bool warm);
  /// The same of a smoothed program.
  Status solve_smoothed(const ContactProgram& program, const SolverSettings& settings, bool warm);
  /// Runs the interior point on a smoothed program from where it stands, and from a large start if that fails.
  Status run_smoothed(const SolverSettings& settings);
  /// x ← `from` if its error is below `best`, which becomes that error. @returns whether it was.
  bool take_better(double& best, const Iterate& from);
  /// Whether x, the last solution of a large program, solves this one to `good_enough`, after one correction at most;
  /// `best` becomes its error.
  bool solves_again(double& best, double good_enough);
  /// Sets multipliers below their slacks to zero if the error stays below `accepted`.
  void drop_small_forces(double accepted);
  /// Semismooth Newton steps from x, which stays if none is better; `best` [in, out] is the error of x. @returns it.
  double polish(double& best, int max_factors, bool trust_forces = false);
  /// Writes x, with its scaled slacks `slack`, to `solution`; in exact programs multipliers that rounding left below
  /// zero become zero.
  void finish(const ContactProgram& program, const std::vector<double>& slack, ContactSolution& solution);

  // contact_ipm_proofs.cpp: singular Q, and what a failure means.

  /// Proximal points for a singular Q; without `solution` no certificate of unboundedness is searched.
  Status solve_proximal(const ContactProgram& program, const SolverSettings& settings, bool warm,
                        ContactSolution* solution);
  /// Replaces x by the shortest of the optimal motions. @returns Solved or NotUnique, or why that is not known.
  Status choose_motion(ContactSolution& solution);
  /// What `failure` means: Infeasible or Unbounded with a certificate in `solution`, else a failure without.
  Status diagnose(const ContactProgram& program, Status failure, ContactSolution& solution);
  /// Searches a Farkas ray. @returns whether `solution` carries one that the certifier confirms.
  bool prove_infeasible(const ContactProgram& program, ContactSolution& solution);
  /// Searches a recession direction along which the energy falls. @returns the same.
  bool prove_unbounded(const ContactProgram& program, ContactSolution& solution);
  /// x ← the motion of a program without a solution, if the settings ask for it.
  void move_elastically(const SolverSettings& settings);
  /// x ← the solution with slightly compliant inequalities; x stays where that does not converge.
  void solve_elastic(int max_iterations);
};

}  // namespace deft::solvers::contact
