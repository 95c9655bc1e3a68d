#pragma once
// What a run of the planner keeps of itself, so that another one can go on where it was killed.

#include <string>
#include <string_view>

#include "deft/core/stopwatch.hpp"

namespace deft::planning {

/// What the searches of one run found, batch by batch. All else follows from it: choices are drawn by counter from the
/// seed and the tree, so a search that is given its old growths again chooses, counts and rejects as it did.
class Journal {
 public:
  virtual ~Journal() = default;
  /// Whether batches of the run that this one continues are left. While there are, nothing is grown, nothing is kept
  /// and no limit of time ends a search.
  virtual bool has_next() const = 0;
  /// The next of them. @pre has_next().
  virtual std::string next() = 0;
  /// Takes a new batch; when it returns, a kill of the process cannot take it away. @pre !has_next().
  /// @throws std::runtime_error if it cannot be kept (disk full).
  virtual void keep(std::string_view batch) = 0;
};

/// Wall time of a run [s], that of the runs it continues included.
class RunClock {
 public:
  double seconds() const { return before_s_ + watch_.seconds(); }
  /// It is now `time_s` since the start of the first of these runs.
  void set(double time_s) {
    before_s_ = time_s;
    watch_.restart();
  }

 private:
  double before_s_ = 0;
  Stopwatch watch_;
};

}  // namespace deft::planning
