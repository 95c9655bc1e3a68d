#pragma once
// Where a run of the planner keeps what it found, so that another one can go on where it was killed.

#include <string_view>

namespace deft::planning {

/// What the searches of one run found, batch by batch. All else follows from it: choices are drawn by counter from the
/// seed and the tree, so a search that is given its old growths again chooses, counts and rejects as it did.
class Journal {
 public:
  virtual ~Journal() = default;
  /// Whether batches of the run that this one continues are left. While there are, nothing is grown or kept.
  virtual bool has_next() const = 0;
  /// The next of them, until it is dropped. @pre has_next().
  virtual std::string_view next() const = 0;
  /// Goes on to the batch after next(), which becomes invalid. @pre has_next().
  virtual void drop_next() = 0;
  /// Takes a new batch; when it returns, a kill of the process cannot take it away. @pre !has_next().
  /// @throws std::runtime_error if it cannot be kept (disk full).
  virtual void keep(std::string_view batch) = 0;
};

}  // namespace deft::planning
