#pragma once
// run.h5: one file, rows appended. Internal to io; the layout is in README.md.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deft/dynamics/trajectory.hpp"
#include "deft/io/runs/run_folder.hpp"

namespace deft::io {

/// What a run that follows a plan adds to the rows (hdf5_track).
struct TrackRows {
  std::vector<dynamics::TrackRecord> records;                   // one per step
  std::vector<double> reference_q, reference_X_WB, measured_q;  // flat; the last one per step, the others per state
  void add_reference(const dynamics::Trajectory& motion, std::size_t state);  // where the plan has that state
  void add_step(const dynamics::Trajectory& motion, std::size_t step);        // its record and measurement
};

/// Consecutive rows of a trajectory, flat: what one append writes.
struct RunRows {
  std::vector<double> t, q, v, u, X_WB;           // v: second order only
  std::vector<double> second_delta, second_X_WB;  // where alternative motions are searched for
  std::vector<std::int64_t> offset;               // per state: contacts before it, since the start of the run
  std::vector<dynamics::ContactRecord> contacts;  // step by step
  std::vector<dynamics::StepRecord> steps;        // one per step
  std::vector<dynamics::SupportRecord> supports;  // one per step and support
  std::vector<dynamics::HorizonRecord> horizons;  // one per step, of runs under a controller
  TrackRows tracks;                               // of runs that follow a plan
  bool empty() const { return t.empty(); }        // whether there is no state
  RunRows take() { return std::exchange(*this, RunRows()); }  // the rows, which are then gone from here
};
/// Appends the start (with `first_step` = 0 and `with_start`) and the steps first_step … of `trajectory` to `rows`.
void copy_rows(const dynamics::Trajectory& trajectory, int first_step, bool with_start, RunRows& rows);

/// kWhole: the format that every reader opens, complete after `close` or in a copy taken after `flush`.
/// kSingleWriter: HDF5's single-writer mode: after a kill it holds all flushed rows, readers ask for SWMR.
enum class RunFormat { kWhole, kSingleWriter };

/// A run.h5 that is being written; rows are appended and never changed.
class RunFile {
 public:
  /// Creates the file with its attributes and empty datasets; sizes come from `start`. @throws std::runtime_error.
  RunFile(const std::string& path, const RunHeader& header, const dynamics::Trajectory& start, RunFormat format);
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  /// Appends rows to all columns; /t last. @throws std::runtime_error with HDF5's reason.
  void append(const RunRows& rows);
  /// Brings everything to the file; /t last, so that a row with its time set is whole.
  void flush();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads a run file, one of a killed process too: only rows whose time is set and whose contacts are there.
/// @throws std::runtime_error with the reason.
Run read_run_file(const std::string& path);

}  // namespace deft::io
