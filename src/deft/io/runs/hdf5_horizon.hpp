#pragma once
// /mpc of run.h5: what a controller planned in every step. Internal to io; the layout is in README.md.

#include <cstdint>
#include <vector>

#include "deft/dynamics/trajectory.hpp"
#include "deft/io/runs/hdf5_records.hpp"

namespace deft::io {

/// The columns of /mpc, appended step by step.
class HorizonColumns {
 public:
  /// Creates the group and its empty datasets; sizes come from `start`.
  HorizonColumns(hid_t file, const dynamics::Trajectory& start);
  /// Appends a row per record to every dataset, and their pairs.
  void append(const std::vector<dynamics::HorizonRecord>& records);
  /// Calls visit(column) for every column.
  template <typename Visit>
  void each(Visit visit) {
    for (auto& c : blocks_) visit(c);
    for (auto& c : numbers_) visit(c);
    for (auto& c : counts_) visit(c);
    for (auto& c : statuses_) visit(c);
    for (auto& c : pairs_) visit(c);
    for (auto& c : flags_) visit(c);
    visit(offset_);  // last: rows that it counts are in the file
  }

 private:
  Columns<double> blocks_;  // x, u, X_WB per step; gamma, slack per pair
  Columns<double> numbers_;
  Columns<std::int64_t> counts_;
  Columns<std::int32_t> statuses_, pairs_;
  Columns<std::uint8_t> flags_;
  hdf5::Column<std::int64_t> offset_;
  std::int64_t num_pairs_ = 0;  // appended so far
};

/// Reads /mpc into `motion` (names_x, horizon, horizons), as many whole steps as are there, at most `steps`; nothing if
/// the file has none.
void read_horizons(hid_t file, std::size_t steps, dynamics::Trajectory& motion);

}  // namespace deft::io
