#pragma once
// --dump-problems: the problems that steps solved, as files that `deft solve` reads.

#include <string>
#include <vector>

#include "deft/dynamics/step_model.hpp"

namespace deft::cli {

enum class DumpIf { kFailed, kSlow, kAll };

class ProblemDump {
 public:
  /// Makes the folder. An empty folder name dumps nothing. @throws InputError if it cannot be made.
  ProblemDump(std::string folder, DumpIf condition, const scene::Scene& scene);
  /// Writes FOLDER/NAME_000123.json.gz if the step meets the condition. Slow: more than three times the median of the
  /// steps so far.
  void consider(int step, const dynamics::StepResult& result);
  int written() const { return written_; }

 private:
  bool wanted(const dynamics::StepResult& result);

  std::string folder_, name_;
  DumpIf condition_;
  std::vector<std::string> bodies_, geometries_;
  std::vector<double> solve_us_;
  int written_ = 0;
};

}  // namespace deft::cli
