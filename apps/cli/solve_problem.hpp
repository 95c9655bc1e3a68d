#pragma once
// deft solve: the problems of all kinds solved and certified.

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "deft/io/problems/problem_file.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "deft/solvers/force_space/delassus_solver.hpp"
#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "options.hpp"

namespace deft::cli {

/// The options of deft solve.
struct SolveOptions {
  OutputOptions output;                           // what is printed
  std::vector<std::string> files;                 // at least one
  std::string solver = "auto";                    // --solver, a name that some kind knows
  std::string uniqueness = "off";                 // off, check: of lcp and mcp
  std::string forces = "any";                     // any, least_norm: of contact
  std::string export_path;                        // not empty: the problem is written for other solvers, not solved
  std::optional<double> tolerance, time_limit_s;  // scaled residual, of lcs_mpc relative gap; [s]; none: the solver's
  int repeat = 1;                                 // solves per problem, at least 1; times are medians
  int threads = 1;                                // of branch and bound
};

/// What is common to the solutions of all kinds.
struct SolvedProblem {
  solvers::Status status = solvers::Status::kNumericalFailure;  // confirmed by the certificate
  double time_s = 0;                                            // [s], median
  int iterations = 0;                                           // of the solver
  double residual = 0, primal = 0;  // scaled: the largest of all, and that of the constraints; infinite without a point
};

/// Of kind `contact`.
struct ContactSolved : SolvedProblem {
  solvers::contact::SolveMethod method = solvers::contact::SolveMethod::kInteriorPoint;  // the one that was used
  solvers::contact::Certificate certificate;                                             // of the solution
  solvers::contact::ContactSolution solution;                                            // motion and forces
};

/// Of kind `delassus`.
struct DelassusSolved : SolvedProblem {
  solvers::force_space::DelassusCertificate certificate;  // of the solution
  solvers::force_space::DelassusSolution solution;        // impulses and velocities
};

/// Of kinds `lcp` and `mcp`.
struct ComplementaritySolved : SolvedProblem {
  int modes = 0;                                         // enumerated
  const char* method = "lemke";                          // the one that was used
  solvers::lcp::ComplementarityCertificate certificate;  // of the solution
  solvers::lcp::ComplementaritySolution solution;        // z, w and what is known of others
};

/// Of kind `lcs_mpc`.
struct ControlSolved : SolvedProblem { io::LcsAnswer found; };  // with the trajectory

/// Of kind `ecp`.
struct PatchSolved : SolvedProblem { dynamics::PatchAnswer found; };  // with velocities and contacts

/// One solver of each kind. Each problem is solved `repeat` times from scratch, fewer after Ctrl-C; then the solution
/// is certified, and a status that the certificate does not confirm becomes a failure.
class ProblemSolvers {
 public:
  ContactSolved solve(const io::ContactProblemFile& file, const SolveOptions& options);                  // `contact`
  DelassusSolved solve(const io::DelassusProblemFile& file, const SolveOptions& options);                // `delassus`
  ComplementaritySolved solve(const io::ComplementarityProblemFile& file, const SolveOptions& options);  // `lcp`, `mcp`
  ControlSolved solve(const io::LcsProblemFile& file, const SolveOptions& options);                      // `lcs_mpc`
  PatchSolved solve(const io::PatchProblemFile& file, const SolveOptions& options);                      // `ecp`

 private:
  solvers::contact::ContactSolver contact_;
  solvers::force_space::DelassusSolver delassus_;
  solvers::lcp::ComplementaritySolver complementarity_;
};

}  // namespace deft::cli
