#pragma once
// deft solve: solutions for people and as JSON.

#include <string>

#include "solve_problem.hpp"

namespace deft::cli {

/// Prints status, size of the problem, residuals and the solution: a block of lines on standard output.
void print_solved(const io::ContactProblemFile& file, const ContactSolved& solved);
void print_solved(const io::DelassusProblemFile& file, const DelassusSolved& solved);                // the same
void print_solved(const io::ComplementarityProblemFile& file, const ComplementaritySolved& solved);  // the same
void print_solved(const io::LcsProblemFile& file, const ControlSolved& solved);                      // the same
void print_solved(const io::PatchProblemFile& file, const PatchSolved& solved);                      // the same

/// Solves one problem from scratch, as deft solve PATH --json does.
/// @throws InputError for options that do not fit its kind.
std::string solve_json(const std::string& path, const io::ProblemFile& problem, const SolveOptions& options);

/// The result of one file as one line of JSON, as io/problems writes it.
std::string result_json(const io::ContactProblemFile& file, const ContactSolved& solved);
std::string result_json(const io::DelassusProblemFile& file, const DelassusSolved& solved);                // the same
std::string result_json(const io::ComplementarityProblemFile& file, const ComplementaritySolved& solved);  // the same
std::string result_json(const io::LcsProblemFile& file, const ControlSolved& solved);                      // the same
std::string result_json(const io::PatchProblemFile& file, const PatchSolved& solved);                      // the same

}  // namespace deft::cli
