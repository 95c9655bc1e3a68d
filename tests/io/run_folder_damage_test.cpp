// Files that were cut, damaged, or are no runs.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "deft/core/diagnostics.hpp"
#include "deft/io/runs/hdf5_run.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "io/run_folder_support.hpp"

namespace deft::io {
namespace run_folder_test {

TEST_F(RunFolder, TakesOnlyTheStepsOfWhichTheTrackIsWhole) {
  Trajectory motion = start_of(3, 2, 3);
  motion.track_words = {"tracking", "hold"};
  add_reference(motion, 0.7);
  for (int k = 0; k < 40; ++k) add_step(motion);
  RunRows whole;
  copy_rows(motion, 0, true, whole);
  // As when a writer is killed between two columns: one of them ends early, by rows of the state or of the step.
  const std::size_t nq = 3, poses = 3 * 7;
  const auto steps_of = [&](const RunRows& rows) {
    {
      RunFile(path("run.h5"), kHeader, motion, RunFormat::kWhole).append(rows);
    }
    const Trajectory read = read_run(path()).trajectory;
    const auto steps = to_size(read.num_steps());
    EXPECT_EQ(read.tracks.size(), steps);
    EXPECT_EQ(read.measured_q.size(), steps);
    EXPECT_EQ(read.reference_q.size(), steps + 1);
    EXPECT_EQ(read.reference_X_WB.size(), steps + 1);
    EXPECT_EQ(read.q.size(), steps + 1);
    return steps;
  };
  EXPECT_EQ(steps_of(whole), 40u);
  RunRows rows = whole;
  rows.tracks.records.resize(31);
  EXPECT_EQ(steps_of(rows), 31u);
  rows = whole;
  rows.tracks.reference_q.resize(31 * nq);
  EXPECT_EQ(steps_of(rows), 30u);
  rows = whole;
  rows.tracks.reference_X_WB.resize(31 * poses);
  EXPECT_EQ(steps_of(rows), 30u);
  rows = whole;
  rows.tracks.measured_q.resize(31 * nq);
  EXPECT_EQ(steps_of(rows), 31u);
  rows = whole;
  rows.t.resize(21);  // the rest is ahead
  EXPECT_EQ(steps_of(rows), 20u);
}

TEST_F(RunFolder, SaysWhatIsWrongWithAFileThatIsNoRun) {
  const auto message = [&](const std::string& file) {
    try {
      read_run(file);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message(path()).find("it has no run.h5"), std::string::npos);
  EXPECT_NE(message(path("none.h5")).find("no such run"), std::string::npos);
  std::ofstream(path("run.h5")) << "this is not HDF5";
  EXPECT_NE(message(path()).find("is not a run"), std::string::npos);
}

TEST_F(RunFolder, ReadsNoCutOrDamagedFileWrongly) {
  Trajectory motion = start_of(7, 2, 3);
  {
    RunWriter writer(path(), kHeader, motion);
    for (int k = 0; k < 40; ++k) add_step(motion);
    writer.append(motion);
  }
  std::ifstream in(path("run.h5"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (const double part : {0.0, 0.001, 0.01, 0.1, 0.3, 0.6, 0.9, 0.999}) {
    std::ofstream(path("cut.h5"), std::ios::binary)
        << whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size())));
    EXPECT_THROW(read_run(path("cut.h5")), InputError) << part;
  }
  // Bytes changed anywhere: read as an error, or as a run, but never with the process.
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  int refused = 0;
  for (int k = 0; k < 400; ++k) {
    std::string damaged = whole;
    for (std::size_t changes = 1 + below(8); changes > 0; --changes)
      damaged[below(damaged.size())] = static_cast<char>(below(256));
    std::ofstream(path("damaged.h5"), std::ios::binary) << damaged;
    try {
      read_run(path("damaged.h5"));
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

}  // namespace run_folder_test
}  // namespace deft::io
