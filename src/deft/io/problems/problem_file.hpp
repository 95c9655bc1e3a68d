#pragma once
// Problem files (the waist on disk): read, write, and print results. JSON, optionally gzip.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "deft/dynamics/patch/patch_problem.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"
#include "deft/solvers/force_space/delassus_program.hpp"
#include "deft/solvers/lcp/complementarity_program.hpp"
#include "deft/solvers/lcs/lcs_program.hpp"
#include "deft/solvers/status.hpp"

namespace deft::io {

/// A problem file of kind `contact`, read and checked.
struct ContactProblemFile {
  std::string name, source;
  solvers::contact::ContactProgram program;
  std::vector<std::string> notes;  // what was tolerated, for example a symmetrised Q
};

/// A problem file of kind `delassus`, read and checked.
struct DelassusProblemFile {
  std::string name, source;
  solvers::force_space::DelassusProgram program;
  std::vector<std::string> notes;
};

/// A problem file of kind `lcp` or `mcp`, read and checked.
struct ComplementarityProblemFile {
  std::string name, source, kind;
  solvers::lcp::ComplementarityProgram program;
  std::vector<std::string> notes;
};

/// A problem file of kind `lcs_mpc`, read and checked.
struct LcsProblemFile {
  std::string name, source;
  solvers::lcs::LcsMpcProgram program;
  std::vector<std::string> notes;
};

/// A problem file of kind `ecp`, read and checked.
struct PatchProblemFile {
  std::string name, source;
  dynamics::PatchProblem problem;
  std::vector<std::string> notes;
};

/// A problem file of any kind.
using ProblemFile =
    std::variant<ContactProblemFile, DelassusProblemFile, ComplementarityProblemFile, LcsProblemFile, PatchProblemFile>;

/// Reads a problem file. @throws InputError `FILE: field 'x': error: …` naming the field, the value and the valid
/// choices.
ProblemFile read_problem(const std::string& path);
/// Reads a file of kind `contact`, and no other. @throws as read_problem.
ContactProblemFile read_contact_problem(const std::string& path);
/// Writes a program in full precision (17 digits); `.gz` compresses. Body names and labels are optional (empty = left
/// out).
struct ContactLabels {
  std::vector<std::pair<std::string, std::string>> bodies;
  std::vector<std::string> labels;
};
void write_contact_problem(const std::string& path, const std::string& name, const std::string& source,
                           const solvers::contact::ContactProgram& program, const ContactLabels& labels);

/// Writes a complementarity problem in full precision: kind `mcp` if it has free indices, `lcp` if not; its motion rows
/// as `motion`.
/// @throws std::invalid_argument for a program that check refuses.
void write_complementarity_problem(const std::string& path, const std::string& name, const std::string& source,
                                   const solvers::lcp::ComplementarityProgram& program);

/// Writes a control problem in full precision, kind `lcs_mpc`; what says nothing (no bounds, goals that do not change)
/// is left out or written once. @throws std::invalid_argument for a program that check refuses.
void write_lcs_problem(const std::string& path, const std::string& name, const std::string& source,
                       const solvers::lcs::LcsMpcProgram& program);

/// Writes a step with line and surface contact in full precision, kind `ecp`. @throws std::invalid_argument for numbers
/// that are not finite.
void write_patch_problem(const std::string& path, const std::string& name, const std::string& source,
                         const dynamics::PatchProblem& problem);

/// The result object of problem_files: name, kind, status, time, iterations, residuals, solution, solver. Infinite
/// numbers as strings.
std::string contact_result_json(const ContactProblemFile& file, solvers::Status status, double time_s, int iterations,
                                const solvers::contact::Certificate& certificate,
                                const solvers::contact::ContactSolution& solution, std::string_view solver);
/// The same for kind `delassus`; the solution is `r` and `u`.
std::string delassus_result_json(const DelassusProblemFile& file, solvers::Status status, double time_s, int iterations,
                                 const solvers::force_space::DelassusCertificate& certificate,
                                 const solvers::force_space::DelassusSolution& solution);
/// The same for kinds `lcp` and `mcp`; the solution is `z`, `w`, `uniqueness`, `second` (another motion, or null) and,
/// of infeasible problems, `proof`.
std::string complementarity_result_json(const ComplementarityProblemFile& file, solvers::Status status, double time_s,
                                        int iterations, int modes,
                                        const solvers::lcp::ComplementarityCertificate& certificate,
                                        const solvers::lcp::ComplementaritySolution& solution, std::string_view solver);
/// What was found for a control problem; without an incumbent its point and certificate mean nothing.
struct LcsAnswer {
  solvers::Status status = solvers::Status::kNumericalFailure;
  bool has_incumbent = false;
  solvers::lcs::LcsTrajectory point;
  solvers::lcs::LcsCertificate certificate;
  double cost = std::numeric_limits<double>::infinity();
  double bound = -std::numeric_limits<double>::infinity();  // no trajectory costs less
  double gap = std::numeric_limits<double>::infinity();     // relative
  std::int64_t nodes = 0, iterations = 0;
  double time_s = 0;

  /// The largest entry of the point, at least 1: what scaled residuals are relative to.
  double scale() const;
};
/// One sentence for people about the outcome of a control problem.
std::string_view lcs_sentence(const LcsAnswer& answer);
/// The same for kind `lcs_mpc`; the solution is `cost`, `bound`, `gap`, `x`, `u`, `gamma` (a list per step; null
/// without an incumbent) and `nodes`. Scaled residuals are the absolute ones over the largest entry of the trajectory,
/// at least 1.
std::string lcs_result_json(const LcsProblemFile& file, const LcsAnswer& answer);
/// One sentence for people about the outcome of a step of kind `ecp`.
std::string_view patch_sentence(solvers::Status status);
/// The same for kind `ecp`; the solution is `nu`, `q` (a list per body) and `pairs`, all null where the step failed.
/// Absolute residuals: impulses [N s], penetration [m], p_n |gap| [J s].
std::string patch_result_json(const PatchProblemFile& file, const dynamics::PatchAnswer& answer, double time_s);

}  // namespace deft::io
