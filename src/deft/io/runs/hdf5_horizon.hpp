#pragma once
// /mpc of run.h5: what a controller planned in every step. Internal to io; the layout is in README.md.

#include <cstdint>
#include <vector>

#include "deft/dynamics/trajectory.hpp"
#include "deft/io/runs/hdf5_access.hpp"

namespace deft::io {

/// The columns of /mpc, appended step by step.
class HorizonColumns {
 public:
  /// Creates the group and its empty datasets; sizes come from `start`.
  HorizonColumns(hid_t file, const dynamics::Trajectory& start);
  void append(const std::vector<dynamics::HorizonRecord>& records);
  template <typename Visit>
  void each(Visit visit) {
    for (auto& c : numbers_) visit(c);
    for (auto& c : counts_) visit(c);
    for (auto& c : indices_) visit(c);
    for (auto& c : flags_) visit(c);
    visit(offset_);  // after what it announces
  }

 private:
  std::vector<hdf5::Column<double>> numbers_;
  std::vector<hdf5::Column<std::int64_t>> counts_;
  std::vector<hdf5::Column<std::int32_t>> indices_;
  std::vector<hdf5::Column<std::uint8_t>> flags_;
  hdf5::Column<std::int64_t> offset_;
  std::int64_t pairs_ = 0;
};

/// Reads /mpc into `motion` (names_x, horizon, horizons), as many whole steps as are there, at most `steps`; nothing if
/// the file has none.
void read_horizons(hid_t file, std::size_t steps, dynamics::Trajectory& motion);

}  // namespace deft::io
