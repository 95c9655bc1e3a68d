#pragma once
// The run folder: run.h5 (published whole, at least once a second), config.yaml, summary.json, deft.log, run.html.

#include <cstddef>
#include <memory>
#include <string>

#include "deft/dynamics/trajectory.hpp"

namespace deft::io {

/// Facts of a run that do not change while it goes on; attributes of run.h5.
struct RunHeader {
  std::string name;        // of the scene
  std::string scene_yaml;  // the merged scene, re-runnable
  std::string scene_json;  // viewer::visual_json, so that a run can be drawn without its models
  std::string version;     // of this program
};

/// Creates DIR (default out/NAME-YYYYMMDD-HHMMSS). @throws InputError if DIR is not empty and `force` is false.
std::string make_run_folder(const std::string& requested, const std::string& name, bool force);

/// How often and how run.h5 is published.
struct RunWriterSettings {
  double period_s = 0.5;                      // [s] > 0: a finished step is on disk at most about this much later
  std::size_t whole_copy_bytes = 100u << 20;  // larger files grow in place, in HDF5's single-writer mode
};

/// Appends steps to DIR/run.h5 and publishes a complete, valid file at least once a second, so that a killed run keeps
/// what it finished.
class RunWriter {
 public:
  /// Publishes the start at once. @throws std::runtime_error if the file cannot be written.
  RunWriter(const std::string& folder, const RunHeader& header, const dynamics::Trajectory& start,
            const RunWriterSettings& settings = {});
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;
  /// Takes the steps of `trajectory` that were not taken yet; a thread of the writer writes and publishes them.
  /// @throws std::runtime_error with the reason of an earlier failure to write (disk full, folder gone).
  void append(const dynamics::Trajectory& trajectory);
  /// Publishes what is left. Called by the destructor if not before, which logs a failure as an error.
  /// @throws std::runtime_error with the reason of a failure that `append` has not thrown.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A run as it was read back.
struct Run {
  RunHeader header;                 // facts of the run
  dynamics::Trajectory trajectory;  // its whole steps
  bool complete = false;            // summary.json is there
};
/// Reads DIR/run.h5 (or the file itself), a partial one too. @throws InputError if there is none or it is not a run.
Run read_run(const std::string& path);

/// Writes a file by a temporary name and renames it, never half a file. @throws std::runtime_error with the reason.
void publish_text(const std::string& path, const std::string& text);

}  // namespace deft::io
