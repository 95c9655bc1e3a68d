#pragma once
// /track of run.h5: where a run that follows a plan should have been, and what its controller did. Internal to io; the
// layout is in README.md.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "deft/dynamics/trajectory.hpp"
#include "deft/io/runs/hdf5_records.hpp"

namespace deft::io {

struct TrackRows;

/// The columns of /track, appended step by step.
class TrackColumns {
 public:
  /// Creates the group and its empty datasets; sizes come from the names of `start`.
  TrackColumns(hid_t file, const dynamics::Trajectory& start);
  /// Appends to every dataset; columns of the state may get one row more than those of the step.
  void append(const TrackRows& rows);
  /// Calls visit(column) for every column.
  template <typename Visit>
  void each(Visit visit) {
    for (auto& c : rows_) visit(c);
    for (auto& c : numbers_) visit(c);
    for (auto& c : indices_) visit(c);
  }

 private:
  Columns<double> rows_, numbers_;  // reference_q, reference_X_WB, measured_q; members of TrackRecord
  Columns<std::int32_t> indices_;
};

/// Reads /track into `motion` (track_words, tracks, reference_q, reference_X_WB, measured_q).
/// @returns how many of the first `states` states are whole; all, if the run follows no plan.
/// @throws std::runtime_error if a dataset is missing.
std::size_t read_tracks(hid_t file, std::size_t states, dynamics::Trajectory& motion);

/// Leaves what belongs to the first `states` states.
void cut_tracks(std::size_t states, dynamics::Trajectory& motion);

}  // namespace deft::io
