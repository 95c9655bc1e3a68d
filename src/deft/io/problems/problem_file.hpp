#pragma once
// Problem files: one program as data. Reading, writing, results. JSON, optionally gzip.

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
  std::string name, source;                  // name: the file's stem if it says none; source: where the problem is from
  solvers::contact::ContactProgram program;  // checked
  std::vector<std::string> notes;            // what was tolerated, for example a symmetrised Q
};

/// A problem file of kind `delassus`, read and checked.
struct DelassusProblemFile {
  std::string name, source;                       // as in ContactProblemFile
  solvers::force_space::DelassusProgram program;  // checked; W symmetric
  std::vector<std::string> notes;                 // what was tolerated
};

/// A problem file of kind `lcp` or `mcp`, read and checked.
struct ComplementarityProblemFile {
  std::string name, source, kind;                // kind: lcp or mcp
  solvers::lcp::ComplementarityProgram program;  // free indices ascend
  std::vector<std::string> notes;                // what was tolerated
};

/// A problem file of kind `lcs_mpc`, read and checked.
struct LcsProblemFile {
  std::string name, source;             // as in ContactProblemFile
  solvers::lcs::LcsMpcProgram program;  // weights symmetric
  std::vector<std::string> notes;       // what was tolerated
};

/// A problem file of kind `ecp`, read and checked.
struct PatchProblemFile {
  std::string name, source;        // as in ContactProblemFile
  dynamics::PatchProblem problem;  // checked, but for what only building the shapes shows
  std::vector<std::string> notes;  // what was tolerated
};

/// A problem file of any kind.
using ProblemFile =
    std::variant<ContactProblemFile, DelassusProblemFile, ComplementarityProblemFile, LcsProblemFile, PatchProblemFile>;

/// Reads a problem file. @throws InputError `FILE: field 'x': error: …` naming the field, the value and the valid
/// choices.
ProblemFile read_problem(const std::string& path);
/// The same of the text of a file; `path` names it in errors.
ProblemFile parse_problem(const std::string& text, const std::string& path);
/// Reads a file of kind `contact`, and no other. @throws as read_problem.
ContactProblemFile read_contact_problem(const std::string& path);
/// Names for the contacts of a file; lists may be shorter than the contacts.
struct ContactLabels {
  std::vector<std::pair<std::string, std::string>> bodies;  // of each contact, a and b
  std::vector<std::string> labels;                          // identifies a contact along a sequence; empty: left out
};
/// Writes a program in full precision (numbers read back to the same doubles); `.gz` compresses.
/// @throws std::invalid_argument for numbers that are not finite, bounds and an infinite kappa apart;
/// std::runtime_error if the file cannot be written, as the writers below.
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

/// The result of a problem file as one line of JSON: name, kind, status, message, time [s], iterations, residuals,
/// energy [J], solution, solver, notes. Infinite numbers are strings.
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
  solvers::Status status = solvers::Status::kNumericalFailure;  // how the search ended
  bool has_incumbent = false;                                   // a trajectory was found
  solvers::lcs::LcsTrajectory point;                            // the best one
  solvers::lcs::LcsCertificate certificate;                     // its absolute residuals
  double cost = std::numeric_limits<double>::infinity();        // of the best trajectory
  double bound = -std::numeric_limits<double>::infinity();      // no trajectory costs less
  double gap = std::numeric_limits<double>::infinity();         // relative
  std::int64_t nodes = 0, iterations = 0;                       // of the search; changes of active sets
  double time_s = 0;                                            // [s]

  /// The largest entry of the point, at least 1: what scaled residuals are relative to.
  double scale() const;
};
/// One sentence for people about the outcome of a control problem.
std::string_view lcs_sentence(const LcsAnswer& answer);
/// The result for kind `lcs_mpc`; the solution is `cost`, `bound`, `gap`, `x`, `u`, `gamma` (a list per step; null
/// without an incumbent) and `nodes`. Scaled residuals are the absolute ones over the largest entry of the trajectory,
/// at least 1.
std::string lcs_result_json(const LcsProblemFile& file, const LcsAnswer& answer);
/// One sentence for people about the outcome of a step of kind `ecp`.
std::string_view patch_sentence(solvers::Status status);
/// The result for kind `ecp`; the solution is `nu`, `q` (a list per body) and `pairs`, all null where the step failed.
/// Absolute residuals: impulses [N s], penetration [m], p_n |gap| [J s].
std::string patch_result_json(const PatchProblemFile& file, const dynamics::PatchAnswer& answer, double time_s);

}  // namespace deft::io
