// What a run file holds is what was written.

#include <gtest/gtest.h>

#include <cmath>

#include "deft/io/runs/run_folder.hpp"
#include "io/run_folder_support.hpp"

namespace deft::io {
namespace run_folder_test {

TEST_F(RunFolder, GivesBackEverythingThatWasWritten) {
  Trajectory motion = start_of(7, 2, 3);
  motion.v = {{0.1, 0.2}};
  {
    RunWriter writer(path(), kHeader, motion);
    for (int k = 0; k < 300; ++k) {
      add_step(motion);
      writer.append(motion);
    }
  }
  const io::Run run = read_run(path());
  expect_equal(run.trajectory, motion);
  EXPECT_EQ(run.header.name, kHeader.name);
  EXPECT_EQ(run.header.scene_yaml, kHeader.scene_yaml);
  EXPECT_EQ(run.header.scene_json, kHeader.scene_json);
  EXPECT_EQ(run.header.version, kHeader.version);
  EXPECT_FALSE(run.complete);
  publish_text(path("summary.json"), "{}\n");
  EXPECT_TRUE(read_run(path("run.h5")).complete);
}

/// Appends 600 steps to `motion` and the run, waiting until half of them can be read; before and after, the file must
/// hold what was written.
void expect_given_back(const std::string& path, Trajectory& motion, std::size_t whole_copy_bytes) {
  {
    RunWriter writer(path, kHeader, motion, {.period_s = 0.01, .whole_copy_bytes = whole_copy_bytes});
    expect_equal(read_run(path).trajectory, motion);
    for (int k = 0; k < 600; ++k) {
      add_step(motion);
      writer.append(motion);
      if (k == 300) {
        ASSERT_TRUE(wait_for_steps(path, 301));
      }
    }
  }
  expect_equal(read_run(path).trajectory, motion);
}

TEST_F(RunFolder, GivesBackSupportsAndOtherMotions) {
  for (const std::size_t whole_copy_bytes : {std::size_t{1} << 30, std::size_t{50'000}}) {
    Trajectory motion = start_of(7, 2, 3);
    motion.searches_alternatives = true;
    motion.support_bodies = {1, 2};
    ASSERT_NO_FATAL_FAILURE(expect_given_back(path(), motion, whole_copy_bytes));
    const Trajectory read = read_run(path()).trajectory;
    ASSERT_EQ(read.second_delta.size(), 600u);
    EXPECT_TRUE(std::isnan(read.second_delta[0][0]));
    EXPECT_EQ(read.second_delta[2], motion.second_delta[2]);
  }
}

TEST_F(RunFolder, GivesBackPointsLinesAndSurfaces) {
  for (const std::size_t whole_copy_bytes : {std::size_t{1} << 30, std::size_t{50'000}}) {
    Trajectory motion = start_of(7, 2, 3);
    motion.has_contact_kinds = true;
    ASSERT_NO_FATAL_FAILURE(expect_given_back(path(), motion, whole_copy_bytes));
  }
}

TEST_F(RunFolder, GivesBackWhatAControllerPlanned) {
  for (const std::size_t whole_copy_bytes : {std::size_t{1} << 30, std::size_t{50'000}}) {
    Trajectory motion = start_of(3, 2, 3);
    motion.names_x = {"ball/q0", "ball/q1", "ball/q0 rate", "ball/q1 rate"};
    motion.horizon = 4;
    ASSERT_NO_FATAL_FAILURE(expect_given_back(path(), motion, whole_copy_bytes));
  }
}

TEST_F(RunFolder, GivesBackWhatFollowsAPlan) {
  for (const std::size_t whole_copy_bytes : {std::size_t{1} << 30, std::size_t{50'000}}) {
    Trajectory motion = start_of(3, 2, 3);
    motion.track_words = {"tracking", "hold"};
    add_reference(motion, 0.7);
    ASSERT_NO_FATAL_FAILURE(expect_given_back(path(), motion, whole_copy_bytes));
  }
}

TEST_F(RunFolder, HoldsStepsWithoutACertificate) {
  Trajectory motion = start_of(7, 2, 3);
  const double nan = std::nan("");
  for (int k = 0; k < 3; ++k) {
    add_step(motion);
    StepRecord& step = motion.steps.back();
    step.residual = step.residual_stationarity = step.residual_primal = step.residual_complementarity = nan;
    step.energy = step.solve_us = nan;
  }
  {
    RunWriter(path(), kHeader, motion).append(motion);
  }
  const Trajectory read = read_run(path()).trajectory;
  ASSERT_EQ(read.num_steps(), 3);
  for (const StepRecord& step : read.steps) {
    for (const double value : {step.residual, step.residual_stationarity, step.residual_primal,
                               step.residual_complementarity, step.energy, step.solve_us})
      EXPECT_TRUE(std::isnan(value));
    EXPECT_GT(step.step_us, 20);
  }
}

TEST_F(RunFolder, HoldsManyNamesAndALongScene) {
  Trajectory motion = start_of(9000, 0, 1300);
  const std::string yaml(300'000, 'y');
  {
    const RunWriter writer(path(), {"many", yaml, "{}", "0.1.0"}, motion);
  }
  const io::Run run = read_run(path());
  EXPECT_EQ(run.header.scene_yaml, yaml);
  expect_equal(run.trajectory, motion);
}

TEST_F(RunFolder, HoldsASceneWhereNothingMovesAndNothingIsCommanded) {
  Trajectory motion = start_of(0, 0, 1);
  {
    RunWriter writer(path(), kHeader, motion);
    add_step(motion);
    writer.append(motion);
  }
  expect_equal(read_run(path()).trajectory, motion);
}

}  // namespace run_folder_test
}  // namespace deft::io
