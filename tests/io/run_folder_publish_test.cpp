// When and how run.h5 is published while the run goes on.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "deft/io/runs/run_folder.hpp"
#include "io/run_folder_support.hpp"

namespace deft::io {
namespace run_folder_test {

TEST_F(RunFolder, LeavesNothingButTheRunBehind) {
  Trajectory motion = start_of(1, 1, 1);
  RunWriter writer(path(), kHeader, motion);
  add_step(motion);
  writer.append(motion);
  writer.close();
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path())) names.push_back(entry.path().filename());
  EXPECT_EQ(names, std::vector<std::string>{"run.h5"});
}

TEST_F(RunFolder, PublishesTheStartAtOnceAndStepsWhileTheNextOneTakesLong) {
  Trajectory motion = start_of(7, 0, 2);
  RunWriter writer(path(), kHeader, motion, {.period_s = 0.02});
  expect_equal(read_run(path()).trajectory, motion);
  add_step(motion);
  writer.append(motion);
  // No further call: the writer publishes by itself.
  ASSERT_TRUE(wait_for_steps(path(), 1));
  expect_equal(read_run(path()).trajectory, motion);
}

TEST_F(RunFolder, GoesOnInSingleWriterModeWhenTheFileIsLarge) {
  Trajectory motion = start_of(7, 2, 3);
  RunWriter writer(path(), kHeader, motion, {.period_s = 0.01, .whole_copy_bytes = 200'000});
  for (int k = 0; k < 2000; ++k) {
    add_step(motion);
    writer.append(motion);
    if (k % 500 == 499) {
      ASSERT_TRUE(wait_for_steps(path(), k + 1));
    }
  }
  EXPECT_FALSE(fs::exists(path("run.h5.work")));
  writer.close();
  expect_equal(read_run(path()).trajectory, motion);
}

TEST_F(RunFolder, TellsTheSimulationThatTheDiskRefuses) {
  Trajectory motion = start_of(7, 2, 3);
  RunWriter writer(path(), kHeader, motion, {.period_s = 0.01});
  fs::remove_all(path());
  const auto go_on = [&] {
    for (int i = 0; i < 1000; ++i) {
      add_step(motion);
      writer.append(motion);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  EXPECT_THROW(go_on(), std::exception);
}

}  // namespace run_folder_test
}  // namespace deft::io
