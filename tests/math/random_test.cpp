// Known answers, moments, and independence of what must not matter.

#include "deft/math/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace deft {
namespace random_test {

using Words = std::array<std::uint32_t, 4>;

// Answers published with the generator (Random123, known-answer tests).
TEST(Random, PhiloxGivesItsPublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Words{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  EXPECT_EQ(philox({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}),
            (Words{0xd16cfe09u, 0x94fdcceb, 0x5001e420u, 0x24126ea1u}));
}

TEST(Random, NormalNumbersHaveTheMomentsOfTheirLaw) {
  constexpr int kCount = 200000;
  double moment[5] = {}, lag = 0, last = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random_normal(7, static_cast<std::uint64_t>(i / 10), static_cast<std::uint32_t>(i % 10));
    for (int k = 1; k < 5; ++k) moment[k] += std::pow(x, k) / kCount;
    lag += x * last / kCount;
    last = x;
  }
  // Four standard errors: variances of x, x², x³, x⁴ and of products are 1, 2, 15, 96 and 1.
  const double unit = 4 / std::sqrt(kCount);
  EXPECT_NEAR(moment[1], 0, unit);
  EXPECT_NEAR(moment[2], 1, unit * std::sqrt(2));
  EXPECT_NEAR(moment[3], 0, unit * std::sqrt(15));
  EXPECT_NEAR(moment[4], 3, unit * std::sqrt(96));
  EXPECT_NEAR(lag, 0, unit);
}

TEST(Random, UniformNumbersFillTheIntervalEvenly) {
  constexpr int kCount = 100000;
  std::vector<double> x;
  for (int i = 0; i < kCount; ++i) x.push_back(random_uniform(3, 5, static_cast<std::uint32_t>(i)));
  std::sort(x.begin(), x.end());
  double distance = 0;  // Kolmogorov's, below 1.95/√n with probability 0.999
  for (int i = 0; i < kCount; ++i) distance = std::max(distance, std::abs(x[i] - (i + 0.5) / kCount));
  EXPECT_LT(distance, 1.95 / std::sqrt(kCount));
  EXPECT_GT(x.front(), 0);
  EXPECT_LT(x.back(), 1);
}

TEST(Random, SeedItemIndexAndKindAllCount) {
  const double x = random_normal(1, 2, 3);
  EXPECT_EQ(x, random_normal(1, 2, 3));
  for (const double other : {random_normal(2, 2, 3), random_normal(1, 3, 3), random_normal(1, 2, 4),
                             random_normal(1ull << 32, 2, 3), random_normal(1, 2ull << 32, 3), random_uniform(1, 2, 3)})
    EXPECT_NE(x, other);
}

}  // namespace random_test
}  // namespace deft
