#include "deft/core/stopwatch.hpp"

#include <gtest/gtest.h>

namespace deft {
namespace stopwatch_test {

TEST(Stopwatch, NeverRunsBackwardsAndCountsMicroseconds) {
  const Stopwatch watch;
  const double seconds = watch.seconds();
  const double microseconds = watch.microseconds();
  EXPECT_GE(seconds, 0);
  EXPECT_GE(microseconds, 1e6 * seconds);
  EXPECT_LE(microseconds, 1e6 * watch.seconds());
}

TEST(Stopwatch, RestartForgetsThePast) {
  Stopwatch older, younger;
  volatile double sink = 0;
  while (older.microseconds() < 50) sink = sink + 1;
  younger.restart();
  const double since_restart = younger.seconds();
  EXPECT_LT(since_restart, older.seconds());
}

}  // namespace stopwatch_test
}  // namespace deft
