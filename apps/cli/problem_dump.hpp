#pragma once
// --dump-problems: the problems that steps solved, as files that `deft solve` reads.

#include <string>
#include <vector>

#include "deft/dynamics/step_model.hpp"
#include "deft/solvers/lcs/lcs_program.hpp"

namespace CLI {
class App;
}

namespace deft::cli {

/// Which problems are written.
enum class DumpIf { kFailed, kSlow, kAll };

/// --dump-problems, --dump-if.
struct DumpOptions {
  std::string folder;               // empty: none are written
  DumpIf condition = DumpIf::kAll;  // which steps
};
/// Adds these options to a command.
void add_dump_options(CLI::App& command, DumpOptions& options);

/// Writes the problems of a run into a folder.
class ProblemDump {
 public:
  /// Makes the folder. An empty folder name dumps nothing. @throws InputError if it cannot be made.
  ProblemDump(const DumpOptions& options, const scene::Scene& scene);
  /// Writes FOLDER/NAME_000123.json.gz if the step meets the condition. Failed: no usable status. Slow: more than three
  /// times the median of the steps so far, from the sixth on. `model` made the step: the problem of an
  /// equivalent-contact-point step is taken from it.
  void consider(int step, const dynamics::StepResult& result, const dynamics::StepModel& model);
  /// The program of a controller's period as FOLDER/NAME_plan_000123.json.gz, kind `lcs_mpc`. Failed: not proven
  /// optimal; slow: by its wall time.
  void consider_plan(int step, const solvers::lcs::LcsMpcProgram& program, solvers::Status status, double time_s);
  /// How many files were written.
  int written() const { return written_; }

 private:
  bool wanted(solvers::Status status, double time_us, std::vector<double>& times_us) const;

  std::string folder_, name_;
  DumpIf condition_;
  std::vector<std::string> bodies_, geometries_;
  std::vector<double> solve_us_, plan_us_;
  int written_ = 0;
};

}  // namespace deft::cli
