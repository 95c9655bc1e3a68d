#include "deft/math/formula.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace deft {
namespace {

TEST(Formula, HasTheValuesOfItsText) {
  constexpr double pi = std::numbers::pi;
  const struct {
    const char* text;
    double t, value;
  } cases[] = {{"1", 0, 1},
               {"t", 2.5, 2.5},
               {"pi/10 * 5.5 * sin(pi*t/10)", 3, pi / 10 * 5.5 * std::sin(pi * 3 / 10)},
               {"1 - 2 - 3", 0, -4},
               {"12 / 2 / 3", 0, 2},
               {"2 + 3 * 4", 0, 14},
               {"(2 + 3) * 4", 0, 20},
               {"-2^2", 0, -4},
               {"2^3^2", 0, 512},
               {"2^-1", 0, 0.5},
               {"--3", 0, 3},
               {"1e-3 + .5 + 2.", 0, 2.501},
               {"min(t, 1) + max(t, 1)", 4, 5},
               {"atan2(1, -1)", 0, 0.75 * pi},
               {"abs(floor(-1.5)) * exp(0) * sqrt(4)", 0, 4},
               {" cos ( 0 ) ", 0, 1}};
  for (const auto& c : cases) EXPECT_NEAR(Formula(c.text)(c.t), c.value, 1e-15 * std::abs(c.value)) << c.text;
  EXPECT_EQ(Formula()(3), 0);
}

TEST(Formula, SaysWhereItIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {{"", "column 1"},          {"1 +", "column 4"},       {"2 * (3", "')' at column 7"},
               {"sine(t)", "one of t, pi, sin"}, {"sin t", "'('"},  {"min(1)", "','"},
               {"1 2", "an operator at column 3"}, {"1e999", "a finite number"}, {"x", "instead of 'x'"}};
  for (const auto& c : cases) {
    try {
      Formula formula(c.text);
      ADD_FAILURE() << c.text;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(c.message), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(Formula(std::string(1000, '(') + "1" + std::string(1000, ')')), std::invalid_argument);
  std::string deep = "1";
  for (int i = 0; i < 200; ++i) deep = "1+(" + deep + ")";
  EXPECT_THROW(Formula{deep}, std::invalid_argument);
}

}  // namespace
}  // namespace deft
